// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Times by flow: each flow's own start and its own round trip.

use crate::common::{MS, S, dumbbell, merge, play};
use serde_json::{Value, json};
use sojourn_sim::Scenario;

/// Flows that send 1,000 bytes once, with these keys.
fn short(count: u32, keys: &Value) -> Value {
    let mut scenario = dumbbell(count, &json!({"algorithm": "fifo"}), &json!({}));
    let flow = &mut scenario["flows"][0];
    flow["app"] = json!({"kind": "bulk", "size": 1_000});
    flow["start_spread"] = json!(0);
    merge(flow, keys);
    scenario
}

#[test]
fn each_flow_has_its_own_round_trip_with_jitter_of_the_sender_and_without() {
    let list = json!([20 * MS, 60 * MS, 500 * MS]);
    for jitter_ns in [json!(0), json!(null)] {
        let mut scenario = short(6, &json!({"rtt": list, "sim": {"send_jitter": jitter_ns}}));
        let flow = &mut scenario["flows"][0];
        flow["app"] = json!({"kind": "bulk"});
        flow["transport"]["options"] = json!({"max_window_pkts": 2});
        let report = play(&scenario, 1);
        // Two packets a round trip in ten seconds; up to 8 ms to send and to wait beside it.
        let sent: Vec<_> = report
            .traffic
            .flows
            .iter()
            .map(|f| f.data_pkts_sent)
            .collect();
        for (flow, rtt_ms) in sent.iter().zip([20, 60, 500, 20, 60, 500]) {
            // The initial window is ten.
            let (most, least) = (20_000 / rtt_ms + 10, 20_000 / (rtt_ms + 8) - 4);
            assert!((least..=most).contains(flow), "{rtt_ms} ms: {sent:?}");
        }
    }
}

#[test]
fn round_trips_as_long_as_the_links_change_nothing() {
    let mut plain = short(4, &json!({"app": {"kind": "bulk"}, "start_spread": S}));
    let bytes = |scenario: &Value| serde_json::to_string(&play(scenario, 3)).expect("a report");
    let before = bytes(&plain);
    for rtt in [json!(20 * MS), json!([20 * MS])] {
        plain["flows"][0]["rtt"] = rtt;
        assert_eq!(bytes(&plain), before);
    }
}

#[test]
fn flows_start_when_the_list_says() {
    let starts = json!([S, 2 * S, 9 * S, 20 * S]);
    let mut scenario = short(4, &json!({"start": starts, "sim": {"send_jitter": 0}}));
    scenario["record"]["windows"] = json!([
        {"name": "1", "from": 0, "to": S}, {"name": "2", "from": S, "to": 2 * S},
        {"name": "3", "from": 2 * S, "to": 3 * S}, {"name": "4", "from": 9 * S, "to": 10 * S}
    ]);
    let report = play(&scenario, 1);
    let goodputs: Vec<Vec<bool>> = report
        .traffic
        .flows
        .iter()
        .map(|flow| {
            flow.goodput_mbps_of_windows
                .iter()
                .map(|&mbps| mbps > 0.0)
                .collect()
        })
        .collect();
    let only = |window: usize| (0..4).map(|w| w == window).collect::<Vec<_>>();
    assert_eq!(goodputs[..3], [only(1), only(2), only(3)]);
    // Behind the end of the run.
    assert_eq!(goodputs[3], [false; 4]);
}

#[test]
fn a_refusal_names_the_time_at_fault() {
    let refused = |keys: Value, key: &str, words: &str| {
        let fault = Scenario::from_json(&short(2, &keys).to_string()).expect_err(key);
        assert_eq!(fault.key, key);
        assert!(fault.reason.contains(words), "{}", fault.reason);
    };
    refused(json!({"rtt": []}), "flows[0].rtt", "no times");
    let (few, least) = (json!([30 * MS, 19 * MS]), "less than the delays");
    refused(json!({"rtt": few}), "flows[0].rtt[1]", least);
    refused(json!({"rtt": 19 * MS}), "flows[0].rtt", least);
    let even = json!({"distribution": "even", "from": 40 * MS, "to": 30 * MS});
    refused(json!({"rtt": even}), "flows[0].rtt.to", "less than 'from'");
    let poisson = json!({"distribution": "poisson", "from": 0, "gap": S});
    refused(json!({"rtt": poisson}), "flows[0].rtt", "no round trips");
    let both = json!({"start": poisson, "start_spread": 1});
    refused(both, "flows[0].start_spread", "no spread");
    let udp = json!({
        "transport": {"kind": "udp"}, "rtt": S,
        "app": {"kind": "cbr", "rate": 8_000, "payload": 100}
    });
    refused(udp, "flows[0].rtt", "no round trip");
    let far = json!({"distribution": "exponential", "mean": u64::MAX});
    refused(json!({"start": far}), "flows[0].start.mean", "a year");
    refused(
        json!({"start": [0, -1]}),
        "flows[0].start[1]",
        "expected u64",
    );
    let forms = "expected a time, a list of times, or a distribution";
    refused(json!({"start": "soon"}), "flows[0].start", forms);
    refused(
        json!({"start": {"distribution": "zipf"}}),
        "flows[0].start.distribution",
        "`even`",
    );
}
