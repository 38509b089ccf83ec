// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Taking reductions back that prove needless: because every retransmission
//! was a duplicate (D-SACK), or because an acknowledgement echoes a timestamp
//! from before the first retransmission (Eifel, RFC 3522, RFC 4015).

use super::scoreboard::{LOST, NONE};
use super::sender::Sender;
use crate::tcp::cc::window::CaState;
use crate::tcp::connection::Connection;

impl Connection {
    /// Notes what an undo would need, at the beginning of an episode.
    pub(in crate::tcp) fn begin_undo(&mut self) {
        let snd = &mut self.snd;
        let mut retrans = snd.retrans_out;
        if snd.probe.is_some_and(|probe| probe.retransmitted) {
            retrans += 1;
        }
        snd.undo.marker = Some(snd.una);
        snd.undo.retrans = (retrans > 0).then_some(retrans);
    }

    /// Whether the acknowledgement shows that what was retransmitted had only
    /// been late (tcp_packet_delayed).
    fn was_only_late(&self, echo: u32) -> bool {
        let snd = &self.snd;
        if snd.undo.stamp != 0 {
            return Sender::echo_is_before(echo, snd.undo.stamp);
        }
        // Nothing was retransmitted, and yet it arrived. Without SACK the end
        // of the episode cannot be told from a duplicate's echo.
        self.is_open() && (snd.sack_ok || snd.una < snd.high_seq)
    }

    fn may_undo(&self, echo: u32) -> bool {
        self.config.undo
            && self.snd.undo.marker.is_some()
            && (self.snd.undo.retrans == Some(0) || self.was_only_late(echo))
    }

    /// Window and threshold as before the reduction. With `unmark`, nothing is
    /// taken for lost any more.
    fn undo_reduction(&mut self, unmark: bool) {
        if unmark {
            let snd = &mut self.snd;
            let mut number = snd.board.head();
            while number != snd.board.tail() {
                snd.board.get_mut(number).marks &= !LOST;
                number = number.wrapping_add(1);
            }
            snd.lost_out = 0;
            snd.retransmit_hint = NONE;
            snd.lost_hint = NONE;
        }
        let snd = &mut self.snd;
        if snd.window.prior_ssthresh != 0 {
            snd.window.cwnd = self.cc.undo(&snd.window);
            if snd.window.prior_ssthresh > snd.window.ssthresh {
                snd.window.ssthresh = snd.window.prior_ssthresh;
                self.ecn.queue_cwr = false;
            }
        }
        snd.window.stamp = self.clock.jiffies;
        snd.undo.marker = None;
        snd.rack.advanced = true;
        self.counts.undos += 1;
    }

    /// All that was out at the beginning of the episode is acknowledged.
    /// True: without SACK the episode goes on until more is acknowledged, for
    /// a duplicate could start a false one (RFC 6582 §3.2).
    pub(in crate::tcp) fn undo_at_end(&mut self, echo: u32) -> bool {
        if self.may_undo(echo) {
            self.undo_reduction(false);
        } else {
            self.snd.rack.persist = self.snd.rack.persist.saturating_sub(1);
        }
        if self.must_stay() {
            return true;
        }
        self.set_state(CaState::Open);
        false
    }

    fn must_stay(&mut self) -> bool {
        let stays = !self.snd.sack_ok && self.snd.una == self.snd.high_seq;
        if stays && !self.snd.any_retrans_done() {
            self.snd.undo.stamp = 0;
        }
        stays
    }

    /// Every retransmission of the episode was a duplicate.
    pub(in crate::tcp) fn undo_by_dsack(&mut self) -> bool {
        let due =
            self.config.undo && self.snd.undo.marker.is_some() && self.snd.undo.retrans == Some(0);
        if due {
            self.rack_keep_window();
            self.undo_reduction(false);
        }
        due
    }

    /// A timeout may have been spurious. `proved`: F-RTO says so.
    pub(in crate::tcp) fn undo_timeout(&mut self, echo: u32, proved: bool) -> bool {
        if !proved && !self.may_undo(echo) {
            return false;
        }
        self.undo_reduction(true);
        self.snd.timeouts_in_row = 0;
        if self.must_stay() {
            return true;
        }
        if proved || self.snd.sack_ok {
            self.set_state(CaState::Open);
        }
        true
    }

    /// In recovery, an acknowledgement of part of the episode shows that the
    /// retransmission was needless. Returns `None` when it does not, else
    /// whether to wait for the other retransmissions.
    pub(in crate::tcp) fn undo_partial(&mut self, prior_una: u64, echo: u32) -> Option<bool> {
        let due = self.config.undo && self.snd.undo.marker.is_some() && self.was_only_late(echo);
        if !due {
            return None;
        }
        self.note_reordering(prior_una);
        if self.snd.retrans_out > 0 {
            return Some(true);
        }
        if !self.snd.any_retrans_done() {
            self.snd.undo.stamp = 0;
        }
        self.undo_reduction(true);
        self.try_keep_open();
        Some(false)
    }
}
