// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! The receiving half: what has arrived, in order and out of order, and the
//! SACK blocks that tell of it (tcp_data_queue, tcp_sack_new_ofo_skb). The
//! application reads at once whatever is in order.

use std::collections::VecDeque;

use super::delack::AckTimer;
use super::rcvbuf::Buffer;
use crate::base::ecn::Ecn;
use crate::tcp::clock::Clock;
use crate::tcp::config::TcpConfig;
use crate::tcp::connection::{Connection, Pending};
use crate::tcp::segment::{Flags, Segment};
use crate::tcp::send::sender::Range;

/// Blocks that are remembered, the latest first.
const KEPT_BLOCKS: usize = 4;
/// A change in a block that would not be reported in this many makes a delayed
/// duplicate acknowledgement leave first.
const EXPECTED_BLOCKS: usize = 2;

/// Receiving half of a connection; laid out as written here, what every segment reads first.
#[derive(Clone, Debug)]
#[repr(C)]
pub(in crate::tcp) struct Receiver {
    /// Next offset expected, and the same when the window was last sent.
    pub nxt: u64,
    pub wup: u64,
    /// Window last sent, bytes; nothing that it depends on has changed since.
    pub wnd: u32,
    pub wnd_settled: bool,
    pub timestamps: bool,
    pub sack_ok: bool,
    pub fin_received: bool,
    /// Timestamp to echo.
    pub ts_recent: u32,
    pub ack: AckTimer,
    /// Blocks to report of `blocks`.
    block_count: usize,
    /// A duplicate to report before these.
    duplicate: Option<Range>,
    /// Offset behind the peer's FIN, once one has been seen.
    fin_end: Option<u64>,
    pub buffer: Buffer,
    early_bytes: u64,
    /// Out of order, by offset, touching ranges joined.
    early: VecDeque<Range>,
    /// Blocks to report, the latest first.
    pub blocks: [Range; KEPT_BLOCKS],
}

impl Receiver {
    pub fn new(config: &TcpConfig) -> Self {
        let buffer = Buffer::new(config);
        Self {
            nxt: 0,
            wup: 0,
            wnd: 0,
            wnd_settled: false,
            timestamps: false,
            sack_ok: false,
            ts_recent: 0,
            fin_received: false,
            fin_end: None,
            early: VecDeque::new(),
            early_bytes: 0,
            blocks: [(0, 0); KEPT_BLOCKS],
            block_count: 0,
            duplicate: None,
            ack: AckTimer::new(config),
            buffer,
        }
    }

    /// The peer's SYN has arrived.
    pub fn begin(&mut self, mss: u32, clock: Clock) {
        self.ack.last_received = clock.jiffies;
        self.ack.guess_mss(mss, self.wnd);
    }

    /// The handshake is complete.
    pub fn start_transfer(&mut self, mss: u32, clock: Clock) {
        self.buffer.start(mss, self.wnd, self.nxt, clock);
    }

    /// Window that the peer may still use.
    #[inline]
    pub fn open_window(&self) -> u64 {
        (self.wup + u64::from(self.wnd)).saturating_sub(self.nxt)
    }

    #[inline]
    pub fn has_early(&self) -> bool {
        !self.early.is_empty()
    }

    /// Whether the peer's FIN has been seen.
    #[inline]
    pub fn knows_end(&self) -> bool {
        self.fin_end.is_some()
    }

    /// The next data, while no gap is open.
    #[inline]
    pub fn accept_next(&mut self, end: u64) {
        self.wnd_settled = false;
        self.duplicate = None;
        self.nxt = end;
    }

    /// Bytes that wait: for a gap to be filled, or to be read.
    #[inline]
    pub fn held_bytes(&self) -> u64 {
        self.early_bytes + self.buffer.unread(self.nxt)
    }

    /// Window of our SYN, for segments of `mss` bytes. Only the field on the wire ends
    /// at 65,535 bytes; what the peer may not know yet is open nevertheless.
    pub fn open_syn_window(&mut self, mss: u32) {
        self.wnd = self.buffer.initial_window(mss);
    }

    #[inline]
    pub fn has_sacks(&self) -> bool {
        self.block_count > 0 || self.duplicate.is_some()
    }

