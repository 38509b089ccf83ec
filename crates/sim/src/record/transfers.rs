// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! How long transfers and pages took, by group of flows and window: distributions, so that a
//! longer run takes no more memory.

use super::Delays;
use crate::scenario::WindowSpec;
use crate::time::Time;

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
