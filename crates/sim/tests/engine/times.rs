// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Times by flow: each flow's own start and its own round trip.

use crate::common::{MS, S, dumbbell, merge, play};
use serde_json::{Value, json};
use sojourn_sim::Scenario;

/// Flows that send 1,000 bytes once, with these keys.
fn short(count: u32, keys: &Value) -> Value {
    let mut scenario = dumbbell(count, &json!({"algorithm": "fifo"}), &json!({}));
    scenario["format"] = json!(2);
    let flow = &mut scenario["flows"][0];
    flow["app"] = json!({"kind": "bulk", "bytes": 1_000});
    flow["start_spread_ns"] = json!(0);
    merge(flow, keys);
    scenario
}

#[test]
fn each_flow_has_its_own_round_trip_with_jitter_of_the_sender_and_without() {
    let list = json!({"kind": "list", "ns": [20 * MS, 60 * MS, 500 * MS]});
    for jitter_ns in [json!(0), json!(null)] {
        let mut scenario = short(6, &json!({"rtts": list, "send_jitter_ns": jitter_ns}));
        let flow = &mut scenario["flows"][0];
        flow["app"] = json!({"kind": "bulk"});
        flow["transport"]["options"] = json!({"max_window_pkts": 2});
        let report = play(&scenario, 1);
        // Two packets a round trip in ten seconds; up to 8 ms to send and to wait beside it.
        let sent: Vec<_> = report.flows.iter().map(|f| f.data_pkts_sent).collect();
        for (flow, rtt_ms) in sent.iter().zip([20, 60, 500, 20, 60, 500]) {
            // The initial window is ten.
            let (most, least) = (20_000 / rtt_ms + 10, 20_000 / (rtt_ms + 8) - 4);
            assert!((least..=most).contains(flow), "{rtt_ms} ms: {sent:?}");
        }
    }
}

#[test]
fn round_trips_as_long_as_the_links_change_nothing() {
    let mut plain = short(4, &json!({"app": {"kind": "bulk"}, "start_spread_ns": S}));
    let bytes = |scenario: &Value| serde_json::to_string(&play(scenario, 3)).expect("a report");
    let before = bytes(&plain);
    plain["flows"][0]["rtts"] = json!({"kind": "list", "ns": [20 * MS]});
    assert_eq!(bytes(&plain), before);
}

#[test]
fn flows_start_when_the_list_says() {
    let starts = json!({"kind": "list", "ns": [S, 2 * S, 9 * S, 20 * S]});
    let mut scenario = short(4, &json!({"starts": starts, "send_jitter_ns": 0}));
    scenario["record"]["windows"] = json!([
        {"name": "1", "from_ns": 0, "to_ns": S}, {"name": "2", "from_ns": S, "to_ns": 2 * S},
        {"name": "3", "from_ns": 2 * S, "to_ns": 3 * S}, {"name": "4", "from_ns": 9 * S, "to_ns": 10 * S}
    ]);
    let report = play(&scenario, 1);
    let goodputs: Vec<Vec<bool>> = report
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
    let list = |ns: Value| json!({"kind": "list", "ns": ns});
    refused(
        json!({"rtts": list(json!([]))}),
        "flows[0].rtts",
        "no times",
    );
    let short = json!([30 * MS, 19 * MS]);
    refused(
        json!({"rtts": list(short)}),
        "flows[0].rtts.ns[1]",
        "less than the delays",
    );
    let even = json!({"kind": "even", "from_ns": 40 * MS, "to_ns": 30 * MS});
    refused(
        json!({"rtts": even}),
        "flows[0].rtts.to_ns",
        "less than 'from'",
    );
    let poisson = json!({"kind": "poisson", "from_ns": 0, "gap_ns": S});
    refused(json!({"rtts": poisson}), "flows[0].rtts", "no round trips");
    let both = json!({"starts": poisson, "start_ns": 1});
    refused(both, "flows[0].start_spread_ns", "no spread");
    let udp = json!({
        "transport": {"kind": "udp"}, "rtts": list(json!([S])),
        "app": {"kind": "cbr", "rate_bps": 8_000, "payload_bytes": 100}
    });
    refused(udp, "flows[0].rtts", "no round trip");
    let far = json!({"kind": "exponential", "mean_ns": u64::MAX});
    refused(json!({"starts": far}), "flows[0].starts.mean_ns", "a year");
    let old = json!({"starts": list(json!([0]))});
    let mut scenario = self::short(2, &old);
    scenario["format"] = json!(1);
    let fault = Scenario::from_json(&scenario.to_string()).expect_err("format 1");
    assert!(fault.reason.contains("need format = 2"));
}
