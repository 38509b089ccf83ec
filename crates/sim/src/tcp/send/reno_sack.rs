// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Without SACK: each duplicate acknowledgement stands for one packet that has
//! left the network, so that recovery can reckon as if it had been told which
//! (RFC 6582; tcp_add_reno_sack and its kin).

use super::scoreboard::LOST;
use crate::tcp::cc::window::CaState;
use crate::tcp::connection::Connection;

impl Connection {
    /// Duplicate acknowledgements arrived.
    pub(in crate::tcp) fn add_guessed_sacks(&mut self, duplicates: u32, ece: bool) {
        if duplicates == 0 {
            return;
        }
        let before = self.snd.sacked_out;
        self.snd.sacked_out += duplicates;
        self.bound_guessed_sacks(0);
        let delivered = self.snd.sacked_out.saturating_sub(before);
        self.snd.count_delivered(delivered, ece);
    }

    /// `acked` packets were acknowledged: one of them was the hole.
    pub(in crate::tcp) fn remove_guessed_sacks(&mut self, acked: u32, ece: bool) {
        if acked > 0 {
            let sacked = self.snd.sacked_out;
            self.snd
                .count_delivered(acked.saturating_sub(sacked).max(1), ece);
            self.snd.sacked_out = sacked.saturating_sub(acked - 1);
        }
        self.bound_guessed_sacks(acked);
    }

    /// More packets cannot have arrived than are out, holes left aside; if the
    /// duplicates say so, packets were reordered.
    fn bound_guessed_sacks(&mut self, acked: u32) {
        let snd = &mut self.snd;
        let out = snd.packets_out();
        let holes = snd.lost_out.max(1).min(out);
        if snd.sacked_out + holes > out {
            snd.sacked_out = out - holes;
            snd.reordering = (out + acked).min(self.config.max_reordering_pkts);
            snd.reordering_seen = snd.reordering_seen.wrapping_add(1);
        }
    }

    /// The head is lost after three duplicates, and in recovery whenever an
    /// acknowledgement stops short of its end (tcp_newreno_mark_lost).
    pub(in crate::tcp) fn mark_head_by_duplicates(&mut self, advanced: bool) {
        let snd = &self.snd;
        let state = snd.window.state;
        let due = (state < CaState::Recovery && snd.sacked_out >= snd.reordering)
            || (state == CaState::Recovery && advanced);
        let head = snd.board.head();
        if due && !snd.board.get(head).has(LOST) {
            self.mark_lost(head);
        }
    }
}
