// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! The end of a run: are all packets accounted for, and what is reported.

use serde::Serialize;

use super::{Error, Run};
use crate::app::{Completion, Echo, Tally, Transit};
use crate::endpoint::Kind;
use crate::link::Link;
use crate::record::{Delays, QueueRecord, QueueReport, TransferTimes};
use crate::scenario::{FlowSpec, Scenario, TransportSpec, WindowSpec};
use crate::time::Time;
use crate::traffic::{AppSpec, End};

/// A flow's end.
#[derive(Clone, Debug, Serialize)]
pub struct FlowReport {
    /// Name of its specification.
    pub name: String,
    /// Which of that name.
    pub index: u32,
    /// Payload delivered in the first window over its length.
    pub goodput_mbps: f64,
    /// The same of each window, in their order.
    pub goodput_mbps_of_windows: Vec<f64>,
    /// In the whole run.
    pub delivered_bytes: u64,
    /// Data packets sent, in the whole run.
    pub data_pkts_sent: u64,
    /// Packets sent again, in the whole run.
    pub retransmitted_pkts: u64,
    /// Retransmission timeouts, in the whole run.
    pub timeouts: u64,
    /// Transfers completed, in the whole run.
    pub completions: u64,
    /// Smoothed round trip at the end; null without a connection.
    pub srtt_ms: Option<f64>,
}

/// Completion times of transfers that ended in a window.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct CompletionReport {
    pub n: u64,
    pub p25: Option<f64>,
    pub p50: Option<f64>,
    pub p75: Option<f64>,
    pub p95: Option<f64>,
}

/// What came back of the datagrams of a flow, in the order in which they were sent.
#[derive(Clone, Debug, Serialize)]
pub struct EchoReport {
    /// Name of its specification.
    pub name: String,
    /// Which of that name.
    pub index: u32,
    /// When each was sent.
    pub sent_s: Vec<f64>,
    /// Round trip of each; null: it has not come back.
    pub rtt_ms: Vec<Option<f64>>,
}

/// Where all packets went.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct ConservationReport {
    pub born: u64,
    pub delivered: u64,
    pub stale: u64,
    pub dropped: u64,
    pub lost: u64,
    pub inside: u64,
}

/// Some flows in a window.
#[derive(Clone, Debug, Serialize)]
pub struct FlowsWindow {
    /// Packets sent again.
    pub retransmitted_pkts: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Packets with data, sent.
    pub data_pkts_sent: u64,
    /// Payload delivered.
    pub delivered_bytes: u64,
    /// Sum of the flows' goodput.
    pub goodput_mbps: f64,
    /// Jain's index of the flows' goodput.
    pub jain: f64,
    /// Completion times in seconds.
    pub fct_s: CompletionReport,
}

/// What conversations of flows did in a window.
#[derive(Clone, Debug, Serialize)]
pub struct ScriptWindow {
    /// Connections opened.
    pub opened: u64,
    /// Payload delivered to the end `from`, in conversations in which both ends write.
    pub answered_bytes: u64,
    /// Load times of pages in seconds; null for what has no pages.
    pub page_s: Option<CompletionReport>,
}

/// The flows of one name in a window.
#[derive(Clone, Debug, Serialize)]
pub struct GroupWindow {
    /// Their name.
    pub name: String,
    /// How many they are.
    pub flows: u64,
    /// The least flow's goodput over their mean; null where nothing arrived.
    pub least_share: Option<f64>,
    /// Datagrams sent in the window less those that arrived in it; null for TCP.
    pub lost_pkts: Option<i64>,
    /// Mean delay of the datagrams that arrived, from application to application; null
    /// where none did, and for TCP.
    pub delay_ms: Option<f64>,
    /// Mean difference between the delays of successive datagrams.
    pub jitter_ms: Option<f64>,
    /// Of traffic that is a script: what `bulk`, `respawn` and `cbr` do not have.
    #[serde(flatten)]
    pub script: Option<ScriptWindow>,
    /// All that is reckoned of all flows too.
    #[serde(flatten)]
    pub all: FlowsWindow,
}

