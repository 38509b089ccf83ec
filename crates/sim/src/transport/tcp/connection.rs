// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! One end of a TCP connection: its parts, the calls that the engine makes,
//! and the handshake at both ends.

use std::collections::VecDeque;

use super::cc::{Cc, Facts};
use super::clock::Clock;
use super::config::TcpConfig;
use super::ecn::EcnState;
use super::receiver::Receiver;
use super::scoreboard::SYN;
use super::segment::{Flags, Segment};
use super::sender::Sender;
use super::stats::{Counts, TcpStats};
use super::timers::Timers;
use crate::time::Time;
use crate::transport::Ecn;

/// Where a connection is in its life. The closing states of RFC 9293 are told
/// apart by what was acknowledged, not by names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Waiting for a SYN.
    Listen,
    /// SYN sent.
    SynSent,
    /// SYN received, SYN-ACK sent.
    SynReceived,
    /// Handshake complete, and until both FINs are acknowledged.
    Established,
    Closed,
}

/// What a connection has to tell its application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The handshake is complete.
    Connected,
    /// So many more bytes have arrived in order.
    Delivered(u64),
    /// The peer has sent all it will send.
    PeerClosed,
    /// All that was written, and the FIN, has been acknowledged.
    AllAcknowledged,
    /// Both directions are closed.
    Closed,
}

/// Something to be put on the wire.
#[derive(Clone, Copy, Debug)]
pub(super) enum Out {
    /// Segments of data from `seq` to `end`, back to back.
    Data {
        seq: u64,
        end: u64,
        fin: bool,
        push: bool,
        new_data: bool,
        cwr: bool,
    },
    /// An acknowledgement of all below `ack`, with the window and the echo of
    /// the moment: another may follow at once.
    Ack { ack: u64, window: u32, echo: Flags },
    /// A segment without data at `seq`.
    Bare { seq: u64, flags: Flags },
}

/// Events that the application has not fetched yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Pending {
    pub connected: bool,
    pub delivered: u64,
    pub peer_closed: bool,
    pub all_acknowledged: bool,
    pub closed: bool,
}

/// One end of a connection.
#[derive(Debug)]
pub struct Connection {
    pub(super) config: TcpConfig,
    pub(super) clock: Clock,
    pub(super) state: State,
    pub(super) snd: Sender,
    pub(super) rcv: Receiver,
    pub(super) cc: Cc,
    pub(super) ecn: EcnState,
    pub(super) timers: Timers,
    pub(super) out: VecDeque<Out>,
    pub(super) pending: Pending,
    pub(super) stats: Counts,
    /// When the SYN-ACK was sent, and how often again.
    syn_ack_sent_us: u64,
    syn_ack_retries: u32,
    fin_acknowledged: bool,
    /// Data or a FIN was written since the last `poll_transmit`.
    written: bool,
}

impl Connection {
    fn new(config: &TcpConfig, now: Time, state: State) -> Self {
        let clock = Clock::at(now);
        Self {
            clock,
            state,
            snd: Sender::new(config),
            rcv: Receiver::new(config),
            cc: Cc::new(config),
            ecn: EcnState::default(),
            timers: Timers::new(config.wheel()),
            out: VecDeque::with_capacity(8),
            pending: Pending::default(),
            stats: Counts::default(),
            syn_ack_sent_us: 0,
            syn_ack_retries: 0,
            fin_acknowledged: false,
            written: false,
            config: config.clone(),
        }
    }

    /// The end that opens the connection; its SYN is ready to be sent.
    pub fn client(config: &TcpConfig, now: Time) -> Self {
        let mut connection = Self::new(config, now, State::SynSent);
        connection.start_syn();
        connection
    }

    /// The end that waits for a SYN.
    pub fn server(config: &TcpConfig, now: Time) -> Self {
        Self::new(config, now, State::Listen)
    }

    /// A segment arrived; `ecn` is the code point of its IP header.
    pub fn handle_segment(&mut self, now: Time, segment: &Segment, ecn: Ecn) {
        self.clock = Clock::at(now);
        match self.state {
            State::Established => self.on_segment(segment, ecn),
            State::Listen => self.on_syn(segment),
            State::SynSent => self.on_syn_ack(segment),
            State::SynReceived => self.on_handshake_end(segment, ecn),
            State::Closed => self.on_segment_after_close(segment),
        }
    }

