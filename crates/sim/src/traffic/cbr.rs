// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Datagrams at a constant rate.

use serde::{Deserialize, Serialize};

use super::Source;
use super::burst::Burst;
use super::key::{Key, Kind, Unit};
use super::kinds::{Member, Traffic};
use super::stream::Stream;
use crate::base::time::NS_PER_S;

/// Datagrams are not fragmented: what fills a frame of 1500 bytes.
pub const MAX_PAYLOAD_BYTES: f64 = 1_472.0;

/// Its keys.
pub const KIND: Kind = Kind {
    name: "cbr",
    help: "Datagrams of `payload` at a constant rate of payload.",
    transports: &["udp"],
    keys: &[
        Key::new("rate", Unit::Rate, "of payload"),
        Key::new("payload", Unit::Size, "of a datagram")
            .within(1.0, MAX_PAYLOAD_BYTES)
            .or(160.0),
    ],
};

/// Its table in a scenario.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Rate of the payload.
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

    fn source(&self, _: Member) -> Source {
        Even::new(self.rate_bps, self.payload_bytes.into()).into_source()
    }

    fn is_script(&self) -> bool {
        false
    }
}

/// Times are whole nanoseconds: of more writes than that some would have none of their own.
pub(super) fn at_most_one_a_ns(rate_bps: u64, bytes: u64) -> Result<(), (&'static str, String)> {
    let most_bps = bytes.saturating_mul(8).saturating_mul(NS_PER_S);
    if rate_bps <= most_bps {
        return Ok(());
    }
    let reason = format!(
        "{rate_bps} bit/s in writes of {bytes} B is more than one each ns; allowed: up to \
         {most_bps} bit/s, or larger writes"
    );
    Err(("rate", reason))
}

/// Writes of one size at a constant rate.
#[derive(Clone, Debug)]
pub struct Even {
    rate_bps: u64,
    bytes: u64,
    sent: u64,
}

impl Even {
    /// The first one is at the start.
    pub fn new(rate_bps: u64, bytes: u64) -> Self {
        Self {
            rate_bps,
            bytes,
            sent: 0,
        }
    }
}

impl Stream for Even {
    fn size_and_rate(&self) -> Option<(u64, u64)> {
        Some((self.bytes, self.rate_bps))
    }

    /// Of the count and not of the gap: a gap cut to whole nanoseconds is a higher rate (0.65 % of
    /// 100 Gbit/s).
    fn next_burst(&mut self) -> Burst {
        let bits = u128::from(self.sent) * u128::from(self.bytes) * 8;
        self.sent += 1;
        Burst {
            at_ns: (bits * u128::from(NS_PER_S) / u128::from(self.rate_bps)) as u64,
            bytes: self.bytes,
        }
    }
}
