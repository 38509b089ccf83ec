// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! A queue that is a closed box: what it and its shaper did follows from what came and
//! what left.

use std::collections::{HashMap, VecDeque};

use super::{Fate, Mark, Passage, Seen, find};
use crate::scenario::{Scenario, Shaper};
use crate::time::Time;

/// Congestion Experienced.
const CE: u8 = 3;
/// Reasons, by their numbers in `aqm.h`: what is seen from outside is only where.
const EARLY: u8 = 1;
const DELAY: u8 = 2;

/// All that was seen of one queue.
pub struct Outside {
    /// Its link.
    pub link: String,
    /// Packets before the queue, in order of time.
    pub arrivals: Vec<Seen>,
    /// Packets behind the shaper, in order of time.
    pub departures: Vec<Seen>,
    /// Whether its algorithm drops and marks packets that leave, not those that come.
    pub at_head: bool,
    /// Whether it keeps the order of each flow's packets only.
    pub flows_apart: bool,
}

impl Outside {
    /// What became of each arrival.
    ///
    /// # Errors
    /// When what was seen cannot have happened at this queue.
    pub fn passages(&self, scenario: &Scenario) -> Result<Vec<Passage>, String> {
        let tbf = find(scenario, &self.link)?.shaper == Shaper::Tbf;
        let order = self.matched()?;
        let plain = |seen: &Seen| Passage {
            came: Time(seen.at_ns),
            flow: seen.flow,
            len_bytes: seen.len_bytes,
            mark: None,
            fate: Fate::Waits,
        };
        let mut passages: Vec<_> = self.arrivals.iter().map(plain).collect();
        let mut dropped = self.dropped(&order);
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
            // What was dropped before it at the head went when the queue was asked for it.
            for i in dropped.remove(&i).unwrap_or_default() {
                passages[i].fate = self.drop(i, dequeue);
            }
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

    /// Packets that never left, under the departure that went past them: that of the next
    /// arrival that did leave, of the same flow where those are served apart. Those behind
    /// the last one may still wait, and are not dropped.
    fn dropped(&self, order: &[usize]) -> HashMap<usize, Vec<usize>> {
        let mut left = vec![false; self.arrivals.len()];
        for &i in order {
            left[i] = true;
        }
        let mut found: HashMap<usize, Vec<usize>> = HashMap::new();
        let mut together: HashMap<u32, Vec<usize>> = HashMap::new();
        for (i, &left) in left.iter().enumerate() {
            let line = if self.flows_apart {
                self.arrivals[i].flow
            } else {
                0
            };
            if !left {
                together.entry(line).or_default().push(i);
            } else if let Some(together) = together.remove(&line) {
                found.insert(i, together);
            }
        }
        found
    }

    fn drop(&self, i: usize, dequeue: Time) -> Fate {
        let seen = self.arrivals[i];
        let came = Time(seen.at_ns);
        Fate::Dropped {
            at: if self.at_head {
                dequeue.max(came)
            } else {
                came
            },
            why: self.why(),
            ecn: seen.ecn,
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
