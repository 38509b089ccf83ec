// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! What a run holds inside while it goes on.

use serde_json::json;

use super::*;

/// Places that 1,000 browsers have used after so long: conversations, visits, endpoints, packets.
fn places(seconds: u64) -> [usize; 4] {
    let scenario = json!({
        "format": 2, "duration": seconds * 1_000_000_000, "nodes": ["s", "d"],
        "links": [
            {"name": "down", "from": "s", "to": "d", "rate": 100_000_000, "delay": 10_000_000},
            {"name": "up", "from": "d", "to": "s", "delay": 10_000_000}
        ],
        "flows": [{
            "name": "users", "count": 1_000, "from": "s", "to": "d", "start_spread": 10_000_000_000u64,
            "transport": {"kind": "tcp"}, "app": {"kind": "web", "think": 4_000_000_000u64, "tail": 0.0}
        }]
    });
    let scenario = Scenario::from_json(&scenario.to_string()).expect("a sound scenario");
    let mut unwatched = Unwatched;
    let mut patience = Patience::new(&mut unwatched, scenario.duration_ns);
    let mut run = Simulation::new(&scenario, 1, &mut patience).expect("a net");
    run.go(&mut patience).expect("an end");
    let net = &run.net;
    let conversations: usize = net.flows.iter().map(|flow| flow.conversations.len()).sum();
    assert_eq!(
        conversations,
        net.conversations.len() - net.free_conversations.len()
    );
    let kept: usize = net
        .flows
        .iter()
        .map(|flow| flow.completions.capacity())
        .sum();
    assert_eq!(kept, 0);
    let done: u64 = net.flows.iter().map(|flow| flow.transfers).sum();
    assert!(done > 300 * seconds, "{done} transfers");
    [
        net.conversations.len(),
        net.visits.len(),
        net.endpoints.len(),
        net.shared.packets.all.len(),
    ]
}

#[test]
fn a_longer_run_of_browsers_holds_no_more() {
    let [short, long] = [places(25), places(100)];
    for (short, long) in short.into_iter().zip(long) {
        assert!(long < 2 * short, "{short} places, then {long}");
    }
}
