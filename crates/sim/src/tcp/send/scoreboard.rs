// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! The segments that are sent and not yet acknowledged: one ring of entries
//! in order of sequence, and through it a list in order of last transmission.
//!
//! Entries are named by a running number that does not change while the ring
//! grows, so an index can be kept across calls. Running numbers are 32 bits:
//! the window is far smaller, and all comparisons are relative to the head.

use sojourn_core::{Cells, prefetch};

/// The entry has been selectively acknowledged.
pub(in crate::tcp) const SACKED: u8 = 1;
/// A retransmission of the entry is on its way.
pub(in crate::tcp) const RETRANS: u8 = 2;
/// The entry is taken for lost.
pub(in crate::tcp) const LOST: u8 = 4;
/// The entry has been retransmitted at least once.
pub(in crate::tcp) const EVER_RETRANS: u8 = 8;
/// The entry carries a SYN.
pub(in crate::tcp) const SYN: u8 = 16;
/// The entry carries a FIN.
pub(in crate::tcp) const FIN: u8 = 32;
/// The entry was sent with PSH.
pub(in crate::tcp) const PSH: u8 = 64;
/// The entry has been counted as delivered in a rate sample.
pub(in crate::tcp) const COUNTED: u8 = 128;

/// No entry.
pub(in crate::tcp) const NONE: u32 = u32::MAX;
const INITIAL_CAPACITY: usize = 16;

/// One segment.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::tcp) struct Entry {
    /// First offset.
    pub seq: u64,
    /// Last transmission in microseconds.
    pub sent_us: u64,
    /// Packets delivered when it was last sent.
    pub delivered: u32,
    /// Length in sequence space, SYN and FIN included.
    pub len: u32,
    /// Neighbours in order of transmission. The newest points to the entry that is yet to
    /// come, so that adding one costs no look at another; `older` of the oldest means
    /// nothing; `newer` of one that is not in the order is `NONE`.
    older: u32,
    newer: u32,
    /// Marks above.
    pub marks: u8,
}

impl Entry {
    /// Offset behind the entry.
    #[inline]
    pub fn end(&self) -> u64 {
        self.seq + u64::from(self.len)
    }

    #[inline]
    pub fn has(&self, marks: u8) -> bool {
        self.marks & marks != 0
    }
}

/// The ring.
#[derive(Debug)]
pub(in crate::tcp) struct Scoreboard {
    ring: Cells<Entry>,
    /// Running number of the oldest entry and of the one behind the newest.
    head: u32,
    tail: u32,
    /// Ends of the list in order of transmission.
    oldest: u32,
    newest: u32,
}

impl Scoreboard {
    pub fn new() -> Self {
        Self::of(Cells::new(INITIAL_CAPACITY))
    }

    /// The same without entries. A ring that has grown is given back.
    pub fn emptied(self) -> Self {
        match self.ring.count() {
            INITIAL_CAPACITY => Self::of(self.ring),
            _ => Self::new(),
        }
    }

    fn of(ring: Cells<Entry>) -> Self {
        Self {
            ring,
            head: 0,
            tail: 0,
            oldest: NONE,
            newest: NONE,
        }
    }

    /// Fetches the oldest entry.
    #[inline]
    pub fn prefetch(&self) {
        prefetch(self.get(self.head));
    }

    /// Number of entries: the packets that are out.
    #[inline]
    pub fn len(&self) -> u32 {
        self.tail.wrapping_sub(self.head)
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.head == self.tail
    }

    /// Running number of the oldest entry.
    #[inline]
    pub fn head(&self) -> u32 {
        self.head
    }

    /// Running number behind the newest entry.
    #[inline]
    pub fn tail(&self) -> u32 {
        self.tail
    }

    #[inline]
    pub fn get(&self, number: u32) -> &Entry {
        self.ring.get(number as usize)
    }

    #[inline]
    pub fn get_mut(&mut self, number: u32) -> &mut Entry {
        self.ring.get_mut(number as usize)
    }

