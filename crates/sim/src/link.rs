// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! One direction of a link: a queue, a server that takes packets from it at a rate,
//! and a wire that delays them. At most one event of each of the two is pending; the
//! packets wait in queues inside.

use sojourn_core::{Queue, Slot};

use crate::agenda::Agenda;
use crate::event::{Events, Source};
use crate::packet::{Body, Ledger, PacketId, Packets, Probe, Way};
use crate::record::QueueRecord;
use crate::ring::Ring;
use crate::scenario::{HEADER_BYTES, LinkSpec, MIN_RATE_BPS, RATE_ROW};
use crate::server::{Interface, Rate, Server};
use crate::time::Time;
use crate::wire::Wire;

/// What the parts of a net share while an event is handled.
pub struct Shared {
    /// Pending events.
    pub events: Events,
    /// All packets.
    pub packets: Packets,
    /// Packets that have come to the end of a link, in order.
    pub arrived: Ring<PacketId>,
    /// By flow, what became of its packets.
    pub ledger: Vec<Ledger>,
    /// Packets that queues dropped.
    pub dropped_pkts: u64,
    /// Packets lost on wires.
    pub lost_pkts: u64,
}

/// A link.
pub struct Link {
    /// Where its packets go in and out.
    pub port: Port,
    server: Server,
    /// Packets that senders hold back until a time of their own, the next one first.
    coming: Agenda,
    /// Event: the next of them comes.
    pub entry: Source,
    /// Whether entries and last bits need no events: see [`crate::server::Interface`].
    catches_up: bool,
    /// Then: when the next of either is due; else never.
    due: Time,
    /// When the event `arrival` of a link that catches up is due; never: it is not pending.
    look: Time,
}

/// What a server works with: the queue that it takes packets from, what is measured
/// there, and the wire that it hands them to.
pub struct Port {
    /// The queue.
    pub queue: Queue,
    /// What is measured at it.
    pub record: Option<QueueRecord>,
    /// Event: service goes on.
    pub service: Source,
    /// Event: a packet reaches the far end.
    pub arrival: Source,
    pub(crate) rate: Rate,
    wire: Wire,
    /// What is added to a packet's length while it is at this link: its header, in place of
    /// that of Ethernet.
    header_more: u32,
    entered_pkts: u64,
    dropped_pkts: u64,
    /// The queue's row of the link's rate is the link's to set.
    tells_rate: bool,
    /// Where probes of this queue go; none: its algorithm asks for none.
    pub probes: Option<ProbePath>,
}

/// The way of a queue's probes.
#[derive(Clone, Copy, Debug)]
pub struct ProbePath {
    /// Number of the link.
    pub link: u32,
    /// To the responder: behind the link, and the flow under which probes are counted.
    pub forth: Way,
    /// The first place of the way back.
    pub back_hop: u32,
}

/// A probe as a queue sees it: 20 bytes of IP and 8 of payload behind an Ethernet header.
pub const PROBE_BYTES: u32 = 42;

impl Link {
    /// A link without packets.
    pub fn new(spec: &LinkSpec, queue: Queue, seed: u64, events: &mut Events) -> Self {
        let rate = Rate::new(spec.rate_bps.unwrap_or(MIN_RATE_BPS));
        Self {
            server: Server::new(spec, &rate),
            coming: Agenda::default(),
            due: Time::MAX,
            catches_up: Interface::works_ahead(spec),
            look: Time::MAX,
            entry: events.add_source(true),
            port: Port {
                queue,
                record: None,
                service: events.add_source(true),
                arrival: events.add_source(true),
                rate,
                wire: Wire::new(spec, seed),
                header_more: spec.header_bytes.wrapping_sub(HEADER_BYTES),
                entered_pkts: 0,
                dropped_pkts: 0,
                probes: None,
                tells_rate: !spec.queue.rows.contains_key(RATE_ROW),
            },
        }
    }

    /// The delay, when it is all that the link does to packets.
    pub fn plain_delay_ns(&self) -> Option<u64> {
        let wire = &self.port.wire;
        (matches!(self.server, Server::None) && wire.is_plain()).then_some(wire.delay_ns)
    }

    /// A packet comes to the sending end.
    #[inline]
    pub fn offer(&mut self, now: Time, id: PacketId, shared: &mut Shared) {
        if matches!(self.server, Server::None) {
            let port = &mut self.port;
            port.entered_pkts += 1;
            return port.wire.launch(now, id, port.arrival, shared);
        }
        self.advance(now, shared);
        self.enter(now, id, shared);
        self.watch(shared);
    }

