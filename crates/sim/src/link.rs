// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! A link end with a rate: a queue of the core, and below it a shaper that asks
//! for packets. `docs/engine.md` defines the three manners.
//!
//! All three keep one number, `paid_ns`: the moment at which all that was sent
//! has been paid for at the link's rate. A bucket of depth B is full when that
//! lies B in the past.

use std::collections::VecDeque;

use sojourn_core::Queue;

use crate::event::Source;
use crate::packet::Packets;
use crate::record::Recorder;
use crate::scenario::Shaper;
use crate::time::Time;

/// Time per byte in Q32 of a nanosecond; the error of a rate is below 1e-6 at
/// 10 Tbit/s and 1e-11 at 100 Mbit/s.
fn ns_per_byte_q32(rate_bps: u64) -> u64 {
    let one_byte = 8_000_000_000u128 << 32;
    ((one_byte + u128::from(rate_bps) / 2) / u128::from(rate_bps)) as u64
}

/// A shaper and its queue.
pub struct Link {
    /// Its place among the events.
    pub source: Source,
    /// Index in the scenario.
    pub index: usize,
    /// The queue and its algorithm.
    pub queue: Queue,
    /// Present when the scenario records this queue.
    pub recorder: Option<Box<Recorder>>,
    /// Packets that came.
    pub entered: u64,
    /// Packets that the queue dropped.
    pub dropped: u64,
    /// Packets that left.
    pub left: u64,
    /// Whether an event is pending.
    pub armed: bool,
    shaper: Shaper,
    /// Packets that may be below the queue: on the wire and in the ring.
    places: usize,
    below: VecDeque<u32>,
    paid_ns: i64,
    byte_q32: u64,
    /// Part of a nanosecond, in Q32, that the last cost left over.
    fraction: u32,
    burst_bytes: u64,
    burst_ns: i64,
}

impl Link {
    /// An idle link with a full bucket.
    #[must_use]
    pub fn new(
        source: Source,
        index: usize,
        spec: &crate::scenario::Link,
        queue: Queue,
        recorder: Option<Recorder>,
    ) -> Self {
        let mut link = Link {
            source,
            index,
            queue,
            recorder: recorder.map(Box::new),
            entered: 0,
            dropped: 0,
            left: 0,
            armed: false,
            shaper: spec.shaper,
            places: 1 + spec.ring_pkts as usize,
            below: VecDeque::with_capacity(1 + spec.ring_pkts as usize),
            paid_ns: 0,
            byte_q32: ns_per_byte_q32(spec.rate_bps.unwrap_or(1)),
            fraction: 0,
            burst_bytes: match spec.shaper {
                Shaper::Wire => 0,
                Shaper::Tbf | Shaper::Htb => spec.burst_bytes,
            },
            burst_ns: 0,
        };
        link.burst_ns = link.burst_time_ns();
        link.paid_ns = -link.burst_ns;
        link
    }

    fn burst_time_ns(&self) -> i64 {
        ((u128::from(self.burst_bytes) * u128::from(self.byte_q32)) >> 32) as i64
    }

    /// Time that `len_bytes` take at the rate. What is below a nanosecond is
    /// carried on, so that the rate is met exactly over many packets.
    #[inline]
    fn cost_ns(&mut self, len_bytes: u32) -> i64 {
        let cost = u128::from(len_bytes) * u128::from(self.byte_q32) + u128::from(self.fraction);
        self.fraction = cost as u32;
        (cost >> 32) as i64
    }

    /// Spends the tokens of a packet; a bucket holds no more than its depth.
    #[inline]
    fn pay(&mut self, now: Time, len_bytes: u32) {
        let begin = self.paid_ns.max(now.0 as i64 - self.burst_ns);
        self.paid_ns = begin + self.cost_ns(len_bytes);
    }

    /// A packet arrives at the queue. `dropped_by_flow` counts those that the
    /// queue gives up.
    #[inline]
    pub fn arrive(
        &mut self,
        packets: &mut Packets,
        dropped_by_flow: &mut [u64],
        now: Time,
        id: u32,
    ) {
        self.entered += 1;
        let before = packets.slots[id as usize].ecn;
        packets.get_mut(id).ecn_before = before;
        let joined = self.queue.enqueue(&mut packets.slots, now.0, id);
        if let Some(recorder) = &mut self.recorder {
            recorder.on_arrival(now, self.queue.backlog_pkts());
            let after = packets.slots[id as usize].ecn;
            if joined && after != before {
                recorder.on_mark(now);
                packets.get_mut(id).ecn_before = after;
            }
        }
        if !self.queue.freed().is_empty() {
            self.let_go(packets, dropped_by_flow, now);
        }
    }

    /// Takes back the packets that the queue has dropped.
    #[cold]
    fn let_go(&mut self, packets: &mut Packets, dropped_by_flow: &mut [u64], now: Time) {
        for freed in self.queue.freed() {
            let flow = packets.get(freed.packet).flow;
            let len_bytes = packets.slots[freed.packet as usize].len_bytes;
            self.dropped += 1;
            dropped_by_flow[flow as usize] += 1;
            if let Some(recorder) = &mut self.recorder {
                recorder.on_drop(now, flow, len_bytes, freed.why);
            }
            packets.remove(freed.packet);
        }
    }

