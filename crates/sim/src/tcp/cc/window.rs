// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! The congestion window: its size, its threshold, and whether the sender has
//! been using it. The laws that move it are in `cc`.

use crate::tcp::config::TcpConfig;

/// Slow-start threshold that stands for "none yet".
pub(in crate::tcp) const UNLIMITED: u32 = 0x7fff_ffff;

/// What the sender is doing about losses, in Linux's order: comparisons such
/// as `state < Recovery` mean something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::tcp) enum CaState {
    /// All is well.
    #[default]
    Open,
    /// Selective acknowledgements or retransmissions are outstanding, but no
    /// loss is proved.
    Disorder,
    /// The window is being reduced after an ECN echo.
    Cwr,
    /// Losses are being repaired.
    Recovery,
    /// A timeout happened.
    Loss,
}

/// The congestion window, in packets.
#[derive(Clone, Debug)]
pub(in crate::tcp) struct Window {
    pub cwnd: u32,
    pub ssthresh: u32,
    /// Packets acknowledged towards the next increase.
    pub credit: u32,
    /// Upper bound.
    pub clamp: u32,
    /// Window before the reduction in progress.
    pub prior_cwnd: u32,
    /// Threshold before it; 0: nothing to take back.
    pub prior_ssthresh: u32,
    pub state: CaState,
    /// Whether the window, not the application, was the limit in the last
    /// round trip, and the most packets that were out in it.
    pub was_limited: bool,
    pub max_packets_out: u32,
    /// End of that round trip.
    pub usage_seq: u64,
    /// Most packets out since the window was last full, and the jiffy of the
    /// last change.
    pub used: u32,
    pub stamp: u64,
    /// Growth needs a used window (switch `cwnd_validation`).
    validate: bool,
    /// Growth counts packets, not acknowledgements (switch `byte_counting`).
    count_packets: bool,
    /// Slow start ends one packet above the threshold (switch `slow_start_at_threshold`).
    at_threshold: bool,
}

impl Window {
    pub fn new(config: &TcpConfig) -> Self {
        Self {
            cwnd: config.initial_window_pkts,
            ssthresh: config.initial_ssthresh_pkts.unwrap_or(UNLIMITED),
            credit: 0,
            clamp: config.max_window_pkts.unwrap_or(u32::MAX),
            prior_cwnd: 0,
            prior_ssthresh: 0,
            state: CaState::Open,
            was_limited: false,
            max_packets_out: 0,
            usage_seq: 0,
            used: 0,
            stamp: 0,
            validate: config.cwnd_validation,
            count_packets: config.byte_counting,
            at_threshold: config.slow_start_at_threshold,
        }
    }

    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh || (self.at_threshold && self.cwnd == self.ssthresh)
    }

    /// Whether the window is being led down to its threshold.
    #[inline]
    pub fn in_reduction(&self) -> bool {
        matches!(self.state, CaState::Cwr | CaState::Recovery)
    }

    /// Threshold to go back to: three quarters of the window, or more.
    #[inline]
    pub fn current_ssthresh(&self) -> u32 {
        if self.in_reduction() {
            self.ssthresh
        } else {
            self.ssthresh.max((self.cwnd >> 1) + (self.cwnd >> 2))
        }
    }

    /// Whether the window may grow. In slow start it may reach twice what was
    /// really out, so that a short pause does not stop it.
    #[inline]
    pub fn is_limited(&self) -> bool {
        if self.was_limited || !self.validate {
            return true;
        }
        self.in_slow_start() && self.cwnd < 2 * self.max_packets_out
    }

    /// Packets that an acknowledgement of `acked` packets counts for.
    #[inline]
    pub fn counted(&self, acked: u32) -> u32 {
        if self.count_packets {
            acked
        } else {
            acked.min(1)
        }
    }

    /// Slow start; returns what is left of `acked` at the threshold.
    #[inline]
    pub fn slow_start(&mut self, acked: u32) -> u32 {
        let end = self.ssthresh.saturating_add(self.at_threshold.into());
        let cwnd = self.cwnd.saturating_add(acked).min(end);
        let left = acked - (cwnd - self.cwnd);
        self.cwnd = cwnd.min(self.clamp);
        left
    }

    /// One packet more for every `per` packets acknowledged. A credit left
    /// from a time when `per` was larger gives one packet, not several.
    #[inline]
    pub fn increase(&mut self, per: u32, acked: u32) {
        if self.credit >= per {
            self.credit = 0;
            self.cwnd += 1;
        }
        self.credit += acked;
        if self.credit >= per {
            let steps = self.credit / per;
            self.credit -= steps * per;
            self.cwnd += steps;
        }
        self.cwnd = self.cwnd.min(self.clamp);
    }

    /// Bookkeeping after a burst was sent or refused (tcp_cwnd_validate).
    /// Returns true when the application has used less than the window for a
    /// whole timeout and the window should shrink to what was used.
    #[inline]
    pub fn note_usage(&mut self, limited: bool, usage: Usage) -> bool {
        if usage.una >= self.usage_seq
            || limited
            || (!self.was_limited && usage.packets_out > self.max_packets_out)
        {
            self.was_limited = limited;
            self.max_packets_out = usage.packets_out;
            self.usage_seq = usage.nxt;
        }
        if self.is_limited() {
            self.used = 0;
            self.stamp = usage.jiffy;
            return false;
        }
        self.used = self.used.max(usage.packets_out);
        usage.jiffy.saturating_sub(self.stamp) >= usage.rto_jiffies
    }

    /// RFC 2861: halfway from the window to what the application used.
    pub fn shrink_to_use(&mut self, initial_window: u32, jiffy: u64) {
        if self.state == CaState::Open {
            let used = self.used.max(initial_window);
            if used < self.cwnd {
                self.ssthresh = self.current_ssthresh();
                self.cwnd = (self.cwnd + used) >> 1;
            }
            self.used = 0;
        }
        self.stamp = jiffy;
    }

    /// Restart after an idle time: the window halves for each timeout that
    /// passed, not below the initial window (tcp_cwnd_restart).
    pub fn restart(&mut self, idle_jiffies: u64, rto_jiffies: u64, initial: u32, jiffy: u64) {
        let floor = initial.min(self.cwnd);
        self.ssthresh = self.current_ssthresh();
        let mut left = idle_jiffies;
        while left > rto_jiffies && self.cwnd > floor {
            left -= rto_jiffies;
            self.cwnd >>= 1;
        }
        self.cwnd = self.cwnd.max(floor);
        self.stamp = jiffy;
        self.used = 0;
    }
}

