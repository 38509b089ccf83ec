// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! A video call over UDP whose sender keeps the delay short: NADA (RFC 8698) with the values of its
//! table 2. The encoder makes each rate at once, in datagrams at even distances; nothing is
//! marked. A datagram that another overtook counts as lost (section 5.1.2).

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::cbr::MAX_PAYLOAD_BYTES;
use super::decided::{Application, Decided};
use super::key::{Key, Kind, Unit};
use super::kinds::{Member, Traffic};
use super::{End, Move, Source};
use crate::base::time::{NS_PER_MS, NS_PER_S};

const PRIO: f64 = 1.0;
const XREF_MS: f64 = 10.0;
const KAPPA: f64 = 0.5;
const ETA: f64 = 2.0;
const TAU_MS: f64 = 500.0;
const DELTA_NS: u64 = 100 * NS_PER_MS;
const LOGWIN_NS: u64 = 500 * NS_PER_MS;
const QEPS_NS: u64 = 10 * NS_PER_MS;
const DFILT_MS: f64 = 120.0;
const GAMMA_MAX: f64 = 0.5;
const QBOUND_MS: f64 = 50.0;
const MULTILOSS: f64 = 7.0;
const QTH_MS: f64 = 50.0;
const LAMBDA: f64 = 0.5;
const PLRREF: f64 = 0.01;
const DLOSS_MS: f64 = 10.0;
/// The largest signal, as in the authors' own simulation (ns3-rmcat). The RFC bounds it only by the
/// 15 bits of a report, 3.27 s: a loss of a tenth would then be a second, and the rate jump to its
/// ends.
const XMAX_MS: f64 = 500.0;
const ALPHA: f64 = 0.1;
/// Delays of which the least is that of the queue (section 5.1.1).
const LEAST_OF: usize = 15;
/// Weights of the last gaps between losses, the newest first (RFC 5348, section 5.4).
const WEIGHTS: [f64; 8] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];
/// A report, by our own count: headers of RTCP, and the 6 bytes that section 5.3 asks for. The RFC
/// leaves the form open; section 6.3 reckons with 200 bytes.
const REPORT_BYTES: u64 = 40;

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

/// What a scenario says of it.
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
        Decided::source(Call {
            payload_bytes: self.payload_bytes.into(),
            sender: Sender::new(self.least_bps as f64, self.most_bps as f64),
            receiver: Receiver::new(self.payload_bytes.into()),
            begun: [false; 2],
            sent_ns: VecDeque::new(),
            reports: VecDeque::new(),
        })
    }

    fn both_write(&self) -> bool {
        true
    }

    fn decides(&self) -> bool {
        true
    }
}

/// What the receiver tells.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Report {
    /// The congestion signal.
    x_ms: f64,
    /// Neither loss nor a queue: the rate may rise fast.
    ramps_up: bool,
    /// What arrives.
    received_bps: f64,
    /// What the last datagram took.
    forth_ns: u64,
}

/// Both ends of a call.
#[derive(Debug)]
struct Call {
    payload_bytes: u64,
    sender: Sender,
    receiver: Receiver,
    /// By end: it has written before.
    begun: [bool; 2],
    /// When the datagrams were sent of which the receiver knows nothing yet.
    sent_ns: VecDeque<u64>,
    /// Reports that the sender has not heard, by when they were sent.
    reports: VecDeque<(u64, Report)>,
}

impl Application for Call {
    fn opener(&self) -> End {
        End::From
    }

    /// Asked for the second move and later ones, an end is writing the one before.
    fn next_move(&mut self, end: End, now_ns: u64) -> Move {
        let writes = std::mem::replace(&mut self.begun[end as usize], true);
        match (end, writes) {
            (End::From, false) => Move::write(self.payload_bytes),
            (End::From, true) => {
                self.sent_ns.push_back(now_ns);
                let bits = self.payload_bytes as f64 * 8.0;
                let wait_ns = (bits * NS_PER_S as f64 / self.sender.rate_bps) as u64;
                Move::write(self.payload_bytes).after_waiting(wait_ns.max(1))
            }
            (End::To, writes) => {
                if writes {
                    let report = self.receiver.report(now_ns);
                    self.reports.push_back((now_ns, report));
                }
                Move::write(REPORT_BYTES).after_waiting(DELTA_NS)
            }
        }
    }

    fn on_datagram(&mut self, end: End, now_ns: u64, sent_ns: u64, delay_ns: u64) -> bool {
        if end == End::From {
            // Those before it were lost.
            while let Some((at_ns, report)) = self.reports.pop_front_if(|(at, _)| *at <= sent_ns) {
                if at_ns == sent_ns {
                    self.sender.hear(now_ns, now_ns - sent_ns, &report);
                }
            }
            return false;
        }
        let mut lost = 0;
        while let Some(at_ns) = self.sent_ns.pop_front_if(|at_ns| *at_ns <= sent_ns) {
            if at_ns == sent_ns {
                self.receiver.hear(now_ns, delay_ns, lost);
            }
            lost += 1;
        }
        !self.begun[End::To as usize]
    }
}

