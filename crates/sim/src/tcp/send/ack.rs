// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! An acknowledgement arrives: what it acknowledges, what it measures, and
//! the order in which everything else is asked (tcp_ack, tcp_clean_rtx_queue).

use super::output::Push;
use super::scoreboard::{COUNTED, EVER_RETRANS, LOST, NONE, RETRANS, SACKED, SYN};
use super::sender::Sender;
use crate::tcp::cc::AckSample;
use crate::tcp::cc::window::CaState;
use crate::tcp::clock::stamp_of_us;
use crate::tcp::connection::Connection;
use crate::tcp::segment::{Flags, Segment};

/// What an acknowledgement turned out to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::tcp) struct Is(pub u32);

impl Is {
    /// It came with data.
    pub const DATA: u32 = 1;
    /// It changed the peer's window.
    pub const WIN_UPDATE: u32 = 1 << 1;
    /// It acknowledged data.
    pub const DATA_ACKED: u32 = 1 << 2;
    /// It acknowledged retransmitted data.
    pub const RETRANS_ACKED: u32 = 1 << 3;
    /// It acknowledged a SYN.
    pub const SYN_ACKED: u32 = 1 << 4;
    /// It acknowledged data selectively.
    pub const DATA_SACKED: u32 = 1 << 5;
    /// It carries an ECN echo.
    pub const ECE: u32 = 1 << 6;
    /// A retransmission was found lost.
    pub const LOST_RETRANS: u32 = 1 << 7;
    /// Data from before the episode, never retransmitted, was delivered.
    pub const ORIGINAL_ACKED: u32 = 1 << 8;
    /// It moved the first unacknowledged offset.
    pub const ADVANCED: u32 = 1 << 9;
    /// It reports a duplicate.
    pub const DSACKING: u32 = 1 << 10;
    /// The duplicate was a probe's.
    pub const DSACK_PROBE: u32 = 1 << 11;
    /// The timer must be armed anew.
    pub const SET_TIMER: u32 = 1 << 12;
    /// The receiver went back on a selective acknowledgement.
    pub const RENEGING: u32 = 1 << 13;
    /// It may have been delayed.
    pub const MAYBE_DELAYED: u32 = 1 << 14;

    pub const ACKED: u32 = Self::DATA_ACKED | Self::SYN_ACKED;
    pub const NOT_DUP: u32 = Self::DATA | Self::WIN_UPDATE | Self::ACKED;
    pub const ALERT: u32 = Self::DATA_SACKED | Self::ECE | Self::DSACKING;
    pub const PROGRESS: u32 = Self::ACKED | Self::DATA_SACKED;

    #[inline]
    pub fn any(self, bits: u32) -> bool {
        self.0 & bits != 0
    }

    #[inline]
    pub fn set(&mut self, bits: u32) {
        self.0 |= bits;
    }

    #[inline]
    pub fn clear(&mut self, bits: u32) {
        self.0 &= !bits;
    }
}

/// What is sent in answer to an acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::tcp) enum Resend {
    #[default]
    Nothing,
    /// Lost segments.
    Lost,
    /// New data, to see whether a timeout was spurious (RFC 5682).
    New,
}

/// The acknowledgement in hand.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::tcp) struct AckState {
    pub is: Is,
    pub resend: Resend,
    /// First unacknowledged offset before it.
    pub prior_una: u64,
    /// Highest selectively acknowledged offset before it.
    pub prior_forward: u64,
    /// Timestamp echo; 0: none.
    pub echo: u32,
    /// First transmission of what it newly acknowledged selectively.
    pub first_sack_us: Option<u64>,
    /// Last transmission of that.
    pub last_sack_us: u64,
    pub sack_delivered: u32,
    /// Lowest offset that arrived after a higher one, never retransmitted.
    pub reordered: u64,
    /// Of the packet sent last among those it delivers: when it was sent, its
    /// end, and the count of deliveries at that time.
    pub sample: Option<(u64, u64, u32)>,
}

