// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! A write of a source that keeps times of its own.

/// Something is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Burst {
    /// When, after the start.
    pub at_ns: u64,
    /// How much; over UDP, one datagram.
    pub bytes: u64,
}