/// All flows in a window, and by group.
#[derive(Clone, Debug, Serialize)]
pub struct TransportWindow {
    /// The window's name.
    pub name: String,
    /// Of all flows.
    #[serde(flatten)]
    pub all: FlowsWindow,
    /// Of the flows of each name, in the order of the scenario.
    pub groups: Vec<GroupWindow>,
}

/// What came of the flows of a run, on whichever host.
#[derive(Clone, Debug, Serialize)]
pub struct FlowsReport {
    /// Flows.
    pub flows: Vec<FlowReport>,
    /// Round trips of flows that are echoes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub echoes: Vec<EchoReport>,
    /// All flows by window.
    pub transport: Vec<TransportWindow>,
    /// Sum of the flows', in the first window.
    pub goodput_mbps: f64,
    /// Jain's index of the flows' goodput in the first window.
    pub jain: f64,
    /// Completion times in seconds, of the first window.
    pub fct_s: CompletionReport,
}

/// What came of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Measured queues.
    pub queues: Vec<QueueReport>,
    /// Flows.
    pub flows: Vec<FlowReport>,
    /// Round trips of flows that are echoes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub echoes: Vec<EchoReport>,
    /// All flows by window.
    pub transport: Vec<TransportWindow>,
    /// Sum of the flows', in the first window.
    pub goodput_mbps: f64,
    /// Jain's index of the flows' goodput in the first window.
    pub jain: f64,
    /// Completion times in seconds, of the first window.
    pub fct_s: CompletionReport,
    /// Events handled.
    pub events: u64,
    /// Hash of what happened at the measured queues.
    pub fingerprint: String,
    /// Where the packets went.
    pub conservation: ConservationReport,
}

impl Run<'_> {
    fn conservation(&self) -> Result<ConservationReport, Error> {
        let net = &self.net;
        let on_links: u64 = net.links.iter().map(Link::held_pkts).sum();
        let in_senders: u64 = net.links.iter().map(Link::expected_pkts).sum();
        let report = ConservationReport {
            born: net.shared.packets.born(),
            delivered: net.delivered_pkts,
            stale: net.stale_pkts,
            dropped: net.shared.dropped_pkts,
            lost: net.shared.lost_pkts,
            inside: on_links + in_senders,
        };
        let gone = report.delivered + report.stale + report.dropped + report.lost;
        if report.born != gone + report.inside || report.inside != net.shared.packets.alive() {
            return Err(Error::Conservation(format!("{report:?}")));
        }
        for (link, spec) in net.links.iter().zip(&self.scenario.links) {
            if !link.is_conserved() {
                let count = link.port.queue.counters();
                let what = format!("link '{}', its queue: {count:?}", spec.name);
                return Err(Error::Conservation(what));
            }
        }
        let mut inside = vec![0; net.shared.ledger.len()];
        for way in net.shared.packets.ways() {
            inside[way.flow as usize] += 1;
        }
        for (i, (ledger, inside)) in net.shared.ledger.iter().zip(inside).enumerate() {
            if ledger.born != ledger.arrived + ledger.lost + inside {
                let flow = net.flows.get(i);
                let name = flow.map_or("probes".to_owned(), |flow| {
                    format!("flow '{}' {}", flow.name, flow.index)
                });
                let what = format!("{name}: {ledger:?}, {inside} inside");
                return Err(Error::Conservation(what));
            }
        }
        Ok(report)
    }

    pub(super) fn report(mut self) -> Result<Report, Error> {
        let conservation = self.conservation()?;
        let records = self
            .net
            .links
            .iter_mut()
            .filter_map(|link| link.port.record.take());
        let records: Vec<_> = records.collect();
        let fingerprint = records.iter().fold(conservation.born, |mixed, record| {
            mixed.rotate_left(7) ^ record.fingerprint()
        });
        let of_flows = self.of_flows();
        Ok(Report {
            queues: records.into_iter().map(QueueRecord::report).collect(),
            flows: of_flows.flows,
            echoes: of_flows.echoes,
            transport: of_flows.transport,
            goodput_mbps: of_flows.goodput_mbps,
            jain: of_flows.jain,
            fct_s: of_flows.fct_s,
            events: self.net.shared.events.scheduled(),
            fingerprint: format!("{fingerprint:016x}"),
            conservation,
        })
    }

    fn of_flows(&self) -> FlowsReport {
        let flows = &self.net.flows;
        let mut srtt_us = vec![0; flows.len()];
        for end in &self.net.endpoints {
            if let Kind::Tcp(connection) = &end.kind
                && end.who == End::From
            {
                let stats = connection.stats();
                if stats.srtt_us > 0 {
                    srtt_us[end.flow as usize] = stats.srtt_us;
                }
            }
        }
        let each = flows.iter().zip(srtt_us);
        let each = each.map(|(flow, srtt_us)| FlowCounted {
            srtt_us,
            transfers: flow.transfers,
            completions: &flow.completions,
            pages: &[],
            echoes: flow.echoes.as_deref(),
        });
        let counted = Counted {
            scenario: self.scenario,
            edges: &self.edges,
            end: self.tallies(),
            flows: each.collect(),
            times: &self.net.times,
        };
        counted.report()
    }
}

