// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! The clocks of a Linux TCP at HZ=1000 and the deadlines of its timer wheel.
//!
//! Linux measures round trips in microseconds but arms its timers in jiffies,
//! and its timer wheel rounds a deadline up to the granularity of the level it
//! falls into (kernel/time/timer.c): 1 ms below 64 ms, then 8 ms up to half a
//! second, then 64 ms up to four, and so on. A retransmission timeout of 204 ms
//! therefore fires up to 8 ms late, and a simulator without this retransmits
//! earlier than Linux does.

use crate::base::time::Time;

const NS_PER_JIFFY: u64 = 1_000_000;
/// Levels of the wheel: 64 buckets each, eight times coarser from one to the
/// next.
const LEVELS: u32 = 9;

/// One instant in the units that TCP reckons with.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Clock {
    /// Nanoseconds.
    pub ns: u64,
    /// Microseconds: round trips.
    pub us: u64,
    /// Jiffies of 1 ms: timers.
    pub jiffies: u64,
}

impl Clock {
    #[inline]
    pub(super) fn at(now: Time) -> Self {
        let us = now.0 / 1_000;
        Self {
            ns: now.0,
            us,
            jiffies: us / 1_000,
        }
    }

    /// Value of the timestamps option: milliseconds, from 1, so that 0 can
    /// mean "no option".
    #[inline]
    pub(super) fn stamp(&self) -> u32 {
        self.jiffies as u32 + 1
    }
}

/// The timestamp that a segment sent at `us` carried.
#[inline]
pub(super) fn stamp_of_us(us: u64) -> u32 {
    (us / 1_000) as u32 + 1
}

/// Microseconds to jiffies, rounded up as `usecs_to_jiffies`. Times are far from the end of u64,
/// for which `div_ceil` takes twice the instructions: 9 a packet.
#[allow(clippy::manual_div_ceil)]
#[inline]
pub(super) fn us_to_jiffies(us: u64) -> u64 {
    (us + 999) / 1_000
}

/// How deadlines are rounded.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wheel {
    /// As the Linux timer wheel does.
    Linux,
    /// Up to a multiple of so many jiffies: 1 is exact, 500 the coarse clock
    /// of 4.4BSD and of older papers.
    Tick(u64),
}

impl Wheel {
    /// When a timer armed at jiffy `now` for jiffy `expires` fires.
    #[inline]
    pub(super) fn fires_at(self, now: u64, expires: u64) -> Time {
        let jiffy = match self {
            Self::Linux => {
                let delta = expires.saturating_sub(now).max(1);
                // Level n takes deltas below 63 * 8^n (LVL_START).
                let mut level = 0;
                while level + 1 < LEVELS && delta >= 63 << (3 * level) {
                    level += 1;
                }
                let shift = 3 * level;
                ((expires.max(now) >> shift) + 1) << shift
            }
            Self::Tick(tick) => expires.div_ceil(tick) * tick,
        };
        Time(jiffy.saturating_mul(NS_PER_JIFFY))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_timers_fire_one_jiffy_after_their_deadline() {
        assert_eq!(Wheel::Linux.fires_at(1_000, 1_040), Time(1_041_000_000));
    }

    #[test]
    fn timers_of_200_ms_are_rounded_up_to_8_ms() {
        assert_eq!(Wheel::Linux.fires_at(1_000, 1_204), Time(1_208_000_000));
        assert_eq!(Wheel::Linux.fires_at(1_000, 1_208), Time(1_216_000_000));
    }

    #[test]
    fn timers_of_one_second_are_rounded_up_to_64_ms() {
        assert_eq!(Wheel::Linux.fires_at(0, 1_000), Time(1_024_000_000));
    }

    #[test]
    fn coarse_ticks_round_up_to_their_grid() {
        assert_eq!(Wheel::Tick(500).fires_at(10, 710), Time(1_000_000_000));
        assert_eq!(Wheel::Tick(1).fires_at(10, 710), Time(710_000_000));
    }

    #[test]
    fn microseconds_round_up_to_jiffies() {
        assert_eq!(us_to_jiffies(200_001), 201);
        assert_eq!(us_to_jiffies(200_000), 200);
    }
}
