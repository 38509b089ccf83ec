// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! The end of a run: are all packets accounted for, and what is reported.

use serde::Serialize;

use super::{Error, Simulation};
use crate::base::time::Time;
use crate::link::Link;
use crate::measure::record::{ClassRecord, ClassReport, GroupSeries, QueueReport};
use crate::measure::report::{Counted, FlowCounted, FlowsReport};
use crate::net::endpoint::Kind;
use crate::traffic::End;

/// Where all packets went.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct ConservationReport {
    pub born: u64,
    pub delivered: u64,
    pub stale: u64,
    pub dropped: u64,
    pub lost: u64,
    pub inside: u64,
}

/// What came of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Measured queues.
    pub queues: Vec<QueueReport>,
    /// Classes and rings at measured ends of links.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<ClassReport>,
    /// Flows.
    #[serde(flatten)]
    pub traffic: FlowsReport,
    /// Events handled.
    pub events: u64,
    /// Hash of what happened at the measured queues.
    pub fingerprint: String,
    /// Where the packets went.
    pub conservation: ConservationReport,
    /// Groups of flows over time; taken out before the report becomes JSON.
    #[serde(skip)]
    pub group_series: Vec<GroupSeries>,
}

impl Simulation<'_> {
    fn conservation(&self) -> Result<ConservationReport, Error> {
        let net = &self.net;
        let on_links: u64 = net.links.iter().map(Link::held_pkts).sum();
        let in_senders: u64 = net.links.iter().map(Link::expected_pkts).sum();
        let report = ConservationReport {
            born: net.shared.packets.born(),
            delivered: net.delivered_pkts,
            stale: net.stale_pkts,
            dropped: net.shared.dropped_pkts,
            lost: net.shared.lost_pkts,
            inside: on_links + in_senders,
        };
        let gone = report.delivered + report.stale + report.dropped + report.lost;
        if report.born != gone + report.inside || report.inside != net.shared.packets.alive() {
            return Err(Error::Conservation(format!("{report:?}")));
        }
        for (numbers, spec) in self.numbers.iter().zip(&self.scenario.links) {
            for link in &net.links[numbers.clone()] {
                if !link.is_conserved() {
                    let gates = link.gates().iter();
                    let counts: Vec<_> = gates.map(|gate| gate.queue.counters()).collect();
                    let what = format!("link '{}', its queues: {counts:?}", spec.name);
                    return Err(Error::Conservation(what));
                }
            }
        }
        let mut inside = vec![0; net.shared.packet_counts.len()];
        for path in net.shared.packets.paths() {
            inside[path.flow as usize] += 1;
        }
        let mut packet_counts = net.shared.packet_counts.clone();
        for end in &net.endpoints {
            end.enter_in(&mut packet_counts);
        }
        for (i, (packets, inside)) in packet_counts.iter().zip(inside).enumerate() {
            if packets.born != packets.arrived + packets.lost + inside {
                let flow = net.flows.get(i);
                let name = flow.map_or("probes".to_owned(), |flow| {
                    format!("flow '{}' {}", flow.name, flow.index)
                });
                let what = format!("{name}: {packets:?}, {inside} inside");
                return Err(Error::Conservation(what));
            }
        }
        Ok(report)
    }

    pub(super) fn report(mut self) -> Result<Report, Error> {
        let conservation = self.conservation()?;
        let gates = self.net.links.iter_mut().flat_map(Link::gates_mut);
        let records = gates.filter_map(|gate| {
            let own = (gate.probes_report(), gate.flows_report());
            gate.record.take().map(|record| (record, own))
        });
        let records: Vec<_> = records.collect();
        let fingerprint = records
            .iter()
            .fold(conservation.born, |mixed, (record, _)| {
                mixed.rotate_left(7) ^ record.fingerprint()
            });
        let traffic = self.traffic();
        let classes = self
            .classes
            .iter()
            .flat_map(|(_, records)| records.iter().flatten());
        let classes = classes.map(ClassRecord::report).collect();
        Ok(Report {
            queues: records
                .into_iter()
                .map(|(record, (probes, flows))| QueueReport {
                    probes,
                    flows,
                    ..record.report(self.scenario.phases())
                })
                .collect(),
            classes,
            traffic,
            events: self.net.shared.events.scheduled(),
            fingerprint: format!("{fingerprint:016x}"),
            conservation,
            group_series: self.groups.report(self.scenario),
        })
    }

    fn traffic(&self) -> FlowsReport {
        let mut flow_srtt_us = vec![0; self.net.flows.len()];
        for end in &self.net.endpoints {
            if let Kind::Tcp(connection) = &end.kind
                && end.who == End::From
                && let Some((_, srtt_us)) = connection.window_and_srtt()
            {
                flow_srtt_us[end.flow as usize] = srtt_us;
            }
        }
        let flows = self.net.flows.iter().zip(flow_srtt_us);
        let flows = flows.map(|(flow, srtt_us)| FlowCounted {
            srtt_us,
            transfers: flow.transfers,
            completions: &flow.completions,
            pages: &[],
            echoes: flow.echoes.as_deref(),
        });
        let counted = Counted {
            scenario: self.scenario,
            edges: &self.edges,
            end: self.flow_counts(Time(self.scenario.duration_ns)),
            flows: flows.collect(),
            times: &self.net.times,
        };
        counted.report()
    }
}
