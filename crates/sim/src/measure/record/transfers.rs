// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Transfers: each as a row, which whoever watches the run takes as it ends; and how long they,
//! pages and datagrams took, by group of flows and window, as distributions. So a longer run takes
//! no more memory.
//! Parts of one group share its distributions: those of 400 pairs of nodes would take gigabytes.

use std::collections::HashMap;

use super::Delays;
use crate::base::time::Time;
use crate::scenario::{FlowSpec, WindowSpec};

/// One transfer. Visits, connections and transfers are numbered from 1, as the script has them: the
/// same on every host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Group of its flow.
    pub group: u32,
    /// Which flow of the group, from 0.
    pub index: u32,
    /// Which visit of the flow.
    pub visit: u32,
    /// Which connection of the visit.
    pub connection: u32,
    /// Which transfer of the connection.
    pub transfer: u32,
    /// Its connection was opened.
    pub opened: Time,
    /// Its completion time runs from here.
    pub begun: Time,
    /// Its first byte arrived; none: it has not.
    pub first_byte: Option<Time>,
    /// Its last byte arrived; none: it had not at the end of the run, of its flow or of its
    /// connection.
    pub last_byte: Option<Time>,
    /// All of it.
    pub bytes: u64,
}

/// Number and sum of the times of a part, whose distribution is in that of the whole.
#[derive(Clone, Copy, Default)]
pub struct Sum {
    /// How many.
    pub count: u64,
    /// All of them together.
    pub took_ns: u128,
}

impl Sum {
    /// One more.
    pub fn add(&mut self, took_ns: u64) {
        self.count += 1;
        self.took_ns += u128::from(took_ns);
    }
}

/// Of one part in one window.
#[derive(Clone, Copy, Default)]
pub struct Sums {
    /// Of transfers.
    pub transfers: Sum,
    /// Of pages.
    pub pages: Sum,
}

/// Of one group in one window.
#[derive(Clone, Default)]
pub struct Times {
    /// Of transfers.
    pub transfers: Delays,
    /// Of pages.
    pub pages: Delays,
    /// Delays of datagrams that arrived.
    pub datagrams: Delays,
}

/// Of all groups.
#[derive(Default)]
pub struct TransferTimes {
    windows: Vec<(u64, u64)>,
    /// Names of whole groups, in the order of their first parts.
    names: Vec<String>,
    /// By whole group, then by window.
    times: Vec<Vec<Times>>,
    /// By group which whole it is of, and what its share is, by window.
    parts: Vec<(usize, Vec<Sums>)>,
    /// By whole group, the number of its parts.
    part_counts: Vec<usize>,
}

impl TransferTimes {
    /// Of these groups of flows in these windows.
    pub fn new(groups: &[FlowSpec], windows: &[WindowSpec]) -> Self {
        let mut numbers = HashMap::new();
        let (mut names, mut part_counts) = (Vec::new(), Vec::new());
        let part = |spec: &FlowSpec| {
            let number = *numbers.entry(spec.whole().to_owned()).or_insert_with(|| {
                names.push(spec.whole().to_owned());
                part_counts.push(0);
                names.len() - 1
            });
            part_counts[number] += 1;
            (number, vec![Sums::default(); windows.len()])
        };
        let parts = groups.iter().map(part).collect();
        Self {
            windows: windows.iter().map(|w| (w.from_ns, w.to_ns)).collect(),
            times: vec![vec![Times::default(); windows.len()]; names.len()],
            names,
            parts,
            part_counts,
        }
    }

    /// The names of whole groups.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Which whole a group is of.
    pub fn whole_of(&self, group: usize) -> usize {
        self.parts[group].0
    }

    /// Of a whole group in a window.
    pub fn of(&self, whole: usize, window: usize) -> &Times {
        &self.times[whole][window]
    }

    /// Of a group in a window, where it shares its distributions with others.
    pub fn share_of(&self, group: usize, window: usize) -> Option<&Sums> {
        let (whole, sums) = &self.parts[group];
        (self.part_counts[*whole] > 1).then(|| &sums[window])
    }

    /// A transfer is complete.
    pub fn add_transfer(&mut self, group: u32, now: Time, took_ns: u64) {
        self.each(group, now, |times, sums| {
            times.transfers.add(took_ns);
            sums.transfers.add(took_ns);
        });
    }

    /// A page is complete.
    pub fn add_page(&mut self, group: u32, now: Time, took_ns: u64) {
        self.each(group, now, |times, sums| {
            times.pages.add(took_ns);
            sums.pages.add(took_ns);
        });
    }

    /// A datagram has arrived, at a group that it was sent to.
    pub fn add_datagram(&mut self, group: u32, now: Time, delay_ns: u64) {
        self.each(group, now, |times, _| times.datagrams.add(delay_ns));
    }

    fn each(&mut self, group: u32, now: Time, add: impl Fn(&mut Times, &mut Sums)) {
        let (whole, sums) = &mut self.parts[group as usize];
        let windows = self.windows.iter().zip(&mut self.times[*whole]);
        for ((&(from_ns, to_ns), times), sums) in windows.zip(sums) {
            if (from_ns..to_ns).contains(&now.0) {
                add(times, sums);
            }
        }
    }
}
