// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! What `linux/uml/play.c` counted of flows, reckoned as the engine's own.

use std::str::FromStr;

use sojourn_core::Viewing;

use crate::base::time::Time;
use crate::measure::counts::{Completion, Echo, FlowCounts, Transit};
use crate::measure::record::{Transfer, TransferTimes};
use crate::measure::report::{Counted, FlowCounted, FlowsReport};
use crate::scenario::Scenario;

/// What it wrote of one flow at one time.
#[derive(Clone, Copy, Default)]
struct Reading {
    counts: FlowCounts,
    srtt_us: u32,
}

/// What is known of a flow beside its readings.
#[derive(Clone, Default)]
struct Told {
    done: Vec<Completion>,
    pages: Vec<Completion>,
    echoes: Option<Vec<Echo>>,
}

/// All that it wrote.
struct Log {
    at: Vec<(Time, Vec<Reading>)>,
    told: Vec<Told>,
    /// Of each flow its group, and which of it.
    flows: Vec<(u32, u32)>,
    transfers: Vec<Transfer>,
    /// Delays of datagrams, by group and window.
    times: TransferTimes,
}

/// The flows of a run by what was played; and the transfers that were told, in the order in which
/// they ended, and then those that did not.
///
/// # Errors
/// When a line is not of this program or not of this scenario.
pub fn report(scenario: &Scenario, played: &str) -> Result<(FlowsReport, Vec<Transfer>), String> {
    let log = Log::read(scenario, played)?;
    let flow_counts = |of: &[Reading]| of.iter().map(|reading| reading.counts).collect::<Vec<_>>();
    let edges: Vec<_> = log
        .at
        .iter()
        .map(|(at, of)| (*at, flow_counts(of)))
        .collect();
    let end = Time(scenario.duration_ns);
    let last = log.at.iter().find(|(at, _)| *at == end);
    let last = last.map_or(&[][..], |(_, of)| of.as_slice());
    let flows = log.told.iter().zip(last);
    let flows = flows.map(|(told, reading)| FlowCounted {
        srtt_us: reading.srtt_us,
        transfers: told.done.len() as u64,
        completions: &told.done,
        pages: &told.pages,
        echoes: told.echoes.as_deref(),
    });
    let counted = Counted {
        scenario,
        edges: &edges,
        end: flow_counts(last),
        flows: flows.collect(),
        times: &log.times,
    };
    let report = counted.report();
    let mut transfers = log.transfers;
    transfers.sort_by_key(|transfer| transfer.last_byte.map_or(NEVER, |at| at.0));
    Ok((report, transfers))
}

impl Log {
    fn read(scenario: &Scenario, played: &str) -> Result<Self, String> {
        let windows = scenario.windows();
        let edges = windows.iter().flat_map(|w| [w.from_ns, w.to_ns]);
        let mut edges: Vec<_> = edges.chain([scenario.duration_ns]).map(Time).collect();
        edges.sort_unstable();
        edges.dedup();
        let groups = scenario.flows.iter().zip(0..);
        let flows = groups.flat_map(|(spec, group)| (0..spec.count).map(move |i| (group, i)));
        let flows: Vec<(u32, u32)> = flows.collect();
        let none = vec![Reading::default(); flows.len()];
        let mut log = Self {
            at: edges.into_iter().map(|at| (at, none.clone())).collect(),
            told: vec![Told::default(); flows.len()],
            flows,
            transfers: Vec::new(),
            times: TransferTimes::new(&scenario.flows, &windows),
        };
        for line in played.lines() {
            let line = Line::of(line)?;
            log.take(&line).ok_or_else(|| line.odd())?;
        }
        Ok(log)
    }

