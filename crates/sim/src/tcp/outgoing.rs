// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! What has been decided to be sent, in order, and how it becomes segments.

use std::collections::VecDeque;

use super::connection::{Connection, State};
use super::receive::rcvbuf::MAX_UNSCALED;
use super::segment::{Flags, Segment};
use crate::base::ecn::Ecn;

/// Segments of data from `seq` to `end`, back to back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Burst {
    pub seq: u64,
    pub end: u64,
    /// What the first one carries beside the others' flags (CWR), and the last one (FIN, PSH).
    pub first: Flags,
    pub last: Flags,
    /// Sent for the first time.
    pub new_data: bool,
    /// All of them are full.
    pub whole: bool,
}

impl Burst {
    /// Whether `next` can join this run: the same segments would leave.
    #[inline]
    fn continues_with(&self, next: &Self) -> bool {
        self.end == next.seq
            && self.new_data == next.new_data
            && self.last == Flags::default()
            && next.first == Flags::default()
            && self.whole
    }
}

/// Something to be put on the wire.
#[derive(Clone, Copy, Debug)]
pub(super) enum Out {
    Data(Burst),
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
    #[inline(always)]
    pub fn push(&mut self, out: Out) {
        if self.first.is_none() {
            self.first = Some(out);
        } else {
            self.push_behind(out);
        }
    }

    #[cold]
    fn push_behind(&mut self, out: Out) {
        self.rest.push_back(out);
    }

    /// Adds a run of data, to the last one if it continues it.
    #[inline]
    pub fn push_burst(&mut self, run: Burst) {
        match self.rest.back_mut().or(self.first.as_mut()) {
            Some(Out::Data(last)) if last.continues_with(&run) => {
                last.end = run.end;
                last.last = run.last;
                last.whole = run.whole;
            }
            _ => self.push(Out::Data(run)),
        }
    }

    #[inline]
    fn pop(&mut self) {
        self.first = None;
        if !self.rest.is_empty() {
            self.first = self.rest.pop_front();
        }
    }
}

impl Connection {
    /// Writes the next segment of the output, if there is one. Gives its code point and the
    /// length of its packet.
    #[inline]
    pub(super) fn next_segment<'a>(
        &mut self,
        place: impl FnOnce() -> &'a mut Segment,
    ) -> Option<(Ecn, u32)> {
        // By reference: an entry fills half a cache line, and little of it is wanted here.
        let out = self.out.first.as_mut()?;
        let into = place();
        match out {
            Out::Data(run) => {
                let (seq, new_data) = (run.seq, run.new_data);
                let mut flags = Flags::ACK.with(run.first).with(self.ecn.echo());
                let rest_end = seq + u64::from(self.snd.mss);
                let end = rest_end.min(run.end);
                if rest_end < run.end {
                    run.seq = end;
                    run.first = Flags::default();
                } else {
                    flags = flags.with(run.last);
                    self.out.pop();
                }
                let len = (end - seq) as u32;
                let bytes = self.dress(into, seq, self.rcv.nxt, len, self.rcv.wnd, flags);
                // A FIN alone is no data and travels Not-ECT.
                Some((self.ecn_of(new_data && len > 0), bytes))
            }
            Out::Ack { ack, window, echo } => {
                let (ack, window, flags) = (*ack, *window, Flags::ACK.with(*echo));
                self.out.pop();
                self.counts.acks_sent += 1;
                let bytes = self.dress(into, self.snd.nxt, ack, 0, window, flags);
                Some((self.ecn_of(false), bytes))
            }
            Out::Bare { seq, flags } => {
                let (seq, flags) = (*seq, *flags);
                self.out.pop();
                let ecn = self.build_bare(seq, flags, into);
                Some((ecn, into.wire_bytes()))
            }
        }
    }

    #[cold]
    fn build_bare(&mut self, seq: u64, flags: Flags, into: &mut Segment) -> Ecn {
        self.dress(into, seq, self.rcv.nxt, 0, self.rcv.wnd, flags);
        if !flags.has(Flags::SYN) {
            return self.ecn_of(false);
        }
        if self.state == State::SynSent && self.config.timestamps {
            // A first SYN asks for what the peer may grant.
            into.ts_val = self.clock.stamp();
            into.ts_ecr = self.rcv.ts_recent;
        }
        into.window = into.window.min(MAX_UNSCALED);
        into.sack_permitted = self.config.sack;
        if self.cc.needs_ecn() && self.config.ecn {
            self.capable()
        } else {
            Ecn::NotEct
        }
    }

    /// Writes a segment with its options; gives the length of its packet if it is no SYN. Field
    /// by field: room for SACK blocks that are not there is not touched.
    #[inline]
    fn dress(
        &mut self,
        into: &mut Segment,
        seq: u64,
        ack: u64,
        len: u32,
        window: u32,
        flags: Flags,
    ) -> u32 {
        self.counts.pkts_sent += 1;
        into.seq = seq;
        into.ack = ack;
        into.len = len;
        into.window = window.min(self.rcv.buffer.largest_field());
        (into.ts_val, into.ts_ecr) = if self.rcv.timestamps {
            (self.clock.stamp(), self.rcv.ts_recent)
        } else {
            (0, 0)
        };
        into.flags = flags;
        into.sack_permitted = false;
        into.clear_sack();
        if self.rcv.has_sacks() {
            self.rcv.add_sacks(into);
            return into.wire_bytes();
        }
        Segment::data_bytes(len, self.rcv.timestamps)
    }
}
