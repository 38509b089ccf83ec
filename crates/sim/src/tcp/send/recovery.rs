// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! The states of loss repair and the ways between them
//! (tcp_fastretrans_alert and its helpers).

use super::ack::{AckState, Is, Resend};
use super::scoreboard::{LOST, NONE, SACKED};
use crate::tcp::cc::window::CaState;
use crate::tcp::connection::Connection;

impl Connection {
    /// Enters a state; congestion control hears of it.
    pub(in crate::tcp) fn set_state(&mut self, to: CaState) {
        let facts = self.facts();
        self.cc.on_state(&mut self.snd.window, to, facts);
        self.snd.window.state = to;
    }

    /// A dubious acknowledgement: decides what is lost and what to do about it.
    pub(in crate::tcp) fn alert(&mut self, ack: &mut AckState, duplicates: u32) {
        let ece = ack.is.any(Is::ECE);
        let mut mark =
            duplicates > 0 || (ack.is.any(Is::DATA_SACKED) && self.has_overtaken_by_reordering());
        if self.snd.packets_out() == 0 {
            self.snd.sacked_out = 0;
        }
        if ece {
            self.snd.window.prior_ssthresh = 0;
        }
        if ack.is.any(Is::RENEGING) && ack.is.any(Is::ADVANCED) {
            self.on_reneging(ack);
            return;
        }
        if self.leaves_episode(ack) {
            return;
        }
        let state = self.snd.window.state;
        let mut entering = false;
        match state {
            CaState::Recovery => {
                if !self.in_recovery(ack, duplicates, &mut mark) {
                    return;
                }
            }
            CaState::Loss => {
                self.in_loss(ack, duplicates);
                self.find_losses(ack);
                let reopened = self.snd.window.state == CaState::Open;
                if !reopened && !ack.is.any(Is::LOST_RETRANS) {
                    return;
                }
                if !self.in_order(ack, duplicates) {
                    return;
                }
                entering = true;
            }
            CaState::Open | CaState::Disorder | CaState::Cwr => {
                if !self.in_order(ack, duplicates) {
                    return;
                }
                entering = true;
            }
        }
        if !self.uses_rack() && mark {
            self.mark_by_count(entering);
        }
        ack.resend = Resend::Lost;
    }

    /// The end of an episode, when all that was out at its beginning is
    /// acknowledged. True: nothing more is to be done.
    fn leaves_episode(&mut self, ack: &AckState) -> bool {
        if self.snd.window.state == CaState::Open {
            self.snd.undo.stamp = 0;
            return false;
        }
        if self.snd.una < self.snd.high_seq {
            return false;
        }
        match self.snd.window.state {
            CaState::Cwr => {
                // Beyond, so that an echo for the end itself is not a new one.
                if self.snd.una != self.snd.high_seq {
                    self.end_reduction();
                    self.set_state(CaState::Open);
                }
            }
            CaState::Recovery => {
                if !self.snd.sack_ok {
                    self.snd.sacked_out = 0;
                }
                if self.undo_at_end(ack.echo) {
                    return true;
                }
                self.end_reduction();
            }
            CaState::Open | CaState::Disorder | CaState::Loss => {}
        }
        false
    }

    /// Repair goes on. False: nothing to send.
    fn in_recovery(&mut self, ack: &mut AckState, duplicates: u32, mark: &mut bool) -> bool {
        if !ack.is.any(Is::ADVANCED) {
            if !self.snd.sack_ok {
                self.add_guessed_sacks(duplicates, ack.is.any(Is::ECE));
            }
        } else {
            self.snd.partial_acks += 1;
            match self.undo_partial(ack.prior_una, ack.echo) {
                Some(true) => return false,
                Some(false) => {}
                None => *mark = self.has_overtaken_by_reordering(),
            }
        }
        if self.undo_by_dsack() {
            self.try_open(ack.is);
        }
        self.find_losses(ack);
        if self.snd.window.state != CaState::Recovery {
            if !self.should_recover() {
                return false;
            }
            self.enter_recovery(ack.is.any(Is::ECE));
        }
        true
    }

