// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! The end of a run: are all packets accounted for, and what is reported.

use serde::Serialize;

use super::{Error, Run};
use crate::app::{Flow, Tally, Transit};
use crate::endpoint::Kind;
use crate::link::Link;
use crate::record::{Delays, Distribution, Quantity, QueueReport};
use crate::scenario::{TransportSpec, WindowSpec};
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
    pub lost_pkts: Option<u64>,
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
    /// Of the times of transfers and pages, by window and group; taken out before the report
    /// becomes JSON.
    #[serde(skip)]
    pub times: Vec<Distribution>,
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
        let transport: Vec<_> = self
            .windows
            .iter()
            .enumerate()
            .map(|(number, window)| self.transport(number, window))
            .collect();
        let first = &transport[0];
        Ok(Report {
            queues: records
                .into_iter()
                .map(|record| record.report(self.scenario.phases()))
                .collect(),
            goodput_mbps: first.all.goodput_mbps,
            jain: first.all.jain,
            fct_s: first.all.fct_s.clone(),
            transport,
            flows: self.flow_reports(),
            echoes: self.echoes(),
            times: self.times(),
            events: self.net.shared.events.scheduled(),
            fingerprint: format!("{fingerprint:016x}"),
            conservation,
        })
    }

    fn tallies_at(&self, ns: u64) -> &[Tally] {
        let edge = self.edges.iter().find(|(at, _)| at.0 == ns);
        edge.map_or(&[], |(_, tallies)| tallies)
    }

    /// What each flow has counted in a window.
    fn counted(&self, window: &WindowSpec) -> Vec<Tally> {
        let begin = self.tallies_at(window.from_ns).iter();
        let end = self.tallies_at(window.to_ns).iter();
        end.zip(begin)
            .map(|(end, begin)| end.since(begin))
            .collect()
    }

    /// Payload delivered to each flow in a window over its length.
    fn goodputs_mbps(&self, window: &WindowSpec) -> Vec<f64> {
        goodputs_mbps(&self.counted(window), window)
    }

    fn transport(&self, number: usize, window: &WindowSpec) -> TransportWindow {
        let counted = self.counted(window);
        let times = |group: usize| &self.net.times.of(group, number).transfers;
        let every: Vec<_> = (0..self.scenario.flows.len()).map(times).collect();
        let fct_s = completions(&self.net.flows, window, &every);
        let all = FlowsWindow::of(&counted, window, fct_s);
        let groups = self.net.flows.chunk_by(|a, b| a.group == b.group);
        let mut first = 0;
        let groups = groups.map(|flows| {
            let counted = &counted[first..first + flows.len()];
            first += flows.len();
            let group = flows[0].group as usize;
            let fct_s = completions(flows, window, &[times(group)]);
            let all = FlowsWindow::of(counted, window, fct_s);
            let spec = &self.scenario.flows[group];
            let udp = matches!(spec.transport, TransportSpec::Udp);
            let is_script = spec.app.is_script();
            let script = is_script.then(|| self.script(number, group, &spec.app, counted));
            GroupWindow {
                script,
                ..GroupWindow::of(flows, counted, window, all, udp)
            }
        });
        TransportWindow {
            name: window.name.clone(),
            groups: groups.collect(),
            all,
        }
    }

    fn script(&self, window: usize, group: usize, app: &AppSpec, of: &[Tally]) -> ScriptWindow {
        let pages = &self.net.times.of(group, window).pages;
        ScriptWindow {
            opened: of.iter().map(|tally| tally.opened).sum(),
            answered_bytes: of.iter().map(|tally| tally.answered_bytes).sum(),
            page_s: matches!(app, AppSpec::Web(_)).then(|| distribution(pages)),
        }
    }

    /// Of groups that have any.
    fn times(&self) -> Vec<Distribution> {
        let mut found = Vec::new();
        for (number, window) in self.windows.iter().enumerate() {
            for flows in self.net.flows.chunk_by(|a, b| a.group == b.group) {
                let times = self.net.times.of(flows[0].group as usize, number);
                let transfers = merged(flows, window, &[&times.transfers]);
                for (quantity, seen) in [
                    (Quantity::CompletionTime, transfers),
                    (Quantity::PageTime, times.pages.clone()),
                ] {
                    if seen.count() > 0 {
                        found.push(Distribution {
                            quantity,
                            of: flows[0].name.clone(),
                            window: window.name.clone(),
                            seen,
                        });
                    }
                }
            }
        }
        found
    }

    fn echoes(&self) -> Vec<EchoReport> {
        let echo = |flow: &Flow| {
            let echoes = flow.echoes.as_ref()?;
            let rtts = echoes.iter().map(|echo| echo.rtt_ns);
            Some(EchoReport {
                name: flow.name.clone(),
                index: flow.index,
                sent_s: echoes.iter().map(|echo| echo.sent.seconds()).collect(),
                rtt_ms: rtts.map(|rtt| rtt.map(|ns| ns as f64 / 1e6)).collect(),
            })
        };
        self.net.flows.iter().filter_map(echo).collect()
    }

    fn flow_reports(&self) -> Vec<FlowReport> {
        let of_windows: Vec<_> = self.windows.iter().map(|w| self.goodputs_mbps(w)).collect();
        let tallies = self.tallies();
        let mut srtt_ms = vec![None; tallies.len()];
        for end in &self.net.endpoints {
            if let Kind::Tcp(connection) = &end.kind {
                let stats = connection.stats();
                if end.who == End::From && stats.srtt_us > 0 {
                    srtt_ms[end.flow as usize] = Some(f64::from(stats.srtt_us) / 1e3);
                }
            }
        }
        let report = |(i, flow): (usize, &Flow)| {
            let tally = tallies[i];
            FlowReport {
                name: flow.name.clone(),
                index: flow.index,
                goodput_mbps: of_windows[0][i],
                goodput_mbps_of_windows: of_windows.iter().map(|of| of[i]).collect(),
                delivered_bytes: tally.delivered_bytes,
                data_pkts_sent: tally.data_pkts_sent,
                retransmitted_pkts: tally.retransmitted_pkts,
                timeouts: tally.timeouts,
                completions: flow.transfers,
                srtt_ms: srtt_ms[i],
            }
        };
        self.net.flows.iter().enumerate().map(report).collect()
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
    fn of(
        flows: &[Flow],
        counted: &[Tally],
        window: &WindowSpec,
        all: FlowsWindow,
        is_udp: bool,
    ) -> Self {
        let least = counted.iter().map(|tally| tally.delivered_bytes).min();
        let share = all.goodput_mbps / flows.len() as f64;
        let sum = |key: fn(&Transit) -> u64| counted.iter().map(|t| key(&t.transit)).sum::<u64>();
        let arrived_pkts = sum(|transit| transit.arrived_pkts);
        let mean_ms = |ns: u64, n: u64| (n > 0).then(|| ns as f64 / n as f64 / 1e6);
        Self {
            name: flows[0].name.clone(),
            flows: flows.len() as u64,
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

/// Of transfers that were kept one by one, and of distributions of others. Where there are only
/// the first, quantiles are exact.
fn completions(flows: &[Flow], window: &WindowSpec, others: &[&Delays]) -> CompletionReport {
    if others.iter().any(|times| times.count() > 0) {
        return distribution(&merged(flows, window, others));
    }
    let mut took_ns: Vec<_> = kept(flows, window).collect();
    took_ns.sort_unstable();
    let quantile = |share: f64| {
        let rank = (libm::ceil(share * took_ns.len() as f64) as usize).max(1);
        took_ns.get(rank - 1).map(|&ns| ns as f64 / 1e9)
    };
    CompletionReport::of(took_ns.len() as u64, quantile)
}

/// Completion times of transfers that were kept one by one.
fn kept(flows: &[Flow], window: &WindowSpec) -> impl Iterator<Item = u64> {
    let within = |at: Time| (window.from_ns..window.to_ns).contains(&at.0);
    let all = flows.iter().flat_map(|flow| &flow.completions);
    all.filter(move |c| within(c.at)).map(|c| c.took_ns)
}

/// These and others.
fn merged(flows: &[Flow], window: &WindowSpec, others: &[&Delays]) -> Delays {
    let mut merged = Delays::default();
    for times in others {
        merged.add_all(times);
    }
    for ns in kept(flows, window) {
        merged.add(ns);
    }
    merged
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
