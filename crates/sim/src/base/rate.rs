// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! A rate, how long packets take at it, and a bucket of tokens that come at it.

use super::time::{NS_PER_S, Time};

/// The least rate, a byte a second: a full packet takes 25 minutes.
pub const MIN_RATE_BPS: u64 = 8;

/// A rate as the time of a byte in Q32 of a nanosecond: its error is below 1e-11 at
/// 100 Mbit/s and 1e-6 at 10 Tbit/s; at the lowest rate it still fits.
pub struct Rate {
    byte_q32: u64,
    /// Part of a nanosecond, in Q32, that the last packet of a wire left over.
    rest: u32,
}

impl Rate {
    /// A rate in bit/s.
    pub fn new(bps: u64) -> Self {
        let byte_q32 = ((8 * u128::from(NS_PER_S)) << 32) / u128::from(bps);
        Self {
            byte_q32: byte_q32 as u64,
            rest: 0,
        }
    }

    /// What a packet costs in tokens.
    #[inline]
    pub fn ns_of(&self, bytes: u32) -> u64 {
        ((u128::from(bytes) * u128::from(self.byte_q32)) >> 32) as u64
    }

    /// How long the next packet occupies a wire. What is below a nanosecond is
    /// carried on to the one behind, so that many packets keep the rate exactly.
    #[inline]
    pub fn next_ns(&mut self, bytes: u32) -> u64 {
        let time = u128::from(bytes) * u128::from(self.byte_q32) + u128::from(self.rest);
        self.rest = time as u32;
        (time >> 32) as u64
    }
}

/// A token bucket; a token is a nanosecond, as in Linux.
pub struct Bucket {
    pub(crate) tokens_ns: i64,
    filled_at: Time,
    burst_bytes: u32,
}

impl Bucket {
    /// A full bucket.
    pub(crate) fn full(burst_bytes: u32, rate: &Rate) -> Self {
        Self {
            tokens_ns: rate.ns_of(burst_bytes) as i64,
            filled_at: Time(0),
            burst_bytes,
        }
    }

    /// Pays for a packet, on credit if need be; gives the debt.
    #[inline]
    pub(crate) fn pay(&mut self, bytes: u32, rate: &Rate) -> u64 {
        self.tokens_ns -= rate.ns_of(bytes) as i64;
        (-self.tokens_ns).max(0) as u64
    }

    /// Gains the tokens of the time up to now.
    #[inline]
    pub(crate) fn fill(&mut self, now: Time, rate: &Rate) {
        let depth_ns = rate.ns_of(self.burst_bytes) as i64;
        let gained_ns = (now - self.filled_at) as i64;
        self.tokens_ns = (self.tokens_ns + gained_ns).min(depth_ns);
        self.filled_at = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lowest_and_highest_rate_fit() {
        assert_eq!(Rate::new(100_000_000).ns_of(1_514), 121_120);
        assert_eq!(Rate::new(MIN_RATE_BPS).ns_of(1_514), 1_514 * NS_PER_S);
        // 1.2112 ns each.
        let mut fast = Rate::new(10_000_000_000_000);
        let many_ns: u64 = (0..10_000).map(|_| fast.next_ns(1_514)).sum();
        assert_eq!(many_ns, 12_111);
    }
}
