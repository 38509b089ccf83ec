// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Bursts: a source that sends at a constant rate for a random time and is silent for another.

use serde::{Deserialize, Serialize};

use super::burst::Burst;
use super::draw::{exponential, pareto, whole_ns};
use super::key::{Key, Kind, Unit};
use super::kinds::{Member, Traffic};
use super::stream::Stream;
use super::{Source, cbr};
use crate::base::rng::Rng;
use crate::base::time::NS_PER_S;

/// Its keys.
pub const KIND: Kind = Kind {
    name: "onoff",
    help: "Bursts: `payload` at a time at `rate` while it is on, then nothing while it is off.",
    transports: &["tcp", "udp"],
    keys: &[
        Key::new("rate", Unit::Rate, "of payload, while it is on"),
        Key::new(
            "payload",
            Unit::Size,
            "of each write; over udp, of a datagram",
        )
        .within(1.0, cbr::MAX_PAYLOAD_BYTES)
        .or(1_000.0),
        Key::new("on", Unit::Time, "mean time that it is on").within(1e3, 3.6e12),
        Key::new("off", Unit::Time, "mean time that it is off").within(1e3, 3.6e12),
        Key::new(
            "shape",
            Unit::Number,
            "of Pareto times, which at 1 and below have no mean; unless given, they are exponential",
        )
        .within(1.01, 10.0)
        .optional(),
    ],
};

/// Its table in a scenario.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Rate of the payload while it is on.
    #[serde(rename = "rate")]
    pub rate_bps: u64,
    /// Bytes of each write.
    #[serde(rename = "payload")]
    pub payload_bytes: u32,
    /// Mean time that it is on.
    #[serde(rename = "on")]
    pub on_ns: u64,
    /// Mean time that it is off.
    #[serde(rename = "off")]
    pub off_ns: u64,
    /// Of Pareto times; none: exponential.
    #[serde(default)]
    pub shape: Option<f64>,
}

impl Traffic for Spec {
    fn check(&self) -> Result<(), (&'static str, String)> {
        let mean_bits = u128::from(self.on_ns) * u128::from(self.rate_bps) / 1_000_000_000;
        if mean_bits < u128::from(self.payload_bytes) * 8 {
            let reason = format!(
                "in {} ns at {} bit/s less than one write of {} B is sent",
                self.on_ns, self.rate_bps, self.payload_bytes
            );
            return Err(("on", reason));
        }
        cbr::at_most_one_a_ns(self.rate_bps, self.payload_bytes.into())
    }

    fn source(&self, member: Member) -> Source {
        Bursts::new(self.clone(), member.rng).into_source()
    }
}

/// Writes in bursts.
#[derive(Clone, Debug)]
pub struct Bursts {
    spec: Spec,
    rng: Rng,
    /// The burst under way.
    from_ns: u64,
    to_ns: u64,
    /// Its writes that are left, and their times.
    left: u64,
    even: cbr::Even,
}

impl Bursts {
    /// It begins with a burst.
    pub(super) fn new(spec: Spec, rng: Rng) -> Self {
        let mut bursts = Self {
            even: cbr::Even::new(spec.rate_bps, spec.payload_bytes.into()),
            spec,
            rng,
            from_ns: 0,
            to_ns: 0,
            left: 0,
        };
        bursts.begin(0);
        bursts
    }

    fn drawn_ns(&mut self, mean_ns: u64) -> u64 {
        let rng = &mut self.rng;
        let times = match self.spec.shape {
            Some(shape) => pareto(rng, shape),
            None => exponential(rng),
        };
        whole_ns(times * mean_ns as f64)
    }

    /// A burst of as many writes as the rate gives in its time; what is over of one is sent with a
    /// chance of as much, so that the mean is that of the rate.
    fn begin(&mut self, at_ns: u64) {
        let on_ns = self.drawn_ns(self.spec.on_ns);
        let write = u128::from(self.spec.payload_bytes) * 8 * u128::from(NS_PER_S);
        let bits = u128::from(on_ns) * u128::from(self.spec.rate_bps);
        let chance = self.rng.below(write as u64);
        let more = u128::from(chance) < bits % write;
        self.left = (bits / write) as u64 + u64::from(more);
        (self.from_ns, self.to_ns) = (at_ns, at_ns + on_ns);
        self.even = cbr::Even::new(self.spec.rate_bps, self.spec.payload_bytes.into());
    }
}

impl Stream for Bursts {
    fn next_burst(&mut self) -> Burst {
        while self.left == 0 {
            let off_ns = self.drawn_ns(self.spec.off_ns);
            self.begin(self.to_ns + off_ns);
        }
        self.left -= 1;
        let burst = self.even.next_burst();
        Burst {
            at_ns: self.from_ns + burst.at_ns,
            ..burst
        }
    }
}