/// What one flow has counted in the whole run, beside its tallies.
pub struct FlowCounted<'a> {
    /// Smoothed round trip at the end; 0 without a connection.
    pub srtt_us: u32,
    /// How many transfers are done.
    pub transfers: u64,
    /// The transfers that were kept one by one.
    pub completions: &'a [Completion],
    /// The pages that were.
    pub pages: &'a [Completion],
    /// Of a flow whose datagrams are sent back.
    pub echoes: Option<&'a [Echo]>,
}

/// What all flows of a run have counted, in the order of the scenario. Every host reckons from this.
pub struct Counted<'a> {
    /// The run.
    pub scenario: &'a Scenario,
    /// Each flow's tally at each edge of a window.
    pub edges: &'a [(Time, Vec<Tally>)],
    /// Each flow's at the end.
    pub end: Vec<Tally>,
    /// What else each has counted.
    pub flows: Vec<FlowCounted<'a>>,
    /// Of the transfers and pages that were not kept one by one.
    pub times: &'a TransferTimes,
}

impl Counted<'_> {
    /// All of it, reckoned.
    pub fn report(&self) -> FlowsReport {
        let windows = self.scenario.windows();
        let each = windows.iter().enumerate();
        let transport: Vec<_> = each.map(|(n, window)| self.transport(n, window)).collect();
        let first = &transport[0].all;
        FlowsReport {
            goodput_mbps: first.goodput_mbps,
            jain: first.jain,
            fct_s: first.fct_s.clone(),
            flows: self.flow_reports(&windows),
            echoes: self.echoes(),
            transport,
        }
    }

    fn names(&self) -> impl Iterator<Item = (&str, u32)> {
        let specs = self.scenario.flows.iter();
        specs.flat_map(|spec| (0..spec.count).map(|index| (spec.name.as_str(), index)))
    }

    fn tallies_at(&self, ns: u64) -> &[Tally] {
        let edge = self.edges.iter().find(|(at, _)| at.0 == ns);
        edge.map_or(&[], |(_, tallies)| tallies)
    }

    /// What each flow has counted in a window.
    fn in_window(&self, window: &WindowSpec) -> Vec<Tally> {
        let begin = self.tallies_at(window.from_ns).iter();
        let end = self.tallies_at(window.to_ns).iter();
        end.zip(begin)
            .map(|(end, begin)| end.since(begin))
            .collect()
    }

    fn transport(&self, number: usize, window: &WindowSpec) -> TransportWindow {
        let counted = self.in_window(window);
        let times = |group: usize| &self.times.of(group, number).transfers;
        let every: Vec<_> = (0..self.scenario.flows.len()).map(times).collect();
        let fct_s = completions(kept(&self.flows), window, &every);
        let all = FlowsWindow::of(&counted, window, fct_s);
        let mut first = 0;
        let group = |(group, spec): (usize, &FlowSpec)| {
            let members = first..first + spec.count as usize;
            first = members.end;
            let (counted, flows) = (&counted[members.clone()], &self.flows[members]);
            let fct_s = completions(kept(flows), window, &[times(group)]);
            let all = FlowsWindow::of(counted, window, fct_s);
            let is_script = spec.app.is_script();
            let pages = &self.times.of(group, number).pages;
            let script = is_script.then(|| ScriptWindow::of(spec, flows, counted, window, pages));
            GroupWindow {
                script,
                ..GroupWindow::of(spec, counted, window, all)
            }
        };
        let groups = self.scenario.flows.iter().enumerate().map(group).collect();
        TransportWindow {
            name: window.name.clone(),
            groups,
            all,
        }
    }

    fn echoes(&self) -> Vec<EchoReport> {
        let echo = |(flow, (name, index)): (&FlowCounted<'_>, (&str, u32))| {
            let echoes = flow.echoes?;
            let rtts = echoes.iter().map(|echo| echo.rtt_ns);
            Some(EchoReport {
                name: name.to_owned(),
                index,
                sent_s: echoes.iter().map(|echo| echo.sent.seconds()).collect(),
                rtt_ms: rtts.map(|rtt| rtt.map(|ns| ns as f64 / 1e6)).collect(),
            })
        };
        self.flows
            .iter()
            .zip(self.names())
            .filter_map(echo)
            .collect()
    }

    fn flow_reports(&self, windows: &[WindowSpec]) -> Vec<FlowReport> {
        let goodputs = |window| goodputs_mbps(&self.in_window(window), window);
        let of_windows: Vec<_> = windows.iter().map(goodputs).collect();
        let report = |(i, (name, index)): (usize, (&str, u32))| {
            let (tally, flow) = (self.end[i], &self.flows[i]);
            FlowReport {
                name: name.to_owned(),
                index,
                goodput_mbps: of_windows[0][i],
                goodput_mbps_of_windows: of_windows.iter().map(|of| of[i]).collect(),
                delivered_bytes: tally.delivered_bytes,
                data_pkts_sent: tally.data_pkts_sent,
                retransmitted_pkts: tally.retransmitted_pkts,
                timeouts: tally.timeouts,
                completions: flow.transfers,
                srtt_ms: (flow.srtt_us > 0).then(|| f64::from(flow.srtt_us) / 1e3),
            }
        };
        self.names().enumerate().map(report).collect()
    }
}

