// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! The state that all parts of a net share.

use super::packet::{PacketCounts, PacketId, Packets};
use crate::base::event::Events;
use crate::base::ring::Ring;

/// Every part has it while an event is handled.
pub struct Shared {
    /// Pending events.
    pub events: Events,
    /// All packets.
    pub packets: Packets,
    /// Packets that have come to the end of a link, in order.
    pub arrived: Ring<PacketId>,
    /// By flow, what became of its packets.
    pub packet_counts: Vec<PacketCounts>,
    /// By flow, the payload delivered in the whole run, by the end that heard it.
    pub delivered_bytes: Vec<[u64; 2]>,
    /// Packets that queues dropped.
    pub dropped_pkts: u64,
    /// Packets lost on wires.
    pub lost_pkts: u64,
}
