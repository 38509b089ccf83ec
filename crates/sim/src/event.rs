// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! What happens next: a 4-ary heap in which each source of events stands at most
//! once. A source is a stage of a link, a timer of a connection, a sender; its own
//! queue of later events is its own affair. The heap's size is therefore the number
//! of sources, never that of packets in flight.
//!
//! Order is (time, order of scheduling), so equal times are served in the order in
//! which they were asked for, on every machine.

use crate::time::Time;

/// Number of a source of events.
pub type Source = u32;

/// Not in the heap.
const ABSENT: u32 = u32::MAX;
const ARITY: usize = 4;

#[derive(Clone, Copy)]
struct Entry {
    /// Time in the upper half, order of scheduling in the lower: one comparison.
    key: u128,
    source: Source,
}

/// The pending events.
#[derive(Default)]
pub struct Events {
    heap: Vec<Entry>,
    /// Where each source stands in the heap.
    places: Vec<u32>,
    scheduled: u64,
}

impl Events {
    /// A new source, not scheduled.
    pub fn add_source(&mut self) -> Source {
        self.places.push(ABSENT);
        (self.places.len() - 1) as Source
    }

    /// How often anything was scheduled.
    pub fn scheduled(&self) -> u64 {
        self.scheduled
    }

    /// When and who is next.
    #[inline]
    pub fn next(&self) -> Option<(Time, Source)> {
        let first = self.heap.first()?;
        Some((time_of(first.key), first.source))
    }

    /// When a source is due; `Time::MAX`: it is not scheduled.
    #[inline]
    pub fn due(&self, source: Source) -> Time {
        match self.places[source as usize] {
            ABSENT => Time::MAX,
            place => time_of(self.heap[place as usize].key),
        }
    }

    /// Schedules a source, or moves it to another time.
    #[inline]
    pub fn schedule(&mut self, source: Source, at: Time) {
        self.scheduled += 1;
        let entry = Entry {
            key: u128::from(at.0) << 64 | u128::from(self.scheduled),
            source,
        };
        match self.places[source as usize] {
            ABSENT => {
                self.heap.push(entry);
                self.sift_up(self.heap.len() - 1, entry);
            }
            place if entry.key < self.heap[place as usize].key => {
                self.sift_up(place as usize, entry);
            }
            place => self.sift_down(place as usize, entry),
        }
    }

    /// Takes a source out.
    #[inline]
    pub fn cancel(&mut self, source: Source) {
        let place = self.places[source as usize];
        if place == ABSENT {
            return;
        }
        let place = place as usize;
        self.places[source as usize] = ABSENT;
        let Some(last) = self.heap.pop() else { return };
        if place == self.heap.len() {
            return;
        }
        if last.key < self.heap[place].key {
            self.sift_up(place, last);
        } else {
            self.sift_down(place, last);
        }
    }

    #[inline]
    fn put(&mut self, place: usize, entry: Entry) {
        self.heap[place] = entry;
        self.places[entry.source as usize] = place as u32;
    }

    fn sift_up(&mut self, mut place: usize, entry: Entry) {
        while place > 0 {
            let parent = (place - 1) / ARITY;
            if self.heap[parent].key < entry.key {
                break;
            }
            self.put(place, self.heap[parent]);
            place = parent;
        }
        self.put(place, entry);
    }

    fn sift_down(&mut self, mut place: usize, entry: Entry) {
        loop {
            let first = place * ARITY + 1;
            let end = (first + ARITY).min(self.heap.len());
            let Some(least) = (first..end).min_by_key(|&child| self.heap[child].key) else {
                break;
            };
            if entry.key < self.heap[least].key {
                break;
            }
            self.put(place, self.heap[least]);
            place = least;
        }
        self.put(place, entry);
    }
}

#[inline]
fn time_of(key: u128) -> Time {
    Time((key >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drain(events: &mut Events) -> Vec<(u64, Source)> {
        let mut order = Vec::new();
        while let Some((at, source)) = events.next() {
            events.cancel(source);
            order.push((at.0, source));
        }
        order
    }

    #[test]
    fn equal_times_come_in_the_order_of_scheduling() {
        let mut events = Events::default();
        let sources: Vec<_> = (0..9).map(|_| events.add_source()).collect();
        for &source in sources.iter().rev() {
            events.schedule(source, Time(7));
        }
        let order: Vec<_> = drain(&mut events).into_iter().map(|(_, s)| s).collect();
        assert_eq!(order, [8, 7, 6, 5, 4, 3, 2, 1, 0]);
    }

    #[test]
    fn source_moves_both_ways_and_stands_once() {
        let mut events = Events::default();
        let sources: Vec<_> = (0..40).map(|_| events.add_source()).collect();
        for (i, &source) in sources.iter().enumerate() {
            events.schedule(source, Time(1_000 + (i as u64 * 7_919) % 997));
        }
        for (i, &source) in sources.iter().enumerate() {
            events.schedule(source, Time((i as u64 * 104_729) % 2_003));
        }
        events.cancel(sources[5]);
        let order = drain(&mut events);
        assert_eq!(order.len(), 39);
        assert!(order.is_sorted_by_key(|&(at, _)| at));
    }
}
