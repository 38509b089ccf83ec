// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! One direction of a link: a queue, a server that takes packets from it at a rate,
//! and a wire that delays them. At most one event of each of the two is pending; the
//! packets wait in queues inside.

use std::collections::VecDeque;

use sojourn_core::Queue;

use crate::event::{Events, Source};
use crate::packet::{Ledger, PacketId, Packets};
use crate::record::QueueRecord;
use crate::scenario::{LinkSpec, MIN_RATE_BPS, Shaper};
use crate::time::{NS_PER_S, Time};
use crate::wire::Wire;

/// What the parts of a net share while an event is handled.
pub struct Shared {
    /// Pending events.
    pub events: Events,
    /// All packets.
    pub packets: Packets,
    /// Packets that have come to the end of a link, in order.
    pub arrived: VecDeque<PacketId>,
    /// By flow, what became of its packets.
    pub ledger: Vec<Ledger>,
    /// Packets that queues dropped.
    pub dropped_pkts: u64,
    /// Packets lost on wires.
    pub lost_pkts: u64,
}

/// A rate as the time of a byte in Q32 of a nanosecond: its error is below 1e-11 at
/// 100 Mbit/s and 1e-6 at 10 Tbit/s; at the lowest rate it still fits.
struct Rate {
    byte_q32: u64,
    /// Part of a nanosecond, in Q32, that the last packet of a wire left over.
    rest: u32,
}

impl Rate {
    fn new(bps: u64) -> Self {
        let byte_q32 = ((8 * u128::from(NS_PER_S)) << 32) / u128::from(bps);
        Self {
            byte_q32: byte_q32 as u64,
            rest: 0,
        }
    }

    /// What a packet costs in tokens.
    #[inline]
    fn ns_of(&self, bytes: u32) -> u64 {
        ((u128::from(bytes) * u128::from(self.byte_q32)) >> 32) as u64
    }

    /// How long the next packet occupies a wire. What is below a nanosecond is
    /// carried on to the one behind, so that many packets keep the rate exactly.
    #[inline]
    fn next_ns(&mut self, bytes: u32) -> u64 {
        let time = u128::from(bytes) * u128::from(self.byte_q32) + u128::from(self.rest);
        self.rest = time as u32;
        (time >> 32) as u64
    }
}

/// A token bucket; a token is a nanosecond, as in Linux.
struct Bucket {
    tokens_ns: i64,
    filled_at: Time,
    burst_bytes: u32,
}

impl Bucket {
    #[inline]
    fn fill(&mut self, now: Time, rate: &Rate) {
        let depth_ns = rate.ns_of(self.burst_bytes) as i64;
        let gained_ns = (now - self.filled_at) as i64;
        self.tokens_ns = (self.tokens_ns + gained_ns).min(depth_ns);
        self.filled_at = now;
    }
}

/// How packets leave the queue.
enum Server {
    /// No rate: they never enter it.
    None,
    Wire {
        sending: Option<PacketId>,
        ring: VecDeque<PacketId>,
        ring_pkts: usize,
    },
    Tbf {
        bucket: Bucket,
        held: Option<PacketId>,
    },
    Htb {
        bucket: Bucket,
    },
}

/// A link.
pub struct Link {
    /// Its queue.
    pub queue: Queue,
    /// What is measured at it.
    pub record: Option<QueueRecord>,
    /// Event: service goes on.
    pub service: Source,
    /// Event: a packet reaches the far end.
    pub arrival: Source,
    rate: Rate,
    server: Server,
    wire: Wire,
    entered_pkts: u64,
    dropped_pkts: u64,
}

impl Link {
    /// A link without packets.
    pub fn new(spec: &LinkSpec, queue: Queue, seed: u64, events: &mut Events) -> Self {
        let rate = Rate::new(spec.rate_bps.unwrap_or(MIN_RATE_BPS));
        let bucket = || Bucket {
            tokens_ns: rate.ns_of(spec.burst_bytes) as i64,
            filled_at: Time(0),
            burst_bytes: spec.burst_bytes,
        };
        let server = match (spec.rate_bps, spec.shaper) {
            (None, _) => Server::None,
            (_, Shaper::Wire) => Server::Wire {
                sending: None,
                ring: VecDeque::with_capacity(spec.ring_pkts as usize),
                ring_pkts: spec.ring_pkts as usize,
            },
            (_, Shaper::Tbf) => Server::Tbf {
                bucket: bucket(),
                held: None,
            },
            (_, Shaper::Htb) => Server::Htb { bucket: bucket() },
        };
        Self {
            queue,
            record: None,
            service: events.add_source(true),
            arrival: events.add_source(true),
            rate,
            server,
            wire: Wire::new(spec, seed),
            entered_pkts: 0,
            dropped_pkts: 0,
        }
    }

