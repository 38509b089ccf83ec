// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! The room of links, and of packets, which links queue and delay. A link is one direction: a
//! queue (`port`), a `shaper` that takes packets from it at a rate, and a `propagation` that delays them.
//! At most one event of each of the two is pending; the packets wait in queues inside. The room
//! uses `base`, `tcp` (whose segments packets carry), `scenario` and `measure`.

mod opportunities;
pub mod packet;
pub mod port;
pub mod propagation;
pub mod shaper;
pub mod shared;
pub mod timed_queue;

use sojourn_core::Queue;

use crate::base::event::{Events, Source};
use crate::base::rate::{MIN_RATE_BPS, Rate};
use crate::base::time::Time;
use crate::scenario::LinkSpec;
use packet::{PacketId, Probe};
use port::Port;
use shaper::Shaper;
use shared::Shared;
use timed_queue::TimedQueue;

/// A link.
pub struct Link {
    /// Where its packets go in and out.
    pub port: Port,
    shaper: Shaper,
    /// Packets that senders hold back until a time of their own, the next one first.
    coming: TimedQueue,
    /// Event: the next of them comes.
    pub entry: Source,
    /// Of a link that works ahead: when the next entry or last bit is due; else never.
    due: Time,
    /// When the event `arrival` of a link that works ahead is due; never: it is not pending.
    look: Time,
    /// Up to when it would have caught up by now, if packets that arrive did not leave that for
    /// later.
    seen: Time,
}

/// While so many packets are on the wire of a link that works ahead, nothing that comes to its
/// queue can change which of them is next, or when. So arrivals leave the queue alone until fewer
/// are left, and all that was due meanwhile is worked off at once.
const MANY: usize = 3;

impl Link {
    /// A link without packets.
    pub fn new(spec: &LinkSpec, queue: Queue, seed: u64, events: &mut Events) -> Self {
        let rate = Rate::new(spec.rate_bps.unwrap_or(MIN_RATE_BPS));
        let shaper = Shaper::new(spec, &rate);
        // Owners of events are listed in this order: entry, service, arrival.
        let entry = events.add_source(true);
        let mut port = Port::new(spec, queue, rate, seed, events);
        port.works_ahead =
            matches!(shaper, Shaper::Line(_)) && port.propagation.constant_delay_ns().is_some();
        Self {
            shaper,
            coming: TimedQueue::default(),
            due: Time::MAX,
            look: Time::MAX,
            seen: Time(0),
            entry,
            port,
        }
    }

    /// The delay, when it is all that the link does to packets.
    pub fn constant_delay_ns(&self) -> Option<u64> {
        let delay_ns = self.port.propagation.constant_delay_ns();
        delay_ns.filter(|_| matches!(self.shaper, Shaper::None))
    }

    /// A packet comes to the sending end.
    #[inline]
    pub fn offer(&mut self, now: Time, id: PacketId, shared: &mut Shared) {
        if matches!(self.shaper, Shaper::None) {
            let port = &mut self.port;
            port.entered_pkts += 1;
            return port.propagation.launch(now, id, port.arrival, shared);
        }
        self.advance(now, shared);
        self.enter(now, id, shared);
        self.watch(shared);
    }

    fn enter(&mut self, now: Time, id: PacketId, shared: &mut Shared) {
        let port = &mut self.port;
        if matches!(self.shaper, Shaper::None) {
            port.entered_pkts += 1;
            return port.propagation.launch(now, id, port.arrival, shared);
        }
        port.join(now, id, shared);
        if !self.shaper.is_full() {
            self.shaper.serve(now, port, shared);
        }
    }

    /// A packet will come to the sending end at that time.
    #[inline]
    pub fn expect(&mut self, at: Time, id: PacketId, shared: &mut Shared) {
        if !self.coming.insert(at, id) {
            return;
        }
        if self.port.works_ahead {
            self.watch(shared);
        } else {
            shared.events.schedule(self.entry, at);
        }
    }

    /// The event `entry` is due: the next packet that was expected. Schedules the one
    /// behind, which may be due at the same time.
    pub fn on_entry(&mut self, now: Time, shared: &mut Shared) {
        if let Some(id) = self.coming.pop_front() {
            let next = self.coming.next_at();
            if next < Time::MAX {
                shared.events.schedule_idle(self.entry, next);
            }
            self.enter(now, id, shared);
        }
    }

    /// Brings the link up to now.
    pub fn catch_up(&mut self, now: Time, shared: &mut Shared) {
        self.advance(now, shared);
        self.watch(shared);
    }

    /// Brings the link up to when it was last looked at: what came behind that is no part of a
    /// run that has ended.
    pub fn finish(&mut self, shared: &mut Shared) {
        self.advance(self.seen, shared);
    }

    /// Does what was due up to now and has no event: packets come and leave the
    /// line, in the order of their times.
    #[inline]
    fn advance(&mut self, now: Time, shared: &mut Shared) {
        if self.due <= now {
            self.work_off(now, shared);
        }
    }