    fn enter(&mut self, now: Time, id: PacketId, shared: &mut Shared) {
        let port = &mut self.port;
        if matches!(self.server, Server::None) {
            port.entered_pkts += 1;
            return port.wire.launch(now, id, port.arrival, shared);
        }
        port.join(now, id, shared);
        if !self.server.is_full() {
            self.server.serve(now, port, shared);
        }
    }

    /// A packet will come to the sending end at that time.
    #[inline]
    pub fn expect(&mut self, at: Time, id: PacketId, shared: &mut Shared) {
        if !self.coming.insert(at, id) {
            return;
        }
        if self.catches_up {
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

    /// Does what was due up to now and has no event: packets come and leave the
    /// interface, in the order of their times.
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
        let (Server::Wire(interface), port) = (&mut self.server, &mut self.port) else {
            return;
        };
        loop {
            let (entry, last_bit) = (self.coming.next_at(), interface.last_bit());
            let at = entry.min(last_bit);
            self.due = at;
            if at > now {
                return;
            }
            if last_bit <= entry {
                interface.end(at, port, shared);
            } else if let Some(id) = self.coming.pop_front() {
                port.join(at, id, shared);
                if interface.is_full() {
                    continue;
                }
            }
            interface.serve(at, port, shared);
        }
    }

    /// Sees to it that a link that catches up is looked at in time: when the next packet
    /// comes out, and before the next that is expected could.
    #[inline]
    fn watch(&mut self, shared: &mut Shared) {
        if !self.catches_up {
            return;
        }
        let wire = &self.port.wire;
        let entry = self.coming.next_at();
        self.due = entry.min(self.server.last_bit());
        let at = wire.flying.next_at().min(entry.after(wire.delay_ns));
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
        self.server.on_service(now, &mut self.port, shared);
    }

    /// The event `arrival` is due: the packet that has reached the far end, if one has.
    /// Schedules the one behind, which may be due at the same time.
    #[inline]
    pub fn arrive(&mut self, now: Time, shared: &mut Shared) -> Option<PacketId> {
        self.advance(now, shared);
        let wire = &mut self.port.wire;
        let mut out = None;
        if wire.flying.next_at() <= now {
            out = wire.flying.pop_front();
            wire.left_pkts += 1;
        }
        if let Some(id) = wire.flying.next_id() {
            // After a long time on the wire it is no longer in the nearest cache.
            sojourn_core::prefetch(&shared.packets.all[id as usize].way);
        }
        let mut look = wire.flying.next_at();
        if self.catches_up {
            look = look.min(self.coming.next_at().after(wire.delay_ns));
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
        self.port.wire.flying.glance(nth)
    }

    /// The rate changes. A packet on its way out over a wire keeps its pace; a
    /// bucket keeps its tokens, which are times.
    pub fn set_rate(&mut self, now: Time, bps: u64, shared: &mut Shared) {
        self.advance(now, shared);
        if let Some(record) = &mut self.port.record {
            record.on_rate(now, bps);
        }
        self.server.settle(now, &self.port.rate);
        self.port.rate = Rate::new(bps);
        self.port.tell_rate(now, bps, shared);
        self.server.serve(now, &mut self.port, shared);
        self.watch(shared);
    }

    /// The propagation delay changes, for packets that are sent from now on. No link that catches
    /// up has one that does.
    pub fn set_delay(&mut self, delay_ns: u64) {
        self.port.wire.delay_ns = delay_ns;
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

    /// Packets inside, in queue, server and wire.
    pub fn held_pkts(&self) -> u64 {
        let port = &self.port;
        u64::from(port.queue.backlog_pkts())
            + (self.server.held_pkts() + port.wire.flying.len()) as u64
    }

    /// Whether all that came has left, was dropped or lost, or is inside; and the
    /// queue says so too.
    pub fn is_conserved(&self) -> bool {
        let port = &self.port;
        let gone = port.dropped_pkts + port.wire.lost_pkts + port.wire.left_pkts;
        let count = port.queue.counters();
        let probes = port.queue.probes();
        let inside = u64::from(port.queue.backlog_pkts()) - probes.held();
        port.entered_pkts == gone + self.held_pkts()
            && count.drop_pkts() + probes.freed + probes.refused == port.dropped_pkts
            && count.in_pkts == count.out_pkts + count.drop_pkts() + inside
    }
}

impl Port {
    /// The queue's algorithm may want to know what the link can send now.
    fn tell_rate(&mut self, now: Time, bps: u64, shared: &mut Shared) {
        if self.tells_rate {
            let row = [(RATE_ROW.to_owned(), bps / 8)];
            let changed = self.queue.change(&mut shared.packets.slots, now.0, &row);
            changed.expect("a link's rate is a value of the row");
            self.collect(now, shared);
        }
    }

    #[inline(always)]
    fn note_backlog(&mut self, now: Time) {
        if let Some(record) = &mut self.record {
            record.on_backlog(now, self.queue.backlog_pkts());
        }
    }

    #[inline(always)]
    fn join(&mut self, now: Time, id: PacketId, shared: &mut Shared) {
        self.entered_pkts += 1;
        self.note_backlog(now);
        if self.header_more != 0 {
            let slot = &mut shared.packets.slots[id as usize];
            slot.len_bytes = slot.len_bytes.wrapping_add(self.header_more);
        }
        self.queue.enqueue(&mut shared.packets.slots, now.0, id);
        self.collect(now, shared);
        if let Some(inst) = self.queue.probe_asked() {
            self.send_probe(now, id, inst, shared);
        }
    }

    /// Makes the probe that the packet `asking` wants behind it.
    #[cold]
    fn send_probe(&mut self, now: Time, asking: PacketId, inst: u32, shared: &mut Shared) {
        let Some(path) = self.probes else {
            return;
        };
        let asking = shared.packets.slots[asking as usize];
        let id = shared.packets.claim();
        shared.packets.slots[id as usize] = Slot {
            flow: asking.flow,
            dscp: asking.dscp,
            len_bytes: PROBE_BYTES.wrapping_add(self.header_more),
            ..Slot::default()
        };
        let packet = &mut shared.packets.all[id as usize];
        packet.way = path.forth;
        packet.body = Body::Probe(Probe {
            link: path.link,
            inst,
            sent: now,
            answered: false,
        });
        shared.ledger[path.forth.flow as usize].born += 1;
        self.entered_pkts += 1;
        self.note_backlog(now);
        self.queue.join_probe(&mut shared.packets.slots, now.0, id);
        self.collect(now, shared);
    }

    #[inline]
    fn collect(&mut self, now: Time, shared: &mut Shared) {
        if !self.queue.freed().is_empty() {
            self.take_back(now, shared);
        }
    }

    /// Takes back what the queue has let go of.
    #[cold]
    fn take_back(&mut self, now: Time, shared: &mut Shared) {
        for freed in self.queue.freed() {
            let slot = &shared.packets.slots[freed.packet as usize];
            if let (Some(record), 0) = (&mut self.record, slot.probe) {
                record.on_drop(now, slot, freed.why);
            }
            let way = &shared.packets.all[freed.packet as usize].way;
            shared.ledger[way.flow as usize].lost += 1;
            shared.packets.remove(freed.packet);
            shared.dropped_pkts += 1;
            self.dropped_pkts += 1;
        }
    }

    /// Asks the queue for a packet; gives its length too.
    #[inline(always)]
    pub(crate) fn take(&mut self, now: Time, shared: &mut Shared) -> Option<(PacketId, u32)> {
        self.note_backlog(now);
        let taken = self.queue.dequeue(&mut shared.packets.slots, now.0);
        self.collect(now, shared);
        let id = taken?;
        let slot = &shared.packets.slots[id as usize];
        if let (Some(record), 0) = (&mut self.record, slot.probe) {
            record.on_dequeue(now, slot);
        }
        Some((id, slot.len_bytes))
    }

    /// The last bit leaves at `end`; the packet is handed to the wire now.
    #[inline]
    pub(crate) fn depart(&mut self, now: Time, end: Time, id: PacketId, shared: &mut Shared) {
        self.note_sent(end, id, shared);
        self.wire.launch(now, id, self.arrival, shared);
    }

    /// The last bit leaves at that time: each packet is here once, and not yet elsewhere.
    #[inline(always)]
    pub(crate) fn note_sent(&mut self, last_bit: Time, id: PacketId, shared: &mut Shared) {
        if let Some(record) = &mut self.record {
            record.on_sent(last_bit, &shared.packets.slots[id as usize]);
        }
        if self.header_more != 0 {
            let slot = &mut shared.packets.slots[id as usize];
            slot.len_bytes = slot.len_bytes.wrapping_sub(self.header_more);
        }
    }

    /// Puts a packet whose last bit will leave at that time on a wire that only delays.
    #[inline]
    pub(crate) fn fly(&mut self, last_bit: Time, id: PacketId) {
        let release = last_bit + self.wire.delay_ns;
        self.wire.flying.push_back(release, id);
    }
}
