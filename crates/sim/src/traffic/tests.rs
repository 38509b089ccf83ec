// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! What sources draw, beside what their closed forms say.

use serde_json::{Map, Value, json};

use super::key::{Otherwise, Unit};
use super::*;
use crate::base::rng::Rng;

fn member(index: u32, count: u32, rng: Rng) -> Member {
    Member { index, count, rng }
}

fn spec(values: Value) -> AppSpec {
    serde_json::from_value(values).expect("a sound source")
}

/// The script of the first of three flows.
fn source(spec: &AppSpec, seed: u64) -> Source {
    spec.source(member(0, 3, Rng::stream(seed, "flow/a/0/traffic")))
}

/// Writes of an end that writes without end, as times and sizes, for so many seconds.
fn bursts(values: Value, seed: u64, seconds: u64) -> Vec<(u64, u64)> {
    let visit = source(&spec(values), seed).next_visit().expect("a visit");
    let conversation = visit.conversations.into_iter().next();
    let [mut moves, _] = conversation.expect("a conversation").moves;
    let mut at_ns = 0;
    let next = || {
        let step = moves.next()?;
        at_ns += step.wait_ns;
        let Act::Write(bytes) = step.act else {
            return None;
        };
        (at_ns < seconds * 1_000_000_000).then_some((at_ns, bytes))
    };
    std::iter::from_fn(next).collect()
}

/// The mean rate of twenty seeds, which must be within five of its standard errors of what it
/// should be, and near it.
#[track_caller]
fn rate_is(values: &Value, bps: f64, seconds: u64) {
    let rates: Vec<f64> = (0..20)
        .map(|seed| {
            let bytes: u64 = bursts(values.clone(), seed, seconds)
                .iter()
                .map(|b| b.1)
                .sum();
            bytes as f64 * 8.0 / seconds as f64
        })
        .collect();
    let mean = rates.iter().sum::<f64>() / 20.0;
    let square = rates.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>();
    let error = (square / 19.0 / 20.0).sqrt();
    assert!(
        (mean - bps).abs() <= 5.0 * error + 0.002 * bps,
        "{mean} ± {error} for {bps}"
    );
    assert!(error < 0.05 * bps, "{error} for {bps}: too few to tell");
}

#[test]
fn streams_have_the_mean_rate_that_they_say() {
    let even = json!({"kind": "cbr", "rate": 1_000_000, "payload": 100});
    rate_is(&even, 1e6, 10);
    let paced = json!({"kind": "paced", "rate": 3_000_000});
    rate_is(&paced, 3e6, 10);
    let poisson = json!({"kind": "poisson", "rate": 2_000_000, "payload": 500});
    rate_is(&poisson, 2e6, 100);
    // On for 0.2 of the time.
    let bursts = json!({
        "kind": "onoff", "rate": 5_000_000, "on": 100_000_000, "off": 400_000_000
    });
    rate_is(&bursts, 1e6, 500);
    let mut heavy = bursts.clone();
    heavy["shape"] = json!(1.9);
    rate_is(&heavy, 1e6, 4_000);
    rate_is(&json!({"kind": "voip"}), 64e3 * 1.004 / 2.591, 2_000);
    let files = json!({
        "kind": "files", "gap": 80_000_000, "size": 50_000, "connections": "one"
    });
    rate_is(&files, 5e6, 100);
    let mut heavy = files.clone();
    heavy["shape"] = json!(2.2);
    rate_is(&heavy, 5e6, 1_000);
}

#[test]
fn bursts_keep_their_rate_while_they_last_and_are_silent_between() {
    let on_off = json!({
        "kind": "onoff", "rate": 8_000_000, "on": 50_000_000, "off": 450_000_000
    });
    let writes = bursts(on_off, 1, 100);
    let gaps: Vec<_> = writes
        .windows(2)
        .map(|pair| pair[1].0 - pair[0].0)
        .collect();
    let within = gaps.iter().filter(|&&gap| gap == 1_000_000).count();
    let silent = gaps.iter().filter(|&&gap| gap > 1_000_000).count();
    // 1,000 bytes are 1 ms; 50 of them to a burst in the mean.
    assert!((40..=60).contains(&(within / silent)), "{within} {silent}");
}

