// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! The timers of a connection. As in Linux one timer serves all reasons to
//! transmit (timeout, probe, late packets, closed window): arming one reason
//! replaces another. The acknowledgement has its own.

use super::cc::window::CaState;
use super::clock::{Wheel, us_to_jiffies};
use super::connection::{Connection, State};
use crate::base::time::Time;

/// Least wait of a loss probe and of the timer for late packets: two jiffies.
pub(super) const MIN_TIMEOUT_US: u64 = 2_000;
pub(super) const JIFFY_US: u64 = 1_000;

/// Why the transmit timer runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Reason {
    #[default]
    Nothing,
    /// Retransmission timeout, of a SYN too.
    Rto,
    /// Tail loss probe.
    Probe,
    /// Packets that are late and perhaps lost.
    Reorder,
    /// The peer's window is closed.
    WindowProbe,
    /// A SYN-ACK is unanswered.
    SynAck,
}

/// Deadlines.
#[derive(Clone, Debug)]
pub(super) struct Timers {
    pub wheel: Wheel,
    reason: Reason,
    transmit_at: Time,
    /// The acknowledgement in hand will set the transmit timer.
    pub due: bool,
    /// Delayed acknowledgement: when it fires.
    pub ack_at: Time,
    /// Compressed acknowledgement: when it fires, to the nanosecond.
    pub compressed_at: Time,
}

impl Timers {
    pub fn new(wheel: Wheel) -> Self {
        Self {
            wheel,
            reason: Reason::Nothing,
            transmit_at: Time::MAX,
            due: false,
            ack_at: Time::MAX,
            compressed_at: Time::MAX,
        }
    }

    #[inline]
    pub fn rto_is_armed(&self) -> bool {
        self.reason == Reason::Rto
    }

    #[inline]
    pub fn probe_is_armed(&self) -> bool {
        self.reason == Reason::Probe
    }

    #[inline]
    pub fn reorder_is_armed(&self) -> bool {
        self.reason == Reason::Reorder
    }

    #[inline]
    pub fn clear_transmit(&mut self) {
        self.reason = Reason::Nothing;
        self.transmit_at = Time::MAX;
    }

    #[inline]
    pub fn next(&self) -> Time {
        self.transmit_at.min(self.ack_at).min(self.compressed_at)
    }

    /// Forgets every deadline.
    pub fn clear(&mut self) {
        self.clear_transmit();
        self.ack_at = Time::MAX;
        self.compressed_at = Time::MAX;
    }
}

impl Connection {
    #[inline]
    fn arm(&mut self, reason: Reason, jiffies: u64) {
        let now = self.clock.jiffies;
        self.timers.reason = reason;
        self.timers.transmit_at = self.timers.wheel.fires_at(now, now + jiffies);
    }

    #[inline]
    pub(super) fn arm_rto(&mut self, jiffies: u64) {
        self.arm(Reason::Rto, jiffies.min(self.snd.rtt.max_rto()));
    }

    #[inline]
    pub(super) fn arm_probe(&mut self, jiffies: u64) {
        self.arm(Reason::Probe, jiffies.min(self.snd.rtt.max_rto()));
    }

    pub(super) fn arm_reorder(&mut self, jiffies: u64) {
        self.arm(Reason::Reorder, jiffies.min(self.snd.rto));
    }

    pub(super) fn arm_syn_ack(&mut self, jiffies: u64) {
        self.arm(Reason::SynAck, jiffies);
    }

    /// Arms the retransmission timeout anew, or disarms it when nothing is out
    /// (tcp_rearm_rto). After a probe or a wait for late packets it counts from
    /// the oldest packet.
    #[inline]
    pub(super) fn rearm_rto(&mut self) {
        if self.snd.board.is_empty() {
            self.timers.clear_transmit();
            return;
        }
        if self.keeps_timer() {
            return;
        }
        let mut rto = self.snd.rto;
        if self.timers.reorder_is_armed() || self.timers.probe_is_armed() {
            rto = us_to_jiffies(self.rto_left_us().max(1) as u64);
        }
        self.arm_rto(rto);
    }

