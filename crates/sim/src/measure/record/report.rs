// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! From what was measured to what is reported.

use std::collections::BTreeMap;

use serde::Serialize;
use sojourn_core::{Counters, reason_name};

use super::distribution::{Distribution, Quantity};
use super::response::{ResponseReport, responses};
use super::{Delays, Distributions, PacketEvent, QueueRecord, StatisticReport, Totals, Window};
use crate::base::time::NS_PER_S;
use crate::scenario::Phase;

const NS_PER_MS: f64 = 1e6;

/// A distribution of delays in milliseconds; null where nothing was measured.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct DelayReport {
    pub mean: Option<f64>,
    pub sd: Option<f64>,
    pub iqr: Option<f64>,
    pub p25: Option<f64>,
    pub p50: Option<f64>,
    pub p75: Option<f64>,
    pub p95: Option<f64>,
    pub p99: Option<f64>,
    pub max: Option<f64>,
}

/// Backlog in packets, weighted by time.
#[derive(Clone, Debug, Serialize)]
pub struct BacklogReport {
    /// Mean.
    pub mean: f64,
    /// Standard deviation.
    pub sd: f64,
}

/// A queue over a window.
#[derive(Clone, Debug, Serialize)]
pub struct WindowReport {
    /// Its name.
    pub name: String,
    /// Begin.
    pub from_s: f64,
    /// End.
    pub to_s: f64,
    /// Arrival at the queue to departure from it.
    pub queue_delay_ms: DelayReport,
    /// The same, of each packet cut to whole milliseconds.
    pub queue_delay_whole_ms: DelayReport,
    /// Arrival at the queue to last bit sent.
    pub system_delay_ms: DelayReport,
    /// Backlog.
    pub queue_pkts: BacklogReport,
    /// Bits sent over bits that could have been.
    pub utilisation_pct: f64,
    /// Bits of the IP packets that were sent; null where the link's header depends on the packet.
    pub ip_mbps: Option<f64>,
    /// Drops of any reason over arrivals.
    pub drop_pct: Option<f64>,
    /// Marks over arrivals.
    pub mark_pct: Option<f64>,
    /// Arrivals before any decision.
    pub arrived_pkts: u64,
    /// Departures.
    pub departed_pkts: u64,
    /// Drops.
    pub dropped_pkts: u64,
    /// Marks.
    pub marked_pkts: u64,
    /// Drops by reason.
    pub drops: BTreeMap<&'static str, u64>,
    /// Marks by reason.
    pub marks: BTreeMap<&'static str, u64>,
}

/// A queue over time, a row a step. Delays are NaN in a step without a packet.
#[derive(Clone, Debug, Default, Serialize)]
#[allow(missing_docs)]
pub struct SeriesReport {
    pub t_s: Vec<f64>,
    pub queue_delay_ms: Vec<f64>,
    pub system_delay_ms: Vec<f64>,
    pub queue_pkts: Vec<f64>,
    pub utilisation_pct: Vec<f64>,
    pub drop_pct: Vec<f64>,
    pub mark_pct: Vec<f64>,
}

/// All of a queue.
#[derive(Clone, Debug, Serialize)]
pub struct QueueReport {
    /// Name of its link.
    pub name: String,
    /// By window.
    pub windows: Vec<WindowReport>,
    /// By time at which the scenario changes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<ResponseReport>,
    /// Over time; taken out before the report becomes JSON.
    #[serde(skip)]
    pub series: SeriesReport,
    /// The algorithm's own statistics over time; likewise.
    #[serde(skip)]
    pub statistics: Vec<StatisticReport>,
    /// Of its delays, by window; taken out likewise.
    #[serde(skip)]
    pub distributions: Vec<Distribution>,
    /// Packet by packet, if asked for.
    #[serde(skip)]
    pub events: Option<Vec<PacketEvent>>,
    /// Packets after those, when there were too many to keep.
    pub events_left_out: u64,
    /// Verdicts of the algorithm that broke a rule, by rule.
    pub bad_verdicts: BTreeMap<&'static str, u64>,
    /// Of an algorithm that probes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probes: Option<ProbesReport>,
    /// Of a queue with flows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flows: Option<FlowsReport>,
}