    /// No repair so far. True: one begins.
    fn in_order(&mut self, ack: &mut AckState, duplicates: u32) -> bool {
        if !self.snd.sack_ok {
            if ack.is.any(Is::ADVANCED) {
                self.snd.sacked_out = 0;
            }
            self.add_guessed_sacks(duplicates, ack.is.any(Is::ECE));
        }
        if self.snd.window.state <= CaState::Disorder {
            self.undo_by_dsack();
        }
        self.find_losses(ack);
        if !self.should_recover() {
            self.try_open(ack.is);
            return false;
        }
        self.enter_recovery(ack.is.any(Is::ECE));
        true
    }

    /// After a timeout (tcp_process_loss): F-RTO, the end of the episode, or
    /// more retransmissions.
    fn in_loss(&mut self, ack: &mut AckState, duplicates: u32) {
        let recovered = self.snd.una >= self.snd.high_seq;
        let advanced = ack.is.any(Is::ADVANCED);
        if advanced && self.undo_timeout(ack.echo, false) {
            return;
        }
        if self.snd.frto {
            // Step 3b: something that was never retransmitted arrived.
            if ack.is.any(Is::ORIGINAL_ACKED) && self.undo_timeout(ack.echo, true) {
                return;
            }
            if self.snd.nxt > self.snd.high_seq {
                // Step 3a: new data was sent and only duplicates came.
                if ack.is.any(Is::DATA_SACKED) || duplicates > 0 {
                    self.snd.frto = false;
                }
            } else if advanced && !recovered {
                // Step 2b: send new data and see.
                self.snd.high_seq = self.snd.nxt;
                if self.snd.has_unsent() && self.snd.wnd_end() > self.snd.nxt {
                    ack.resend = Resend::New;
                    return;
                }
                self.snd.frto = false;
            }
        }
        if recovered {
            self.undo_at_end(ack.echo);
            return;
        }
        if !self.snd.sack_ok {
            if self.snd.nxt > self.snd.high_seq && duplicates > 0 {
                self.add_guessed_sacks(duplicates, ack.is.any(Is::ECE));
            } else if advanced {
                self.snd.sacked_out = 0;
            }
        }
        ack.resend = Resend::Lost;
    }

    /// Marks what this acknowledgement shows to be lost.
    fn find_losses(&mut self, ack: &mut AckState) {
        if self.snd.board.is_empty() {
            return;
        }
        if !self.snd.sack_ok {
            self.mark_head_by_duplicates(ack.is.any(Is::ADVANCED));
        } else if self.uses_rack() {
            let retrans = self.snd.retrans_out;
            if self.rack_mark_lost() {
                ack.is.clear(Is::SET_TIMER);
            }
            if retrans > self.snd.retrans_out {
                ack.is.set(Is::LOST_RETRANS);
            }
        }
    }

    #[inline]
    fn uses_rack(&self) -> bool {
        self.config.rack
    }

    /// Losses are known, or (without RACK) as many packets have overtaken as
    /// the reordering allows.
    fn should_recover(&self) -> bool {
        self.snd.lost_out > 0
            || (!self.uses_rack() && self.snd.sacked_out + 1 > self.snd.reordering)
    }

    /// The highest packet acknowledged is further ahead than reordering.
    fn has_overtaken_by_reordering(&self) -> bool {
        let snd = &self.snd;
        snd.forward_ack() > snd.una + u64::from(snd.reordering) * u64::from(snd.mss)
    }

    /// Begins repair (tcp_enter_recovery).
    pub(in crate::tcp) fn enter_recovery(&mut self, ece: bool) {
        if !self.snd.any_retrans_done() {
            self.snd.undo.stamp = 0;
        }
        self.snd.window.prior_ssthresh = 0;
        self.begin_undo();
        if !self.snd.window.in_reduction() {
            if !ece {
                self.snd.window.prior_ssthresh = self.snd.window.current_ssthresh();
            }
            self.begin_reduction();
        }
        self.set_state(CaState::Recovery);
        self.snd.partial_acks = 0;
        self.counts.recoveries += 1;
    }