#[test]
fn drawn_sizes_are_even_between_one_byte_and_twice_the_mean() {
    let spec = spec(json!({"kind": "drawn", "size": 50}));
    let mut seen = [0u32; 100];
    for flow in 0..99_000 {
        let mut source = spec.source(member(0, 1, Rng::stream(flow, "flow")));
        let conversation = source.next_visit().expect("one").conversations.remove(0);
        assert!(source.next_visit().is_none(), "one transfer alone");
        seen[sizes(conversation)[0] as usize] += 1;
    }
    // 1,000 of each of 99 sizes, within five deviations.
    assert_eq!(seen[0], 0);
    assert!(seen[1..].iter().all(|n| (840..=1_160).contains(n)));
}

#[test]
fn a_script_is_the_same_each_time_and_another_for_another_seed_or_flow() {
    for values in every_kind() {
        let spec = spec(values);
        let drawn = |seed: u64, index: u32| {
            let rng = Rng::stream(seed, &format!("flow/a/{index}/traffic"));
            let mut source = spec.source(member(index, 3, rng));
            let visits = (0..20).filter_map(|_| source.next_visit());
            visits
                .map(|visit| script_text(visit, 500))
                .collect::<Vec<_>>()
        };
        assert!(drawn(1, 0) == drawn(1, 0));
        if random(&spec) {
            assert!(drawn(1, 0) != drawn(2, 0), "{}", spec.kind().name);
            assert!(drawn(1, 0) != drawn(1, 1), "{}", spec.kind().name);
        }
    }
}

/// Every kind with what it needs.
fn every_kind() -> Vec<Value> {
    let mut all = Vec::new();
    for kind in KINDS {
        let mut values = Map::new();
        values.insert("kind".into(), kind.name.into());
        for key in kind
            .keys
            .iter()
            .filter(|key| key.otherwise == Otherwise::Needed)
        {
            let number = match key.unit {
                Unit::Time => 10_000_000,
                _ => 1_000_000,
            };
            values.insert(key.name.into(), number.into());
        }
        all.push(Value::Object(values));
    }
    all
}

fn random(spec: &AppSpec) -> bool {
    let name = spec.kind().name;
    spec.application().is_none() && !matches!(name, "bulk" | "respawn" | "cbr" | "paced" | "ping")
}

/// A visit as text, with the first moves of each of its ends.
fn script_text(visit: Visit, most: usize) -> String {
    let mut text = format!("{} {}", visit.wait_ns, visit.page);
    for conversation in visit.conversations {
        let Conversation {
            opener,
            after,
            done_bytes,
            rtt_ns,
            moves,
        } = conversation;
        text += &format!(" {opener:?} {after:?} {done_bytes:?} {rtt_ns:?}");
        for moves in moves {
            let moves: Vec<_> = moves.take(most).collect();
            text += &format!(" {moves:?}");
        }
    }
    text
}

#[test]
fn the_table_of_a_kind_is_what_its_data_has() {
    for values in every_kind() {
        let spec = spec(values.clone());
        spec.check_all().expect("the defaults are in range");
        for key in spec.kind().keys {
            let (least, most) = key.range;
            assert!(least <= most && !key.help.is_empty(), "{}", key.name);
            if let Otherwise::Number(number) = key.otherwise {
                assert!((least..=most).contains(&number), "{}", key.name);
            }
            // A key of the table is a field, and its range is kept.
            if matches!(key.unit, Unit::Words(_) | Unit::Text) {
                continue;
            }
            let mut wrong = values.clone();
            wrong[key.name] = match key.unit {
                Unit::Number | Unit::Share => json!(most * 2.0 + 1.0),
                Unit::Rates => json!([1_000_000, most as u64 + 1_000_000]),
                _ => json!(most as u64 + 1_000_000),
            };
            let wrong: AppSpec = match serde_json::from_value(wrong) {
                Ok(wrong) => wrong,
                Err(error) => panic!("{}: {error}", key.name),
            };
            let (field, reason) = wrong.check_all().expect_err(key.name);
            assert_eq!(field, key.name);
            assert!(reason.contains("is outside"), "{reason}");
        }
        let mut unknown = values;
        unknown["nonsense"] = json!(1);
        let error = serde_json::from_value::<AppSpec>(unknown).expect_err("no such key");
        assert!(error.to_string().contains("nonsense"), "{error}");
    }
}

/// So many pages of a browser.
fn pages(values: &Value, count: usize) -> Vec<Visit> {
    let mut keys = json!({"kind": "web"});
    for (key, value) in values.as_object().expect("keys") {
        keys[key] = value.clone();
    }
    let mut source = source(&spec(keys), 1);
    (0..count).filter_map(|_| source.next_visit()).collect()
}

