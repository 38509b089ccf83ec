// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! When the flows of a group start, and what each adds to a round trip.

use super::{FlowSpec, TimesSpec};
use crate::base::rng::Rng;
use crate::base::time::Time;

impl FlowSpec {
    /// When each flow of a group starts: the same on every host.
    pub fn starts(&self, seed: u64) -> Vec<Time> {
        let TimesSpec::One(start_ns) = self.start else {
            let rng = Rng::stream(seed, &format!("flow/{}/starts", self.name));
            let all = self.start.of_all(self.count, 0, rng);
            return all.into_iter().map(Time).collect();
        };
        let start = |index: u32| {
            let mut rng = Rng::stream(seed, &format!("flow/{}/{index}/start", self.name));
            Time(start_ns + rng.below(self.start_spread_ns))
        };
        (0..self.count).map(start).collect()
    }

    /// What each flow of a group adds to the delays of its links, so that its round trip is its own:
    /// the same on every host.
    pub fn added_ns(&self, delays_ns: u64, seed: u64) -> Vec<u64> {
        let Some(rtt) = &self.rtt else {
            return vec![0; self.count as usize];
        };
        let rng = Rng::stream(seed, &format!("flow/{}/rtts", self.name));
        let all = rtt.of_all(self.count, delays_ns, rng);
        all.into_iter().map(|ns| ns - delays_ns).collect()
    }
}
