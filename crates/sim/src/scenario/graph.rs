// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Paths through the graph of a scenario's links.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};

use super::end::{Part, Subject};
use super::{Fault, FlowSpec, LinkSpec, Scenario, TransportSpec};

/// Links one after the other, and the nodes from the first to the last.
#[derive(Debug)]
pub struct Way<'a> {
    /// Numbers of the links.
    pub links: Vec<usize>,
    /// Names of the nodes. A way of probes begins with the node of their queue, whose link is none
    /// of its links.
    pub nodes: Vec<&'a str>,
}

impl Way<'_> {
    /// What classes see of packets of this group on it; none: of probes.
    pub fn subject<'b>(&'b self, group: Option<&'b FlowSpec>) -> Subject<'b> {
        Subject {
            group,
            nodes: &self.nodes,
        }
    }
}

/// A scenario's links by name and by the node that they leave, nodes as numbers, so that a path
/// costs what is looked at and not what there is.
pub struct Graph<'a> {
    links: &'a [LinkSpec],
    /// By link: its parts.
    pub parts: Vec<Vec<Part<'a>>>,
    by_name: HashMap<&'a str, usize>,
    nodes: HashMap<&'a str, usize>,
    /// By node: its links and where they lead.
    leaving: Vec<Vec<(usize, usize)>>,
    /// By two nodes: the first link from one to the other.
    between: HashMap<(usize, usize), usize>,
    search: RefCell<Search>,
}

impl<'a> Graph<'a> {
    /// Of all links, in their order.
    pub fn of(scenario: &'a Scenario) -> Self {
        let mut graph = Self {
            links: &scenario.links,
            parts: scenario
                .links
                .iter()
                .map(|link| link.parts(&scenario.media))
                .collect(),
            by_name: HashMap::new(),
            nodes: HashMap::new(),
            leaving: Vec::new(),
            between: HashMap::new(),
            search: RefCell::default(),
        };
        for (i, link) in scenario.links.iter().enumerate() {
            graph.by_name.entry(&link.name).or_insert(i);
            let [from, to] = [&link.from, &link.to].map(|name| graph.number(name));
            graph.leaving[from].push((i, to));
            graph.between.entry((from, to)).or_insert(i);
        }
        graph
    }

    /// The first link of this name.
    pub fn link(&self, name: &str) -> Option<&'a LinkSpec> {
        self.by_name.get(name).map(|&index| &self.links[index])
    }

    fn number(&mut self, name: &'a str) -> usize {
        let next = self.leaving.len();
        let number = *self.nodes.entry(name).or_insert(next);
        if number == next {
            self.leaving.push(Vec::new());
        }
        number
    }

    /// The links of a flow there and back. Datagrams that are not answered need no way back.
    ///
    /// # Errors
    /// When the named links are no path from end to end, or there is none.
    pub fn paths(&self, flow: &FlowSpec, at: &str) -> Result<(Vec<usize>, Vec<usize>), Fault> {
        let forth = self.path(flow, at, true)?;
        let one_way = matches!(flow.transport, TransportSpec::Udp) && !flow.app.both_write();
        if one_way && flow.reverse_path.is_none() {
            return Ok((forth, Vec::new()));
        }
        Ok((forth, self.path(flow, at, false)?))
    }

    /// The same with the nodes on the ways.
    ///
    /// # Errors
    /// See `paths`.
    pub fn ways(&self, flow: &'a FlowSpec, at: &str) -> Result<[Way<'a>; 2], Fault> {
        let (forth, back) = self.paths(flow, at)?;
        Ok([self.way(&flow.from, forth), self.way(&flow.to, back)])
    }

    fn way(&self, from: &'a str, links: Vec<usize>) -> Way<'a> {
        let nodes = links.iter().map(|&link| self.links[link].to.as_str());
        Way {
            nodes: [from].into_iter().chain(nodes).collect(),
            links,
        }
    }

    /// The links of a flow, there (`forth`) or back.
    fn path(&self, flow: &FlowSpec, at: &str, forth: bool) -> Result<Vec<usize>, Fault> {
        let (from, to, named, key) = if forth {
            (&flow.from, &flow.to, &flow.path, "path")
        } else {
            (&flow.to, &flow.from, &flow.reverse_path, "reverse_path")
        };
        let fault = |reason: String| Fault::new(format!("{at}.{key}"), reason);
        let Some(names) = named else {
            return self
                .shortest(from, to)
                .ok_or_else(|| fault(format!("no way leads from '{from}' to '{to}'")));
        };
        let mut node = from;
        let mut links = Vec::new();
        for name in names {
            let Some(&index) = self.by_name.get(name.as_str()) else {
                return Err(fault(format!("no link is named '{name}'")));
            };
            let link = &self.links[index];
            if &link.from != node {
                return Err(fault(format!(
                    "link '{name}' begins at '{}', not at '{node}'",
                    link.from
                )));
            }
            links.push(index);
            node = &link.to;
        }
        if node == to {
            Ok(links)
        } else {
            Err(fault(format!("the way ends at '{node}', not at '{to}'")))
        }
    }

    /// The ways of the probes of a link's queue: behind the link to their responder, unless given
    /// the link's far end, and back to the link's sending end.
    ///
    /// # Errors
    /// When no path leads there or back.
    pub fn probe_ways(
        &self,
        link: &'a LinkSpec,
        responder: Option<&'a str>,
        at: &str,
    ) -> Result<[Way<'a>; 2], Fault> {
        let responder = responder.unwrap_or(&link.to);
        let way = |from: &'a str, to: &str| {
            if from == to {
                return Ok(self.way(from, Vec::new()));
            }
            let missing = || {
                let reason = format!(
                    "no way leads from '{from}' to '{to}', but this queue's algorithm probes: \
                     name another responder"
                );
                Fault::new(format!("{at}.responder"), reason)
            };
            let links = self.shortest(from, to).ok_or_else(missing)?;
            Ok(self.way(from, links))
        };
        let mut forth = way(&link.to, responder)?;
        forth.nodes.insert(0, &link.from);
        Ok([forth, way(responder, &link.from)?])
    }

    /// The path with the fewest links; among equals the one whose links come first.
    fn shortest(&self, from: &str, to: &str) -> Option<Vec<usize>> {
        let (&from, &to) = (self.nodes.get(from)?, self.nodes.get(to)?);
        let mut search = self.search.borrow_mut();
        let Search {
            turn,
            reached,
            queue,
        } = &mut *search;
        // What earlier searches have left is not looked at.
        *turn += 1;
        reached.resize(self.leaving.len(), (0, 0, 0));
        queue.clear();
        queue.push_back(from);
        while let Some(node) = queue.pop_front() {
            // The goal may be one of many behind this node.
            if let Some(&link) = self.between.get(&(node, to)) {
                reached[to] = (*turn, link, node);
                break;
            }
            for &(link, next) in &self.leaving[node] {
                if next != from && reached[next].0 != *turn {
                    reached[next] = (*turn, link, node);
                    queue.push_back(next);
                }
            }
        }
        let mut links = Vec::new();
        let mut node = to;
        while node != from {
            let (visited, link, before) = reached[node];
            if visited != *turn {
                return None;
            }
            links.push(link);
            node = before;
        }
        links.reverse();
        Some(links)
    }
}

/// What a search for a path remembers: by node the search that has come there, the link that led
/// there, and from where. One for all searches, so that none pays for all nodes.
#[derive(Default)]
struct Search {
    turn: u64,
    reached: Vec<(u64, usize, usize)>,
    queue: VecDeque<usize>,
}
