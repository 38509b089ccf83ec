// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Speech: a datagram for each interval of a talk spurt, nothing in a pause. The means are those
//! of ITU-T P.59, 64 kbit/s is G.711. What a codec makes of losses is in ITU-T G.113, appendix I.

use serde::{Deserialize, Serialize};

use super::cbr::MAX_PAYLOAD_BYTES;
use super::key::{Key, Kind, Unit};
use super::kinds::{Member, Traffic};
use super::onoff;
use super::stream::Stream;
use super::{Source, onoff::Bursts};
use crate::base::time::NS_PER_S;

/// A codec, as the score of a call knows it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Codec {
    /// As people write it.
    pub name: &'static str,
    /// Its impairment of speech without loss.
    pub ie: f64,
    /// Its robustness: at this loss in percent half of what it has left is gone.
    pub bpl: f64,
    /// Speech in a datagram.
    pub interval_ns: u64,
}

/// Name, Ie and Bpl: G.711 without and with concealment of losses, G.729A with pauses.
const CODECS: [(&str, f64, f64); 3] = [
    ("g711", 0.0, 4.3),
    ("g711_plc", 0.0, 25.1),
    ("g729a", 11.0, 19.0),
];
const NAMES: &[&str] = &[CODECS[0].0, CODECS[1].0, CODECS[2].0];

/// Its keys.
pub const KIND: Kind = Kind {
    name: "voip",
    help: "Speech over UDP: talk spurts at `rate` and pauses, both exponential.",
    transports: &["udp"],
    keys: &[
        Key::new("rate", Unit::Rate, "of payload in a talk spurt")
            .within(1e3, 1e8)
            .or(64_000.0),
        Key::new("interval", Unit::Time, "of speech in a datagram")
            .within(1e6, 1e9)
            .or(20e6),
        Key::new("on", Unit::Time, "mean talk spurt")
            .within(1e6, 3.6e12)
            .or(1_004e6),
        Key::new("off", Unit::Time, "mean pause")
            .within(1e6, 3.6e12)
            .or(1_587e6),
        Key::new(
            "codec",
            Unit::Words(NAMES),
            "whose robustness the score `mos` has; `g711_plc` conceals losses",
        )
        .or_word("g711_plc"),
    ],
};

/// Its table in a scenario.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Rate of the payload in a talk spurt.
    #[serde(rename = "rate")]
    pub rate_bps: u64,
    /// Speech in a datagram.
    #[serde(rename = "interval")]
    pub interval_ns: u64,
    /// Mean talk spurt.
    #[serde(rename = "on")]
    pub on_ns: u64,
    /// Mean pause.
    #[serde(rename = "off")]
    pub off_ns: u64,
    /// Whose robustness to losses the score has.
    pub codec: String,
}

impl Traffic for Spec {
    fn check(&self) -> Result<(), (&'static str, String)> {
        let bytes = self.payload_bytes();
        if bytes == 0 || bytes as f64 > MAX_PAYLOAD_BYTES {
            let reason = format!(
                "{} ns of {} bit/s are {bytes} B, no datagram of 1 to {MAX_PAYLOAD_BYTES} B",
                self.interval_ns, self.rate_bps
            );
            return Err(("interval", reason));
        }
        self.bursts().check()
    }

    fn source(&self, member: Member) -> Source {
        Bursts::new(self.bursts(), member.rng).into_source()
    }

    fn codec(&self) -> Option<Codec> {
        let found = CODECS.iter().find(|(name, ..)| *name == self.codec);
        found.map(|&(name, ie, bpl)| Codec {
            name,
            ie,
            bpl,
            interval_ns: self.interval_ns,
        })
    }
}

impl Spec {
    fn payload_bytes(&self) -> u64 {
        self.rate_bps * self.interval_ns / (8 * NS_PER_S)
    }

    fn bursts(&self) -> onoff::Spec {
        onoff::Spec {
            rate_bps: self.rate_bps,
            payload_bytes: self.payload_bytes() as u32,
            on_ns: self.on_ns,
            off_ns: self.off_ns,
            shape: None,
        }
    }
}