    /// A deadline of `poll_timeout` has come. Calls that are too early do
    /// nothing.
    pub fn handle_timeout(&mut self, now: Time) {
        self.clock = Clock::at(now);
        self.fire_timers(now);
    }

    /// When `handle_timeout` wants to be called; `Time::MAX`: never.
    #[inline]
    pub fn poll_timeout(&self) -> Time {
        self.timers.next()
    }

    /// The next segment to send and the code point of its IP header. To be
    /// called until it returns none, after every other call.
    #[inline]
    pub fn poll_transmit(&mut self, now: Time) -> Option<(Segment, Ecn)> {
        if self.written {
            self.on_written(now);
        }
        let front = *self.out.front()?;
        Some(self.build(front))
    }

    /// More data to send; `u64::MAX / 4` is a transfer without end. It is sent
    /// by the next `poll_transmit`.
    pub fn write(&mut self, bytes: u64) {
        if !self.snd.fin_queued && bytes > 0 {
            self.snd.write_end = self.snd.write_end.saturating_add(bytes).min(u64::MAX / 2);
            self.written = true;
        }
    }

    /// No more data will be written: a FIN follows what was.
    pub fn close(&mut self) {
        if !self.snd.fin_queued && self.state != State::Closed {
            self.snd.fin_queued = true;
            self.written = true;
        }
    }

    fn on_written(&mut self, now: Time) {
        self.written = false;
        self.clock = Clock::at(now);
        if self.is_open() {
            self.check_idle();
            self.push_pending();
        }
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<Event> {
        let pending = &mut self.pending;
        if std::mem::take(&mut pending.connected) {
            return Some(Event::Connected);
        }
        if pending.delivered > 0 {
            return Some(Event::Delivered(std::mem::take(&mut pending.delivered)));
        }
        if std::mem::take(&mut pending.peer_closed) {
            return Some(Event::PeerClosed);
        }
        if std::mem::take(&mut pending.all_acknowledged) {
            return Some(Event::AllAcknowledged);
        }
        std::mem::take(&mut pending.closed).then_some(Event::Closed)
    }

    /// Counters and estimates.
    pub fn stats(&self) -> TcpStats {
        TcpStats::of(self)
    }

    /// Whether data can flow.
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.state == State::Established
    }

    /// What congestion control may know.
    #[inline]
    pub(super) fn facts(&self) -> Facts {
        Facts {
            clock: self.clock,
            una: self.snd.una,
            nxt: self.snd.nxt,
            delivered: self.snd.delivered,
            delivered_ce: self.snd.delivered_ce,
            pacing_rate: self.snd.pacing_rate(),
        }
    }

    /// Turns the first entry of the output into a segment.
    #[inline]
    fn build(&mut self, front: Out) -> (Segment, Ecn) {
        let mut segment = Segment {
            ack: self.rcv.nxt,
            window: self.rcv.wnd,
            flags: Flags::ACK,
            ..Segment::default()
        };
        let mut done = true;
        let mut ecn = self.ecn_of(false);
        match front {
            Out::Data {
                seq,
                end,
                fin,
                push,
                new_data,
                cwr,
            } => {
                let segment_end = (seq + u64::from(self.snd.mss)).min(end);
                done = segment_end == end;
                segment.seq = seq;
                segment.len = (segment_end - seq) as u32;
                segment.flags = Flags::ACK
                    .with(Flags::when(done && push, Flags::PSH))
                    .with(Flags::when(done && fin, Flags::FIN))
                    .with(Flags::when(cwr, Flags::CWR))
                    .with(self.ecn.echo());
                // A FIN alone is no data and travels Not-ECT.
                ecn = self.ecn_of(new_data && segment.len > 0);
                if let Some(Out::Data { seq, cwr, .. }) = self.out.front_mut() {
                    *seq = segment_end;
                    *cwr = false;
                }
            }
            Out::Ack { ack, window, echo } => {
                segment.window = window;
                segment.seq = self.snd.nxt;
                segment.ack = ack;
                segment.flags = Flags::ACK.with(echo);
                self.stats.acks_sent += 1;
            }
            Out::Bare { seq, flags } => {
                segment.seq = seq;
                segment.flags = flags;
                if flags.has(Flags::SYN) {
                    segment.window = segment.window.min(65_535);
                    segment.sack_permitted = self.config.sack;
                    ecn = if self.cc.needs_ecn() && self.config.ecn {
                        Ecn::Ect0
                    } else {
                        Ecn::NotEct
                    };
                }
            }
        }
        if done {
            self.out.pop_front();
        }
        self.stats.pkts_sent += 1;
        self.add_options(&mut segment);
        (segment, ecn)
    }

