// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! What is counted in a window [from, to), and for a flow of datagrams.

use crate::common::{MS, S, datagrams, dumbbell, merge, play};
use serde_json::{Value, json};

const LINKS: [fn() -> Value; 5] = [
    || json!({}),
    || json!({"sim": {"ring": 2}}),
    || json!({"shaper": "tbf", "burst": 4_000}),
    || json!({"shaper": "htb", "burst": 4_000}),
    || json!({"delay": MS}),
];

/// A packet comes every 10 ms from time 0, so 40 come in [200, 600) ms: the first exactly
/// when the window begins, none when it ends.
#[test]
fn a_window_begins_with_what_happens_at_its_first_moment() {
    for link in LINKS {
        let mut scenario = datagrams(10, S, &link());
        let windows = json!([
            {"name": "before", "from": 0, "to": 200 * MS},
            {"name": "in", "from": 200 * MS, "to": 600 * MS},
            {"name": "behind", "from": 600 * MS, "to": S},
        ]);
        merge(&mut scenario["record"], &json!({"windows": windows}));
        let report = play(&scenario, 1);
        let came: Vec<_> = report.queues[0]
            .windows
            .iter()
            .map(|w| w.arrived_pkts)
            .collect();
        assert_eq!(came, [20, 40, 40], "{}", link());
        let sent: Vec<_> = report
            .traffic
            .transport
            .iter()
            .map(|w| w.all.data_pkts_sent)
            .collect();
        assert_eq!(sent, [20, 40, 40], "{}", link());
    }
}

#[test]
fn datagrams_sent_are_counted_for_their_flow() {
    let report = play(&datagrams(10, S, &json!({})), 1);
    assert_eq!(report.traffic.flows[0].data_pkts_sent, 101);
    assert_eq!(report.traffic.flows[0].delivered_bytes, 100_000);
}

/// 1,000 bytes at 11 Gbit/s are due every 727.27 ns.
#[test]
fn a_constant_rate_does_not_drift() {
    let mut scenario = datagrams(10, 10 * MS, &json!({"rate": 100_000_000_000_u64}));
    scenario["flows"][0]["app"]["rate"] = json!(11_000_000_000_u64);
    let report = play(&scenario, 1);
    assert_eq!(report.traffic.flows[0].data_pkts_sent, 13_750 + 1);
}

/// Two TCP flows and four of datagrams, of which the link takes half: fairness is that of a
/// group, and only datagrams are lost for good.
#[test]
fn groups_of_flows_are_told_apart() {
    let mut scenario = datagrams(10, 4 * S, &json!({"rate": 10_000_000}));
    merge(&mut scenario["links"][0]["queue"], &json!({"limit": 50}));
    let way_back = json!({"name": "back", "from": "d", "to": "s", "delay": MS});
    scenario["links"]
        .as_array_mut()
        .expect("links")
        .push(way_back);
    let mut cbr = scenario["flows"][0].clone();
    merge(
        &mut cbr,
        &json!({"count": 4, "app": {"kind": "cbr", "rate": 5_000_000, "payload": 1_000}}),
    );
    let tcp = json!({
        "name": "bulk", "count": 2, "from": "s", "to": "d",
        "transport": {"kind": "tcp", "cc": "cubic"}, "app": {"kind": "bulk"}
    });
    scenario["flows"] = json!([tcp, cbr]);
    let report = play(&scenario, 1);
    let all = &report.traffic.transport[0].all;
    let [bulk, cbr] = &report.traffic.transport[0].groups[..] else {
        panic!("two groups");
    };
    assert_eq!(
        (&bulk.name[..], bulk.flows, &cbr.name[..], cbr.flows),
        ("bulk", 2, "cbr", 4)
    );
    assert_eq!((bulk.lost_pkts, bulk.delay_ms), (None, None));
    assert_eq!(cbr.all.data_pkts_sent, 4 * 2_500);
    let arrived = (cbr.all.delivered_bytes / 1_000).cast_signed();
    // The others wait in the queue or are under way.
    let (lost, missing) = (cbr.lost_pkts.expect("datagrams"), 10_000 - arrived);
    assert!(
        missing - 400 <= lost && lost <= missing,
        "{lost} of {missing}"
    );
    assert!(arrived > 3_000 && arrived < 5_500, "{arrived}");
    let of_cbr: Vec<_> = report.traffic.flows[2..]
        .iter()
        .map(|flow| flow.goodput_mbps)
        .collect();
    let least = of_cbr.iter().copied().fold(f64::MAX, f64::min);
    assert_eq!(
        cbr.least_share,
        Some(least / (of_cbr.iter().sum::<f64>() / 4.0))
    );
    let both = bulk.all.delivered_bytes + cbr.all.delivered_bytes;
    assert_eq!(all.delivered_bytes, both);
    assert!(all.jain < bulk.all.jain);
}

