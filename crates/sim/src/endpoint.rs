// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! One end of a conversation: a connection or a source of datagrams, its timer, and
//! the sender that spaces its packets.

use sojourn_core::Slot;

use crate::event::{Events, Source};
use crate::link::Shared;
use crate::packet::{PacketId, Way};
use crate::ring::Ring;
use crate::rng::Rng;
use crate::time::Time;
use crate::transport::Ecn;
use crate::transport::tcp::Connection;

/// What an end does.
pub enum Kind {
    /// Nothing: its number is free.
    Free,
    /// TCP.
    Tcp(Box<Connection>),
    /// UDP: the sending end counts on the flow's own timer.
    Udp,
}

/// One end.
pub struct Endpoint {
    /// What it does.
    pub kind: Kind,
    /// Goes up by one with each use of the number.
    pub age: u32,
    /// Its flow.
    pub flow: u32,
    /// Whether it sends the flow's data.
    pub sends_data: bool,
    /// Its connection is closed, and waits for the other end's.
    pub closed: bool,
    /// Event: the connection's timer.
    pub timer: Source,
    /// When that is due. Deadlines that move later are left to be found then.
    pub timer_due: Time,
    /// When the connection wants it. It stands here too, so that an event that comes too
    /// early needs not fetch the connection.
    pub deadline: Time,
    /// How its packets leave.
    pub outlet: Outlet,
}

/// Where packets of an end go, and when.
pub struct Outlet {
    /// Hash that they carry.
    pub hash: u32,
    /// The first hop, the other end and its age.
    pub way: Way,
    /// Their spacing.
    pub sender: Sender,
}

impl Outlet {
    /// Sends a packet whose contents are written.
    #[inline]
    pub fn launch(
        &mut self,
        now: Time,
        id: PacketId,
        len_bytes: u32,
        ecn: Ecn,
        shared: &mut Shared,
    ) {
        shared.packets.slots[id as usize] = Slot {
            flow: self.hash,
            len_bytes,
            ecn: ecn as u8,
            ..Slot::default()
        };
        shared.packets.all[id as usize].way = self.way;
        shared.ledger[self.way.flow as usize].born += 1;
        if self.sender.jitter_ns > 0 {
            self.sender.push(now, id, &mut shared.events);
        } else {
            shared.arrived.push_back(id);
        }
    }
}

impl Endpoint {
    /// Sees to it that the connection's timer fires in time.
    #[inline]
    pub fn watch(&mut self, now: Time, events: &mut Events) {
        let Kind::Tcp(connection) = &self.kind else {
            return;
        };
        self.deadline = connection.poll_timeout();
        if self.deadline < self.timer_due {
            self.timer_due = self.deadline;
            events.schedule(self.timer, self.deadline.max(now));
        }
    }
}

/// Delays each packet by a random time and keeps their order, as a busy host does.
/// Without it the phases of senders decide who meets a full queue. What the first
/// links of the way delay by a constant is added here: one event instead of two.
pub struct Sender {
    /// Event: a packet leaves.
    pub source: Source,
    /// Bound of the delay; 0: none.
    pub jitter_ns: u64,
    lead_ns: u64,
    rng: Rng,
    last_release: Time,
    waiting: Ring<(Time, PacketId)>,
}

impl Sender {
    /// A sender without packets.
    pub fn new(source: Source) -> Self {
        Self {
            source,
            jitter_ns: 0,
            lead_ns: 0,
            rng: Rng::stream(0, ""),
            last_release: Time(0),
            waiting: Ring::default(),
        }
    }

    /// Begins to serve another connection.
    pub fn begin(&mut self, jitter_ns: u64, lead_ns: u64, rng: Rng) {
        (self.jitter_ns, self.lead_ns, self.rng) = (jitter_ns, lead_ns, rng);
        self.last_release = Time(0);
    }

    /// Takes a packet to be sent at a time of its own.
    #[inline]
    pub fn push(&mut self, now: Time, id: PacketId, events: &mut Events) {
        let drawn = now + self.rng.below(self.jitter_ns);
        self.last_release = drawn.max(self.last_release);
        let release = self.last_release + self.lead_ns;
        if self.waiting.is_empty() {
            events.schedule_idle(self.source, release);
        }
        self.waiting.push_back((release, id));
    }

    /// The packet whose time has come; schedules the one behind, which may be due at
    /// the same time.
    #[inline]
    pub fn pop(&mut self, events: &mut Events) -> Option<PacketId> {
        let (_, id) = self.waiting.pop_front()?;
        if let Some((release, _)) = self.waiting.front() {
            events.schedule_idle(self.source, release);
        }
        Some(id)
    }

    /// Packets that wait.
    pub fn held_pkts(&self) -> u64 {
        self.waiting.len() as u64
    }
}
