// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Ways through the graph: each flow's links, laid out before the run in one table,
//! so that forwarding a packet is one look-up.

use std::collections::{HashMap, VecDeque};

use crate::scenario::{Fault, FlowSpec, LinkSpec, Scenario, TransportSpec};

/// Behind the last link of a way.
pub const END: u32 = u32::MAX;

/// All ways, one behind the other, each closed by `END`.
#[derive(Default)]
pub struct Routes {
    hops: Vec<u32>,
}

impl Routes {
    /// The link at a place of the table.
    #[inline]
    pub fn link(&self, hop: u32) -> u32 {
        self.hops[hop as usize]
    }

    /// The links of a way that begins at `hop`.
    pub fn links(&self, hop: u32) -> impl Iterator<Item = usize> + '_ {
        let way = self.hops[hop as usize..].iter();
        way.take_while(|&&link| link != END)
            .map(|&link| link as usize)
    }

    /// Lays a way out and gives its first place.
    pub fn add(&mut self, links: &[usize]) -> u32 {
        let first = self.hops.len() as u32;
        self.hops.extend(links.iter().map(|&link| link as u32));
        self.hops.push(END);
        first
    }
}

/// A scenario's links by name and by the node that they leave, nodes as numbers, so that a way
/// costs what is looked at and not what there is.
pub struct Graph<'a> {
    links: &'a [LinkSpec],
    by_name: HashMap<&'a str, usize>,
    nodes: HashMap<&'a str, usize>,
    /// By node: its links and where they lead.
    leaving: Vec<Vec<(usize, usize)>>,
}

impl<'a> Graph<'a> {
    /// Of all links, in their order.
    pub fn of(scenario: &'a Scenario) -> Self {
        let mut graph = Self {
            links: &scenario.links,
            by_name: HashMap::new(),
            nodes: HashMap::new(),
            leaving: Vec::new(),
        };
        for (i, link) in scenario.links.iter().enumerate() {
            graph.by_name.entry(&link.name).or_insert(i);
            let [from, to] = [&link.from, &link.to].map(|name| graph.number(name));
            graph.leaving[from].push((i, to));
        }
        graph
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
    /// When the named links are no way from end to end, or there is none.
    pub fn ways(&self, flow: &FlowSpec, at: &str) -> Result<(Vec<usize>, Vec<usize>), Fault> {
        let forth = self.way(flow, at, true)?;
        let one_way = matches!(flow.transport, TransportSpec::Udp) && !flow.app.both_write();
        if one_way && flow.reverse_path.is_none() {
            return Ok((forth, Vec::new()));
        }
        Ok((forth, self.way(flow, at, false)?))
    }

    /// The links of a flow, there (`forth`) or back.
    fn way(&self, flow: &FlowSpec, at: &str, forth: bool) -> Result<Vec<usize>, Fault> {
        let (from, to, named, key) = if forth {
            (&flow.from, &flow.to, &flow.path, "path")
        } else {
            (&flow.to, &flow.from, &flow.reverse_path, "reverse_path")
        };
        let fault = |reason: String| Fault {
            key: format!("{at}.{key}"),
            reason,
        };
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

    /// The links of the probes of a link: behind it to their responder, and back to its
    /// sending end.
    ///
    /// # Errors
    /// When no way leads there or back.
    pub fn probe_ways(&self, link: &LinkSpec, at: &str) -> Result<[Vec<usize>; 2], Fault> {
        let responder = link.responder.as_ref().unwrap_or(&link.to);
        let way = |from: &str, to: &str| {
            if from == to {
                return Ok(Vec::new());
            }
            self.shortest(from, to).ok_or_else(|| Fault {
                key: format!("{at}.responder"),
                reason: format!(
                    "no way leads from '{from}' to '{to}', but this queue's algorithm probes"
                ),
            })
        };
        Ok([way(&link.to, responder)?, way(responder, &link.from)?])
    }

    /// The way with the fewest links; among equals the one whose links come first.
    fn shortest(&self, from: &str, to: &str) -> Option<Vec<usize>> {
        let (&from, &to) = (self.nodes.get(from)?, self.nodes.get(to)?);
        // By node: the link that led there, and from where.
        let mut reached = vec![None; self.leaving.len()];
        let mut queue = VecDeque::from([from]);
        while let Some(node) = queue.pop_front() {
            for &(link, next) in &self.leaving[node] {
                if next != from && reached[next].is_none() {
                    reached[next] = Some((link, node));
                    queue.push_back(next);
                }
            }
            if reached[to].is_some() {
                break;
            }
        }
        let mut links = Vec::new();
        let mut node = to;
        while node != from {
            let (link, before) = reached[node]?;
            links.push(link);
            node = before;
        }
        links.reverse();
        Some(links)
    }
}
