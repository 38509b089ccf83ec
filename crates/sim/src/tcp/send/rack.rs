// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! RACK (RFC 8985, tcp_recovery.c): a packet is lost when one that was sent
//! sufficiently later has been delivered.

use super::ack::AckState;
use super::scoreboard::{EVER_RETRANS, LOST, NONE, RETRANS, SACKED};
use crate::tcp::cc::window::CaState;
use crate::tcp::clock::us_to_jiffies;
use crate::tcp::connection::Connection;
use crate::tcp::timers::MIN_TIMEOUT_US;

/// Recoveries for which a widened reordering window is kept (RFC 8985 §6.2).
const PERSIST_RECOVERIES: u8 = 16;
/// The reordering window has at most so many quarters of the round trip.
const MAX_STEPS: u32 = 255;

impl Connection {
    /// A packet sent at `sent_us` was delivered.
    #[inline]
    pub(in crate::tcp) fn rack_advance(&mut self, marks: u8, end: u64, sent_us: u64) {
        let rtt_us = (self.clock.us - sent_us).min(u64::from(u32::MAX)) as u32;
        let snd = &mut self.snd;
        // Too quick for the retransmission: the original arrived.
        if marks & (EVER_RETRANS | RETRANS) != 0 && rtt_us < snd.rtt.min_us() {
            return;
        }
        let rack = &mut snd.rack;
        rack.advanced = true;
        rack.rtt_us = rtt_us;
        if sent_us > rack.sent_us || (sent_us == rack.sent_us && end > rack.end_seq) {
            rack.sent_us = sent_us;
            rack.end_seq = end;
        }
    }

    /// Time that a packet may be late (tcp_rack_reo_wnd): none while no
    /// reordering was ever seen and losses are being repaired or three packets
    /// have overtaken.
    fn reordering_window_us(&self) -> u32 {
        let snd = &self.snd;
        if snd.reordering_seen == 0
            && (snd.window.state >= CaState::Recovery || snd.sacked_out >= snd.reordering)
        {
            return 0;
        }
        let steps = (snd.rtt.min_us() >> 2).saturating_mul(snd.rack.steps);
        steps.min(snd.rtt.srtt8_us() >> 3)
    }

    /// How much longer to wait for an entry sent at `sent_us`; negative or 0:
    /// it is lost.
    pub(in crate::tcp) fn rack_remaining_us(&self, sent_us: u64, reordering_us: u32) -> i64 {
        i64::from(self.snd.rack.rtt_us) + i64::from(reordering_us)
            - (self.clock.us - sent_us) as i64
    }

    /// Marks losses. Returns the longest wait, in microseconds, for a packet
    /// that is late but not yet lost; 0: none.
    fn rack_detect(&mut self) -> u64 {
        let reordering_us = self.reordering_window_us();
        let mut longest = 0;
        let mut number = self.snd.board.oldest_sent();
        while number != NONE {
            let next = self.snd.board.sent_after(number);
            let entry = self.snd.board.get(number);
            let (sent_us, end, marks) = (entry.sent_us, entry.end(), entry.marks);
            if marks & (LOST | RETRANS) == LOST {
                number = next;
                continue;
            }
            let rack = &self.snd.rack;
            let sent_before =
                rack.sent_us > sent_us || (rack.sent_us == sent_us && rack.end_seq > end);
            if !sent_before {
                break;
            }
            let remaining = self.rack_remaining_us(sent_us, reordering_us);
            if remaining <= 0 {
                self.mark_lost(number);
                self.snd.board.unlink(number);
            } else {
                longest = longest.max(remaining as u64);
            }
            number = next;
        }
        longest
    }

    /// Looks for losses after an acknowledgement. True: a timer for late
    /// packets was armed.
    pub(in crate::tcp) fn rack_mark_lost(&mut self) -> bool {
        if !self.snd.rack.advanced {
            return false;
        }
        self.snd.rack.advanced = false;
        let wait_us = self.rack_detect();
        if wait_us > 0 {
            self.arm_reorder(us_to_jiffies(wait_us + MIN_TIMEOUT_US));
        }
        wait_us > 0
    }

    /// The timer for late packets has fired.
    pub(in crate::tcp) fn on_reorder_timeout(&mut self) {
        let (in_flight, lost) = (self.snd.in_flight(), self.snd.lost);
        self.rack_detect();
        if in_flight != self.snd.in_flight() {
            if self.snd.window.state != CaState::Recovery {
                self.enter_recovery(false);
                let lost = self.snd.lost.wrapping_sub(lost);
                self.reduce_window(1, lost, false);
            }
            self.retransmit_lost();
        }
        if !self.timers.rto_is_armed() {
            self.rearm_rto();
        }
    }

    /// Widens the reordering window after a D-SACK, and narrows it again after
    /// sixteen recoveries without one (tcp_rack_update_reo_wnd).
    #[inline]
    pub(in crate::tcp) fn rack_adapt(&mut self, ack: &AckState) {
        let Some((_, _, prior_delivered)) = ack.sample else {
            return;
        };
        if prior_delivered == 0 {
            return;
        }
        let snd = &mut self.snd;
        // At most once a round trip.
        if (prior_delivered.wrapping_sub(snd.rack.last_delivered) as i32) < 0 {
            snd.rack.dsack_seen = false;
        }
        if snd.rack.dsack_seen {
            snd.rack.steps = (snd.rack.steps + 1).min(MAX_STEPS);
            snd.rack.dsack_seen = false;
            snd.rack.last_delivered = snd.delivered;
            snd.rack.persist = PERSIST_RECOVERIES;
        } else if snd.rack.persist == 0 {
            snd.rack.steps = 1;
        }
    }

    /// A reduction was taken back by D-SACK: the window is kept longer.
    pub(in crate::tcp) fn rack_keep_window(&mut self) {
        let persist = &mut self.snd.rack.persist;
        *persist = (*persist + 1).min(PERSIST_RECOVERIES);
    }

    /// Marks an entry lost (tcp_mark_skb_lost): the packet, or its
    /// retransmission when it was lost before.
    pub(in crate::tcp) fn mark_lost(&mut self, number: u32) {
        let snd = &mut self.snd;
        let marks = snd.board.get(number).marks;
        if marks & SACKED != 0 {
            return;
        }
        let hint = snd.retransmit_hint;
        if (hint == NONE && snd.retrans_out >= snd.lost_out)
            || (hint != NONE && snd.board.is_before(number, hint))
        {
            snd.retransmit_hint = number;
        }
        if marks & LOST == 0 {
            snd.lost_out += 1;
            snd.lost = snd.lost.wrapping_add(1);
            snd.board.get_mut(number).marks |= LOST;
        } else if marks & RETRANS != 0 {
            snd.retrans_out -= 1;
            snd.lost = snd.lost.wrapping_add(1);
            snd.board.get_mut(number).marks &= !RETRANS;
        }
    }
}
