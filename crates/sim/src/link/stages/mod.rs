// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Disciplines that decide which of several queues sends, a file for each kind. A discipline has
//! classes; a class has a queue of the link, or another discipline inside, or, in HTB, classes
//! below it.

mod drr;
mod htb;
mod prio;
pub mod ring;

use super::gate::Gate;
use super::packet::PacketId;
use super::shaper::PacketSource;
use super::shared::Shared;
use crate::base::time::Time;
use crate::measure::record::ClassReading;
use crate::scenario::end::{ClassSpec, Stage};

/// A packet that may leave.
#[derive(Clone, Copy)]
pub struct Taken {
    /// The packet.
    pub id: PacketId,
    /// Its length.
    pub len_bytes: u32,
    /// The queue that it was in.
    pub gate: u16,
}

/// A packet that may leave; or when to ask again, which is never where nothing waits.
pub type Next = Result<Taken, Time>;

/// A new rate and ceiling of a class.
#[derive(Clone, Copy, Debug)]
pub struct ClassRate {
    /// The number of the class in its tree.
    pub class: usize,
    /// Its queue, if it is a leaf.
    pub gate: Option<usize>,
    /// What it can always send.
    pub rate_bps: u64,
    /// What it can send when others lend.
    pub ceil_bps: u64,
}

/// Decides which class sends.
pub trait Discipline {
    /// Something has changed in the queue that lies this way; `way` begins with the place of a
    /// class here.
    fn settle(&mut self, now: Time, way: &[u16], gates: &[Gate]);

    /// Takes the next packet.
    fn take(&mut self, now: Time, gates: &mut [Gate], shared: &mut Shared) -> Next;

    /// Its classes.
    fn classes(&self) -> &Classes;

    /// Its classes.
    fn classes_mut(&mut self) -> &mut Classes;

    /// Rates of its classes change. Only HTB has any.
    fn set_rate(&mut self, _now: Time, _place: usize, _to: ClassRate) {}

    /// What HTB knows beside: packets lent and borrowed, times in each mode.
    fn borrowing(&self, _now: Time, _place: usize) -> Option<Borrowing> {
        None
    }
}

/// What a class has lent and borrowed, and how long it could send, could borrow, could do neither.
#[derive(Clone, Copy, Debug, Default)]
pub struct Borrowing {
    /// Packets that left by its tokens.
    pub lent_pkts: u64,
    /// Packets that left by those of a class above.
    pub borrowed_pkts: u64,
    /// Times in these modes.
    pub mode_ns: [u64; 3],
}

/// Below a class.
enum Below {
    /// HTB: classes of the same discipline.
    Classes,
    /// A queue.
    Gate(u16),
    /// Another discipline.
    Inner(Box<dyn Discipline>),
}

/// What a class counts.
#[derive(Clone, Default)]
struct Count {
    /// Its number in the tree.
    number: usize,
    held_pkts: u32,
    since: Time,
    pkt_ns: u128,
    sent_pkts: u64,
    sent_bytes: u64,
}

/// The classes of a discipline: what lies below each, and what it counts.
#[derive(Default)]
pub struct Classes {
    below: Vec<Below>,
    counts: Vec<Count>,
    held_pkts: u32,
}

impl Count {
    fn change(&mut self, now: Time, held_pkts: u32) {
        self.pkt_ns += u128::from(self.held_pkts) * u128::from(now - self.since);
        (self.held_pkts, self.since) = (held_pkts, now);
    }

    fn send(&mut self, len_bytes: u32) {
        self.sent_pkts += 1;
        self.sent_bytes += u64::from(len_bytes);
    }
}

impl Classes {
    /// Packets in all queues below.
    pub fn held_pkts(&self) -> u32 {
        self.held_pkts
    }

    fn len(&self) -> usize {
        self.below.len()
    }

    /// Packets below a class.
    fn held_by(&self, place: usize) -> u32 {
        self.counts[place].held_pkts
    }

