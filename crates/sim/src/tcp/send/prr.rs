// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Reductions of the window, spread over a round trip (RFC 6937,
//! tcp_cwnd_reduction).

use crate::tcp::cc::window::{CaState, UNLIMITED};
use crate::tcp::connection::Connection;

impl Connection {
    /// Begins a reduction: the threshold is set, the window will follow.
    pub(in crate::tcp) fn begin_reduction(&mut self) {
        let facts = self.facts();
        let snd = &mut self.snd;
        snd.high_seq = snd.nxt;
        snd.probe = None;
        snd.window.credit = 0;
        snd.window.prior_cwnd = snd.window.cwnd;
        snd.prr_delivered = 0;
        snd.prr_out = 0;
        snd.window.ssthresh = self.cc.ssthresh(&snd.window, facts);
        if !self.config.prr {
            snd.window.cwnd = snd.window.ssthresh;
        }
        self.queue_cwr();
    }

    /// Leads the window to its threshold: in proportion to what is delivered
    /// while more is in flight, by slow start when losses have taken more.
    pub(in crate::tcp) fn reduce_window(
        &mut self,
        delivered: u32,
        newly_lost: u32,
        advanced: bool,
    ) {
        let snd = &mut self.snd;
        if delivered == 0 || snd.window.prior_cwnd == 0 || !self.config.prr {
            return;
        }
        let in_flight = snd.in_flight();
        let ssthresh = snd.window.ssthresh;
        snd.prr_delivered = snd.prr_delivered.saturating_add(delivered);
        let sent = i64::from(snd.prr_out);
        let budget = if in_flight > ssthresh {
            let prior = u64::from(snd.window.prior_cwnd);
            let share = u64::from(ssthresh) * u64::from(snd.prr_delivered);
            share.div_ceil(prior) as i64 - sent
        } else {
            let mut budget = (i64::from(snd.prr_delivered) - sent).max(i64::from(delivered));
            if advanced && newly_lost == 0 {
                budget += 1;
            }
            budget.min(i64::from(ssthresh - in_flight))
        };
        // The first packet of a recovery is always sent.
        let budget = budget.max(i64::from(snd.prr_out == 0));
        snd.window.cwnd = (i64::from(in_flight) + budget) as u32;
    }

    /// The reduction is complete.
    pub(in crate::tcp) fn end_reduction(&mut self) {
        let window = &mut self.snd.window;
        let due = window.state == CaState::Cwr || self.snd.undo.marker.is_some();
        if window.ssthresh < UNLIMITED && due {
            window.cwnd = window.ssthresh;
            window.stamp = self.clock.jiffies;
        }
    }

    /// Reduces the window after an ECN echo, once a round trip.
    pub(in crate::tcp) fn enter_cwr(&mut self) {
        self.snd.window.prior_ssthresh = 0;
        if self.snd.window.state < CaState::Cwr {
            self.snd.undo.marker = None;
            self.begin_reduction();
            self.set_state(CaState::Cwr);
        }
    }
}
