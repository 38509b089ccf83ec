// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! What a scenario may hold. Each refusal names the key, the value and what is
//! allowed.

use std::collections::HashSet;

use sojourn_core::Algorithm;

use super::{
    EcnSpec, FORMAT, Fault, FlowSpec, LinkSpec, Scenario, Shaper, TimesSpec, TransportSpec,
};
use crate::route::Graph;
use crate::traffic::AppSpec;
use crate::transport::tcp::TcpConfig;

pub(super) fn fault<T>(key: impl Into<String>, reason: impl Into<String>) -> Result<T, Fault> {
    Err(Fault {
        key: key.into(),
        reason: reason.into(),
    })
}

/// The faults seen so far.
#[derive(Default)]
struct Found(Vec<Fault>);

impl Found {
    fn see(&mut self, checked: Result<(), Fault>) {
        self.0.extend(checked.err());
    }
}

/// A byte a second: a full packet takes 25 minutes.
pub const MIN_RATE_BPS: u64 = 8;
/// 10 Tbit/s; beyond it a packet would take less than the clock's grain.
const MAX_RATE_BPS: u64 = 10_000_000_000_000;
/// More is a slip of the keyboard, and the memory of this machine.
const MAX_FLOWS: u32 = 1_000_000;
const MAX_RING_PKTS: u32 = 1_000_000;
/// Rows of a series; each costs some hundred bytes while the run lasts.
const MAX_SERIES_ROWS: u64 = 1_000_000;
/// A year: times in ns stay far below 2^63.
const MAX_TIME_NS: u64 = 366 * 86_400 * crate::time::NS_PER_S;

