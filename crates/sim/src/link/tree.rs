// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! The sending end of a link with several queues: a packet joins one of them by its way and its
//! DSCP, and a discipline decides which of them sends. Below may be a driver's ring, which pulls
//! while it has room; without one, all that may leave is handed on at once.

use super::gate::Gate;
use super::packet::PacketId;
use super::shaper::{Line, PacketSource};
use super::shared::Shared;
use super::stages::{self, Discipline, Next, ring::ByteLimit};
use super::wire::Wire;
use crate::base::ring::Ring;
use crate::base::time::Time;
use crate::measure::record::ClassReading;
use crate::scenario::end::Part;

pub use super::stages::ClassRate;

/// DSCPs that there are.
pub const DSCPS: usize = 64;

/// The queue of packets at a place of the table of hops.
#[derive(Clone, Debug)]
pub enum Choice {
    /// None come there.
    Nowhere,
    /// All go to this one.
    Gate(u16),
    /// It depends on the DSCP.
    ByDscp(Box<[u16; DSCPS]>),
}

/// Several queues, a discipline, and maybe a ring.
pub struct Tree {
    leaves: Leaves,
    line: Option<Line>,
    choices: Vec<Choice>,
    has_classes: bool,
    /// Packets in the ring over time, up to `ring_at`.
    ring_pkt_ns: u128,
    ring_at: Time,
}

/// The queues and what decides among them.
struct Leaves {
    gates: Vec<Gate>,
    /// By queue, the way to it through the discipline's classes.
    ways: Vec<Vec<u16>>,
    root: Box<dyn Discipline>,
    /// Where it gave nothing when it was last asked: when to ask again.
    again: Time,
    /// The queues of packets in the ring and on its line, in their order.
    on_line: Ring<u16>,
    sent_pkts: u64,
    sent_bytes: u64,
}

impl Leaves {
    fn next(&mut self, now: Time, shared: &mut Shared) -> Next {
        let next = self.root.take(now, &mut self.gates, shared);
        self.again = next.err().unwrap_or(Time::MAX);
        next
    }
}

impl PacketSource for Leaves {
    fn take(&mut self, now: Time, shared: &mut Shared) -> Option<(PacketId, u32)> {
        let taken = self.next(now, shared).ok()?;
        self.on_line.push_back(taken.gate);
        Some((taken.id, taken.len_bytes))
    }

    fn note_sent(&mut self, last_bit: Time, id: PacketId, shared: &mut Shared) {
        self.sent_pkts += 1;
        self.sent_bytes += u64::from(shared.packets.slots[id as usize].len_bytes);
        if let Some(gate) = self.on_line.pop_front() {
            self.gates[gate as usize].note_sent(last_bit, id, shared);
        }
    }
}

impl Tree {
    /// The queues and the discipline of a part, all empty.
    pub fn new(part: &Part<'_>, gates: Vec<Gate>) -> Self {
        let line = part
            .ring
            .map(|ring| Line::new(&part.link).with_limit(ByteLimit::new(ring.bql)));
        Self {
            leaves: Leaves {
                gates,
                ways: part.leaves.iter().map(|leaf| leaf.way.clone()).collect(),
                root: stages::root(part.root),
                again: Time::MAX,
                on_line: Ring::default(),
                sent_pkts: 0,
                sent_bytes: 0,
            },
            line,
            choices: Vec::new(),
            has_classes: part.root.is_some(),
            ring_pkt_ns: 0,
            ring_at: Time(0),
        }
    }

    /// Its queues.
    pub fn gates(&self) -> &[Gate] {
        &self.leaves.gates
    }

    /// Its queues.
    pub fn gates_mut(&mut self) -> &mut [Gate] {
        &mut self.leaves.gates
    }

    /// Packets that come by this place of the table of hops go there.
    pub fn choose(&mut self, hop: u32, choice: Choice) {
        let place = hop as usize;
        if self.choices.len() <= place {
            self.choices.resize(place + 1, Choice::Nowhere);
        }
        self.choices[place] = choice;
    }

