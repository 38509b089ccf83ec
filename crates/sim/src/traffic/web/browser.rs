// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! The pages of one user, as conversations.

use super::{MOST_OBJECTS, REQUEST_SIGMA, SERVICE_MOST, SERVICE_SHAPE, Spec, THINK_E_SD};
use super::{THINK_G_SHAPE, THINK_L_SD};
use crate::base::rng::Rng;
use crate::traffic::draw::{gamma, geometric, lognormal, weibull, whole_bytes, whole_ns};
use crate::traffic::mix::Responses;
use crate::traffic::{After, Conversation, End, Move, Visit, Visits};

/// A request and what comes of it.
struct Exchange {
    request: u64,
    service_ns: u64,
    response: u64,
}

/// The pages of one user.
#[derive(Debug)]
pub struct Browser {
    spec: Spec,
    responses: Responses,
    persistent_pages: f64,
    /// Of the logarithm of the time to think.
    level: f64,
    spread: f64,
    began: bool,
    rng: Rng,
}

impl Browser {
    /// A user whose draws come from this stream.
    pub(super) fn new(spec: Spec, mut rng: Rng) -> Self {
        let level = libm::log2(spec.think_ns as f64) + THINK_L_SD * rng.normal();
        let spread = libm::sqrt(gamma(&mut rng, THINK_G_SHAPE) / THINK_G_SHAPE);
        Self {
            responses: spec.mix().responses(),
            persistent_pages: spec.persistent_pages(),
            spec,
            level,
            spread,
            began: false,
            rng,
        }
    }

    fn page(&mut self) -> Vec<Conversation> {
        let rng = &mut self.rng;
        let objects = geometric(rng, self.spec.objects).min(MOST_OBJECTS);
        let most = u64::from(self.spec.parallel) - 1;
        let others = geometric(rng, self.spec.servers - 1.0).min(most);
        let lasting = rng.unit() <= self.persistent_pages;
        let primary = self.exchange();
        if lasting {
            self.lasting(primary, objects, 1 + others)
        } else {
            self.plain(primary, objects)
        }
    }

    fn think_ns(&mut self) -> u64 {
        let log2 = self.level + self.spread * THINK_E_SD * self.rng.normal();
        whole_ns(libm::exp2(log2))
    }

    fn exchange(&mut self) -> Exchange {
        let (spec, rng) = (&self.spec, &mut self.rng);
        let request = lognormal(rng, spec.request_bytes as f64, REQUEST_SIGMA);
        let response = self.responses.draw(rng);
        let median = libm::pow(core::f64::consts::LN_2, 1.0 / SERVICE_SHAPE);
        let medians = (median / weibull(rng, SERVICE_SHAPE)).min(SERVICE_MOST);
        Exchange {
            request: whole_bytes(request),
            service_ns: whole_ns(medians * spec.service_ns as f64),
            response: whole_bytes(response),
        }
    }

    /// Each object has its connection; when one is there, the next of its lane is asked for.
    fn plain(&mut self, primary: Exchange, objects: u64) -> Vec<Conversation> {
        let parallel = self.spec.parallel as usize;
        let count = 1 + objects as usize;
        let (mut heard, mut conversations) = (Vec::with_capacity(count), Vec::with_capacity(count));
        heard.push(primary.response);
        conversations.push(once(&primary, None));
        for object in 0..objects as usize {
            let place = (object + 1).saturating_sub(parallel);
            let after = After {
                place,
                heard_bytes: heard[place],
                wait_ns: 0,
            };
            let exchange = self.exchange();
            heard.push(exchange.response);
            conversations.push(once(&exchange, Some(after)));
        }
        conversations
    }

    /// The objects of a server come one after the other, on its connection.
    fn lasting(&mut self, primary: Exchange, objects: u64, servers: u64) -> Vec<Conversation> {
        let after = After {
            place: 0,
            heard_bytes: primary.response,
            wait_ns: 0,
        };
        let mut of_servers: Vec<Vec<Exchange>> = (0..servers).map(|_| Vec::new()).collect();
        of_servers[0].push(primary);
        for _ in 0..objects {
            let server = self.rng.below(servers) as usize;
            let exchange = self.exchange();
            of_servers[server].push(exchange);
        }
        let used = of_servers.iter().filter(|exchanges| !exchanges.is_empty());
        let used = used.enumerate();
        used.map(|(i, exchanges)| all(exchanges, (i > 0).then_some(after)))
            .collect()
    }
}

impl Visits for Browser {
    /// The next page. The first one is asked for at once.
    fn next_visit(&mut self) -> Option<Visit> {
        let wait_ns = if self.began { self.think_ns() } else { 0 };
        self.began = true;
        Some(Visit {
            wait_ns,
            conversations: Vec::new(),
            page: true,
        })
    }

    fn complete(&mut self, visit: &mut Visit) {
        visit.conversations = self.page();
    }
}

/// One exchange on a connection that the server closes.
fn once(exchange: &Exchange, after: Option<After>) -> Conversation {
    let ask = Move::write(exchange.request).until(End::To, exchange.response);
    let answer = Move::write(exchange.response)
        .after_hearing(exchange.request)
        .after_waiting(exchange.service_ns);
    Conversation {
        opener: End::To,
        after,
        moves: [vec![answer, Move::close()].into(), vec![ask].into()],
        done_bytes: Some(exchange.response),
        rtt_ns: None,
    }
}

/// Several on a connection that the browser closes.
fn all(exchanges: &[Exchange], after: Option<After>) -> Conversation {
    let (mut requests, mut responses) = (0, 0);
    let (mut asks, mut answers) = (Vec::new(), Vec::new());
    for exchange in exchanges {
        let ask = Move::write(exchange.request).after_hearing(responses);
        requests += exchange.request;
        responses += exchange.response;
        asks.push(ask.until(End::To, responses));
        answers.push(
            Move::write(exchange.response)
                .after_hearing(requests)
                .after_waiting(exchange.service_ns),
        );
    }
    asks.push(Move::close().after_hearing(responses));
    Conversation {
        opener: End::To,
        after,
        moves: [answers.into(), asks.into()],
        done_bytes: Some(responses),
        rtt_ns: None,
    }
}