    /// Asks the queue for a packet.
    #[inline]
    fn ask(
        &mut self,
        packets: &mut Packets,
        dropped_by_flow: &mut [u64],
        now: Time,
    ) -> Option<(u32, u32)> {
        if self.queue.backlog_pkts() == 0 {
            return None;
        }
        let id = self.queue.dequeue(&mut packets.slots, now.0);
        if !self.queue.freed().is_empty() {
            self.let_go(packets, dropped_by_flow, now);
        }
        let backlog_pkts = self.queue.backlog_pkts();
        let Some(id) = id else {
            if let Some(recorder) = &mut self.recorder {
                recorder.on_backlog(now, backlog_pkts);
            }
            return None;
        };
        let slot = packets.slots[id as usize];
        if let Some(recorder) = &mut self.recorder {
            recorder.on_dequeue(now, now.0 - slot.enq_ns, backlog_pkts);
            if slot.ecn != packets.get(id).ecn_before {
                recorder.on_mark(now);
            }
        }
        Some((id, slot.len_bytes))
    }

    /// Whether `departure` could have something to do after an arrival.
    #[inline]
    #[must_use]
    pub fn is_ready(&self) -> bool {
        match self.shaper {
            Shaper::Wire => self.below.len() < self.places,
            Shaper::Tbf => self.below.is_empty(),
            Shaper::Htb => !self.armed,
        }
    }

    /// The next packet that leaves at `now`; to be called until there is none.
    #[inline]
    pub fn departure(
        &mut self,
        packets: &mut Packets,
        dropped_by_flow: &mut [u64],
        now: Time,
    ) -> Option<u32> {
        match self.shaper {
            Shaper::Wire => self.wire_departure(packets, dropped_by_flow, now),
            Shaper::Tbf => self.tbf_departure(packets, dropped_by_flow, now),
            Shaper::Htb => {
                if self.paid_ns > now.0 as i64 {
                    return None;
                }
                let (id, len_bytes) = self.ask(packets, dropped_by_flow, now)?;
                self.pay(now, len_bytes);
                Some(self.leave(packets, now, id))
            }
        }
    }

    #[inline]
    fn wire_departure(
        &mut self,
        packets: &mut Packets,
        dropped_by_flow: &mut [u64],
        now: Time,
    ) -> Option<u32> {
        if !self.below.is_empty() && self.paid_ns <= now.0 as i64 {
            let id = self.below.pop_front()?;
            if let Some(&next) = self.below.front() {
                self.pay(now, packets.slots[next as usize].len_bytes);
            }
            return Some(self.leave(packets, now, id));
        }
        while self.below.len() < self.places {
            let Some((id, len_bytes)) = self.ask(packets, dropped_by_flow, now) else {
                break;
            };
            if self.below.is_empty() {
                self.pay(now, len_bytes);
            }
            self.below.push_back(id);
        }
        None
    }

    /// sch_tbf peeks: the packet leaves the queue at once and waits for tokens.
    fn tbf_departure(
        &mut self,
        packets: &mut Packets,
        dropped_by_flow: &mut [u64],
        now: Time,
    ) -> Option<u32> {
        if self.below.is_empty() {
            let (id, len_bytes) = self.ask(packets, dropped_by_flow, now)?;
            self.pay(now, len_bytes);
            self.below.push_back(id);
        }
        if self.paid_ns > now.0 as i64 {
            return None;
        }
        let id = self.below.pop_front()?;
        Some(self.leave(packets, now, id))
    }

    /// Counts a packet out. Its last bit is sent when it is paid for: now, but
    /// for htb, which lends.
    #[inline]
    fn leave(&mut self, packets: &Packets, now: Time, id: u32) -> u32 {
        self.left += 1;
        if let Some(recorder) = &mut self.recorder {
            let slot = &packets.slots[id as usize];
            let sent_ns = match self.shaper {
                Shaper::Htb => now.0.max(self.paid_ns.max(0) as u64),
                Shaper::Wire | Shaper::Tbf => now.0,
            };
            let packet = packets.get(id);
            recorder.on_departure(now, sent_ns - slot.enq_ns, packet.flow, slot);
        }
        id
    }

    /// When `departure` must be called next, if ever.
    #[inline]
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        let waits = match self.shaper {
            Shaper::Wire | Shaper::Tbf => !self.below.is_empty(),
            Shaper::Htb => self.queue.backlog_pkts() > 0,
        };
        waits.then_some(Time(self.paid_ns.max(0) as u64))
    }

    /// A new rate. What is owed, in bits, stays the same and is paid at the new
    /// rate; what the bucket holds stays too, up to its depth.
    pub fn change_rate(&mut self, now: Time, rate_bps: u64) {
        let old_q32 = self.byte_q32;
        self.byte_q32 = ns_per_byte_q32(rate_bps);
        self.burst_ns = self.burst_time_ns();
        let owed_ns = i128::from(self.paid_ns) - i128::from(now.0);
        let scaled = owed_ns * i128::from(self.byte_q32) / i128::from(old_q32);
        let owed_ns = scaled.max(i128::from(-self.burst_ns)) as i64;
        self.paid_ns = now.0 as i64 + owed_ns;
    }

    /// Packets in the queue and below it.
    #[must_use]
    pub fn inside(&self) -> u64 {
        u64::from(self.queue.backlog_pkts()) + self.below.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::ns_per_byte_q32;

    #[test]
    fn a_byte_at_100_mbit_takes_80_ns() {
        assert_eq!(ns_per_byte_q32(100_000_000), 80 << 32);
    }

    #[test]
    fn fast_rates_keep_six_digits() {
        let exact = 8e9 / 10e12 * 2f64.powi(32);
        assert!((ns_per_byte_q32(10_000_000_000_000) as f64 / exact - 1.0).abs() < 1e-6);
    }
}
