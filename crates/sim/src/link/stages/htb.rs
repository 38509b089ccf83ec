// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Classes that share a rate and lend each other what they do not need: the hierarchical token
//! bucket, as sch_htb (Linux 6.12) without hysteresis.
//!
//! A class has tokens at its rate and at its ceiling, in ns of sending. It can send if neither is
//! below zero, may borrow if its own tokens alone are, and else can do neither. Levels count from
//! the leaves, 0, up to a root with children, 7. Of each level and priority there is a ring of the
//! classes that can send and have packets, and each class with children has rings of the children
//! that may borrow from it. The lowest level goes first, and in a level the lowest priority.
//!
//! A mode is that of the last event: arrivals change none. Classes that can not send wait, by
//! level, for the time at which their mode changes, which is looked at when the level is.

use std::collections::{BTreeSet, HashMap};
use std::ops::Bound;

use super::{Borrowing, ClassRate, Classes, Discipline, Next, Taken};
use crate::base::rate::Rate;
use crate::base::time::{NS_PER_S, Time};
use crate::link::gate::Gate;
use crate::link::shared::Shared;
use crate::scenario::end::ClassSpec;

/// Levels of classes, and priorities.
const LEVELS: usize = 8;
const PRIOS: usize = 8;
/// Debts and gains are at most a minute.
const MOST_NS: i64 = 60 * NS_PER_S as i64;
/// The bytes that a class sends in a turn, unless given: a tenth of a second of its rate, within
/// these bounds.
const QUANTUM_BYTES: std::ops::RangeInclusive<u64> = 1_000..=200_000;

/// What a class may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    CanSend,
    MayBorrow,
    CannotSend,
}

/// Classes in turn.
#[derive(Clone, Default)]
struct Turn {
    members: BTreeSet<u16>,
    /// Whose turn it is; none: the first one's, when the classes above have had theirs.
    next: Option<u16>,
    /// Whose turn it was when it left: the one behind is next.
    gone: Option<u16>,
}

impl Turn {
    /// The turn goes on to the next.
    fn advance(&mut self) {
        let Some(at) = self.next else { return };
        let behind = (Bound::Excluded(at), Bound::Unbounded);
        self.next = self.members.range(behind).next().copied();
    }

    /// Finds the place of one that has left.
    fn recover(&mut self) {
        if let (None, Some(gone)) = (self.next, self.gone) {
            self.next = self.members.range(gone..).next().copied();
        }
        self.gone = None;
    }
}

/// A ring of classes: of a level, or of the children of a class.
#[derive(Clone, Copy)]
enum Ring {
    Level(usize),
    Below(usize),
}

struct Class {
    parent: Option<usize>,
    level: usize,
    prio: usize,
    rate: Rate,
    ceil: Rate,
    burst_bytes: u32,
    cburst_bytes: u32,
    quantum_given: Option<u32>,
    quantum_bytes: i64,
    tokens_ns: i64,
    ceil_tokens_ns: i64,
    /// Up to when these have been gained.
    at: Time,
    mode: Mode,
    /// When it is due in the list of those that wait, and its number there.
    waits: Option<(Time, u64)>,
    /// Priorities at which it is in a ring, or would be if it could send: bits.
    active: u8,
    /// Children that may borrow, by priority; of a leaf none.
    below: Vec<Turn>,
    /// By level at which it sends.
    deficits_bytes: [i64; LEVELS],
    own: Borrowing,
    mode_since: Time,
}

impl Class {
    fn is_leaf(&self) -> bool {
        self.level == 0
    }

    /// The mode with so many more tokens, and how long until it may be another.
    fn mode_with(&self, more_ns: i64) -> (Mode, i64) {
        let ceil_ns = self.ceil_tokens_ns + more_ns;
        let own_ns = self.tokens_ns + more_ns;
        if ceil_ns < 0 {
            (Mode::CannotSend, -ceil_ns)
        } else if own_ns < 0 {
            (Mode::MayBorrow, -own_ns)
        } else {
            (Mode::CanSend, 0)
        }
    }

    fn gained_ns(&self, now: Time) -> i64 {
        ((now - self.at) as i64).min(MOST_NS)
    }

    fn read(&self, now: Time) -> Borrowing {
        let mut own = self.own;
        own.mode_ns[self.mode as usize] += now - self.mode_since;
        own
    }
}

/// Tokens after a time and a packet: never above the bucket's depth, never below a minute's debt.
fn paid_ns(tokens_ns: i64, gained_ns: i64, depth_ns: u64, cost_ns: u64) -> i64 {
    let filled = (tokens_ns + gained_ns).min(depth_ns as i64);
    (filled - cost_ns as i64).max(1 - MOST_NS)
}