    /// The delay, when it is all that the link does to packets.
    pub fn plain_delay_ns(&self) -> Option<u64> {
        let wire = &self.wire;
        let plain =
            matches!(self.server, Server::None) && wire.jitter.is_none() && wire.loss == 0.0;
        plain.then_some(wire.delay_ns)
    }

    /// A packet comes to the sending end.
    #[inline]
    pub fn offer(&mut self, now: Time, id: PacketId, shared: &mut Shared) {
        self.entered_pkts += 1;
        if matches!(self.server, Server::None) {
            return self.wire.launch(now, id, self.arrival, shared);
        }
        self.note_backlog(now);
        self.queue.enqueue(&mut shared.packets.slots, now.0, id);
        self.collect(now, shared);
        self.serve(now, shared);
    }

    /// The event `service` is due.
    #[inline]
    pub fn on_service(&mut self, now: Time, shared: &mut Shared) {
        if let Server::Wire { sending, .. } = &mut self.server
            && let Some(id) = sending.take()
        {
            self.depart(now, now, id, shared);
        }
        self.serve(now, shared);
    }

    /// The event `arrival` is due: the next packet that has reached the far end.
    /// After the last one, schedules the one behind.
    #[inline]
    pub fn arrive(&mut self, now: Time, shared: &mut Shared) -> Option<PacketId> {
        let &(release, id) = self.wire.flying.front()?;
        if release > now {
            shared.events.schedule(self.arrival, release);
            return None;
        }
        self.wire.flying.pop_front();
        self.wire.left_pkts += 1;
        if let Some(&(_, next)) = self.wire.flying.front() {
            // After a long time on the wire it is no longer in the nearest cache.
            sojourn_core::prefetch(&shared.packets.all[next as usize]);
        }
        Some(id)
    }

    /// The rate changes. A packet on its way out over a wire keeps its pace; a
    /// bucket keeps its tokens, which are times.
    pub fn set_rate(&mut self, now: Time, bps: u64, shared: &mut Shared) {
        if let Some(record) = &mut self.record {
            record.on_rate(now, bps);
        }
        if let Server::Tbf { bucket, .. } | Server::Htb { bucket } = &mut self.server {
            bucket.fill(now, &self.rate);
        }
        self.rate = Rate::new(bps);
        self.serve(now, shared);
    }

    /// Packets inside, in queue, server and wire.
    pub fn held_pkts(&self) -> u64 {
        let server = match &self.server {
            Server::Wire { sending, ring, .. } => ring.len() + usize::from(sending.is_some()),
            Server::Tbf { held, .. } => usize::from(held.is_some()),
            Server::None | Server::Htb { .. } => 0,
        };
        u64::from(self.queue.backlog_pkts()) + (server + self.wire.flying.len()) as u64
    }

    /// Whether all that came has left, was dropped or lost, or is inside; and the
    /// queue says so too.
    pub fn is_conserved(&self) -> bool {
        let gone = self.dropped_pkts + self.wire.lost_pkts + self.wire.left_pkts;
        let count = self.queue.counters();
        let inside = u64::from(self.queue.backlog_pkts());
        self.entered_pkts == gone + self.held_pkts()
            && count.drop_pkts() == self.dropped_pkts
            && count.in_pkts == count.out_pkts + count.drop_pkts() + inside
    }

    #[inline]
    fn note_backlog(&mut self, now: Time) {
        if let Some(record) = &mut self.record {
            record.on_backlog(now, self.queue.backlog_pkts());
        }
    }

    #[inline]
    fn collect(&mut self, now: Time, shared: &mut Shared) {
        if !self.queue.freed().is_empty() {
            self.take_back(now, shared);
        }
    }

    /// Takes back what the queue has let go of.
    fn take_back(&mut self, now: Time, shared: &mut Shared) {
        for freed in self.queue.freed() {
            if let Some(record) = &mut self.record {
                record.on_drop(now, &shared.packets.slots[freed.packet as usize], freed.why);
            }
            let way = &shared.packets.all[freed.packet as usize].way;
            shared.ledger[way.flow as usize].lost += 1;
            shared.packets.remove(freed.packet);
            shared.dropped_pkts += 1;
            self.dropped_pkts += 1;
        }
    }