    /// The oldest entry.
    #[inline]
    pub fn first(&self) -> Option<&Entry> {
        (!self.is_empty()).then(|| self.get(self.head))
    }

    /// Appends a segment that is being sent.
    #[inline(always)]
    pub fn push(&mut self, seq: u64, len: u32, sent_us: u64, delivered: u32, marks: u8) {
        if self.len() as usize == self.ring.count() {
            self.grow();
        }
        let (number, older) = (self.tail, self.newest);
        let newer = number.wrapping_add(1);
        self.tail = newer;
        *self.get_mut(number) = Entry {
            seq,
            sent_us,
            delivered,
            len,
            older,
            newer,
            marks,
        };
        if older == NONE {
            self.oldest = number;
        }
        self.newest = number;
    }

    /// Removes the oldest entry.
    #[inline]
    pub fn pop(&mut self) {
        let number = self.head;
        if self.oldest == number || !self.get(number).has(SACKED) {
            self.unlink(number);
        }
        self.head = self.head.wrapping_add(1);
    }

    /// Removes the entries from the oldest on that `is_acked` says, where none was sent
    /// twice: so their order of transmission is that of the ring.
    #[inline]
    pub fn pop_while(&mut self, mut is_acked: impl FnMut(&Entry) -> bool) {
        let (mut number, mut oldest) = (self.head, self.oldest);
        while number != self.tail {
            let entry = self.get(number);
            if !is_acked(entry) {
                break;
            }
            if oldest == number {
                oldest = entry.newer;
            }
            number = number.wrapping_add(1);
        }
        self.head = number;
        self.oldest = oldest;
        if oldest == self.tail {
            self.oldest = NONE;
            self.newest = NONE;
        }
    }

    #[cold]
    fn grow(&mut self) {
        let mut ring = Cells::new(2 * self.ring.count());
        for offset in 0..self.len() {
            let number = self.head.wrapping_add(offset);
            *ring.get_mut(number as usize) = *self.get(number);
        }
        self.ring = ring;
    }

    /// Number of the entry that holds `seq`, or of the first entry behind it.
    /// Nearly all segments are full, so a division nearly finds it.
    pub fn find(&self, seq: u64, mss: u32) -> u32 {
        let Some(first) = self.first() else {
            return self.tail;
        };
        if seq <= first.seq {
            return self.head;
        }
        let guess = (seq - first.seq) / u64::from(mss.max(1));
        let guess = guess.min(u64::from(self.len() - 1)) as u32;
        let mut number = self.head.wrapping_add(guess);
        while self.get(number).seq > seq {
            number = number.wrapping_sub(1);
        }
        while number != self.tail && self.get(number).end() <= seq {
            number = number.wrapping_add(1);
        }
        number
    }

    /// Whether `a` is in front of `b` in the ring.
    #[inline]
    pub fn is_before(&self, a: u32, b: u32) -> bool {
        a.wrapping_sub(self.head) < b.wrapping_sub(self.head)
    }

    /// The entry that was sent longest ago and is neither acknowledged nor
    /// given up.
    #[inline]
    pub fn oldest_sent(&self) -> u32 {
        self.oldest
    }

    /// The entry sent next after `number`.
    #[inline]
    pub fn sent_after(&self, number: u32) -> u32 {
        match self.get(number).newer {
            newer if newer == self.tail => NONE,
            newer => newer,
        }
    }

    fn link_newest(&mut self, number: u32) {
        let (newest, tail) = (self.newest, self.tail);
        if newest == NONE {
            self.oldest = number;
        } else {
            self.get_mut(newest).newer = number;
        }
        self.newest = number;
        let entry = self.get_mut(number);
        entry.older = newest;
        entry.newer = tail;
    }

    /// Takes an entry out of the order of transmission; one that is not in it
    /// stays out.
    pub fn unlink(&mut self, number: u32) {
        let Entry { older, newer, .. } = *self.get(number);
        if newer == NONE {
            return;
        }
        let (first, last) = (number == self.oldest, number == self.newest);
        if last {
            self.newest = if first { NONE } else { older };
        } else {
            self.get_mut(newer).older = older;
        }
        if first {
            self.oldest = if last { NONE } else { newer };
        } else {
            self.get_mut(older).newer = newer;
        }
        self.get_mut(number).newer = NONE;
    }

