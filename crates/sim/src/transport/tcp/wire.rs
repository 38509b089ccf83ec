// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! What has been decided to be sent, in order, and how it becomes segments.

use std::collections::VecDeque;

use super::connection::{Connection, State};
use super::rcvbuf::MAX_UNSCALED;
use super::segment::{Flags, Segment};
use crate::transport::Ecn;

/// Segments of data from `seq` to `end`, back to back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub seq: u64,
    pub end: u64,
    /// The last one carries FIN, PSH.
    pub fin: bool,
    pub push: bool,
    /// Sent for the first time.
    pub new_data: bool,
    /// The first one carries CWR.
    pub cwr: bool,
    /// All of them are full.
    pub whole: bool,
}

impl Run {
    /// Whether `next` can join this run: the same segments would leave.
    #[inline]
    fn continues_with(&self, next: &Self) -> bool {
        self.end == next.seq
            && self.new_data == next.new_data
            && !self.push
            && !self.fin
            && !next.cwr
            && self.whole
    }
}

/// Something to be put on the wire.
#[derive(Clone, Copy, Debug)]
pub(super) enum Out {
    Data(Run),
    /// An acknowledgement of all below `ack`, with the window and the echo of
    /// the moment: another may follow at once.
    Ack {
        ack: u64,
        window: u32,
        echo: Flags,
    },
    /// A segment without data at `seq`.
    Bare {
        seq: u64,
        flags: Flags,
    },
}

/// A queue that nearly always holds one entry at most: the first has a place
/// of its own.
#[derive(Debug, Default)]
pub(super) struct OutQueue {
    first: Option<Out>,
    rest: VecDeque<Out>,
}

impl OutQueue {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    #[inline]
    pub fn push(&mut self, out: Out) {
        if self.first.is_none() {
            self.first = Some(out);
        } else {
            self.rest.push_back(out);
        }
    }

    /// Adds a run of data, to the last one if it continues it.
    #[inline]
    pub fn push_run(&mut self, run: Run) {
        match self.rest.back_mut().or(self.first.as_mut()) {
            Some(Out::Data(last)) if last.continues_with(&run) => {
                last.end = run.end;
                last.push = run.push;
                last.fin = run.fin;
                last.whole = run.whole;
            }
            _ => self.push(Out::Data(run)),
        }
    }

    #[inline]
    fn pop(&mut self) {
        self.first = self.rest.pop_front();
    }
}

impl Connection {
    /// Writes the next segment of the output, if there is one.
    #[inline]
    pub(super) fn next_segment(&mut self, into: &mut Segment) -> Option<Ecn> {
        match self.out.first? {
            Out::Data(run) => Some(self.build_data(run, into)),
            Out::Ack { ack, window, echo } => {
                self.out.pop();
                self.stats.acks_sent += 1;
                let flags = Flags::ACK.with(echo);
                self.dress(into, self.snd.nxt, ack, 0, window, flags);
                Some(self.ecn_of(false))
            }
            Out::Bare { seq, flags } => {
                self.out.pop();
                Some(self.build_bare(seq, flags, into))
            }
        }
    }

    #[inline]
    fn build_data(&mut self, run: Run, into: &mut Segment) -> Ecn {
        let end = (run.seq + u64::from(self.snd.mss)).min(run.end);
        let last = end == run.end;
        if last {
            self.out.pop();
        } else if let Some(Out::Data(rest)) = &mut self.out.first {
            rest.seq = end;
            rest.cwr = false;
        }
        let len = (end - run.seq) as u32;
        let flags = Flags::ACK
            .with(Flags::when(last && run.push, Flags::PSH))
            .with(Flags::when(last && run.fin, Flags::FIN))
            .with(Flags::when(run.cwr, Flags::CWR))
            .with(self.ecn.echo());
        self.dress(into, run.seq, self.rcv.nxt, len, self.rcv.wnd, flags);
        // A FIN alone is no data and travels Not-ECT.
        self.ecn_of(run.new_data && len > 0)
    }

    fn build_bare(&mut self, seq: u64, flags: Flags, into: &mut Segment) -> Ecn {
        self.dress(into, seq, self.rcv.nxt, 0, self.rcv.wnd, flags);
        if !flags.has(Flags::SYN) {
            return self.ecn_of(false);
        }
        into.window = into.window.min(MAX_UNSCALED);
        into.sack_permitted = self.config.sack;
        if self.cc.needs_ecn() && self.config.ecn {
            self.capable()
        } else {
            Ecn::NotEct
        }
    }

    /// Writes a segment with its options. Field by field: room for SACK blocks that
    /// are not there is not touched.
    #[inline]
    fn dress(
        &mut self,
        into: &mut Segment,
        seq: u64,
        ack: u64,
        len: u32,
        window: u32,
        flags: Flags,
    ) {
        let asks = self.state == State::SynSent && self.config.timestamps;
        let timestamps = self.rcv.timestamps || asks;
        self.stats.pkts_sent += 1;
        into.seq = seq;
        into.ack = ack;
        into.len = len;
        into.window = window.min(self.rcv.buffer.largest_field());
        into.ts_val = if timestamps { self.clock.stamp() } else { 0 };
        into.ts_ecr = if timestamps { self.rcv.ts_recent } else { 0 };
        into.flags = flags;
        into.sack_permitted = false;
        into.clear_sack();
        if self.rcv.has_sacks() {
            self.rcv.add_sacks(into);
        }
    }
}
