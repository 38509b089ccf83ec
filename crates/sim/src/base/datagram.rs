// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! UDP: a datagram has a length, and the time at which it was sent.

use super::time::Time;

/// Ethernet (14), IPv4 (20) and UDP (8) headers.
const HEADER_BYTES: u32 = 14 + 20 + 8;

/// One datagram.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Datagram {
    /// Length of the payload in bytes.
    pub len: u32,
    /// When the application sent it.
    pub sent_ns: u64,
    /// How long senders have held it: no delay of the network's.
    pub held_ns: u64,
}

impl Datagram {
    /// How long the network has had it.
    #[inline]
    pub fn delay_ns(&self, now: Time) -> u64 {
        now.0 - self.sent_ns - self.held_ns
    }

    /// Length as a queueing discipline sees it: IP length and link header.
    #[inline]
    pub fn wire_bytes(&self) -> u32 {
        self.len + HEADER_BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::Datagram;

    #[test]
    fn full_datagram_fills_an_ethernet_frame() {
        let datagram = Datagram {
            len: 1472,
            ..Datagram::default()
        };
        assert_eq!(datagram.wire_bytes(), 1514);
    }
}
