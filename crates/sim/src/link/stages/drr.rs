// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Classes in turn, each with a deficit in bytes (Shreedhar and Varghese 1995), as sch_drr
//! (Linux 6.12): a class is looked at before it is charged, so its next packet is out of its
//! queue already. As there, a class with a shaper inside stops the others while it waits.

use std::collections::VecDeque;

use super::{Classes, Discipline, Next, Taken};
use crate::base::time::Time;
use crate::link::gate::Gate;
use crate::link::shared::Shared;
use crate::scenario::end::ClassSpec;

/// As in sch_drr's manual: a full packet.
const QUANTUM_BYTES: u32 = 1_514;

/// Deficit round robin.
pub struct Drr {
    classes: Classes,
    quanta_bytes: Vec<u32>,
    deficits_bytes: Vec<u32>,
    /// The next packet of a class, where it has been looked at.
    looked_at: Vec<Option<Taken>>,
    /// Classes that have packets, the next one first.
    active: VecDeque<usize>,
    is_active: Vec<bool>,
}

impl Drr {
    pub(super) fn new(specs: &[ClassSpec], classes: Classes) -> Self {
        let quantum = |class: &ClassSpec| class.quantum_bytes.unwrap_or(QUANTUM_BYTES);
        let count = specs.len();
        Self {
            classes,
            quanta_bytes: specs.iter().map(quantum).collect(),
            deficits_bytes: vec![0; count],
            looked_at: vec![None; count],
            active: VecDeque::new(),
            is_active: vec![false; count],
        }
    }

    /// The next packet of a class; it stays counted as held until it is sent.
    fn look(&mut self, now: Time, place: usize, gates: &mut [Gate], shared: &mut Shared) -> Next {
        if let Some(taken) = self.looked_at[place] {
            return Ok(taken);
        }
        let (next, _) = self.classes.take(now, place, gates, shared);
        if let Ok(taken) = next {
            self.looked_at[place] = Some(taken);
            self.classes.held_pkts += 1;
        }
        next
    }

    fn is_empty(&self, place: usize) -> bool {
        self.looked_at[place].is_none() && self.classes.held_by(place) == 0
    }

    fn rest(&mut self, place: usize) {
        self.active.pop_front();
        self.is_active[place] = false;
    }
}

impl Discipline for Drr {
    fn settle(&mut self, now: Time, way: &[u16], gates: &[Gate]) {
        let (place, _) = self.classes.settle(now, way, gates);
        if !self.is_empty(place) && !self.is_active[place] {
            self.is_active[place] = true;
            self.deficits_bytes[place] = self.quanta_bytes[place];
            self.active.push_back(place);
        }
    }

    fn take(&mut self, now: Time, gates: &mut [Gate], shared: &mut Shared) -> Next {
        while let Some(&place) = self.active.front() {
            let taken = match self.look(now, place, gates, shared) {
                Ok(taken) => taken,
                Err(_) if self.is_empty(place) => {
                    self.rest(place);
                    continue;
                }
                // A class that holds packets back holds back all behind it.
                Err(at) => return Err(at),
            };
            if taken.len_bytes > self.deficits_bytes[place] {
                self.deficits_bytes[place] += self.quanta_bytes[place];
                self.active.rotate_left(1);
                continue;
            }
            self.deficits_bytes[place] -= taken.len_bytes;
            self.looked_at[place] = None;
            self.classes.held_pkts -= 1;
            self.classes.counts[place].send(taken.len_bytes);
            if self.is_empty(place) {
                self.rest(place);
            }
            return Ok(taken);
        }
        Err(Time::MAX)
    }

    fn classes(&self) -> &Classes {
        &self.classes
    }

    fn classes_mut(&mut self) -> &mut Classes {
        &mut self.classes
    }
}