impl Scenario {
    /// Reads JSON and checks what can be checked without building the net.
    ///
    /// # Errors
    /// The first fault found.
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
        let scenario: Self =
            serde_path_to_error::deserialize(&mut reader).map_err(|error| Fault {
                key: error.path().to_string(),
                reason: error.inner().to_string(),
            })?;
        reader.end().map_err(|error| Fault {
            key: "behind the scenario".into(),
            reason: error.to_string(),
        })?;
        Ok(scenario)
    }

    /// Checks ranges, names and order.
    ///
    /// # Errors
    /// The first fault found.
    pub fn check(&self) -> Result<(), Fault> {
        self.faults().into_iter().next().map_or(Ok(()), Err)
    }

    /// All faults, of a link or a flow the first each. Flows are looked at where the network is
    /// sound, since a link that is missing would be a fault of each flow.
    pub fn faults(&self) -> Vec<Fault> {
        if !(1..=FORMAT).contains(&self.format) {
            return vec![Fault {
                key: "format".into(),
                reason: format!(
                    "{} is unknown; this version reads 1 to {FORMAT}",
                    self.format
                ),
            }];
        }
        let mut found = Found::default();
        found.see(self.check_duration());
        found.see(unique("nodes", self.nodes.iter()));
        found.see(unique("links", self.links.iter().map(|link| &link.name)));
        let nodes: HashSet<_> = self.nodes.iter().map(String::as_str).collect();
        let largest_bytes = self.largest_packet_bytes();
        for (i, link) in self.links.iter().enumerate() {
            found.see(self.check_link(&format!("links[{i}]"), link, &nodes, largest_bytes));
        }
        found.see(unique("flows", self.flows.iter().map(|flow| &flow.name)));
        if found.0.is_empty() {
            let graph = Graph::of(self);
            for (i, link) in self.links.iter().enumerate() {
                found.see(self.check_probes(&format!("links[{i}]"), link, &nodes, &graph));
            }
            let mut flows = 0u64;
            for (i, flow) in self.flows.iter().enumerate() {
                flows += u64::from(flow.count);
                found.see(self.check_flow(&format!("flows[{i}]"), flow, flows, &nodes, &graph));
            }
        }
        self.check_record(&mut found);
        found.0
    }

    fn check_duration(&self) -> Result<(), Fault> {
        time("duration_ns", self.duration_ns)?;
        if self.duration_ns == 0 {
            return fault("duration_ns", "must be more than 0");
        }
        Ok(())
    }

    fn check_link(
        &self,
        at: &str,
        link: &LinkSpec,
        nodes: &HashSet<&str>,
        largest_bytes: u32,
    ) -> Result<(), Fault> {
        self.check_node(format!("{at}.from"), &link.from, nodes)?;
        self.check_node(format!("{at}.to"), &link.to, nodes)?;
        link.check(at, largest_bytes)
    }

    fn check_node(&self, key: String, name: &str, nodes: &HashSet<&str>) -> Result<(), Fault> {
        if nodes.contains(name) {
            return Ok(());
        }
        fault(
            key,
            format!(
                "no node is named '{name}'; nodes: {}",
                self.nodes.join(", ")
            ),
        )
    }

    /// What a queue's algorithm asks, a node must be able to answer.
    fn check_probes(
        &self,
        at: &str,
        link: &LinkSpec,
        nodes: &HashSet<&str>,
        graph: &Graph<'_>,
    ) -> Result<(), Fault> {
        if let Some(responder) = &link.responder {
            self.check_node(format!("{at}.responder"), responder, nodes)?;
        }
        if Algorithm::find(&link.queue.algorithm).is_some_and(Algorithm::probes) {
            graph.probe_ways(link, at)?;
        }
        Ok(())
    }

    /// What a token bucket must be able to let through: a full frame, or the
    /// segments of a larger MSS with 66 bytes of headers and timestamps.
    fn largest_packet_bytes(&self) -> u32 {
        let sizes = self.flows.iter().filter_map(|flow| {
            let tcp = flow.tcp("").ok()??;
            tcp.mss_bytes
        });
        sizes
            .map(|mss_bytes| mss_bytes.saturating_add(66))
            .fold(1514, u32::max)
    }

    /// `flows` is the number of flows up to this one and with it.
    fn check_flow(
        &self,
        at: &str,
        flow: &FlowSpec,
        flows: u64,
        nodes: &HashSet<&str>,
        graph: &Graph<'_>,
    ) -> Result<(), Fault> {
        if flow.count == 0 || flows > u64::from(MAX_FLOWS) {
            let reason = format!("{} is outside 1 to {MAX_FLOWS} in all", flow.count);
            return fault(format!("{at}.count"), reason);
        }
        self.check_node(format!("{at}.from"), &flow.from, nodes)?;
        self.check_node(format!("{at}.to"), &flow.to, nodes)?;
        if flow.from == flow.to {
            return fault(format!("{at}.to"), "sender and receiver are the same node");
        }
        time(&format!("{at}.start_ns"), flow.start_ns)?;
        time(&format!("{at}.start_spread_ns"), flow.start_spread_ns)?;
        if let Some(stop_ns) = flow.stop_ns.filter(|&stop_ns| stop_ns <= flow.start_ns) {
            let reason = format!("{stop_ns} ns is not after the start, {} ns", flow.start_ns);
            return fault(format!("{at}.stop_ns"), reason);
        }
        time(
            &format!("{at}.send_jitter_ns"),
            flow.send_jitter_ns.unwrap_or(0),
        )?;
        let (forth, back) = graph.ways(flow, at)?;
        for (key, start, links) in [
            ("path", &flow.from, &forth),
            ("reverse_path", &flow.to, &back),
        ] {
            self.check_loop(&format!("{at}.{key}"), start, links)?;
        }
        self.check_times(at, flow, self.delays_ns(&forth, &back))?;
        let mut links = forth.iter().chain(&back).map(|&link| &self.links[link]);
        if !links.any(|link| link.rate_bps.is_some() || link.delay_ns > 0) {
            return fault(
                at,
                "no link of the flow has a rate or a delay: time would stand still",
            );
        }
        self.check_app(at, flow)?;
        self.check_echoes(at, flow)?;
        flow.tcp(at).map(|_| ())
    }

    /// A way that comes to a node again: no host that routes by addresses can follow it. Older
    /// files go on being read.
    fn check_loop(&self, key: &str, start: &str, links: &[usize]) -> Result<(), Fault> {
        let mut seen = HashSet::from([start]);
        let nodes = links.iter().map(|&link| self.links[link].to.as_str());
        for node in nodes.filter(|_| self.format >= 2) {
            if !seen.insert(node) {
                let reason = format!("comes to '{node}' twice; leave out what lies between");
                return fault(key, reason);
            }
        }
        Ok(())
    }

    /// What a flow sends, and over which transport.
    fn check_app(&self, at: &str, flow: &FlowSpec) -> Result<(), Fault> {
        let kind = flow.app.kind();
        if self.format < 2 && flow.app.is_script() {
            let reason = format!("'{}' traffic needs format = 2", kind.name);
            return fault(format!("{at}.app"), reason);
        }
        flow.app.check().map_err(|(field, reason)| Fault {
            key: format!("{at}.app.{field}"),
            reason,
        })?;
        let transport = match flow.transport {
            TransportSpec::Tcp { .. } => "tcp",
            TransportSpec::Udp => "udp",
        };
        if kind.transports.contains(&transport) {
            return Ok(());
        }
        let known = kind.transports.join(", ");
        let reason = format!(
            "'{}' traffic goes over {known}, not over {transport}",
            kind.name
        );
        fault(format!("{at}.app"), reason)
    }

    /// Each echo is a row of the result.
    fn check_echoes(&self, at: &str, flow: &FlowSpec) -> Result<(), Fault> {
        let AppSpec::Ping(ping) = &flow.app else {
            return Ok(());
        };
        let rows = self.duration_ns / ping.interval_ns * u64::from(flow.count);
        if rows > MAX_SERIES_ROWS {
            let reason = format!(
                "{} ns makes more than {MAX_SERIES_ROWS} echoes of {} flows in {} ns",
                ping.interval_ns, flow.count, self.duration_ns
            );
            return fault(format!("{at}.app.interval_ns"), reason);
        }
        Ok(())
    }

    /// The constant delays of a flow's links, there and back: its round trip without queues.
    pub fn delays_ns(&self, forth: &[usize], back: &[usize]) -> u64 {
        let delays = forth.iter().chain(back);
        delays.map(|&link| self.links[link].delay_ns).sum()
    }

    /// Times by flow, where there are any.
    fn check_times(&self, at: &str, flow: &FlowSpec, delays_ns: u64) -> Result<(), Fault> {
        let given = [("starts", &flow.starts), ("rtts", &flow.rtts)];
        if let Some((key, _)) = given.iter().find(|(_, times)| times.is_some())
            && self.format < 2
        {
            return fault(format!("{at}.{key}"), "times by flow need format = 2");
        }
        if let Some(starts) = &flow.starts {
            starts.check(&format!("{at}.starts"), 0)?;
            if flow.start_ns > 0 || flow.start_spread_ns > 0 {
                let reason = "each flow's start is given: no spread goes with it";
                return fault(format!("{at}.start_spread_ns"), reason);
            }
        }
        if let Some(rtts) = &flow.rtts {
            let key = format!("{at}.rtts");
            if matches!(rtts, TimesSpec::Poisson { .. }) {
                return fault(key, "a Poisson process gives starts, no round trips");
            }
            if matches!(flow.transport, TransportSpec::Udp) {
                return fault(key, "datagrams have no round trip");
            }
            rtts.check(&key, delays_ns)?;
        }
        Ok(())
    }

    fn check_record(&self, found: &mut Found) {
        let links: HashSet<_> = self.links.iter().map(|link| &link.name).collect();
        for (i, name) in self.record.queues.iter().enumerate() {
            if !links.contains(name) {
                found.see(fault(
                    format!("record.queues[{i}]"),
                    format!("no link is named '{name}'"),
                ));
            }
        }
        found.see(self.check_series());
        found.see(unique("record.queues", self.record.queues.iter()));
        found.see(unique(
            "record.windows",
            self.record.windows.iter().map(|w| &w.name),
        ));
        for (i, window) in self.record.windows.iter().enumerate() {
            if window.from_ns >= window.to_ns || window.to_ns > self.duration_ns {
                let reason = format!(
                    "{} to {} ns is no span within the run of {} ns",
                    window.from_ns, window.to_ns, self.duration_ns
                );
                found.see(fault(format!("record.windows[{i}]"), reason));
            }
        }
    }

    fn check_series(&self) -> Result<(), Fault> {
        let rows = self.duration_ns.checked_div(self.record.series_ns);
        if rows.is_some_and(|rows| rows > MAX_SERIES_ROWS) {
            let reason = format!(
                "{} ns makes more than {MAX_SERIES_ROWS} rows of {} ns",
                self.record.series_ns, self.duration_ns
            );
            return fault("record.series_ns", reason);
        }
        Ok(())
    }
}

