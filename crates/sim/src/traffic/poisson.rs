// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Datagrams of a Poisson process.

use serde::{Deserialize, Serialize};

use super::Source;
use super::burst::Burst;
use super::cbr::{MAX_PAYLOAD_BYTES, at_most_one_a_ns};
use super::draw::{exponential, whole_ns};
use super::key::{Key, Kind, Unit};
use super::kinds::{Member, Traffic};
use super::stream::Stream;
use crate::base::rng::Rng;
use crate::base::time::NS_PER_S;

/// Its keys.
pub const KIND: Kind = Kind {
    name: "poisson",
    help: "Datagrams of `payload` that come as a Poisson process of this mean rate.",
    transports: &["udp"],
    keys: &[
        Key::new("rate", Unit::Rate, "of payload, in the mean"),
        Key::new("payload", Unit::Size, "of a datagram")
            .within(1.0, MAX_PAYLOAD_BYTES)
            .or(1_000.0),
    ],
};

/// Its table in a scenario.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Mean rate of the payload.
    #[serde(rename = "rate")]
    pub rate_bps: u64,
    /// Payload of a datagram.
    #[serde(rename = "payload")]
    pub payload_bytes: u32,
}

impl Traffic for Spec {
    fn check(&self) -> Result<(), (&'static str, String)> {
        at_most_one_a_ns(self.rate_bps, self.payload_bytes.into())
    }

    fn source(&self, member: Member) -> Source {
        let bits = f64::from(self.payload_bytes) * 8.0;
        let arrivals = Arrivals {
            gap_ns: bits * NS_PER_S as f64 / self.rate_bps as f64,
            bytes: self.payload_bytes.into(),
            at_ns: 0,
            rng: member.rng,
        };
        arrivals.into_source()
    }
}

/// Datagrams with exponential gaps.
#[derive(Clone, Debug)]
pub struct Arrivals {
    gap_ns: f64,
    bytes: u64,
    at_ns: u64,
    rng: Rng,
}

impl Stream for Arrivals {
    fn next_burst(&mut self) -> Burst {
        self.at_ns += whole_ns(exponential(&mut self.rng) * self.gap_ns);
        Burst {
            at_ns: self.at_ns,
            bytes: self.bytes,
        }
    }
}
