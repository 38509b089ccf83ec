// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! A browser, as the University of North Carolina's generator of web traffic has it (Christiansen,
//! Jeffay, Ott and Smith, "Tuning RED for web traffic", SIGCOMM 2000; Le et al., ICDCS 2006): a
//! user thinks, then asks for a page, then for what is embedded in it, on several connections at
//! once. Times to think and to serve have the form of PackMime (Cao et al., INFOCOM 2004, with the
//! numbers of ns-2.35's packmime_ranvar.cc); the tail of sizes is SURGE's (Barford and Crovella,
//! SIGMETRICS 1998).

mod browser;

use serde::{Deserialize, Serialize};

use super::Source;
use super::key::{Key, Kind, Unit};
use super::kinds::{Member, Traffic};
use super::mix::{self, Mix, Tail};

pub use browser::Browser;

/// More embedded objects no page has.
const MOST_OBJECTS: u64 = 50;
/// Of all bytes of responses in the tail: with more of them fewer responses suffer from the same
/// load, and fewer packets are lost than in the published experiments.
const TAIL_BYTES: f64 = 0.06;
/// Of the logarithm of a request's size.
const REQUEST_SIGMA: f64 = 0.4;
/// PackMime's time between pages: 2^(L + sqrt(G) E) with L and G of the user, E of each time.
const THINK_L_SD: f64 = 0.854_400_374_531_753;
const THINK_G_SHAPE: f64 = 1.85;
const THINK_E_SD: f64 = 1.1;
/// PackMime's time of a server: the inverse of a Weibull variate of this shape, whose median is
/// ln(2)^(1/shape); no longer than so many medians.
const SERVICE_SHAPE: f64 = 0.63;
const SERVICE_MOST: f64 = 17.0;

/// Its keys.
pub const KIND: Kind = Kind {
    name: "web",
    help: "A user's browser at `to`: pages with embedded objects from servers at `from`, then \
           time to think.",
    transports: &["tcp"],
    keys: &[
        Key::new("think", Unit::Time, "median time between two pages")
            .within(1e6, 3.6e12)
            .or(9.3e9),
        Key::new("request", Unit::Size, "median of a request")
            .within(1.0, 1e6)
            .or(350.0),
        mix::RESPONSE.or(2_550.0),
        mix::SIGMA.or(1.4),
        mix::TAIL,
        Key::new(
            "tail_bytes",
            Unit::Share,
            "of all bytes of responses that are in the tail; unless given, 6 %, or by `tail`",
        )
        .within(0.0, mix::MOST_TAIL_BYTES)
        .optional(),
        mix::SHAPE,
        mix::FROM,
        mix::LARGEST,
        Key::new(
            "objects",
            Unit::Number,
            "embedded in a page in the mean, at most 50",
        )
        .within(0.0, 25.0)
        .or(5.0),
        Key::new(
            "parallel",
            Unit::Count,
            "connections at once for embedded objects",
        )
        .within(1.0, 64.0)
        .or(4.0),
        Key::new(
            "persistent",
            Unit::Share,
            "of new connections that stay for all objects of a server",
        )
        .or(0.15),
        Key::new(
            "servers",
            Unit::Number,
            "of a page in the mean; of persistent connections each has one",
        )
        .within(1.0, 64.0)
        .or(2.0),
        Key::new(
            "service",
            Unit::Time,
            "median time of a server before it answers",
        )
        .within(0.0, 6e10)
        .or(5.9e6),
    ],
};

/// Its table in a scenario.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Spec {
    #[serde(rename = "think")]
    pub think_ns: u64,
    #[serde(rename = "request")]
    pub request_bytes: u64,
    #[serde(rename = "response")]
    pub response_bytes: u64,
    pub response_sigma: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tail: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tail_bytes: Option<f64>,
    pub tail_shape: f64,
    #[serde(rename = "tail_from")]
    pub tail_from_bytes: u64,
    #[serde(rename = "largest")]
    pub largest_bytes: u64,
    pub objects: f64,
    pub parallel: u32,
    pub persistent: f64,
    pub servers: f64,
    #[serde(rename = "service")]
    pub service_ns: u64,
}

impl Traffic for Spec {
    fn check(&self) -> Result<(), (&'static str, String)> {
        let (from_bytes, largest_bytes) = (self.tail_from_bytes, self.largest_bytes);
        mix::check(self.tail, self.tail_bytes, from_bytes, largest_bytes)
    }

    fn source(&self, member: Member) -> Source {
        Source::new(Browser::new(self.clone(), member.rng))
    }

    fn both_write(&self) -> bool {
        true
    }

    fn has_pages(&self) -> bool {
        true
    }
}

impl Spec {
    fn mix(&self) -> Mix {
        Mix {
            median_bytes: self.response_bytes as f64,
            sigma: self.response_sigma,
            tail: Tail::given(self.tail, self.tail_bytes, Tail::Bytes(TAIL_BYTES)),
            shape: self.tail_shape,
            from_bytes: self.tail_from_bytes as f64,
            largest_bytes: self.largest_bytes as f64,
        }
    }

    /// The chance of each number of embedded objects.
    fn chances_of_objects(&self) -> impl Iterator<Item = (u64, f64)> {
        let ratio = self.objects / (1.0 + self.objects);
        (0..=MOST_OBJECTS).scan(1.0, move |left, objects| {
            let chance = match objects {
                MOST_OBJECTS => *left,
                _ => *left * (1.0 - ratio),
            };
            *left -= chance;
            Some((objects, chance))
        })
    }

    /// Share of pages on persistent connections, so that of the connections it is what was asked
    /// for: such a page opens one for each of its servers, another one for each object.
    fn persistent_pages(&self) -> f64 {
        let objects: Vec<_> = self.chances_of_objects().collect();
        let single: f64 = objects
            .iter()
            .map(|&(n, chance)| (1 + n) as f64 * chance)
            .sum();
        let mut lasting = 0.0;
        let more = self.servers - 1.0;
        let ratio = more / (1.0 + more);
        let mut left = 1.0;
        for servers in 1..=self.parallel {
            let last = servers == self.parallel;
            let chance = if last { left } else { left * (1.0 - ratio) };
            left -= chance;
            let missed = 1.0 - 1.0 / f64::from(servers);
            let mut all_miss = 1.0;
            for &(_, of_objects) in &objects {
                let used = 1.0 + f64::from(servers - 1) * (1.0 - all_miss);
                lasting += chance * of_objects * used;
                all_miss *= missed;
            }
        }
        let share = self.persistent;
        share * single / (share * single + (1.0 - share) * lasting)
    }
}