/// With a round trip of 1.5 s the SYN is repeated after one, and the SYN-ACK too.
#[test]
fn timeouts_are_those_of_the_sender() {
    let fifo = json!({"algorithm": "fifo", "limit": 100});
    let scenario = dumbbell(1, &fifo, &json!({"delay": 1_485 * MS}));
    let report = play(&scenario, 1);
    assert_eq!(report.traffic.flows[0].timeouts, 1);
    assert_eq!(report.traffic.flows[0].retransmitted_pkts, 1);
}

/// Half a second of datagrams is under way at each edge.
#[test]
fn datagrams_under_way_are_not_lost_and_windows_add_up() {
    for loss in [0.0, 0.1] {
        let far = json!({"delay": 500 * MS, "rate": 10_000_000, "loss": loss});
        let mut scenario = datagrams(1, 4 * S, &far);
        scenario["record"]["windows"] = json!([
            {"name": "first", "from": 0, "to": S},
            {"name": "second", "from": S, "to": 4 * S},
            {"name": "both", "from": 0, "to": 4 * S}
        ]);
        let report = play(&scenario, 1);
        let [first, second, both] = [0, 1, 2].map(|w: usize| {
            report.traffic.transport[w].groups[0]
                .lost_pkts
                .expect("datagrams")
        });
        assert_eq!(first + second, both);
        // The wire loses what it is given.
        let near = |lost: i64, of: f64| (lost as f64 - loss * of).abs() <= 60.0 * loss * 10.0;
        assert!(
            near(first, 1_000.0) && near(second, 3_000.0),
            "{first}, {second}"
        );
    }
}

/// Datagrams of 1,042 bytes take 8.336 ms and find nobody before them, until a link that is
/// slower by half from 2 s on makes each wait 6.672 ms longer than the one before.
#[test]
fn delay_and_jitter_of_datagrams_are_those_of_the_link() {
    let slower = json!({"schedule": [{"at": 2 * S, "rate": 500_000}]});
    let mut scenario = datagrams(10, 4 * S, &slower);
    scenario["record"]["windows"] = json!([
        {"name": "fast", "from": 0, "to": 2 * S},
        {"name": "slow", "from": 2 * S + 500 * MS, "to": 4 * S}
    ]);
    let report = play(&scenario, 1);
    let [fast, slow] = [0, 1].map(|window: usize| &report.traffic.transport[window].groups[0]);
    let near = |value: Option<f64>, wanted: f64| {
        let ms = value.expect("datagrams arrived");
        assert!((ms - wanted).abs() < 1e-3, "{ms} ms, not {wanted}");
    };
    near(fast.delay_ms, 8.336);
    near(fast.jitter_ms, 0.0);
    near(slow.jitter_ms, 6.672);
    assert!(slow.delay_ms > Some(100.0));
}

/// 50 packets are on the wire, and nothing but the window of the first second is read: the link
/// lags behind by up to half a second until it is asked.
#[test]
fn what_left_a_queue_after_the_last_window_is_recorded_to_the_end() {
    let mut scenario = datagrams(10, 1_805 * MS, &json!({"delay": 500 * MS}));
    scenario["flows"][0]["sim"]["send_jitter"] = json!(1);
    scenario["record"]["windows"] = json!([{"name": "first", "from": 0, "to": S}]);
    let report = play(&scenario, 1);
    let events = report.queues[0].events.as_ref().expect("events");
    assert_eq!(events.last().map(|event| event.at_ns / MS), Some(1_790));
}
