// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! CUBIC (RFC 8312) in the fixed point of tcp_cubic.c: the window follows
//! W(t) = C (t - K)^3 + Wmax, with t in units of 2^-10 s, C = 410/1024 and a
//! reduction to 717/1024.

use super::hystart::Hystart;
use super::{AckSample, Facts};
use crate::tcp::cc::window::{CaState, Window};
use crate::tcp::config::TcpConfig;

/// Fraction of the window kept after a loss, of 1024 (0.7).
const BETA: u32 = 717;
const SCALE: u32 = 1024;
/// Times are in units of 2^-10 s.
const TIME_SHIFT: u32 = 10;
/// C of the cubic, of 1024 (0.4).
const CUBE_C: u64 = 410;
/// (K in 2^-10 s)^3 = packets * 2^40 / C: K has 10 fractional bits, its cube
/// 30, and C another 10.
const CUBE_FACTOR: u64 = (1 << (TIME_SHIFT + 3 * TIME_SHIFT)) / CUBE_C;
/// Eight times the packets acknowledged per packet of growth, over the window,
/// of a standard TCP with this reduction: 8 (1 + beta) / (3 (1 - beta)).
const FRIENDLY_SCALE: u32 = 8 * (SCALE + BETA) / 3 / (SCALE - BETA);
const JIFFIES_PER_S: u64 = 1_000;
/// Packets behind an acknowledgement are averaged over so many, in units of one of so many, from
/// two on, and to less than a bound (tcp_cubic.c before 4.0: ACK_RATIO_SHIFT, ACK_RATIO_LIMIT).
const RATIO: u32 = 16;
const RATIO_AT_FIRST: u32 = 2 * RATIO;
const RATIO_BOUND: u32 = 32 * RATIO;

/// State of the law.
#[derive(Clone, Debug)]
pub(in crate::tcp) struct Cubic {
    /// Packets to be acknowledged for one packet of growth.
    per: u32,
    /// Window before the last reduction, or less (fast convergence).
    last_max: u32,
    last_cwnd: u32,
    /// Jiffy of the last computation.
    last_time: u64,
    /// Top of the cubic and time to reach it.
    origin: u32,
    k: u32,
    delay_min_us: u32,
    /// Jiffy of the beginning of the epoch; none: it begins with the next
    /// acknowledgement.
    epoch_start: Option<u64>,
    ack_count: u32,
    /// Window that a standard TCP would have.
    friendly_cwnd: u32,
    hystart: Hystart,
    use_hystart: bool,
    fast_convergence: bool,
    friendly: bool,
    /// Packets behind an acknowledgement, of 16 (switch `cubic_ack_ratio`).
    ratio: Option<u32>,
}

impl Cubic {
    pub fn new(config: &TcpConfig) -> Self {
        Self {
            per: 0,
            last_max: 0,
            last_cwnd: 0,
            last_time: 0,
            origin: 0,
            k: 0,
            delay_min_us: 0,
            epoch_start: None,
            ack_count: 0,
            friendly_cwnd: 0,
            hystart: Hystart::default(),
            use_hystart: config.hystart,
            fast_convergence: config.fast_convergence,
            friendly: config.tcp_friendliness,
            ratio: config.cubic_ack_ratio.then_some(RATIO_AT_FIRST),
        }
    }

    fn reset(&mut self) {
        self.per = 0;
        self.last_max = 0;
        self.last_cwnd = 0;
        self.last_time = 0;
        self.origin = 0;
        self.k = 0;
        self.delay_min_us = 0;
        self.epoch_start = None;
        self.ack_count = 0;
        self.friendly_cwnd = 0;
        self.ratio = self.ratio.map(|_| RATIO_AT_FIRST);
        self.hystart.rearm();
    }

    pub fn start(&mut self, facts: Facts) {
        self.reset();
        self.hystart.begin_round(facts);
    }

    pub fn on_state(&mut self, to: CaState, facts: Facts) {
        if to == CaState::Loss {
            self.start(facts);
        }
    }

    /// An idle time is no growth time: the epoch moves with it.
    pub fn on_send_start(&mut self, idle_jiffies: u64, facts: Facts) {
        if let Some(start) = self.epoch_start {
            self.epoch_start = Some((start + idle_jiffies).min(facts.clock.jiffies));
        }
    }