/// Bytes that each end of a conversation writes.
fn sizes(conversation: Conversation) -> [u64; 2] {
    conversation.moves.map(|moves| {
        let bytes = moves.map(|step| match step.act {
            Act::Write(bytes) => bytes,
            Act::Close | Act::Look => 0,
        });
        bytes.sum()
    })
}

#[test]
fn pages_have_the_objects_and_bytes_of_their_closed_forms() {
    // No tail: its variance would need a million of them. Lognormal: 900 exp(0.5^2 / 2).
    let keys = json!({
        "tail": 0.0, "response": 900, "response_sigma": 0.5, "persistent": 0.0, "objects": 4.0
    });
    let pages = pages(&keys, 40_000);
    let connections: usize = pages.iter().map(|page| page.conversations.len()).sum();
    // Geometric: its deviation is the root of 4 times 5.
    let mean = connections as f64 / 40_000.0 - 1.0;
    assert!((mean - 4.0).abs() < 5.0 * 20f64.sqrt() / 200.0, "{mean}");
    let all = pages.into_iter().flat_map(|page| page.conversations);
    let sums = all
        .map(sizes)
        .fold([0, 0], |a, b| [a[0] + b[0], a[1] + b[1]]);
    let [response, request] = sums.map(|sum| sum as f64 / connections as f64);
    assert!(
        (response / (900.0 * 0.125f64.exp()) - 1.0).abs() < 0.01,
        "{response}"
    );
    assert!(
        (request / (350.0 * 0.08f64.exp()) - 1.0).abs() < 0.01,
        "{request}"
    );
}

#[test]
fn the_tail_of_responses_has_the_share_and_mean_of_a_bounded_pareto() {
    let keys = json!({
        "tail": 0.2, "tail_shape": 1.5, "largest": 10_000_000, "persistent": 0.0
    });
    let all = pages(&keys, 40_000)
        .into_iter()
        .flat_map(|page| page.conversations);
    let responses: Vec<_> = all.map(|c| sizes(c)[0]).collect();
    let tail: Vec<_> = responses
        .iter()
        .filter(|&&bytes| bytes >= 133_000)
        .collect();
    let share = tail.len() as f64 / responses.len() as f64;
    assert!((share - 0.2).abs() < 0.005, "{share}");
    let (a, l, h) = (1.5f64, 133e3f64, 1e7f64);
    let mean = a / (a - 1.0) * l * (1.0 - (l / h).powf(a - 1.0)) / (1.0 - (l / h).powf(a));
    let tail_mean = tail.iter().map(|&&bytes| bytes as f64).sum::<f64>() / tail.len() as f64;
    assert!(
        (tail_mean / mean - 1.0).abs() < 0.05,
        "{tail_mean} for {mean}"
    );
}

#[test]
fn of_the_bytes_the_share_that_was_asked_for_is_in_the_tail() {
    // A tail of finite variance, whose mean is seen in so many draws, and a body far below it.
    let short = json!({
        "tail_shape": 3.0, "largest": 10_000_000, "persistent": 0.0, "response_sigma": 0.5
    });
    for (share, more) in [(0.06, json!({})), (0.6, json!({"tail_bytes": 0.6}))] {
        let mut keys = short.clone();
        for (key, value) in more.as_object().expect("keys") {
            keys[key] = value.clone();
        }
        let all = pages(&keys, 60_000)
            .into_iter()
            .flat_map(|page| page.conversations);
        let responses: Vec<_> = all.map(|c| sizes(c)[0]).collect();
        let sum = |least: u64| {
            let of_them = responses.iter().filter(|&&bytes| bytes >= least);
            of_them.sum::<u64>() as f64
        };
        let found = sum(133_000) / sum(0);
        assert!((found - share).abs() < 0.01, "{found} for {share}");
    }
}

/// 2.55 kB exp(1.4^2 / 2), beside 6 % of the bytes in the tail.
#[test]
fn a_response_of_the_body_has_seven_kilobytes_in_the_mean_unless_the_scenario_says_otherwise() {
    let body = pages(&json!({"tail": 0.0, "persistent": 0.0}), 60_000);
    let all = body.into_iter().flat_map(|page| page.conversations);
    let responses: Vec<_> = all.map(|c| sizes(c)[0] as f64).collect();
    let mean = responses.iter().sum::<f64>() / responses.len() as f64;
    assert!((mean / 6_794.0 - 1.0).abs() < 0.03, "{mean}");
}