/// What `Window::note_usage` needs to know of the sender.
#[derive(Clone, Copy)]
pub(in crate::tcp) struct Usage {
    pub una: u64,
    pub nxt: u64,
    pub packets_out: u32,
    pub jiffy: u64,
    pub rto_jiffies: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_start_stops_at_the_threshold_and_hands_the_rest_back() {
        let mut window = Window::new(&TcpConfig::default());
        window.ssthresh = 12;
        assert_eq!(window.slow_start(5), 3);
        assert_eq!(window.cwnd, 12);
    }

    #[test]
    fn an_older_slow_start_goes_one_packet_beyond_the_threshold() {
        let mut window = Window::new(&TcpConfig {
            slow_start_at_threshold: true,
            ..TcpConfig::default()
        });
        window.ssthresh = window.cwnd;
        assert!(window.in_slow_start());
        assert_eq!(window.slow_start(3), 2);
        assert_eq!(window.cwnd, window.ssthresh + 1);
        assert!(!window.in_slow_start());
    }

    #[test]
    fn increase_takes_a_round_trip_for_one_packet() {
        let mut window = Window::new(&TcpConfig::default());
        for _ in 0..5 {
            window.increase(10, 2);
        }
        assert_eq!((window.cwnd, window.credit), (11, 0));
    }

    #[test]
    fn restart_halves_once_per_timeout() {
        let mut window = Window::new(&TcpConfig::default());
        window.cwnd = 100;
        window.restart(650, 200, 10, 7);
        assert_eq!((window.cwnd, window.ssthresh), (12, UNLIMITED));
    }

    #[test]
    fn window_that_is_not_used_does_not_grow() {
        let mut window = Window::new(&TcpConfig::default());
        window.ssthresh = 10;
        let usage = Usage {
            una: 1,
            nxt: 2000,
            packets_out: 3,
            jiffy: 1,
            rto_jiffies: 200,
        };
        window.note_usage(false, usage);
        assert!(!window.is_limited());
        window.note_usage(true, usage);
        assert!(window.is_limited());
    }
}
