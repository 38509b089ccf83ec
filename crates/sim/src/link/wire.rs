// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! The wire below a shaper: its rate, and how packets are put on it.

use super::packet::PacketId;
use super::propagation::Propagation;
use super::shared::Shared;
use crate::base::event::{Events, Source};
use crate::base::rate::Rate;
use crate::base::time::Time;
use crate::scenario::LinkSpec;

/// A shaper hands packets to this wire.
pub struct Wire {
    /// Event: service goes on.
    pub service: Source,
    /// Event: a packet reaches the far end.
    pub arrival: Source,
    pub(crate) rate: Rate,
    pub(crate) propagation: Propagation,
    /// A packet is put on the wire when its first bit leaves, since the wire then only delays it.
    /// Entries and last bits need no events: see [`super::shaper::Line`].
    pub(crate) works_ahead: bool,
}

impl Wire {
    /// An empty wire.
    pub(crate) fn new(spec: &LinkSpec, rate: Rate, seed: u64, events: &mut Events) -> Self {
        Self {
            service: events.add_source(true),
            arrival: events.add_source(true),
            rate,
            propagation: Propagation::new(spec, seed),
            works_ahead: false,
        }
    }

    /// Puts a packet on the wire now.
    #[inline]
    pub(crate) fn launch(&mut self, now: Time, id: PacketId, shared: &mut Shared) {
        self.propagation.launch(now, id, self.arrival, shared);
    }

    /// Puts a packet whose last bit will leave at that time on a wire that only delays.
    #[inline]
    pub(crate) fn fly(&mut self, last_bit: Time, id: PacketId) {
        let release = last_bit + self.propagation.delay_ns;
        self.propagation.flying.push_back(release, id);
    }
}
