// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! What is measured at a queue. Totals run through the whole run; a window or a
//! step of the series is the difference of two readings. Only the distribution of
//! delays is kept per window: it is counted from one edge of a window to the next, and
//! added there to the windows under way. docs/guide/results.md defines every metric.

mod classes;
mod distribution;
mod groups;
mod histogram;
mod report;
mod response;
mod statistics;
mod transfers;

use sojourn_core::{Counters, Field, Slot};

pub use classes::{ClassReading, ClassRecord, ClassReport};
pub use distribution::{Cell, Distribution, Quantity};
pub use groups::{GroupSeries, MAX_LOOKED_AT, Open, Seen, every};
pub use histogram::Delays;
pub use report::*;
pub use response::ResponseReport;
pub use statistics::{StatisticReport, Statistics, scale};
pub use transfers::{Sum, Times, Transfer, TransferTimes};

use crate::base::time::{NS_PER_MS, NS_PER_S, Time};
use crate::scenario::{OpportunitySpec, WindowSpec};

/// Everything that only grows.
#[derive(Clone)]
struct Totals {
    at: Time,
    queue: Counters,
    delay_ns: u128,
    delay_count: u64,
    system_ns: u128,
    system_count: u64,
    /// Integrals over time of the backlog and of its square.
    pkt_ns: u128,
    pkt_square_ns: u128,
    sent_bytes: u64,
    /// Integral of the rate, or all opportunities: bits times 1e9.
    capacity: u128,
}

/// Distributions over some time.
#[derive(Clone, Default)]
struct Distributions {
    queue_delay: Delays,
    /// The same in whole milliseconds, for papers whose kernels counted in these.
    queue_delay_whole_ms: Delays,
    system_delay: Delays,
}

impl Distributions {
    fn parts(&mut self) -> [&mut Delays; 3] {
        [
            &mut self.queue_delay,
            &mut self.queue_delay_whole_ms,
            &mut self.system_delay,
        ]
    }
}

/// A window of time under way or done.
struct Window {
    spec: WindowSpec,
    under_way: bool,
    seen: Distributions,
    begin: Option<Totals>,
    end: Option<Totals>,
}

/// A packet's passage, or its end.
#[derive(Clone, Copy, Debug)]
pub struct PacketEvent {
    /// When it left the queue.
    pub at_ns: u64,
    /// When it had come.
    pub enq_ns: u64,
    /// Its flow.
    pub flow: u32,
    /// Length in bytes.
    pub len_bytes: u32,
    /// ECN field when it left.
    pub ecn: u8,
    /// 0: sent; else the reason of the drop.
    pub why: u8,
}

/// Rows kept of packet events: 16 Mi of 32 bytes are 512 MiB. The report says how many
/// did not fit.
const MAX_EVENTS: usize = 1 << 24;

/// The measuring of one queue.
pub struct QueueRecord {
    name: String,
    totals: Totals,
    backlog_at: Time,
    rate_at: Time,
    rate_bps: u64,
    /// In place of the rate, where the link follows a trace.
    opportunities: Option<OpportunitySpec>,
    /// What the link counts of each packet beside IP; none: that depends on the packet.
    header_bytes: Option<u32>,
    windows: Vec<Window>,
    /// Since the last edge of a window: counted once, however many are under way.
    lately: Distributions,
    series: Vec<Totals>,
    statistics: Statistics,
    /// At the edges of the bins after a change.
    readings: Vec<response::Reading>,
    /// The largest delay since the last edge of a window or of a bin, before the last of the
    /// other: the one in `lately` is of both.
    window_max_ns: u64,
    bin_max_ns: u64,
    events: Option<Vec<PacketEvent>>,
    events_left_out: u64,
    fingerprint: u64,
}

impl QueueRecord {
    /// Nothing measured yet.
    pub fn new(
        name: &str,
        rate_bps: u64,
        counters: Counters,
        windows: &[WindowSpec],
        events: bool,
    ) -> Self {
        let window = |spec: &WindowSpec| Window {
            spec: spec.clone(),
            under_way: false,
            seen: Distributions::default(),
            begin: None,
            end: None,
        };
        Self {
            name: name.to_owned(),
            totals: Totals {
                at: Time(0),
                queue: counters,
                delay_ns: 0,
                delay_count: 0,
                system_ns: 0,
                system_count: 0,
                pkt_ns: 0,
                pkt_square_ns: 0,
                sent_bytes: 0,
                capacity: 0,
            },
            backlog_at: Time(0),
            rate_at: Time(0),
            rate_bps,
            opportunities: None,
            header_bytes: None,
            windows: windows.iter().map(window).collect(),
            lately: Distributions::default(),
            series: Vec::new(),
            statistics: Statistics::default(),
            readings: Vec::new(),
            window_max_ns: 0,
            bin_max_ns: 0,
            events: events.then(Vec::new),
            events_left_out: 0,
            fingerprint: 0xcbf2_9ce4_8422_2325,
        }
    }

    /// Measures the link by these opportunities, whatever its rate is said to be.
    pub fn follow(&mut self, trace: OpportunitySpec) {
        self.opportunities = Some(trace);
    }

    /// Takes packets to be so much longer than their IP packets.
    pub fn beside_each_packet(&mut self, header_bytes: Option<u32>) {
        self.header_bytes = header_bytes;
    }

