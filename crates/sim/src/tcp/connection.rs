// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! One end of a TCP connection: its parts and the calls that the engine makes.

use std::mem::offset_of;
use std::rc::Rc;

use sojourn_core::prefetch_part;

use super::cc::{Cc, Facts};
use super::clock::Clock;
use super::config::TcpConfig;
use super::ecn::EcnState;
use super::outgoing::{Out, OutQueue};
use super::receive::receiver::Receiver;
use super::segment::{Flags, Segment};
use super::send::scoreboard::Scoreboard;
use super::send::sender::Sender;
use super::stats::{TcpCounts, TcpStats};
use super::timers::Timers;
use crate::base::ecn::Ecn;
use crate::base::time::Time;

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
    /// Both directions are closed.
    Closed,
}

/// Events that the application has not fetched yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Pending {
    pub delivered: u64,
    /// The others, by their bits: after each segment it is asked whether there is one.
    news: u8,
}

impl Pending {
    pub const CONNECTED: u8 = 1;
    pub const PEER_CLOSED: u8 = 2;
    pub const CLOSED: u8 = 4;

    #[inline]
    pub fn add(&mut self, event: u8) {
        self.news |= event;
    }

    fn take(&mut self, event: u8) -> bool {
        let was_set = self.news & event != 0;
        self.news &= !event;
        was_set
    }
}

/// One end of a connection. Laid out as written here: what the short ways read of the sending
/// half, what both halves read, and what they read of the receiving half lie one behind the
/// other (`prefetch_for`), and what is read seldom lies at both ends. With a thousand
/// connections each line that is not touched is one fetched less from afar.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Connection {
    /// When the SYN-ACK was sent.
    pub(super) syn_ack_sent_us: u64,
    /// How often it was sent again.
    pub(super) syn_ack_retries: u32,
    fin_acknowledged: bool,
    pub(super) snd: Sender,
    pub(super) cc: Cc,
    pub(super) clock: Clock,
    /// How far the host's clock is before the caller's.
    ahead_ns: u64,
    pub(super) config: Rc<TcpConfig>,
    pub(super) state: State,
    /// Data or a FIN was written since the last `poll_transmit`.
    pub(super) written: bool,
    /// Tests: no short ways for common cases.
    pub(super) use_long_way: bool,
    pub(super) ecn: EcnState,
    pub(super) timers: Timers,
    pub(super) pending: Pending,
    pub(super) out: OutQueue,
    pub(super) counts: TcpCounts,
    pub(super) rcv: Receiver,
}

impl Connection {
    /// Makes a connection in the place of one that is over, if there is one, with its ring. Browsers
    /// open so many that the allocator took 5 % of their time (bench/README.md, "Browsers between
    /// many hosts").
    fn new(
        config: &Rc<TcpConfig>,
        now: Time,
        ahead_ns: u64,
        state: State,
        place: Option<Box<Self>>,
    ) -> Box<Self> {
        let Some(mut place) = place else {
            let board = Scoreboard::new();
            return Box::new(Self::with(config, now, ahead_ns, state, board));
        };
        let board = place.snd.board.emptied();
        *place = Self::with(config, now, ahead_ns, state, board);
        place
    }

    fn with(
        config: &Rc<TcpConfig>,
        now: Time,
        ahead_ns: u64,
        state: State,
        board: Scoreboard,
    ) -> Self {
        let clock = Clock::at(now + ahead_ns);
        Self {
            clock,
            ahead_ns,
            state,
            snd: Sender::new(config, board),
            rcv: Receiver::new(config),
            cc: Cc::new(config),
            ecn: EcnState::default(),
            timers: Timers::new(config.wheel()),
            out: OutQueue::default(),
            pending: Pending::default(),
            counts: TcpCounts::default(),
            syn_ack_sent_us: 0,
            syn_ack_retries: 0,
            fin_acknowledged: false,
            written: false,
            use_long_way: false,
            config: Rc::clone(config),
        }
    }

    /// The end that opens the connection; its SYN is ready to be sent. The clock of its
    /// host goes `ahead_ns` before that of the caller. It takes the place of one that is over.
    pub fn client(
        config: &Rc<TcpConfig>,
        now: Time,
        ahead_ns: u64,
        place: Option<Box<Self>>,
    ) -> Box<Self> {
        let mut connection = Self::new(config, now, ahead_ns, State::SynSent, place);
        connection.start_syn();
        connection
    }

    /// The end that waits for a SYN; see `client`.
    pub fn server(
        config: &Rc<TcpConfig>,
        now: Time,
        ahead_ns: u64,
        place: Option<Box<Self>>,
    ) -> Box<Self> {
        Self::new(config, now, ahead_ns, State::Listen, place)
    }

    /// Fetches what an acknowledgement, or else data, will need.
    #[inline]
    pub fn prefetch_for(&self, data: bool) {
        const SENDING: usize = offset_of!(Connection, snd.rack);
        const SENT: usize = offset_of!(Connection, snd.una);
        const LAW: usize = offset_of!(Connection, cc);
        const BOTH: usize = offset_of!(Connection, clock);
        const SELDOM: usize = offset_of!(Connection, rcv.blocks);
        if data {
            prefetch_part::<SENT, LAW, _>(self);
            prefetch_part::<BOTH, SELDOM, _>(self);
        } else {
            prefetch_part::<SENDING, SELDOM, _>(self);
        }
    }