    /// Adds the blocks to a segment: four, or three beside timestamps
    /// (RFC 2018 §3), a duplicate first (RFC 2883 §4).
    pub fn add_sacks(&mut self, segment: &mut Segment) {
        let mut room = if self.timestamps { 3 } else { 4 };
        if let Some((start, end)) = self.duplicate.take() {
            segment.push_sack(start, end);
            room -= 1;
        }
        for &(start, end) in self.blocks[..self.block_count].iter().take(room) {
            segment.push_sack(start, end);
        }
    }

    /// Whether data came from the peer so short a time ago that what is sent
    /// now may be an answer to it.
    #[inline]
    pub fn heard_within_ato(&self, jiffy: u64) -> bool {
        self.ack.ato > 0 && jiffy.saturating_sub(self.ack.last_received) < self.ack.ato
    }

    fn note_duplicate(&mut self, range: Range, dsack: bool) {
        if self.sack_ok && dsack {
            self.duplicate = Some(range);
        }
    }

    /// Enters a range that is out of order. Returns what of it was there
    /// already, if anything.
    fn insert_early(&mut self, (start, end): Range) -> Option<Range> {
        // Nearly always it continues or follows the last range.
        if let Some(last) = self.early.back_mut()
            && start >= last.0
            && start >= last.1
        {
            if start == last.1 {
                last.1 = end;
            } else {
                self.early.push_back((start, end));
            }
            self.early_bytes += end - start;
            return None;
        }
        let from = self.early.partition_point(|range| range.1 < start);
        let to = self.early.partition_point(|range| range.0 <= end);
        let mut joined = (start, end);
        let mut duplicate: Option<Range> = None;
        let mut held = 0;
        for range in self.early.range(from..to) {
            joined = (joined.0.min(range.0), joined.1.max(range.1));
            held += range.1 - range.0;
            let overlap = (range.0.max(start), range.1.min(end));
            if overlap.0 < overlap.1 {
                let known = duplicate.get_or_insert(overlap);
                *known = (known.0.min(overlap.0), known.1.max(overlap.1));
            }
        }
        self.early_bytes += (joined.1 - joined.0) - held;
        if from < to {
            self.early[from] = joined;
            self.early.drain(from + 1..to);
        } else {
            self.early.insert(from, joined);
        }
        duplicate
    }

    /// Reports `range` first. True: a block changed that the next
    /// acknowledgement would not have reported.
    fn report(&mut self, (start, end): Range) -> bool {
        let count = self.block_count;
        let touches = |block: &Range| start <= block.1 && block.0 <= end;
        if let Some(nth) = self.blocks[..count].iter().position(touches) {
            let block = self.blocks[nth];
            self.blocks[..=nth].rotate_right(1);
            self.blocks[0] = (start.min(block.0), end.max(block.1));
            self.join_blocks();
            return nth >= EXPECTED_BLOCKS;
        }
        let kept = count.min(KEPT_BLOCKS - 1);
        self.blocks[..=kept].rotate_right(1);
        self.blocks[0] = (start, end);
        self.block_count = kept + 1;
        count >= EXPECTED_BLOCKS
    }

    /// Joins the other blocks to the first where they touch it.
    fn join_blocks(&mut self) {
        let mut nth = 1;
        while nth < self.block_count {
            let (first, other) = (self.blocks[0], self.blocks[nth]);
            if other.0 <= first.1 && first.0 <= other.1 {
                self.blocks[0] = (first.0.min(other.0), first.1.max(other.1));
                self.blocks[nth..self.block_count].rotate_left(1);
                self.block_count -= 1;
            } else {
                nth += 1;
            }
        }
    }

    /// Forgets blocks that are no longer ahead.
    fn drop_blocks(&mut self) {
        let mut kept = 0;
        for nth in 0..self.block_count {
            if self.blocks[nth].0 > self.nxt {
                self.blocks[kept] = self.blocks[nth];
                kept += 1;
            }
        }
        self.block_count = kept;
    }

    /// Takes over what follows in order. Returns what arrived twice.
    fn drain_early(&mut self) -> Option<Range> {
        let high = self.nxt;
        let mut duplicate: Option<Range> = None;
        while let Some(&(start, end)) = self.early.front() {
            if start > self.nxt {
                break;
            }
            if start < high {
                let known = duplicate.get_or_insert((start, start));
                known.1 = end.min(high);
            }
            self.nxt = self.nxt.max(end);
            self.early_bytes -= end - start;
            self.early.pop_front();
        }
        duplicate
    }
}