/// The hierarchical token bucket.
pub struct Htb {
    classes: Classes,
    all: Vec<Class>,
    /// By level and priority, the classes that can send and have packets.
    levels: Vec<Vec<Turn>>,
    /// By level, those that wait for another mode, by when that is and then as they came.
    waiting: Vec<BTreeSet<(Time, u64, usize)>>,
    waited: u64,
}

impl Htb {
    pub(super) fn new(specs: &[ClassSpec], classes: Classes) -> Self {
        let parents = parents(specs);
        // A leaf's level is 0, that of a root with children 7, and each child with children is
        // one below its parent.
        let mut levels = vec![0; specs.len()];
        for &parent in parents.iter().flatten() {
            let above = std::iter::successors(parents[parent], |&above| parents[above]);
            levels[parent] = LEVELS - 1 - above.count();
        }
        let all = specs.iter().zip(parents).zip(levels);
        Self {
            classes,
            all: all
                .map(|((spec, parent), level)| Class::new(spec, parent, level))
                .collect(),
            levels: vec![vec![Turn::default(); PRIOS]; LEVELS],
            waiting: vec![BTreeSet::new(); LEVELS],
            waited: 0,
        }
    }

    fn turn(&mut self, ring: Ring, prio: usize) -> &mut Turn {
        match ring {
            Ring::Level(level) => &mut self.levels[level][prio],
            Ring::Below(class) => &mut self.all[class].below[prio],
        }
    }

    /// A leaf has packets: it joins the ring of its level, or that of the class that it may borrow
    /// from, and so do the classes above that were not in one.
    fn activate(&mut self, leaf: usize) {
        let prios = 1 << self.all[leaf].prio;
        self.all[leaf].active = prios;
        self.join_rings(leaf, prios);
    }

    fn deactivate(&mut self, leaf: usize) {
        let prios = self.all[leaf].active;
        self.leave_rings(leaf, prios);
        self.all[leaf].active = 0;
    }

    fn join_rings(&mut self, class: usize, mut prios: u8) {
        let mut place = class;
        while let (Mode::MayBorrow, Some(parent)) = (self.all[place].mode, self.all[place].parent) {
            if prios == 0 {
                return;
            }
            for prio in bits(prios) {
                let turn = &mut self.all[parent].below[prio];
                if !turn.members.is_empty() {
                    // The parent is in its ring at this priority already.
                    prios &= !(1 << prio);
                }
                turn.members.insert(place as u16);
            }
            self.all[parent].active |= prios;
            place = parent;
        }
        if self.all[place].mode == Mode::CanSend {
            let level = self.all[place].level;
            for prio in bits(prios) {
                self.levels[level][prio].members.insert(place as u16);
            }
        }
    }

    fn leave_rings(&mut self, class: usize, mut prios: u8) {
        let mut place = class;
        while let (Mode::MayBorrow, Some(parent)) = (self.all[place].mode, self.all[place].parent) {
            if prios == 0 {
                return;
            }
            let mut emptied = 0;
            for prio in bits(prios) {
                let turn = &mut self.all[parent].below[prio];
                turn.members.remove(&(place as u16));
                if turn.next == Some(place as u16) {
                    (turn.next, turn.gone) = (None, Some(place as u16));
                }
                emptied |= u8::from(turn.members.is_empty()) << prio;
            }
            prios = emptied;
            self.all[parent].active &= !prios;
            place = parent;
        }
        if self.all[place].mode == Mode::CanSend {
            let level = self.all[place].level;
            for prio in bits(prios) {
                let turn = &mut self.levels[level][prio];
                if turn.next == Some(place as u16) {
                    turn.advance();
                }
                turn.members.remove(&(place as u16));
            }
        }
    }

    /// Sets the mode that a class has with so many more tokens; gives how long that lasts.
    fn set_mode(&mut self, now: Time, place: usize, more_ns: i64) -> i64 {
        let (mode, lasts_ns) = self.all[place].mode_with(more_ns);
        if mode == self.all[place].mode {
            return lasts_ns;
        }
        let prios = self.all[place].active;
        if prios != 0 && self.all[place].mode != Mode::CannotSend {
            self.leave_rings(place, prios);
        }
        let class = &mut self.all[place];
        class.own = class.read(now);
        class.mode_since = now;
        class.mode = mode;
        if prios != 0 && mode != Mode::CannotSend {
            self.join_rings(place, prios);
        }
        lasts_ns
    }

