// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! SACK blocks of an acknowledgement, entered in the scoreboard (RFC 2018,
//! RFC 2883, RFC 6675; tcp_sacktag_write_queue).

use super::ack::{AckState, Is};
use super::scoreboard::{COUNTED, EVER_RETRANS, LOST, RETRANS, SACKED};
use super::sender::Range;
use crate::tcp::cc::window::CaState;
use crate::tcp::connection::Connection;
use crate::tcp::segment::{MAX_SACK_BLOCKS, Segment};

impl Connection {
    /// Enters the SACK blocks of `segment`.
    pub(in crate::tcp) fn tag_sacked(&mut self, segment: &Segment, ack: &mut AckState) {
        if !self.snd.sack_ok {
            return;
        }
        let mut reported = [(0, 0); MAX_SACK_BLOCKS];
        let mut count = 0;
        for block in segment.sack_blocks() {
            reported[count] = block;
            count += 1;
        }
        let duplicate = self.check_duplicate(segment.ack, &reported[..count], ack);
        if self.snd.board.is_empty() {
            return;
        }
        let mut blocks = [(0, 0); MAX_SACK_BLOCKS];
        let mut used = 0;
        for (nth, &block) in reported[..count].iter().enumerate() {
            let is_duplicate = duplicate && nth == 0;
            if !self.is_valid_block(block, is_duplicate) || block.1 <= ack.prior_una {
                continue;
            }
            if is_duplicate {
                self.tag_range(block, block, true, ack);
            } else {
                blocks[used] = block;
                used += 1;
            }
        }
        blocks[..used].sort_unstable();
        for &block in &blocks[..used] {
            self.tag_news(block, ack);
        }
        self.snd.sack_cache = blocks;
        let judge = self.snd.window.state != CaState::Loss || self.snd.undo.marker.is_some();
        if judge {
            self.note_reordering(ack.reordered);
        }
    }

    /// Whether a block can be believed (tcp_is_sackblock_valid): it lies in
    /// what was sent, and in what is out unless it reports a duplicate.
    fn is_valid_block(&self, (start, end): Range, duplicate: bool) -> bool {
        let snd = &self.snd;
        if start >= end || end > snd.nxt {
            return false;
        }
        if start > snd.una {
            return true;
        }
        let Some(marker) = snd.undo.marker.filter(|_| duplicate) else {
            return false;
        };
        if end > snd.una {
            return false;
        }
        start >= marker || (end > marker && start + snd.max_wnd >= end)
    }

    /// Whether the first block reports a duplicate (RFC 2883 §4): it lies below
    /// the acknowledgement or within the second block.
    fn check_duplicate(&mut self, acked: u64, blocks: &[Range], ack: &mut AckState) -> bool {
        let Some(&(start, end)) = blocks.first() else {
            return false;
        };
        if start >= acked {
            match blocks.get(1) {
                Some(&(outer_start, outer_end)) if start >= outer_start && end <= outer_end => {}
                _ => return false,
            }
        }
        let segments = self.note_duplicate(start, end, ack);
        if segments == 0 {
            return false;
        }
        let undo = &mut self.snd.undo;
        if let Some(marker) = undo.marker
            && let Some(retrans) = undo.retrans
            && end <= ack.prior_una
            && end > marker
        {
            undo.retrans = Some(retrans.saturating_sub(segments));
        }
        true
    }

    /// Counts a reported duplicate; 0 when it cannot be ours (tcp_dsack_seen).
    fn note_duplicate(&mut self, start: u64, end: u64, ack: &mut AckState) -> u32 {
        let snd = &mut self.snd;
        if start >= end || end - start > snd.max_wnd {
            return 0;
        }
        let mss = u64::from(snd.mss);
        let mut segments = 1;
        if end - start > mss {
            segments = (end - start).div_ceil(mss) as u32;
        } else if snd.probe.is_some_and(|probe| probe.high_seq == end) {
            ack.is.set(Is::DSACK_PROBE);
        }
        snd.dsack_dups = snd.dsack_dups.wrapping_add(segments);
        // More duplicates than retransmissions: the network duplicates.
        if snd.dsack_dups > snd.total_retrans {
            return 0;
        }
        if snd.reordering_seen > 0 && !ack.is.any(Is::DSACK_PROBE) {
            snd.rack.dsack_seen = true;
        }
        ack.is.set(Is::DSACKING);
        ack.sack_delivered += segments;
        segments
    }