/// Section 4.3.
#[derive(Debug)]
struct Sender {
    least_bps: f64,
    most_bps: f64,
    rate_bps: f64,
    /// The signal before, and when it came.
    before: Option<(u64, f64)>,
}

impl Sender {
    fn new(least_bps: f64, most_bps: f64) -> Self {
        Self {
            least_bps,
            most_bps,
            rate_bps: least_bps,
            before: None,
        }
    }

    /// A report has come; its way back took so long.
    fn hear(&mut self, now_ns: u64, back_ns: u64, report: &Report) {
        let before = self.before.replace((now_ns, report.x_ms));
        if report.ramps_up {
            self.ramp_up(ms(report.forth_ns + back_ns), report.received_bps);
        } else if let Some((at_ns, x_ms)) = before {
            self.follow(ms(now_ns - at_ns), x_ms, report.x_ms);
        }
        self.rate_bps = self.rate_bps.clamp(self.least_bps, self.most_bps);
    }

    /// Equations 3 and 4: a queue that this makes stays below QBOUND.
    fn ramp_up(&mut self, rtt_ms: f64, received_bps: f64) {
        let gamma = GAMMA_MAX.min(QBOUND_MS / (rtt_ms + ms(DELTA_NS) + DFILT_MS));
        self.rate_bps = self.rate_bps.max((1.0 + gamma) * received_bps);
    }

    /// Equations 5 to 7.
    fn follow(&mut self, delta_ms: f64, x_before_ms: f64, x_ms: f64) {
        let offset_ms = x_ms - PRIO * XREF_MS * self.most_bps / self.rate_bps;
        let difference_ms = x_ms - x_before_ms;
        self.rate_bps -= KAPPA * (delta_ms / TAU_MS) * (offset_ms / TAU_MS) * self.rate_bps
            + KAPPA * ETA * (difference_ms / TAU_MS) * self.rate_bps;
    }
}

/// Sections 4.2 and 5.1.
#[derive(Debug)]
struct Receiver {
    payload_bytes: u64,
    base_ns: u64,
    forth_ns: u64,
    /// The last delays of the queue, by how many arrived.
    last_ns: VecDeque<u64>,
    /// Arrivals of LOGWIN: when, the delay of the queue, and how many before it were lost.
    window: VecDeque<(u64, u64, u64)>,
    loss_ratio: f64,
    /// Datagrams since the last loss, between the two last ones, and so on.
    gaps: VecDeque<u64>,
}

impl Receiver {
    fn new(payload_bytes: u64) -> Self {
        Self {
            payload_bytes,
            base_ns: u64::MAX,
            forth_ns: 0,
            last_ns: VecDeque::new(),
            window: VecDeque::new(),
            loss_ratio: 0.0,
            gaps: VecDeque::from([0]),
        }
    }

    fn hear(&mut self, now_ns: u64, delay_ns: u64, lost: u64) {
        self.forth_ns = delay_ns;
        self.base_ns = self.base_ns.min(delay_ns);
        let queue_ns = delay_ns - self.base_ns;
        self.last_ns.push_front(queue_ns);
        self.last_ns.truncate(LEAST_OF);
        self.window.push_back((now_ns, queue_ns, lost));
        self.forget(now_ns);
        if lost > 0 {
            self.gaps.push_front(0);
            self.gaps.truncate(WEIGHTS.len() + 1);
        }
        self.gaps[0] += 1;
    }

    fn forget(&mut self, now_ns: u64) {
        let old = |&mut (at_ns, ..): &mut (u64, u64, u64)| at_ns + LOGWIN_NS < now_ns;
        while self.window.pop_front_if(old).is_some() {}
    }

    fn report(&mut self, now_ns: u64) -> Report {
        self.forget(now_ns);
        let arrived = self.window.len() as f64;
        let lost: u64 = self.window.iter().map(|&(_, _, lost)| lost).sum();
        let ratio = match self.window.is_empty() {
            true => 0.0,
            false => lost as f64 / (lost as f64 + arrived),
        };
        self.loss_ratio += ALPHA * (ratio - self.loss_ratio);
        let is_empty = self
            .window
            .iter()
            .all(|&(_, queue_ns, _)| queue_ns < QEPS_NS);
        let bits = arrived * self.payload_bytes as f64 * 8.0;
        Report {
            x_ms: self.signal_ms(),
            ramps_up: lost == 0 && is_empty,
            received_bps: bits * NS_PER_S as f64 / LOGWIN_NS as f64,
            forth_ns: self.forth_ns,
        }
    }