    fn wait(&mut self, now: Time, place: usize, for_ns: i64) {
        self.waited += 1;
        let at = now + for_ns.max(1) as u64;
        self.all[place].waits = Some((at, self.waited));
        self.waiting[self.all[place].level].insert((at, self.waited, place));
    }

    fn wait_no_more(&mut self, place: usize) {
        if let Some((at, nth)) = self.all[place].waits.take() {
            self.waiting[self.all[place].level].remove(&(at, nth, place));
        }
    }

    /// Changes the modes at a level that are due; gives when the next one is.
    fn do_due(&mut self, now: Time, level: usize) -> Time {
        while let Some(&(at, _, place)) = self.waiting[level].first() {
            if at > now {
                return at;
            }
            self.wait_no_more(place);
            let more_ns = self.all[place].gained_ns(now);
            let lasts_ns = self.set_mode(now, place, more_ns);
            if self.all[place].mode != Mode::CanSend {
                self.wait(now, place, lasts_ns);
            }
        }
        Time::MAX
    }

    /// The leaf whose turn it is. A ring that is at its end begins again, and the turn in the ring
    /// above goes on.
    fn find(&mut self, level: usize, prio: usize) -> Option<usize> {
        let mut rings = [Ring::Level(level); LEVELS];
        let mut depth = 0;
        loop {
            let turn = self.turn(rings[depth], prio);
            turn.recover();
            if let Some(place) = turn.next {
                let place = place as usize;
                if self.all[place].is_leaf() {
                    return Some(place);
                }
                depth += 1;
                rings[depth] = Ring::Below(place);
                continue;
            }
            turn.next = Some(*turn.members.first()?);
            if depth > 0 {
                depth -= 1;
                self.turn(rings[depth], prio).advance();
            }
        }
    }

    /// The turn at the lowest ring above a leaf goes on.
    fn pass_turn(&mut self, leaf: usize, level: usize) {
        let (prio, parent) = (self.all[leaf].prio, self.all[leaf].parent);
        let ring = match parent {
            Some(parent) if level > 0 => Ring::Below(parent),
            _ => Ring::Level(0),
        };
        self.turn(ring, prio).advance();
    }

    /// Takes a packet from a leaf that may send at this level. One that gives nothing is passed
    /// over; `again` is then when it wants to be asked.
    fn take_at(
        &mut self,
        now: Time,
        [level, prio]: [usize; 2],
        again: &mut Time,
        gates: &mut [Gate],
        shared: &mut Shared,
    ) -> Option<Taken> {
        let mut first = self.find(level, prio);
        let mut leaf = first?;
        loop {
            if self.classes.held_by(leaf) == 0 {
                self.deactivate(leaf);
                let next = self.find(level, prio);
                if first == Some(leaf) {
                    first = next;
                }
                leaf = next?;
                continue;
            }
            let (next, more) = self.classes.take(now, leaf, gates, shared);
            self.count_above(now, leaf, more);
            match next {
                Ok(taken) => {
                    self.send(now, leaf, level, &taken);
                    return Some(taken);
                }
                Err(at) => *again = (*again).min(at),
            }
            self.pass_turn(leaf, level);
            leaf = self.find(level, prio)?;
            if first == Some(leaf) {
                return None;
            }
        }
    }

    fn send(&mut self, now: Time, leaf: usize, level: usize, taken: &Taken) {
        let class = &mut self.all[leaf];
        let deficit = &mut class.deficits_bytes[level];
        *deficit -= i64::from(taken.len_bytes);
        if *deficit < 0 {
            *deficit += class.quantum_bytes;
            self.pass_turn(leaf, level);
        }
        if self.classes.held_by(leaf) == 0 {
            self.deactivate(leaf);
        }
        self.charge(now, leaf, level, taken.len_bytes);
    }

    /// A packet costs tokens of those that lend it and of all above them, and ceiling tokens of
    /// all from the leaf up.
    fn charge(&mut self, now: Time, leaf: usize, level: usize, len_bytes: u32) {
        let mut next = Some(leaf);
        while let Some(place) = next {
            let class = &mut self.all[place];
            let gained_ns = class.gained_ns(now);
            if class.level >= level {
                class.own.lent_pkts += u64::from(class.level == level);
                let depth_ns = class.rate.ns_of(class.burst_bytes);
                let cost_ns = class.rate.ns_of(len_bytes);
                class.tokens_ns = paid_ns(class.tokens_ns, gained_ns, depth_ns, cost_ns);
            } else {
                class.own.borrowed_pkts += 1;
                class.tokens_ns += gained_ns;
            }
            let depth_ns = class.ceil.ns_of(class.cburst_bytes);
            let cost_ns = class.ceil.ns_of(len_bytes);
            class.ceil_tokens_ns = paid_ns(class.ceil_tokens_ns, gained_ns, depth_ns, cost_ns);
            class.at = now;
            next = class.parent;
            let before = class.mode;
            let lasts_ns = self.set_mode(now, place, 0);
            let after = self.all[place].mode;
            if before != after {
                self.wait_no_more(place);
                if after != Mode::CanSend {
                    self.wait(now, place, lasts_ns);
                }
            }
            self.classes.counts[place].send(len_bytes);
        }
    }