/// A queue's probes over the whole run, under the names that `tc -s` has for them. A kernel counts
/// more; this engine has no probe that cannot be made, waits or goes astray.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ProbesReport {
    /// Joined the queue.
    pub joined_pkts: u64,
    /// Found the queue's limit reached.
    pub refused_pkts: u64,
    /// Left the queue towards the responder.
    pub left_pkts: u64,
    /// Of these, as the link counts them.
    pub left_bytes: u64,
    /// Removed from the queue before they could leave.
    pub freed_pkts: u64,
    /// Their answers reached the algorithm.
    pub answered_pkts: u64,
}

/// The flows of a queue over the whole run, as the queue counts them itself.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct FlowsReport {
    /// How often a flow became a new one.
    pub new_flow_count: u64,
    /// Packets that joined a flow behind a packet of another hash.
    pub collisions: u64,
    /// Moving mean at the end.
    pub delay_mean_ms: f64,
    /// The same of packets that left while their flow was new.
    pub delay_sparse_ms: f64,
    /// The longest.
    pub delay_peak_ms: f64,
}

/// Of delays seen in a unit of which so many make a millisecond.
fn delays(seen: &Delays, per_ms: f64) -> DelayReport {
    let ms = |value: Option<f64>| value.map(|value| value / per_ms);
    let quantile = |share| ms(seen.quantile_ns(share));
    let (p25, p75) = (quantile(0.25), quantile(0.75));
    DelayReport {
        mean: ms(seen.mean_ns()),
        sd: ms(seen.sd_ns()),
        iqr: p25.zip(p75).map(|(low, high)| high - low),
        p25,
        p50: quantile(0.5),
        p75,
        p95: quantile(0.95),
        p99: quantile(0.99),
        max: ms(seen.max_ns()),
    }
}

fn pct(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| 100.0 * part / whole)
}

fn reasons(now: &[u64], before: &[u64]) -> BTreeMap<&'static str, u64> {
    now.iter()
        .zip(before)
        .enumerate()
        .filter(|(_, (now, before))| now > before)
        .map(|(why, (now, before))| (reason_name(why as u8), now - before))
        .collect()
}

/// The difference of two readings.
struct Span<'a> {
    from: &'a Totals,
    to: &'a Totals,
}

