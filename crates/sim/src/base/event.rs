// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! The pending events. A source of events is a stage of a link or a timer of a connection. It has
//! at most one event pending, and queues its other events itself. So the number of pending events
//! is that of busy sources, not that of packets in flight.
//!
//! There are two kinds of sources. Links are busy: each is due within about a packet time, and few
//! are due at once. They are in a short sorted list. Timers are due much later, and most of them
//! move before they expire. They are in a heap.
//!
//! Events are ordered by time, then by the order of scheduling, on every machine. An event that is
//! scheduled as the first comes before others of its time.

use super::time::Time;

/// Number of a source of events.
pub type Source = u32;

/// The low bits of a key name its source: 16 million of them.
const SOURCE_BITS: u32 = 24;

/// Time above, then order of scheduling, then source: one comparison decides.
type Key = u128;

/// The place of a source that is not in the heap.
const ABSENT: u32 = u32::MAX;

/// A heap of fours: half as deep as one of pairs, and four keys fill a cache line.
const CHILDREN: usize = 4;

/// The list keeps this many at most; the heap takes the rest.
const LIST_MAX: usize = 64;

/// An event whose time has come.
#[derive(Clone, Copy, Debug)]
pub struct Due {
    /// When.
    pub at: Time,
    /// Who.
    pub source: Source,
}

/// The pending events.
#[derive(Default)]
pub struct Events {
    list: List,
    heap: Vec<Key>,
    /// Where each source stands in the heap.
    places: Vec<u32>,
    busy: Vec<bool>,
    scheduled: u64,
}

/// Few keys, sorted, the next one at `first`. A new key comes in from the end that is nearer: neither
/// many that are due much later cost anything, nor many that are due before. Places are taken modulo
/// the size, a power of two: then none has to be checked.
struct List {
    keys: [Key; LIST_MAX],
    first: usize,
    len: usize,
}

impl Default for List {
    fn default() -> Self {
        Self {
            keys: [0; LIST_MAX],
            first: 0,
            len: 0,
        }
    }
}

impl List {
    #[inline]
    fn next(&self) -> Option<Key> {
        (self.len > 0).then(|| self.keys[self.first % LIST_MAX])
    }

    #[inline]
    fn pop(&mut self) {
        self.first = self.first.wrapping_add(1);
        self.len -= 1;
    }

    #[inline]
    fn at(&mut self, nth: usize) -> &mut Key {
        &mut self.keys[self.first.wrapping_add(nth) % LIST_MAX]
    }

    #[inline]
    fn insert(&mut self, key: Key) {
        let middle = self.len / 2;
        self.len += 1;
        if key < *self.at(middle) && middle > 0 {
            self.first = self.first.wrapping_sub(1);
            self.insert_from_front(key);
        } else {
            self.insert_from_back(key);
        }
    }

    #[inline]
    fn insert_from_front(&mut self, key: Key) {
        let mut place = 0;
        loop {
            let behind = *self.at(place + 1);
            if key < behind {
                break;
            }
            *self.at(place) = behind;
            place += 1;
        }
        *self.at(place) = key;
    }

    #[inline]
    fn insert_from_back(&mut self, key: Key) {
        let mut place = self.len - 1;
        while place > 0 {
            let before = *self.at(place - 1);
            if before < key {
                break;
            }
            *self.at(place) = before;
            place -= 1;
        }
        *self.at(place) = key;
    }

    fn remove(&mut self, source: Source) {
        let mut found = false;
        for place in 0..self.len {
            found |= source_of(*self.at(place)) == source;
            if found {
                *self.at(place) = *self.at(place + 1);
            }
        }
        self.len -= usize::from(found);
    }
}

#[inline]
fn source_of(key: Key) -> Source {
    (key & ((1 << SOURCE_BITS) - 1)) as Source
}

impl Events {
    /// A new source, not scheduled. `busy`: its events are near, and many.
    pub fn add_source(&mut self, busy: bool) -> Source {
        let source = self.places.len() as Source;
        assert!(source < 1 << SOURCE_BITS, "too many sources of events");
        self.places.push(ABSENT);
        self.busy.push(busy);
        source
    }

    /// How often anything was scheduled.
    pub fn scheduled(&self) -> u64 {
        self.scheduled
    }

    /// Takes the next event out.
    #[inline]
    pub fn pop(&mut self) -> Option<Due> {
        let key = match self.list.next() {
            Some(listed) if self.heap.first().is_none_or(|&first| listed < first) => {
                self.list.pop();
                listed
            }
            _ => {
                let first = *self.heap.first()?;
                self.take_out(0);
                self.places[source_of(first) as usize] = ABSENT;
                first
            }
        };
        Some(Due {
            at: Time((key >> 64) as u64),
            source: source_of(key),
        })
    }

    #[inline]
    fn key(&mut self, source: Source, at: Time) -> Key {
        self.scheduled += 1;
        // 40 bits of order: they repeat after 10^12 events, and matter only at
        // equal times.
        let order = self.scheduled << SOURCE_BITS | u64::from(source);
        Key::from(at.0) << 64 | Key::from(order)
    }

