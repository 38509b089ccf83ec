// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Lines as the programs write them, and lines that they do not write.

use serde_json::json;

use super::*;
use crate::measure::record::Quantity;

fn scenario() -> Scenario {
    let flow = |name: &str, app: serde_json::Value| {
        json!({
            "name": name, "count": 1, "from": "a", "to": "b", "start": 0,
            "transport": {"kind": "udp"}, "app": app
        })
    };
    let cbr = json!({"kind": "cbr", "rate": 8_000, "payload": 1_000});
    let ping = json!({"kind": "ping", "interval": 1_000_000_000, "payload": 56});
    let text = json!({
        "format": 2, "name": "two", "duration": 4_000_000_000_u64, "nodes": ["a", "b"],
        "links": [
            {"name": "there", "from": "a", "to": "b", "delay": 1_000},
            {"name": "back", "from": "b", "to": "a", "delay": 1_000}
        ],
        "flows": [flow("ping", ping), flow("cbr", cbr)],
        "record": {"queues": [], "windows": [
            {"name": "all", "from": 0, "to": 4_000_000_000_u64}
        ]}
    });
    Scenario::from_json(&text.to_string()).expect("a scenario")
}

const COUNTS: &str = "count 0 1 0 0 1 0 0 0 0 0 0 0 0 0\ncount 1 1 3000 0 1 4 0 0 0 3 90 2 8 5\n";

#[test]
fn counts_are_of_the_flow_that_has_their_number() {
    let played = format!("{COUNTS}echo 0 5 0\n");
    let (report, _) = report(&scenario(), &played).expect("a report");
    assert_eq!(report.flows[0].delivered_bytes, 0);
    assert_eq!(report.flows[1].delivered_bytes, 3_000);
    assert_eq!(report.echoes[0].rtt_ms, [None]);
    assert_eq!(report.transport[0].groups[1].lost_pkts, Some(2));
}

/// One that is late comes after the edge at which it was given up.
#[test]
fn a_datagram_that_was_late_is_no_longer_lost() {
    let before = "0 1 0 0 1 0 0 0 0 0 0 0 0 0\n";
    let counts = COUNTS.replace(before, "0 1 0 0 1 1 0 0 0 0 0 0 0 3\n");
    assert_ne!(counts, COUNTS);
    let (report, _) = report(&scenario(), &counts).expect("a report");
    assert_eq!(report.transport[0].groups[1].lost_pkts, Some(-1));
}

#[test]
fn a_viewer_has_seen_what_came_between_two_edges() {
    let mut scenario = scenario();
    let video = json!({"kind": "video"});
    scenario.flows[1].app = serde_json::from_value(video).expect("a kind");
    let views = "view 0 1 2 470000 2 0 0 0\nview 1 1 5 1300000 9 1 2 1500000000\n";
    let (report, _) = report(&scenario, &format!("{COUNTS}{views}")).expect("a report");
    let groups = &report.transport[0].groups;
    assert!(groups[0].view.is_none());
    let view = groups[1].view.as_ref().expect("a viewer");
    assert_eq!((view.segments, view.switches, view.stalls), (3, 1, 2));
    assert_eq!(
        (view.bitrate_mbps, view.rung, view.stalled_s),
        (Some(0.83 / 3.0), Some(7.0 / 3.0), 1.5)
    );
}

#[test]
fn transfers_stand_in_the_order_in_which_they_ended() {
    let played = "transfer 1 1 1 1 10 20 30 50 700\ntransfer 0 2 1 3 5 6 -1 -1 80\n\
                  transfer 0 1 4 2 5 6 7 40 80\n";
    let (_, transfers) = report(&scenario(), played).expect("a report");
    let read = transfers
        .iter()
        .map(|t| (t.group, t.visit, t.connection, t.transfer));
    let read: Vec<_> = read.collect();
    assert_eq!(read, [(0, 1, 4, 2), (1, 1, 1, 1), (0, 2, 1, 3)]);
    let last = transfers.iter().map(|t| (t.first_byte, t.last_byte));
    let last: Vec<_> = last.collect();
    let both = |first, last| (Some(Time(first)), Some(Time(last)));
    assert_eq!(last, [both(7, 40), both(30, 50), (None, None)]);
}

#[test]
fn times_are_those_of_transfers_and_pages() {
    let played = format!("{COUNTS}done 0 5 700\npage 0 6 900\ndone 0 7 800\n");
    let (report, _) = report(&scenario(), &played).expect("a report");
    let times = report.times.iter();
    let times = times.map(|d| (d.quantity, d.of.as_str(), d.seen.count()));
    let times: Vec<_> = times.collect();
    assert_eq!(
        times,
        [
            (Quantity::CompletionTime, "ping", 2),
            (Quantity::PageTime, "ping", 1)
        ]
    );
    // These are exact.
    assert_eq!(report.fct_s.mean, Some(7.5e-7));
    assert_eq!(report.fct_s.p95, Some(8e-7));
}

#[test]
fn lines_of_another_run_are_named() {
    for played in [
        "count 9 0 0 0 0 0 0 0 0 0 0 0 0 0",
        "count 0 2 0 0 0 0 0 0 0 0 0 0 0 0",
        "count 0 0 0 0 0 0",
        "done 2 5 5",
        "transfer 0 1 1 1 -1 5 6 7 9",
        "transfer 2 1 1 1 5 5 6 7 9",
        "transfer 0 1 1 1 5 5 6 7",
        "echo 2 5 5",
        "page 7 5 5",
        "view 0 0 1 1 1 0 0",
        "view 9 0 1 1 1 0 0 0",
        "rest 0",
    ] {
        let error = report(&scenario(), played).expect_err("of another run");
        assert!(error.contains("is of another run"), "{error}");
    }
    let error = report(&scenario(), "count 0 -1").expect_err("no number");
    assert!(error.contains("'count 0 -1'"), "{error}");
}
