// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! A medium that several links share in turn: the upstream of a cable plant.

use serde::Deserialize;

use super::fault::{Faults, fault};
use super::range::rate;
use super::{Fault, Scenario};
use crate::base::time::{NS_PER_MS, serialisation_ns};

/// Of a request on the wire: a minislot of 16 bytes.
pub const REQUEST_BYTES: u32 = 16;
/// In a cycle of DOCSIS are some milliseconds; a MAP describes at most 4,096 minislots.
const CYCLES_NS: std::ops::RangeInclusive<u64> = 100_000..=100 * NS_PER_MS;
const MAX_SLOTS: u32 = 1_024;
/// The field of a MAP has four bits.
const MAX_BACKOFF: u8 = 15;

/// A medium whose members ask for turns and are granted them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MediumSpec {
    /// Its name.
    pub name: String,
    /// Of its line, on which one member sends at a time.
    #[serde(rename = "rate")]
    pub rate_bps: u64,
    /// The time that one list of grants describes.
    #[serde(rename = "cycle")]
    pub cycle_ns: u64,
    /// The most that a member is granted in one turn.
    #[serde(rename = "grant")]
    pub grant_bytes: u32,
    /// Requests that can be made in a cycle, at its begin.
    pub slots: u32,
    /// The first and the last window of a member that defers, as powers of two.
    pub backoff: [u8; 2],
}

impl MediumSpec {
    /// How long the requests at the begin of a cycle take.
    pub fn requests_ns(&self) -> u64 {
        serialisation_ns(REQUEST_BYTES * self.slots, self.rate_bps)
    }

    fn check(&self, at: &str) -> Result<(), Fault> {
        rate(&format!("{at}.rate"), self.rate_bps)?;
        if !CYCLES_NS.contains(&self.cycle_ns) {
            let (least, most) = (CYCLES_NS.start(), CYCLES_NS.end());
            let reason = format!("{} ns is outside {least} to {most} ns", self.cycle_ns);
            return fault(format!("{at}.cycle"), reason);
        }
        if self.grant_bytes == 0 {
            return fault(
                format!("{at}.grant"),
                "grants of nothing: give 1 byte or more",
            );
        }
        if !(1..=MAX_SLOTS).contains(&self.slots) {
            let reason = format!("{} is outside 1 to {MAX_SLOTS}", self.slots);
            return fault(format!("{at}.slots"), reason);
        }
        if self.requests_ns() >= self.cycle_ns {
            let reason = format!(
                "{} requests of {REQUEST_BYTES} bytes fill the cycle of {} ns: fewer, or a longer \
                 cycle",
                self.slots, self.cycle_ns
            );
            return fault(format!("{at}.slots"), reason);
        }
        let [first, last] = self.backoff;
        if first > last || last > MAX_BACKOFF {
            let reason = format!("{first} to {last} is no part of 0 to {MAX_BACKOFF}");
            return fault(format!("{at}.backoff"), reason);
        }
        Ok(())
    }
}

impl Scenario {
    /// Checks its media.
    pub(super) fn check_media(&self, faults: &mut Faults) {
        faults.unique(
            "media",
            ".name",
            self.media.iter().map(|medium| &medium.name),
        );
        for (i, medium) in self.media.iter().enumerate() {
            faults.take(medium.check(&format!("media[{i}]")));
        }
    }
}
