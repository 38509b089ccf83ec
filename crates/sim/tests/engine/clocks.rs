// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Hosts count their jiffies each for itself, unless they are one machine.

use serde_json::{Value, json};

use crate::common::{MS, S, play};

/// 40 senders with two flows each, and a queue so short that most losses end in a
/// timeout, which Linux's timer wheel rounds up to 8 ms or more.
fn many_hosts(one_host: bool) -> Value {
    let senders: Vec<_> = (0..40).map(|i| format!("s{i}")).collect();
    let access = |name: &String| json!({"name": format!("{name}-up"), "from": name, "to": "r"});
    let mut links: Vec<_> = senders.iter().map(access).collect();
    links.push(json!({
        "name": "bottleneck", "from": "r", "to": "d", "rate_bps": 5_000_000,
        "queue": {"algorithm": "fifo", "rows": {"limit": 8}}
    }));
    for name in &senders {
        links.push(json!({
            "name": format!("{name}-down"), "from": "d", "to": name, "delay_ns": 20 * MS
        }));
    }
    let flow = |name: &String| {
        json!({
            "name": name, "count": 2, "from": name, "to": "d",
            "transport": {"kind": "tcp"}, "app": {"kind": "bulk"}, "send_jitter_ns": 0
        })
    };
    let flows: Vec<_> = senders.iter().map(flow).collect();
    let nodes: Vec<_> = senders
        .iter()
        .cloned()
        .chain(["r".into(), "d".into()])
        .collect();
    json!({
        "format": 1, "duration_ns": 20 * S, "nodes": nodes, "one_host": one_host,
        "links": links, "flows": flows,
        "record": {"queues": ["bottleneck"], "events": true}
    })
}

/// Share of the arrivals that come in the first millisecond of each eight.
fn in_step(one_host: bool) -> f64 {
    let report = play(&many_hosts(one_host), 1);
    let events = report.queues[0].events.as_ref().expect("events");
    let arrivals: Vec<_> = events.iter().map(|e| e.enq_ns).collect();
    let early = arrivals.iter().filter(|&ns| ns % (8 * MS) < MS).count();
    early as f64 / arrivals.len() as f64
}

#[test]
fn timeouts_of_many_hosts_do_not_fall_on_one_grid() {
    let (apart, together) = (in_step(false), in_step(true));
    assert!(
        (apart - 0.125).abs() < 0.02,
        "{apart} of the arrivals, not an eighth"
    );
    assert!(together > 0.2, "{together} of the arrivals");
}
