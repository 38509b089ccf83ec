// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Bytes that a driver's ring may hold: a fixed number, or as few as keep its line busy. Linux
//! calls the second byte queue limits (`lib/dynamic_queue_limits.c`, version 6.12); each packet
//! here is a completion of its own.

use crate::base::time::{NS_PER_S, Time};
use crate::scenario::ByteLimitSpec;

/// How long the least slack is watched before the limit falls.
const HOLD_NS: u64 = NS_PER_S;

/// The bytes in a ring, and how many there may be. Counts run through the whole run.
pub struct ByteLimit {
    is_fixed: bool,
    limit: u64,
    queued: u64,
    completed: u64,
    /// What `queued` was at the completion before.
    queued_before: u64,
    /// How far the ring was over its limit at the completion before.
    over_before: u64,
    /// The length of the last packet that came, and what that was at the completion before.
    last_len: u64,
    last_len_before: u64,
    /// The least that was too much, and since when that is watched.
    least_slack: u64,
    slack_since: Time,
    /// Up to this many may have been queued at all.
    allowed: u64,
}

impl ByteLimit {
    /// An empty ring's; none where bytes are not bounded.
    pub fn new(spec: ByteLimitSpec) -> Option<Self> {
        let limit = match spec {
            ByteLimitSpec::Off => return None,
            ByteLimitSpec::Dynamic => 0,
            ByteLimitSpec::Fixed(bytes) => u64::from(bytes),
        };
        Some(Self {
            is_fixed: spec != ByteLimitSpec::Dynamic,
            limit,
            queued: 0,
            completed: 0,
            queued_before: 0,
            over_before: 0,
            last_len: 0,
            last_len_before: 0,
            least_slack: u64::MAX,
            slack_since: Time(0),
            allowed: limit,
        })
    }

    /// Whether one more packet may come, whatever its length.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.queued <= self.allowed
    }

    /// A packet comes.
    pub fn queue(&mut self, len_bytes: u32) {
        self.last_len = u64::from(len_bytes);
        self.queued += self.last_len;
    }

    /// A packet has been sent.
    pub fn complete(&mut self, now: Time, len_bytes: u32) {
        let completed = self.completed + u64::from(len_bytes);
        let mut over = (self.queued - self.completed).saturating_sub(self.limit);
        let limit = self.next_limit(now, completed, over);
        if limit != self.limit {
            self.limit = limit;
            over = 0;
        }
        self.allowed = self.limit + completed;
        self.over_before = over;
        self.last_len_before = self.last_len;
        self.completed = completed;
        self.queued_before = self.queued;
    }

    fn next_limit(&mut self, now: Time, completed: u64, over: u64) -> u64 {
        if self.is_fixed {
            return self.limit;
        }
        let left = self.queued > completed;
        let all_before_sent = completed >= self.queued_before;
        if (over > 0 && !left) || (self.over_before > 0 && all_before_sent) {
            // It ran dry although more had come than it was to hold.
            self.restart(now);
            return self.limit + completed.saturating_sub(self.queued_before) + self.over_before;
        }
        if left && self.queued_before > self.completed && !all_before_sent {
            self.note_slack(completed);
            if now > self.slack_since + HOLD_NS {
                let limit = self.limit.saturating_sub(self.least_slack);
                self.restart(now);
                return limit;
            }
        }
        self.limit
    }

    fn restart(&mut self, now: Time) {
        self.slack_since = now;
        self.least_slack = u64::MAX;
    }

    fn note_slack(&mut self, completed: u64) {
        let sent = completed - self.completed;
        let slack = (self.limit + self.over_before).saturating_sub(2 * sent);
        let of_last = match self.over_before {
            0 => 0,
            over => self.last_len_before.saturating_sub(over),
        };
        self.least_slack = self.least_slack.min(slack.max(of_last));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fills a ring whenever it has room, sends a packet each `gap_ns`; gives the most bytes that
    /// it held over the last quarter.
    fn most_held(spec: ByteLimitSpec, packets: u64, gap_ns: u64) -> u64 {
        let mut ring = ByteLimit::new(spec).expect("it bounds bytes");
        let mut most = 0;
        for nth in 0..packets {
            while ring.has_room() {
                ring.queue(1_514);
            }
            if nth > packets * 3 / 4 {
                most = most.max(ring.queued - ring.completed);
            }
            ring.complete(Time(nth * gap_ns), 1_514);
        }
        most
    }

    #[test]
    fn a_dynamic_limit_holds_a_few_packets_where_completions_are_prompt() {
        let held = most_held(ByteLimitSpec::Dynamic, 100_000, 121_120);
        assert!((1_514..=4 * 1_514).contains(&held), "{held}");
    }

    #[test]
    fn a_fixed_limit_is_passed_by_a_packet_at_most() {
        let held = most_held(ByteLimitSpec::Fixed(30_000), 1_000, 121_120);
        assert!((30_000..30_000 + 1_514).contains(&held), "{held}");
    }
}