    /// Packets that are out of their queues, and not on the wire.
    pub fn held_pkts(&self) -> usize {
        let queued: u32 = self
            .gates()
            .iter()
            .map(|gate| gate.queue.backlog_pkts())
            .sum();
        let looked_at = self.leaves.root.classes().held_pkts() - queued;
        looked_at as usize + self.line.as_ref().map_or(0, |line| line.held_pkts(false))
    }

    /// Takes no packet into its ring now, whatever comes.
    pub fn is_full(&self) -> bool {
        self.line.as_ref().is_some_and(Line::is_full)
    }

    /// A packet comes. Its path names the place behind this link's.
    pub fn join(&mut self, now: Time, id: PacketId, shared: &mut Shared) {
        let place = shared.packets.all[id as usize].path.hop as usize - 1;
        let gate = match &self.choices[place] {
            Choice::Gate(gate) => *gate as usize,
            Choice::ByDscp(gates) => {
                gates[shared.packets.slots[id as usize].dscp as usize] as usize
            }
            Choice::Nowhere => unreachable!("all ways of a scenario are laid out before it runs"),
        };
        let leaves = &mut self.leaves;
        leaves.gates[gate].join(now, id, shared);
        leaves.root.settle(now, &leaves.ways[gate], &leaves.gates);
    }

    /// The packet on the line of a ring has left, if its last bit is due.
    pub fn end(&mut self, now: Time, wire: &mut Wire, shared: &mut Shared) {
        if let Some(line) = self.line.as_mut().filter(|line| line.last_bit() <= now) {
            line.end(now, &mut self.leaves, wire, shared);
        }
    }

    /// Moves packets on as far as it may now.
    pub fn serve(&mut self, now: Time, wire: &mut Wire, shared: &mut Shared) {
        self.note_ring(now);
        let Some(line) = &mut self.line else {
            return self.hand_on(now, wire, shared);
        };
        if line.last_bit() == Time::MAX {
            shared.events.cancel(wire.service);
        }
        line.serve(now, &mut self.leaves, wire, shared);
        let mut due = line.last_bit();
        if !line.is_full() {
            due = due.min(self.leaves.again);
        }
        if due < Time::MAX {
            shared.events.schedule(wire.service, due);
        }
    }

    fn hand_on(&mut self, now: Time, wire: &mut Wire, shared: &mut Shared) {
        let leaves = &mut self.leaves;
        while let Ok(taken) = leaves.next(now, shared) {
            let gate = &mut leaves.gates[taken.gate as usize];
            gate.note_sent(now, taken.id, shared);
            wire.launch(now, taken.id, shared);
        }
        if leaves.again < Time::MAX {
            shared.events.schedule(wire.service, leaves.again);
        }
    }

    fn note_ring(&mut self, now: Time) {
        if let Some(line) = &self.line {
            self.ring_pkt_ns += line.ring_pkts() as u128 * u128::from(now - self.ring_at);
            self.ring_at = now;
        }
    }

    /// The rates of a class change.
    pub fn set_rate(&mut self, now: Time, to: ClassRate, shared: &mut Shared) {
        stages::set_rate(now, &mut *self.leaves.root, to);
        let Some(gate) = to.gate else { return };
        let leaves = &mut self.leaves;
        leaves.gates[gate].tell_rate(now, to.rate_bps, shared);
        if let Some(record) = &mut leaves.gates[gate].record {
            record.on_rate(now, to.ceil_bps);
        }
        leaves.root.settle(now, &leaves.ways[gate], &leaves.gates);
    }

    /// Reads what its classes have counted, in the order of the scenario, and then its ring.
    pub fn read(&mut self, now: Time) -> Vec<ClassReading> {
        let mut readings = Vec::new();
        if self.has_classes {
            stages::read(now, &*self.leaves.root, &mut readings);
        }
        self.note_ring(now);
        if self.line.is_some() {
            readings.push(ClassReading {
                sent_pkts: self.leaves.sent_pkts,
                sent_bytes: self.leaves.sent_bytes,
                pkt_ns: self.ring_pkt_ns,
                borrowing: None,
            });
        }
        readings
    }
}
