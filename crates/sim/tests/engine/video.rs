// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Applications that decide as they go: streams of segments, and NADA on test cases of RFC 8867.

use crate::common::{MS, S, play};
use serde_json::{Value, json};

/// From "s" to "d" and back, 50 ms each way; rates as pairs of second and bit/s. Where the rate is
/// given, the queue is the 300 ms of RFC 8867 at that rate.
fn link(name: &str, from: &str, to: &str, rates: &[(u64, u64)]) -> Value {
    let schedule: Vec<_> = rates[1..]
        .iter()
        .map(|(at_s, bps)| json!({"at": at_s * S, "rate": bps}))
        .collect();
    let limit = rates[0].1 * 3 / 10 / 8 / 1_242;
    json!({
        "name": name, "from": from, "to": to, "rate": rates[0].1, "delay": 50 * MS,
        "schedule": schedule, "queue": {"algorithm": "fifo", "limit": limit.max(20)}
    })
}

fn flow(name: &str, [from, to]: [&str; 2], transport: &str, app: &Value) -> Value {
    json!({
        "name": name, "from": from, "to": to, "transport": {"kind": transport}, "app": app,
        "start_spread": 0
    })
}

fn call(name: &str, ends: [&str; 2]) -> Value {
    flow(name, ends, "udp", &json!({"kind": "nada"}))
}

/// Groups by window and name.
fn groups(links: &[Value], flows: &[Value], duration_s: u64, windows: &[[u64; 2]]) -> Vec<Value> {
    let windows: Vec<_> = windows
        .iter()
        .map(|[from, to]| json!({"name": format!("{from}"), "from": from * S, "to": to * S}))
        .collect();
    let scenario = json!({
        "format": 2, "duration": duration_s * S, "nodes": ["s", "d"], "links": links,
        "flows": flows, "record": {"queues": ["there"], "windows": windows}
    });
    let report = play(&scenario, 1);
    let windows = report.traffic.transport.iter();
    windows
        .map(|window| {
            let groups = window.groups.iter();
            let named = groups.map(|group| {
                let value = serde_json::to_value(group).expect("a group");
                (group.name.clone(), value)
            });
            Value::Object(named.collect())
        })
        .collect()
}

#[track_caller]
fn between(value: &Value, least: f64, most: f64) {
    let number = value.as_f64().expect("a number");
    assert!(
        (least..=most).contains(&number),
        "{number} is not in {least} to {most}"
    );
}

/// Section 5.1. In balance the queue takes XREF * RMAX / rate (RFC 8698, equation 5), beside 50 ms of
/// the link and the time of a packet.
#[test]
fn a_call_follows_the_capacity_and_its_queue_is_that_of_the_balance() {
    let there = [
        (0, 1_000_000),
        (40, 2_500_000),
        (60, 600_000),
        (80, 1_000_000),
    ];
    let links = [
        link("there", "s", "d", &there),
        link("back", "d", "s", &[(0, 10_000_000)]),
    ];
    let windows = [[20, 40], [50, 60], [72, 80], [90, 100]];
    let seen = groups(&links, &[call("call", ["s", "d"])], 100, &windows);
    for (group, capacity_mbps) in seen.iter().zip([1.0, 1.5, 0.6, 1.0]) {
        let call = &group["call"];
        // Of the rate 42 of each 1,242 bytes are headers; above 1.5 Mbit/s the call does not go.
        between(
            &call["goodput_mbps"],
            0.8 * capacity_mbps,
            1.001 * capacity_mbps,
        );
        assert_eq!(call["lost_pkts"], 0);
        let alone_ms = 50.0 + 1.242 * 8.0 / capacity_mbps;
        let balance_ms = 10.0 * 1.5 / capacity_mbps;
        between(&call["delay_p50_ms"], 50.0, alone_ms + 1.5 * balance_ms);
    }
    // Twenty seconds after the begin it is in balance.
    let alone_ms = 50.0 + 1.242 * 8.0;
    between(
        &seen[0]["call"]["delay_p50_ms"],
        alone_ms + 10.0,
        alone_ms + 22.0,
    );
    // With room above its largest rate nothing waits.
    between(&seen[1]["call"]["delay_p95_ms"], 50.0, 60.0);
}

/// Section 5.3.
#[test]
fn calls_both_ways_follow_each_way_though_reports_wait_too() {
    let there = [
        (0, 2_000_000),
        (20, 1_000_000),
        (40, 500_000),
        (60, 2_000_000),
    ];
    let back = [(0, 2_000_000), (35, 800_000), (70, 2_000_000)];
    let links = [
        link("there", "s", "d", &there),
        link("back", "d", "s", &back),
    ];
    let flows = [call("there", ["s", "d"]), call("back", ["d", "s"])];
    let seen = groups(&links, &flows, 100, &[[25, 35], [50, 60], [90, 100]]);
    for (group, [there_mbps, back_mbps]) in seen.iter().zip([[1.0, 1.5], [0.5, 0.8], [1.5, 1.5]]) {
        between(
            &group["there"]["goodput_mbps"],
            0.8 * there_mbps,
            1.001 * there_mbps,
        );
        between(
            &group["back"]["goodput_mbps"],
            0.8 * back_mbps,
            1.001 * back_mbps,
        );
    }
}