    /// The backlog has been `pkts` since it was last noted.
    #[inline]
    pub fn on_backlog(&mut self, now: Time, pkts: u32) {
        let span = u128::from(now - self.backlog_at);
        let pkts = u64::from(pkts);
        self.totals.pkt_ns += u128::from(pkts) * span;
        self.totals.pkt_square_ns += u128::from(pkts * pkts) * span;
        self.backlog_at = now;
    }

    /// A packet leaves the queue to be sent.
    #[inline(always)]
    pub fn on_dequeue(&mut self, now: Time, slot: &Slot) {
        let delay_ns = now.0 - slot.enq_ns;
        self.totals.delay_ns += u128::from(delay_ns);
        self.totals.delay_count += 1;
        self.lately.queue_delay.add(delay_ns);
        let whole_ms = delay_ns / NS_PER_MS;
        self.lately.queue_delay_whole_ms.add_small(whole_ms);
        self.note(now, slot, 0);
    }

    /// Its last bit leaves at `end`.
    #[inline(always)]
    pub fn on_sent(&mut self, end: Time, slot: &Slot) {
        // A probe is no packet of a user's.
        if slot.probe != 0 {
            return;
        }
        let delay_ns = end.0 - slot.enq_ns;
        self.totals.system_ns += u128::from(delay_ns);
        self.totals.system_count += 1;
        self.totals.sent_bytes += u64::from(slot.len_bytes);
        self.lately.system_delay.add(delay_ns);
    }

    /// Counts a packet that takes a whole opportunity as if it filled it.
    pub fn on_whole_opportunity(&mut self, len_bytes: u32, each_bytes: u32) {
        self.totals.sent_bytes += u64::from(each_bytes.saturating_sub(len_bytes));
    }

    /// The queue drops it.
    #[inline]
    pub fn on_drop(&mut self, now: Time, slot: &Slot, why: u8) {
        self.note(now, slot, why);
    }

    /// The rate of the link is another from now on.
    pub fn on_rate(&mut self, now: Time, bps: u64) {
        if let Some(trace) = &self.opportunities {
            let bits = trace.count_before(now) * u64::from(trace.each_bytes()) * 8;
            self.totals.capacity = u128::from(bits) * u128::from(NS_PER_S);
        } else {
            self.totals.capacity += u128::from(now - self.rate_at) * u128::from(self.rate_bps);
        }
        self.rate_at = now;
        self.rate_bps = bps;
    }

    /// Mixes what happened to a packet into the fingerprint of the run, in order.
    #[inline]
    fn note(&mut self, now: Time, slot: &Slot, why: u8) {
        let word = now.0
            ^ u64::from(slot.flow).rotate_left(32)
            ^ u64::from(slot.len_bytes) << 48
            ^ u64::from(slot.ecn) << 44
            ^ u64::from(why) << 40;
        // The multiplier of FNV-1a, a word at a time.
        self.fingerprint = (self.fingerprint ^ word)
            .wrapping_mul(0x0000_0100_0000_01b3)
            .rotate_left(29);
        if let Some(events) = &mut self.events {
            if events.len() == MAX_EVENTS {
                self.events_left_out += 1;
                return;
            }
            events.push(PacketEvent {
                at_ns: now.0,
                enq_ns: slot.enq_ns,
                flow: slot.flow,
                len_bytes: slot.len_bytes,
                ecn: slot.ecn,
                why,
            });
        }
    }

    fn read(&mut self, now: Time, backlog_pkts: u32, counters: Counters) -> Totals {
        self.on_backlog(now, backlog_pkts);
        self.on_rate(now, self.rate_bps);
        self.totals.at = now;
        self.totals.queue = counters;
        self.totals.clone()
    }

    /// A step of the series ends.
    pub fn on_step(&mut self, now: Time, backlog_pkts: u32, counters: Counters) {
        let totals = self.read(now, backlog_pkts, counters);
        self.series.push(totals);
    }

    /// What the algorithm tells of itself at the end of a step.
    pub fn on_statistics(&mut self, now: Time, values: &[(&'static Field, u64)]) {
        self.statistics.read(now, values);
    }

    /// A bin after a change begins or ends.
    pub fn on_response(&mut self, now: Time) {
        self.on_rate(now, self.rate_bps);
        let max_ns = self.lately.queue_delay.take_max_ns();
        self.window_max_ns = self.window_max_ns.max(max_ns);
        let peak_ns = std::mem::take(&mut self.bin_max_ns).max(max_ns);
        self.readings.push(response::Reading {
            at: now,
            delay_ns: self.totals.delay_ns,
            delay_count: self.totals.delay_count,
            peak_ns,
            sent_bytes: self.totals.sent_bytes,
            capacity: self.totals.capacity,
        });
    }

    /// Some window begins or ends.
    pub fn on_edge(&mut self, now: Time, backlog_pkts: u32, counters: Counters) {
        let totals = self.read(now, backlog_pkts, counters);
        let delays = &mut self.lately.queue_delay;
        let max_ns = delays.take_max_ns();
        self.bin_max_ns = self.bin_max_ns.max(max_ns);
        delays.give_max_ns(max_ns.max(std::mem::take(&mut self.window_max_ns)));
        for window in &mut self.windows {
            if window.under_way {
                for (part, lately) in window.seen.parts().into_iter().zip(self.lately.parts()) {
                    part.add_all(lately);
                }
            }
            if window.spec.from_ns == now.0 {
                window.begin = Some(totals.clone());
            }
            if window.spec.to_ns == now.0 {
                window.end = Some(totals.clone());
            }
            window.under_way = window.begin.is_some() && window.end.is_none();
        }
        for part in self.lately.parts() {
            part.clear();
        }
    }
}