    /// Asks the queue for a packet.
    #[inline]
    fn take(&mut self, now: Time, shared: &mut Shared) -> Option<PacketId> {
        self.note_backlog(now);
        let taken = self.queue.dequeue(&mut shared.packets.slots, now.0);
        self.collect(now, shared);
        let id = taken?;
        if let Some(record) = &mut self.record {
            record.on_dequeue(now, &shared.packets.slots[id as usize]);
        }
        Some(id)
    }

    /// The last bit leaves at `end`; the packet is handed to the wire now.
    #[inline]
    fn depart(&mut self, now: Time, end: Time, id: PacketId, shared: &mut Shared) {
        if let Some(record) = &mut self.record {
            record.on_sent(end, &shared.packets.slots[id as usize]);
        }
        self.wire.launch(now, id, self.arrival, shared);
    }

    /// Moves packets on as far as the server allows now.
    #[inline]
    fn serve(&mut self, now: Time, shared: &mut Shared) {
        match self.server {
            Server::None => {}
            Server::Wire { .. } => self.serve_wire(now, shared),
            Server::Tbf { .. } => self.serve_tbf(now, shared),
            Server::Htb { .. } => self.serve_htb(now, shared),
        }
    }

    fn serve_wire(&mut self, now: Time, shared: &mut Shared) {
        loop {
            let Server::Wire {
                sending,
                ring,
                ring_pkts,
            } = &mut self.server
            else {
                return;
            };
            if sending.is_none()
                && let Some(id) = ring.pop_front()
            {
                self.send(now, id, shared);
                continue;
            }
            if sending.is_some() && ring.len() >= *ring_pkts {
                return;
            }
            let idle = sending.is_none();
            let Some(id) = self.take(now, shared) else {
                return;
            };
            if idle {
                self.send(now, id, shared);
            } else if let Server::Wire { ring, .. } = &mut self.server {
                ring.push_back(id);
            }
        }
    }

    #[inline]
    fn send(&mut self, now: Time, id: PacketId, shared: &mut Shared) {
        let ns = self
            .rate
            .next_ns(shared.packets.slots[id as usize].len_bytes);
        if let Server::Wire { sending, .. } = &mut self.server {
            *sending = Some(id);
        }
        shared.events.schedule(self.service, now + ns);
    }

    fn serve_tbf(&mut self, now: Time, shared: &mut Shared) {
        loop {
            let Server::Tbf { held, .. } = &mut self.server else {
                return;
            };
            let Some(id) = held.take().or_else(|| self.take(now, shared)) else {
                return;
            };
            let need_ns = self.rate.ns_of(shared.packets.slots[id as usize].len_bytes) as i64;
            let Server::Tbf { bucket, held } = &mut self.server else {
                return;
            };
            bucket.fill(now, &self.rate);
            if bucket.tokens_ns < need_ns {
                *held = Some(id);
                let wait_ns = (need_ns - bucket.tokens_ns) as u64;
                return shared.events.schedule(self.service, now + wait_ns);
            }
            bucket.tokens_ns -= need_ns;
            self.depart(now, now, id, shared);
        }
    }

    fn serve_htb(&mut self, now: Time, shared: &mut Shared) {
        loop {
            if self.queue.backlog_pkts() == 0 {
                return;
            }
            let Server::Htb { bucket } = &mut self.server else {
                return;
            };
            bucket.fill(now, &self.rate);
            if bucket.tokens_ns < 0 {
                let wait_ns = bucket.tokens_ns.unsigned_abs();
                return shared.events.schedule(self.service, now + wait_ns);
            }
            let Some(id) = self.take(now, shared) else {
                return;
            };
            let cost_ns = self.rate.ns_of(shared.packets.slots[id as usize].len_bytes) as i64;
            let Server::Htb { bucket } = &mut self.server else {
                return;
            };
            bucket.tokens_ns -= cost_ns;
            let debt_ns = (-bucket.tokens_ns).max(0) as u64;
            self.depart(now, now + debt_ns, id, shared);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lowest_and_highest_rate_fit() {
        assert_eq!(Rate::new(100_000_000).ns_of(1_514), 121_120);
        assert_eq!(Rate::new(MIN_RATE_BPS).ns_of(1_514), 1_514 * NS_PER_S);
        // 1.2112 ns each.
        let mut fast = Rate::new(10_000_000_000_000);
        let many_ns: u64 = (0..10_000).map(|_| fast.next_ns(1_514)).sum();
        assert_eq!(many_ns, 12_111);
    }
}
