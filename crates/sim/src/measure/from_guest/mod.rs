// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! What happened at a queue of another world, measured as ours are. A queue that logs its
//! packets tells it itself ([`queue_log`]); of any other, packets are seen where they come to
//! the queue and where they leave its shaper ([`taps`]). What programs there counted of flows is
//! reckoned as ours are ([`flows`]).

pub mod flows;
pub mod queue_log;
pub mod taps;

use std::collections::VecDeque;

use sojourn_core::{Counters, Slot};

use crate::base::rate::{Bucket, Rate};
use crate::base::time::Time;
use crate::measure::record::{QueueRecord, QueueReport};
use crate::scenario::{LinkSpec, Scenario, ShaperKind};

/// A packet passes a place below IP; bytes as `linux/uml/tap.c` writes them.
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
        Self {
            at_ns: long(log, 0),
            key: long(log, 8),
            len_bytes: word(log, 16),
            flow: word(log, 20),
            ecn: log[24],
        }
    }
}

fn long(log: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(log[at..at + 8].try_into().unwrap_or_default())
}

fn word(log: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(log[at..at + 4].try_into().unwrap_or_default())
}

/// A packet's arrival and what became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// When it came.
    pub came: Time,
    /// Hash of its flow.
    pub flow: u32,
    /// Length with the link header.
    pub len_bytes: u32,
    /// Whether and why it was marked.
    pub mark: Option<Mark>,
    /// The end of its stay.
    pub fate: Fate,
}

/// A verdict of the algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Reason, as in `aqm.h`.
    pub why: u8,
    /// Given when the packet left; else when it came.
    pub leaving: bool,
}

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Fate {
    /// It was still there at the end.
    Waits,
    Dropped {
        at: Time,
        why: u8,
        ecn: u8,
    },
    /// Taken from the queue, and let go by the shaper.
    Left {
        dequeue: Time,
        out: Time,
        ecn: u8,
    },
    /// It was the queue's own probe, which a shaper let go then; only a shaper's tokens tell of it.
    Probe {
        out: Time,
    },
}

/// In the order in which things of one time happen.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Edge,
    Step,
    Response,
    Rate(u64),
    Sent { end: Time },
    Arrival,
    Drop,
    Dequeue,
}

/// The report of a link's queue, by what became of its packets.
///
/// # Errors
/// When there is no such link, or it has no rate.
pub fn report(
    scenario: &Scenario,
    link: &str,
    passages: &[Passage],
) -> Result<QueueReport, String> {
    let link = find(scenario, link)?;
    let rate_bps = link
        .rate_bps
        .ok_or_else(|| format!("link '{}' has no rate", link.name))?;
    let mut happened = clock(scenario, link);
    for (i, passage) in passages.iter().enumerate() {
        match passage.fate {
            Fate::Probe { .. } => continue,
            Fate::Dropped { at, .. } => happened.push((at, What::Drop, i)),
            Fate::Left { dequeue, .. } => happened.push((dequeue, What::Dequeue, i)),
            Fate::Waits => (),
        }
        happened.push((passage.came, What::Arrival, i));
    }
    happened.extend(sent(link, rate_bps, passages));
    happened.sort_unstable();
    let end = Time(scenario.duration_ns);
    happened.retain(|&(at, ..)| at <= end);
    let mut record = QueueRecord::new(
        &link.name,
        rate_bps,
        Counters::default(),
        &scenario.windows(),
        scenario.record.events,
    );
    record.beside_each_packet(link.beside_each_packet());
    Ok(play(&happened, passages, record).report(scenario.phases()))
}

/// Packets of queues above a driver's ring are sent when their last bits leave its line, which takes
/// them in the order in which they left their queues.
pub fn on_line(queues: &mut [&mut Vec<Passage>], rate_bps: u64) {
    let mut rate = Rate::new(rate_bps);
    let mut order = Vec::new();
    for (queue, passages) in queues.iter().enumerate() {
        for (i, passage) in passages.iter().enumerate() {
            if let Fate::Left { out, .. } | Fate::Probe { out } = passage.fate {
                order.push((out, passage.came, queue, i));
            }
        }
    }
    order.sort_unstable();
    let mut end = Time(0);
    for (left, _, queue, i) in order {
        let passage = &mut queues[queue][i];
        end = end.max(left) + rate.next_ns(passage.len_bytes);
        if let Fate::Left { out, .. } | Fate::Probe { out } = &mut passage.fate {
            *out = end;
        }
    }
}

