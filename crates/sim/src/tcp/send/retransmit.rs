// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Sending lost segments again (tcp_xmit_retransmit_queue).

use super::scoreboard::{EVER_RETRANS, FIN, LOST, NONE, RETRANS, SACKED, SYN};
use crate::tcp::clock::stamp_of_us;
use crate::tcp::connection::Connection;
use crate::tcp::outgoing::Burst;
use crate::tcp::segment::Flags;

impl Connection {
    /// Sends one entry again, whatever its marks say. False: the peer's window
    /// forbids it.
    pub(in crate::tcp) fn resend(&mut self, number: u32) -> bool {
        let entry = *self.snd.board.get(number);
        if entry.seq >= self.snd.wnd_end() && entry.seq != self.snd.una {
            return false;
        }
        self.counts.retransmitted_pkts += 1;
        self.snd.total_retrans = self.snd.total_retrans.wrapping_add(1);
        self.snd.retransmitted_end = self.snd.retransmitted_end.max(entry.end());
        if entry.has(SYN) {
            self.send_syn(false);
        } else {
            let fin = entry.has(FIN);
            let end = entry.end() - u64::from(fin);
            self.send_data(Burst {
                seq: entry.seq,
                end,
                first: Flags::default(),
                last: Flags::when(fin, Flags::FIN)
                    .with(Flags::when(end == self.snd.write_end, Flags::PSH)),
                new_data: false,
                whole: end - entry.seq == u64::from(self.snd.mss),
            });
            self.counts.data_pkts_sent += u64::from(end > entry.seq);
        }
        let delivered = self.snd.delivered;
        self.snd.board.sent_again(number, self.clock.us, delivered);
        self.snd.board.get_mut(number).marks |= EVER_RETRANS;
        true
    }

    /// Sends one entry again as a repair of its loss (tcp_retransmit_skb).
    pub(in crate::tcp) fn retransmit(&mut self, number: u32) -> bool {
        let sent = self.resend(number);
        let snd = &mut self.snd;
        if sent {
            // After an undo a retransmission may be out that is not for a loss.
            let entry = snd.board.get_mut(number);
            snd.retrans_out += u32::from(!entry.has(RETRANS));
            entry.marks |= RETRANS;
        }
        if snd.undo.stamp == 0 {
            snd.undo.stamp = stamp_of_us(snd.board.get(number).sent_us);
        }
        snd.undo.retrans = Some(snd.undo.retrans.unwrap_or(0) + 1);
        sent
    }

    /// Sends lost segments again as far as the window allows.
    pub(in crate::tcp) fn retransmit_lost(&mut self) {
        let head = self.snd.board.head();
        let mut number = self.snd.retransmit_hint;
        if number == NONE {
            number = head;
        }
        let mut hole_seen = false;
        let mut rearm = false;
        while number != self.snd.board.tail() {
            let snd = &mut self.snd;
            if !hole_seen {
                snd.retransmit_hint = number;
            }
            if snd.window.cwnd <= snd.in_flight() || snd.retrans_out >= snd.lost_out {
                break;
            }
            let entry = snd.board.get(number);
            if !entry.has(LOST) {
                // The search begins here next time: a hole may yet be lost.
                hole_seen |= !entry.has(RETRANS | SACKED);
            } else if !entry.has(SACKED | RETRANS) {
                if !self.retransmit(number) {
                    break;
                }
                if self.snd.window.in_reduction() {
                    self.snd.prr_out += 1;
                }
                rearm |= number == head && !self.timers.reorder_is_armed();
            }
            number = number.wrapping_add(1);
        }
        if rearm && !self.keeps_timer() {
            self.arm_rto(self.snd.rto);
        }
    }
}
