// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! The room of links, and of packets, which links queue and delay. A link is one direction: a
//! queue (`gate`), a `shaper` that takes packets from it at a rate, and a `wire` whose
//! `propagation` delays them. A `tree` has a queue for each of its classes, and `stages` decide
//! which of them sends. A `medium` grants turns to several links. At most one event of shaper and wire each is pending; the packets wait in
//! queues inside. The room uses `base`, `tcp` (whose segments packets carry), `scenario` and
//! `measure`.

pub mod gate;
mod granted;
pub mod medium;
mod opportunities;
pub mod packet;
pub mod propagation;
pub mod shaper;
pub mod shared;
mod stages;
pub mod timed_queue;
pub mod tree;
mod wire;

use crate::base::event::{Events, Source};
use crate::base::rate::{MIN_RATE_BPS, Rate};
use crate::base::time::Time;
use crate::scenario::LinkSpec;
use gate::Gate;
use granted::Granted;
use packet::{PacketId, Probe};
use shaper::Shaper;
use shared::Shared;
use timed_queue::TimedQueue;
use tree::{ClassRate, Tree};
use wire::Wire;

/// A link.
pub struct Link {
    gate: Gate,
    shaper: Shaper,
    wire: Wire,
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
    /// A link without packets. Its queue is this one, or those of a tree. It sends at its rate, or
    /// when a medium lets it.
    pub fn new(
        spec: &LinkSpec,
        gate: Gate,
        tree: Option<Tree>,
        is_granted: bool,
        seed: u64,
        events: &mut Events,
    ) -> Self {
        let rate = Rate::new(spec.rate_bps.unwrap_or(MIN_RATE_BPS));
        let shaper = match tree {
            Some(tree) => Shaper::Tree(Box::new(tree)),
            None if is_granted => Shaper::Granted(Granted::default()),
            None => Shaper::new(spec, &rate),
        };
        // Owners of events are listed in this order: entry, service, arrival.
        let entry = events.add_source(true);
        let mut wire = Wire::new(spec, rate, seed, events);
        wire.works_ahead =
            matches!(shaper, Shaper::Line(_)) && wire.propagation.constant_delay_ns().is_some();
        Self {
            gate,
            shaper,
            wire,
            coming: TimedQueue::default(),
            due: Time::MAX,
            look: Time::MAX,
            seen: Time(0),
            entry,
        }
    }

    /// Its queues.
    pub fn gates(&self) -> &[Gate] {
        match &self.shaper {
            Shaper::Tree(tree) => tree.gates(),
            _ => std::slice::from_ref(&self.gate),
        }
    }

    /// Its queues.
    pub fn gates_mut(&mut self) -> &mut [Gate] {
        match &mut self.shaper {
            Shaper::Tree(tree) => tree.gates_mut(),
            _ => std::slice::from_mut(&mut self.gate),
        }
    }

    /// Its classes, if it has any.
    pub fn tree_mut(&mut self) -> Option<&mut Tree> {
        match &mut self.shaper {
            Shaper::Tree(tree) => Some(tree),
            _ => None,
        }
    }

    /// The delay, when it is all that the link does to packets.
    pub fn constant_delay_ns(&self) -> Option<u64> {
        let delay_ns = self.wire.propagation.constant_delay_ns();
        delay_ns.filter(|_| matches!(self.shaper, Shaper::None))
    }

    /// A packet comes to the sending end.
    #[inline]
    pub fn offer(&mut self, now: Time, id: PacketId, shared: &mut Shared) {
        if matches!(self.shaper, Shaper::None) {
            return self.pass(now, id, shared);
        }
        self.advance(now, shared);
        self.enter(now, id, shared);
        self.watch(shared);
    }

    /// A packet finds no queue.
    #[inline]
    fn pass(&mut self, now: Time, id: PacketId, shared: &mut Shared) {
        self.gate.entered_pkts += 1;
        self.wire.launch(now, id, shared);
    }

    fn enter(&mut self, now: Time, id: PacketId, shared: &mut Shared) {
        match &mut self.shaper {
            Shaper::None => return self.pass(now, id, shared),
            Shaper::Tree(tree) => tree.join(now, id, shared),
            _ => self.gate.join(now, id, shared),
        }
        if !self.shaper.is_full() {
            self.shaper
                .serve(now, &mut self.gate, &mut self.wire, shared);
        }
    }

    /// A packet will come to the sending end at that time.
    #[inline]
    pub fn expect(&mut self, at: Time, id: PacketId, shared: &mut Shared) {
        if !self.coming.insert(at, id) {
            return;
        }
        if self.wire.works_ahead {
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
        let (Shaper::Line(line), gate, wire) = (&mut self.shaper, &mut self.gate, &mut self.wire)
        else {
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
                line.end(at, gate, wire, shared);
            } else if let Some(id) = self.coming.pop_front() {
                gate.join(at, id, shared);
                if line.is_full() {
                    continue;
                }
            }
            line.serve(at, gate, wire, shared);
        }
    }