    /// Puts an entry at the end of the order of transmission.
    pub fn sent_again(&mut self, number: u32, sent_us: u64, delivered: u32) {
        self.unlink(number);
        self.link_newest(number);
        let entry = self.get_mut(number);
        entry.sent_us = sent_us;
        entry.delivered = delivered;
        entry.marks &= !COUNTED;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board(segments: u32) -> Scoreboard {
        let mut board = Scoreboard::new();
        for n in 0..segments {
            board.push(1 + u64::from(n) * 1000, 1000, u64::from(n), n, 0);
        }
        board
    }

    fn order(board: &Scoreboard) -> Vec<u32> {
        let mut numbers = Vec::new();
        let mut number = board.oldest_sent();
        while number != NONE {
            numbers.push(number);
            number = board.sent_after(number);
        }
        numbers
    }

    #[test]
    fn entry_takes_40_bytes() {
        assert!(size_of::<Entry>() <= 40);
    }

    #[test]
    fn ring_grows_without_losing_order() {
        let mut board = board(10);
        for _ in 0..7 {
            board.pop();
        }
        for n in 10..60 {
            board.push(1 + n * 1000, 1000, n, 0, 0);
        }
        assert_eq!(board.len(), 53);
        assert_eq!(board.first().unwrap().seq, 7001);
        assert_eq!(order(&board), (7..60).collect::<Vec<_>>());
    }

    #[test]
    fn ring_of_a_connection_before_begins_as_a_new_one() {
        for segments in [7, 60] {
            let mut before = board(segments);
            before.sent_again(2, 100, 9);
            let mut after = before.emptied();
            assert!(after.is_empty() && after.oldest_sent() == NONE);
            assert_eq!(after.ring.count(), INITIAL_CAPACITY);
            for n in 0..4 {
                after.push(1 + n * 1000, 1000, n, 0, 0);
            }
            assert_eq!(order(&after), [0, 1, 2, 3]);
        }
    }

    #[test]
    fn find_meets_short_segments_too() {
        let mut board = Scoreboard::new();
        for n in 0..10 {
            board.push(n * 100, 100, 0, 0, 0);
        }
        board.push(1000, 1000, 0, 0, 0);
        assert_eq!(board.find(350, 1000), 3);
        assert_eq!(board.find(1999, 1000), 10);
        assert_eq!(board.find(2000, 1000), board.tail());
        assert_eq!(board.find(0, 1000), 0);
    }

    #[test]
    fn retransmission_moves_to_the_end_of_the_order_of_transmission() {
        let mut board = board(4);
        board.sent_again(1, 100, 9);
        assert_eq!(order(&board), [0, 2, 3, 1]);
        board.unlink(0);
        board.unlink(0);
        assert_eq!(order(&board), [2, 3, 1]);
        board.sent_again(0, 101, 9);
        assert_eq!(order(&board), [2, 3, 1, 0]);
        assert_eq!(board.get(0).sent_us, 101);
        board.push(4001, 1000, 102, 9, 0);
        board.unlink(4);
        board.push(5001, 1000, 103, 9, 0);
        assert_eq!(order(&board), [2, 3, 1, 0, 5]);
    }

    #[test]
    fn what_is_acknowledged_together_leaves_as_one_by_one() {
        for acked in 0..=6 {
            let (mut together, mut single) = (board(6), board(6));
            for board in [&mut together, &mut single] {
                board.unlink(0);
                board.unlink(3);
            }
            together.pop_while(|entry| entry.end() <= 1 + 1000 * acked);
            for _ in 0..acked {
                single.pop();
            }
            for board in [&mut together, &mut single] {
                board.push(6001, 1000, 6, 6, 0);
            }
            assert_eq!(together.head(), single.head());
            assert_eq!(order(&together), order(&single));
        }
    }
}
