// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! The ECN field of a packet.

/// The ECN field of an IP header, with the codes of the wire (RFC 3168 §5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Ecn {
    /// The sender does not take part in ECN.
    #[default]
    NotEct = 0,
    /// Capable, code point 1.
    Ect1 = 1,
    /// Capable, code point 0: what senders use by default.
    Ect0 = 2,
    /// A queue has marked the packet.
    Ce = 3,
}

impl Ecn {
    /// The code point of the two low bits of `bits`.
    #[inline]
    pub fn from_bits(bits: u8) -> Self {
        match bits & 3 {
            0 => Self::NotEct,
            1 => Self::Ect1,
            2 => Self::Ect0,
            _ => Self::Ce,
        }
    }
}
