// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! The acknowledgement as it nearly always is: it moves the first
//! unacknowledged offset, reports nothing else, and nothing is amiss. The same
//! as `ack` does for it, without the questions whose answer is known; a test
//! plays transfers both ways and expects the same packets.

use super::scoreboard::NONE;
use super::sender::Sender;
use crate::tcp::cc::AckSample;
use crate::tcp::cc::window::CaState;
use crate::tcp::connection::Connection;
use crate::tcp::segment::{Flags, Segment};

/// What was taken from the scoreboard.
struct Taken {
    packets: u32,
    first_us: u64,
    last_us: u64,
    /// End of the last packet, and the deliveries when it was sent.
    last_end: u64,
    delivered_then: u32,
}

impl Connection {
    /// Whether `on_fast_ack` may stand in for `on_ack`.
    #[inline]
    pub(in crate::tcp) fn is_fast_ack(&self, segment: &Segment) -> bool {
        let snd = &self.snd;
        let flags = segment.flags.0 & !(Flags::PSH.0 | Flags::FIN.0);
        flags == Flags::ACK.0
            && segment.sack_count() == 0
            && segment.ack > snd.una
            && segment.ack <= snd.nxt
            && snd.window.state == CaState::Open
            && snd.sack_ok
            && snd.left_out() + snd.retrans_out == 0
            && snd.una >= snd.retransmitted_end
            && snd.probe.is_none()
            && !snd.rack.dsack_seen
            && !self.use_long_way
    }

    #[inline(always)]
    pub(in crate::tcp) fn on_fast_ack(&mut self, segment: &Segment) {
        let snd = &mut self.snd;
        let advanced = segment.ack - snd.una;
        snd.timeouts_in_row = 0;
        snd.wl1 = segment.seq;
        snd.wnd = u64::from(segment.window);
        snd.max_wnd = snd.max_wnd.max(snd.wnd);
        snd.una = segment.ack;
        let taken = snd.take_acknowledged();
        if taken.packets == 0 {
            // Part of a segment: nothing is known to have left the network.
            let facts = self.facts();
            self.cc.on_ack(facts);
            self.after_fast_ack();
            return;
        }
        snd.delivered = snd.delivered.wrapping_add(taken.packets);
        let rtt_us = self.measure_fast(&taken, advanced);
        let facts = self.facts();
        let sample = AckSample {
            rtt_us: Some(rtt_us),
            pkts_acked: taken.packets,
        };
        self.cc.on_sample(&mut self.snd.window, sample, facts);
        self.cc.on_ack(facts);
        // What is sent in answer sets the timer too: one of the two is enough.
        self.timers.due = true;
        self.cc.grow(&mut self.snd.window, taken.packets, facts);
        self.snd.window.stamp = self.clock.jiffies;
        self.after_fast_ack();
    }

    /// Takes the round trips; returns that of the last packet.
    #[inline(always)]
    fn measure_fast(&mut self, taken: &Taken, advanced: u64) -> u32 {
        let now = self.clock.us;
        let since = |us: u64| (now - us).min(u64::from(u32::MAX - 1)) as u32;
        let (first, last) = (since(taken.first_us), since(taken.last_us));
        let snd = &mut self.snd;
        let rack = &mut snd.rack;
        rack.advanced = true;
        rack.rtt_us = last;
        let later = taken.last_us == rack.sent_us && taken.last_end > rack.end_seq;
        if taken.last_us > rack.sent_us || later {
            rack.sent_us = taken.last_us;
            rack.end_seq = taken.last_end;
        }
        if taken.delivered_then != 0 && rack.persist == 0 {
            rack.steps = 1;
        }
        let maybe_delayed = taken.packets == 1
            && advanced < u64::from(snd.mss)
            && taken.delivered_then.wrapping_add(1) == snd.delivered;
        snd.rtt.note_min(last, maybe_delayed, self.clock.jiffies);
        snd.rtt.sample(first, snd.una, snd.nxt);
        snd.rto = snd.rtt.rto();
        snd.backoff = 0;
        last
    }

    /// Sets the timer that a fast acknowledgement left.
    #[inline]
    pub(in crate::tcp) fn settle_timer(&mut self) {
        if self.timers.due {
            self.timers.due = false;
            if !self.schedule_probe(true) {
                self.rearm_rto();
            }
        }
    }

    #[inline]
    fn after_fast_ack(&mut self) {
        if self.snd.gso || self.snd.window.in_slow_start() {
            self.snd.update_pacing_rate();
        }
    }
}

impl Sender {
    /// Removes all that is acknowledged; none of it has been sent twice.
    #[inline]
    fn take_acknowledged(&mut self) -> Taken {
        let mut taken = Taken {
            packets: 0,
            first_us: 0,
            last_us: 0,
            last_end: 0,
            delivered_then: 0,
        };
        let (head, una) = (self.board.head(), self.una);
        self.board.pop_while(|entry| {
            let end = entry.end();
            if end > una {
                return false;
            }
            if taken.packets == 0 {
                taken.first_us = entry.sent_us;
            }
            taken.packets += 1;
            taken.last_us = entry.sent_us;
            taken.last_end = end;
            taken.delivered_then = entry.delivered;
            true
        });
        for hint in [&mut self.retransmit_hint, &mut self.lost_hint] {
            if hint.wrapping_sub(head) < taken.packets {
                *hint = NONE;
            }
        }
        taken
    }
}
