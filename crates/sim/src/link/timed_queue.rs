// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Packets and when each is due, the next one first. Nearly all come in the order of their
//! times, or almost, and stand in a ring. One that would have to pass many there, as where
//! senders lie at unlike distances or jitter reorders, stands in a heap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::packet::PacketId;
use crate::base::ring::Ring;
use crate::base::time::Time;

/// Passing so many costs about what the heap does.
const NEAR: usize = 32;

/// When, then in which order they came: equal times keep it until 2^32 have come.
type Entry = (Time, u32, PacketId);

/// Packets by their times.
pub struct TimedQueue {
    /// The next, and when it is due: never, if none waits. It is asked for more often than
    /// it changes.
    next_id: PacketId,
    next: Time,
    near: Ring<Entry>,
    /// When the last of the ring is due, as long as it holds one.
    last: Time,
    far: BinaryHeap<Reverse<Entry>>,
    came: u32,
}

impl Default for TimedQueue {
    fn default() -> Self {
        Self {
            next_id: 0,
            next: Time::MAX,
            near: Ring::default(),
            last: Time(0),
            far: BinaryHeap::new(),
            came: 0,
        }
    }
}

impl TimedQueue {
    /// How many wait.
    #[inline]
    pub fn len(&self) -> usize {
        self.near.len() + self.far.len()
    }

    /// Whether none waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.next == Time::MAX
    }

    /// When the next is due; never: none waits.
    #[inline]
    pub fn next_at(&self) -> Time {
        self.next
    }

    /// The next.
    #[inline]
    pub fn next_id(&self) -> Option<PacketId> {
        (!self.is_empty()).then_some(self.next_id)
    }

    #[inline]
    fn set_next(&mut self, next: Option<Entry>) {
        (self.next, self.next_id) = next.map_or((Time::MAX, 0), |(at, _, id)| (at, id));
    }

    fn earlier(&self, near: Option<Entry>) -> Option<Entry> {
        let far = self.far.peek().map(|&Reverse(entry)| entry);
        near.into_iter().chain(far).min()
    }

    /// One that is due soon, about the `nth`.
    #[inline]
    pub fn glance(&self, nth: usize) -> Option<PacketId> {
        self.near.get(nth).map(|(_, _, id)| id)
    }

    /// Adds one that no other is later than.
    #[inline]
    pub fn push_back(&mut self, at: Time, id: PacketId) {
        debug_assert!(at < Time::MAX, "what is never due does not wait");
        self.came = self.came.wrapping_add(1);
        self.near.push_back((at, self.came, id));
        self.last = at;
        self.note(at, id);
    }

    #[inline]
    fn note(&mut self, at: Time, id: PacketId) {
        if at < self.next {
            (self.next, self.next_id) = (at, id);
        }
    }

    /// Adds one behind all that are not later. True: it is the next.
    #[inline(always)]
    pub fn insert(&mut self, at: Time, id: PacketId) -> bool {
        let first = at < self.next;
        if self.last <= at {
            self.push_back(at, id);
        } else {
            self.insert_before(at, id);
        }
        first
    }

    /// Adds one before others.
    fn insert_before(&mut self, at: Time, id: PacketId) {
        self.came = self.came.wrapping_add(1);
        let entry = (at, self.came, id);
        if !self.near.insert(entry, NEAR, |(other, _, _)| other > at) {
            self.far.push(Reverse(entry));
        }
        self.last = self.near.back().map_or(Time(0), |(last, _, _)| last);
        self.note(at, id);
    }

    /// Takes the next out.
    #[inline]
    pub fn pop_front(&mut self) -> Option<PacketId> {
        let id = self.next_id()?;
        self.drop_next();
        Some(id)
    }

    /// Takes the next out, if it is due.
    #[inline]
    pub fn pop_due(&mut self, now: Time) -> Option<PacketId> {
        debug_assert!(now < Time::MAX, "what is never due does not wait");
        if self.next > now {
            return None;
        }
        let id = self.next_id;
        self.drop_next();
        Some(id)
    }

    #[inline]
    fn drop_next(&mut self) {
        if self.far.is_empty() {
            self.near.drop_front();
            self.set_next(self.near.front());
        } else {
            self.pop_earlier();
        }
    }

    fn pop_earlier(&mut self) {
        let near = self.near.front();
        if self.earlier(near) == near {
            self.near.pop_front();
        } else {
            self.far.pop();
        }
        self.set_next(self.earlier(self.near.front()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rng::Rng;

    /// Times of which many are equal, drawn from a span of so many others.
    fn agrees_with_a_stable_sort(span: u64) {
        let mut rng = Rng::stream(1, "agenda");
        let (mut queue, mut sorted) = (TimedQueue::default(), Vec::new());
        for id in 0..20_000 {
            let at = Time(u64::from(id) / 4 + rng.below(span) / 3 * 3);
            let first = sorted.iter().all(|&(other, _)| at < other);
            assert_eq!(queue.insert(at, id), first);
            sorted.push((at, id));
            sorted.sort_by_key(|&(at, _)| at);
            if id % 3 == 0 || sorted.len() > 200 {
                assert_eq!(queue.next_at(), sorted[0].0);
                assert_eq!(queue.pop_front(), Some(sorted.remove(0).1));
            }
            assert_eq!(queue.len(), sorted.len());
        }
        while !sorted.is_empty() {
            assert_eq!(queue.next_at(), sorted[0].0);
            assert_eq!(queue.pop_front(), Some(sorted.remove(0).1));
        }
        assert!(queue.is_empty() && queue.pop_front().is_none());
    }

    #[test]
    fn packets_leave_by_time_and_equals_as_they_came() {
        for span in [1, 8, 60, 4_000] {
            agrees_with_a_stable_sort(span);
        }
    }
}
