// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Round trips: the smoothed mean and its deviation (RFC 6298, with Linux's
//! treatment of the deviation), the least of the last five minutes, and the
//! timeout that follows.

use super::clock::us_to_jiffies;
use super::config::{RtoForm, TcpConfig};

/// Length of the window of the least round trip: 300 s in jiffies.
const MIN_WINDOW_JIFFIES: u64 = 300_000;
/// Longer round trips count as this: eight times as many microseconds fit 32 bits.
pub(super) const LONGEST_US: u32 = 1 << 28;
/// Stands for "no round trip seen".
pub(super) const NO_RTT: u32 = u32::MAX;

/// Least value of a sliding window, by the three best samples of its thirds
/// (lib/win_minmax.c, after Kathleen Nichols).
#[derive(Clone, Copy, Debug)]
struct WindowedMin {
    /// (jiffy, value), best first.
    best: [(u64, u32); 3],
}

impl WindowedMin {
    fn new() -> Self {
        Self {
            best: [(0, NO_RTT); 3],
        }
    }

    fn note(&mut self, now: u64, value: u32) {
        let sample = (now, value);
        let [first, second, third] = &mut self.best;
        if value <= first.1 || now - third.0 > MIN_WINDOW_JIFFIES {
            self.best = [sample; 3];
            return;
        }
        if value <= second.1 {
            *second = sample;
            *third = sample;
        } else if value <= third.1 {
            *third = sample;
        }
        self.age(sample);
    }

    /// Moves the choices up when the first is too old, and keeps the second
    /// and third from later parts of the window.
    fn age(&mut self, sample: (u64, u32)) {
        let now = sample.0;
        let age = now - self.best[0].0;
        if age > MIN_WINDOW_JIFFIES {
            self.best = [self.best[1], self.best[2], sample];
            if now - self.best[0].0 > MIN_WINDOW_JIFFIES {
                self.best = [self.best[1], self.best[2], sample];
            }
        } else if self.best[1].0 == self.best[0].0 && age > MIN_WINDOW_JIFFIES / 4 {
            self.best[1] = sample;
            self.best[2] = sample;
        } else if self.best[2].0 == self.best[1].0 && age > MIN_WINDOW_JIFFIES / 2 {
            self.best[2] = sample;
        }
    }
}

/// Estimates of the round trip.
#[derive(Clone, Debug)]
pub(super) struct Rtt {
    /// Eight times the smoothed round trip, microseconds; 0: none yet.
    srtt8_us: u32,
    /// Four times the mean deviation, its maximum in this window, and the
    /// figure used for the timeout.
    mdev_us: u32,
    mdev_max_us: u32,
    var_us: u32,
    /// The maximum is taken anew when this is acknowledged.
    window_end: u64,
    least: WindowedMin,
    floor_us: u32,
    form: RtoForm,
    max_rto: u64,
    /// Samples are rounded up to this, microseconds; 1: not at all.
    grain_us: u32,
}

impl Rtt {
    pub fn new(config: &TcpConfig) -> Self {
        let coarse = !config.timer_wheel && config.timer_tick_ms > 1;
        Self {
            srtt8_us: 0,
            // Before any sample the deviation is one initial timeout
            // (tcp_init_sock).
            mdev_us: config.initial_rto_ms * 1_000,
            mdev_max_us: 0,
            var_us: 0,
            window_end: 0,
            least: WindowedMin::new(),
            floor_us: config.min_rto_ms * 1_000,
            form: config.rto,
            max_rto: u64::from(config.max_rto_ms),
            grain_us: if coarse {
                config.timer_tick_ms * 1_000
            } else {
                1
            },
        }
    }

    /// Eight times the smoothed round trip; 0: no sample yet.
    #[inline]
    pub fn srtt8_us(&self) -> u32 {
        self.srtt8_us
    }

    /// Least round trip; `NO_RTT`, longer than any, before the first.
    #[inline]
    pub fn min_us(&self) -> u32 {
        self.least.best[0].1
    }

    /// Longest timeout, jiffies.
    #[inline]
    pub fn max_rto(&self) -> u64 {
        self.max_rto
    }

    /// tcp_rto_min, us: the least deviation in Linux's form, in that of RFC 6298 the least timeout.
    #[inline]
    pub fn floor_us(&self) -> u32 {
        self.floor_us
    }

    /// Notes a round trip for the minimum. One that a delayed acknowledgement
    /// may have stretched cannot raise it.
    #[inline]
    pub fn note_min(&mut self, rtt_us: u32, maybe_delayed: bool, now: u64) {
        if maybe_delayed && rtt_us > self.min_us() {
            return;
        }
        self.least
            .note(now, if rtt_us == 0 { 1_000 } else { rtt_us });
    }

