// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! A video call over UDP whose sender keeps the delay short: `traffic/nada.c`.

use serde::{Deserialize, Serialize};

use super::Source;
use super::cbr::MAX_PAYLOAD_BYTES;
use super::decided::Decided;
use super::key::{Key, Kind, Unit};
use super::kinds::{Member, Traffic};

/// Its keys.
pub const KIND: Kind = Kind {
    name: "nada",
    help: "A video call over UDP whose rate follows delay and loss (RFC 8698).",
    transports: &["udp"],
    keys: &[
        Key::new("least", Unit::Rate, "least rate of payload")
            .within(1e3, 1e10)
            .or(150e3),
        Key::new("most", Unit::Rate, "largest rate of payload")
            .within(1e3, 1e10)
            .or(1.5e6),
        Key::new("payload", Unit::Size, "of a datagram")
            .within(8.0, MAX_PAYLOAD_BYTES)
            .or(1_200.0),
    ],
};

/// Its table in a scenario.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// RMIN.
    #[serde(rename = "least")]
    pub least_bps: u64,
    /// RMAX.
    #[serde(rename = "most")]
    pub most_bps: u64,
    /// Payload of a datagram.
    #[serde(rename = "payload")]
    pub payload_bytes: u32,
}

impl Spec {
    fn words(&self) -> String {
        format!(
            "nada {} {} {}",
            self.payload_bytes, self.least_bps, self.most_bps
        )
    }
}

impl Traffic for Spec {
    fn check(&self) -> Result<(), (&'static str, String)> {
        if self.least_bps <= self.most_bps {
            return Ok(());
        }
        let reason = format!(
            "{} bit/s is more than `most`, {} bit/s",
            self.least_bps, self.most_bps
        );
        Err(("least", reason))
    }

    fn source(&self, _: Member) -> Source {
        Decided::source(&self.words())
    }

    fn both_write(&self) -> bool {
        true
    }

    fn application(&self) -> Option<String> {
        Some(self.words())
    }
}
