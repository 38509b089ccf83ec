// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Packets in a slab. A packet is a number; what a queue must know of it stands in
//! its slot, what routing must know in its path, the rest in its body.

use sojourn_core::Slot;

use crate::base::datagram::Datagram;
use crate::base::time::Time;
use crate::tcp::Segment;

/// Number of a packet.
pub type PacketId = u32;

/// What is inside.
#[derive(Clone, Copy, Debug)]
pub enum Body {
    /// TCP.
    Tcp(Segment),
    /// UDP.
    Udp(Datagram),
    /// A probe of a queue's algorithm.
    Probe(Probe),
}

/// What a probe carries. On a real wire it is a number that its sender knows these by.
#[derive(Clone, Copy, Debug)]
pub struct Probe {
    /// The link at whose queue it began, and the number of that queue there.
    pub link: u32,
    /// See `link`.
    pub gate: u32,
    /// Who asked for it there.
    pub inst: u32,
    /// When it joined the queue.
    pub sent: Time,
    /// The responder has had it: this is the answer.
    pub answered: bool,
}

/// Where it goes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Path {
    /// The next entry of the table of hops.
    pub hop: u32,
    /// The endpoint it is for, and the endpoint's age: a later one with the same
    /// number is another.
    pub to: u32,
    /// See `to`.
    pub age: u32,
    /// The flow it belongs to.
    pub flow: u32,
}

/// What became of a flow's packets. Endpoints that are in use count their own.
#[derive(Clone, Copy, Debug, Default)]
pub struct PacketCounts {
    /// Sent.
    pub born: u64,
    /// Arrived at an endpoint, or where one had been.
    pub arrived: u64,
    /// Dropped by a queue or lost on a propagation.
    pub lost: u64,
}

/// A packet but for its slot. What every packet has in use, all but SACK blocks, lies
/// in one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Packet {
    /// Where it goes.
    pub path: Path,
    /// What is inside.
    pub body: Body,
}

/// All packets of a run.
#[derive(Default)]
pub struct Packets {
    /// What queues read and write.
    pub slots: Vec<Slot>,
    /// The rest, under the same numbers.
    pub all: Vec<Packet>,
    free: Vec<PacketId>,
    born: u64,
}

impl Body {
    /// The place of a TCP segment, whatever was there.
    #[inline]
    pub fn as_segment(&mut self) -> &mut Segment {
        if !matches!(self, Self::Tcp(_)) {
            *self = Self::Tcp(Segment::default());
        }
        match self {
            Self::Tcp(segment) => segment,
            Self::Udp(_) | Self::Probe(_) => unreachable!("it was made a segment above"),
        }
    }
}

impl Packets {
    /// A number for a new packet, whose slot and contents are still those of an
    /// older one.
    #[inline]
    pub fn claim(&mut self) -> PacketId {
        self.born += 1;
        if let Some(id) = self.free.pop() {
            return id;
        }
        self.slots.push(Slot::default());
        self.all.push(Packet {
            path: Path::default(),
            body: Body::Tcp(Segment::default()),
        });
        (self.slots.len() - 1) as PacketId
    }

    /// The same, for a packet that goes this path; gives the place of its contents too.
    #[inline]
    pub fn claim_for(&mut self, path: &Path) -> (PacketId, &mut Body) {
        let id = self.claim();
        let packet = &mut self.all[id as usize];
        packet.path = *path;
        (id, &mut packet.body)
    }

    /// The packet is no more.
    #[inline]
    pub fn remove(&mut self, id: PacketId) {
        self.free.push(id);
    }

    /// How many there are.
    pub fn alive(&self) -> u64 {
        (self.slots.len() - self.free.len()) as u64
    }

    /// The paths of all that there are.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        let mut alive = vec![true; self.all.len()];
        for &id in &self.free {
            alive[id as usize] = false;
        }
        let packets = self.all.iter().zip(alive);
        packets.filter_map(|(packet, alive)| alive.then_some(&packet.path))
    }

    /// How many there ever were.
    pub fn born(&self) -> u64 {
        self.born
    }
}