    /// So many more packets wait below a leaf: so they do below the classes above.
    fn count_above(&mut self, now: Time, leaf: usize, more: i64) {
        let mut next = self.all[leaf].parent.filter(|_| more != 0);
        while let Some(place) = next {
            let count = &mut self.classes.counts[place];
            count.change(now, (i64::from(count.held_pkts) + more) as u32);
            next = self.all[place].parent;
        }
    }
}

impl Discipline for Htb {
    fn settle(&mut self, now: Time, way: &[u16], gates: &[Gate]) {
        let (leaf, more) = self.classes.settle(now, way, gates);
        self.count_above(now, leaf, more);
        if self.classes.held_by(leaf) > 0 && self.all[leaf].active == 0 {
            self.activate(leaf);
        }
    }

    fn take(&mut self, now: Time, gates: &mut [Gate], shared: &mut Shared) -> Next {
        let mut again = Time::MAX;
        if self.classes.held_pkts() == 0 {
            return Err(again);
        }
        for level in 0..LEVELS {
            again = again.min(self.do_due(now, level));
            for prio in 0..PRIOS {
                if self.levels[level][prio].members.is_empty() {
                    continue;
                }
                if let Some(taken) = self.take_at(now, [level, prio], &mut again, gates, shared) {
                    return Ok(taken);
                }
            }
        }
        Err(again)
    }

    fn classes(&self) -> &Classes {
        &self.classes
    }

    fn classes_mut(&mut self) -> &mut Classes {
        &mut self.classes
    }

    fn set_rate(&mut self, _now: Time, place: usize, to: ClassRate) {
        let class = &mut self.all[place];
        (class.rate, class.ceil) = (Rate::new(to.rate_bps), Rate::new(to.ceil_bps));
        class.quantum_bytes = quantum_bytes(class.quantum_given, to.rate_bps);
    }

    fn borrowing(&self, now: Time, place: usize) -> Option<Borrowing> {
        Some(self.all[place].read(now))
    }
}

impl Class {
    /// A class at the start: it can send.
    fn new(spec: &ClassSpec, parent: Option<usize>, level: usize) -> Self {
        // A class without a rate is refused before.
        let rate_bps = spec.rate_bps.unwrap_or(1);
        let (rate, ceil) = (
            Rate::new(rate_bps),
            Rate::new(spec.ceil_bps.unwrap_or(rate_bps)),
        );
        Self {
            parent,
            level,
            prio: (spec.prio as usize).min(PRIOS - 1),
            tokens_ns: rate.ns_of(spec.burst_bytes) as i64,
            ceil_tokens_ns: ceil.ns_of(spec.cburst_bytes) as i64,
            rate,
            ceil,
            burst_bytes: spec.burst_bytes,
            cburst_bytes: spec.cburst_bytes,
            quantum_given: spec.quantum_bytes,
            quantum_bytes: quantum_bytes(spec.quantum_bytes, rate_bps),
            at: Time(0),
            mode: Mode::CanSend,
            waits: None,
            active: 0,
            below: vec![Turn::default(); if level > 0 { PRIOS } else { 0 }],
            deficits_bytes: [0; LEVELS],
            own: Borrowing::default(),
            mode_since: Time(0),
        }
    }
}

fn quantum_bytes(given: Option<u32>, rate_bps: u64) -> i64 {
    let tenth = (rate_bps / 8 / 10).clamp(*QUANTUM_BYTES.start(), *QUANTUM_BYTES.end());
    given.map_or(tenth as i64, i64::from)
}

/// The place of each class's parent.
fn parents(specs: &[ClassSpec]) -> Vec<Option<usize>> {
    let places: HashMap<_, _> = specs
        .iter()
        .enumerate()
        .map(|(i, of)| (&of.name, i))
        .collect();
    let parent = |spec: &ClassSpec| places.get(spec.parent.as_ref()?).copied();
    specs.iter().map(parent).collect()
}

fn bits(mask: u8) -> impl Iterator<Item = usize> {
    (0..PRIOS).filter(move |bit| mask >> bit & 1 == 1)
}