    /// Fetches the first of what is out.
    #[inline]
    pub fn prefetch_board(&self) {
        self.snd.board.prefetch();
    }

    /// Everything inside happens in the time of the connection's host.
    #[inline]
    fn set_clock(&mut self, now: Time) -> Time {
        let local = now + self.ahead_ns;
        self.clock = Clock::at(local);
        local
    }

    /// A segment arrived; `ecn` is the code point of its IP header.
    pub fn handle_segment(&mut self, now: Time, segment: &Segment, ecn: Ecn) {
        self.set_clock(now);
        if self.is_open() {
            self.on_segment(segment, ecn);
        } else {
            self.on_segment_outside_transfer(segment, ecn);
        }
    }

    /// Handles a segment before the handshake ends and after the close.
    #[cold]
    fn on_segment_outside_transfer(&mut self, segment: &Segment, ecn: Ecn) {
        match self.state {
            State::Established => unreachable!("handle_segment has it"),
            State::Listen => self.on_syn(segment),
            State::SynSent => self.on_syn_ack(segment),
            State::SynReceived => self.on_handshake_end(segment, ecn),
            State::Closed => self.on_segment_after_close(segment),
        }
    }

    /// A deadline of `poll_timeout` has come. Calls that are too early do
    /// nothing.
    pub fn handle_timeout(&mut self, now: Time) {
        let local = self.set_clock(now);
        self.fire_timers(local);
    }

    /// When `handle_timeout` wants to be called; `Time::MAX`: never.
    #[inline]
    pub fn poll_timeout(&self) -> Time {
        match self.timers.next() {
            Time::MAX => Time::MAX,
            local => Time(local.0.saturating_sub(self.ahead_ns)),
        }
    }

    /// The next segment to send and the code point of its IP header. To be
    /// called until it returns none, after every other call.
    pub fn poll_transmit(&mut self, now: Time) -> Option<(Segment, Ecn)> {
        let mut segment = Segment::default();
        let (ecn, _) = self.transmit(now, || &mut segment)?;
        Some((segment, ecn))
    }

    /// As `poll_transmit`, for those who have a place for the segment: it is asked for if there
    /// is one. Gives the length of its packet too.
    #[inline]
    pub fn transmit<'a>(
        &mut self,
        now: Time,
        place: impl FnOnce() -> &'a mut Segment,
    ) -> Option<(Ecn, u32)> {
        if self.written {
            self.on_written(now);
        }
        self.next_segment(place)
    }

    /// More data to send; `u64::MAX / 4` is a transfer without end. It is sent
    /// by the next `poll_transmit`.
    pub fn write(&mut self, bytes: u64) {
        if !self.snd.fin_queued && bytes > 0 {
            self.snd.fresh_write |= self.snd.unsent_data() == 0;
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

    #[cold]
    fn on_written(&mut self, now: Time) {
        if self.is_open() {
            self.written = false;
            self.set_clock(now);
            self.push_written();
        }
    }

    /// Bytes that have arrived in order since the last call: `Event::Delivered`, for
    /// those who do not want to ask for all events after each segment.
    #[inline]
    pub fn take_delivered(&mut self) -> u64 {
        std::mem::take(&mut self.pending.delivered)
    }

    /// Whether there is an event of those that `take_delivered` does not tell.
    #[inline]
    pub fn has_news(&self) -> bool {
        self.pending.news != 0
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<Event> {
        let pending = &mut self.pending;
        if pending.take(Pending::CONNECTED) {
            return Some(Event::Connected);
        }
        if pending.delivered > 0 {
            return Some(Event::Delivered(std::mem::take(&mut pending.delivered)));
        }
        if pending.take(Pending::PEER_CLOSED) {
            return Some(Event::PeerClosed);
        }
        pending.take(Pending::CLOSED).then_some(Event::Closed)
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
            pacing_rate: self.snd.pacing_rate,
        }
    }

    /// An acknowledgement may cover our FIN.
    pub(super) fn note_fin_acknowledged(&mut self) {
        let snd = &self.snd;
        if snd.fin_sent && snd.una > snd.write_end && !self.fin_acknowledged {
            self.fin_acknowledged = true;
        }
        if self.fin_acknowledged && self.rcv.fin_received && self.state != State::Closed {
            self.state = State::Closed;
            self.timers.clear();
            self.pending.add(Pending::CLOSED);
        }
    }

    /// TIME-WAIT, as far as it matters: a repeated FIN is acknowledged again.
    fn on_segment_after_close(&mut self, segment: &Segment) {
        if segment.seq_len() > 0 && self.rcv.fin_received {
            self.out.push(Out::Ack {
                ack: self.rcv.nxt,
                window: self.rcv.wnd,
                echo: Flags::default(),
            });
        }
    }

    /// A segment that the peer has seen already, to draw an acknowledgement.
    pub(super) fn send_window_probe(&mut self) {
        let seq = self.snd.una.saturating_sub(1);
        self.out.push(Out::Bare {
            seq,
            flags: Flags::ACK,
        });
    }
}
