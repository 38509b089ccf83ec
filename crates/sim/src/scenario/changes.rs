// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! What a scenario changes while it runs, and when: the steps whose responses are measured.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Scenario, TimesSpec};
use crate::base::time::{NS_PER_MS, Time};

/// One change.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Change {
    /// A link has another rate.
    Rate {
        /// The link.
        of: String,
        /// From now on.
        rate_mbps: f64,
    },
    /// A link has another propagation delay.
    Delay {
        /// The link.
        of: String,
        /// From now on.
        delay_ms: f64,
    },
    /// Flows start.
    Start {
        /// The name of their group.
        of: String,
        /// How many of it.
        flows: u32,
    },
    /// Flows stop.
    Stop {
        /// The name of their group.
        of: String,
        /// How many of it.
        flows: u32,
    },
}

/// All that changes at one time, and the time until the next change.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// When it changes.
    pub from_ns: u64,
    /// The next change, or the end of the run.
    pub to_ns: u64,
    /// What.
    pub changes: Vec<Change>,
}

/// Delay and utilisation are taken over so long: several packets of a slow link, and more than
/// most round trips, so that one window's burst is not taken for a full link.
const BIN_NS: u64 = 100 * NS_PER_MS;
/// So many bins at most, in runs of more than 10,000 s: each takes 64 bytes of each queue.
const MAX_BINS: u64 = 100_000;

impl Phase {
    /// Where its bins begin, and where the last ends. What remains behind whole bins belongs to
    /// the last one: a utilisation over less would be that of single packets.
    fn edges_ns(&self, bin_ns: u64) -> impl Iterator<Item = u64> + use<> {
        let (from_ns, to_ns) = (self.from_ns, self.to_ns);
        let bins = ((to_ns - from_ns) / bin_ns).max(1);
        let begins = (0..bins).map(move |bin| from_ns + bin * bin_ns);
        begins.chain([to_ns])
    }
}

impl Scenario {
    /// Where bins begin or end, each time once.
    pub fn bin_edges(&self) -> Vec<Time> {
        let bin_ns = BIN_NS.max(self.duration_ns.div_ceil(MAX_BINS));
        let phases = self.phases();
        let all = phases.iter().flat_map(|phase| phase.edges_ns(bin_ns));
        let mut edges: Vec<_> = all.map(Time).collect();
        edges.dedup();
        edges
    }

    /// The changes within the run, by time. What is there from the start is no change, nor is what
    /// comes at the end; nor are the rates of a trace and drawn starts, which are a load.
    pub fn phases(&self) -> Vec<Phase> {
        let mut at: BTreeMap<u64, Vec<Change>> = BTreeMap::new();
        let mut add = |ns: u64, change: Change| {
            if (1..self.duration_ns).contains(&ns) {
                at.entry(ns).or_default().push(change);
            }
        };
        for link in self.links.iter().filter(|link| !link.traced) {
            for step in &link.schedule {
                let change = Change::Rate {
                    of: link.name.clone(),
                    rate_mbps: step.rate_bps as f64 / 1e6,
                };
                add(step.at_ns, change);
            }
        }
        for link in &self.links {
            for step in &link.delays {
                let change = Change::Delay {
                    of: link.name.clone(),
                    delay_ms: step.delay_ns as f64 / 1e6,
                };
                add(step.at_ns, change);
            }
        }
        for flow in &self.flows {
            for (ns, flows) in self::starts(&flow.start, flow.count) {
                let change = Change::Start {
                    of: flow.name.clone(),
                    flows,
                };
                add(ns, change);
            }
            if let Some(stop_ns) = flow.stop_ns {
                let change = Change::Stop {
                    of: flow.name.clone(),
                    flows: flow.count,
                };
                add(stop_ns, change);
            }
        }
        let ends = at.keys().skip(1).copied().chain([self.duration_ns]);
        let ends: Vec<_> = ends.collect();
        let phases = at.into_iter().zip(ends);
        let phase = |((from_ns, changes), to_ns)| Phase {
            from_ns,
            to_ns,
            changes,
        };
        phases.map(phase).collect()
    }
}

/// The times that are given, and how many flows start at each. Drawn ones are none of these.
fn starts(start: &TimesSpec, count: u32) -> BTreeMap<u64, u32> {
    let mut starts = BTreeMap::new();
    match start {
        &TimesSpec::One(ns) => _ = starts.insert(ns, count),
        TimesSpec::List(list) => {
            for &ns in list.iter().cycle().take(count as usize) {
                *starts.entry(ns).or_insert(0) += 1;
            }
        }
        _ => {}
    }
    starts
}
