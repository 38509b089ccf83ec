// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Small scenarios for the engine's tests.

use serde_json::{Value, json};
use sojourn_sim::{Report, Scenario, Unwatched, run};

pub const MS: u64 = 1_000_000;
pub const S: u64 = 1_000_000_000;

/// Runs a scenario that must be sound.
pub fn play(scenario: &Value, seed: u64) -> Report {
    let scenario = Scenario::from_json(&scenario.to_string()).expect("a sound scenario");
    run(&scenario, seed, &mut Unwatched).expect("a run that ends")
}

/// One flow of datagrams over one link from "s" to "d", each packet recorded.
/// 1,000 bytes of payload are 1,042 on the wire: 8.336 ms at 1 Mbit/s.
pub fn datagrams(gap_ms: u64, duration_ns: u64, link: &Value) -> Value {
    let mut bottleneck = json!({
        "name": "bottleneck", "from": "s", "to": "d", "rate": 1_000_000,
        "queue": {"algorithm": "fifo", "limit": 100_000}
    });
    merge(&mut bottleneck, link);
    json!({
        "format": 2, "duration": duration_ns, "nodes": ["s", "d"], "links": [bottleneck],
        "flows": [{
            "name": "cbr", "from": "s", "to": "d", "transport": {"kind": "udp"},
            "app": {"kind": "cbr", "rate": 8_000_000 / gap_ms, "payload": 1_000},
            "sim": {"send_jitter": 0}
        }],
        "record": {"queues": ["bottleneck"], "events": true}
    })
}

/// A queue with these rows, and the rate below it where the algorithm must know it.
pub fn queue_of(algorithm: sojourn_core::Algorithm, mut rows: Value) -> Value {
    if algorithm.needs_rate() {
        rows["bandwidth"] = json!(1_250_000);
    }
    rows["algorithm"] = json!(algorithm.name());
    rows
}

/// `count` TCP flows over a bottleneck of 10 Mbit/s and a round trip of 20 ms.
pub fn dumbbell(count: u32, queue: &Value, link: &Value) -> Value {
    let mut bottleneck = json!({
        "name": "bottleneck", "from": "r", "to": "d", "rate": 10_000_000,
        "delay": 5 * MS, "queue": queue
    });
    merge(&mut bottleneck, link);
    json!({
        "format": 2, "duration": 10 * S, "nodes": ["s", "r", "d"],
        "links": [
            {"name": "up", "from": "s", "to": "r", "delay": 5 * MS},
            bottleneck,
            {"name": "back", "from": "d", "to": "s", "delay": 10 * MS}
        ],
        "flows": [{
            "name": "bulk", "count": count, "from": "s", "to": "d",
            "transport": {"kind": "tcp", "cc": "cubic"}, "app": {"kind": "bulk"},
            "start_spread": S
        }],
        "record": {
            "queues": ["bottleneck"], "series": 500 * MS,
            "windows": [
                {"name": "all", "from": 0, "to": 10 * S},
                {"name": "late", "from": 5 * S, "to": 10 * S}
            ]
        }
    })
}

/// One TCP flow from each of `count` users, which have links of their own to a bottleneck of
/// 1 Gbit/s and back; `each` lies over every flow.
pub fn star(count: u32, link: &Value, each: &Value) -> Value {
    let mut bottleneck = json!({
        "name": "bottleneck", "from": "r", "to": "d", "rate": 1_000_000_000,
        "queue": {"algorithm": "fifo", "limit": 1_000}
    });
    merge(&mut bottleneck, link);
    let mut nodes = vec!["r".to_string(), "d".to_string()];
    let mut links = vec![bottleneck];
    let mut flows = Vec::new();
    for user in (0..count).map(|i| format!("u{i}")) {
        links.push(json!({"name": format!("{user}-up"), "from": user, "to": "r"}));
        links.push(json!({
            "name": format!("{user}-down"), "from": "d", "to": user, "delay": 20 * MS
        }));
        let mut flow = json!({
            "name": user, "from": user, "to": "d",
            "transport": {"kind": "tcp"}, "app": {"kind": "bulk"}
        });
        merge(&mut flow, each);
        flows.push(flow);
        nodes.push(user);
    }
    json!({
        "format": 2, "duration": 1_000, "nodes": nodes, "links": links, "flows": flows,
        "record": {"queues": ["bottleneck"]}
    })
}

/// Puts the keys of `more` over those of `base`.
pub fn merge(base: &mut Value, more: &Value) {
    let (Value::Object(base), Value::Object(more)) = (base, more) else {
        return;
    };
    for (key, value) in more {
        base.insert(key.clone(), value.clone());
    }
}
