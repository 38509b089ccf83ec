// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Tail loss probe (RFC 8985 §7): when nothing has been heard for two round
//! trips, one segment is sent to draw an acknowledgement from the receiver.

use super::ack::Is;
use super::output::Push;
use super::sender::Probe;
use crate::tcp::cc::window::CaState;
use crate::tcp::clock::us_to_jiffies;
use crate::tcp::connection::Connection;
use crate::tcp::timers::{JIFFY_US, MIN_TIMEOUT_US};

impl Connection {
    /// Arms the timer of a probe (tcp_schedule_loss_probe), no later than the
    /// retransmission timeout. That counts from now if `timer_restarts`, else
    /// from the oldest packet. False: no probe is due in this state.
    #[inline(always)]
    pub(in crate::tcp) fn schedule_probe(&mut self, timer_restarts: bool) -> bool {
        let snd = &self.snd;
        if !snd.tlp
            || !snd.sack_ok
            || snd.board.is_empty()
            || !matches!(snd.window.state, CaState::Open | CaState::Cwr)
        {
            return false;
        }
        let srtt8 = snd.rtt.srtt8_us();
        let mut timeout = if srtt8 > 0 {
            // Two round trips; a lone packet may also meet a delayed
            // acknowledgement.
            let extra = if snd.packets_out() == 1 {
                u64::from(snd.rtt.floor_us())
            } else {
                MIN_TIMEOUT_US
            };
            us_to_jiffies(u64::from(srtt8 >> 2) + extra)
        } else {
            // A jiffy is a millisecond.
            u64::from(self.config.initial_rto_ms)
        };
        let left_us = if timer_restarts {
            (snd.rto * JIFFY_US) as i64
        } else {
            self.rto_left_us()
        };
        if left_us > 0 {
            timeout = timeout.min(us_to_jiffies(left_us as u64));
        }
        self.arm_probe(timeout);
        true
    }

    /// Time to the retransmission timeout of the oldest packet.
    #[inline]
    pub(in crate::tcp) fn rto_left_us(&self) -> i64 {
        let rto_us = (self.snd.rto * JIFFY_US) as i64;
        match self.snd.board.first() {
            Some(head) => head.sent_us as i64 + rto_us - self.clock.us as i64,
            None => rto_us,
        }
    }

    /// Sends a probe: new data if there is any, else the last segment again
    /// (tcp_send_loss_probe).
    pub(in crate::tcp) fn on_probe_timeout(&mut self) {
        if self.snd.probe.is_none() {
            self.send_probe();
        }
        self.rearm_rto();
    }

    fn send_probe(&mut self) {
        let snd = &self.snd;
        let next_len = snd.unsent().min(u64::from(snd.mss));
        let retransmitted = if next_len > 0 && snd.nxt + next_len <= snd.wnd_end() {
            if !self.send_new(Push::Probe) {
                return;
            }
            false
        } else {
            if snd.board.is_empty() {
                return;
            }
            let last = snd.board.tail().wrapping_sub(1);
            if !self.resend(last) {
                return;
            }
            true
        };
        self.counts.probes += 1;
        self.snd.probe = Some(Probe {
            high_seq: self.snd.nxt,
            retransmitted,
        });
        self.timers.clear_transmit();
    }

    /// What an acknowledgement tells of the probe (tcp_process_tlp_ack). A
    /// repeated segment that the receiver needed repairs one loss in silence:
    /// the window is reduced for it.
    pub(in crate::tcp) fn judge_probe(&mut self, acked: u64, is: Is) {
        let Some(probe) = self.snd.probe else {
            return;
        };
        if acked < probe.high_seq {
            return;
        }
        if !probe.retransmitted || is.any(Is::DSACK_PROBE) {
            self.snd.probe = None;
        } else if acked > probe.high_seq {
            self.begin_reduction();
            self.set_state(CaState::Cwr);
            self.end_reduction();
            self.try_keep_open();
        } else if !is.any(Is::ADVANCED | Is::NOT_DUP | Is::DATA_SACKED) {
            self.snd.probe = None;
        }
    }
}