impl LinkSpec {
    /// What can be said of a link alone, and of packets of `largest_bytes`.
    fn check(&self, at: &str, largest_bytes: u32) -> Result<(), Fault> {
        if let Some(rate_bps) = self.rate_bps {
            rate(&format!("{at}.rate_bps"), rate_bps)?;
        } else if !self.schedule.is_empty() || self.ring_pkts > 0 || self.shaper != Shaper::Wire {
            return fault(
                format!("{at}.rate_bps"),
                "a schedule, a ring or a shaper needs a rate",
            );
        }
        if self.ring_pkts > MAX_RING_PKTS {
            let reason = format!("{} is more than {MAX_RING_PKTS}", self.ring_pkts);
            return fault(format!("{at}.ring_pkts"), reason);
        }
        if self.ring_pkts > 0 && self.shaper != Shaper::Wire {
            return fault(
                format!("{at}.ring_pkts"),
                "a driver ring needs the shaper 'wire': below a token bucket nothing waits",
            );
        }
        self.check_opportunities(at)?;
        let mut last_ns = None;
        for (i, step) in self.schedule.iter().enumerate() {
            let key = format!("{at}.schedule[{i}]");
            rate(&format!("{key}.rate_bps"), step.rate_bps)?;
            time(&format!("{key}.at_ns"), step.at_ns)?;
            if let Some(last_ns) = last_ns.filter(|&last_ns| step.at_ns <= last_ns) {
                let reason = format!(
                    "{} ns is not later than the step ahead of it, {last_ns} ns",
                    step.at_ns
                );
                return fault(format!("{key}.at_ns"), reason);
            }
            last_ns = Some(step.at_ns);
        }
        time(&format!("{at}.delay_ns"), self.delay_ns)?;
        if let Some(jitter) = self.jitter {
            time(&format!("{at}.jitter.sd_ns"), jitter.sd_ns)?;
        }
        if !(0.0..=1.0).contains(&self.loss) {
            return fault(
                format!("{at}.loss"),
                format!("{} is outside 0 to 1", self.loss),
            );
        }
        self.queue.build(&format!("{at}.queue"), self.rate_bps, 0)?;
        if self.shaper != Shaper::Wire && self.burst_bytes < largest_bytes {
            let reason = format!(
                "{} is less than a full packet of {largest_bytes} bytes",
                self.burst_bytes
            );
            return fault(format!("{at}.burst_bytes"), reason);
        }
        Ok(())
    }