    /// Tags what the last acknowledgement did not report already.
    fn tag_news(&mut self, block: Range, ack: &mut AckState) {
        let mut from = block.0;
        if self.snd.sacked_out > 0 {
            let known = self.snd.sack_cache;
            for (known_start, known_end) in known {
                if known_end <= from || known_start >= block.1 {
                    continue;
                }
                if from < known_start {
                    self.tag_range((from, known_start), block, false, ack);
                }
                from = known_end;
            }
        }
        if from < block.1 {
            self.tag_range((from, block.1), block, false, ack);
        }
    }

    /// Tags the entries that touch `part` and lie within `block`.
    fn tag_range(&mut self, part: Range, block: Range, duplicate: bool, ack: &mut AckState) {
        let mut number = self.snd.board.find(part.0, self.snd.mss);
        while number != self.snd.board.tail() {
            let entry = self.snd.board.get(number);
            if entry.seq >= part.1 {
                break;
            }
            if entry.seq >= block.0 && entry.end() <= block.1 {
                self.tag_one(number, duplicate, ack);
            }
            number = number.wrapping_add(1);
        }
    }

    /// Marks one entry (tcp_sacktag_one).
    fn tag_one(&mut self, number: u32, duplicate: bool, ack: &mut AckState) {
        let entry = *self.snd.board.get(number);
        let end = entry.end();
        if duplicate && entry.has(EVER_RETRANS | RETRANS) {
            self.note_needless(&entry, end, ack);
        }
        if end <= self.snd.una {
            return;
        }
        let mut marks = entry.marks;
        if !entry.has(SACKED) {
            self.rack_advance(entry.marks, end, entry.sent_us);
            if entry.has(RETRANS) {
                // Which of the two transmissions arrived is unknown.
                if entry.has(LOST) {
                    marks &= !(LOST | RETRANS);
                    self.snd.lost_out -= 1;
                    self.snd.retrans_out -= 1;
                }
            } else {
                if !entry.has(EVER_RETRANS) {
                    self.note_original(&entry, end, ack);
                }
                if entry.has(LOST) {
                    marks &= !LOST;
                    self.snd.lost_out -= 1;
                }
            }
            marks |= SACKED;
            ack.is.set(Is::DATA_SACKED);
            self.snd.sacked_out += 1;
            ack.sack_delivered += 1;
            let hint = self.snd.lost_hint;
            if hint != super::scoreboard::NONE && self.snd.board.is_before(number, hint) {
                self.snd.lost_hint_sacked += 1;
            }
        }
        if duplicate && marks & RETRANS != 0 {
            marks &= !RETRANS;
            self.snd.retrans_out -= 1;
        }
        if !entry.has(COUNTED) {
            ack.note_delivery(entry.sent_us, end, entry.delivered);
            marks |= COUNTED;
        }
        self.snd.board.get_mut(number).marks = marks;
        self.snd.board.unlink(number);
        self.snd.sacked_end = self.snd.sacked_end.max(end);
    }

    /// A retransmitted segment is reported as a duplicate.
    fn note_needless(&mut self, entry: &super::scoreboard::Entry, end: u64, ack: &mut AckState) {
        let undo = &mut self.snd.undo;
        if let Some(marker) = undo.marker
            && let Some(retrans) = undo.retrans
            && end > marker
        {
            undo.retrans = Some(retrans.saturating_sub(1));
        }
        if entry.has(SACKED) {
            ack.reordered = ack.reordered.min(entry.seq);
        }
    }

    /// A segment that was sent once only has arrived: late, perhaps.
    fn note_original(&mut self, entry: &super::scoreboard::Entry, end: u64, ack: &mut AckState) {
        if entry.seq < self.snd.forward_ack() {
            ack.reordered = ack.reordered.min(entry.seq);
        }
        if end <= self.snd.high_seq {
            ack.is.set(Is::ORIGINAL_ACKED);
        }
        if ack.first_sack_us.is_none() {
            ack.first_sack_us = Some(entry.sent_us);
        }
        ack.last_sack_us = entry.sent_us;
    }

    /// Something at `low` arrived after the highest that is known to have
    /// arrived: packets are reordered by so much (tcp_check_sack_reordering).
    pub(in crate::tcp) fn note_reordering(&mut self, low: u64) {
        let snd = &mut self.snd;
        let forward = snd.forward_ack();
        if low >= forward {
            return;
        }
        let mss = u64::from(snd.mss);
        let distance = forward - low;
        if distance > u64::from(snd.reordering) * mss {
            let packets = distance.div_ceil(mss).min(u64::from(u32::MAX)) as u32;
            snd.reordering = packets.min(self.config.max_reordering_pkts);
        }
        snd.reordering_seen = snd.reordering_seen.wrapping_add(1);
    }
}
