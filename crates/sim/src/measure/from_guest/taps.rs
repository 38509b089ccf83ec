// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! A queue that is a closed box: what it and its shaper did follows from what came, what
//! left, and how many drops it has counted by then.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

use super::{Fate, Mark, Passage, Seen, find, long};
use crate::base::time::Time;
use crate::scenario::{Scenario, ShaperKind};

/// Congestion Experienced.
const CE: u8 = 3;
/// Reasons, by their numbers in `aqm.h`: what is seen from outside is only where.
const EARLY: u8 = 1;
const DELAY: u8 = 2;

/// The queue's counter of drops has risen; bytes as `linux/uml/tap.c` writes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The reading before this one.
    pub since_ns: u64,
    /// When it was read.
    pub at_ns: u64,
    /// Packets dropped so far.
    pub dropped_pkts: u64,
    /// Of these since the reading before.
    pub more_pkts: u64,
}

impl Reading {
    /// Bytes of one in a log.
    pub const BYTES: usize = 32;

    /// Reads one from a log of little-endian words.
    pub fn read(log: &[u8; Self::BYTES]) -> Self {
        Self {
            since_ns: long(log, 0),
            at_ns: long(log, 8),
            dropped_pkts: long(log, 16),
            more_pkts: long(log, 24),
        }
    }
}

/// A packet that never left.
#[derive(Clone, Copy, Debug)]
struct Lost {
    /// Number of its arrival.
    i: usize,
    /// It was not dropped before this.
    from: Time,
    /// It was dropped by then: what came behind it left. None: it may still wait.
    by: Option<Time>,
}

/// All that was seen of one queue.
pub struct Taps {
    /// Its link.
    pub link: String,
    /// Packets before the queue, in order of time.
    pub arrivals: Vec<Seen>,
    /// Packets behind the shaper, in order of time.
    pub departures: Vec<Seen>,
    /// What it has counted, in order of time.
    pub readings: Vec<Reading>,
    /// Whether its algorithm drops and marks packets that leave, not those that come.
    pub at_head: bool,
    /// Whether it keeps the order of each flow's packets only.
    pub flows_apart: bool,
}

impl Taps {
    /// What became of each arrival.
    ///
    /// # Errors
    /// When what was seen cannot have happened at this queue.
    pub fn passages(&self, scenario: &Scenario) -> Result<Vec<Passage>, String> {
        let tbf = find(scenario, &self.link)?.shaper == ShaperKind::Tbf;
        let order = self.matched()?;
        let passage = |seen: &Seen| Passage {
            came: Time(seen.at_ns),
            flow: seen.flow,
            len_bytes: seen.len_bytes,
            mark: None,
            fate: Fate::Waits,
        };
        let mut passages: Vec<_> = self.arrivals.iter().map(passage).collect();
        let mut before = Time(0);
        for (&i, left) in order.iter().zip(&self.departures) {
            let out = Time(left.at_ns);
            // It asks for its packet when the one before has gone, and lets it wait.
            let dequeue = if tbf {
                before.max(passages[i].came)
            } else {
                out
            };
            before = out;
            passages[i].mark = self.mark(&self.arrivals[i], left);
            passages[i].fate = Fate::Left {
                dequeue,
                out,
                ecn: left.ecn,
            };
        }
        let lost = self.lost(&passages);
        let dequeues: Vec<_> = order
            .iter()
            .filter_map(|&i| dequeue(&passages[i]))
            .collect();
        for (i, at) in self.drops(&lost, &dequeues) {
            passages[i].fate = self.drop(i, at);
        }
        Ok(passages)
    }

    /// Which arrival each departure was.
    fn matched(&self) -> Result<Vec<usize>, String> {
        let mut waiting: HashMap<u64, VecDeque<usize>> = HashMap::new();
        for (i, seen) in self.arrivals.iter().enumerate() {
            waiting.entry(seen.key).or_default().push_back(i);
        }
        let came = |(n, left): (usize, &Seen)| {
            let came = waiting.get_mut(&left.key).and_then(VecDeque::pop_front);
            came.filter(|&i| self.arrivals[i].at_ns <= left.at_ns)
                .ok_or_else(|| format!("link '{}': departure {n} never arrived", self.link))
        };
        self.departures.iter().enumerate().map(came).collect()
    }

