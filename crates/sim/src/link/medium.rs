// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! A medium that grants its members turns, as the termination system of a cable plant grants its
//! modems the upstream (DOCSIS 3.1 MAC and Upper Layer Protocols Interface, "Upstream Bandwidth
//! Allocation" and "Upstream Transmission and Contention Resolution"):
//!
//! - Time has cycles. At the begin of a cycle is a region for requests by contention, then the
//!   turns. The list of a cycle's turns (MAP) is made a cycle before it begins, from the requests
//!   that had come by then: together 4 to 8 ms where a cycle takes 2 (RFC 8034 §4.2).
//! - A member with packets and without request or turn draws one of the request slots. Two in one
//!   slot are lost; both defer by a window that doubles, within bounds.
//! - In a turn a member asks for what is left in its queue (piggyback).
//! - Turns go round, each of at most so many bytes, until requests or the cycle are used up.

use super::Link;
use super::shared::Shared;
use crate::base::event::Source;
use crate::base::rate::Rate;
use crate::base::rng::Rng;
use crate::base::time::{NS_PER_S, Time};
use crate::scenario::MediumSpec;

/// A medium.
pub struct Medium {
    spec: MediumSpec,
    rate: Rate,
    /// Event: a cycle begins.
    pub source: Source,
    members: Vec<Member>,
    rng: Rng,
    /// The member whose turn comes first, and how much of it is left.
    first: usize,
    turn_left_bytes: u64,
    /// Of the next cycle: members and their bytes.
    next: Vec<(usize, u32)>,
}

struct Member {
    /// Its link.
    link: usize,
    /// Bytes asked for and not granted.
    asked_bytes: u64,
    /// Request slots to let pass, and the window from which they were drawn; none: it does not
    /// contend.
    defers: Option<(u32, u8)>,
}

impl Medium {
    /// A medium of these links.
    pub fn new(spec: &MediumSpec, links: Vec<usize>, source: Source, seed: u64) -> Self {
        let member = |link| Member {
            link,
            asked_bytes: 0,
            defers: None,
        };
        Self {
            rng: Rng::stream(seed, &format!("medium/{}", spec.name)),
            rate: Rate::new(spec.rate_bps),
            spec: spec.clone(),
            source,
            members: links.into_iter().map(member).collect(),
            first: 0,
            turn_left_bytes: u64::from(spec.grant_bytes),
            next: Vec::new(),
        }
    }

    /// A cycle begins.
    pub fn on_cycle(&mut self, now: Time, links: &mut [Link], shared: &mut Shared) {
        for (place, member) in self.members.iter_mut().enumerate() {
            if let Some(asked_bytes) = links[member.link].take_asked() {
                // The turns of this cycle were not known when it asked.
                let mine = self.next.iter().filter(|&&(of, _)| of == place);
                let granted_bytes: u64 = mine.map(|&(_, bytes)| u64::from(bytes)).sum();
                member.asked_bytes = asked_bytes.saturating_sub(granted_bytes);
            }
        }
        let turns = self.allot();
        let turns = std::mem::replace(&mut self.next, turns);
        let mut start = now + self.spec.requests_ns();
        for &(member, bytes) in &turns {
            links[self.members[member].link].grant(start, bytes, shared);
            start = start + self.rate.ns_of(bytes);
        }
        self.contend(links, &turns);
        shared
            .events
            .schedule(self.source, now + self.spec.cycle_ns);
    }

    /// The turns of a cycle, each member's in one piece.
    fn allot(&mut self) -> Vec<(usize, u32)> {
        let ns = self.spec.cycle_ns - self.spec.requests_ns();
        let bits = u128::from(ns) * u128::from(self.spec.rate_bps) / u128::from(NS_PER_S);
        let mut left = (bits / 8) as u64;
        let count = self.members.len();
        let mut bytes = vec![0; count];
        let mut in_vain = 0;
        while left > 0 && in_vain < count {
            let member = &mut self.members[self.first];
            let most = member.asked_bytes.min(self.turn_left_bytes);
            let turn = most.min(left);
            member.asked_bytes -= turn;
            self.turn_left_bytes -= turn;
            bytes[self.first] += turn as u32;
            left -= turn;
            in_vain = if turn == 0 { in_vain + 1 } else { 0 };
            // A turn that the cycle's end cuts short goes on in the next.
            if turn == most {
                self.first = (self.first + 1) % count;
                self.turn_left_bytes = u64::from(self.spec.grant_bytes);
            }
        }
        let order = (self.first..count).chain(0..self.first);
        order
            .map(|member| (member, bytes[member]))
            .filter(|&(_, bytes)| bytes > 0)
            .collect()
    }

    /// Members that have packets, and neither request nor turn, ask in the slots of this cycle.
    fn contend(&mut self, links: &[Link], turns: &[(usize, u32)]) {
        let [first, last] = self.spec.backoff;
        let mut asking = Vec::new();
        for (place, member) in self.members.iter_mut().enumerate() {
            let has_turn = turns.iter().chain(&self.next).any(|&(of, _)| of == place);
            if has_turn || member.asked_bytes > 0 || links[member.link].wanted_bytes() == 0 {
                member.defers = None;
                continue;
            }
            let drawn = || (self.rng.below(1 << first) as u32, first);
            let (slots, window) = member.defers.unwrap_or_else(drawn);
            if slots >= self.spec.slots {
                member.defers = Some((slots - self.spec.slots, window));
            } else {
                member.defers = Some((slots, window));
                asking.push((slots, place));
            }
        }
        for &(slot, place) in &asking {
            let collides = asking
                .iter()
                .any(|&other| other.0 == slot && other.1 != place);
            let member = &mut self.members[place];
            if collides {
                let window = member
                    .defers
                    .map_or(first, |(_, window)| (window + 1).min(last));
                member.defers = Some((self.rng.below(1 << window) as u32, window));
            } else {
                member.asked_bytes = links[member.link].wanted_bytes();
                member.defers = None;
            }
        }
    }
}