impl Connection {
    /// A segment of an open connection (tcp_rcv_established).
    #[inline]
    pub(in crate::tcp) fn on_segment(&mut self, segment: &Segment, ecn: Ecn) {
        if segment.seq != self.rcv.nxt || !self.may_be_fast(segment) {
            self.on_any_segment(segment, ecn);
        } else if segment.len > 0 {
            if self.is_fast_data(segment) {
                self.on_fast_data(segment, ecn);
            } else {
                self.on_any_segment(segment, ecn);
            }
        } else if self.is_fast_ack(segment) {
            self.on_ack_alone(segment);
        } else {
            self.on_any_segment(segment, ecn);
        }
    }

    /// The same, whatever the segment brings.
    #[inline(never)]
    pub(in crate::tcp) fn on_any_segment(&mut self, segment: &Segment, ecn: Ecn) {
        if !segment.flags.has(Flags::ACK) || segment.flags.has(Flags::RST) {
            return;
        }
        if segment.flags.has(Flags::SYN) {
            // The peer repeats its SYN-ACK: it has not heard our answer.
            self.send_ack();
            return;
        }
        let end = segment.end_seq();
        if end < self.rcv.wup || segment.seq > self.rcv.nxt + self.rcv.open_window() {
            self.answer_unacceptable(segment, end);
            return;
        }
        self.note_timestamp(segment);
        let tells_nothing = segment.ack == self.snd.una
            && end > segment.seq
            && segment.sack_count() == 0
            && u64::from(segment.window) == self.snd.wnd
            && !segment.flags.has(Flags::ECE);
        if tells_nothing {
            self.snd.wl1 = segment.seq;
            self.accept_cwr(segment);
        } else if self.is_fast_ack(segment) {
            self.on_fast_ack(segment);
        } else {
            self.on_ack(segment);
        }
        if end > segment.seq {
            self.rcv.buffer.measure_by_echo(
                segment.ts_ecr,
                segment.len >= self.rcv.ack.mss,
                self.clock,
            );
            self.on_data(segment, end, ecn);
        }
        self.push_pending();
        self.settle_timer();
        if self.rcv.ack.scheduled {
            self.check_ack();
        }
        if end > segment.seq {
            self.read();
        }
        if self.snd.fin_sent {
            self.note_fin_acknowledged();
        }
    }

    /// Keeps the timestamp to echo (RFC 7323 §4.3).
    #[inline]
    pub(in crate::tcp) fn note_timestamp(&mut self, segment: &Segment) {
        if self.rcv.timestamps
            && segment.seq <= self.rcv.wup
            && segment.ts_val.wrapping_sub(self.rcv.ts_recent) as i32 >= 0
        {
            self.rcv.ts_recent = segment.ts_val;
        }
    }

    /// A segment outside the window is answered at once (RFC 9293 §3.10.7.4).
    #[cold]
    fn answer_unacceptable(&mut self, segment: &Segment, end: u64) {
        if end > segment.seq && segment.seq < self.rcv.nxt {
            self.enter_quick_ack(super::delack::MAX_QUICK_ACKS);
            let range = (segment.seq, end.min(self.rcv.nxt));
            self.rcv.note_duplicate(range, self.config.dsack);
        }
        self.send_ack();
    }

    /// Data (or a FIN) within the window.
    fn on_data(&mut self, segment: &Segment, end: u64, ecn: Ecn) {
        self.rcv.wnd_settled = false;
        self.rcv.duplicate = None;
        if segment.flags.has(Flags::FIN) {
            self.rcv.fin_end = Some(end);
        }
        let (seq, nxt) = (segment.seq, self.rcv.nxt);
        if seq == nxt {
            self.on_data_in_order(segment, end, ecn);
        } else if end <= nxt {
            self.rcv.note_duplicate((seq, end), self.config.dsack);
            self.enter_quick_ack(super::delack::MAX_QUICK_ACKS);
            self.rcv.ack.scheduled = true;
        } else if seq >= nxt + self.rcv.open_window() {
            self.enter_quick_ack(super::delack::MAX_QUICK_ACKS);
            self.rcv.ack.scheduled = true;
        } else if seq < nxt {
            self.rcv.note_duplicate((seq, nxt), self.config.dsack);
            self.on_data_in_order(segment, end, ecn);
        } else {
            self.on_data_early(segment, end, ecn);
        }
    }