    /// Schedules a busy source that is not pending.
    #[inline]
    pub fn schedule_idle(&mut self, source: Source, at: Time) {
        let key = self.key(source, at);
        if self.list.len < LIST_MAX {
            self.list.insert(key);
        } else {
            self.push(source, key);
        }
    }

    /// Schedules a source, or moves it to another time.
    pub fn schedule(&mut self, source: Source, at: Time) {
        let place = self.places[source as usize];
        if place == ABSENT && self.busy[source as usize] {
            self.list.remove(source);
            return self.schedule_idle(source, at);
        }
        let key = self.key(source, at);
        if place == ABSENT {
            self.push(source, key);
        } else if key < self.heap[place as usize] {
            self.rise(place as usize, key);
        } else {
            self.sink(place as usize, key);
        }
    }

    /// Schedules a source that is not pending, before all others of the same time.
    pub fn schedule_first(&mut self, source: Source, at: Time) {
        self.scheduled += 1;
        self.push(source, Key::from(at.0) << 64 | Key::from(source));
    }

    /// Takes the pending event of a source back.
    pub fn cancel(&mut self, source: Source) {
        let place = std::mem::replace(&mut self.places[source as usize], ABSENT);
        if place != ABSENT {
            self.take_out(place as usize);
        } else if self.busy[source as usize] {
            self.list.remove(source);
        }
    }

    fn push(&mut self, source: Source, key: Key) {
        let place = self.heap.len();
        self.places[source as usize] = place as u32;
        self.heap.push(key);
        self.rise(place, key);
    }

    fn take_out(&mut self, place: usize) {
        let Some(last) = self.heap.pop() else { return };
        let Some(&old) = self.heap.get(place) else {
            return;
        };
        if last < old {
            self.rise(place, last);
        } else {
            self.sink(place, last);
        }
    }

    fn rise(&mut self, mut place: usize, key: Key) {
        let heap = self.heap.as_mut_slice();
        while place > 0 {
            let parent = (place - 1) / CHILDREN;
            let above = heap[parent];
            if above < key {
                break;
            }
            heap[place] = above;
            self.places[source_of(above) as usize] = place as u32;
            place = parent;
        }
        heap[place] = key;
        self.places[source_of(key) as usize] = place as u32;
    }

    fn sink(&mut self, mut place: usize, key: Key) {
        let heap = self.heap.as_mut_slice();
        loop {
            let first = CHILDREN * place + 1;
            let children = heap.iter().enumerate().skip(first).take(CHILDREN);
            let Some((child, &below)) = children.min_by_key(|&(_, &child)| child) else {
                break;
            };
            if key < below {
                break;
            }
            heap[place] = below;
            self.places[source_of(below) as usize] = place as u32;
            place = child;
        }
        heap[place] = key;
        self.places[source_of(key) as usize] = place as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drain(events: &mut Events) -> Vec<(u64, Source)> {
        let mut order = Vec::new();
        while let Some(due) = events.pop() {
            order.push((due.at.0, due.source));
        }
        order
    }

    #[test]
    fn equal_times_come_in_the_order_of_scheduling() {
        let mut events = Events::default();
        let sources: Vec<_> = (0..9).map(|i| events.add_source(i % 2 == 0)).collect();
        for &source in sources.iter().rev() {
            events.schedule(source, Time(7));
        }
        let order: Vec<_> = drain(&mut events).into_iter().map(|(_, s)| s).collect();
        assert_eq!(order, [8, 7, 6, 5, 4, 3, 2, 1, 0]);
    }

    #[test]
    fn source_moves_both_ways_and_stands_once() {
        let mut events = Events::default();
        let sources: Vec<_> = (0..400).map(|i| events.add_source(i % 3 > 0)).collect();
        for (i, &source) in sources.iter().enumerate() {
            events.schedule(source, Time(1_000 + (i as u64 * 7_919) % 997));
        }
        for (i, &source) in sources.iter().enumerate() {
            events.schedule(source, Time((i as u64 * 104_729) % 2_003));
        }
        events.cancel(sources[5]);
        let order = drain(&mut events);
        assert_eq!(order.len(), 399);
        assert!(order.is_sorted_by_key(|&(at, _)| at));
    }

    #[test]
    fn later_sources_may_come_first() {
        let mut events = Events::default();
        for i in 0..100 {
            let source = events.add_source(i % 2 == 0);
            events.schedule(source, Time(1_000 - i));
        }
        let order = drain(&mut events);
        assert_eq!(order.len(), 100);
        assert_eq!(order[0], (901, 99));
    }

    #[test]
    fn source_may_schedule_itself_anew() {
        let mut events = Events::default();
        let source = events.add_source(true);
        events.schedule_idle(source, Time(1));
        assert_eq!(events.pop().unwrap().at, Time(1));
        events.schedule_idle(source, Time(2));
        events.schedule(source, Time(3));
        assert_eq!(drain(&mut events), [(3, source)]);
    }
}
