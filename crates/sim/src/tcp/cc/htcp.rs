// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! H-TCP (Leith and Shorten 2004): growth rises with the time since the last
//! loss, the reduction follows the ratio of least to greatest round trip.
//! Fixed point and order of events as in tcp_htcp.c; times are jiffies.

use super::newreno;
use super::{AckSample, Facts};
use crate::tcp::cc::window::{CaState, Window};
use crate::tcp::clock::us_to_jiffies;

/// One packet per window, of 128.
const ALPHA_ONE: u32 = 128;
/// Bounds of the part kept after a loss, of 128 (0.5 and 0.8).
const BETA_MIN: u32 = 64;
const BETA_MAX: u32 = 102;
const JIFFIES_PER_S: u32 = 1_000;
/// Round trips below this say nothing about queues, jiffies.
const MIN_RTT_OF_USE: u32 = 10;
/// A round trip longer by this than the longest is an outlier, jiffies.
const RTT_STEP: u32 = 20;

/// What a loss changes and an undo brings back.
#[derive(Clone, Copy, Debug)]
struct Saved {
    last_loss: u64,
    rtt_max: u32,
    old_rate_max: u32,
}

/// State of the law.
#[derive(Clone, Debug)]
pub(in crate::tcp) struct Htcp {
    /// Packets of growth per window, of 128.
    alpha: u32,
    /// Part of the window kept after a loss, of 128.
    beta: u32,
    /// The ratio of round trips is in use.
    adaptive: bool,
    /// Packets that the acknowledgement in hand counts for.
    pkts_acked: u32,
    rtt_min: u32,
    rtt_max: u32,
    last_loss: u64,
    saved: Option<Saved>,
    /// Throughput in packets per second: smoothed, least, greatest of this
    /// epoch, greatest of the last.
    rate: u32,
    rate_min: u32,
    rate_max: u32,
    old_rate_max: u32,
    /// Packets counted since `counted_from`.
    counted: u32,
    counted_from: u64,
}

impl Htcp {
    pub fn new() -> Self {
        Self {
            alpha: ALPHA_ONE,
            beta: BETA_MIN,
            adaptive: false,
            pkts_acked: 1,
            rtt_min: 0,
            rtt_max: 0,
            last_loss: 0,
            saved: None,
            rate: 0,
            rate_min: 0,
            rate_max: 0,
            old_rate_max: 0,
            counted: 0,
            counted_from: 0,
        }
    }

    pub fn start(&mut self, facts: Facts) {
        *self = Self::new();
        self.last_loss = facts.clock.jiffies;
    }

    fn since_loss(&self, now: u64) -> u32 {
        now.saturating_sub(self.last_loss).min(u64::from(u32::MAX)) as u32
    }

    pub fn on_sample(&mut self, window: &Window, sample: AckSample, facts: Facts) {
        let now = facts.clock.jiffies;
        if window.state == CaState::Open {
            self.pkts_acked = sample.pkts_acked;
        }
        if let Some(rtt_us) = sample.rtt_us.filter(|rtt| *rtt > 0) {
            self.note_rtt(us_to_jiffies(u64::from(rtt_us)) as u32, window.state);
        }
        if window.state > CaState::Disorder {
            self.counted = 0;
            self.counted_from = now;
            return;
        }
        self.counted += sample.pkts_acked;
        let growth = (self.alpha >> 7).max(1);
        let elapsed = now.saturating_sub(self.counted_from);
        if self.counted >= window.cwnd.saturating_sub(growth)
            && self.rtt_min > 0
            && elapsed >= u64::from(self.rtt_min)
        {
            self.note_rate(elapsed, now);
        }
    }

    fn note_rtt(&mut self, rtt: u32, state: CaState) {
        if self.rtt_min > rtt || self.rtt_min == 0 {
            self.rtt_min = rtt;
        }
        if state == CaState::Open {
            self.rtt_max = self.rtt_max.max(self.rtt_min);
            if self.rtt_max < rtt && rtt <= self.rtt_max + RTT_STEP {
                self.rtt_max = rtt;
            }
        }
    }

    fn note_rate(&mut self, elapsed: u64, now: u64) {
        let rate = (u64::from(self.counted) * u64::from(JIFFIES_PER_S) / elapsed.max(1)) as u32;
        if self.since_loss(now) / self.rtt_min <= 3 {
            // The first round trips after a loss begin a new epoch.
            self.rate = rate;
            self.rate_min = rate;
            self.rate_max = rate;
        } else {
            self.rate = ((3 * u64::from(self.rate) + u64::from(rate)) / 4) as u32;
            self.rate_max = self.rate_max.max(self.rate);
            self.rate_min = self.rate_min.min(self.rate_max);
        }
        self.counted = 0;
        self.counted_from = now;
    }

