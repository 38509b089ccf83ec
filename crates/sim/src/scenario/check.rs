// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! What a scenario may hold. Each refusal names the key, the value and what is
//! allowed.

use std::collections::HashSet;

use sojourn_core::Algorithm;

use super::end::{Part, inside};
use super::fault::{Faults, fault};
use super::frame::Frames;
use super::graph::{Graph, Way};
use super::names::Names;
use super::passing::PassingAll;
use super::range::{check_dscp, time};
use super::{
    EcnSpec, FORMAT, Fault, FlowSpec, HEADER_BYTES, LinkSpec, MTU_BYTES, Options, Scenario,
    TimesSpec, TransportSpec,
};
use crate::tcp::{CongestionControl, TcpConfig};

/// Larger counts are typing errors, or would exhaust memory.
const MAX_FLOWS: u32 = 1_000_000;
/// Rows of a series; each costs some hundred bytes while the run lasts.
const MAX_SERIES_ROWS: u64 = 1_000_000;

impl Scenario {
    /// Reads JSON and checks what can be checked without building the net.
    ///
    /// # Errors
    /// The first fault.
    pub fn from_json(text: &str) -> Result<Self, Fault> {
        let scenario = Self::read(text)?;
        scenario.check()?;
        Ok(scenario)
    }

    /// Reads JSON and checks its form alone.
    ///
    /// # Errors
    /// Where it is no scenario.
    pub fn read(text: &str) -> Result<Self, Fault> {
        let mut reader = serde_json::Deserializer::from_str(text);
        let scenario: Self = serde_path_to_error::deserialize(&mut reader)
            .map_err(|error| Fault::new(error.path().to_string(), error.inner().to_string()))?;
        reader
            .end()
            .map_err(|error| Fault::new("behind the scenario", error.to_string()))?;
        Ok(scenario)
    }

    /// Checks ranges, names and order.
    ///
    /// # Errors
    /// The first fault.
    pub fn check(&self) -> Result<(), Fault> {
        self.faults().into_iter().next().map_or(Ok(()), Err)
    }

    /// All faults; of what belongs together the first. A path that no flow names is looked for
    /// where the network is sound, since a link that is missing would be a fault of each flow.
    pub fn faults(&self) -> Vec<Fault> {
        if self.format != FORMAT {
            let reason = format!("{} is unknown; this version reads {FORMAT}", self.format);
            return vec![Fault::new("format", reason)];
        }
        let mut faults = Faults::default();
        let (names, graph) = (Names::of(self), Graph::of(self));
        faults.take(self.check_duration());
        faults.unique("nodes", "", self.nodes.iter());
        faults.unique("links", ".name", self.links.iter().map(|link| &link.name));
        let largest_bytes = self.largest_packet_bytes();
        for (i, link) in self.links.iter().enumerate() {
            let at = format!("links[{i}]");
            names.ends(&at, &link.from, &link.to, &mut faults);
            let largest_bytes = largest_bytes.saturating_add(HEADER_BYTES);
            let largest_bytes = Frames::new(link).bytes(largest_bytes);
            link.check(&at, largest_bytes, &mut faults);
            link.check_end(&at, largest_bytes, &names, &graph.parts[i], &mut faults);
        }
        self.check_media(&mut faults);
        let sound = faults.0.is_empty();
        faults.unique("flows", ".name", self.flows.iter().map(|flow| &flow.name));
        for (i, link) in self.links.iter().enumerate().filter(|_| sound) {
            check_probes(
                &format!("links[{i}]"),
                link,
                &graph.parts[i],
                &names,
                &graph,
                &mut faults,
            );
        }
        let (mut flows, mut passing) = (0u64, PassingAll::new(&self.links));
        for (i, flow) in self.flows.iter().enumerate() {
            let at = format!("flows[{i}]");
            flows += u64::from(flow.count);
            let before = faults.0.len();
            if names.ends(&at, &flow.from, &flow.to, &mut faults) {
                names.paths(&at, flow, &graph, &mut faults);
            }
            if sound && faults.0.len() == before {
                faults.take(self.check_way(&at, flow, &graph, &mut passing));
            }
            self.check_flow(&at, flow, flows, &mut faults);
        }
        if faults.0.is_empty() {
            passing.check(&graph, &mut faults);
        }
        names.record(&graph, &mut faults);
        faults.take(self.check_series());
        faults.0
    }

    fn check_duration(&self) -> Result<(), Fault> {
        time("duration", self.duration_ns)?;
        if self.duration_ns == 0 {
            return fault("duration", "a run of no time; allowed: more than 0 s");
        }
        Ok(())
    }

