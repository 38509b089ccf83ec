// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Sizes of responses: a lognormal body, and a Pareto tail between two sizes. The tail is given by
//! its share of the responses or by its share of the bytes. Half a percent of the responses may be
//! most of the bytes, so that a load says little of how many responses there are.

use super::draw::{bounded_pareto, lognormal};
use super::key::{Key, Unit};
use crate::base::rng::Rng;

/// Its keys, which each kind of traffic that has it lists, with defaults of its own.
pub const RESPONSE: Key = Key::new(
    "response",
    Unit::Size,
    "median of a response, but for the tail",
)
.within(1.0, 1e9);
/// Of the body.
pub const SIGMA: Key = Key::new(
    "response_sigma",
    Unit::Number,
    "deviation of the logarithm of a response's size",
)
.within(0.0, 4.0);
/// One share.
pub const TAIL: Key = Key::new(
    "tail",
    Unit::Share,
    "of the responses whose sizes are Pareto; unless given, by `tail_bytes`",
)
.optional();
/// Of the tail.
pub const SHAPE: Key = Key::new("tail_shape", Unit::Number, "of the Pareto tail")
    .within(1.01, 10.0)
    .or(1.1);
/// Of the tail.
pub const FROM: Key = Key::new("tail_from", Unit::Size, "least of the tail")
    .within(1.0, 1e9)
    .or(133_000.0);
/// Of the tail.
pub const LARGEST: Key = Key::new("largest", Unit::Size, "most of the tail")
    .within(2.0, 1e12)
    .or(1e9);
/// The most that may be of the bytes.
pub const MOST_TAIL_BYTES: f64 = 0.999;

/// How large the tail is.
#[derive(Clone, Copy, Debug)]
pub enum Tail {
    /// A share of the responses.
    Responses(f64),
    /// A share of the bytes.
    Bytes(f64),
}

impl Tail {
    /// The one that a scenario gives, of which [`check`] allows one, or else this one.
    pub fn given(tail: Option<f64>, tail_bytes: Option<f64>, or: Self) -> Self {
        let tail = tail.map(Self::Responses);
        tail.or(tail_bytes.map(Self::Bytes)).unwrap_or(or)
    }
}

/// Sizes.
#[derive(Clone, Copy, Debug)]
pub struct Mix {
    /// Median of the body.
    pub median_bytes: f64,
    /// Deviation of its logarithm.
    pub sigma: f64,
    /// How large the tail is.
    pub tail: Tail,
    /// Its shape.
    pub shape: f64,
    /// Its least.
    pub from_bytes: f64,
    /// Its most.
    pub largest_bytes: f64,
}

impl Mix {
    /// Draws from it.
    pub fn responses(self) -> Responses {
        let tail = match self.tail {
            Tail::Responses(share) => share,
            Tail::Bytes(share) => {
                let (body, tail) = (
                    share * self.mean_of_body(),
                    (1.0 - share) * self.mean_of_tail(),
                );
                body / (body + tail)
            }
        };
        Responses { mix: self, tail }
    }

    fn mean_of_body(&self) -> f64 {
        self.median_bytes * libm::exp(self.sigma * self.sigma / 2.0)
    }

    fn mean_of_tail(&self) -> f64 {
        let (shape, ratio) = (self.shape, self.from_bytes / self.largest_bytes);
        let cut = 1.0 - libm::pow(ratio, shape);
        shape / (shape - 1.0) * self.from_bytes * (1.0 - libm::pow(ratio, shape - 1.0)) / cut
    }
}

/// Sizes of one response after the other.
#[derive(Clone, Copy, Debug)]
pub struct Responses {
    mix: Mix,
    /// Share of them in the tail.
    tail: f64,
}

impl Responses {
    /// Draws one.
    pub fn draw(&self, rng: &mut Rng) -> f64 {
        let mix = &self.mix;
        if rng.unit() <= self.tail {
            bounded_pareto(rng, mix.shape, mix.from_bytes, mix.largest_bytes)
        } else {
            lognormal(rng, mix.median_bytes, mix.sigma)
        }
    }
}

/// Checks that both shares are not given, and that the tail has a width.
///
/// # Errors
/// The key at fault, and the reason.
pub fn check(
    tail: Option<f64>,
    tail_bytes: Option<f64>,
    from_bytes: u64,
    largest_bytes: u64,
) -> Result<(), (&'static str, String)> {
    if tail.is_some() && tail_bytes.is_some() {
        let reason = "'tail' says how large the tail is: leave one of the two out";
        return Err(("tail_bytes", reason.to_owned()));
    }
    if largest_bytes <= from_bytes {
        let reason = format!("{largest_bytes} B is not more than 'tail_from', {from_bytes} B");
        return Err(("largest", reason));
    }
    Ok(())
}