    fn take(&mut self, line: &Line<'_>) -> Option<()> {
        match (line.word, &line.numbers[..]) {
            (
                "count",
                [
                    edge,
                    flow,
                    delivered_bytes,
                    answered_bytes,
                    opened,
                    rest @ ..,
                ],
            ) => {
                let at = self.at(*edge, *flow as usize)?;
                *at = reading(*delivered_bytes, rest)?;
                at.counts.answered_bytes = *answered_bytes;
                at.counts.opened = *opened;
            }
            (
                "view",
                &[
                    edge,
                    flow,
                    segments,
                    bps,
                    rungs,
                    switches,
                    stalls,
                    stalled_ns,
                ],
            ) => {
                self.at(edge, flow as usize)?.counts.viewing = Viewing {
                    segments,
                    bps,
                    rungs,
                    switches,
                    stalls,
                    stalled_ns,
                };
            }
            ("took", [edge, flow, took_ns @ ..]) => {
                let (group, _) = *self.flows.get(*flow as usize)?;
                // Since the edge before; no window has what came before the first.
                if let Some(before) = edge.checked_sub(1) {
                    let (since, _) = self.at.get(before as usize)?;
                    for &ns in took_ns {
                        self.times.add_datagram(group, *since, ns);
                    }
                }
            }
            ("echo", &[flow, sent_ns, rtt_ns]) => {
                let echoes = &mut self.told.get_mut(flow as usize)?.echoes;
                // 0: it has not come back.
                echoes.get_or_insert_default().push(Echo {
                    sent: Time(sent_ns),
                    rtt_ns: (rtt_ns > 0).then_some(rtt_ns),
                });
            }
            ("page" | "done", &[flow, at_ns, took_ns]) => {
                let told = self.told.get_mut(flow as usize)?;
                let of = if line.word == "page" {
                    &mut told.pages
                } else {
                    &mut told.done
                };
                of.push(completion(at_ns, took_ns));
            }
            ("transfer", [flow, rest @ ..]) => self.take_transfer(*flow as usize, rest)?,
            _ => return None,
        }
        Some(())
    }

    fn take_transfer(&mut self, flow: usize, rest: &[u64]) -> Option<()> {
        let &[
            visit,
            connection,
            transfer,
            opened,
            begun,
            first,
            last,
            bytes,
        ] = rest
        else {
            return None;
        };
        let (group, index) = *self.flows.get(flow)?;
        let heard = |ns: u64| (ns != NEVER).then_some(Time(ns));
        self.transfers.push(Transfer {
            group,
            index,
            visit: visit.try_into().ok()?,
            connection: connection.try_into().ok()?,
            transfer: transfer.try_into().ok()?,
            opened: heard(opened)?,
            begun: heard(begun)?,
            first_byte: heard(first),
            last_byte: heard(last),
            bytes,
        });
        Some(())
    }

    fn at(&mut self, edge: u64, flow: usize) -> Option<&mut Reading> {
        self.at.get_mut(edge as usize)?.1.get_mut(flow)
    }
}

fn completion(at_ns: u64, took_ns: u64) -> Completion {
    Completion {
        at: Time(at_ns),
        took_ns,
    }
}

/// What stands behind the connections that were opened.
fn reading(delivered_bytes: u64, rest: &[u64]) -> Option<Reading> {
    let &[
        data_pkts_sent,
        retransmitted_pkts,
        timeouts,
        srtt_us,
        arrived_pkts,
        delay_ns,
        differences,
        differences_ns,
        expected_pkts,
    ] = rest
    else {
        return None;
    };
    let transit = Transit {
        arrived_pkts,
        delay_ns,
        differences,
        differences_ns,
        last_ns: None,
    };
    let counts = FlowCounts {
        delivered_bytes,
        data_pkts_sent,
        retransmitted_pkts,
        timeouts,
        lost_pkts: expected_pkts.cast_signed() - arrived_pkts.cast_signed(),
        transit,
        ..FlowCounts::default()
    };
    Some(Reading {
        counts,
        srtt_us: u32::try_from(srtt_us).ok()?,
    })
}

/// What has not happened to a transfer, for which the program writes -1.
const NEVER: u64 = u64::MAX;

/// A word and numbers.
struct Line<'a> {
    text: &'a str,
    word: &'a str,
    numbers: Vec<u64>,
}

impl<'a> Line<'a> {
    fn of(text: &'a str) -> Result<Self, String> {
        let mut words = text.split_whitespace();
        let word = words.next().unwrap_or_default();
        let number = |text: &str| match text {
            "-1" if word == "transfer" => Ok(NEVER),
            _ => u64::from_str(text),
        };
        let numbers = words.map(number).collect::<Result<_, _>>();
        let numbers = numbers.map_err(|error| format!("counts of flows: '{text}': {error}"))?;
        Ok(Self {
            text,
            word,
            numbers,
        })
    }

    fn odd(&self) -> String {
        format!("counts of flows: '{}' is of another run", self.text)
    }
}

#[cfg(test)]
mod tests;