#[test]
fn of_new_connections_the_share_that_was_asked_for_is_persistent() {
    for share in [0.15, 0.6] {
        let pages = pages(&json!({"persistent": share}), 60_000);
        let all = pages.into_iter().flat_map(|page| page.conversations);
        let (mut lasting, mut count) = (0, 0);
        for conversation in all {
            // The browser closes those, the server all others.
            let [_, browser] = conversation.moves;
            lasting += usize::from(browser.last().is_some_and(|step| step.act == Act::Close));
            count += 1;
        }
        let persistent = lasting as f64 / count as f64;
        assert!((persistent - share).abs() < 0.01, "{persistent}");
    }
}

#[test]
fn lanes_of_a_page_are_as_many_as_connections_may_be_open_at_once() {
    let keys = json!({"persistent": 0.0, "objects": 20.0, "parallel": 3});
    for page in pages(&keys, 200) {
        for (place, conversation) in page.conversations.iter().enumerate() {
            let after = conversation.after.map(|after| after.place);
            let expected = match place {
                0 => None,
                1..=3 => Some(0),
                _ => Some(place - 3),
            };
            assert_eq!(after, expected);
        }
    }
}

#[test]
fn times_to_think_have_the_median_that_was_asked_for() {
    let spec = spec(json!({"kind": "web", "think": 2_000_000_000u64}));
    let mut thought = Vec::new();
    for user in 0..4_000 {
        let mut source = spec.source(member(0, 1, Rng::stream(user, "user")));
        let wait_ns = |source: &mut Source| source.next_visit().map(|visit| visit.wait_ns);
        assert_eq!(
            wait_ns(&mut source),
            Some(0),
            "the first page is asked for at once"
        );
        thought.extend(wait_ns(&mut source));
    }
    let shorter = thought.iter().filter(|&&ns| ns < 2_000_000_000).count();
    assert!((1_850..=2_150).contains(&shorter), "{shorter} of 4,000");
}

#[test]
fn synthetic_vectors_have_the_marginals_that_they_say() {
    let mut source = source(&spec(json!({"kind": "tmix", "gap": 1_000_000})), 1);
    let (mut sum_ns, mut concurrent, mut single, mut sequential) = (0, 0, 0, 0);
    for _ in 0..40_000 {
        let visit = source.next_visit().expect("without end");
        sum_ns += visit.wait_ns;
        let conversation = visit.conversations.into_iter().next().expect("one");
        assert!((10_000_000..=150_000_000).contains(&conversation.rtt_ns.expect("one")));
        let [_, initiator] = conversation.moves;
        let moves: Vec<_> = initiator.collect();
        if moves.last().is_some_and(|step| step.act == Act::Close) {
            concurrent += 1;
        } else {
            sequential += 1;
            single += usize::from(moves.len() == 1);
        }
    }
    assert!((sum_ns as f64 / 40e9 - 1.0).abs() < 0.025, "{sum_ns}");
    assert!(
        (concurrent as f64 / 40e3 - 0.1).abs() < 0.01,
        "{concurrent}"
    );
    assert!(
        (single as f64 / f64::from(sequential) - 0.78).abs() < 0.01,
        "{single}"
    );
}

#[test]
fn synthetic_vectors_have_the_sizes_epochs_and_times_that_were_asked_for() {
    let keys = json!({
        "kind": "tmix", "gap": 1_000_000, "concurrent": 0.0, "one_epoch": 0.5, "epochs": 6.0,
        "request": 2_000, "request_sigma": 0.5, "response": 30_000, "response_sigma": 0.5,
        "tail": 0.0, "think": 1_000_000, "think_sigma": 0.5,
        "rtt_from": 40_000_000, "rtt_to": 60_000_000,
    });
    let mut source = source(&spec(keys), 1);
    let (mut exchanges, mut bytes, mut waits) = (0, [0, 0], Vec::new());
    for _ in 0..40_000 {
        let visit = source.next_visit().expect("without end");
        let conversation = visit.conversations.into_iter().next().expect("one");
        assert!((40_000_000..=60_000_000).contains(&conversation.rtt_ns.expect("one")));
        let [acceptor, initiator] = conversation.moves;
        for (who, moves) in [acceptor, initiator].into_iter().enumerate() {
            for (place, step) in moves.enumerate() {
                let Act::Write(written) = step.act else {
                    continue;
                };
                bytes[who] += written;
                exchanges += who;
                waits.extend((who > 0 && place > 0).then_some(step.wait_ns));
            }
        }
    }
    // Half have one exchange, half six in the mean; lognormal: median times exp(0.5^2 / 2).
    let near = |found: f64, expected: f64| {
        assert!((found / expected - 1.0).abs() < 0.02, "{found} {expected}");
    };
    near(exchanges as f64 / 40e3, 3.5);
    near(bytes[0] as f64 / exchanges as f64, 30e3 * 0.125f64.exp());
    near(bytes[1] as f64 / exchanges as f64, 2e3 * 0.125f64.exp());
    waits.sort_unstable();
    near(waits[waits.len() / 2] as f64, 1e6);
}