    /// Whether the timeout runs on although some of what is out has arrived.
    pub(super) fn keeps_timer(&self) -> bool {
        self.config.impatient
            && !self.snd.sack_ok
            && self.snd.window.state == CaState::Recovery
            && self.snd.partial_acks > 1
            && self.timers.reason == Reason::Rto
    }

    /// Nothing is out and nothing may be sent: ask for the window now and then.
    pub(super) fn arm_window_probe(&mut self) {
        if self.timers.reason == Reason::Nothing {
            self.arm(Reason::WindowProbe, self.window_probe_jiffies());
        }
    }

    /// Wait before the next window probe: the timeout, not below its floor,
    /// doubled for each probe without an answer.
    fn window_probe_jiffies(&self) -> u64 {
        let base = self.snd.rto.max(u64::from(self.config.min_rto_ms));
        let max = u64::from(self.config.max_rto_ms);
        (base << self.snd.backoff.min(16)).min(max)
    }

    /// An acknowledgement came while nothing was out: the window may be open
    /// (tcp_ack_probe).
    pub(super) fn on_window_probe_answer(&mut self) {
        let snd = &mut self.snd;
        if !snd.has_unsent() {
            return;
        }
        let next = snd.unsent().min(u64::from(snd.mss));
        if snd.nxt + next <= snd.wnd_end() {
            snd.backoff = 0;
            self.timers.clear_transmit();
        } else {
            self.arm(Reason::WindowProbe, self.window_probe_jiffies());
        }
    }

    /// Fires what is due.
    pub(super) fn fire_timers(&mut self, now: Time) {
        if self.timers.compressed_at <= now {
            self.timers.compressed_at = Time::MAX;
            self.send_compressed_ack();
        }
        if self.timers.ack_at <= now {
            self.timers.ack_at = Time::MAX;
            self.on_ack_timeout();
        }
        if self.timers.transmit_at <= now {
            let reason = self.timers.reason;
            match reason {
                Reason::Nothing => {}
                Reason::Probe => self.on_probe_timeout(),
                Reason::Reorder => self.on_reorder_timeout(),
                Reason::Rto => {
                    self.timers.clear_transmit();
                    self.on_retransmission_timeout();
                }
                Reason::WindowProbe => {
                    self.timers.clear_transmit();
                    self.on_window_probe_timeout();
                }
                Reason::SynAck => {
                    self.timers.clear_transmit();
                    self.on_syn_ack_timeout();
                }
            }
            // A timer that was left as it was would fire for ever.
            if self.timers.transmit_at <= now && self.timers.reason == reason {
                self.timers.clear_transmit();
            }
        }
    }

    /// RFC 6298 §5.4–5.6 (tcp_retransmit_timer): all is lost, the first segment
    /// goes again, the timeout doubles.
    fn on_retransmission_timeout(&mut self) {
        if self.snd.board.is_empty() {
            return;
        }
        self.counts.timeouts += 1;
        self.enter_loss();
        self.snd.timeouts_in_row += 1;
        self.snd.total_timeouts += 1;
        let head = self.snd.board.head();
        self.retransmit(head);
        let linear = self.state == State::SynSent
            && self.snd.total_timeouts <= self.config.syn_linear_timeouts;
        if !linear {
            self.snd.backoff += 1;
            self.snd.rto = (self.snd.rto << 1).min(u64::from(self.config.max_rto_ms));
        }
        self.arm_rto(self.snd.rto);
        debug_assert!(self.snd.window.state == CaState::Loss);
    }

    fn on_window_probe_timeout(&mut self) {
        if self.snd.packets_out() > 0 || !self.snd.has_unsent() {
            return;
        }
        // A segment from before the window draws an acknowledgement.
        self.send_window_probe();
        self.snd.backoff += 1;
        self.arm(Reason::WindowProbe, self.window_probe_jiffies());
    }
}
