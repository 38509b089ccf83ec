// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! A link that follows a trace. At each recorded opportunity so many bytes leave, as in mahimahi's
//! `mm-link`: several small packets may share one, and a packet that does not fit takes the rest of
//! its bytes from the next. Or one packet leaves, whatever its size. Bytes that find no packet are lost.
//! The trace begins again where it ends.

use super::gate::Gate;
use super::packet::PacketId;
use super::shaper::PacketSource;
use super::shared::Shared;
use super::wire::Wire;
use crate::base::time::{NS_PER_MS, Time};
use crate::scenario::OpportunitySpec;

/// The opportunities of a link, and how far they are used.
pub struct Opportunities {
    spec: OpportunitySpec,
    /// The next one, and when its cycle began.
    next: usize,
    cycle_at_ns: u64,
    /// A packet of which some bytes have left, and how many have not.
    begun: Option<(PacketId, u32)>,
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
            begun: None,
            waits: false,
        }
    }

    /// Tells whether a packet is out of the queue and not yet on the propagation.
    pub fn holds_packet(&self) -> bool {
        self.begun.is_some()
    }

    /// When the next one comes, not before now.
    fn next_at(&mut self, now: Time) -> Time {
        let cycle_ns = self.spec.cycle_ns();
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
    pub fn serve(&mut self, now: Time, gate: &mut Gate, wire: &mut Wire, shared: &mut Shared) {
        if self.waits {
            return;
        }
        while self.begun.is_some() || gate.queue.backlog_pkts() > 0 {
            let at = self.next_at(now);
            if at > now {
                self.waits = true;
                return shared.events.schedule(wire.service, at);
            }
            self.next += 1;
            match self.spec.bytes {
                Some(bytes) => self.send_bytes(bytes, now, gate, wire, shared),
                None => self.send_packet(now, gate, wire, shared),
            }
        }
    }

    fn send_bytes(
        &mut self,
        mut bytes: u32,
        now: Time,
        gate: &mut Gate,
        wire: &mut Wire,
        shared: &mut Shared,
    ) {
        while bytes > 0 {
            let Some((id, left)) = self.begun.take().or_else(|| gate.take(now, shared)) else {
                return;
            };
            if left > bytes {
                self.begun = Some((id, left - bytes));
                return;
            }
            bytes -= left;
            gate.note_sent(now, id, shared);
            wire.launch(now, id, shared);
        }
    }

    fn send_packet(&self, now: Time, gate: &mut Gate, wire: &mut Wire, shared: &mut Shared) {
        if let Some((id, len_bytes)) = gate.take(now, shared) {
            let is_probe = shared.packets.slots[id as usize].probe != 0;
            if let (Some(record), false) = (&mut gate.record, is_probe) {
                record.on_whole_opportunity(len_bytes, self.spec.each_bytes());
            }
            gate.note_sent(now, id, shared);
            wire.launch(now, id, shared);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opportunities(at_ms: &[u32]) -> Opportunities {
        Opportunities::new(OpportunitySpec {
            at_ms: at_ms.to_vec(),
            bytes: None,
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
        let mut trace = opportunities(&[0, 3, 3, 10]);
        assert_eq!(
            used(&mut trace, 0, 10),
            [0, 3, 3, 10, 10, 13, 13, 20, 20, 23]
        );
    }

    #[test]
    fn as_many_are_counted_as_can_be_used() {
        for at_ms in [&[0, 3, 3, 10][..], &[7], &[0, 1, 2]] {
            let mut trace = opportunities(at_ms);
            let all = used(&mut trace, 0, 40);
            let last = *all.last().expect("40 of them");
            for ns in (0..last).flat_map(|ms| [ms * NS_PER_MS, ms * NS_PER_MS + 1]) {
                let before = all.iter().filter(|&&ms| ms * NS_PER_MS < ns).count();
                assert_eq!(trace.spec.count_before(Time(ns)), before as u64, "{ns}");
            }
        }
    }

    #[test]
    fn what_was_not_used_is_lost() {
        let mut trace = opportunities(&[1, 2, 5]);
        assert_eq!(used(&mut trace, 4, 2), [5, 6]);
        assert_eq!(used(&mut trace, 1_000_000, 2), [1_000_000, 1_000_001]);
    }
}
