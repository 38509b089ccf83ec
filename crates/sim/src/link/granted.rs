// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! A shaper that sends when a medium grants it a turn, and asks for the next in it. A packet that
//! does not fit in a grant leaves its rest for the next, as with continuous concatenation and
//! fragmentation (DOCSIS 3.0).

use std::collections::VecDeque;

use super::gate::Gate;
use super::packet::PacketId;
use super::shaper::PacketSource;
use super::shared::Shared;
use super::wire::Wire;
use crate::base::time::Time;

/// A member of a medium.
#[derive(Default)]
pub struct Granted {
    /// Turns to come: when each begins, and its bytes.
    turns: VecDeque<(Time, u32)>,
    /// Bytes left of the turn under way.
    left_bytes: u32,
    /// The packet of which bytes have left, and how many have not; the last ones may be on their
    /// way.
    begun: Option<(PacketId, u32)>,
    sending: bool,
    /// Asked for in the last turn: bytes that were in the queue and not granted.
    asked_bytes: Option<u64>,
}

impl Granted {
    /// Tells whether a packet is out of the queue and not yet on the wire.
    pub fn holds_packet(&self) -> bool {
        self.begun.is_some()
    }

    /// Bytes that wait and are not granted yet.
    pub fn wanted_bytes(&self, gate: &Gate) -> u64 {
        let begun = self.begun.map_or(0, |(_, left_bytes)| left_bytes);
        let waiting = u64::from(gate.queue.backlog_bytes()) + u64::from(begun);
        let turns = self.turns.iter().map(|&(_, bytes)| u64::from(bytes));
        waiting.saturating_sub(turns.sum::<u64>() + u64::from(self.left_bytes))
    }

    /// Takes what it asked for in its last turn.
    pub fn take_asked(&mut self) -> Option<u64> {
        self.asked_bytes.take()
    }

    /// A turn of so many bytes will begin at that time, behind all others.
    pub fn grant(&mut self, start: Time, bytes: u32, wire: &Wire, shared: &mut Shared) {
        let is_idle = self.turns.is_empty() && self.left_bytes == 0 && !self.sending;
        self.turns.push_back((start, bytes));
        if is_idle {
            shared.events.schedule(wire.service, start);
        }
    }

    /// The event `service` is due: a turn begins, or what was being sent has left.
    pub fn on_service(&mut self, now: Time, gate: &mut Gate, wire: &mut Wire, shared: &mut Shared) {
        if std::mem::take(&mut self.sending)
            && let Some((id, 0)) = self.begun
        {
            self.begun = None;
            gate.note_sent(now, id, shared);
            wire.launch(now, id, shared);
        }
        if self.left_bytes == 0
            && let Some((_, bytes)) = self.turns.pop_front_if(|&mut (start, _)| start <= now)
        {
            self.left_bytes = bytes;
        }
        if self.left_bytes > 0 {
            if self.begun.is_none() {
                self.begun = gate.take(now, shared);
            }
            if let Some((_, left_bytes)) = &mut self.begun {
                let piece_bytes = (*left_bytes).min(self.left_bytes);
                *left_bytes -= piece_bytes;
                self.left_bytes -= piece_bytes;
                self.sending = true;
                let end = now + wire.rate.next_ns(piece_bytes);
                return shared.events.schedule(wire.service, end);
            }
            self.left_bytes = 0;
        }
        self.asked_bytes = Some(self.wanted_bytes(gate));
        if let Some(&(start, _)) = self.turns.front() {
            shared.events.schedule(wire.service, start.max(now));
        }
    }
}