    #[inline]
    fn add_options(&mut self, segment: &mut Segment) {
        let timestamps = if segment.flags.has(Flags::SYN) {
            self.config.timestamps && (self.state == State::SynSent || self.rcv.timestamps)
        } else {
            self.rcv.timestamps
        };
        if timestamps {
            segment.ts_val = self.clock.stamp();
            segment.ts_ecr = self.rcv.ts_recent;
        }
        if self.rcv.has_sacks() {
            self.rcv.add_sacks(segment);
        }
    }

    fn start_syn(&mut self) {
        self.snd.board.push(0, 1, self.clock.us, 0, SYN);
        self.snd.nxt = 1;
        self.snd.undo.stamp = self.clock.stamp();
        self.ecn.ok = self.config.ecn;
        // Whether there will be timestamps is not known yet.
        self.rcv.open_syn_window(self.config.payload_bytes(false));
        self.send_syn(true);
        self.arm_rto(self.snd.rto);
    }

    /// Puts a SYN on the wire. A repeated SYN asks for no ECN, in case a box on
    /// the way drops those that do (RFC 3168 §6.1.1.1).
    pub(super) fn send_syn(&mut self, first: bool) {
        let ask = Flags::when(self.config.ecn && first, Flags::ECE.with(Flags::CWR));
        if !first {
            self.ecn.ok = false;
        }
        self.out.push_back(Out::Bare {
            seq: 0,
            flags: Flags::SYN.with(ask),
        });
    }

    fn send_syn_ack(&mut self) {
        let echo = Flags::when(self.ecn.ok, Flags::ECE);
        self.out.push_back(Out::Bare {
            seq: 0,
            flags: Flags::SYN.with(Flags::ACK).with(echo),
        });
    }

    fn on_syn(&mut self, segment: &Segment) {
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
        self.stats.timeouts += 1;
        self.repeat_syn_ack();
        let wait = u64::from(self.config.initial_rto_ms) << self.syn_ack_retries.min(16);
        self.arm_syn_ack(wait.min(u64::from(self.config.max_rto_ms)));
    }

    fn repeat_syn_ack(&mut self) {
        self.syn_ack_retries += 1;
        self.stats.retransmitted_pkts += 1;
        self.send_syn_ack();
    }

    fn on_syn_ack(&mut self, segment: &Segment) {
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
        self.pending.connected = true;
        self.send_ack();
        self.push_pending();
    }

    fn on_handshake_end(&mut self, segment: &Segment, ecn: Ecn) {
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
        self.pending.connected = true;
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
        window.ssthresh = self
            .config
            .initial_ssthresh_pkts
            .unwrap_or(super::window::UNLIMITED);
        window.cwnd = if syn_retries > 1 && snd.undo.marker.is_some() {
            1
        } else {
            self.config.initial_window_pkts
        };
        window.stamp = self.clock.jiffies;
        snd.last_send_jiffy = self.clock.jiffies;
        let facts = self.facts();
        self.cc.start(&facts, self.ecn.ok);
        self.rcv.start_transfer(self.snd.mss, self.clock);
    }

    /// An acknowledgement may cover our FIN.
    pub(super) fn note_fin_acknowledged(&mut self) {
        let snd = &self.snd;
        if snd.fin_sent && snd.una > snd.write_end && !self.fin_acknowledged {
            self.fin_acknowledged = true;
            self.pending.all_acknowledged = true;
        }
        if self.fin_acknowledged && self.rcv.fin_received && self.state != State::Closed {
            self.state = State::Closed;
            self.timers.clear();
            self.pending.closed = true;
        }
    }

    /// TIME-WAIT, as far as it matters: a repeated FIN is acknowledged again.
    fn on_segment_after_close(&mut self, segment: &Segment) {
        if segment.seq_len() > 0 && self.rcv.fin_received {
            self.out.push_back(Out::Ack {
                ack: self.rcv.nxt,
                window: self.rcv.wnd,
                echo: Flags::default(),
            });
        }
    }

    /// A segment that the peer has seen already, to draw an acknowledgement.
    pub(super) fn send_window_probe(&mut self) {
        let seq = self.snd.una.saturating_sub(1);
        self.out.push_back(Out::Bare {
            seq,
            flags: Flags::ACK,
        });
    }
}