    fn update_beta(&mut self) {
        let rate_max = u64::from(self.rate_max);
        let old = u64::from(self.old_rate_max);
        self.old_rate_max = self.rate_max;
        // Throughput changed by more than a fifth: the path is another one.
        if 5 * rate_max < 4 * old || 5 * rate_max > 6 * old {
            self.beta = BETA_MIN;
            self.adaptive = false;
            return;
        }
        if self.adaptive && self.rtt_min > MIN_RTT_OF_USE && self.rtt_max > 0 {
            self.beta = ((self.rtt_min << 7) / self.rtt_max).clamp(BETA_MIN, BETA_MAX);
        } else {
            self.beta = BETA_MIN;
            self.adaptive = true;
        }
    }

    /// alpha = 2 (1 - beta) (1 + 10 (t - 1) + ((t - 1) / 2)^2), t in seconds
    /// since the last loss and from the first second on, scaled with the round
    /// trip.
    fn update_alpha(&mut self, now: u64) {
        let mut factor = 1u64;
        let since = u64::from(self.since_loss(now));
        let hz = u64::from(JIFFIES_PER_S);
        if since > hz {
            let late = since - hz;
            factor = 1 + (10 * late + (late / 2) * (late / 2) / hz) / hz;
        }
        if self.rtt_min > 0 {
            let scale = (JIFFIES_PER_S << 3) / (10 * self.rtt_min);
            factor = ((factor << 3) / u64::from(scale.clamp(4, 80))).max(1);
        }
        let alpha = 2 * factor * u64::from(128 - self.beta);
        self.alpha = alpha.min(u64::from(u32::MAX)) as u32;
        if self.alpha == 0 {
            self.alpha = ALPHA_ONE;
        }
    }

    pub fn ssthresh(&mut self, window: &Window, facts: Facts) -> u32 {
        let (rtt_min, rtt_max) = (self.rtt_min, self.rtt_max);
        self.update_beta();
        self.update_alpha(facts.clock.jiffies);
        // A slow fade, so that an old maximum is forgotten.
        if rtt_min > 0 && rtt_max > rtt_min {
            self.rtt_max = rtt_min + (rtt_max - rtt_min) * 95 / 100;
        }
        ((u64::from(window.cwnd) * u64::from(self.beta)) >> 7).max(2) as u32
    }

    #[inline]
    pub fn grow(&mut self, window: &mut Window, acked: u32, facts: Facts) {
        if !window.is_limited() {
            return;
        }
        if window.in_slow_start() {
            window.slow_start(acked);
            return;
        }
        let earned = (u64::from(window.credit) * u64::from(self.alpha)) >> 7;
        if earned >= u64::from(window.cwnd) {
            if window.cwnd < window.clamp {
                window.cwnd += 1;
            }
            window.credit = 0;
            self.update_alpha(facts.clock.jiffies);
        } else {
            window.credit += self.pkts_acked;
        }
        self.pkts_acked = 1;
    }

    pub fn on_state(&mut self, to: CaState, facts: Facts) {
        match to {
            CaState::Open => {
                if self.saved.take().is_some() {
                    self.last_loss = facts.clock.jiffies;
                }
            }
            CaState::Cwr | CaState::Recovery | CaState::Loss => {
                self.saved = Some(Saved {
                    last_loss: self.last_loss,
                    rtt_max: self.rtt_max,
                    old_rate_max: self.old_rate_max,
                });
                self.last_loss = facts.clock.jiffies;
            }
            CaState::Disorder => {}
        }
    }

    pub fn undo(&mut self, window: &Window) -> u32 {
        if let Some(saved) = self.saved.take() {
            self.last_loss = saved.last_loss;
            self.rtt_max = saved.rtt_max;
            self.old_rate_max = saved.old_rate_max;
        }
        newreno::undo(window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::config::TcpConfig;

    #[test]
    fn growth_is_standard_in_the_first_second_and_faster_later() {
        let mut htcp = Htcp::new();
        htcp.start(Facts::at_ms(0));
        htcp.rtt_min = 100;
        htcp.update_alpha(900);
        // 2 * (1 - 0.5) * 1 packet, scaled by the round trip over 100 ms.
        assert_eq!(htcp.alpha, 128);
        htcp.update_alpha(3_000);
        // t - 1 = 2 s: 1 + 20 + 1 packets.
        assert_eq!(htcp.alpha, 22 * 128);
    }

    #[test]
    fn reduction_follows_the_ratio_of_round_trips() {
        let mut htcp = Htcp::new();
        let mut window = Window::new(&TcpConfig::default());
        window.cwnd = 1000;
        htcp.rtt_min = 50;
        htcp.rtt_max = 75;
        assert_eq!(htcp.ssthresh(&window, Facts::at_ms(10)), 500);
        htcp.rtt_max = 75;
        assert_eq!(htcp.ssthresh(&window, Facts::at_ms(10)), 85 * 1000 / 128);
    }

    #[test]
    fn undo_brings_the_epoch_back() {
        let mut htcp = Htcp::new();
        htcp.start(Facts::at_ms(5));
        htcp.on_state(CaState::Recovery, Facts::at_ms(500));
        assert_eq!(htcp.last_loss, 500);
        htcp.undo(&Window::new(&TcpConfig::default()));
        assert_eq!(htcp.last_loss, 5);
    }
}
