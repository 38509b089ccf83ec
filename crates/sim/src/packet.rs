// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Packets: a slab of slots (what queues need) beside bodies (what transports
//! need). A packet is a number; numbers are reused, memory is not given back.

use sojourn_core::Slot;

use crate::time::Time;
use crate::transport::Datagram;
use crate::transport::tcp::Segment;

/// What a packet carries.
#[derive(Clone, Copy, Debug)]
pub enum Body {
    /// A TCP segment.
    Tcp(Segment),
    /// A UDP datagram.
    Udp(Datagram),
}

/// A packet's way and load.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// Next step, an index of `Net`'s steps.
    pub step: u32,
    /// Flow of the scenario.
    pub flow: u32,
    /// Where it will be delivered.
    pub endpoint: u32,
    /// Life of that endpoint; one that is reused has a new one.
    pub life: u32,
    /// When its sender let go of it.
    pub sent: Time,
    /// ECN code when it came to the present queue: a difference is a mark.
    pub ecn_before: u8,
    /// In use.
    pub alive: bool,
    /// What it carries.
    pub body: Body,
}

/// All packets of a run.
#[derive(Default)]
pub struct Packets {
    /// Parallel to the bodies, in the shape that the queue core wants.
    pub slots: Vec<Slot>,
    all: Vec<Packet>,
    free: Vec<u32>,
}

impl Packets {
    /// Takes a packet and its slot in.
    #[inline]
    pub fn insert(&mut self, slot: Slot, packet: Packet) -> u32 {
        if let Some(id) = self.free.pop() {
            self.slots[id as usize] = slot;
            self.all[id as usize] = packet;
            return id;
        }
        self.slots.push(slot);
        self.all.push(packet);
        self.all.len() as u32 - 1
    }

    /// The packet is gone; its number will be used again.
    #[inline]
    pub fn remove(&mut self, id: u32) {
        debug_assert!(self.all[id as usize].alive);
        self.all[id as usize].alive = false;
        self.free.push(id);
    }

    /// A packet.
    #[inline]
    #[must_use]
    pub fn get(&self, id: u32) -> &Packet {
        &self.all[id as usize]
    }

    /// A packet, to be changed.
    #[inline]
    pub fn get_mut(&mut self, id: u32) -> &mut Packet {
        &mut self.all[id as usize]
    }

    /// The packets that exist.
    pub fn alive(&self) -> impl Iterator<Item = &Packet> {
        self.all.iter().filter(|packet| packet.alive)
    }
}