    /// Packets that never left. What came behind one and left went past it, unless flows are
    /// served apart: then only what is of the same flow.
    fn lost(&self, passages: &[Passage]) -> Vec<Lost> {
        let mut lost: Vec<Lost> = Vec::new();
        // Of each line when the last packet left it, and those of `lost` that nothing has passed.
        let mut lines: HashMap<u32, (Time, Vec<usize>)> = HashMap::new();
        for (i, passage) in passages.iter().enumerate() {
            let line = if self.flows_apart { passage.flow } else { 0 };
            let (left, together) = lines.entry(line).or_default();
            if let Some(dequeue) = dequeue(passage) {
                for number in together.drain(..) {
                    lost[number].by = Some(self.dropped_at(passages[lost[number].i].came, dequeue));
                }
                *left = dequeue;
            } else {
                together.push(lost.len());
                lost.push(Lost {
                    i,
                    from: self.dropped_at(passage.came, *left),
                    by: None,
                });
            }
        }
        lost
    }

    /// When an algorithm drops a packet that came then, of an offer at that time.
    fn dropped_at(&self, came: Time, dequeue: Time) -> Time {
        if self.at_head {
            dequeue.max(came)
        } else {
            came
        }
    }

    /// Which of these were dropped, and when. Where the queue says how many it has dropped, the
    /// next packet of the line need not have left by then, which may be a timeout later.
    fn drops(&self, lost: &[Lost], dequeues: &[Time]) -> Vec<(usize, Time)> {
        let mut found = Vec::new();
        let mut lost: VecDeque<_> = {
            let mut lost = lost.to_vec();
            lost.sort_by_key(|lost| (lost.from, lost.i));
            lost.into()
        };
        // Who must have gone first is taken first.
        let mut open = BinaryHeap::new();
        let mut decided = 0;
        for reading in &self.readings {
            let now = Time(reading.at_ns);
            let before = decided;
            while let Some(next) = lost.pop_front_if(|next| next.from <= now) {
                // What came before the last reading and was let in is not dropped any more.
                if !self.at_head && next.by.is_none() && next.from.0 <= reading.since_ns {
                    continue;
                }
                let by = next.by.unwrap_or(Time::MAX);
                open.push(Reverse((by, next.i, next.from)));
            }
            while let Some(&Reverse((by, i, from))) = open.peek()
                && (by <= now || decided < reading.dropped_pkts)
            {
                open.pop();
                let at = match self.at_head {
                    true => within(reading, from, decided - before, dequeues),
                    false => from,
                };
                found.push((i, by.min(at)));
                decided += 1;
            }
            decided = decided.max(reading.dropped_pkts);
            if !self.at_head {
                open.clear();
            }
        }
        let open = open.into_iter().map(|Reverse((by, i, _))| (i, by));
        let behind = lost.into_iter().filter_map(|lost| Some((lost.i, lost.by?)));
        found.extend(open.filter(|&(_, by)| by < Time::MAX).chain(behind));
        found
    }

    fn drop(&self, i: usize, at: Time) -> Fate {
        Fate::Dropped {
            at,
            why: self.why(),
            ecn: self.arrivals[i].ecn,
        }
    }

    fn mark(&self, came: &Seen, left: &Seen) -> Option<Mark> {
        (came.ecn != CE && left.ecn == CE).then(|| Mark {
            why: self.why(),
            leaving: self.at_head,
        })
    }

    fn why(&self) -> u8 {
        if self.at_head { DELAY } else { EARLY }
    }
}

fn dequeue(passage: &Passage) -> Option<Time> {
    match passage.fate {
        Fate::Left { dequeue, .. } => Some(dequeue),
        _ => None,
    }
}

/// When the `nth` packet, from 0, that a reading counts was dropped, if the algorithm acts at the
/// head: at one of the offers since the reading before, over which they are spread.
fn within(reading: &Reading, from: Time, nth: u64, dequeues: &[Time]) -> Time {
    let [first, end] =
        [reading.since_ns, reading.at_ns].map(|ns| dequeues.partition_point(|at| at.0 <= ns));
    let offers = &dequeues[first..end];
    let place = (2 * nth as usize + 1) * offers.len() / (2 * reading.more_pkts.max(1) as usize);
    let offer = offers.get(place).filter(|&&at| at >= from);
    offer.copied().unwrap_or(Time(reading.at_ns))
}