/// Section 5.4.
#[test]
fn calls_that_came_later_get_their_share() {
    let links = [
        link("there", "s", "d", &[(0, 3_500_000)]),
        link("back", "d", "s", &[(0, 10_000_000)]),
    ];
    let flows: Vec<_> = [0, 20, 40]
        .iter()
        .map(|start_s| {
            let mut flow = call(&format!("call {start_s}"), ["s", "d"]);
            flow["start"] = json!(start_s * S);
            flow
        })
        .collect();
    let seen = groups(&links, &flows, 120, &[[80, 120]]);
    for start_s in [0, 20, 40] {
        let call = &seen[0][format!("call {start_s}")];
        between(&call["goodput_mbps"], 0.7 * 3.5 / 3.0, 1.3 * 3.5 / 3.0);
    }
}

/// Section 5.6: a queue that TCP keeps full must not silence the call. Here the call begins at 0 s
/// and the transfer at 5 s; in the RFC it is the other way round.
#[test]
fn a_call_beside_a_long_transfer_keeps_a_rate() {
    let links = [
        link("there", "s", "d", &[(0, 2_000_000)]),
        link("back", "d", "s", &[(0, 10_000_000)]),
    ];
    let mut transfer = flow("transfer", ["s", "d"], "tcp", &json!({"kind": "bulk"}));
    transfer["start"] = json!(5 * S);
    let flows = [call("call", ["s", "d"]), transfer];
    let seen = groups(&links, &flows, 120, &[[60, 120]]);
    between(&seen[0]["call"]["goodput_mbps"], 0.25, 1.5);
    between(&seen[0]["transfer"]["goodput_mbps"], 0.4, 1.8);
}

#[test]
fn a_call_that_stops_leaves_nothing_behind() {
    let links = [
        link("there", "s", "d", &[(0, 1_000_000)]),
        link("back", "d", "s", &[(0, 1_000_000)]),
    ];
    let mut short = call("call", ["s", "d"]);
    short["stop"] = json!(5 * S);
    let seen = groups(&links, &[short], 20, &[[10, 20]]);
    assert_eq!(seen[0]["call"]["data_pkts_sent"], 0);
    assert_eq!(seen[0]["call"]["answered_bytes"], 0);
}

fn stream() -> Value {
    let app = json!({"kind": "video", "ladder": [500_000, 1_000_000, 2_000_000, 4_000_000]});
    flow("video", ["s", "d"], "tcp", &app)
}

#[test]
fn a_stream_takes_the_rung_that_the_link_carries_and_its_buffer_is_never_empty() {
    let rates = |bps: u64| {
        let links = [
            link("there", "s", "d", &[(0, bps)]),
            link("back", "d", "s", &[(0, bps)]),
        ];
        groups(&links, &[stream()], 120, &[[60, 120]])[0]["video"].clone()
    };
    let fast = rates(20_000_000);
    assert_eq!(
        (&fast["stalls"], &fast["stalled_s"]),
        (&json!(0), &json!(0.0))
    );
    // A full buffer asks for four seconds of video each four seconds, at the top of the ladder.
    between(&fast["segments"], 14.0, 16.0);
    assert_eq!(
        (&fast["bitrate_mbps"], &fast["rung"]),
        (&json!(4.0), &json!(4.0))
    );
    between(&fast["goodput_mbps"], 3.7, 4.3);
    // Between two rungs it goes up and down.
    let slow = rates(1_600_000);
    assert_eq!(slow["stalls"], 0);
    between(&slow["bitrate_mbps"], 1.1, 1.6);
    assert!(slow["switches"].as_u64() > Some(0), "{slow}");
}

#[test]
fn a_link_that_carries_less_than_the_least_rung_stalls_the_picture() {
    let links = [
        link("there", "s", "d", &[(0, 5_000_000), (40, 250_000)]),
        link("back", "d", "s", &[(0, 5_000_000)]),
    ];
    let seen = groups(&links, &[stream()], 120, &[[0, 40], [40, 120], [110, 120]]);
    assert_eq!(seen[0]["video"]["stalls"], 0);
    assert!(seen[1]["video"]["stalls"].as_u64() > Some(0), "{}", seen[1]);
    // Half of the time there is no picture, at twice the link's rate.
    between(&seen[2]["video"]["stalled_s"], 3.0, 7.0);
    assert_eq!(seen[2]["video"]["bitrate_mbps"], 0.5);
}