    pub fn ssthresh(&mut self, window: &Window) -> u32 {
        self.epoch_start = None;
        self.last_max = if window.cwnd < self.last_max && self.fast_convergence {
            (u64::from(window.cwnd) * u64::from(SCALE + BETA) / u64::from(2 * SCALE)) as u32
        } else {
            window.cwnd
        };
        let kept = u64::from(window.cwnd) * u64::from(BETA) / u64::from(SCALE);
        (kept as u32).max(2)
    }

    #[inline(always)]
    pub fn grow(&mut self, window: &mut Window, mut acked: u32, facts: Facts) {
        if !window.is_limited() {
            return;
        }
        if window.in_slow_start() {
            acked = window.slow_start(acked);
            if acked == 0 {
                return;
            }
        }
        self.update(window.cwnd, acked, facts.clock.jiffies);
        window.increase(self.per, acked);
    }

    #[inline]
    pub fn on_sample(&mut self, window: &mut Window, sample: AckSample, facts: Facts) {
        if let Some(ratio) = &mut self.ratio
            && window.state == CaState::Open
        {
            *ratio = (*ratio - *ratio / RATIO + sample.pkts_acked).min(RATIO_BOUND);
        }
        let Some(rtt_us) = sample.rtt_us else {
            return;
        };
        // Round trips just after a reduction say little about the path.
        if let Some(start) = self.epoch_start
            && facts.clock.jiffies - start < JIFFIES_PER_S
        {
            return;
        }
        let delay_us = rtt_us.max(1);
        if self.delay_min_us == 0 || self.delay_min_us > delay_us {
            self.delay_min_us = delay_us;
        }
        if self.use_hystart && !self.hystart.is_over() && window.in_slow_start() {
            self.hystart
                .on_sample(window, delay_us, self.delay_min_us, facts);
        }
    }

    /// Sets `per` for a window of `cwnd` (bictcp_update).
    fn update(&mut self, cwnd: u32, acked: u32, now: u64) {
        self.ack_count += acked;
        if self.last_cwnd == cwnd && now.saturating_sub(self.last_time) <= JIFFIES_PER_S / 32 {
            return;
        }
        // The cubic moves once a jiffy at most; the standard TCP beside it
        // counts packets and moves each time.
        if self.epoch_start.is_none() || now != self.last_time {
            self.last_cwnd = cwnd;
            self.last_time = now;
            self.follow_cubic(cwnd, acked, now);
        }
        if self.friendly {
            self.follow_standard(cwnd);
        }
        self.per = match self.ratio {
            Some(ratio) => (self.per * RATIO / ratio).max(1),
            None => self.per.max(2),
        };
    }

    fn follow_cubic(&mut self, cwnd: u32, acked: u32, now: u64) {
        let start = match self.epoch_start {
            Some(start) => start,
            None => {
                self.begin_epoch(cwnd, acked, now);
                now
            }
        };
        let ahead = u64::from(self.delay_min_us).div_ceil(1_000);
        let t = ((now - start + ahead) << TIME_SHIFT) / JIFFIES_PER_S;
        let k = u64::from(self.k);
        // C in 2^-10, the offset cubed in 2^-30: packets after 40 bits. The
        // product stays below 2^64 for offsets up to 2^18 (256 s); beyond, the
        // target is far out of reach in any case.
        let offset = t.abs_diff(k).min(1 << 18);
        let delta = (CUBE_C * offset * offset * offset) >> (TIME_SHIFT + 3 * TIME_SHIFT);
        let delta = delta as u32;
        let target = if t < k {
            self.origin.saturating_sub(delta)
        } else {
            self.origin.saturating_add(delta)
        };
        self.per = if target > cwnd {
            cwnd / (target - cwnd)
        } else {
            100 * cwnd
        };
        // Before the first loss there is no maximum to aim at: at least 5 %
        // a round trip.
        if self.last_max == 0 {
            self.per = self.per.min(20);
        }
    }

    fn begin_epoch(&mut self, cwnd: u32, acked: u32, now: u64) {
        self.epoch_start = Some(now);
        self.ack_count = acked;
        self.friendly_cwnd = cwnd;
        if self.last_max <= cwnd {
            self.k = 0;
            self.origin = cwnd;
        } else {
            self.k = cube_root(CUBE_FACTOR * u64::from(self.last_max - cwnd));
            self.origin = self.last_max;
        }
    }