impl Connection {
    /// Processes the acknowledgement of a segment (tcp_ack).
    pub(in crate::tcp) fn on_ack(&mut self, segment: &Segment) {
        let snd = &mut self.snd;
        let mut ack = AckState {
            prior_una: snd.una,
            prior_forward: snd.una,
            echo: segment.ts_ecr,
            reordered: snd.nxt,
            ..AckState::default()
        };
        if segment.ack < snd.una {
            self.on_old_ack(segment, ack);
            return;
        }
        if segment.ack > snd.nxt {
            return;
        }
        if segment.ack > snd.una {
            ack.is.set(Is::ADVANCED);
            snd.timeouts_in_row = 0;
        }
        if snd.sack_ok {
            ack.prior_forward = snd.forward_ack();
        }
        let (were_out, delivered, lost) = (snd.packets_out(), snd.delivered, snd.lost);
        if segment.seq_len() > 0 {
            ack.is.set(Is::DATA);
        }
        self.update_peer_window(segment, &mut ack);
        self.snd.una = segment.ack;
        if segment.sack_count() > 0 {
            self.tag_sacked(segment, &mut ack);
        }
        if self.ecn.ok && segment.flags.has(Flags::ECE) && !segment.flags.has(Flags::SYN) {
            ack.is.set(Is::ECE);
        }
        if ack.sack_delivered > 0 {
            self.snd
                .count_delivered(ack.sack_delivered, ack.is.any(Is::ECE));
        }
        self.accept_cwr(segment);
        if were_out == 0 {
            self.on_ack_of_nothing(segment, ack);
            return;
        }
        self.clean_acked(&mut ack);
        self.rack_adapt(&ack);
        let facts = self.facts();
        self.cc.on_ack(facts);
        if self.snd.probe.is_some() {
            self.judge_probe(segment.ack, ack.is);
        }
        if self.is_dubious(ack.is) {
            let duplicates = u32::from(!ack.is.any(Is::ADVANCED | Is::NOT_DUP | Is::DSACKING));
            self.alert(&mut ack, duplicates);
        }
        if ack.is.any(Is::SET_TIMER) && !self.schedule_probe(true) {
            self.rearm_rto();
        }
        let delivered = self.snd.delivered.wrapping_sub(delivered);
        let lost = self.snd.lost.wrapping_sub(lost);
        self.control_window(delivered, lost, ack.is);
        self.send_repairs(ack.resend);
    }

    /// Handles an acknowledgement below `una`, whose SACK blocks may be new.
    #[cold]
    fn on_old_ack(&mut self, segment: &Segment, mut ack: AckState) {
        if segment.sack_count() > 0 {
            self.tag_sacked(segment, &mut ack);
            self.alert(&mut ack, 0);
            self.send_repairs(ack.resend);
        }
    }

    /// Nothing was out: only a D-SACK or a probe's echo is of interest.
    #[cold]
    fn on_ack_of_nothing(&mut self, segment: &Segment, mut ack: AckState) {
        let facts = self.facts();
        self.cc.on_ack(facts);
        if ack.is.any(Is::DSACKING) {
            self.alert(&mut ack, 0);
        }
        self.on_window_probe_answer();
        if self.snd.probe.is_some() {
            self.judge_probe(segment.ack, ack.is);
        }
    }

    /// Takes the window from a segment that is not older than the last one
    /// that set it (RFC 9293 §3.10.7.4).
    #[inline]
    fn update_peer_window(&mut self, segment: &Segment, ack: &mut AckState) {
        let window = u64::from(segment.window);
        let snd = &mut self.snd;
        let newer = segment.ack > snd.una
            || segment.seq > snd.wl1
            || (segment.seq == snd.wl1 && (window > snd.wnd || window == 0));
        if !newer {
            return;
        }
        ack.is.set(Is::WIN_UPDATE);
        snd.wl1 = segment.seq;
        if snd.wnd != window {
            snd.wnd = window;
            snd.max_wnd = snd.max_wnd.max(window);
            if snd.has_unsent() && snd.packets_out() == 0 {
                self.check_idle();
            }
        }
    }

    /// Whether the acknowledgement calls for a closer look.
    #[inline]
    fn is_dubious(&self, is: Is) -> bool {
        !is.any(Is::NOT_DUP) || is.any(Is::ALERT) || self.snd.window.state != CaState::Open
    }