impl ScriptWindow {
    fn of(
        spec: &FlowSpec,
        flows: &[FlowCounted<'_>],
        counted: &[Tally],
        window: &WindowSpec,
        pages: &Delays,
    ) -> Self {
        let kept = || flows.iter().flat_map(|flow| flow.pages.iter().copied());
        Self {
            opened: counted.iter().map(|tally| tally.opened).sum(),
            answered_bytes: counted.iter().map(|tally| tally.answered_bytes).sum(),
            page_s: matches!(spec.app, AppSpec::Web(_))
                .then(|| completions(kept(), window, &[pages])),
        }
    }
}

impl FlowsWindow {
    fn of(counted: &[Tally], window: &WindowSpec, fct_s: CompletionReport) -> Self {
        let sum = |key: fn(&Tally) -> u64| counted.iter().map(key).sum();
        let goodputs = goodputs_mbps(counted, window);
        Self {
            retransmitted_pkts: sum(|tally| tally.retransmitted_pkts),
            timeouts: sum(|tally| tally.timeouts),
            data_pkts_sent: sum(|tally| tally.data_pkts_sent),
            delivered_bytes: sum(|tally| tally.delivered_bytes),
            goodput_mbps: goodputs.iter().sum(),
            jain: jain(&goodputs),
            fct_s,
        }
    }
}

impl GroupWindow {
    fn of(spec: &FlowSpec, counted: &[Tally], window: &WindowSpec, all: FlowsWindow) -> Self {
        let is_udp = matches!(spec.transport, TransportSpec::Udp);
        let least = counted.iter().map(|tally| tally.delivered_bytes).min();
        let share = all.goodput_mbps / f64::from(spec.count);
        let sum = |key: fn(&Transit) -> u64| counted.iter().map(|t| key(&t.transit)).sum::<u64>();
        let arrived_pkts = sum(|transit| transit.arrived_pkts);
        let mean_ms = |ns: u64, n: u64| (n > 0).then(|| ns as f64 / n as f64 / 1e6);
        Self {
            name: spec.name.clone(),
            flows: spec.count.into(),
            least_share: least
                .filter(|_| share > 0.0)
                .map(|bytes| mbps(bytes, window) / share),
            lost_pkts: is_udp.then(|| counted.iter().map(|tally| tally.lost_pkts).sum()),
            delay_ms: mean_ms(sum(|transit| transit.delay_ns), arrived_pkts),
            jitter_ms: mean_ms(
                sum(|transit| transit.differences_ns),
                sum(|transit| transit.differences),
            ),
            script: None,
            all,
        }
    }
}

fn goodputs_mbps(counted: &[Tally], window: &WindowSpec) -> Vec<f64> {
    let goodput = |tally: &Tally| mbps(tally.delivered_bytes, window);
    counted.iter().map(goodput).collect()
}

fn mbps(bytes: u64, window: &WindowSpec) -> f64 {
    let seconds = (window.to_ns - window.from_ns) as f64 / 1e9;
    bytes as f64 * 8.0 / seconds / 1e6
}

fn kept<'a>(flows: &'a [FlowCounted<'_>]) -> impl Iterator<Item = Completion> + 'a {
    flows
        .iter()
        .flat_map(|flow| flow.completions.iter().copied())
}

/// Of transfers that were kept one by one, and of distributions of others. Where there are only
/// the first, quantiles are exact.
fn completions(
    kept: impl Iterator<Item = Completion>,
    window: &WindowSpec,
    others: &[&Delays],
) -> CompletionReport {
    let within = |at: Time| (window.from_ns..window.to_ns).contains(&at.0);
    let mut took_ns: Vec<_> = kept.filter(|c| within(c.at)).map(|c| c.took_ns).collect();
    if others.iter().any(|times| times.count() > 0) {
        let mut merged = Delays::default();
        for times in others {
            merged.add_all(times);
        }
        for ns in took_ns {
            merged.add(ns);
        }
        return distribution(&merged);
    }
    took_ns.sort_unstable();
    let quantile = |share: f64| {
        let rank = (libm::ceil(share * took_ns.len() as f64) as usize).max(1);
        took_ns.get(rank - 1).map(|&ns| ns as f64 / 1e9)
    };
    CompletionReport::of(took_ns.len() as u64, quantile)
}

fn distribution(times: &Delays) -> CompletionReport {
    CompletionReport::of(times.count(), |share| {
        times.quantile_ns(share).map(|ns| ns / 1e9)
    })
}

impl CompletionReport {
    fn of(n: u64, quantile: impl Fn(f64) -> Option<f64>) -> Self {
        Self {
            n,
            p25: quantile(0.25),
            p50: quantile(0.5),
            p75: quantile(0.75),
            p95: quantile(0.95),
        }
    }
}

/// Of what flows were given: Jain's index, and the least share over the mean; none of nothing.
pub fn fairness(shares: &[f64]) -> (f64, Option<f64>) {
    let mean = shares.iter().sum::<f64>() / shares.len() as f64;
    let least = shares.iter().copied().reduce(f64::min);
    (
        jain(shares),
        least.filter(|_| mean > 0.0).map(|least| least / mean),
    )
}

/// Jain's fairness index; 1 of nothing.
fn jain(shares: &[f64]) -> f64 {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|x| x * x).sum();
    if squares == 0.0 {
        1.0
    } else {
        sum * sum / (shares.len() as f64 * squares)
    }
}