    /// Equations 1 and 2.
    fn signal_ms(&self) -> f64 {
        let queue_ms = ms(self.last_ns.iter().copied().min().unwrap_or(0));
        let warped_ms = match self.has_lost() && queue_ms >= QTH_MS {
            true => QTH_MS * libm::exp(-LAMBDA * (queue_ms - QTH_MS) / QTH_MS),
            false => queue_ms,
        };
        let loss = self.loss_ratio / PLRREF;
        (warped_ms + DLOSS_MS * loss * loss).min(XMAX_MS)
    }

    /// The last loss is no longer ago than some mean gaps between losses. The gap that is still
    /// open is not in the mean, as it is in RFC 5348: with it no loss would ever be forgotten.
    fn has_lost(&self) -> bool {
        let (mut sum, mut weights) = (0.0, 0.0);
        for (&gap, weight) in self.gaps.iter().skip(1).zip(WEIGHTS) {
            sum += gap as f64 * weight;
            weights += weight;
        }
        self.gaps[0] as f64 * weights <= MULTILOSS * sum && weights > 0.0
    }
}

fn ms(ns: u64) -> f64 {
    ns as f64 / NS_PER_MS as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = NS_PER_S;

    fn close(got: f64, expected: f64) {
        assert!(
            (got - expected).abs() < 1e-6 * expected.abs().max(1.0),
            "{got} for {expected}"
        );
    }

    #[test]
    fn an_empty_queue_lets_the_rate_rise_by_what_makes_a_short_queue() {
        let mut sender = Sender::new(150e3, 1.5e6);
        let report = Report {
            x_ms: 0.0,
            ramps_up: true,
            received_bps: 400e3,
            forth_ns: 50 * NS_PER_MS,
        };
        // 50 / (100 + 100 + 120) of what arrives.
        sender.hear(S, 50 * NS_PER_MS, &report);
        close(sender.rate_bps, 400e3 * (1.0 + 50.0 / 320.0));
        sender.hear(
            S,
            0,
            &Report {
                received_bps: 1.5e6,
                ..report
            },
        );
        close(sender.rate_bps, 1.5e6);
    }

    #[test]
    fn a_rate_stays_where_the_signal_is_that_of_its_share() {
        let mut sender = Sender::new(150e3, 1.5e6);
        sender.rate_bps = 1e6;
        let at = |x_ms: f64| Report {
            x_ms,
            ramps_up: false,
            received_bps: 1e6,
            forth_ns: 0,
        };
        // XREF * RMAX / r.
        sender.hear(0, 0, &at(15.0));
        sender.hear(S / 10, 0, &at(15.0));
        close(sender.rate_bps, 1e6);
        // 25 ms more, all of it since the report before: 0.5 * 0.2 * 0.05 and 0.5 * 2 * 0.05.
        sender.hear(S / 5, 0, &at(40.0));
        close(sender.rate_bps, 1e6 * (1.0 - 0.005 - 0.05));
    }

    #[test]
    fn the_signal_is_the_least_of_the_last_delays() {
        let mut receiver = Receiver::new(1_000);
        receiver.hear(0, 50 * NS_PER_MS, 0);
        for n in 1..=15 {
            receiver.hear(n * NS_PER_MS, (60 + n) * NS_PER_MS, 0);
        }
        close(receiver.signal_ms(), 11.0);
        let report = receiver.report(15 * NS_PER_MS);
        assert!(!report.ramps_up);
        close(report.received_bps, 16.0 * 8_000.0 * 2.0);
        // Half a second later nothing of that is in the window.
        receiver.hear(600 * NS_PER_MS, 50 * NS_PER_MS, 0);
        assert!(receiver.report(600 * NS_PER_MS).ramps_up);
    }

    #[test]
    fn losses_raise_the_signal_and_long_delays_after_them_count_less() {
        let mut receiver = Receiver::new(1_000);
        receiver.hear(0, 0, 0);
        for n in 1..=20 {
            receiver.hear(n * NS_PER_MS, 100 * NS_PER_MS, 0);
        }
        close(receiver.signal_ms(), 100.0);
        receiver.hear(21 * NS_PER_MS, 100 * NS_PER_MS, 2);
        let warped = 50.0 * libm::exp(-0.5);
        close(receiver.signal_ms(), warped);
        // 2 of 24 datagrams were lost, and a tenth of that is in the mean.
        let ratio = 0.1 * 2.0 / 24.0;
        let report = receiver.report(21 * NS_PER_MS);
        assert!(!report.ramps_up);
        close(report.x_ms, warped + 10.0 * (ratio / 0.01) * (ratio / 0.01));
    }

    #[test]
    fn losses_long_ago_are_forgotten() {
        let mut receiver = Receiver::new(1_000);
        for n in 0..30 {
            receiver.hear(0, 0, u64::from(n > 0 && n % 10 == 0));
        }
        // Ten datagrams since the last loss, and in the two gaps before it.
        for _ in 10..70 {
            assert!(receiver.has_lost());
            receiver.hear(0, 0, 0);
        }
        assert!(receiver.has_lost());
        receiver.hear(0, 0, 0);
        assert!(!receiver.has_lost());
    }
}