    /// Takes a sample into the mean and the deviation (tcp_rtt_estimator).
    #[inline]
    pub fn sample(&mut self, rtt_us: u32, una: u64, nxt: u64) {
        let rtt_us = rtt_us.min(LONGEST_US);
        let rtt_us = if self.grain_us > 1 {
            rtt_us.div_ceil(self.grain_us).max(1) * self.grain_us
        } else {
            rtt_us
        };
        if self.srtt8_us == 0 {
            self.srtt8_us = (rtt_us << 3).max(1);
            self.mdev_us = rtt_us << 1;
            self.var_us = match self.form {
                RtoForm::Linux => self.mdev_us.max(self.floor_us),
                RtoForm::Rfc6298 => self.mdev_us,
            };
            self.mdev_max_us = self.var_us;
            self.window_end = nxt;
            return;
        }
        let error = i64::from(rtt_us) - i64::from(self.srtt8_us >> 3);
        self.srtt8_us = (i64::from(self.srtt8_us) + error).max(1) as u32;
        let mut change = error.abs() - i64::from(self.mdev_us >> 2);
        // A falling round trip is good news: the deviation follows slowly.
        if error < 0 && change > 0 && self.form == RtoForm::Linux {
            change >>= 3;
        }
        self.mdev_us = (i64::from(self.mdev_us) + change).max(0) as u32;
        match self.form {
            RtoForm::Linux => self.follow_deviation(una, nxt),
            RtoForm::Rfc6298 => self.var_us = self.mdev_us,
        }
    }

    #[inline]
    fn follow_deviation(&mut self, una: u64, nxt: u64) {
        if self.mdev_us > self.mdev_max_us {
            self.mdev_max_us = self.mdev_us;
            self.var_us = self.var_us.max(self.mdev_max_us);
        }
        if una > self.window_end {
            if self.mdev_max_us < self.var_us {
                self.var_us -= (self.var_us - self.mdev_max_us) >> 2;
            }
            self.window_end = nxt;
            self.mdev_max_us = self.floor_us;
        }
    }

    /// The timeout in jiffies, without back-off.
    #[inline]
    pub fn rto(&self) -> u64 {
        let rto_us = u64::from(self.srtt8_us >> 3) + u64::from(self.var_us);
        let rto_us = match self.form {
            RtoForm::Linux => rto_us,
            RtoForm::Rfc6298 => rto_us.max(u64::from(self.floor_us)),
        };
        us_to_jiffies(rto_us).min(self.max_rto)
    }

    /// No sample came with the handshake: three seconds (tcp_init_metrics,
    /// RFC 6298 §5.7).
    pub fn without_sample(&mut self) {
        const FALLBACK_US: u32 = 3_000_000;
        self.var_us = FALLBACK_US;
        self.mdev_us = FALLBACK_US;
        self.mdev_max_us = FALLBACK_US;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_sample_gives_the_round_trip_and_the_floor() {
        let mut rtt = Rtt::new(&TcpConfig::default());
        rtt.sample(50_000, 1, 1);
        assert_eq!(rtt.rto(), 250);
        rtt.sample(50_000, 2, 2);
        assert_eq!(rtt.srtt8_us(), 400_000);
    }

    #[test]
    fn round_trips_of_many_minutes_do_not_wrap() {
        let mut rtt = Rtt::new(&TcpConfig::default());
        for n in 1..4 {
            rtt.sample(600_000_000, n * 10, n * 10 + 5);
            assert_eq!(rtt.srtt8_us(), 8 * LONGEST_US);
        }
        assert!(rtt.rto() >= 120_000);
    }

    #[test]
    fn steady_round_trips_leave_the_floor_above_the_mean() {
        let mut rtt = Rtt::new(&TcpConfig::default());
        for n in 1..200 {
            rtt.sample(50_000, n * 10, n * 10 + 5);
        }
        assert_eq!(rtt.rto(), 250);
    }

    #[test]
    fn rise_counts_at_once_and_decays_once_a_window() {
        let mut rtt = Rtt::new(&TcpConfig::default());
        rtt.sample(50_000, 1, 100);
        // Error 450 ms: mdev 100 + 450 - 25 = 525 ms.
        rtt.sample(500_000, 50, 200);
        // 106.25 + 525 ms, rounded up.
        assert_eq!(rtt.rto(), 632);
        let before = rtt.var_us;
        rtt.sample(106_250, 101, 300);
        assert!(rtt.var_us <= before);
    }

    #[test]
    fn rfc_form_has_its_floor_on_the_whole() {
        let config = TcpConfig {
            rto: RtoForm::Rfc6298,
            min_rto_ms: 1_000,
            ..TcpConfig::default()
        };
        let mut rtt = Rtt::new(&config);
        rtt.sample(50_000, 1, 1);
        assert_eq!(rtt.rto(), 1_000);
        let mut slow = Rtt::new(&config);
        slow.sample(800_000, 1, 1);
        assert_eq!(slow.rto(), 2_400);
    }

    #[test]
    fn minimum_is_forgotten_after_five_minutes() {
        let mut rtt = Rtt::new(&TcpConfig::default());
        rtt.note_min(20_000, false, 0);
        for jiffy in (0..400_000).step_by(1_000) {
            rtt.note_min(30_000, false, jiffy);
        }
        assert_eq!(rtt.min_us(), 30_000);
    }

    #[test]
    fn delayed_acknowledgement_does_not_raise_the_minimum() {
        let mut rtt = Rtt::new(&TcpConfig::default());
        rtt.note_min(20_000, false, 0);
        rtt.note_min(60_000, true, 400_000);
        assert_eq!(rtt.min_us(), 20_000);
    }
}
