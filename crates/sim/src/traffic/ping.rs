// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! An echo over UDP: the far end sends each datagram back, and how long each took there and back
//! is a result.

use serde::{Deserialize, Serialize};

use super::Source;
use super::burst::Burst;
use super::cbr::MAX_PAYLOAD_BYTES;
use super::key::{Key, Kind, Unit};
use super::kinds::{Member, Traffic};
use super::stream::Stream;

/// Its keys.
pub const KIND: Kind = Kind {
    name: "ping",
    help: "An echo over UDP every `interval`, with the round trip of each in the result.",
    transports: &["udp"],
    keys: &[
        Key::new("interval", Unit::Time, "between two echoes")
            .within(1e5, 3.6e12)
            .or(1e8),
        Key::new("payload", Unit::Size, "of a datagram")
            .within(1.0, MAX_PAYLOAD_BYTES)
            .or(56.0),
    ],
};

/// Its table in a scenario.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Between two echoes.
    #[serde(rename = "interval")]
    pub interval_ns: u64,
    /// Payload of a datagram.
    #[serde(rename = "payload")]
    pub payload_bytes: u32,
}

impl Traffic for Spec {
    fn source(&self, _: Member) -> Source {
        let echoes = Echoes {
            interval_ns: self.interval_ns,
            bytes: self.payload_bytes.into(),
            sent: 0,
        };
        echoes.into_source()
    }

    fn both_write(&self) -> bool {
        true
    }

    fn echo_interval_ns(&self) -> Option<u64> {
        Some(self.interval_ns)
    }
}

/// Datagrams at equal intervals.
#[derive(Clone, Debug)]
pub struct Echoes {
    interval_ns: u64,
    bytes: u64,
    sent: u64,
}

impl Stream for Echoes {
    fn next_burst(&mut self) -> Burst {
        let at_ns = self.sent * self.interval_ns;
        self.sent += 1;
        Burst {
            at_ns,
            bytes: self.bytes,
        }
    }
}