    /// Counts what is below a class again; gives how much more that is.
    fn recount(&mut self, now: Time, place: usize, gates: &[Gate]) -> i64 {
        let held_pkts = match &self.below[place] {
            Below::Classes => return 0,
            Below::Gate(gate) => gates[*gate as usize].queue.backlog_pkts(),
            Below::Inner(inner) => inner.classes().held_pkts,
        };
        let more = i64::from(held_pkts) - i64::from(self.counts[place].held_pkts);
        self.counts[place].change(now, held_pkts);
        self.held_pkts = (i64::from(self.held_pkts) + more) as u32;
        more
    }

    /// Something has changed this way.
    fn settle(&mut self, now: Time, way: &[u16], gates: &[Gate]) -> (usize, i64) {
        let place = way[0] as usize;
        if let Below::Inner(inner) = &mut self.below[place] {
            inner.settle(now, &way[1..], gates);
        }
        (place, self.recount(now, place, gates))
    }

    /// Takes a packet from below a class, and counts it again.
    fn take(
        &mut self,
        now: Time,
        place: usize,
        gates: &mut [Gate],
        shared: &mut Shared,
    ) -> (Next, i64) {
        let next = match &mut self.below[place] {
            Below::Classes => Err(Time::MAX),
            Below::Inner(inner) => inner.take(now, gates, shared),
            &mut Below::Gate(gate) => {
                let taken = gates[gate as usize].take(now, shared);
                let taken = taken.map(|(id, len_bytes)| Taken {
                    id,
                    len_bytes,
                    gate,
                });
                taken.ok_or(Time::MAX)
            }
        };
        (next, self.recount(now, place, gates))
    }
}

/// Makes the discipline above a link's queues; without one there is a single queue.
pub fn root(stage: Option<&Stage>) -> Box<dyn Discipline> {
    match stage {
        Some(stage) => build(stage, &mut 0, &mut 0),
        None => Box::new(prio::Prio::new(Classes {
            below: vec![Below::Gate(0)],
            counts: vec![Count::default()],
            held_pkts: 0,
        })),
    }
}

/// Makes a discipline and all inside. `gates` and `numbers` count the queues and classes so far,
/// in the order of the scenario.
fn build(stage: &Stage, gates: &mut u16, numbers: &mut usize) -> Box<dyn Discipline> {
    let specs = stage.classes().map_or(&[][..], |of| &of.classes);
    let mut classes = Classes::default();
    for spec in specs {
        classes.counts.push(Count {
            number: *numbers,
            ..Count::default()
        });
        *numbers += 1;
        classes.below.push(below(spec, gates, numbers));
    }
    match stage {
        Stage::Prio(_) => Box::new(prio::Prio::new(classes)),
        Stage::Drr(_) => Box::new(drr::Drr::new(specs, classes)),
        _ => Box::new(htb::Htb::new(specs, classes)),
    }
}

fn below(spec: &ClassSpec, gates: &mut u16, numbers: &mut usize) -> Below {
    if let Some(inner) = &spec.inner {
        return Below::Inner(build(inner, gates, numbers));
    }
    if spec.queue.is_none() {
        return Below::Classes;
    }
    *gates += 1;
    Below::Gate(*gates - 1)
}

/// Reads what all classes have counted, each at the place of its number.
pub fn read(now: Time, of: &dyn Discipline, into: &mut Vec<ClassReading>) {
    let classes = of.classes();
    for place in 0..classes.len() {
        let mut count = classes.counts[place].clone();
        count.change(now, count.held_pkts);
        let own = of.borrowing(now, place);
        debug_assert_eq!(
            into.len(),
            count.number,
            "classes are numbered as they are met"
        );
        into.push(ClassReading {
            sent_pkts: count.sent_pkts,
            sent_bytes: count.sent_bytes,
            pkt_ns: count.pkt_ns,
            borrowing: own.map(|own| (own.lent_pkts, own.borrowed_pkts, own.mode_ns)),
        });
        if let Below::Inner(inner) = &classes.below[place] {
            read(now, &**inner, into);
        }
    }
}

/// Changes the rates of a class, wherever in the tree it is.
pub fn set_rate(now: Time, of: &mut dyn Discipline, to: ClassRate) {
    for place in 0..of.classes().len() {
        if of.classes().counts[place].number == to.class {
            return of.set_rate(now, place, to);
        }
        if let Below::Inner(inner) = &mut of.classes_mut().below[place] {
            set_rate(now, &mut **inner, to);
        }
    }
}
