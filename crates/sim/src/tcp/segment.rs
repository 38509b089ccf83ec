// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! A TCP segment as it travels through the engine: the fields of the header
//! that decide anything, none of the others.

/// Ethernet (14), IPv4 (20) and TCP (20) headers, without TCP options.
const HEADER_BYTES: u32 = 14 + 20 + 20;

/// The timestamps option, padded.
const TIMESTAMPS_BYTES: u32 = 12;
/// A segment carries at most this many SACK blocks (RFC 2018 §3).
pub const MAX_SACK_BLOCKS: usize = 4;

/// Header flags; values as on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u8);

impl Flags {
    /// No more data from the sender of this segment.
    pub const FIN: Self = Self(0x01);
    /// First segment of a direction.
    pub const SYN: Self = Self(0x02);
    /// Abort.
    pub const RST: Self = Self(0x04);
    /// The sender had nothing to add when it sent this segment.
    pub const PSH: Self = Self(0x08);
    /// The acknowledgement number is valid.
    pub const ACK: Self = Self(0x10);
    /// ECN echo (RFC 3168).
    pub const ECE: Self = Self(0x40);
    /// Congestion window reduced (RFC 3168).
    pub const CWR: Self = Self(0x80);

    /// Whether any flag of `other` is set.
    #[inline]
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// These flags and those of `other`.
    #[inline]
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// `other` when `on`, nothing otherwise.
    #[inline]
    pub fn when(on: bool, other: Self) -> Self {
        if on { other } else { Self(0) }
    }
}

/// A SACK block, both ends relative to the acknowledgement number of its
/// segment: four bytes an end instead of eight. Windows stay below 2^31 bytes,
/// so the difference always fits; a D-SACK lies below the acknowledgement and
/// is negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlock {
    start: i32,
    end: i32,
}

/// One segment. Sequence numbers are offsets in the stream and never wrap; the
/// SYN is at 0, the first byte of data at 1. Laid out as written here, so that the
/// SACK blocks, which few segments carry, lie apart from the rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Segment {
    /// Offset of the first byte (or of SYN, or of FIN).
    pub seq: u64,
    /// Next offset expected from the peer; meaningful with `Flags::ACK`.
    pub ack: u64,
    /// Payload in bytes.
    pub len: u32,
    /// Receive window in bytes, scaling done. A SYN carries at most 65,535.
    pub window: u32,
    /// Timestamp value (RFC 7323) in ms; 0 with `ts_ecr` 0: no option.
    pub ts_val: u32,
    /// Timestamp echo reply; 0: none.
    pub ts_ecr: u32,
    /// Header flags.
    pub flags: Flags,
    /// Whether a SYN permits SACK.
    pub sack_permitted: bool,
    /// SACK blocks in use; see `push_sack`.
    pub sack_used: u8,
    /// SACK blocks, to be read through `sack_blocks`.
    pub sack: [SackBlock; MAX_SACK_BLOCKS],
}

impl Segment {
    /// Sequence space taken: payload, SYN and FIN.
    #[inline]
    pub fn seq_len(&self) -> u64 {
        u64::from(self.len)
            + u64::from(self.flags.has(Flags::SYN))
            + u64::from(self.flags.has(Flags::FIN))
    }

    /// Offset behind the last byte of the segment.
    #[inline]
    pub fn end_seq(&self) -> u64 {
        self.seq + self.seq_len()
    }

    /// Whether the timestamps option is present. The clock of timestamps
    /// starts at 1, so a value of 0 is never sent.
    #[inline]
    pub fn has_timestamps(&self) -> bool {
        self.ts_val != 0
    }

    /// Adds a SACK block `[start, end)`; `ack` must be set before. A fifth
    /// block is left out.
    pub fn push_sack(&mut self, start: u64, end: u64) {
        let count = usize::from(self.sack_used);
        if count < MAX_SACK_BLOCKS {
            let relative = |offset: u64| offset.wrapping_sub(self.ack) as i64 as i32;
            self.sack[count] = SackBlock {
                start: relative(start),
                end: relative(end),
            };
            self.sack_used += 1;
        }
    }

    /// Takes all SACK blocks out.
    #[inline]
    pub(super) fn clear_sack(&mut self) {
        self.sack_used = 0;
    }

    /// Number of SACK blocks.
    #[inline]
    pub fn sack_count(&self) -> usize {
        usize::from(self.sack_used)
    }

    /// The SACK blocks as stream offsets, in the order of the header.
    pub fn sack_blocks(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let absolute = |offset: i32| self.ack.wrapping_add(i64::from(offset) as u64);
        self.sack[..self.sack_count()]
            .iter()
            .map(move |block| (absolute(block.start), absolute(block.end)))
    }

    /// Bytes of TCP options, padded to words as Linux lays them out.
    #[inline]
    pub fn option_bytes(&self) -> u32 {
        let timestamps = if self.has_timestamps() {
            TIMESTAMPS_BYTES
        } else {
            0
        };
        if u8::from(self.flags.has(Flags::SYN)) | self.sack_used == 0 {
            return timestamps;
        }
        timestamps + self.rare_option_bytes()
    }

    /// The same, of what a handshake or a gap adds to the timestamps.
    #[cold]
    fn rare_option_bytes(&self) -> u32 {
        if self.flags.has(Flags::SYN) {
            // MSS (4) and window scale (4); SACK-permitted shares its words
            // with the timestamps and costs a word of its own without them.
            return 8 + 4 * u32::from(self.sack_permitted && !self.has_timestamps());
        }
        4 + 8 * u32::from(self.sack_used)
    }

    /// The same as `wire_bytes` of a segment of `len` bytes that is no SYN and reports no gap.
    #[inline]
    pub fn data_bytes(len: u32, timestamps: bool) -> u32 {
        HEADER_BYTES + if timestamps { TIMESTAMPS_BYTES } else { 0 } + len
    }

    /// Length as a queueing discipline sees it: IP length and link header.
    #[inline]
    pub fn wire_bytes(&self) -> u32 {
        HEADER_BYTES + self.option_bytes() + self.len
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segment_stays_within_96_bytes() {
        assert!(size_of::<Segment>() <= 96, "{}", size_of::<Segment>());
    }

    #[test]
    fn full_segment_with_timestamps_is_1514_bytes() {
        let segment = Segment {
            len: 1448,
            ts_val: 1,
            flags: Flags::ACK,
            ..Segment::default()
        };
        assert_eq!(segment.wire_bytes(), 1514);
    }

    #[test]
    fn syn_has_20_bytes_of_options_as_on_linux() {
        let segment = Segment {
            ts_val: 1,
            flags: Flags::SYN,
            sack_permitted: true,
            ..Segment::default()
        };
        assert_eq!(segment.wire_bytes(), 74);
    }

    #[test]
    fn sack_blocks_keep_order_and_place_on_both_sides_of_the_acknowledgement() {
        let mut segment = Segment {
            ack: 1_000_000_000_000,
            ..Segment::default()
        };
        segment.push_sack(999_999_990_000, 999_999_991_448);
        segment.push_sack(1_000_000_001_448, 1_000_000_002_896);
        let blocks: Vec<_> = segment.sack_blocks().collect();
        assert_eq!(blocks[0], (999_999_990_000, 999_999_991_448));
        assert_eq!(blocks[1], (1_000_000_001_448, 1_000_000_002_896));
    }
}
