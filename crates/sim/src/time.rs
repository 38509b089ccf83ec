// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Simulated time: whole nanoseconds since the start of the run.

/// A moment. 2^64 ns are 584 years, so sums do not wrap in any run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Time = Time(0);
    /// Later than anything that happens; as a deadline: never.
    pub const MAX: Time = Time(u64::MAX);

    /// The moment `ns` later.
    #[inline]
    #[must_use]
    pub fn plus(self, ns: u64) -> Time {
        Time(self.0.saturating_add(ns))
    }

    /// Nanoseconds since `earlier`; 0 when that is not earlier.
    #[inline]
    #[must_use]
    pub fn since(self, earlier: Time) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}
