// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! A link that follows a trace of opportunities.

use std::collections::BTreeMap;

use serde_json::json;

use crate::common::{MS, dumbbell, merge, play};

#[test]
fn packets_leave_at_the_opportunities_and_nowhere_else() {
    let fifo = json!({"algorithm": "fifo", "rows": {"limit": 50}});
    let trace = json!({"opportunities": {"at_ms": [2, 2, 2, 3, 9], "cycle_ms": 10}});
    let mut scenario = dumbbell(2, &fifo, &trace);
    merge(
        &mut scenario["record"],
        &json!({"events": true, "queues": ["bottleneck"]}),
    );
    let report = play(&scenario, 1);
    let queue = &report.queues[0];
    let events = queue.events.as_ref().expect("events");
    let mut left = BTreeMap::new();
    for event in events.iter().filter(|event| event.why == 0) {
        *left.entry(event.at_ns).or_insert(0) += 1;
    }
    let most = |ns: u64| match ns % (10 * MS) {
        ns if ns == 2 * MS => 3,
        ns if ns == 3 * MS || ns == 9 * MS => 1,
        _ => 0,
    };
    assert!(left.iter().all(|(&ns, &pkts)| pkts <= most(ns)));
    // The flows keep a queue, so that nearly all the 500 opportunities a second are used.
    let used: i32 = left.range(5_000 * MS..).map(|(_, &pkts)| pkts).sum();
    assert!((2_480..=2_500).contains(&used), "{used}");
}
