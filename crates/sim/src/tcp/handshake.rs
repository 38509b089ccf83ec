// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! The handshake at both ends, with real SYNs that can be lost and are
//! repeated (RFC 9293 §3.5, RFC 6298 §5.7; tcp_connect, tcp_conn_request,
//! tcp_rcv_synsent_state_process, tcp_init_transfer).

use super::cc::window::UNLIMITED;
use super::connection::{Connection, Pending, State};
use super::outgoing::Out;
use super::segment::{Flags, Segment};
use super::send::scoreboard::SYN;
use crate::base::ecn::Ecn;

impl Connection {
    pub(super) fn start_syn(&mut self) {
        self.snd.board.push(0, 1, self.clock.us, 0, SYN);
        self.snd.nxt = 1;
        self.snd.undo.stamp = self.clock.stamp();
        // Whether there will be timestamps is not known yet.
        self.rcv.open_syn_window(self.config.payload_bytes(false));
        self.send_syn(true);
        self.arm_rto(self.snd.rto);
    }

    /// Puts a SYN on the wire. A repeated SYN asks for no ECN, in case a box on
    /// the way drops those that do (RFC 3168 §6.1.1.1).
    pub(super) fn send_syn(&mut self, first: bool) {
        self.ecn.ok = self.config.ecn && (first || !self.config.ecn_fallback);
        let ask = Flags::when(self.ecn.ok, Flags::ECE.with(Flags::CWR));
        self.out.push(Out::Bare {
            seq: 0,
            flags: Flags::SYN.with(ask),
        });
    }

    fn send_syn_ack(&mut self) {
        let echo = Flags::when(self.ecn.ok, Flags::ECE);
        self.out.push(Out::Bare {
            seq: 0,
            flags: Flags::SYN.with(Flags::ACK).with(echo),
        });
    }

    pub(super) fn on_syn(&mut self, segment: &Segment) {
        if !segment.flags.has(Flags::SYN) || segment.flags.has(Flags::ACK) {
            return;
        }
        self.ecn.ok =
            self.config.ecn && segment.flags.has(Flags::ECE) && segment.flags.has(Flags::CWR);
        self.take_syn(segment);
        self.snd.nxt = 1;
        self.state = State::SynReceived;
        self.syn_ack_sent_us = self.clock.us;
        self.send_syn_ack();
        self.arm_syn_ack(u64::from(self.config.initial_rto_ms));
    }

    /// What both ends learn from the peer's SYN.
    fn take_syn(&mut self, segment: &Segment) {
        self.rcv.nxt = segment.seq + 1;
        self.rcv.wup = self.rcv.nxt;
        self.rcv.timestamps = self.config.timestamps && segment.has_timestamps();
        if self.rcv.timestamps {
            self.rcv.ts_recent = segment.ts_val;
        }
        self.snd.sack_ok = self.config.sack && segment.sack_permitted;
        self.rcv.sack_ok = self.snd.sack_ok;
        self.snd.wnd = u64::from(segment.window);
        self.snd.max_wnd = self.snd.wnd;
        self.snd.wl1 = segment.seq;
        self.snd.mss = self.config.payload_bytes(self.rcv.timestamps);
        if self.state == State::Listen {
            self.rcv.open_syn_window(self.snd.mss);
        }
        self.rcv.begin(self.snd.mss, self.clock);
    }

    /// The SYN-ACK was not answered: again, with a doubled wait.
    pub(super) fn on_syn_ack_timeout(&mut self) {
        if self.state != State::SynReceived {
            return;
        }
        self.counts.timeouts += 1;
        self.repeat_syn_ack();
        let wait = u64::from(self.config.initial_rto_ms) << self.syn_ack_retries.min(16);
        self.arm_syn_ack(wait.min(u64::from(self.config.max_rto_ms)));
    }

    fn repeat_syn_ack(&mut self) {
        self.syn_ack_retries += 1;
        self.counts.retransmitted_pkts += 1;
        self.send_syn_ack();
    }

    pub(super) fn on_syn_ack(&mut self, segment: &Segment) {
        let answers = segment.flags.has(Flags::SYN)
            && segment.flags.has(Flags::ACK)
            && segment.ack == self.snd.nxt;
        if !answers {
            return;
        }
        if !segment.flags.has(Flags::ECE) || segment.flags.has(Flags::CWR) {
            self.ecn.ok = false;
        }
        // The echo of the first SYN: the repetition was needless.
        let stamp = self.snd.undo.stamp;
        if stamp != 0 && segment.has_timestamps() && stamp == segment.ts_ecr {
            self.snd.undo.marker = None;
        }
        self.take_syn(segment);
        self.snd.wl1 = 0;
        self.on_ack(segment);
        self.establish(self.snd.total_retrans);
        self.pending.add(Pending::CONNECTED);
        self.send_ack();
        self.push_pending();
    }

    pub(super) fn on_handshake_end(&mut self, segment: &Segment, ecn: Ecn) {
        if segment.flags.has(Flags::SYN) {
            // The SYN again: the SYN-ACK was lost.
            if !segment.flags.has(Flags::ACK) {
                self.repeat_syn_ack();
            }
            return;
        }
        if !segment.flags.has(Flags::ACK) || segment.ack != 1 {
            return;
        }
        self.timers.clear_transmit();
        self.snd.una = 1;
        self.snd.delivered = 1;
        self.snd.wnd = u64::from(segment.window);
        self.snd.max_wnd = self.snd.max_wnd.max(self.snd.wnd);
        if self.syn_ack_retries == 0 {
            let rtt = (self.clock.us - self.syn_ack_sent_us).min(u64::from(u32::MAX - 1)) as u32;
            self.take_handshake_rtt(rtt);
        } else if self.rcv.timestamps && segment.ts_ecr != 0 {
            let ms = self.clock.stamp().wrapping_sub(segment.ts_ecr);
            self.take_handshake_rtt(ms.max(1) * 1_000);
        }
        if self.syn_ack_retries > 1 {
            self.snd.undo.marker = Some(0);
        }
        self.establish(self.syn_ack_retries);
        self.pending.add(Pending::CONNECTED);
        self.on_segment(segment, ecn);
        self.push_pending();
    }

    fn take_handshake_rtt(&mut self, rtt_us: u32) {
        let snd = &mut self.snd;
        snd.rtt.note_min(rtt_us, false, self.clock.jiffies);
        snd.rtt.sample(rtt_us, snd.una, snd.nxt);
        snd.rto = snd.rtt.rto();
    }

    /// The handshake is complete (tcp_init_transfer). After more than one
    /// repeated SYN the path is loaded: begin with one packet (RFC 6298 §5.7).
    fn establish(&mut self, syn_retries: u32) {
        self.state = State::Established;
        let snd = &mut self.snd;
        if snd.rtt.srtt8_us() == 0 {
            snd.rtt.without_sample();
            snd.rto = snd.rtt.rto();
        }
        let window = &mut snd.window;
        window.ssthresh = self.config.initial_ssthresh_pkts.unwrap_or(UNLIMITED);
        window.cwnd = if syn_retries > 1 && snd.undo.marker.is_some() {
            1
        } else {
            self.config.initial_window_pkts
        };
        window.stamp = self.clock.jiffies;
        snd.last_send_jiffy = self.clock.jiffies;
        snd.update_pacing_rate();
        let facts = self.facts();
        self.cc.start(facts, self.ecn.ok);
        self.rcv.start_transfer(self.snd.mss, self.clock);
    }
}
