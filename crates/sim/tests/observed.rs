// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! What is reckoned from packets seen before and behind a queue is what the engine
//! measures inside: its own packets are shown to it again, as another host's.

use serde_json::{Value, json};
use sojourn_sim::observed::{Observed, Seen, observe};
use sojourn_sim::record::PacketEvent;
use sojourn_sim::{Scenario, Unwatched, run};

const ECT: u8 = 2;

fn scenario(shaper: &str, algorithm: &str) -> Scenario {
    let text = json!({
        "format": 1,
        "duration_ns": 12_000_000_000u64,
        "nodes": ["a", "b"],
        "links": [
            {
                "name": "forth", "from": "a", "to": "b", "rate_bps": 10_000_000,
                "schedule": [{"at_ns": 5_000_000_000u64, "rate_bps": 20_000_000}],
                "shaper": shaper, "delay_ns": 10_000_000,
                "queue": {"algorithm": algorithm, "rows": {"limit": 1000, "ecn": 1}},
            },
            {"name": "back", "from": "b", "to": "a", "delay_ns": 10_000_000},
        ],
        "flows": [
            {"name": "marked", "count": 5, "from": "a", "to": "b", "app": {"kind": "bulk"},
             "transport": {"kind": "tcp", "ecn": true}, "start_spread_ns": 1_000_000_000},
            {"name": "dropped", "count": 5, "from": "a", "to": "b", "app": {"kind": "bulk"},
             "transport": {"kind": "tcp"}, "start_spread_ns": 1_000_000_000},
        ],
        "record": {
            "queues": ["forth"], "events": true, "series_ns": 100_000_000,
            "windows": [
                {"name": "all but the end", "from_ns": 0, "to_ns": 9_000_000_000u64},
                {"name": "slow", "from_ns": 1_000_000_000, "to_ns": 4_000_000_000u64},
            ],
        },
    });
    Scenario::from_json(&text.to_string()).unwrap()
}

fn seen(at_ns: u64, key: usize, event: &PacketEvent, ecn: u8) -> Seen {
    Seen {
        at_ns,
        key: key as u64,
        len_bytes: event.len_bytes,
        flow: event.flow,
        ecn,
    }
}

/// The windows with the engine's own numbers, and with those from outside.
fn both(shaper: &str, algorithm: &str, at_head: bool) -> (Value, Value) {
    let scenario = scenario(shaper, algorithm);
    let report = run(&scenario, 1, &mut Unwatched).unwrap();
    let inside = &report.queues[0];
    let events = inside.events.as_ref().unwrap();
    let numbered = || events.iter().enumerate();
    // A packet that allows marks comes unmarked.
    let came = |ecn: u8| if ecn == 0 { 0 } else { ECT };
    let mut arrivals: Vec<_> = numbered()
        .map(|(key, event)| seen(event.enq_ns, key, event, came(event.ecn)))
        .collect();
    arrivals.sort_by_key(|packet| packet.at_ns);
    let left = numbered().filter(|(_, event)| event.why == 0);
    let departures = left.map(|(key, event)| seen(event.at_ns, key, event, event.ecn));
    let observed = Observed {
        link: "forth".into(),
        arrivals,
        departures: departures.collect(),
        at_head,
    };
    let outside = observe(&scenario, vec![observed]).unwrap();
    let windows = |windows| serde_json::to_value(windows).unwrap();
    (windows(&inside.windows), windows(&outside[0].windows))
}

#[test]
fn a_queue_seen_from_outside_gives_the_same_numbers() {
    for shaper in ["htb", "wire"] {
        for (algorithm, at_head) in [("pie", false), ("codel", true)] {
            let (inside, outside) = both(shaper, algorithm, at_head);
            assert!(inside[0]["dropped_pkts"].as_u64() > Some(10), "{inside}");
            assert!(inside[0]["marked_pkts"].as_u64() > Some(10), "{inside}");
            assert_eq!(inside, outside, "{algorithm} below {shaper}");
        }
    }
}

#[test]
fn a_departure_that_never_came_is_an_error() {
    let observed = Observed {
        link: "forth".into(),
        arrivals: Vec::new(),
        departures: vec![Seen::read(&[7; Seen::BYTES])],
        at_head: false,
    };
    let refusal = observe(&scenario("htb", "pie"), vec![observed]).unwrap_err();
    assert!(refusal.contains("never arrived"), "{refusal}");
}
