// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! What passes the links that have stages. A class that asks for a node or a group of which no
//! packet comes by would be empty in silence.

use std::collections::HashSet;

use super::end::{ClassSpec, Stage};
use super::fault::Faults;
use super::graph::{Graph, Way};
use super::{FlowSpec, LinkSpec};

/// Of a link.
#[derive(Default)]
struct Passing<'a> {
    groups: HashSet<&'a str>,
    from: HashSet<&'a str>,
    to: HashSet<&'a str>,
    via: HashSet<&'a str>,
}

/// Of all links.
pub(super) struct PassingAll<'a> {
    links: &'a [LinkSpec],
    of: Vec<Passing<'a>>,
}

impl<'a> PassingAll<'a> {
    pub(super) fn new(links: &'a [LinkSpec]) -> Self {
        let of = links.iter().map(|_| Passing::default()).collect();
        Self { links, of }
    }

    /// Packets of a group on this way; none: probes.
    pub(super) fn add(&mut self, way: &Way<'a>, group: Option<&'a FlowSpec>) {
        for &link in &way.links {
            self.add_at(link, way, group);
        }
    }

    fn add_at(&mut self, link: usize, way: &Way<'a>, group: Option<&'a FlowSpec>) {
        if !self.links[link].end.is_empty() {
            let passing = &mut self.of[link];
            passing
                .groups
                .extend(group.map(|group| group.name.as_str()));
            passing.from.extend(way.nodes.first());
            passing.to.extend(way.nodes.last());
            passing.via.extend(&way.nodes);
        }
    }

    /// Probes of all queues, whether their algorithms ask for any or not: another one may.
    fn add_probes(&mut self, graph: &Graph<'a>) {
        for (i, link) in self.links.iter().enumerate() {
            let mut seen = HashSet::new();
            for leaf in graph.parts[i].iter().flat_map(|part| &part.leaves) {
                if seen.insert(leaf.responder)
                    && let Ok(ways) = graph.probe_ways(link, leaf.responder, "")
                {
                    self.add_at(i, &ways[0], None);
                    ways.iter().for_each(|way| self.add(way, None));
                }
            }
        }
    }

    /// Checks what all classes ask for.
    pub(super) fn check(mut self, graph: &Graph<'a>, faults: &mut Faults) {
        if self.links.iter().all(|link| link.end.is_empty()) {
            return;
        }
        self.add_probes(graph);
        for (i, (link, passing)) in self.links.iter().zip(&self.of).enumerate() {
            for (j, stage) in link.end.iter().enumerate() {
                passing.check(&format!("links[{i}].end[{j}]"), stage, faults);
            }
        }
    }
}

impl Passing<'_> {
    fn check(&self, at: &str, stage: &Stage, faults: &mut Faults) {
        for (i, class) in stage
            .classes()
            .iter()
            .flat_map(|of| &of.classes)
            .enumerate()
        {
            let at = format!("{at}.{}[{i}]", stage.list());
            self.check_class(&at, class, faults);
            if let Some(inner) = &class.inner {
                self.check(&format!("{at}.inner"), inner, faults);
            }
        }
    }

    fn check_class(&self, at: &str, class: &ClassSpec, faults: &mut Faults) {
        for (i, entry) in class.matches.iter().enumerate() {
            for (key, names, known, what) in [
                ("flows", &entry.flows, &self.groups, "belongs to"),
                ("from", &entry.from, &self.from, "comes from"),
                ("to", &entry.to, &self.to, "goes to"),
                ("via", &entry.via, &self.via, "passes"),
            ] {
                for name in names.iter().flatten() {
                    if !known.contains(name.as_str()) {
                        let reason =
                            format!("no packet of this link {what} '{name}': leave it out");
                        faults.add(format!("{at}.match[{i}].{key}"), reason);
                    }
                }
            }
        }
    }
}