#[test]
fn flows_take_vectors_in_turn_and_a_scale_stretches_their_times() {
    let vectors = "SEQ 1000 1 0 0\n> 1\n< 1\nSEQ 2000 1 0 0\n> 2\n< 2\nSEQ 5000 1 0 0\n> 3\n< 3\n";
    let spec = spec(json!({"kind": "tmix", "vectors": vectors, "scale": 2.0}));
    let mut first = spec.source(member(0, 2, Rng::stream(1, "a")));
    let waits: Vec<_> = std::iter::from_fn(|| first.next_visit())
        .map(|v| v.wait_ns)
        .collect();
    assert_eq!(waits, [2_000_000, 8_000_000]);
    let mut second = spec.source(member(1, 2, Rng::stream(1, "b")));
    let waits: Vec<_> = std::iter::from_fn(|| second.next_visit())
        .map(|v| v.wait_ns)
        .collect();
    assert_eq!(waits, [4_000_000]);
}

#[test]
fn what_ranges_do_not_tell_is_refused_too() {
    let refusal = |values: Value| spec(values).check_all().expect_err("out of reason");
    let few = json!({"kind": "onoff", "rate": 8_000, "on": 1_000_000, "off": 1_000_000});
    let (field, reason) = refusal(few);
    assert_eq!(field, "on");
    assert!(reason.contains("less than one write of 1000 B"), "{reason}");
    let large = json!({"kind": "voip", "rate": 10_000_000, "interval": 20_000_000});
    assert_eq!(refusal(large).0, "interval");
    let dense = json!({"kind": "tmix", "gap": 1_000_000, "scale": 0.01});
    assert_eq!(refusal(dense).0, "scale");
    let tail = json!({"kind": "web", "largest": 133_000});
    assert_eq!(refusal(tail).0, "largest");
    for kind in ["web", "tmix"] {
        let both = json!({"kind": kind, "tail": 0.1, "tail_bytes": 0.1});
        let (field, reason) = refusal(both);
        assert_eq!(field, "tail_bytes");
        assert!(reason.contains("leave one of the two out"), "{reason}");
    }
    for ladder in [json!([2_000, 1_000]), json!([2_000, 2_000]), json!([])] {
        let video = json!({"kind": "video", "ladder": ladder});
        assert_eq!(refusal(video).0, "ladder");
    }
    let small = json!({"kind": "video", "segment": 4_000_000_000_u64, "buffer": 7_000_000_000_u64});
    assert_eq!(refusal(small).0, "buffer");
    let narrow = json!({"kind": "nada", "least": 2_000_000, "most": 1_000_000});
    assert_eq!(refusal(narrow).0, "least");
    let rtt = json!({"kind": "tmix", "rtt_from": 200_000_000});
    assert_eq!(refusal(rtt).0, "rtt_to");
}

#[test]
fn more_writes_than_one_each_nanosecond_are_refused() {
    for kind in ["cbr", "paced", "onoff", "poisson"] {
        let mut values = json!({"kind": kind, "rate": 8_000_000_000_u64, "payload": 1});
        if kind == "onoff" {
            (values["on"], values["off"]) = (json!(1_000_000), json!(1_000_000));
        }
        assert_eq!(spec(values.clone()).check_all(), Ok(()), "{kind}");
        values["rate"] = json!(8_000_000_001_u64);
        let (field, reason) = spec(values).check_all().expect_err(kind);
        assert_eq!(field, "rate");
        assert!(
            reason.contains("allowed: up to 8000000000 bit/s"),
            "{reason}"
        );
    }
}
