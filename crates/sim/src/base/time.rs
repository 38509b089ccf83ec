// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Simulated time: whole nanoseconds since the start of the run.

use std::ops::{Add, Sub};

/// Nanoseconds in a second.
pub const NS_PER_S: u64 = 1_000_000_000;
/// Nanoseconds in a millisecond.
pub const NS_PER_MS: u64 = 1_000_000;

/// An instant or a span, in nanoseconds. 64 bits last for 584 years.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(pub u64);

impl Time {
    /// Later than all that can happen.
    pub const MAX: Self = Self(u64::MAX);

    /// So much later; never stays never.
    #[inline]
    pub fn after(self, ns: u64) -> Self {
        Self(self.0.saturating_add(ns))
    }

    /// In seconds, for people.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / NS_PER_S as f64
    }
}

impl Add<u64> for Time {
    type Output = Self;

    #[inline]
    fn add(self, ns: u64) -> Self {
        Self(self.0 + ns)
    }
}

impl Sub for Time {
    type Output = u64;

    /// Nanoseconds since an earlier instant.
    #[inline]
    fn sub(self, earlier: Self) -> u64 {
        self.0 - earlier.0
    }
}

/// How long `bytes` take at `rate_bps`, rounded to the nearest nanosecond. The
/// product stays below 2^64 for packets up to 2 GB.
#[inline]
pub fn serialisation_ns(bytes: u32, rate_bps: u64) -> u64 {
    let bits_ns = u64::from(bytes) * 8 * NS_PER_S;
    (bits_ns + rate_bps / 2) / rate_bps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_frame_takes_121_microseconds_at_100_megabit() {
        assert_eq!(serialisation_ns(1514, 100_000_000), 121_120);
    }
}
