// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Connections as they were seen on a link (Weigle, Adurthi, Hernández-Campos, Jeffay and Smith,
//! "Tmix", CCR 2006): replayed from a file of connection vectors, or drawn. Drawn ones are
//! synthetic: their distributions are like those of traces that were published, and they are no
//! trace of any link.

pub mod vectors;

use serde::{Deserialize, Serialize};

use super::draw::{exponential, geometric, lognormal, whole_bytes, whole_ns};
use super::files::LEAST_GAP_NS;
use super::key::{Key, Kind, Unit};
use super::kinds::{Member, Traffic};
use super::mix::{self, Mix, Responses, Tail};
use super::{Conversation, End, Move, Pace, Visit, Visits};
use crate::base::rng::Rng;
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
        Key::new(
            "one_epoch",
            Unit::Share,
            "of synthetic connections that have one exchange",
        )
        .or(0.78),
        Key::new(
            "epochs",
            Unit::Number,
            "exchanges of the other synthetic connections in the mean",
        )
        .within(2.0, 1_000.0)
        .or(3.0),
        Key::new("request", Unit::Size, "median of a request")
            .within(1.0, 1e9)
            .or(300.0),
        Key::new(
            "request_sigma",
            Unit::Number,
            "deviation of the logarithm of a request's size",
        )
        .within(0.0, 4.0)
        .or(1.0),
        mix::RESPONSE.or(900.0),
        mix::SIGMA.or(1.5),
        mix::TAIL,
        Key::new(
            "tail_bytes",
            Unit::Share,
            "of all bytes of responses that are in the tail; unless given, `tail` is 0.5 %",
        )
        .within(0.0, mix::MOST_TAIL_BYTES)
        .optional(),
        mix::SHAPE,
        mix::FROM,
        mix::LARGEST,
        Key::new(
            "think",
            Unit::Time,
            "median time between two exchanges of a connection",
        )
        .within(0.0, 3.6e12)
        .or(2e8),
        Key::new(
            "think_sigma",
            Unit::Number,
            "deviation of the logarithm of that time",
        )
        .within(0.0, 4.0)
        .or(2.0),
        Key::new("rtt_from", Unit::Time, "least round trip of a connection")
            .within(0.0, 1e10)
            .or(1e7),
        Key::new(
            "rtt_to",
            Unit::Time,
            "largest round trip of a connection; all between are as likely",
        )
        .within(0.0, 1e10)
        .or(1.5e8),
    ],
};

/// Its table in a scenario.
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
    /// Share of those with one exchange.
    pub one_epoch: f64,
    /// Mean number of exchanges of the others.
    pub epochs: f64,
    /// Median of a request.
    #[serde(rename = "request")]
    pub request_bytes: u64,
    /// Deviation of its logarithm.
    pub request_sigma: f64,
    /// Median of a response, but for the tail.
    #[serde(rename = "response")]
    pub response_bytes: u64,
    /// Deviation of its logarithm.
    pub response_sigma: f64,
    /// Share of the responses in the tail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tail: Option<f64>,
    /// Share of the bytes in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tail_bytes: Option<f64>,
    /// Shape of the tail.
    pub tail_shape: f64,
    /// Least of the tail.
    #[serde(rename = "tail_from")]
    pub tail_from_bytes: u64,
    /// Most of the tail.
    #[serde(rename = "largest")]
    pub largest_bytes: u64,
    /// Median time between two exchanges.
    #[serde(rename = "think")]
    pub think_ns: u64,
    /// Deviation of its logarithm.
    pub think_sigma: f64,
    /// Least round trip.
    #[serde(rename = "rtt_from")]
    pub rtt_from_ns: u64,
    /// Largest round trip.
    #[serde(rename = "rtt_to")]
    pub rtt_to_ns: u64,
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
        if self.rtt_to_ns < self.rtt_from_ns {
            let reason = format!(
                "{} ns is less than 'rtt_from', {} ns",
                self.rtt_to_ns, self.rtt_from_ns
            );
            return Err(("rtt_to", reason));
        }
        let (from_bytes, largest_bytes) = (self.tail_from_bytes, self.largest_bytes);
        mix::check(self.tail, self.tail_bytes, from_bytes, largest_bytes)
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
            None => Source::Synthetic(Box::new(Synthetic {
                responses: self.mix().responses(),
                spec: self.clone(),
                rng: member.rng,
            })),
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
    Synthetic(Box<Synthetic>),
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

/// Share of the responses in the tail, unless the scenario says it.
const TAIL: f64 = 0.005;

impl Spec {
    fn mix(&self) -> Mix {
        Mix {
            median_bytes: self.response_bytes as f64,
            sigma: self.response_sigma,
            tail: Tail::given(self.tail, self.tail_bytes, Tail::Responses(TAIL)),
            shape: self.tail_shape,
            from_bytes: self.tail_from_bytes as f64,
            largest_bytes: self.largest_bytes as f64,
        }
    }
}

/// Connections that were never seen anywhere.
#[derive(Debug)]
pub struct Synthetic {
    spec: Spec,
    responses: Responses,
    rng: Rng,
}

impl Synthetic {
    fn visit(&mut self) -> Visit {
        let (spec, rng) = (&self.spec, &mut self.rng);
        let wait_ns = whole_ns(exponential(rng) * (spec.gap_ns as f64 * spec.scale));
        let epochs = match rng.unit() <= spec.one_epoch {
            true => 1,
            false => 2 + geometric(rng, spec.epochs - 2.0),
        };
        let concurrent = rng.unit() <= spec.concurrent;
        let rtt_ns = spec.rtt_from_ns + rng.below(spec.rtt_to_ns - spec.rtt_from_ns + 1);
        let (mut asks, mut answers) = (Vec::new(), Vec::new());
        let (mut requests, mut responses) = (0, 0);
        for epoch in 0..epochs {
            let request = whole_bytes(lognormal(
                rng,
                spec.request_bytes as f64,
                spec.request_sigma,
            ));
            let response = whole_bytes(self.responses.draw(rng));
            let mut think = || match epoch {
                0 => 0,
                _ => whole_ns(lognormal(rng, spec.think_ns as f64, spec.think_sigma)),
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
