// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Files that come as a Poisson process, of one size or with Pareto sizes: each on a connection of
//! its own, or one behind the other on a connection that stays.

use serde::{Deserialize, Serialize};

use super::bulk::whole;
use super::burst::Burst;
use super::draw::{exponential, pareto, whole_bytes, whole_ns};
use super::key::{Key, Kind, Unit};
use super::kinds::{Member, Traffic};
use super::stream::Stream;
use super::{Pace, Source, Visit, Visits};
use crate::base::rng::Rng;

/// Connections that a link cannot serve stay in memory: more of them a second are a mistake, or
/// more flows.
pub const LEAST_GAP_NS: f64 = 1e5;

/// Its keys.
pub const KIND: Kind = Kind {
    name: "files",
    help: "Files that come as a Poisson process, of one size or with Pareto sizes.",
    transports: &["tcp"],
    keys: &[
        Key::new("gap", Unit::Time, "mean time between two files").within(LEAST_GAP_NS, 3.6e12),
        Key::new("size", Unit::Size, "of a file, in the mean").within(1.0, 1e12),
        Key::new(
            "shape",
            Unit::Number,
            "of Pareto sizes, which at 1 and below have no mean; unless given, all files are of one size",
        )
        .within(1.01, 10.0)
        .optional(),
        Key::new(
            "connections",
            Unit::Words(&["each", "one"]),
            "a connection for each file, or one that stays and takes them in turn",
        )
        .or_word("each"),
    ],
};

/// Which connections files take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Connections {
    /// One for each.
    Each,
    /// One for all.
    One,
}

/// Its table in a scenario.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Mean time between two files.
    #[serde(rename = "gap")]
    pub gap_ns: u64,
    /// Mean size.
    #[serde(rename = "size")]
    pub bytes: u64,
    /// Of Pareto sizes; none: all alike.
    #[serde(default)]
    pub shape: Option<f64>,
    /// Which connections they take.
    pub connections: Connections,
}

impl Traffic for Spec {
    fn source(&self, member: Member) -> Source {
        let arrivals = Arrivals {
            gap_ns: self.gap_ns,
            bytes: self.bytes,
            shape: self.shape,
            at_ns: 0,
            rng: member.rng,
        };
        match self.connections {
            Connections::Each => Source::new(arrivals),
            Connections::One => arrivals.into_source(),
        }
    }
}

/// The files of one flow.
#[derive(Clone, Debug)]
pub struct Arrivals {
    gap_ns: u64,
    bytes: u64,
    shape: Option<f64>,
    at_ns: u64,
    rng: Rng,
}

impl Arrivals {
    fn wait_ns(&mut self) -> u64 {
        whole_ns(exponential(&mut self.rng) * self.gap_ns as f64)
    }

    fn size(&mut self) -> u64 {
        match self.shape {
            Some(shape) => whole_bytes(pareto(&mut self.rng, shape) * self.bytes as f64),
            None => self.bytes,
        }
    }
}

impl Visits for Arrivals {
    fn pace(&self) -> Pace {
        Pace::Open
    }

    /// The next, on a connection of its own.
    fn next_visit(&mut self) -> Option<Visit> {
        let wait_ns = self.wait_ns();
        Some(Visit {
            wait_ns,
            ..Visit::of(whole(self.size()))
        })
    }
}

impl Stream for Arrivals {
    fn are_transfers(&self) -> bool {
        true
    }

    /// The next, on the one that stays.
    fn next_burst(&mut self) -> Burst {
        self.at_ns += self.wait_ns();
        Burst {
            at_ns: self.at_ns,
            bytes: self.size(),
        }
    }
}