    /// Updates the congestion window: a step of the reduction, or growth.
    #[inline]
    fn control_window(&mut self, delivered: u32, lost: u32, is: Is) {
        if self.snd.window.in_reduction() {
            self.reduce_window(delivered, lost, is.any(Is::ADVANCED));
        } else {
            self.grow_congestion_window(delivered, is);
        }
        // Of use to bursts and to HyStart only.
        if self.snd.gso || self.snd.window.in_slow_start() {
            self.snd.update_pacing_rate();
        }
    }

    #[inline]
    fn grow_congestion_window(&mut self, delivered: u32, is: Is) {
        let may_grow = if self.snd.reordering > self.config.reordering_pkts {
            is.any(Is::PROGRESS)
        } else {
            is.any(Is::DATA_ACKED)
        };
        if may_grow {
            let facts = self.facts();
            self.cc.grow(&mut self.snd.window, delivered, facts);
            self.snd.window.stamp = self.clock.jiffies;
        }
    }

    #[inline]
    fn send_repairs(&mut self, resend: Resend) {
        match resend {
            Resend::Nothing => {}
            Resend::Lost => self.repair(),
            Resend::New => {
                self.push_as(Push::AtOnce);
                if self.snd.nxt <= self.snd.high_seq {
                    self.snd.frto = false;
                    self.repair();
                }
            }
        }
    }

    fn repair(&mut self) {
        if self.snd.packets_out() > 0 && self.is_open() {
            self.retransmit_lost();
        }
    }

    /// Removes what is acknowledged from the scoreboard and measures round
    /// trips by it (tcp_clean_rtx_queue).
    fn clean_acked(&mut self, ack: &mut AckState) {
        let una = self.snd.una;
        let prior_sacked = self.snd.sacked_out;
        let ece = ack.is.any(Is::ECE);
        let mut first_us = None;
        let mut last_us = 0;
        let mut lowest = self.snd.nxt;
        let mut acked = 0;
        while let Some(&entry) = self.snd.board.first() {
            if entry.end() > una {
                break;
            }
            if entry.has(EVER_RETRANS | RETRANS) {
                self.snd.retrans_out -= u32::from(entry.has(RETRANS));
                ack.is.set(Is::RETRANS_ACKED);
            } else if !entry.has(SACKED) {
                last_us = entry.sent_us;
                first_us = first_us.or(Some(entry.sent_us));
                lowest = lowest.min(entry.seq);
                if entry.end() <= self.snd.high_seq {
                    ack.is.set(Is::ORIGINAL_ACKED);
                }
            }
            if entry.has(SACKED) {
                self.snd.sacked_out -= 1;
            } else if self.snd.sack_ok {
                self.snd.count_delivered(1, ece);
                let stamp = stamp_of_us(entry.sent_us);
                if !(entry.has(EVER_RETRANS) && Sender::echo_is_before(ack.echo, stamp)) {
                    self.rack_advance(entry.marks, entry.end(), entry.sent_us);
                }
            }
            self.snd.lost_out -= u32::from(entry.has(LOST));
            acked += 1;
            if !entry.has(COUNTED) {
                ack.note_delivery(entry.sent_us, entry.end(), entry.delivered);
            }
            ack.is.set(if entry.has(SYN) {
                Is::SYN_ACKED
            } else {
                Is::DATA_ACKED
            });
            self.snd.drop_first();
        }
        if self
            .snd
            .board
            .first()
            .is_some_and(|entry| entry.has(SACKED))
        {
            ack.is.set(Is::RENEGING);
        }
        self.measure(ack, first_us, last_us, acked, prior_sacked);
        if ack.is.any(Is::ACKED) {
            self.after_progress(ack, acked, lowest, prior_sacked);
        }
    }

