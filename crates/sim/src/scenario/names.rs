// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Names that refer to each other: ends, paths, queues and windows of the record.

use std::collections::HashSet;

use super::fault::Faults;
use super::graph::Graph;
use super::{FlowSpec, Scenario};

/// The names of a scenario, for look-ups.
pub(super) struct Names<'a> {
    scenario: &'a Scenario,
    nodes: HashSet<&'a str>,
}

impl<'a> Names<'a> {
    pub(super) fn of(scenario: &'a Scenario) -> Self {
        let nodes = scenario.nodes.iter().map(String::as_str).collect();
        Self { scenario, nodes }
    }

    /// Whether there is such a node; if not, it is said.
    pub(super) fn node(&self, key: String, name: &str, faults: &mut Faults) -> bool {
        let known = self.nodes.contains(name);
        if !known {
            let reason = format!("there is no node '{name}'");
            faults.unknown(key, reason, name, self.scenario.nodes.iter());
        }
        known
    }

    /// Whether there is such a group of flows; if not, it is said.
    pub(super) fn group(&self, key: String, name: &str, faults: &mut Faults) {
        let mut groups = self.scenario.flows.iter().map(|flow| &flow.name);
        if !groups.any(|group| group == name) {
            let known = self.scenario.flows.iter().map(|flow| &flow.name);
            faults.unknown(key, format!("there are no flows '{name}'"), name, known);
        }
    }

    /// Whether there is such a medium; if not, it is said.
    pub(super) fn medium(&self, key: String, name: &str, faults: &mut Faults) {
        let mut media = self.scenario.media.iter().map(|medium| &medium.name);
        if !media.any(|medium| medium == name) {
            let known = self.scenario.media.iter().map(|medium| &medium.name);
            faults.unknown(key, format!("there is no medium '{name}'"), name, known);
        }
    }

    /// The two nodes of a link or a flow.
    pub(super) fn ends(&self, at: &str, from: &str, to: &str, faults: &mut Faults) -> bool {
        let both = [("from", from), ("to", to)]
            .map(|(key, name)| self.node(format!("{at}.{key}"), name, faults));
        if from == to {
            let reason = format!("begins and ends at the same node, '{to}'");
            faults.add(format!("{at}.to"), reason);
        }
        both == [true, true] && from != to
    }

    /// The links that a flow names.
    pub(super) fn paths(&self, at: &str, flow: &FlowSpec, graph: &Graph<'_>, faults: &mut Faults) {
        let paths = [
            ("path", &flow.path, &flow.from, &flow.to),
            ("reverse_path", &flow.reverse_path, &flow.to, &flow.from),
        ];
        for (key, path, from, to) in paths {
            if let Some(path) = path {
                self.path(&format!("{at}.{key}"), path, [from, to], graph, faults);
            }
        }
    }

    fn path(
        &self,
        at: &str,
        path: &[String],
        [from, to]: [&String; 2],
        graph: &Graph<'_>,
        faults: &mut Faults,
    ) {
        let mut node = from;
        for (i, name) in path.iter().enumerate() {
            let Some(link) = graph.link(name) else {
                let known = self.scenario.links.iter().map(|link| &link.name);
                let reason = format!("there is no link '{name}'");
                return faults.unknown(format!("{at}[{i}]"), reason, name, known);
            };
            if &link.from != node {
                let reason = format!("'{name}' begins at '{}', not at '{node}'", link.from);
                faults.add(format!("{at}[{i}]"), reason);
            }
            node = &link.to;
        }
        if node != to {
            faults.add(at, format!("ends at '{node}', not at '{to}'"));
        }
    }

    /// What the record names, and its windows.
    pub(super) fn record(&self, graph: &Graph<'_>, faults: &mut Faults) {
        let record = &self.scenario.record;
        let mut known = Vec::new();
        for (link, parts) in self.scenario.links.iter().zip(&graph.parts) {
            if link.rate_bps.is_some() || !link.end.is_empty() {
                known.push(link.name.clone());
            }
            for part in parts.iter().filter(|_| !link.end.is_empty()) {
                let classes = part.classes.iter().map(|class| &class.name);
                let queues = part.leaves.iter().map(|leaf| &leaf.name);
                known.extend(queues.chain(classes).chain(&part.ring_name).cloned());
            }
        }
        let all: HashSet<_> = known.iter().collect();
        for (i, name) in record.queues.iter().enumerate() {
            if !all.contains(name) {
                let reason = format!("there is no link '{name}' with a rate");
                faults.unknown(format!("record.queues[{i}]"), reason, name, known.iter());
            }
        }
        faults.unique("record.queues", "", record.queues.iter());
        let names = record.windows.iter().map(|window| &window.name);
        faults.unique("record.windows", ".name", names);
        for (i, window) in record.windows.iter().enumerate() {
            let (from_ns, to_ns) = (window.from_ns, window.to_ns);
            if from_ns >= to_ns {
                let reason =
                    format!("'{to_ns} ns' is not later than its beginning, '{from_ns} ns'");
                faults.add(format!("record.windows[{i}].to"), reason);
            }
            let end_ns = self.scenario.duration_ns;
            if to_ns > end_ns {
                let reason = format!(
                    "'{to_ns} ns' is after the end; allowed: up to '{end_ns} ns'; \
                     set record.windows.{}.to beside the duration",
                    window.name
                );
                faults.add(format!("record.windows[{i}].to"), reason);
            }
        }
    }
}