    /// What a token bucket must be able to let through, beside the link's header: a full packet,
    /// or the segments of a larger MSS with 52 bytes of headers and timestamps.
    fn largest_packet_bytes(&self) -> u32 {
        let sizes = self.flows.iter().filter_map(|flow| {
            let tcp = flow.tcp("").ok()??;
            tcp.mss_bytes
        });
        sizes
            .map(|mss_bytes| mss_bytes.saturating_add(52))
            .fold(MTU_BYTES - HEADER_BYTES, u32::max)
    }

    /// `flows` is the number of flows up to this one and with it.
    fn check_flow(&self, at: &str, flow: &FlowSpec, flows: u64, faults: &mut Faults) {
        if flow.count == 0 || flows > u64::from(MAX_FLOWS) {
            let reason = format!("{} is outside 1 to {MAX_FLOWS} in all", flow.count);
            faults.add(format!("{at}.count"), reason);
        }
        faults.take(check_dscp(at, flow.dscp));
        faults.take(flow.check_start(at));
        let start_ns = match flow.start {
            TimesSpec::One(start_ns) => start_ns,
            _ => 0,
        };
        if let Some(stop_ns) = flow.stop_ns.filter(|&stop_ns| stop_ns <= start_ns) {
            let reason = format!("'{stop_ns} ns' is not later than the start, '{start_ns} ns'");
            faults.add(format!("{at}.stop"), reason);
        }
        let jitter_ns = flow.sim.send_jitter_ns.unwrap_or(0);
        faults.take(time(&format!("{at}.sim.send_jitter"), jitter_ns));
        faults.take(self.check_app(at, flow));
        faults.take(self.check_echoes(at, flow));
        faults.take(flow.tcp(at).and_then(|_| flow.check_tcp_of_linux(at)));
    }

    /// The path of a flow, and its round trips.
    fn check_way<'a>(
        &self,
        at: &str,
        flow: &'a FlowSpec,
        graph: &Graph<'a>,
        passing: &mut PassingAll<'a>,
    ) -> Result<(), Fault> {
        let ways = graph.ways(flow, at)?;
        for (key, way) in ["path", "reverse_path"].iter().zip(&ways) {
            passing.add(way, Some(flow));
            check_loop(&format!("{at}.{key}"), way)?;
            check_classes(way, Some(flow), graph)?;
        }
        let [forth, back] = ways.map(|way| way.links);
        self.check_round_trips(at, flow, self.delays_ns(&forth, &back))?;
        let mut links = forth.iter().chain(&back).map(|&link| &self.links[link]);
        if links.any(|link| link.pace_bps(&self.media).is_some() || link.least_delay_ns() > 0) {
            return Ok(());
        }
        fault(
            at,
            "no link of the flow has a rate or a delay: time would stand still",
        )
    }

    /// What a flow sends, and over which transport.
    fn check_app(&self, at: &str, flow: &FlowSpec) -> Result<(), Fault> {
        let kind = flow.app.kind();
        flow.app
            .check_all()
            .map_err(|(key, reason)| Fault::new(format!("{at}.app.{key}"), reason))?;
        let transport = match flow.transport {
            TransportSpec::Tcp { .. } => "tcp",
            TransportSpec::Udp => "udp",
        };
        if kind.transports.contains(&transport) {
            return Ok(());
        }
        let known: Vec<_> = kind.transports.iter().map(|t| format!("'{t}'")).collect();
        let reason = format!("a '{}' source sends by {}", kind.name, known.join(" or "));
        fault(format!("{at}.transport"), reason)
    }

    /// Each echo is a row of the result.
    fn check_echoes(&self, at: &str, flow: &FlowSpec) -> Result<(), Fault> {
        let Some(interval_ns) = flow.app.echo_interval_ns() else {
            return Ok(());
        };
        let rows = self.duration_ns / interval_ns * u64::from(flow.count);
        if rows > MAX_SERIES_ROWS {
            let reason = format!(
                "{} ns makes more than {MAX_SERIES_ROWS} echoes of {} flows in {} ns",
                interval_ns, flow.count, self.duration_ns
            );
            return fault(format!("{at}.app.interval"), reason);
        }
        Ok(())
    }

    /// The constant delays of a flow's links, there and back: its round trip without queues.
    pub fn delays_ns(&self, forth: &[usize], back: &[usize]) -> u64 {
        let delays = forth.iter().chain(back);
        delays.map(|&link| self.links[link].delay_ns).sum()
    }

    /// Round trips by flow, where there are any.
    fn check_round_trips(&self, at: &str, flow: &FlowSpec, delays_ns: u64) -> Result<(), Fault> {
        let Some(rtt) = &flow.rtt else {
            return Ok(());
        };
        let key = format!("{at}.rtt");
        if matches!(rtt, TimesSpec::Poisson { .. }) {
            return fault(key, "a Poisson process gives starts, no round trips");
        }
        if matches!(flow.transport, TransportSpec::Udp) {
            return fault(key, "datagrams have no round trip");
        }
        rtt.check(&key, delays_ns)
    }

    fn check_series(&self) -> Result<(), Fault> {
        let rows = self.duration_ns.checked_div(self.record.series_ns);
        if rows.is_some_and(|rows| rows > MAX_SERIES_ROWS) {
            let reason = format!(
                "{} ns makes more than {MAX_SERIES_ROWS} rows of {} ns",
                self.record.series_ns, self.duration_ns
            );
            return fault("record.series", reason);
        }
        Ok(())
    }
}

