// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Connections as they were seen on a link (Weigle, Adurthi, Hernández-Campos, Jeffay and Smith,
//! "Tmix", CCR 2006): replayed from a file of connection vectors, or drawn. Drawn ones are
//! synthetic: their distributions are like those of traces that were published, and they are no
//! trace of any link.

pub mod vectors;

use serde::{Deserialize, Serialize};

use super::draw::{bounded_pareto, exponential, geometric, lognormal, whole_bytes, whole_ns};
use super::files::LEAST_GAP_NS;
use super::key::{Key, Kind, Unit};
use super::kinds::{Member, Traffic};
use super::{Conversation, End, Move, Pace, Visit, Visits};
use crate::base::rng::Rng;
use crate::base::time::{NS_PER_MS, NS_PER_S};
use vectors::{FIN_NS, Vectors};

/// Its keys.
pub const KIND: Kind = Kind {
    name: "tmix",
    help: "Connections of a trace, or synthetic ones like them, opened by `to`.",
    transports: &["tcp"],
    keys: &[
        Key::new(
            "vectors",
            Unit::Text,
            "a file of connection vectors; unless given, they are synthetic",
        )
        .optional(),
        Key::new(
            "scale",
            Unit::Number,
            "of the vectors' times: at 2, half as many connections a second",
        )
        .within(0.001, 1_000.0)
        .or(1.0),
        Key::new(
            "gap",
            Unit::Time,
            "mean time between two synthetic connections",
        )
        .within(LEAST_GAP_NS, 3.6e12)
        .or(1e8),
        Key::new(
            "concurrent",
            Unit::Share,
            "of synthetic connections whose ends do not wait for each other",
        )
        .or(0.1),
    ],
};

/// What a scenario says of it.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// What to replay; none: synthetic connections.
    #[serde(default, skip_serializing)]
    pub vectors: Option<Vectors>,
    /// Of their times.
    pub scale: f64,
    /// Mean time between two synthetic connections.
    #[serde(rename = "gap")]
    pub gap_ns: u64,
    /// Share of concurrent ones among these.
    pub concurrent: f64,
}

impl Traffic for Spec {
    fn check(&self) -> Result<(), (&'static str, String)> {
        if self.vectors.is_none() && self.gap_ns as f64 * self.scale < LEAST_GAP_NS {
            let reason = format!(
                "{} times 'gap', {} ns, is less than {LEAST_GAP_NS} ns",
                self.scale, self.gap_ns
            );
            return Err(("scale", reason));
        }
        Ok(())
    }

    /// Flows take the vectors in turn.
    fn source(&self, member: Member) -> super::Source {
        super::Source::new(match &self.vectors {
            Some(vectors) => Source::Replay(Replay {
                vectors: vectors.clone(),
                scale: self.scale,
                next: member.index as usize,
                step: member.count as usize,
                at_ns: 0,
            }),
            None => Source::Synthetic(Synthetic {
                gap_ns: self.gap_ns as f64 * self.scale,
                concurrent: self.concurrent,
                rng: member.rng,
            }),
        })
    }

    fn has_round_trips(&self) -> bool {
        true
    }

    fn both_write(&self) -> bool {
        true
    }
}

/// Where connections come from.
#[derive(Debug)]
pub enum Source {
    /// A file.
    Replay(Replay),
    /// Distributions.
    Synthetic(Synthetic),
}

impl Visits for Source {
    fn pace(&self) -> Pace {
        Pace::Open
    }

    fn next_visit(&mut self) -> Option<Visit> {
        match self {
            Self::Replay(replay) => replay.visit(),
            Self::Synthetic(synthetic) => Some(synthetic.visit()),
        }
    }
}

/// Vectors, in the order of their times.
#[derive(Debug)]
pub struct Replay {
    vectors: Vectors,
    scale: f64,
    next: usize,
    step: usize,
    at_ns: u64,
}

impl Replay {
    fn visit(&mut self) -> Option<Visit> {
        let vector = self.vectors.get(self.next)?;
        self.next += self.step;
        let at_ns = whole_ns(vector.start_us as f64 * 1e3 * self.scale);
        let wait_ns = at_ns - self.at_ns;
        self.at_ns = at_ns;
        Some(Visit {
            wait_ns,
            ..Visit::of(vector.conversation())
        })
    }
}

/// Epochs of a sequential connection: one in so many, else so many more in the mean.
const ONE_EPOCH: f64 = 0.78;
const MORE_EPOCHS: f64 = 1.0;
/// Medians and deviations of the logarithm: of a request, a response, a time to think.
const REQUEST: (f64, f64) = (300.0, 1.0);
const RESPONSE: (f64, f64) = (900.0, 1.5);
const THINK_NS: (f64, f64) = (0.2 * NS_PER_S as f64, 2.0);
/// Of the responses' tail: how many, its shape, least and most.
const TAIL: (f64, f64, f64, f64) = (0.005, 1.1, 133e3, 1e9);
/// Round trips, even between these.
const RTT_NS: (u64, u64) = (10 * NS_PER_MS, 150 * NS_PER_MS);

/// Connections that were never seen anywhere.
#[derive(Debug)]
pub struct Synthetic {
    gap_ns: f64,
    concurrent: f64,
    rng: Rng,
}

impl Synthetic {
    fn visit(&mut self) -> Visit {
        let rng = &mut self.rng;
        let wait_ns = whole_ns(exponential(rng) * self.gap_ns);
        let epochs = match rng.unit() <= ONE_EPOCH {
            true => 1,
            false => 1 + 1 + geometric(rng, MORE_EPOCHS),
        };
        let concurrent = rng.unit() <= self.concurrent;
        let rtt_ns = RTT_NS.0 + rng.below(RTT_NS.1 - RTT_NS.0 + 1);
        let (mut asks, mut answers) = (Vec::new(), Vec::new());
        let (mut requests, mut responses) = (0, 0);
        for epoch in 0..epochs {
            let request = whole_bytes(lognormal(rng, REQUEST.0, REQUEST.1));
            let response = whole_bytes(response(rng));
            let mut think = || match epoch {
                0 => 0,
                _ => whole_ns(lognormal(rng, THINK_NS.0, THINK_NS.1)),
            };
            let (ask_wait_ns, answer_wait_ns) = (think(), think());
            let ask = Move::write(request).after_waiting(ask_wait_ns);
            let answer = Move::write(response);
            if concurrent {
                asks.push(ask);
                answers.push(answer.after_waiting(answer_wait_ns));
            } else {
                let heard = responses;
                responses += response;
                asks.push(ask.after_hearing(heard).until(End::To, responses));
                requests += request;
                answers.push(answer.after_hearing(requests));
            }
        }
        let close = Move::close().after_waiting(FIN_NS);
        answers.push(close);
        if concurrent {
            asks.push(close);
        }
        Visit {
            wait_ns,
            ..Visit::of(conversation(answers, asks, rtt_ns))
        }
    }
}

fn response(rng: &mut Rng) -> f64 {
    if rng.unit() <= TAIL.0 {
        bounded_pareto(rng, TAIL.1, TAIL.2, TAIL.3)
    } else {
        lognormal(rng, RESPONSE.0, RESPONSE.1)
    }
}

/// The initiator sits at `to`, so that what it asks for comes from `from`.
fn conversation(acceptor: Vec<Move>, initiator: Vec<Move>, rtt_ns: u64) -> Conversation {
    Conversation {
        opener: End::To,
        after: None,
        moves: [acceptor.into(), initiator.into()],
        done_bytes: None,
        rtt_ns: Some(rtt_ns),
    }
}
