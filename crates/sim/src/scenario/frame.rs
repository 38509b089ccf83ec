// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! What a link counts of a packet: its own header in place of that of Ethernet, a least frame, and
//! cells, as tc's `stab` does.

use serde::Deserialize;

use super::{HEADER_BYTES, LinkSpec, Opportunity};

/// Data of a cell, and the whole of it.
const CELL_DATA_BYTES: u32 = 48;
const CELL_BYTES: u32 = 53;

/// How a link cuts its frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LinkLayer {
    /// Not at all.
    #[default]
    Ethernet,
    /// Into cells, of which the last one is filled up.
    Atm,
}

impl LinkSpec {
    /// What it counts beside each IP packet; none: that depends on the packet, or a packet counts
    /// as the opportunity that it takes.
    pub fn beside_each_packet(&self) -> Option<u32> {
        let is_even = self.mpu_bytes == 0 && self.linklayer == LinkLayer::Ethernet;
        (is_even && self.opportunity == Opportunity::Bytes).then_some(self.header_bytes)
    }
}

/// Lengths of packets while they are at a link.
#[derive(Debug)]
pub struct Frames {
    /// Whether they are others than a queue of Ethernet sees.
    pub differ: bool,
    header_bytes: u32,
    mpu_bytes: u32,
    layer: LinkLayer,
    /// Packets of unlike lengths may be frames of one.
    uneven: bool,
    /// By number of the packet, what it is elsewhere: kept where a frame does not tell.
    elsewhere: Vec<u32>,
}

impl Frames {
    /// Of such a link.
    pub fn new(spec: &LinkSpec) -> Self {
        let uneven = spec.mpu_bytes > 0 || spec.linklayer != LinkLayer::Ethernet;
        Self {
            differ: uneven || spec.header_bytes != HEADER_BYTES,
            header_bytes: spec.header_bytes,
            mpu_bytes: spec.mpu_bytes,
            layer: spec.linklayer,
            uneven,
            elsewhere: Vec::new(),
        }
    }

    /// The length here of what is so long behind a header of Ethernet.
    pub fn bytes(&self, len_bytes: u32) -> u32 {
        let packet_bytes = len_bytes - HEADER_BYTES;
        let framed = packet_bytes
            .saturating_add(self.header_bytes)
            .max(self.mpu_bytes);
        match self.layer {
            LinkLayer::Ethernet => framed,
            LinkLayer::Atm => framed.div_ceil(CELL_DATA_BYTES).saturating_mul(CELL_BYTES),
        }
    }

    /// The length of a packet that comes to the link.
    pub fn enter(&mut self, id: u32, len_bytes: u32) -> u32 {
        if self.uneven {
            self.keep(id as usize, len_bytes);
        }
        self.bytes(len_bytes)
    }

    fn keep(&mut self, place: usize, len_bytes: u32) {
        if self.elsewhere.len() <= place {
            self.elsewhere.resize(place + 1, 0);
        }
        self.elsewhere[place] = len_bytes;
    }

    /// The length elsewhere of a packet that leaves the link and is so long here.
    pub fn leave(&self, id: u32, len_bytes: u32) -> u32 {
        match self.uneven {
            true => self.elsewhere[id as usize],
            false => len_bytes - self.header_bytes + HEADER_BYTES,
        }
    }
}
