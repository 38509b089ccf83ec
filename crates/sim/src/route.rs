// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Ways through the graph: each flow's links, laid out before the run in one table,
//! so that forwarding a packet is one look-up.

use std::collections::VecDeque;

use crate::scenario::{Fault, FlowSpec, Scenario, TransportSpec};

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

/// The links of a flow there and back. Datagrams are not answered and need no way
/// back.
///
/// # Errors
/// When the named links are no way from end to end, or there is none.
pub fn ways(
    scenario: &Scenario,
    flow: &FlowSpec,
    at: &str,
) -> Result<(Vec<usize>, Vec<usize>), Fault> {
    let forth = way(scenario, flow, at, true)?;
    if matches!(flow.transport, TransportSpec::Udp) && flow.reverse_path.is_none() {
        return Ok((forth, Vec::new()));
    }
    Ok((forth, way(scenario, flow, at, false)?))
}

/// The links of a flow, there (`forth`) or back.
fn way(scenario: &Scenario, flow: &FlowSpec, at: &str, forth: bool) -> Result<Vec<usize>, Fault> {
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
        return shortest(scenario, from, to)
            .ok_or_else(|| fault(format!("no way leads from '{from}' to '{to}'")));
    };
    let mut node = from;
    let mut links = Vec::new();
    for name in names {
        let index = scenario.links.iter().position(|link| &link.name == name);
        let Some(index) = index else {
            return Err(fault(format!("no link is named '{name}'")));
        };
        let link = &scenario.links[index];
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

/// The way with the fewest links; among equals the one whose links come first.
fn shortest(scenario: &Scenario, from: &str, to: &str) -> Option<Vec<usize>> {
    let mut reached = std::collections::BTreeMap::from([(from, None)]);
    let mut queue = VecDeque::from([from]);
    while let Some(node) = queue.pop_front() {
        for (i, link) in scenario.links.iter().enumerate() {
            if link.from == node && !reached.contains_key(link.to.as_str()) {
                reached.insert(&link.to, Some(i));
                queue.push_back(&link.to);
            }
        }
    }
    let mut links = Vec::new();
    let mut node = to;
    while let Some(link) = *reached.get(node)? {
        links.push(link);
        node = &scenario.links[link].from;
    }
    links.reverse();
    Some(links)
}
