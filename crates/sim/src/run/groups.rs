// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Looks at the groups of flows at steps of the series.

use std::ops::Range;

use crate::base::time::Time;
use crate::measure::record::{GroupSeries, MAX_LOOKED_AT, Open, Seen, every};
use crate::net::Net;
use crate::net::conversation::NONE;
use crate::net::endpoint::Kind;
use crate::scenario::Scenario;
use crate::traffic::End;

/// What was seen of all groups.
pub struct Groups {
    /// Flows of each.
    members: Vec<Range<u32>>,
    seen: Vec<Vec<Seen>>,
    steps: u64,
    every: u64,
}

impl Groups {
    /// Nothing seen yet.
    pub fn new(scenario: &Scenario) -> Self {
        let mut first = 0;
        let members = scenario.flows.iter().map(|flow| {
            let begin = first;
            first += flow.count;
            begin..first
        });
        let steps = scenario
            .duration_ns
            .checked_div(scenario.record.series_ns)
            .unwrap_or(0);
        Self {
            members: members.collect(),
            seen: vec![Vec::new(); scenario.flows.len()],
            steps: 0,
            every: every(steps, scenario.flows.len() as u64),
        }
    }

    /// A step of the series ends.
    pub fn on_step(&mut self, now: Time, net: &Net) {
        let step = self.steps;
        self.steps += 1;
        if !step.is_multiple_of(self.every) {
            return;
        }
        for (members, seen) in self.members.iter().zip(&mut self.seen) {
            seen.push(look(now, net, members, step / self.every));
        }
    }

    /// Of each group.
    pub fn report(&self, scenario: &Scenario) -> Vec<GroupSeries> {
        let groups = scenario.flows.iter().zip(&self.seen);
        groups
            .map(|(flow, seen)| GroupSeries::of(&flow.name, seen))
            .collect()
    }
}

/// In a large group at every so manieth flow, each time at others.
fn look(now: Time, net: &Net, members: &Range<u32>, nth: u64) -> Seen {
    let delivered = &net.shared.delivered_bytes[members.start as usize..members.end as usize];
    let delivered_bytes = [0, 1].map(|end| delivered.iter().map(|bytes| bytes[end]).sum());
    let count = members.end - members.start;
    let stride = count.div_ceil(MAX_LOOKED_AT).max(1);
    let looked_at =
        (members.start + (nth % u64::from(stride)) as u32..members.end).step_by(stride as usize);
    let flows = looked_at.len();
    let mut open = Open::default();
    for flow in looked_at {
        for &conversation in &net.flows[flow as usize].conversations {
            add(&mut open, net, conversation);
        }
    }
    Seen {
        at: now,
        delivered_bytes,
        open,
        flows_per_look: f64::from(count) / flows as f64,
    }
}

/// The connection of a conversation, as its end `from` sees it.
fn add(open: &mut Open, net: &Net, conversation: u32) {
    let number = net.conversations[conversation as usize].ends[End::From as usize];
    if number == NONE {
        return;
    }
    let end = &net.endpoints[number as usize];
    if let (Kind::Tcp(connection), false) = (&end.kind, end.closed)
        && let Some((cwnd_pkts, srtt_us)) = connection.window_and_srtt()
    {
        open.connections += 1;
        open.cwnd_pkts += u64::from(cwnd_pkts);
        open.srtt_us += u64::from(srtt_us);
    }
}
