// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Segments as they nearly always are, in a transfer that goes one way: data that comes in
//! order while no gap is open, and acknowledgements without data (`ack_fast`). The same as
//! `receiver` does for them, without the questions whose answer is known; a test plays
//! transfers both ways and expects the same packets. What these ways call is compiled into
//! them (`inline(always)`): 3 % of all instructions.

use crate::base::ecn::Ecn;
use crate::tcp::connection::Connection;
use crate::tcp::segment::{Flags, Segment};

impl Connection {
    /// Whether it has nothing that only some segments carry.
    #[inline]
    pub(in crate::tcp) fn may_be_fast(&self, segment: &Segment) -> bool {
        segment.flags.0 & !Flags::PSH.0 == Flags::ACK.0
            && segment.sack_used == 0
            && !self.use_long_way
    }

    /// Of such a segment with data, in order: whether it is full and asks for no more, since
    /// no gap is open and this end has nothing to send.
    #[inline]
    pub(in crate::tcp) fn is_fast_data(&self, segment: &Segment) -> bool {
        let (snd, rcv) = (&self.snd, &self.rcv);
        segment.len >= rcv.ack.mss
            && segment.ack == snd.una
            && u64::from(segment.window) == snd.wnd
            && snd.write_end <= snd.nxt
            && !(snd.fin_queued | snd.fin_sent)
            && !rcv.has_early()
            && !rcv.knows_end()
    }

    #[inline]
    pub(in crate::tcp) fn on_fast_data(&mut self, segment: &Segment, ecn: Ecn) {
        let len = u64::from(segment.len);
        self.note_timestamp(segment);
        self.snd.wl1 = segment.seq;
        self.rcv
            .buffer
            .measure_by_echo(segment.ts_ecr, true, self.clock);
        self.rcv.accept_next(segment.seq + len);
        self.note_data_received(segment, ecn);
        self.pending.delivered += len;
        if self.reader_answers() {
            self.take_read();
            self.send_ack();
        } else {
            self.check_ack();
            self.read();
        }
    }

    /// Such a segment without data, whose acknowledgement is fast too.
    #[inline]
    pub(in crate::tcp) fn on_ack_alone(&mut self, segment: &Segment) {
        self.note_timestamp(segment);
        self.on_fast_ack(segment);
        self.push_pending();
        self.settle_timer();
        if self.rcv.ack.scheduled {
            self.check_ack();
        }
        if self.snd.fin_sent {
            self.note_fin_acknowledged();
        }
    }
}
