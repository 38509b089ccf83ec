// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Scripts as lines of text, which linux/uml/play.c describes and plays: the same draws, to the
//! end of a run.

use std::fmt::Write;

use super::Scenario;
use super::graph::Graph;
use crate::base::rng::Rng;
use crate::traffic::{Act, Conversation, End, Member, Moves, Pace, Source, Visit};

/// More would not fit beside what a guest logs.
const MOST_BYTES: usize = 100_000_000;

/// For each group the scripts of its flows.
///
/// # Errors
/// Where they are too long, or no host can keep them, the group and the reason.
pub fn scripts(scenario: &Scenario, seed: u64) -> Result<Vec<Vec<String>>, String> {
    let mut bytes = 0;
    let mut groups = Vec::new();
    let graph = Graph::of(scenario);
    for (i, spec) in scenario.flows.iter().enumerate() {
        let (forth, back) = graph
            .paths(spec, &format!("flows[{i}]"))
            .map_err(|fault| fault.to_string())?;
        let delays_ns = scenario.delays_ns(&forth, &back);
        let mut scripts = Vec::new();
        for (index, start) in spec.starts(seed).iter().enumerate() {
            let rng = Rng::stream(seed, &format!("flow/{}/{index}/traffic", spec.name));
            let source = spec.app.source(Member {
                index: index as u32,
                count: spec.count,
                rng,
            });
            let left_ns = scenario.duration_ns.saturating_sub(start.0);
            let mut script = head(&source, spec.app.echo_interval_ns().is_some());
            write_visits(&mut script, source, left_ns, MOST_BYTES - bytes, delays_ns)
                .map_err(|reason| format!("'{}': {reason}", spec.name))?;
            if let Some(words) = spec.app.application() {
                writeln!(script, "decides {words}").expect("text has room");
            }
            bytes += script.len();
            if bytes > MOST_BYTES {
                return Err(format!(
                    "the scripts up to flow {index} of '{}' take more than {} MB: play fewer \
                     flows or a shorter run",
                    spec.name,
                    MOST_BYTES / 1_000_000
                ));
            }
            scripts.push(script);
        }
        groups.push(scripts);
    }
    Ok(groups)
}

/// How visits follow each other, and whether datagrams come back.
fn head(source: &Source, echoes: bool) -> String {
    let is_open = source.pace() == Pace::Open;
    let words = [is_open, echoes, source.repeats()].map(u8::from);
    format!("source {} {} {}\n", words[0], words[1], words[2])
}

/// The visits that can begin within a time, whatever the network does: each begins no sooner
/// than its waits say. One that is repeated stands once.
fn write_visits(
    text: &mut String,
    mut source: Source,
    left_ns: u64,
    most_bytes: usize,
    delays_ns: u64,
) -> Result<(), String> {
    let repeats = source.repeats();
    let mut at_ns = 0u64;
    while let Some(visit) = source.next_visit() {
        at_ns = at_ns.saturating_add(visit.wait_ns);
        if at_ns > left_ns || text.len() > most_bytes {
            break;
        }
        let rtts = visit.conversations.iter().filter_map(|c| c.rtt_ns);
        if let Some(rtt_ns) = rtts.filter(|&rtt_ns| rtt_ns > delays_ns).max() {
            return Err(format!(
                "a connection has a round trip of its own, {rtt_ns} ns, which is longer than that \
                 of its links, {delays_ns} ns"
            ));
        }
        write_visit(text, visit, left_ns - at_ns, most_bytes).expect("text has room");
        if repeats {
            break;
        }
    }
    Ok(())
}

fn write_visit(
    text: &mut String,
    visit: Visit,
    left_ns: u64,
    most_bytes: usize,
) -> std::fmt::Result {
    writeln!(text, "visit {} {}", visit.wait_ns, u8::from(visit.page))?;
    for conversation in visit.conversations {
        let Conversation {
            opener,
            after,
            moves,
            done_bytes,
            rtt_ns: _,
        } = conversation;
        let done = or_none(done_bytes);
        let (place, heard_bytes, wait_ns) = after.map_or((-1, 0, 0), |after| {
            (after.place as i64, after.heard_bytes, after.wait_ns)
        });
        let opener = opener as u8;
        writeln!(text, "talk {opener} {done} {place} {heard_bytes} {wait_ns}")?;
        for (end, moves) in [End::From, End::To].into_iter().zip(moves) {
            write_moves(text, end, moves, left_ns, most_bytes)?;
        }
    }
    Ok(())
}

