// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! DCTCP (RFC 8257) as in tcp_dctcp.c: the window is reduced by half the
//! fraction of packets that were marked, averaged over windows. The receiver's
//! half (an echo for each change of the mark) is in `ecn`.

use super::Facts;
use crate::tcp::cc::window::{CaState, Window};

/// All packets marked, of 1024; also the first estimate.
const ALPHA_MAX: u32 = 1024;
/// Weight of a new window is 2^-4.
const GAIN_SHIFT: u32 = 4;

/// State of the law.
#[derive(Clone, Debug)]
pub(in crate::tcp) struct Dctcp {
    /// Marked fraction, of 1024.
    alpha: u32,
    /// End of the window being observed, and the counts at its beginning.
    next_seq: u64,
    delivered: u32,
    delivered_ce: u32,
    /// Window before the last reduction.
    loss_cwnd: u32,
}

impl Dctcp {
    pub fn new() -> Self {
        Self {
            alpha: ALPHA_MAX,
            next_seq: 0,
            delivered: 0,
            delivered_ce: 0,
            loss_cwnd: 0,
        }
    }

    pub fn start(&mut self, facts: Facts) {
        *self = Self::new();
        self.observe(facts);
    }

    fn observe(&mut self, facts: Facts) {
        self.next_seq = facts.nxt;
        self.delivered = facts.delivered;
        self.delivered_ce = facts.delivered_ce;
    }

    /// What this acknowledgement says to be delivered is counted already, as in Linux 6.12.117,
    /// where `in_ack_event` comes behind `tcp_clean_rtx_queue`.
    pub fn on_ack(&mut self, facts: Facts) {
        if facts.una < self.next_seq {
            return;
        }
        let delivered = facts.delivered.wrapping_sub(self.delivered);
        let marked = facts.delivered_ce.wrapping_sub(self.delivered_ce);
        // The decay never stops above zero by rounding.
        let decay = self.alpha >> GAIN_SHIFT;
        self.alpha -= if decay == 0 { self.alpha } else { decay };
        if marked > 0 {
            let gain = (u64::from(marked) << (10 - GAIN_SHIFT)) / u64::from(delivered.max(1));
            self.alpha = (u64::from(self.alpha) + gain).min(u64::from(ALPHA_MAX)) as u32;
        }
        self.observe(facts);
    }

    pub fn ssthresh(&mut self, window: &Window) -> u32 {
        self.loss_cwnd = window.cwnd;
        let cut = (u64::from(window.cwnd) * u64::from(self.alpha)) >> 11;
        (window.cwnd - cut as u32).max(2)
    }

    /// A loss counts as in NewReno.
    pub fn react_to_loss(&mut self, window: &mut Window) {
        self.loss_cwnd = window.cwnd;
        window.ssthresh = (window.cwnd >> 1).max(2);
    }

    pub fn on_state(&mut self, window: &mut Window, to: CaState) {
        if to == CaState::Recovery && window.state != CaState::Recovery {
            self.react_to_loss(window);
        }
    }

    pub fn undo(&self, window: &Window) -> u32 {
        window.cwnd.max(self.loss_cwnd)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::time::Time;
    use crate::tcp::clock::Clock;
    use crate::tcp::config::TcpConfig;

    fn facts(una: u64, delivered: u32, delivered_ce: u32) -> Facts {
        Facts {
            clock: Clock::at(Time(0)),
            una,
            nxt: una + 100,
            delivered,
            delivered_ce,
            pacing_rate: 0,
        }
    }

    #[test]
    fn estimate_decays_without_marks_and_rises_with_them() {
        let mut dctcp = Dctcp::new();
        dctcp.start(facts(1, 0, 0));
        for round in 1..400u32 {
            dctcp.on_ack(facts(1 + 100 * u64::from(round), 10 * round, 0));
        }
        assert_eq!(dctcp.alpha, 0);
        dctcp.on_ack(facts(1 + 100 * 400, 4_000, 10));
        assert_eq!(dctcp.alpha, 64);
    }

    #[test]
    fn fully_marked_window_is_halved() {
        let mut dctcp = Dctcp::new();
        let mut window = Window::new(&TcpConfig::default());
        window.cwnd = 100;
        assert_eq!(dctcp.ssthresh(&window), 50);
    }
}
