// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! What happened at a queue of another world, measured as ours are. There, packets are
//! seen where they come to the queue and where they leave its shaper; what the queue
//! and the shaper did in between follows from the two.

use std::collections::{HashMap, VecDeque};

use sojourn_core::{Counters, Slot};

use crate::record::{QueueRecord, QueueReport};
use crate::scenario::{LinkSpec, Scenario, Shaper};
use crate::server::{Bucket, Rate};
use crate::time::Time;

/// Congestion Experienced.
const CE: u8 = 3;
/// Reasons, by their numbers in `aqm.h`: what is seen from outside is only where.
const EARLY: u8 = 1;
const DELAY: u8 = 2;

/// A packet passes a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// When.
    pub at_ns: u64,
    /// What tells it from all others.
    pub key: u64,
    /// Length with the link header.
    pub len_bytes: u32,
    /// Hash of its flow.
    pub flow: u32,
    /// ECN field.
    pub ecn: u8,
}

impl Seen {
    /// Bytes of one in a log.
    pub const BYTES: usize = 32;

    /// Reads one from a log of little-endian words: time, key, length, flow, ECN field.
    pub fn read(log: &[u8; Self::BYTES]) -> Self {
        let long = |at: usize| u64::from_le_bytes(log[at..at + 8].try_into().unwrap_or_default());
        let word = |at: usize| u32::from_le_bytes(log[at..at + 4].try_into().unwrap_or_default());
        Self {
            at_ns: long(0),
            key: long(8),
            len_bytes: word(16),
            flow: word(20),
            ecn: log[24],
        }
    }
}

/// All that was seen of one queue.
pub struct Observed {
    /// Its link.
    pub link: String,
    /// Packets before the queue, in order of time.
    pub arrivals: Vec<Seen>,
    /// Packets behind the shaper, in order of time.
    pub departures: Vec<Seen>,
    /// Whether its algorithm drops and marks packets that leave, not those that come.
    pub at_head: bool,
}

/// In the order in which things of one time happen.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Edge,
    Step,
    Rate(u64),
    Sent { end: Time },
    Arrival,
    Drop,
    Dequeue,
}

/// An arrival and what became of it.
struct Passage {
    seen: Seen,
    /// ECN field and time when it left the shaper.
    left: Option<(u8, Time)>,
}

/// The reports of all queues.
///
/// # Errors
/// When what was seen cannot have happened at the queues of this scenario.
pub fn observe(scenario: &Scenario, queues: Vec<Observed>) -> Result<Vec<QueueReport>, String> {
    let report = |observed: Observed| {
        let named = |link: &&LinkSpec| link.name == observed.link;
        let link = scenario.links.iter().find(named);
        let link = link.ok_or_else(|| format!("there is no link '{}'", observed.link))?;
        observe_one(scenario, link, &observed)
    };
    queues.into_iter().map(report).collect()
}

fn observe_one(
    scenario: &Scenario,
    link: &LinkSpec,
    observed: &Observed,
) -> Result<QueueReport, String> {
    let rate_bps = link
        .rate_bps
        .ok_or_else(|| format!("link '{}' has no rate", link.name))?;
    let (passages, order) = matched(observed)?;
    let mut happened = clock(scenario, link);
    let mut rates = VecDeque::from_iter(&link.schedule);
    let mut rate = Rate::new(rate_bps);
    let mut bucket = Bucket::full(link.burst_bytes, &rate);
    let mut dropped = dropped(&passages, &order);
    let mut before = Time(0);
    for (i, passage) in passages.iter().enumerate() {
        happened.push((Time(passage.seen.at_ns), What::Arrival, i));
    }
    for &i in &order {
        let Some((_, out)) = passages[i].left else {
            continue;
        };
        while let Some(step) = rates.pop_front_if(|step| step.at_ns <= out.0) {
            bucket.fill(Time(step.at_ns), &rate);
            rate = Rate::new(step.rate_bps);
        }
        let len_bytes = passages[i].seen.len_bytes;
        let (dequeue, sent, end) = match link.shaper {
            // It asks for its packet when the one before has gone, and lets it wait.
            Shaper::Tbf => (before.max(Time(passages[i].seen.at_ns)), out, out),
            Shaper::Htb => {
                bucket.fill(out, &rate);
                let end = out + bucket.pay(len_bytes, &rate);
                (out, out, end)
            }
            Shaper::Wire => {
                let end = out + rate.next_ns(len_bytes);
                (out, end, end)
            }
        };
        before = out;
        happened.push((dequeue, What::Dequeue, i));
        happened.push((sent, What::Sent { end }, i));
        // What was dropped before it at the head went when the queue was asked for it.
        for i in dropped.remove(&i).unwrap_or_default() {
            let seen = Time(passages[i].seen.at_ns);
            let at = if observed.at_head {
                dequeue.max(seen)
            } else {
                seen
            };
            happened.push((at, What::Drop, i));
        }
    }
    happened.sort_unstable();
    let record = QueueRecord::new(
        &link.name,
        rate_bps,
        Counters::default(),
        &scenario.windows(),
        scenario.record.events,
    );
    let end = Time(scenario.duration_ns);
    happened.retain(|&(at, ..)| at <= end);
    Ok(play(&happened, &passages, observed.at_head, record))
}