impl Span<'_> {
    fn count(&self, of: impl Fn(&Counters) -> u64) -> u64 {
        of(&self.to.queue) - of(&self.from.queue)
    }

    fn arrived(&self) -> f64 {
        self.count(|queue| queue.in_pkts) as f64
    }

    fn utilisation_pct(&self) -> f64 {
        let bits = (self.to.sent_bytes - self.from.sent_bytes) as f64 * 8.0;
        let capacity = (self.to.capacity - self.from.capacity) as f64 / NS_PER_S as f64;
        pct(bits, capacity).unwrap_or(0.0)
    }

    fn backlog(&self) -> BacklogReport {
        let ns = (self.to.at - self.from.at) as f64;
        let mean = (self.to.pkt_ns - self.from.pkt_ns) as f64 / ns;
        let square = (self.to.pkt_square_ns - self.from.pkt_square_ns) as f64 / ns;
        BacklogReport {
            mean,
            sd: libm::sqrt((square - mean * mean).max(0.0)),
        }
    }

    fn ip_mbps(&self, header_bytes: u32) -> f64 {
        let sent_pkts = self.to.system_count - self.from.system_count;
        let bytes = self.to.sent_bytes - self.from.sent_bytes;
        let ip_bytes = bytes - u64::from(header_bytes) * sent_pkts;
        ip_bytes as f64 * 8e3 / (self.to.at - self.from.at) as f64
    }

    fn window(&self, window: &Window, header_bytes: Option<u32>) -> WindowReport {
        let dropped = self.count(Counters::drop_pkts);
        let marked = self.count(Counters::mark_pkts);
        WindowReport {
            name: window.spec.name.clone(),
            from_s: self.from.at.seconds(),
            to_s: self.to.at.seconds(),
            queue_delay_ms: delays(&window.seen.queue_delay, NS_PER_MS),
            queue_delay_whole_ms: delays(&window.seen.queue_delay_whole_ms, 1.0),
            system_delay_ms: delays(&window.seen.system_delay, NS_PER_MS),
            queue_pkts: self.backlog(),
            utilisation_pct: self.utilisation_pct(),
            ip_mbps: header_bytes.map(|bytes| self.ip_mbps(bytes)),
            drop_pct: pct(dropped as f64, self.arrived()),
            mark_pct: pct(marked as f64, self.arrived()),
            arrived_pkts: self.count(|queue| queue.in_pkts),
            departed_pkts: self.count(|queue| queue.out_pkts),
            dropped_pkts: dropped,
            marked_pkts: marked,
            drops: reasons(&self.to.queue.drops, &self.from.queue.drops),
            marks: reasons(&self.to.queue.marks, &self.from.queue.marks),
        }
    }

    fn step(&self, series: &mut SeriesReport) {
        let mean_ms = |sum: u128, count: u64| {
            if count == 0 {
                f64::NAN
            } else {
                sum as f64 / count as f64 / NS_PER_MS
            }
        };
        let (from, to) = (self.from, self.to);
        let share = |of: u64| pct(of as f64, self.arrived()).unwrap_or(0.0);
        series.t_s.push(to.at.seconds());
        let delay = mean_ms(
            to.delay_ns - from.delay_ns,
            to.delay_count - from.delay_count,
        );
        series.queue_delay_ms.push(delay);
        let system = mean_ms(
            to.system_ns - from.system_ns,
            to.system_count - from.system_count,
        );
        series.system_delay_ms.push(system);
        series.queue_pkts.push(self.backlog().mean);
        series.utilisation_pct.push(self.utilisation_pct());
        series.drop_pct.push(share(self.count(Counters::drop_pkts)));
        series.mark_pct.push(share(self.count(Counters::mark_pkts)));
    }
}

fn distributions(queue: &str, window: Window) -> [Distribution; 3] {
    let Distributions {
        queue_delay,
        queue_delay_whole_ms,
        system_delay,
    } = window.seen;
    [
        (Quantity::QueueDelay, queue_delay),
        (Quantity::QueueDelayWhole, queue_delay_whole_ms),
        (Quantity::SystemDelay, system_delay),
    ]
    .map(|(quantity, seen)| Distribution {
        quantity,
        of: queue.to_owned(),
        window: window.spec.name.clone(),
        seen,
    })
}

impl QueueRecord {
    /// The report; windows that the run never came to the end of are left out.
    pub fn report(self, phases: Vec<Phase>) -> QueueReport {
        let spans = self.windows.iter().filter_map(|window| {
            let (from, to) = (window.begin.as_ref()?, window.end.as_ref()?);
            Some(Span { from, to }.window(window, self.header_bytes))
        });
        let windows = spans.collect();
        let mut series = SeriesReport::default();
        for pair in self.series.windows(2) {
            Span {
                from: &pair[0],
                to: &pair[1],
            }
            .step(&mut series);
        }
        let ended = self.windows.into_iter().filter(|of| of.end.is_some());
        let distributions = ended.flat_map(|window| distributions(&self.name, window));
        QueueReport {
            distributions: distributions.collect(),
            name: self.name,
            windows,
            steps: responses(phases, &self.readings),
            series,
            statistics: self.statistics.report(),
            events: self.events,
            events_left_out: self.events_left_out,
            bad_verdicts: self.totals.queue.bad_by_name().collect(),
            probes: None,
            flows: None,
        }
    }

    /// See `note`.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }
}