    /// Round trips of the acknowledgement: of the first packet for the
    /// estimate, of the last for congestion control.
    #[inline]
    fn measure(
        &mut self,
        ack: &mut AckState,
        first_us: Option<u64>,
        last_us: u64,
        acked: u32,
        prior_sacked: u32,
    ) {
        let now = self.clock.us;
        let since = |us: u64| (now - us).min(u64::from(u32::MAX - 1)) as u32;
        let mut rtt = None;
        let mut last_rtt = None;
        if let Some(first) = first_us
            && !ack.is.any(Is::RETRANS_ACKED)
        {
            rtt = Some(since(first));
            last_rtt = Some(since(last_us));
            let prior_delivered = ack.sample.map_or(0, |(_, _, delivered)| delivered);
            // A lone short segment: the receiver may have held the answer.
            if acked == 1
                && prior_sacked == 0
                && self.snd.una - ack.prior_una < u64::from(self.snd.mss)
                && prior_delivered.wrapping_add(1) == self.snd.delivered
                && !ack.is.any(Is::ALERT | Is::SYN_ACKED)
            {
                ack.is.set(Is::MAYBE_DELAYED);
            }
        }
        let mut sack_rtt = None;
        if let Some(first) = ack.first_sack_us {
            sack_rtt = Some(since(first));
            last_rtt = Some(since(ack.last_sack_us));
        }
        let measured = self.take_rtt(ack, rtt.or(sack_rtt), &mut last_rtt);
        if !ack.is.any(Is::ACKED)
            && measured
            && let Some(sack_rtt) = sack_rtt
            && let Some(first) = self.snd.board.first()
            && sack_rtt > since(first.sent_us)
        {
            // What was sent later than the head has been delivered: the head
            // was sent again, and its timer counts from then.
            ack.is.set(Is::SET_TIMER);
        }
        let sample = AckSample {
            rtt_us: last_rtt,
            pkts_acked: acked,
        };
        let facts = self.facts();
        self.cc.on_sample(&mut self.snd.window, sample, facts);
    }

    /// Updates the estimates (tcp_ack_update_rtt). When only retransmissions
    /// were acknowledged, the timestamp echo still gives a round trip, to the
    /// millisecond.
    #[inline]
    fn take_rtt(&mut self, ack: &AckState, rtt: Option<u32>, last_rtt: &mut Option<u32>) -> bool {
        let mut rtt = rtt;
        if rtt.is_none() && ack.echo != 0 && ack.is.any(Is::ACKED) {
            let ms = self.clock.stamp().wrapping_sub(ack.echo);
            if ms < (i32::MAX / 1_000) as u32 {
                rtt = Some(ms.max(1) * 1_000);
                *last_rtt = rtt;
            }
        }
        let Some(rtt) = rtt else {
            return false;
        };
        let delayed = ack.is.any(Is::MAYBE_DELAYED);
        let snd = &mut self.snd;
        if let Some(last) = *last_rtt {
            snd.rtt.note_min(last, delayed, self.clock.jiffies);
        }
        snd.rtt.sample(rtt, snd.una, snd.nxt);
        snd.rto = snd.rtt.rto();
        snd.backoff = 0;
        true
    }

    fn after_progress(&mut self, ack: &mut AckState, acked: u32, lowest: u64, prior_sacked: u32) {
        ack.is.set(Is::SET_TIMER);
        if ack.is.any(Is::SYN_ACKED) {
            self.snd.undo.stamp = 0;
        }
        if !self.snd.sack_ok {
            self.remove_guessed_sacks(acked, ack.is.any(Is::ECE));
            if ack.is.any(Is::RETRANS_ACKED) {
                ack.is.clear(Is::ORIGINAL_ACKED);
            }
            return;
        }
        if lowest < ack.prior_forward {
            self.note_reordering(lowest);
        }
        let delta = prior_sacked - self.snd.sacked_out;
        self.snd.lost_hint_sacked = self.snd.lost_hint_sacked.saturating_sub(delta);
    }
}

impl AckState {
    /// Keeps the delivered packet that was sent last.
    #[inline]
    pub fn note_delivery(&mut self, sent_us: u64, end: u64, delivered: u32) {
        let later = match self.sample {
            None => true,
            Some((us, seq, _)) => sent_us > us || (sent_us == us && end > seq),
        };
        if later {
            self.sample = Some((sent_us, end, delivered));
        }
    }
}

impl Sender {
    #[inline]
    pub fn count_delivered(&mut self, packets: u32, ece: bool) {
        self.delivered = self.delivered.wrapping_add(packets);
        if ece {
            self.delivered_ce = self.delivered_ce.wrapping_add(packets);
        }
    }

    /// Removes the first entry and forgets the hints that point at it.
    #[inline]
    pub fn drop_first(&mut self) {
        let head = self.board.head();
        if self.retransmit_hint == head {
            self.retransmit_hint = NONE;
        }
        if self.lost_hint == head {
            self.lost_hint = NONE;
        }
        self.board.pop();
    }
}