/// Arrivals with what became of them, and the order in which they left.
fn matched(observed: &Observed) -> Result<(Vec<Passage>, Vec<usize>), String> {
    let mut waiting: HashMap<u64, VecDeque<usize>> = HashMap::new();
    for (i, seen) in observed.arrivals.iter().enumerate() {
        waiting.entry(seen.key).or_default().push_back(i);
    }
    let passage = |&seen: &Seen| Passage { seen, left: None };
    let mut passages: Vec<_> = observed.arrivals.iter().map(passage).collect();
    let mut order = Vec::with_capacity(observed.departures.len());
    for (n, left) in observed.departures.iter().enumerate() {
        let came = waiting.get_mut(&left.key).and_then(VecDeque::pop_front);
        let i = came
            .filter(|&i| passages[i].seen.at_ns <= left.at_ns)
            .ok_or_else(|| format!("link '{}': departure {n} never arrived", observed.link))?;
        passages[i].left = Some((left.ecn, Time(left.at_ns)));
        order.push(i);
    }
    Ok((passages, order))
}

/// Packets that never left, under the departure that went past them: that of the next
/// arrival that did leave. Those behind the last one may still wait, and are not dropped.
fn dropped(passages: &[Passage], order: &[usize]) -> HashMap<usize, Vec<usize>> {
    let last = order.iter().max().copied().unwrap_or(0);
    let mut found: HashMap<usize, Vec<usize>> = HashMap::new();
    let mut together = Vec::new();
    for (i, passage) in passages.iter().enumerate().take(last + 1) {
        if passage.left.is_none() {
            together.push(i);
        } else if !together.is_empty() {
            found.insert(i, std::mem::take(&mut together));
        }
    }
    found
}

/// What the clock does by itself.
fn clock(scenario: &Scenario, link: &LinkSpec) -> Vec<(Time, What, usize)> {
    let rate = |step: &crate::scenario::RateStep| (Time(step.at_ns), What::Rate(step.rate_bps), 0);
    let mut all: Vec<_> = link.schedule.iter().map(rate).collect();
    let mut edges: Vec<_> = scenario
        .windows()
        .iter()
        .flat_map(|window| [window.from_ns, window.to_ns])
        .collect();
    edges.sort_unstable();
    edges.dedup();
    all.extend(edges.into_iter().map(|ns| (Time(ns), What::Edge, 0)));
    if let grid_ns @ 1.. = scenario.record.series_ns {
        let grid = (0..=scenario.duration_ns).step_by(grid_ns as usize);
        all.extend(grid.map(|ns| (Time(ns), What::Step, 0)));
    }
    all
}

/// Tells the record all of it, in order.
fn play(
    happened: &[(Time, What, usize)],
    passages: &[Passage],
    at_head: bool,
    mut record: QueueRecord,
) -> QueueReport {
    let mut counts = Counters::default();
    let mut backlog_pkts = 0;
    for &(now, what, i) in happened {
        let slot = |ecn: u8| {
            let seen = &passages[i].seen;
            Slot {
                enq_ns: seen.at_ns,
                flow: seen.flow,
                len_bytes: seen.len_bytes,
                ecn,
                ..Slot::default()
            }
        };
        let marked = || {
            let passage = &passages[i];
            passage.seen.ecn != CE && passage.left.is_some_and(|(ecn, _)| ecn == CE)
        };
        let why = if at_head { DELAY } else { EARLY };
        match what {
            What::Edge => record.on_edge(now, backlog_pkts, counts.clone()),
            What::Step => record.on_step(now, backlog_pkts, counts.clone()),
            What::Rate(bps) => record.on_rate(now, bps),
            What::Sent { end } => record.on_sent(end, &slot(0)),
            What::Arrival => {
                record.on_backlog(now, backlog_pkts);
                backlog_pkts += 1;
                counts.in_pkts += 1;
                counts.in_bytes += u64::from(passages[i].seen.len_bytes);
                counts.marks[usize::from(why)] += u64::from(!at_head && marked());
            }
            What::Drop => {
                record.on_backlog(now, backlog_pkts);
                backlog_pkts -= 1;
                counts.drops[usize::from(why)] += 1;
                counts.drop_bytes += u64::from(passages[i].seen.len_bytes);
                record.on_drop(now, &slot(passages[i].seen.ecn), why);
            }
            What::Dequeue => {
                record.on_backlog(now, backlog_pkts);
                backlog_pkts -= 1;
                counts.out_pkts += 1;
                counts.out_bytes += u64::from(passages[i].seen.len_bytes);
                counts.marks[usize::from(why)] += u64::from(at_head && marked());
                record.on_dequeue(now, &slot(passages[i].left.map_or(0, |(ecn, _)| ecn)));
            }
        }
    }
    record.report()
}
