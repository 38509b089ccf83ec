// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! What `linux/uml/traffic.c` and `play.c` counted of flows, reckoned as the engine's own. The first
//! numbers the flows that are no scripts; the second has the numbers of all.

use std::str::FromStr;

use crate::app::{Completion, Echo, Tally, Transit};
use crate::record::TransferTimes;
use crate::scenario::Scenario;
use crate::sim::{Counted, FlowCounted, FlowsReport};
use crate::time::Time;

/// What a program wrote of one flow at one time.
#[derive(Clone, Copy, Default)]
struct Reading {
    tally: Tally,
    srtt_us: u32,
}

/// What is known of a flow beside its readings.
#[derive(Clone, Default)]
struct Told {
    done: Vec<Completion>,
    pages: Vec<Completion>,
    echoes: Option<Vec<Echo>>,
}

/// All that both programs wrote.
struct Log {
    at: Vec<(Time, Vec<Reading>)>,
    told: Vec<Told>,
}

/// The flows of a run by what was counted and, of scripts, played.
///
/// # Errors
/// When a line is not of these programs or not of this scenario.
pub fn report(scenario: &Scenario, counts: &str, played: &str) -> Result<FlowsReport, String> {
    let log = Log::read(scenario, counts, played)?;
    let tallies = |of: &[Reading]| of.iter().map(|reading| reading.tally).collect::<Vec<_>>();
    let edges: Vec<_> = log.at.iter().map(|(at, of)| (*at, tallies(of))).collect();
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
        end: tallies(last),
        flows: flows.collect(),
        times: &TransferTimes::new(scenario.flows.len(), &scenario.windows()),
    };
    Ok(counted.report())
}

impl Log {
    fn read(scenario: &Scenario, counts: &str, played: &str) -> Result<Self, String> {
        let windows = scenario.windows();
        let edges = windows.iter().flat_map(|w| [w.from_ns, w.to_ns]);
        let mut edges: Vec<_> = edges.chain([scenario.duration_ns]).map(Time).collect();
        edges.sort_unstable();
        edges.dedup();
        let specs = scenario.flows.iter();
        let scripts = specs.flat_map(|spec| (0..spec.count).map(|_| spec.app.is_script()));
        let scripts: Vec<_> = scripts.collect();
        let numbered = scripts.iter().enumerate();
        let plain = numbered.filter_map(|(n, is_script)| (!is_script).then_some(n));
        let plain: Vec<_> = plain.collect();
        let none = vec![Reading::default(); scripts.len()];
        let mut log = Self {
            at: edges.into_iter().map(|at| (at, none.clone())).collect(),
            told: vec![Told::default(); scripts.len()],
        };
        for line in counts.lines() {
            let line = Line::of(line)?;
            log.take_counted(&line, &plain).ok_or_else(|| line.odd())?;
        }
        for line in played.lines() {
            let line = Line::of(line)?;
            log.take_played(&line).ok_or_else(|| line.odd())?;
        }
        Ok(log)
    }

    fn take_counted(&mut self, line: &Line<'_>, plain: &[usize]) -> Option<()> {
        match (line.word, &line.numbers[..]) {
            ("done", &[flow, at_ns, took_ns]) => {
                let flow = *plain.get(flow as usize)?;
                self.told[flow].done.push(completion(at_ns, took_ns));
            }
            ("count", [edge, flow, delivered_bytes, rest @ ..]) => {
                let flow = *plain.get(*flow as usize)?;
                *self.at(*edge, flow)? = reading(*delivered_bytes, rest)?;
            }
            _ => return None,
        }
        Some(())
    }

    fn take_played(&mut self, line: &Line<'_>) -> Option<()> {
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
                at.tally.answered_bytes = *answered_bytes;
                at.tally.opened = *opened;
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
            _ => return None,
        }
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

/// What both programs write behind what is delivered.
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
    let tally = Tally {
        delivered_bytes,
        data_pkts_sent,
        retransmitted_pkts,
        timeouts,
        lost_pkts: expected_pkts.cast_signed() - arrived_pkts.cast_signed(),
        transit,
        ..Tally::default()
    };
    Some(Reading {
        tally,
        srtt_us: u32::try_from(srtt_us).ok()?,
    })
}

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
        let numbers = words.map(u64::from_str).collect::<Result<_, _>>();
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
mod tests {
    use serde_json::json;

    use super::*;

    fn scenario() -> Scenario {
        let flow = |name: &str, app: serde_json::Value| {
            json!({
                "name": name, "count": 1, "from": "a", "to": "b", "start_ns": 0,
                "transport": {"kind": "udp"}, "app": app
            })
        };
        let cbr = json!({"kind": "cbr", "rate_bps": 8_000, "payload_bytes": 1_000});
        let ping = json!({"kind": "ping", "interval_ns": 1_000_000_000, "payload_bytes": 56});
        let text = json!({
            "format": 2, "name": "two", "duration_ns": 4_000_000_000_u64, "nodes": ["a", "b"],
            "links": [
                {"name": "there", "from": "a", "to": "b", "delay_ns": 1_000},
                {"name": "back", "from": "b", "to": "a", "delay_ns": 1_000}
            ],
            "flows": [flow("ping", ping), flow("cbr", cbr)],
            "record": {"queues": [], "windows": [
                {"name": "all", "from_ns": 0, "to_ns": 4_000_000_000_u64}
            ]}
        });
        Scenario::from_json(&text.to_string()).expect("a scenario")
    }

    const COUNTS: &str = "count 0 0 0 0 0 0 0 0 0 0 0 0\ncount 1 0 3000 4 0 0 0 3 90 2 8 5\n";

    /// The first flow is a script, of which traffic.c knows nothing.
    #[test]
    fn flows_that_are_no_scripts_have_numbers_of_their_own() {
        let report = report(&scenario(), COUNTS, "echo 0 5 0\n").expect("a report");
        assert_eq!(report.flows[0].delivered_bytes, 0);
        assert_eq!(report.flows[1].delivered_bytes, 3_000);
        assert_eq!(report.echoes[0].rtt_ms, [None]);
        assert_eq!(report.transport[0].groups[1].lost_pkts, Some(2));
    }

    /// One that is late comes after the edge at which it was given up.
    #[test]
    fn a_datagram_that_was_late_is_no_longer_lost() {
        let counts = COUNTS.replace("0 0 0 0 0 0 0 0 0 0 0 0\n", "0 0 0 1 0 0 0 0 0 0 0 3\n");
        let report = report(&scenario(), &counts, "").expect("a report");
        assert_eq!(report.transport[0].groups[1].lost_pkts, Some(-1));
    }

    #[test]
    fn lines_of_another_run_are_named() {
        for (counts, played) in [
            ("count 9 0 0 0 0 0 0 0 0 0 0 0", ""),
            ("count 0 1 0 0 0 0 0 0 0 0 0 0", ""),
            ("count 0 0 0 0", ""),
            ("done 1 5 5", ""),
            ("", "echo 2 5 5"),
            ("", "page 7 5 5"),
            ("", "count 0 0 0 0 0 0"),
            ("", "rest 0"),
        ] {
            let error = report(&scenario(), counts, played).expect_err("of another run");
            assert!(error.contains("is of another run"), "{error}");
        }
        let error = report(&scenario(), "count 0 -1", "").expect_err("no number");
        assert!(error.contains("'count 0 -1'"), "{error}");
    }
}