    /// RFC 8312 §4.2: at least the window of a standard TCP.
    fn follow_standard(&mut self, cwnd: u32) {
        let packets = ((u64::from(cwnd) * u64::from(FRIENDLY_SCALE)) >> 3) as u32;
        if packets > 0 {
            while self.ack_count > packets {
                self.ack_count -= packets;
                self.friendly_cwnd += 1;
            }
        }
        if self.friendly_cwnd > cwnd {
            self.per = self.per.min(cwnd / (self.friendly_cwnd - cwnd));
        }
    }
}

/// Cube root, rounded to within one of the true root: a first value from the
/// position of the highest bit, then Newton's steps x <- (2x + a/x^2)/3 from
/// above. Five steps reach any 64-bit argument from a start within a factor
/// of two.
///
/// differs: Linux takes one step from a table of 64 entries, with an error of
/// up to 0.2 %; this is exact, and K differs from Linux's by as much.
fn cube_root(a: u64) -> u32 {
    if a == 0 {
        return 0;
    }
    let bits = 64 - a.leading_zeros();
    let mut root = 1u64 << bits.div_ceil(3);
    loop {
        let next = (2 * root + a / (root * root)) / 3;
        if next >= root {
            return root as u32;
        }
        root = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cube_root_is_the_floor_of_the_root() {
        for root in [1u64, 2, 3, 9, 10, 999, 30_000, 1 << 20, 2_642_245] {
            assert_eq!(u64::from(cube_root(root * root * root)), root);
            assert_eq!(u64::from(cube_root(root * root * root - 1)), root - 1);
        }
        assert_eq!(cube_root(u64::MAX), 2_642_245);
    }

    #[test]
    fn friendly_scale_is_that_of_beta() {
        assert_eq!(FRIENDLY_SCALE, 15);
    }

    #[test]
    fn window_returns_to_its_maximum_after_k() {
        let config = TcpConfig {
            tcp_friendliness: false,
            ..TcpConfig::default()
        };
        let mut cubic = Cubic::new(&config);
        cubic.start(Facts::at_ms(0));
        let mut window = Window::new(&config);
        window.was_limited = true;
        window.cwnd = 1000;
        window.ssthresh = cubic.ssthresh(&window);
        assert_eq!(window.ssthresh, 700);
        window.cwnd = 700;
        // K = cube_root(300 / 0.4) = 9.09 s; an acknowledgement of 70 packets
        // every 10 ms.
        for ms in (0..9_000).step_by(10) {
            cubic.grow(&mut window, 70, Facts::at_ms(1_000 + ms));
        }
        assert!((995..=1001).contains(&window.cwnd), "{}", window.cwnd);
    }

    #[test]
    fn growth_is_divided_by_the_packets_behind_an_acknowledgement() {
        let per_after = |pkts_acked| {
            let mut cubic = Cubic::new(&TcpConfig {
                cubic_ack_ratio: true,
                tcp_friendliness: false,
                ..TcpConfig::default()
            });
            let mut window = Window::new(&TcpConfig::default());
            for _ in 0..200 {
                let sample = AckSample {
                    rtt_us: None,
                    pkts_acked,
                };
                cubic.on_sample(&mut window, sample, Facts::at_ms(1));
            }
            cubic.update(100, 1, 1_000);
            cubic.per
        };
        // Before the first loss: a packet for each 20 acknowledged. The average is an integer
        // that does not fall from 31 of 16.
        assert_eq!(per_after(1), 20 * 16 / 31);
        assert_eq!(per_after(2), 20 * 16 / 32);
        assert_eq!(per_after(4), 20 * 16 / 64);
        assert_eq!(per_after(1_000), 1);
    }

    #[test]
    fn fast_convergence_gives_up_part_of_the_maximum() {
        let config = TcpConfig::default();
        let mut cubic = Cubic::new(&config);
        let mut window = Window::new(&config);
        window.cwnd = 1000;
        cubic.ssthresh(&window);
        assert_eq!(cubic.last_max, 1000);
        window.cwnd = 900;
        cubic.ssthresh(&window);
        assert_eq!(cubic.last_max, 765);
    }

    #[test]
    fn before_the_first_loss_growth_is_at_least_a_packet_in_twenty() {
        let config = TcpConfig::default();
        let mut cubic = Cubic::new(&config);
        cubic.start(Facts::at_ms(0));
        let mut window = Window::new(&config);
        window.was_limited = true;
        window.cwnd = 100;
        window.ssthresh = 100;
        cubic.grow(&mut window, 100, Facts::at_ms(5));
        assert_eq!(window.cwnd, 105);
    }
}