    /// Begins the episode of a timeout (tcp_enter_loss).
    pub(in crate::tcp) fn enter_loss(&mut self) {
        let from = self.snd.window.state;
        self.mark_all_lost();
        let snd = &self.snd;
        let fresh = from <= CaState::Disorder
            || snd.high_seq <= snd.una
            || (from == CaState::Loss && snd.timeouts_in_row == 0);
        if fresh {
            let facts = self.facts();
            let window = &mut self.snd.window;
            window.prior_ssthresh = window.current_ssthresh();
            window.prior_cwnd = window.cwnd;
            window.ssthresh = self.cc.ssthresh(window, facts);
            self.cc.on_timeout(window);
            self.begin_undo();
        }
        let snd = &mut self.snd;
        snd.window.cwnd = snd.in_flight() + 1;
        snd.window.credit = 0;
        snd.window.stamp = self.clock.jiffies;
        let initial = self.config.reordering_pkts;
        if from <= CaState::Disorder && snd.sacked_out >= initial {
            snd.reordering = snd.reordering.min(initial);
        }
        self.set_state(CaState::Loss);
        let snd = &mut self.snd;
        snd.high_seq = snd.nxt;
        snd.probe = None;
        snd.frto = self.config.frto && (from < CaState::Recovery || snd.timeouts_in_row > 0);
        self.queue_cwr();
    }

    /// A timeout: the head is lost, and with it all that RACK gives no more
    /// time (tcp_timeout_mark_lost).
    fn mark_all_lost(&mut self) {
        let head = self.snd.board.head();
        let reneging = self
            .snd
            .board
            .first()
            .is_some_and(|entry| entry.has(SACKED));
        if reneging || !self.snd.sack_ok {
            self.snd.sacked_out = 0;
        }
        if reneging {
            self.snd.sack_cache = [(0, 0); 4];
        }
        let mut number = head;
        while number != self.snd.board.tail() {
            if reneging {
                self.snd.board.get_mut(number).marks &= !SACKED;
                self.mark_lost(number);
            } else {
                let sent_us = self.snd.board.get(number).sent_us;
                let wait =
                    self.uses_rack() && number != head && self.rack_remaining_us(sent_us, 0) > 0;
                if !wait {
                    self.mark_lost(number);
                }
            }
            number = number.wrapping_add(1);
        }
        self.snd.retransmit_hint = NONE;
        self.snd.lost_hint = NONE;
    }

    /// The receiver threw away what it had acknowledged selectively: a short
    /// timeout follows.
    #[cold]
    fn on_reneging(&mut self, ack: &mut AckState) {
        const MIN_DELAY_JIFFIES: u64 = 10;
        let half_rtt = crate::tcp::clock::us_to_jiffies(u64::from(self.snd.rtt.srtt8_us() >> 4));
        self.arm_rto(half_rtt.max(MIN_DELAY_JIFFIES));
        ack.is.clear(Is::SET_TIMER);
    }

    /// Open or Disorder, by what is still out.
    pub(in crate::tcp) fn try_keep_open(&mut self) {
        let to = if self.snd.left_out() > 0 || self.snd.any_retrans_done() {
            CaState::Disorder
        } else {
            CaState::Open
        };
        if self.snd.window.state != to {
            self.set_state(to);
            self.snd.high_seq = self.snd.nxt;
        }
    }

    fn try_open(&mut self, is: Is) {
        if !self.snd.any_retrans_done() {
            self.snd.undo.stamp = 0;
        }
        if is.any(Is::ECE) {
            self.enter_cwr();
        }
        if self.snd.window.state != CaState::Cwr {
            self.try_keep_open();
        }
    }

    /// Without RACK: packets are lost when `reordering` others, sent later,
    /// have been acknowledged (RFC 6675; tcp_mark_head_lost).
    fn mark_by_count(&mut self, entering: bool) {
        if !self.snd.sack_ok {
            return;
        }
        if self.snd.sacked_out >= self.snd.reordering {
            self.mark_below(self.snd.sacked_out - self.snd.reordering, false);
        } else if entering {
            self.mark_below(1, true);
        }
    }

    /// Marks all packets below the one behind which no more than `sacked` are
    /// selectively acknowledged; only the head with `head_only`.
    fn mark_below(&mut self, sacked: u32, head_only: bool) {
        let snd = &self.snd;
        let (mut number, mut count) = (snd.board.head(), 0);
        if snd.lost_hint != NONE {
            if head_only && snd.lost_hint != snd.board.head() {
                return;
            }
            (number, count) = (snd.lost_hint, snd.lost_hint_sacked);
        }
        while number != self.snd.board.tail() {
            self.snd.lost_hint = number;
            self.snd.lost_hint_sacked = count;
            let entry = self.snd.board.get(number);
            let lost = entry.has(LOST);
            count += u32::from(entry.has(SACKED));
            if count > sacked {
                break;
            }
            if !lost {
                self.mark_lost(number);
            }
            if head_only {
                break;
            }
            number = number.wrapping_add(1);
        }
    }
}