fn write_moves(
    text: &mut String,
    end: End,
    moves: Moves,
    left_ns: u64,
    most_bytes: usize,
) -> std::fmt::Result {
    if let Some((bytes, rate_bps)) = moves.even() {
        return writeln!(text, "even {} {bytes} {rate_bps}", end as u8);
    }
    let mut at_ns = 0u64;
    for step in moves {
        at_ns = at_ns.saturating_add(step.wait_ns);
        if at_ns > left_ns || text.len() > most_bytes {
            break;
        }
        let bytes = match step.act {
            Act::Write(bytes) => bytes,
            Act::Close | Act::Look => 0,
        };
        let (hears, hears_bytes) = step
            .transfer
            .map_or((-1, 0), |(end, bytes)| (end as i64, bytes));
        let (end, heard_bytes, wait_ns) = (end as u8, step.heard_bytes, step.wait_ns);
        writeln!(
            text,
            "move {end} {heard_bytes} {wait_ns} {bytes} {hears} {hears_bytes}"
        )?;
    }
    Ok(())
}

fn or_none(bytes: Option<u64>) -> i64 {
    bytes.map_or(-1, |bytes| bytes as i64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::traffic::bulk::ENDLESS;

    fn scenario(app: &serde_json::Value) -> Scenario {
        let over = match app["kind"].as_str() {
            Some("ping" | "poisson" | "nada") => "udp",
            _ => "tcp",
        };
        let scenario = json!({
            "format": 2, "duration": 20_000_000_000u64, "nodes": ["a", "b"],
            "links": [
                {"name": "there", "from": "a", "to": "b", "rate": 10_000_000},
                {"name": "back", "from": "b", "to": "a", "delay": 50_000_000}
            ],
            "flows": [
                {"name": "plain", "from": "a", "to": "b", "transport": {"kind": "tcp"},
                 "app": {"kind": "bulk"}},
                {"name": "users", "count": 2, "from": "a", "to": "b", "transport": {"kind": over},
                 "app": app, "start": 5_000_000_000u64}
            ]
        });
        Scenario::from_json(&scenario.to_string()).expect("a sound scenario")
    }

    /// Numbers of the lines that begin with a word.
    fn lines(script: &str, word: &str) -> Vec<Vec<i64>> {
        let lines = script.lines().filter_map(|line| line.strip_prefix(word));
        let mut rows = Vec::new();
        for line in lines {
            let numbers = line.split_whitespace();
            rows.push(numbers.map(|n| n.parse().expect("a number")).collect());
        }
        rows
    }

    #[test]
    fn a_script_has_the_draws_of_the_engine_until_the_end_of_the_run() {
        let files = json!({"kind": "files", "gap": 100_000_000, "size": 5_000, "shape": 1.5});
        let scenario = scenario(&files);
        let all = scripts(&scenario, 7).expect("scripts");
        let endless = format!("move 0 0 0 {ENDLESS} -1 0\n");
        let plain = format!("source 0 0 0\nvisit 0 0\ntalk 0 -1 -1 0 0\n{endless}");
        assert_eq!(all[0], [plain]);
        assert_eq!(all[1].len(), 2);
        for (index, script) in all[1].iter().enumerate() {
            let visits = lines(script, "visit ");
            let waits: i64 = visits.iter().map(|visit| visit[0]).sum();
            // 15 s are left behind the start.
            assert!(
                (14_000_000_000..=15_000_000_000).contains(&waits),
                "{waits}"
            );
            let rng = Rng::stream(7, &format!("flow/users/{index}/traffic"));
            let mut source = scenario.flows[1].app.source(Member {
                index: index as u32,
                count: 2,
                rng,
            });
            let moves = lines(script, "move 0 ");
            for (visit, pair) in visits.iter().zip(moves.chunks(2)) {
                let drawn = source.next_visit().expect("a file");
                assert_eq!(visit[0] as u64, drawn.wait_ns);
                let [from, _] = drawn.conversations.into_iter().next().expect("one").moves;
                let steps: Vec<_> = from.collect();
                assert_eq!(Act::Write(pair[0][2] as u64), steps[0].act);
                assert_eq!((pair[1][2], steps[1].act), (0, Act::Close));
            }
        }
        assert_ne!(all[1][0], all[1][1]);
    }

    #[test]
    fn writes_without_end_are_cut_where_the_run_ends() {
        let ping = json!({"kind": "ping", "interval": 100_000_000, "payload": 56});
        let all = scripts(&scenario(&ping), 1).expect("scripts");
        assert_eq!(lines(&all[1][0], "move 0 ").len(), 151);
        assert_eq!(lines(&all[1][0], "visit ").len(), 1);
    }

    #[test]
    fn what_goes_on_without_a_draw_is_one_line() {
        let paced = json!({"kind": "paced", "rate": 1_000_000, "payload": 12_500});
        let all = scripts(&scenario(&paced), 1).expect("scripts");
        assert_eq!(lines(&all[1][0], "even "), [[0, 12_500, 1_000_000]]);
        assert!(lines(&all[1][0], "move ").is_empty());
        let respawn = json!({"kind": "respawn", "size": 7_000});
        let all = scripts(&scenario(&respawn), 1).expect("scripts");
        assert_eq!(lines(&all[1][0], "source "), [[0, 0, 1]]);
        assert_eq!(lines(&all[1][0], "visit ").len(), 1);
    }

    #[test]
    fn what_an_application_decides_is_one_line() {
        let nada = json!({"kind": "nada", "least": 200_000, "payload": 900});
        let all = scripts(&scenario(&nada), 1).expect("scripts");
        let call = "source 0 0 0\nvisit 0 0\ntalk 0 -1 -1 0 0\ndecides nada 900 200000 1500000\n";
        assert_eq!(all[1][0], call);
        let video = json!({"kind": "video", "ladder": [500_000, 1_000_000]});
        let all = scripts(&scenario(&video), 1).expect("scripts");
        let stream = "source 0 0 0\nvisit 0 0\ntalk 1 -1 -1 0 0\n\
                      decides video 4000000000 30000000000 500000 1000000\n";
        assert_eq!(all[1], [stream, stream]);
    }

    #[test]
    fn a_script_says_how_its_kind_goes_on() {
        let head = |app: &serde_json::Value| {
            let all = scripts(&scenario(app), 1).expect("scripts");
            lines(&all[1][0], "source ").remove(0)
        };
        let files = json!({"kind": "files", "gap": 100_000_000, "size": 5_000});
        assert_eq!(head(&files), [1, 0, 0]);
        let ping = json!({"kind": "ping", "interval": 100_000_000, "payload": 56});
        assert_eq!(head(&ping), [0, 1, 0]);
        assert_eq!(head(&json!({"kind": "web"})), [0, 0, 0]);
    }

    #[test]
    fn a_script_that_no_host_can_keep_is_refused() {
        let tmix = |rtt_us: u64| {
            let vectors = format!("SEQ 0 1 0 0\nr {rtt_us}\n> 1\n< 1\n");
            scripts(&scenario(&json!({"kind": "tmix", "vectors": vectors})), 1)
        };
        assert!(tmix(50_000).is_ok());
        let reason = tmix(50_001).expect_err("its own round trip");
        assert!(
            reason.contains("'users': a connection has a round trip"),
            "{reason}"
        );
        let huge = json!({"kind": "poisson", "rate": 1_000_000_000, "payload": 20});
        let reason = scripts(&scenario(&huge), 1).expect_err("a gigabyte");
        assert!(
            reason.contains("flow 0 of 'users' take more than 100 MB"),
            "{reason}"
        );
    }
}
