// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Hosts count their jiffies each for itself, unless they are one machine.

use serde_json::{Value, json};

use crate::common::{MS, S, merge, play, star};

/// 40 senders with two flows each, and a queue so short that most losses end in a
/// timeout, which Linux's timer wheel rounds up to 8 ms or more.
fn many_hosts(one_host: bool) -> Value {
    let short = json!({
        "rate": 5_000_000, "queue": {"algorithm": "fifo", "limit": 8}
    });
    let mut scenario = star(40, &short, &json!({"count": 2, "sim": {"send_jitter": 0}}));
    let more = json!({
        "duration": 20 * S, "one_host": one_host,
        "record": {"queues": ["bottleneck"], "events": true}
    });
    merge(&mut scenario, &more);
    scenario
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