    /// All that a packet passes here stands in this one loop: as calls it was 5 % of all
    /// instructions more.
    #[inline(never)]
    fn work_off(&mut self, now: Time, shared: &mut Shared) {
        let (Shaper::Line(line), port) = (&mut self.shaper, &mut self.port) else {
            return;
        };
        loop {
            let (entry, last_bit) = (self.coming.next_at(), line.last_bit());
            let at = entry.min(last_bit);
            if at > now {
                self.due = at;
                return;
            }
            if last_bit <= entry {
                line.end(at, port, shared);
            } else if let Some(id) = self.coming.pop_front() {
                port.join(at, id, shared);
                if line.is_full() {
                    continue;
                }
            }
            line.serve(at, port, shared);
        }
    }

    /// Sees to it that a link that works ahead is looked at in time: when the next packet
    /// comes out, and before the next that is expected could.
    #[inline]
    fn watch(&mut self, shared: &mut Shared) {
        if !self.port.works_ahead {
            return;
        }
        let propagation = &self.port.propagation;
        let entry = self.coming.next_at();
        self.due = entry.min(self.shaper.last_bit());
        let at = propagation
            .flying
            .next_at()
            .min(entry.after(propagation.delay_ns));
        if at < self.look {
            let pending = self.look < Time::MAX;
            self.look = at;
            if pending {
                shared.events.schedule(self.port.arrival, at);
            } else {
                shared.events.schedule_idle(self.port.arrival, at);
            }
        }
    }

    /// The event `service` is due.
    pub fn on_service(&mut self, now: Time, shared: &mut Shared) {
        self.shaper.on_service(now, &mut self.port, shared);
    }

    /// The event `arrival` is due: the packet that has reached the far end, if one has.
    /// Schedules the one behind, which may be due at the same time.
    #[inline]
    pub fn arrive(&mut self, now: Time, shared: &mut Shared) -> Option<PacketId> {
        self.seen = now;
        if self.due <= now && self.port.propagation.flying.len() < MANY {
            self.work_off(now, shared);
        }
        let propagation = &mut self.port.propagation;
        let out = propagation.flying.pop_due(now);
        propagation.left_pkts += u64::from(out.is_some());
        if let Some(id) = propagation.flying.next_id() {
            // After a long time on the wire it is no longer in the nearest cache.
            sojourn_core::prefetch(&shared.packets.all[id as usize].path);
        }
        let mut look = propagation.flying.next_at();
        if self.port.works_ahead {
            look = look.min(self.coming.next_at().after(propagation.delay_ns));
            self.look = look;
        }
        if look < Time::MAX {
            shared.events.schedule_idle(self.port.arrival, look);
        }
        out
    }

    /// The packet that will arrive behind `nth` others.
    #[inline]
    pub fn flying(&self, nth: usize) -> Option<PacketId> {
        self.port.propagation.flying.glance(nth)
    }

    /// The rate changes. A packet on its way out over a wire keeps its pace; a
    /// bucket keeps its tokens, which are times.
    pub fn set_rate(&mut self, now: Time, bps: u64, shared: &mut Shared) {
        self.advance(now, shared);
        if let Some(record) = &mut self.port.record {
            record.on_rate(now, bps);
        }
        self.shaper.refill(now, &self.port.rate);
        self.port.rate = Rate::new(bps);
        self.port.tell_rate(now, bps, shared);
        self.shaper.serve(now, &mut self.port, shared);
        self.watch(shared);
    }

    /// The propagation delay changes, for packets that are sent from now on. No link that works
    /// ahead has one that does.
    pub fn set_delay(&mut self, delay_ns: u64) {
        self.port.propagation.delay_ns = delay_ns;
    }

    /// The answer to a probe of this link's queue has come.
    pub fn echo(&mut self, now: Time, probe: &Probe, shared: &mut Shared) {
        self.advance(now, shared);
        self.port.queue.echo(now.0, probe.inst, now - probe.sent);
    }

    /// Packets that are yet to come.
    pub fn expected_pkts(&self) -> u64 {
        self.coming.len() as u64
    }

    /// Packets inside, in queue, shaper and propagation.
    pub fn held_pkts(&self) -> u64 {
        let port = &self.port;
        u64::from(port.queue.backlog_pkts())
            + (self.shaper.held_pkts(port.works_ahead) + port.propagation.flying.len()) as u64
    }

    /// Whether all that came has left, was dropped or lost, or is inside; and the
    /// queue says so too.
    pub fn is_conserved(&self) -> bool {
        let port = &self.port;
        let gone = port.dropped_pkts + port.propagation.lost_pkts + port.propagation.left_pkts;
        let count = port.queue.counters();
        let probes = port.queue.probes();
        let inside = u64::from(port.queue.backlog_pkts()) - probes.held();
        port.entered_pkts == gone + self.held_pkts()
            && count.drop_pkts() + probes.freed + probes.refused == port.dropped_pkts
            && count.in_pkts == count.out_pkts + count.drop_pkts() + inside
    }
}
