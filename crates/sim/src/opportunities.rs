// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! A link that follows a trace: at each recorded opportunity one packet leaves, whatever its
//! size, and what is not used is lost. The trace begins again where it ends.

use crate::port::Port;
use crate::scenario::OpportunitySpec;
use crate::shared::Shared;
use crate::time::{NS_PER_MS, Time};

/// The opportunities of a link, and how far they are used.
pub struct Opportunities {
    spec: OpportunitySpec,
    /// The next one, and when its cycle began.
    next: usize,
    cycle_at_ns: u64,
    /// The event `service` is due at the next one.
    pub waits: bool,
}

impl Opportunities {
    /// None is used.
    pub fn new(spec: OpportunitySpec) -> Self {
        Self {
            spec,
            next: 0,
            cycle_at_ns: 0,
            waits: false,
        }
    }

    /// When the next one comes, not before now.
    fn next_at(&mut self, now: Time) -> Time {
        let cycle_ns = self.spec.cycle_ms * NS_PER_MS;
        let cycles = now.0.saturating_sub(self.cycle_at_ns) / cycle_ns;
        // In a whole cycle later its last opportunities may be due at this very moment.
        if cycles > 1 {
            self.cycle_at_ns += (cycles - 1) * cycle_ns;
            self.next = 0;
        }
        loop {
            while let Some(&at_ms) = self.spec.at_ms.get(self.next) {
                let at_ns = self.cycle_at_ns + u64::from(at_ms) * NS_PER_MS;
                if at_ns >= now.0 {
                    return Time(at_ns);
                }
                self.next += 1;
            }
            self.cycle_at_ns += cycle_ns;
            self.next = 0;
        }
    }

    /// Sends what waits at the opportunities of this moment; then waits for the next.
    pub fn serve(&mut self, now: Time, port: &mut Port, shared: &mut Shared) {
        if self.waits {
            return;
        }
        while port.queue.backlog_pkts() > 0 {
            let at = self.next_at(now);
            if at > now {
                self.waits = true;
                return shared.events.schedule(port.service, at);
            }
            self.next += 1;
            let Some((id, _)) = port.take(now, shared) else {
                return;
            };
            port.depart(now, now, id, shared);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opportunities(at_ms: &[u32], cycle_ms: u64) -> Opportunities {
        Opportunities::new(OpportunitySpec {
            at_ms: at_ms.to_vec(),
            cycle_ms,
        })
    }

    /// Times in ms at which one after the other is used from `from_ms` on.
    fn used(trace: &mut Opportunities, from_ms: u64, count: usize) -> Vec<u64> {
        let mut now = Time(from_ms * NS_PER_MS);
        let mut use_next = || {
            now = trace.next_at(now);
            trace.next += 1;
            now.0 / NS_PER_MS
        };
        (0..count).map(|_| use_next()).collect()
    }

    #[test]
    fn each_is_used_once_and_the_trace_begins_again() {
        let mut trace = opportunities(&[0, 3, 3, 10], 10);
        assert_eq!(
            used(&mut trace, 0, 10),
            [0, 3, 3, 10, 10, 13, 13, 20, 20, 23]
        );
    }

    #[test]
    fn what_was_not_used_is_lost() {
        let mut trace = opportunities(&[1, 2, 5], 5);
        assert_eq!(used(&mut trace, 4, 2), [5, 6]);
        assert_eq!(used(&mut trace, 1_000_000, 2), [1_000_000, 1_000_001]);
    }
}
