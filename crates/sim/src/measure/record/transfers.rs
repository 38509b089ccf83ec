// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Transfers: each as a row, which whoever watches the run takes as it ends; and how long they and
//! pages took, by group of flows and window, as distributions. So a longer run takes no more memory.

use super::Delays;
use crate::base::time::Time;
use crate::scenario::WindowSpec;

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

/// Of one group in one window.
#[derive(Clone, Default)]
pub struct Times {
    /// Of transfers.
    pub transfers: Delays,
    /// Of pages.
    pub pages: Delays,
}

/// Of all groups.
#[derive(Default)]
pub struct TransferTimes {
    windows: Vec<(u64, u64)>,
    /// By group, then by window.
    groups: Vec<Vec<Times>>,
}

impl TransferTimes {
    /// Of so many groups of flows in these windows.
    pub fn new(groups: usize, windows: &[WindowSpec]) -> Self {
        Self {
            windows: windows.iter().map(|w| (w.from_ns, w.to_ns)).collect(),
            groups: vec![vec![Times::default(); windows.len()]; groups],
        }
    }

    /// Of a group in a window.
    pub fn of(&self, group: usize, window: usize) -> &Times {
        &self.groups[group][window]
    }

    /// A transfer is complete.
    pub fn add_transfer(&mut self, group: u32, now: Time, took_ns: u64) {
        self.each(group, now, |times| times.transfers.add(took_ns));
    }

    /// A page is complete.
    pub fn add_page(&mut self, group: u32, now: Time, took_ns: u64) {
        self.each(group, now, |times| times.pages.add(took_ns));
    }

    fn each(&mut self, group: u32, now: Time, add: impl Fn(&mut Times)) {
        let windows = self.windows.iter().zip(&mut self.groups[group as usize]);
        for (&(from_ns, to_ns), times) in windows {
            if (from_ns..to_ns).contains(&now.0) {
                add(times);
            }
        }
    }
}
