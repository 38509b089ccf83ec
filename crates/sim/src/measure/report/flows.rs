// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Flows and groups of flows in a report, of what each counted in a window.

use serde::Serialize;
use sojourn_core::Viewing;

use super::speech::Speech;
use super::times::CompletionReport;
use crate::measure::counts::{FlowCounts, Transit};
use crate::measure::record::{Delays, Distribution};
use crate::scenario::{FlowSpec, TransportSpec, WindowSpec};

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

/// How a call sounds; null where nothing arrived.
#[derive(Clone, Debug, Serialize)]
pub struct Score {
    /// Mean opinion score.
    pub mos: Option<f64>,
    /// From what it was reckoned.
    pub speech: Option<Speech>,
}

/// Quantiles of the round trips of echoes; null where none came back.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct RoundTrips {
    pub rtt_p50_ms: Option<f64>,
    pub rtt_p95_ms: Option<f64>,
    pub rtt_p99_ms: Option<f64>,
}

/// What viewers saw in a window.
#[derive(Clone, Debug, Serialize)]
pub struct ViewWindow {
    /// Segments that came.
    pub segments: u64,
    /// Their mean bit rate; null where none came.
    pub bitrate_mbps: Option<f64>,
    /// Their mean rung, of which the least is 1.
    pub rung: Option<f64>,
    /// Segments of another rung than the one before.
    pub switches: u64,
    /// How often a picture stood still, after it began.
    pub stalls: u64,
    /// How long, of all viewers together.
    pub stalled_s: f64,
}

impl ViewWindow {
    pub(super) fn of(counted: &[FlowCounts]) -> Self {
        let all = counted.iter().map(|counts| counts.viewing);
        let all = all.fold(Viewing::default(), |sum, viewing| sum.and(&viewing));
        let segments = all.segments as f64;
        let mean = |sum: f64| (all.segments > 0).then(|| sum / segments);
        Self {
            segments: all.segments,
            bitrate_mbps: mean(all.bps as f64 / 1e6),
            rung: mean(all.rungs as f64),
            switches: all.switches,
            stalls: all.stalls,
            stalled_s: all.stalled_ns as f64 / 1e9,
        }
    }
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
    /// The same, of those sent; null where none was.
    pub lost_pct: Option<f64>,
    /// Mean delay of the datagrams that arrived, from when they left the sender; null
    /// where none did, and for TCP.
    pub delay_ms: Option<f64>,
    /// Quantiles of these delays; null of a part of a group too.
    pub delay_p50_ms: Option<f64>,
    /// See above.
    pub delay_p95_ms: Option<f64>,
    /// See above.
    pub delay_p99_ms: Option<f64>,
    /// Mean difference between the delays of successive datagrams.
    pub jitter_ms: Option<f64>,
    /// Of speech.
    #[serde(flatten)]
    pub score: Option<Score>,
    /// Of echoes sent in the window.
    #[serde(flatten)]
    pub round_trips: Option<RoundTrips>,
    /// Of traffic that somebody watches.
    #[serde(flatten)]
    pub view: Option<ViewWindow>,
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
}

impl ScriptWindow {
    pub(super) fn of(counted: &[FlowCounts], page_s: Option<CompletionReport>) -> Self {
        Self {
            opened: counted.iter().map(|counts| counts.opened).sum(),
            answered_bytes: counted.iter().map(|counts| counts.answered_bytes).sum(),
            page_s,
        }
    }
}

/// The quantiles of delays and round trips, in ms.
fn quantiles_ms(delays: &Delays) -> [Option<f64>; 3] {
    let quantiles = delays.quantiles_ns([0.5, 0.95, 0.99]);
    quantiles.map(|ns| ns.map(|ns| ns / 1e6))
}

impl RoundTrips {
    pub(super) fn of(rtts: &Delays) -> Self {
        let [rtt_p50_ms, rtt_p95_ms, rtt_p99_ms] = quantiles_ms(rtts);
        Self {
            rtt_p50_ms,
            rtt_p95_ms,
            rtt_p99_ms,
        }
    }
}

impl FlowsWindow {
    pub(super) fn of(counted: &[FlowCounts], window: &WindowSpec, fct_s: CompletionReport) -> Self {
        let sum = |key: fn(&FlowCounts) -> u64| counted.iter().map(key).sum();
        let goodputs = goodputs_mbps(counted, window);
        Self {
            retransmitted_pkts: sum(|counts| counts.retransmitted_pkts),
            timeouts: sum(|counts| counts.timeouts),
            data_pkts_sent: sum(|counts| counts.data_pkts_sent),
            delivered_bytes: sum(|counts| counts.delivered_bytes),
            goodput_mbps: goodputs.iter().sum(),
            jain: fairness(&goodputs).0,
            fct_s,
        }
    }
}

impl GroupWindow {
    pub(super) fn of(
        spec: &FlowSpec,
        counted: &[FlowCounts],
        window: &WindowSpec,
        datagrams: &Delays,
        all: FlowsWindow,
    ) -> Self {
        let is_udp = matches!(spec.transport, TransportSpec::Udp);
        let sum = |key: fn(&Transit) -> u64| counted.iter().map(|t| key(&t.transit)).sum::<u64>();
        let arrived_pkts = sum(|transit| transit.arrived_pkts);
        let mean_ms = |ns: u64, n: u64| (n > 0).then(|| ns as f64 / n as f64 / 1e6);
        let lost_pkts = counted.iter().map(|counts| counts.lost_pkts).sum::<i64>();
        let lost_pkts = is_udp.then_some(lost_pkts);
        let sent_pkts = all.data_pkts_sent as f64;
        let share = lost_pkts.map(|lost| 100.0 * lost as f64 / sent_pkts);
        let lost_pct = share.filter(|_| all.data_pkts_sent > 0);
        let [delay_p50_ms, delay_p95_ms, delay_p99_ms] = quantiles_ms(datagrams);
        let score = spec.app.codec().map(|codec| {
            let known = delay_p99_ms.zip(lost_pct);
            let speech = known.map(|(p99_ms, lost_pct)| Speech::of(&codec, p99_ms, lost_pct));
            Score {
                mos: speech.as_ref().map(Speech::mos),
                speech,
            }
        });
        Self {
            name: spec.name.clone(),
            flows: spec.count.into(),
            least_share: fairness(&goodputs_mbps(counted, window)).1,
            lost_pkts,
            lost_pct,
            delay_ms: mean_ms(sum(|transit| transit.delay_ns), arrived_pkts),
            delay_p50_ms,
            delay_p95_ms,
            delay_p99_ms,
            jitter_ms: mean_ms(
                sum(|transit| transit.differences_ns),
                sum(|transit| transit.differences),
            ),
            score,
            round_trips: None,
            view: None,
            script: None,
            all,
        }
    }
}

pub(super) fn goodputs_mbps(counted: &[FlowCounts], window: &WindowSpec) -> Vec<f64> {
    let goodput = |counts: &FlowCounts| mbps(counts.delivered_bytes, window);
    counted.iter().map(goodput).collect()
}

fn mbps(bytes: u64, window: &WindowSpec) -> f64 {
    let seconds = (window.to_ns - window.from_ns) as f64 / 1e9;
    bytes as f64 * 8.0 / seconds / 1e6
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
