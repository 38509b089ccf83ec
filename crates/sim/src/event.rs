// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! What happens next: a tournament over the sources of events.
//!
//! A source (a link, a pipe, a timer) has at most one pending event; whatever it
//! holds behind that waits in a FIFO of its own. So the number of keys is the
//! number of sources, never of packets in flight, and to change one costs a walk
//! of log2(sources) steps without branches.

use crate::time::Time;

/// Low bits of a key that name the source; 16 million of them.
const SOURCE_BITS: u32 = 24;
/// Bits of the sequence number: 10^12 events, a day of computing.
const SEQUENCE_BITS: u32 = 40;
/// Later than every key.
const NEVER: u128 = u128::MAX;

/// Something that can have one pending event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source(pub u32);

/// Place of an event in the order: by time, then by sequence number, which says
/// which event was asked for first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment {
    /// When it happens.
    pub time: Time,
    /// Which of equal times comes first.
    pub sequence: u64,
}

/// All pending events.
pub struct Events {
    /// A complete binary tree: node `i` holds the lesser key of `2i` and
    /// `2i + 1`; leaf `capacity + s` is that of source `s`.
    keys: Vec<u128>,
    capacity: usize,
    sources: usize,
    sequence: u64,
}

impl Events {
    /// No sources yet.
    #[must_use]
    pub fn new() -> Self {
        Events {
            keys: vec![NEVER; 2],
            capacity: 1,
            sources: 0,
            sequence: 0,
        }
    }

    /// A new source without a pending event.
    ///
    /// # Panics
    /// Beyond 2^24 sources.
    pub fn add_source(&mut self) -> Source {
        assert!(self.sources < 1 << SOURCE_BITS, "too many event sources");
        if self.sources == self.capacity {
            self.grow();
        }
        self.sources += 1;
        Source(self.sources as u32 - 1)
    }

    fn grow(&mut self) {
        let old = std::mem::take(&mut self.keys);
        self.keys = vec![NEVER; 4 * self.capacity];
        let leaves = 2 * self.capacity;
        self.keys[leaves..leaves + self.capacity].copy_from_slice(&old[self.capacity..]);
        self.capacity = leaves;
        for node in (1..leaves).rev() {
            self.keys[node] = self.keys[2 * node].min(self.keys[2 * node + 1]);
        }
    }

    /// A moment at `time`, behind all that were asked for at that time before.
    #[inline]
    pub fn moment(&mut self, time: Time) -> Moment {
        self.sequence += 1;
        Moment {
            time,
            sequence: self.sequence,
        }
    }

    /// Events asked for so far.
    #[must_use]
    pub fn asked(&self) -> u64 {
        self.sequence
    }

    /// Whether sequence numbers have run out.
    #[must_use]
    pub fn exhausted(&self) -> bool {
        self.sequence >= 1 << SEQUENCE_BITS
    }

    /// The source's event is now at `moment`, whatever it was before.
    #[inline]
    pub fn arm(&mut self, source: Source, moment: Moment) {
        let low = moment.sequence << SOURCE_BITS | u64::from(source.0);
        self.set(source, u128::from(moment.time.0) << 64 | u128::from(low));
    }

    /// The source has no event any more.
    #[inline]
    pub fn disarm(&mut self, source: Source) {
        self.set(source, NEVER);
    }

    #[inline]
    fn set(&mut self, source: Source, key: u128) {
        let mut node = self.capacity + source.0 as usize;
        let mut least = key;
        self.keys[node] = key;
        while node > 1 {
            least = least.min(self.keys[node ^ 1]);
            node >>= 1;
            self.keys[node] = least;
        }
    }

    /// The first event, if there is one. It stays until its source is armed anew
    /// or disarmed.
    #[inline]
    #[must_use]
    pub fn first(&self) -> Option<(Time, Source)> {
        let key = self.keys[1];
        (key != NEVER).then(|| {
            let source = key as u32 & ((1 << SOURCE_BITS) - 1);
            (Time((key >> 64) as u64), Source(source))
        })
    }
}

impl Default for Events {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(events: &mut Events) -> Vec<(u64, u32)> {
        let mut out = Vec::new();
        while let Some((time, source)) = events.first() {
            out.push((time.0, source.0));
            events.disarm(source);
        }
        out
    }

    #[test]
    fn equal_times_keep_the_order_of_asking() {
        let mut events = Events::new();
        let sources: Vec<_> = (0..5).map(|_| events.add_source()).collect();
        for i in [3, 1, 4, 0] {
            let moment = events.moment(Time(if i == 4 { 5 } else { 7 }));
            events.arm(sources[i], moment);
        }
        assert_eq!(order(&mut events), [(5, 4), (7, 3), (7, 1), (7, 0)]);
    }

    #[test]
    fn arming_again_replaces_the_event() {
        let mut events = Events::new();
        let source = events.add_source();
        for time in [9, 3, 6] {
            let moment = events.moment(Time(time));
            events.arm(source, moment);
        }
        assert_eq!(order(&mut events), [(6, 0)]);
    }

    #[test]
    fn growing_keeps_pending_events() {
        let mut events = Events::new();
        for i in 0..100 {
            let source = events.add_source();
            let moment = events.moment(Time((i * 37) % 101));
            events.arm(source, moment);
        }
        let times: Vec<_> = order(&mut events).iter().map(|e| e.0).collect();
        assert_eq!(times.len(), 100);
        assert!(times.is_sorted());
    }
}