/// The link of that name.
///
/// # Errors
/// When there is none.
pub fn find<'a>(scenario: &'a Scenario, name: &str) -> Result<&'a LinkSpec, String> {
    let named = |link: &&LinkSpec| link.name == name;
    let link = scenario.links.iter().find(named);
    link.ok_or_else(|| format!("there is no link '{name}'"))
}

/// When the shaper sends each packet, and when that is over: docs/guide/results.md.
fn sent(link: &LinkSpec, rate_bps: u64, passages: &[Passage]) -> Vec<(Time, What, usize)> {
    let left = |(i, passage): (usize, &Passage)| match passage.fate {
        Fate::Left { out, .. } | Fate::Probe { out } => Some((out, i)),
        _ => None,
    };
    let mut order: Vec<_> = passages.iter().enumerate().filter_map(left).collect();
    order.sort_unstable();
    let mut rates = VecDeque::from_iter(&link.schedule);
    let mut rate = Rate::new(rate_bps);
    let mut bucket = Bucket::full(link.burst_bytes, &rate);
    let mut sent = Vec::with_capacity(order.len());
    for (out, i) in order {
        while let Some(step) = rates.pop_front_if(|step| step.at_ns <= out.0) {
            bucket.fill(Time(step.at_ns), &rate);
            rate = Rate::new(step.rate_bps);
        }
        let len_bytes = passages[i].len_bytes;
        let (at, end) = match link.shaper {
            ShaperKind::Tbf => (out, out),
            ShaperKind::Htb => {
                bucket.fill(out, &rate);
                (out, out + bucket.pay(len_bytes, &rate))
            }
            ShaperKind::Line => {
                let end = out + rate.next_ns(len_bytes);
                (end, end)
            }
        };
        if let Fate::Left { .. } = passages[i].fate {
            sent.push((at, What::Sent { end }, i));
        }
    }
    sent
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
    let edges = scenario.bin_edges().into_iter();
    all.extend(edges.map(|at| (at, What::Response, 0)));
    all
}

/// Tells the record all of it, in order.
fn play(
    happened: &[(Time, What, usize)],
    passages: &[Passage],
    mut record: QueueRecord,
) -> QueueRecord {
    let mut counts = Counters::default();
    let mut backlog_pkts = 0;
    for &(now, what, i) in happened {
        let slot = |ecn: u8| Slot {
            enq_ns: passages[i].came.0,
            flow: passages[i].flow,
            len_bytes: passages[i].len_bytes,
            ecn,
            ..Slot::default()
        };
        match what {
            What::Edge => record.on_edge(now, backlog_pkts, counts.clone()),
            What::Response => record.on_response(now),
            What::Step => record.on_step(now, backlog_pkts, counts.clone()),
            What::Rate(bps) => record.on_rate(now, bps),
            What::Sent { end } => record.on_sent(end, &slot(0)),
            What::Arrival => {
                record.on_backlog(now, backlog_pkts);
                backlog_pkts += 1;
                counts.in_pkts += 1;
                counts.in_bytes += u64::from(passages[i].len_bytes);
                count_mark(&mut counts, &passages[i], false);
            }
            What::Drop => {
                if let Fate::Dropped { why, ecn, .. } = passages[i].fate {
                    record.on_backlog(now, backlog_pkts);
                    backlog_pkts -= 1;
                    counts.drops[usize::from(why)] += 1;
                    counts.drop_bytes += u64::from(passages[i].len_bytes);
                    record.on_drop(now, &slot(ecn), why);
                }
            }
            What::Dequeue => {
                if let Fate::Left { ecn, .. } = passages[i].fate {
                    record.on_backlog(now, backlog_pkts);
                    backlog_pkts -= 1;
                    counts.out_pkts += 1;
                    counts.out_bytes += u64::from(passages[i].len_bytes);
                    count_mark(&mut counts, &passages[i], true);
                    record.on_dequeue(now, &slot(ecn));
                }
            }
        }
    }
    record
}

fn count_mark(counts: &mut Counters, passage: &Passage, leaving: bool) {
    let now = |mark: &Mark| mark.leaving == leaving;
    if let Some(Mark { why, .. }) = passage.mark.filter(now) {
        counts.marks[usize::from(why)] += 1;
    }
}
