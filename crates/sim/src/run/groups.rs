// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Samples each group of flows over time: bytes delivered, open connections, their windows and round
//! trips. `group_series.parquet` is made of it.

use std::iter::repeat_n;
use std::ops::Range;

use crate::base::time::Time;
use crate::measure::record::{GroupSeries, MAX_LOOKED_AT, Open, Seen, every};
use crate::net::Net;
use crate::net::endpoint::Kind;
use crate::scenario::Scenario;
use crate::traffic::End;

/// What was seen of all groups.
pub struct Groups {
    /// Flows of each.
    members: Vec<Range<u32>>,
    /// By flow, its group.
    group_of: Vec<u32>,
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
        let numbered = scenario.flows.iter().zip(0..);
        let group_of = numbered.flat_map(|(flow, group)| repeat_n(group, flow.count as usize));
        let steps = scenario
            .duration_ns
            .checked_div(scenario.record.series_ns)
            .unwrap_or(0);
        Self {
            members: members.collect(),
            group_of: group_of.collect(),
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
        let nth = step / self.every;
        let open = self.open(net, nth);
        for ((members, seen), open) in self.members.iter().zip(&mut self.seen).zip(open) {
            let (count, stride) = (members.end - members.start, stride(members));
            let looked_at = (count - turn(stride, nth)).div_ceil(stride);
            seen.push(Seen {
                at: now,
                delivered_bytes: delivered_bytes(net, members),
                open,
                flows_per_look: f64::from(count) / f64::from(looked_at),
            });
        }
    }

    /// Of each group, the connections as their ends `from` see them. Endpoints lie one behind the
    /// other, while flows, most of which have nothing open, lie far apart.
    fn open(&self, net: &Net, nth: u64) -> Vec<Open> {
        let mut open = vec![Open::default(); self.members.len()];
        for end in &net.endpoints {
            let (Kind::Tcp(connection), End::From, false) = (&end.kind, end.who, end.closed) else {
                continue;
            };
            let group = self.group_of[end.flow as usize] as usize;
            if is_looked_at(&self.members[group], nth, end.flow)
                && let Some((cwnd_pkts, srtt_us)) = connection.window_and_srtt()
            {
                let open = &mut open[group];
                open.connections += 1;
                open.cwnd_pkts += u64::from(cwnd_pkts);
                open.srtt_us += u64::from(srtt_us);
            }
        }
        open
    }

    /// Of each group.
    pub fn report(&self, scenario: &Scenario) -> Vec<GroupSeries> {
        let groups = scenario.flows.iter().zip(&self.seen);
        groups
            .map(|(flow, seen)| GroupSeries::of(&flow.name, seen))
            .collect()
    }
}

fn delivered_bytes(net: &Net, members: &Range<u32>) -> [u64; 2] {
    let delivered = &net.shared.delivered_bytes[members.start as usize..members.end as usize];
    [0, 1].map(|end| delivered.iter().map(|bytes| bytes[end]).sum())
}

/// In a large group every so manieth flow is looked at, each time others.
fn stride(members: &Range<u32>) -> u32 {
    (members.end - members.start).div_ceil(MAX_LOOKED_AT).max(1)
}

fn turn(stride: u32, nth: u64) -> u32 {
    (nth % u64::from(stride)) as u32
}

fn is_looked_at(members: &Range<u32>, nth: u64, flow: u32) -> bool {
    let stride = stride(members);
    (flow - members.start) % stride == turn(stride, nth)
}