    fn check_opportunities(&self, at: &str) -> Result<(), Fault> {
        let Some(trace) = &self.opportunities else {
            return Ok(());
        };
        if self.rate_bps.is_none() || self.shaper != Shaper::Wire || self.ring_pkts > 0 {
            return fault(
                format!("{at}.opportunities"),
                "a trace needs a mean rate and the shaper 'wire', without a ring",
            );
        }
        let last_ms = trace.at_ms.last().map_or(u64::MAX, |&ms| u64::from(ms));
        if !trace.at_ms.is_sorted() || last_ms > trace.cycle_ms || trace.cycle_ms == 0 {
            return fault(
                format!("{at}.opportunities"),
                "a trace is a list of times in order, which are within its cycle",
            );
        }
        Ok(())
    }
}

impl FlowSpec {
    /// The TCP of the flow; none for UDP.
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
        let config: Result<TcpConfig, _> =
            serde_json::from_value(serde_json::Value::Object(options.clone()));
        let key = format!("{at}.transport.options");
        let config = match config {
            Ok(config) => TcpConfig {
                cc: *cc,
                ecn: *ecn != EcnSpec::Off,
                ect1: *ecn == EcnSpec::Ect1,
                ..config
            },
            Err(error) => return fault(key, error.to_string()),
        };
        match config.fault() {
            Some(reason) => fault(key, reason),
            None => Ok(Some(config)),
        }
    }
}

fn unique<'a>(key: &str, names: impl Iterator<Item = &'a String>) -> Result<(), Fault> {
    let mut seen = std::collections::BTreeSet::new();
    for (i, name) in names.enumerate() {
        if !seen.insert(name) {
            return fault(format!("{key}[{i}]"), format!("the name '{name}' is taken"));
        }
    }
    Ok(())
}

fn rate(key: &str, rate_bps: u64) -> Result<(), Fault> {
    if (MIN_RATE_BPS..=MAX_RATE_BPS).contains(&rate_bps) {
        return Ok(());
    }
    fault(
        key,
        format!("{rate_bps} is outside {MIN_RATE_BPS} to {MAX_RATE_BPS} bit/s"),
    )
}

pub(super) fn time(key: &str, ns: u64) -> Result<(), Fault> {
    if ns <= MAX_TIME_NS {
        return Ok(());
    }
    fault(
        key,
        format!("{ns} ns is more than {MAX_TIME_NS} ns, a year"),
    )
}