    #[inline]
    fn on_data_in_order(&mut self, segment: &Segment, end: u64, ecn: Ecn) {
        let from = self.rcv.nxt;
        self.rcv.nxt = end;
        if segment.len > 0 {
            self.note_data_received(segment, ecn);
        }
        if self.rcv.has_early() {
            if let Some(range) = self.rcv.drain_early() {
                self.rcv.note_duplicate(range, self.config.dsack);
            }
            // The last gap is filled: the sender should know.
            self.rcv.ack.now |= !self.rcv.has_early();
        }
        if self.rcv.block_count > 0 {
            self.rcv.drop_blocks();
        }
        let fin = self
            .rcv
            .fin_end
            .is_some_and(|fin_end| self.rcv.nxt >= fin_end);
        self.pending.delivered += self.rcv.nxt - from - u64::from(fin);
        if fin {
            self.on_fin();
        }
    }

    fn on_data_early(&mut self, segment: &Segment, end: u64, ecn: Ecn) {
        self.note_codepoint(ecn);
        if self.rcv.held_bytes() > self.rcv.buffer.limit() {
            return;
        }
        self.measure_mss(segment);
        self.rcv.ack.scheduled = true;
        if self.rcv.sack_ok {
            self.grow_window(segment.len);
        }
        let range = (segment.seq, end);
        if let Some(duplicate) = self.rcv.insert_early(range) {
            self.rcv.note_duplicate(duplicate, self.config.dsack);
        }
        if self.rcv.sack_ok && self.rcv.report(range) {
            self.send_compressed_ack();
        }
    }

    /// The peer's FIN is in order.
    fn on_fin(&mut self) {
        if self.rcv.fin_received {
            return;
        }
        self.rcv.fin_received = true;
        self.pending.add(Pending::PEER_CLOSED);
        self.rcv.early.clear();
        self.rcv.early_bytes = 0;
        self.rcv.block_count = 0;
        if self.snd.fin_sent {
            self.send_ack();
        } else {
            // The application may close too: its FIN can carry the answer.
            self.rcv.ack.scheduled = true;
            self.rcv.ack.pingpong = self.rcv.ack.pingpong.max(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receiver() -> Receiver {
        let mut receiver = Receiver::new(&TcpConfig::default());
        receiver.nxt = 100;
        receiver.sack_ok = true;
        receiver
    }

    #[test]
    fn touching_ranges_join() {
        let mut rcv = receiver();
        assert_eq!(rcv.insert_early((200, 300)), None);
        assert_eq!(rcv.insert_early((400, 500)), None);
        assert_eq!(rcv.insert_early((300, 400)), None);
        assert_eq!(rcv.early, [(200, 500)]);
        assert_eq!(rcv.early_bytes, 300);
    }

    #[test]
    fn overlap_is_reported_as_duplicate() {
        let mut rcv = receiver();
        rcv.insert_early((200, 300));
        rcv.insert_early((400, 500));
        assert_eq!(rcv.insert_early((250, 450)), Some((250, 450)));
        assert_eq!(rcv.insert_early((220, 230)), Some((220, 230)));
        assert_eq!(rcv.early, [(200, 500)]);
    }

    #[test]
    fn latest_block_is_reported_first_and_four_are_kept() {
        let mut rcv = receiver();
        for start in [200, 400, 600, 800, 1000] {
            rcv.report((start, start + 100));
        }
        assert_eq!(rcv.block_count, 4);
        let blocks = [(1000, 1100), (800, 900), (600, 700), (400, 500)];
        assert_eq!(rcv.blocks, blocks);
        rcv.report((700, 800));
        assert_eq!(rcv.blocks[0], (600, 900));
        assert_eq!(rcv.block_count, 3);
    }

    #[test]
    fn filled_gap_takes_over_what_follows() {
        let mut rcv = receiver();
        rcv.insert_early((200, 300));
        rcv.insert_early((400, 500));
        rcv.nxt = 200;
        assert_eq!(rcv.drain_early(), None);
        assert_eq!((rcv.nxt, rcv.early_bytes), (300, 100));
    }
}
