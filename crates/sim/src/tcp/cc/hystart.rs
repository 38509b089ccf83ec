// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! HyStart: an end of slow start before the first loss, either when the
//! acknowledgements of one round form a train as long as half the round trip,
//! or when the round trip has grown by an eighth. Ha and Rhee, "Taming the
//! elephants" (2011), with the thresholds of tcp_cubic.c.

use super::Facts;
use super::window::Window;

/// Below this window slow start is never ended.
const LOW_WINDOW_PKTS: u32 = 16;
/// Acknowledgements closer than this belong to one train.
const TRAIN_GAP_US: u64 = 2_000;
/// Round trips of a round that are looked at before its delay counts.
const MIN_SAMPLES: u8 = 8;
/// Bounds of the delay increase that ends slow start.
const DELAY_MIN_US: u32 = 4_000;
const DELAY_MAX_US: u32 = 16_000;
/// Largest packet that is handed down in one piece: half the time that four of
/// them take at the pacing rate is allowed for, at most 1 ms.
const GSO_MAX_BYTES: u64 = crate::tcp::send::output::GSO_MAX_BYTES;
const US_PER_S: u64 = 1_000_000;

/// One round of slow start.
#[derive(Clone, Debug, Default)]
pub(super) struct Hystart {
    round_start_us: u64,
    last_ack_us: u64,
    end_seq: u64,
    round_rtt_us: u32,
    samples: u8,
    found: bool,
}

impl Hystart {
    /// A round begins now and ends when all that is out is acknowledged.
    pub fn begin_round(&mut self, facts: Facts) {
        self.round_start_us = facts.clock.us;
        self.last_ack_us = facts.clock.us;
        self.end_seq = facts.nxt;
        self.round_rtt_us = u32::MAX;
        self.samples = 0;
    }

    /// Forgets that slow start was ended.
    pub fn rearm(&mut self) {
        self.found = false;
    }

    #[inline]
    pub fn is_over(&self) -> bool {
        self.found
    }

    /// A round trip of `delay_us`; the least one seen is `delay_min_us`.
    pub fn on_sample(
        &mut self,
        window: &mut Window,
        delay_us: u32,
        delay_min_us: u32,
        facts: Facts,
    ) {
        if facts.una > self.end_seq {
            self.begin_round(facts);
        }
        if window.cwnd < LOW_WINDOW_PKTS {
            return;
        }
        self.look_at_train(window, delay_min_us, facts);
        self.look_at_delay(window, delay_us, delay_min_us);
    }

    fn look_at_train(&mut self, window: &mut Window, delay_min_us: u32, facts: Facts) {
        let now = facts.clock.us;
        if now - self.last_ack_us > TRAIN_GAP_US {
            return;
        }
        self.last_ack_us = now;
        // Without pacing a train is as long as half the round trip when the
        // path is full.
        let threshold = (u64::from(delay_min_us) + ack_delay_us(facts.pacing_rate)) >> 1;
        if now - self.round_start_us > threshold {
            self.end(window);
        }
    }

    fn look_at_delay(&mut self, window: &mut Window, delay_us: u32, delay_min_us: u32) {
        self.round_rtt_us = self.round_rtt_us.min(delay_us);
        if self.samples < MIN_SAMPLES {
            self.samples += 1;
            return;
        }
        let rise = (delay_min_us >> 3).clamp(DELAY_MIN_US, DELAY_MAX_US);
        if self.round_rtt_us > delay_min_us.saturating_add(rise) {
            self.end(window);
        }
    }

    fn end(&mut self, window: &mut Window) {
        self.found = true;
        window.ssthresh = window.cwnd;
    }
}

/// Allowance for acknowledgements that a burst delays.
fn ack_delay_us(pacing_rate: u64) -> u64 {
    if pacing_rate == 0 {
        return 0;
    }
    (GSO_MAX_BYTES * 4 * US_PER_S / pacing_rate).min(1_000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::time::Time;
    use crate::tcp::clock::Clock;
    use crate::tcp::config::TcpConfig;

    fn facts(us: u64, una: u64, nxt: u64) -> Facts {
        Facts {
            clock: Clock::at(Time(us * 1000)),
            una,
            nxt,
            delivered: 0,
            delivered_ce: 0,
            pacing_rate: 0,
        }
    }

    #[test]
    fn train_of_half_a_round_trip_ends_slow_start() {
        let mut hystart = Hystart::default();
        let mut window = Window::new(&TcpConfig::default());
        window.cwnd = 20;
        hystart.begin_round(facts(0, 1, 30_000));
        for us in (500..25_000).step_by(500) {
            hystart.on_sample(&mut window, 50_000, 50_000, facts(us, 10, 30_000));
            assert!(!hystart.is_over());
        }
        hystart.on_sample(&mut window, 50_000, 50_000, facts(25_001, 10, 30_000));
        assert!(hystart.is_over());
        assert_eq!(window.ssthresh, 20);
    }

    #[test]
    fn delay_needs_eight_samples_of_a_round() {
        let mut hystart = Hystart::default();
        let mut window = Window::new(&TcpConfig::default());
        window.cwnd = 20;
        hystart.begin_round(facts(0, 1, 30_000));
        for sample in 0..8 {
            let at = facts(10_000 + sample * 5_000, 10, 30_000);
            hystart.on_sample(&mut window, 60_000, 50_000, at);
            assert!(!hystart.is_over());
        }
        hystart.on_sample(&mut window, 60_000, 50_000, facts(60_000, 10, 30_000));
        assert!(hystart.is_over());
    }
}