    /// Sees to it that a link that works ahead is looked at in time: when the next packet
    /// comes out, and before the next that is expected could.
    #[inline]
    fn watch(&mut self, shared: &mut Shared) {
        if !self.wire.works_ahead {
            return;
        }
        let propagation = &self.wire.propagation;
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
                shared.events.schedule(self.wire.arrival, at);
            } else {
                shared.events.schedule_idle(self.wire.arrival, at);
            }
        }
    }

    /// The event `service` is due.
    pub fn on_service(&mut self, now: Time, shared: &mut Shared) {
        self.shaper
            .on_service(now, &mut self.gate, &mut self.wire, shared);
    }

    /// The event `arrival` is due: the packet that has reached the far end, if one has.
    /// Schedules the one behind, which may be due at the same time.
    #[inline]
    pub fn arrive(&mut self, now: Time, shared: &mut Shared) -> Option<PacketId> {
        self.seen = now;
        if self.due <= now && self.wire.propagation.flying.len() < MANY {
            self.work_off(now, shared);
        }
        let propagation = &mut self.wire.propagation;
        let out = propagation.flying.pop_due(now);
        propagation.left_pkts += u64::from(out.is_some());
        if let Some(id) = propagation.flying.next_id() {
            // After a long time on the wire it is no longer in the nearest cache.
            sojourn_core::prefetch(&shared.packets.all[id as usize].path);
        }
        let mut look = propagation.flying.next_at();
        if self.wire.works_ahead {
            look = look.min(self.coming.next_at().after(propagation.delay_ns));
            self.look = look;
        }
        if look < Time::MAX {
            shared.events.schedule_idle(self.wire.arrival, look);
        }
        out
    }

    /// The packet that will arrive behind `nth` others.
    #[inline]
    pub fn flying(&self, nth: usize) -> Option<PacketId> {
        self.wire.propagation.flying.glance(nth)
    }

    /// The rate changes. A packet on its way out over a wire keeps its pace; a
    /// bucket keeps its tokens, which are times.
    pub fn set_rate(&mut self, now: Time, bps: u64, shared: &mut Shared) {
        self.advance(now, shared);
        self.shaper.refill(now, &self.wire.rate);
        self.wire.rate = Rate::new(bps);
        for gate in self.gates_mut() {
            gate.set_rate(now, bps, shared);
        }
        self.shaper
            .serve(now, &mut self.gate, &mut self.wire, shared);
        self.watch(shared);
    }

    /// The rates of a class change; its tokens stay.
    pub fn set_class_rate(&mut self, now: Time, to: ClassRate, shared: &mut Shared) {
        if let Shaper::Tree(tree) = &mut self.shaper {
            tree.set_rate(now, to, shared);
            tree.serve(now, &mut self.wire, shared);
        }
    }

    /// A turn on its medium will begin at that time.
    pub fn grant(&mut self, start: Time, bytes: u32, shared: &mut Shared) {
        if let Shaper::Granted(granted) = &mut self.shaper {
            granted.grant(start, bytes, &self.wire, shared);
        }
    }

    /// Bytes that wait and are not granted yet.
    pub fn wanted_bytes(&self) -> u64 {
        match &self.shaper {
            Shaper::Granted(granted) => granted.wanted_bytes(&self.gate),
            _ => 0,
        }
    }

    /// Takes what it has asked for in a turn, if it has had one since.
    pub fn take_asked(&mut self) -> Option<u64> {
        match &mut self.shaper {
            Shaper::Granted(granted) => granted.take_asked(),
            _ => None,
        }
    }

    /// The propagation delay changes, for packets that are sent from now on. No link that works
    /// ahead has one that does.
    pub fn set_delay(&mut self, delay_ns: u64) {
        self.wire.propagation.delay_ns = delay_ns;
    }

    /// The answer to a probe of one of this link's queues has come.
    pub fn echo(&mut self, now: Time, probe: &Probe, shared: &mut Shared) {
        self.advance(now, shared);
        let gate = &mut self.gates_mut()[probe.gate as usize];
        gate.queue.echo(now.0, probe.inst, now - probe.sent);
    }

    /// Packets that are yet to come.
    pub fn expected_pkts(&self) -> u64 {
        self.coming.len() as u64
    }

    /// Packets inside, in queue, shaper and propagation.
    pub fn held_pkts(&self) -> u64 {
        let queued: u64 = self
            .gates()
            .iter()
            .map(|gate| u64::from(gate.queue.backlog_pkts()))
            .sum();
        let wire = &self.wire;
        queued + (self.shaper.held_pkts(wire.works_ahead) + wire.propagation.flying.len()) as u64
    }

    /// Whether all that came has left, was dropped or lost, or is inside; and the
    /// queues say so too.
    pub fn is_conserved(&self) -> bool {
        let gates = self.gates();
        let entered_pkts: u64 = gates.iter().map(|gate| gate.entered_pkts).sum();
        let dropped_pkts: u64 = gates.iter().map(|gate| gate.dropped_pkts).sum();
        let propagation = &self.wire.propagation;
        let gone = dropped_pkts + propagation.lost_pkts + propagation.left_pkts;
        entered_pkts == gone + self.held_pkts() && gates.iter().all(Gate::is_conserved)
    }
}
