// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! A given rate over TCP: an application that writes so much at equal distances, as a live video
//! does. What the connection cannot carry waits in its sender.

use serde::{Deserialize, Serialize};

use super::Source;
use super::cbr::{Even, at_most_one_a_ns};
use super::key::{Key, Kind, Unit};
use super::kinds::{Member, Traffic};
use super::stream::Stream;

/// Its keys.
pub const KIND: Kind = Kind {
    name: "paced",
    help: "A given rate over TCP: `payload` at a time, at equal distances.",
    transports: &["tcp"],
    keys: &[
        Key::new("rate", Unit::Rate, "of payload"),
        Key::new("payload", Unit::Size, "of each write")
            .within(1.0, 1e9)
            .or(1_448.0),
    ],
};

/// Its table in a scenario.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Rate of the payload.
    #[serde(rename = "rate")]
    pub rate_bps: u64,
    /// Bytes of each write.
    #[serde(rename = "payload")]
    pub payload_bytes: u64,
}

impl Traffic for Spec {
    fn check(&self) -> Result<(), (&'static str, String)> {
        at_most_one_a_ns(self.rate_bps, self.payload_bytes)
    }

    fn source(&self, _: Member) -> Source {
        Even::new(self.rate_bps, self.payload_bytes).into_source()
    }
}
