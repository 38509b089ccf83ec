// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! A medium that grants turns to the queues of several links.

use crate::common::{MS, S, play};
use serde_json::{Value, json};
use sojourn_sim::{Report, Scenario};

const MBPS: u64 = 1_000_000;

/// Modems of one group each on a medium of 20 Mbit/s; each sends datagrams of 1,472 bytes of
/// payload, one in `gap_us`.
fn modems(count: usize, gap_us: u64, medium: &Value) -> Value {
    let name = |number: usize| format!("m{number}");
    let link = |number| {
        json!({"name": name(number), "from": name(number), "to": "cmts", "end": [{
            "kind": "queue", "name": "mac", "medium": "cable",
            "queue": {"algorithm": "fifo", "limit": 100}
        }]})
    };
    let flow = |number| {
        json!({
            "name": name(number), "from": name(number), "to": "cmts",
            "transport": {"kind": "udp"}, "start_spread": 100 * MS,
            "app": {"kind": "cbr", "rate": 1_472 * 8 * MBPS / gap_us, "payload": 1_472}
        })
    };
    let mut cable = json!({
        "name": "cable", "rate": 20 * MBPS, "cycle": 2 * MS, "grant": 4_000, "slots": 8,
        "backoff": [2, 6]
    });
    for (key, value) in medium.as_object().expect("keys") {
        cable[key] = value.clone();
    }
    let nodes = (0..count).map(name).chain(["cmts".to_owned()]);
    json!({
        "format": 2, "duration": 10 * S, "nodes": nodes.collect::<Vec<_>>(), "media": [cable],
        "links": (0..count).map(link).collect::<Vec<_>>(),
        "flows": (0..count).map(flow).collect::<Vec<_>>(),
        "record": {
            "queues": (0..count).map(name).collect::<Vec<_>>(), "events": true,
            "windows": [{"name": "late", "from": S, "to": 10 * S}]
        }
    })
}

fn sent_mbps(report: &Report) -> Vec<f64> {
    let windows = report.queues.iter().map(|queue| &queue.windows[0]);
    windows.map(|window| window.utilisation_pct * 0.2).collect()
}

/// RFC 8034 §4.2: request and grant add 4 to 8 ms in typical conditions.
#[test]
fn a_packet_on_an_idle_cable_waits_for_its_request_and_its_grant() {
    let report = play(&modems(3, 50_000, &json!({})), 1);
    let delay = &report.queues[0].windows[0].system_delay_ms;
    let (mean, p95) = (delay.mean.expect("packets"), delay.p95.expect("packets"));
    assert!((4.0..6.5).contains(&mean), "{mean}");
    assert!(p95 < 8.0, "{p95}");
}

#[test]
fn members_with_packets_share_the_cable_and_fill_it() {
    // 8 requests of 16 bytes take 51.2 us of the 2 ms.
    let left_mbps = 20.0 * (1.0 - 8.0 * 16.0 * 8.0 / 40_000.0);
    for count in [1, 3, 10] {
        let sent = sent_mbps(&play(&modems(count, 500, &json!({})), 1));
        let sum: f64 = sent.iter().sum();
        assert!(
            (sum / left_mbps - 1.0).abs() < 0.01,
            "{count}: {sum} of {left_mbps}"
        );
        for mbps in &sent {
            assert!(
                (mbps * count as f64 / sum - 1.0).abs() < 0.02,
                "{count}: {sent:?}"
            );
        }
    }
}

#[test]
fn what_one_does_not_need_the_others_have() {
    let mut scenario = modems(3, 500, &json!({}));
    scenario["flows"][0]["app"]["rate"] = json!(2 * MBPS);
    let sent = sent_mbps(&play(&scenario, 1));
    assert!((sent[0] - 2.0 * 1_514.0 / 1_472.0).abs() < 0.05, "{sent:?}");
    assert!((sent[1] - sent[2]).abs() < 0.2 && sent[1] > 8.0, "{sent:?}");
}

#[test]
fn many_that_ask_in_one_slot_defer_and_all_are_heard() {
    let report = play(
        &modems(30, 400_000, &json!({"slots": 1, "backoff": [0, 5]})),
        1,
    );
    let delays = report
        .queues
        .iter()
        .map(|queue| &queue.windows[0].system_delay_ms);
    let means: Vec<_> = delays.map(|delay| delay.mean.expect("packets")).collect();
    // 30 packets in a tenth of a second and 50 slots: many collide, and nobody starves.
    assert!(
        means.iter().all(|mean| (4.0..200.0).contains(mean)),
        "{means:?}"
    );
    let wide = play(
        &modems(30, 400_000, &json!({"slots": 64, "backoff": [6, 8]})),
        1,
    );
    let alone = wide.queues[0].windows[0]
        .system_delay_ms
        .mean
        .expect("packets");
    assert!(
        means.iter().sum::<f64>() > 60.0 * alone,
        "{means:?} beside {alone}"
    );
}

#[test]
fn packets_leave_in_bursts_of_a_grant() {
    let mut scenario = modems(3, 500, &json!({"cycle": 10 * MS, "grant": 12_000}));
    scenario["links"][0]["end"][0]["queue"]["limit"] = json!(1_000);
    let report = play(&scenario, 1);
    let events = report.queues[0].events.as_ref().expect("they are kept");
    let gaps_us = events
        .windows(2)
        .map(|pair| (pair[1].at_ns - pair[0].at_ns) / 1_000);
    let (long, short): (Vec<u64>, Vec<u64>) = gaps_us.partition(|&gap| gap > 1_000);
    // A packet takes 605.6 us at the cable's rate; a third of 10 ms is some five packets.
    assert!(
        short.iter().filter(|&&gap| gap == 605).count() > 2 * long.len(),
        "{}",
        long.len()
    );
}

#[test]
fn media_that_cannot_be_are_refused_with_their_key() {
    let fault = |pointer: &str, value: Value| {
        let mut scenario = modems(1, 1_000, &json!({}));
        *scenario.pointer_mut(pointer).expect("a key") = value;
        let fault = Scenario::from_json(&scenario.to_string()).expect_err("a fault");
        format!("{fault}")
    };
    for (pointer, value, sentence) in [
        (
            "/media/0/cycle",
            json!(1_000),
            "media[0].cycle: 1000 ns is outside",
        ),
        (
            "/media/0/grant",
            json!(0),
            "media[0].grant: grants of nothing",
        ),
        ("/media/0/slots", json!(0), "media[0].slots: 0 is outside 1"),
        (
            "/media/0/slots",
            json!(400),
            "media[0].slots: 400 requests of 16 bytes fill the cycle",
        ),
        (
            "/media/0/backoff",
            json!([3, 2]),
            "media[0].backoff: 3 to 2",
        ),
        (
            "/media/0/name",
            json!("x"),
            "links[0].end[0].medium: there is no medium 'cable'",
        ),
    ] {
        let of = fault(pointer, value);
        assert!(of.starts_with(sentence), "{of}");
    }
    let schedule = json!([{"at": MS, "rate": 0}]);
    for (key, value) in [("rate", json!(MBPS)), ("schedule", schedule)] {
        let mut both = modems(1, 1_000, &json!({}));
        both["links"][0]["end"][0][key] = value;
        let fault = Scenario::from_json(&both.to_string()).expect_err("a fault");
        assert_eq!(fault.key, format!("links[0].end[0].{key}"));
    }
}