impl FlowSpec {
    /// A spread goes with one start for all.
    fn check_start(&self, at: &str) -> Result<(), Fault> {
        let spread = format!("{at}.start_spread");
        self.start.check(&format!("{at}.start"), 0)?;
        if !matches!(self.start, TimesSpec::One(_)) && self.start_spread_ns > 0 {
            let reason = "each flow's start is given: no spread goes with it";
            return fault(spread, reason);
        }
        time(&spread, self.start_spread_ns)
    }

    /// The TCP of the flow in the simulator; none for UDP.
    ///
    /// # Errors
    /// When a switch is unknown or has a value of the wrong kind.
    pub fn tcp(&self, at: &str) -> Result<Option<TcpConfig>, Fault> {
        let TransportSpec::Tcp {
            cc, ecn, options, ..
        } = &self.transport
        else {
            return Ok(None);
        };
        let own = config(*cc, *ecn, options, format!("{at}.transport.options"))?;
        if self.sim.options.is_empty() {
            return Ok(Some(own));
        }
        let both = [options, &self.sim.options].map(Clone::clone).into_iter();
        let options = both.flatten().collect();
        config(*cc, *ecn, &options, format!("{at}.sim.options")).map(Some)
    }

    /// Checks the TCP with the congestion control that it has on Linux, where that is another.
    fn check_tcp_of_linux(&self, at: &str) -> Result<(), Fault> {
        match (&self.transport, self.linux.cc) {
            (TransportSpec::Tcp { ecn, options, .. }, Some(cc)) => {
                config(cc, *ecn, options, format!("{at}.linux.cc")).map(drop)
            }
            _ => Ok(()),
        }
    }
}

/// A TCP with these switches; `key` names them in a fault.
fn config(
    cc: CongestionControl,
    ecn: EcnSpec,
    options: &Options,
    key: String,
) -> Result<TcpConfig, Fault> {
    let config: Result<TcpConfig, _> =
        serde_json::from_value(serde_json::Value::Object(options.clone()));
    let config = match config {
        Ok(config) => TcpConfig {
            cc,
            ecn: ecn != EcnSpec::Off,
            ect1: ecn == EcnSpec::Ect1,
            ..config
        },
        Err(error) => return fault(key, error.to_string()),
    };
    match config.fault() {
        Some(reason) => fault(key, reason),
        None => Ok(config),
    }
}

/// A path that comes to a node again: no host that routes by addresses can follow it.
fn check_loop(key: &str, way: &Way<'_>) -> Result<(), Fault> {
    let mut seen = HashSet::new();
    for node in &way.nodes {
        if !seen.insert(node) {
            let reason = format!("comes to '{node}' twice; leave out what lies between");
            return fault(key, reason);
        }
    }
    Ok(())
}

/// What a queue's algorithm asks, a node must be able to answer.
fn check_probes(
    at: &str,
    link: &LinkSpec,
    parts: &[Part<'_>],
    names: &Names<'_>,
    graph: &Graph<'_>,
    faults: &mut Faults,
) {
    for (nth, part) in parts.iter().enumerate() {
        for leaf in &part.leaves {
            let leaf_at = inside(at, &leaf.at);
            if let Some(responder) = leaf.responder
                && !names.node(format!("{leaf_at}.responder"), responder, faults)
            {
                continue;
            }
            if Algorithm::find(&leaf.queue.algorithm).is_some_and(Algorithm::probes) {
                let checked = graph
                    .probe_ways(link, leaf.responder, &leaf_at)
                    .and_then(|ways| {
                        let subject = ways[0].subject(None);
                        let mut below = parts[nth + 1..].iter();
                        below.try_for_each(|part| part.check_leaf(at, &subject))?;
                        let mut ways = ways.iter();
                        ways.try_for_each(|way| check_classes(way, None, graph))
                    });
                faults.take(checked);
            }
        }
    }
}

/// Each end on a way has a class for its packets.
fn check_classes(way: &Way<'_>, group: Option<&FlowSpec>, graph: &Graph<'_>) -> Result<(), Fault> {
    let subject = way.subject(group);
    for &link in &way.links {
        for part in &graph.parts[link] {
            part.check_leaf(&format!("links[{link}]"), &subject)?;
        }
    }
    Ok(())
}
