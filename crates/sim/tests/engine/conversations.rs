// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Scripts that the engine plays. That no packet is lost from the books is part of each run.

use crate::common::{MS, S, dumbbell, merge, play};
use serde_json::{Value, json};
use sojourn_sim::Report;

/// Such traffic in a dumbbell of 10 Mbit/s and 20 ms, without jitter of the sender.
fn of(count: u32, app: &Value, keys: &Value) -> Value {
    let mut scenario = dumbbell(count, &json!({"algorithm": "fifo"}), &json!({}));
    let flow = &mut scenario["flows"][0];
    flow["app"] = app.clone();
    flow["start_spread"] = json!(0);
    flow["sim"] = json!({"send_jitter": 0});
    merge(flow, keys);
    scenario["record"]["windows"] = json!([{"name": "all", "from": 0, "to": 10 * S}]);
    scenario
}

fn udp() -> Value {
    json!({"transport": {"kind": "udp"}})
}

fn group(report: &Report) -> Value {
    serde_json::to_value(&report.traffic.transport[0].groups[0]).expect("a group")
}

#[track_caller]
fn near(value: &Value, expected: f64, tolerance: f64) {
    let number = value.as_f64().expect("a number");
    assert!(
        (number - expected).abs() <= tolerance,
        "{number} for {expected}"
    );
}

/// Link header, IP, TCP with timestamps, and the payload, at 10 Mbit/s: in seconds.
fn sending_s(payload_bytes: u32) -> f64 {
    f64::from(payload_bytes + 66) * 8.0 / 1e7
}

/// Of the first answer: the request is acknowledged at once, before its application has read it.
fn answering_s(payload_bytes: u32) -> f64 {
    sending_s(0) + sending_s(payload_bytes)
}

/// Of a SYN-ACK: eight bytes of options more.
fn syn_ack_s() -> f64 {
    74.0 * 8.0 / 1e7
}

#[test]
fn a_page_on_an_idle_link_takes_what_it_takes_by_hand() {
    let app = json!({
        "kind": "web", "objects": 0.0, "response": 900, "tail": 0.0, "response_sigma": 0.0, "service": 30 * MS,
        "persistent": 0.0, "think": S
    });
    let mut scenario = of(1, &app, &json!({}));
    // A Weibull variate has no fixed value: without service there is nothing random left but the
    // request, whose way back has no rate.
    scenario["flows"][0]["app"]["service"] = json!(0);
    let report = play(&scenario, 1);
    let group = group(&report);
    // SYN, SYN-ACK, request, 900 bytes of response: two round trips.
    let expected = 0.040 + syn_ack_s() + answering_s(900);
    assert!(group["page_s"]["n"].as_u64() > Some(3), "{group}");
    near(&group["page_s"]["p50"], expected, 2e-5);
    near(&group["fct_s"]["p95"], expected, 2e-5);
    assert_eq!(group["page_s"]["n"], group["fct_s"]["n"]);
    assert!(group["opened"].as_u64() >= group["page_s"]["n"].as_u64());
    // What the browser wrote came to the servers, and what these wrote to the browser.
    let pages = group["page_s"]["n"].as_u64().expect("pages");
    assert_eq!(group["delivered_bytes"].as_u64(), Some(900 * pages));
    assert!(group["answered_bytes"].as_u64() > Some(100 * pages));
}

#[test]
fn objects_of_a_page_come_in_parallel_on_connections_of_their_own() {
    let web = |more: Value| {
        let mut app = json!({
            "kind": "web", "objects": 12.0, "tail": 0.0, "response_sigma": 0.0, "service": 0,
            "persistent": 0.0, "think": S / 4
        });
        merge(&mut app, &more);
        group(&play(&of(4, &app, &json!({})), 3))
    };
    let upper = |group: &Value| group["page_s"]["p75"].as_f64().expect("pages");
    let [one, four] = [1, 4].map(|parallel| web(json!({"parallel": parallel})));
    assert!(upper(&one) > 2.0 * upper(&four), "{one} {four}");
    let requests = |group: &Value| group["fct_s"]["n"].as_u64().expect("transfers");
    let opened = |group: &Value| group["opened"].as_u64().expect("connections");
    // At the end of the run as many as a page has at once may be under way.
    assert!(opened(&four) - requests(&four) <= 4 * 4);
    let lasting = web(json!({"persistent": 1.0, "servers": 1.0}));
    assert!(requests(&lasting) > 5 * opened(&lasting), "{lasting}");
    // The connection is opened once and then each object takes one round trip, not two.
    assert!(upper(&lasting) < 0.6 * upper(&one), "{lasting} {one}");
}

#[test]
fn a_sequential_vector_is_played_as_it_is_written() {
    let vectors = "SEQ 500000 2 0 0\nw 1 1\nr 0\nl 0 0\n> 200\nt 30000\n< 1000\nt 200000\n> 300\n\
                   t 10000\n< 2000\nt 100000\n";
    let app = json!({"kind": "tmix", "vectors": vectors});
    let report = play(&of(1, &app, &json!({})), 1);
    let group = group(&report);
    assert_eq!(group["fct_s"]["n"], json!(2));
    assert_eq!(group["opened"], json!(1));
    assert_eq!(group["delivered_bytes"], json!(3_000));
    assert_eq!(group["answered_bytes"], json!(500));
    // The first one with its handshake; the second is two segments.
    near(
        &group["fct_s"]["p25"],
        0.020 + 0.010 + sending_s(1_448) + sending_s(552),
        4e-5,
    );
    near(
        &group["fct_s"]["p95"],
        0.040 + 0.030 + syn_ack_s() + sending_s(1_000),
        4e-5,
    );
    assert_eq!(report.traffic.flows[0].timeouts, 0);
}

#[test]
fn ends_of_a_concurrent_vector_do_not_wait_for_each_other() {
    // Each end writes every 100 ms; a round trip is a second.
    let mut vectors = String::from("CONC 0 5 5 0 0\nw 1 1\nr 1000000\nl 0 0\n");
    for _ in 0..5 {
        vectors += "c> 100\nt> 100000\nc< 700\nt< 100000\n";
    }
    let mut scenario = of(1, &json!({"kind": "tmix", "vectors": vectors}), &json!({}));
    scenario["record"]["windows"] = json!([{"name": "early", "from": 0, "to": 3 * S}]);
    let report = play(&scenario, 1);
    let group = group(&report);
    assert_eq!(group["delivered_bytes"], json!(3_500), "{group}");
    assert_eq!(group["answered_bytes"], json!(500));
    assert_eq!(group["fct_s"]["n"], json!(0));
}

#[test]
fn both_formats_of_vectors_give_the_same_run() {
    let original = "SEQ 1000 1 0 0\nw 1 1\nr 50000\nl 0 0\n> 245\nt 51257\n< 51000\nt 630494\n";
    let alternate =
        "S 1000 1 0 0\nw 1 1\nr 50000\nL 0 0\nI 0 0 245\nA 0 51257 51000\nA 630494 0 0\n";
    let [a, b] = [original, alternate].map(|vectors| {
        let app = json!({"kind": "tmix", "vectors": vectors});
        serde_json::to_string(&play(&of(1, &app, &json!({})), 1)).expect("a report")
    });
    assert_eq!(a, b);
}

#[test]
fn a_vector_has_the_round_trip_that_it_says() {
    let exchange = |rtt_us: u64| {
        let vectors = format!("SEQ 0 1 0 0\nr {rtt_us}\n> 100\n< 100\n");
        let app = json!({"kind": "tmix", "vectors": vectors});
        group(&play(&of(1, &app, &json!({})), 1))["fct_s"]["p50"].clone()
    };
    let two = |rtt_s: f64| 2.0 * rtt_s + syn_ack_s() + answering_s(100);
    // Shorter than the links' delays: theirs.
    near(&exchange(5_000), two(0.020), 2e-5);
    near(&exchange(300_000), two(0.300), 2e-4);
}

#[test]
fn files_have_connections_of_their_own_or_share_one() {
    let files = |connections: &str, bytes: u64| {
        let app = json!({
            "kind": "files", "gap": 500 * MS, "size": bytes, "connections": connections
        });
        group(&play(&of(2, &app, &json!({})), 5))
    };
    let [each, one] = ["each", "one"].map(|connections| files(connections, 1_000));
    let count = |group: &Value, key: &str| group[key].as_u64().expect(key);
    // 10 s of two flows: 40 files in the mean.
    assert!((20..=60).contains(&count(&each, "opened")), "{each}");
    assert_eq!(count(&one, "opened"), 2);
    let done = |group: &Value| group["fct_s"]["n"].as_u64().expect("transfers");
    assert!(done(&each).abs_diff(count(&each, "opened")) <= 2);
    assert_eq!(count(&one, "delivered_bytes") / 1_000, done(&one));
    // A new connection takes a round trip for its handshake first.
    near(&each["fct_s"]["p50"], 0.030 + sending_s(1_000), 5e-4);
    near(&one["fct_s"]["p50"], 0.010 + sending_s(1_000), 5e-4);
    // On one connection a file waits for those before it: 10 Mbit/s for 16.
    let late = files("one", 500_000);
    assert!(late["fct_s"]["p95"].as_f64() > Some(2.0), "{late}");
}

#[test]
fn paced_traffic_has_its_rate_where_the_link_has_it() {
    let paced = |bps: u64| {
        let app = json!({"kind": "paced", "rate": bps, "payload": 1_448});
        let group = group(&play(&of(1, &app, &json!({})), 1));
        group["goodput_mbps"].as_f64().expect("a rate")
    };
    assert!((paced(2_000_000) - 2.0).abs() < 0.02);
    let most = paced(20_000_000);
    assert!((9.0..9.7).contains(&most), "{most}");
}

#[test]
fn an_echo_takes_the_round_trip_and_the_queue_before_it() {
    let app = json!({"kind": "ping", "interval": 100 * MS, "payload": 56});
    let mut scenario = of(1, &app, &udp());
    let report = play(&scenario, 1);
    let echoes = &report.traffic.echoes[0];
    assert_eq!(echoes.sent_s[..3], [0.0, 0.1, 0.2]);
    assert_eq!(echoes.rtt_ms.len(), 101);
    let expected = 20.0 + 98.0 * 8.0 / 1e4;
    for rtt_ms in &echoes.rtt_ms[..99] {
        assert!(
            (rtt_ms.expect("an answer") - expected).abs() < 1e-6,
            "{rtt_ms:?}"
        );
    }
    // The last one was sent at the very end.
    assert_eq!(echoes.rtt_ms[100], None);
    // Beside a transfer it waits in the transfer's queue.
    let mut bulk = dumbbell(1, &json!({"algorithm": "fifo"}), &json!({}))["flows"][0].clone();
    bulk["name"] = json!("load");
    scenario["flows"].as_array_mut().expect("flows").push(bulk);
    let loaded = play(&scenario, 1).traffic.echoes;
    let later = loaded[0].rtt_ms[50..].iter().flatten();
    assert!(later.clone().count() > 40 && later.copied().fold(0.0, f64::max) > 60.0);
}

#[test]
fn time_at_a_sender_is_no_delay_of_datagrams() {
    let gap = 200 * MS;
    let sources = [
        json!({"kind": "ping", "interval": gap, "payload": 160}),
        json!({"kind": "voip"}),
        json!({"kind": "cbr", "rate": 6_400, "payload": 160}),
        json!({"kind": "onoff", "rate": 12_800, "on": S, "off": S, "payload": 160}),
        json!({"kind": "poisson", "rate": 1_000, "payload": 160}),
    ];
    let expected_ms = 10.0 + 202.0 * 8.0 / 1e3;
    for app in sources {
        // A full packet takes 12 ms, so a sender of its own accord holds each for up to that, and
        // up to 18 ms where the scenario says so.
        for jitter_ns in [json!(null), json!(18 * MS)] {
            let mut scenario = of(1, &app, &udp());
            scenario["flows"][0]["sim"]["send_jitter"] = jitter_ns.clone();
            scenario["links"][1]["rate"] = json!(1_000_000);
            let report = play(&scenario, 1);
            let group = group(&report);
            assert!(group["delivered_bytes"].as_u64() > Some(0), "{app}");
            near(&group["delay_ms"], expected_ms, 1e-6);
            near(&group["jitter_ms"], 0.0, 1e-6);
            for rtt_ms in report
                .traffic
                .echoes
                .iter()
                .flat_map(|flow| &flow.rtt_ms)
                .flatten()
            {
                near(&json!(rtt_ms), expected_ms + 10.0, 1e-6);
            }
        }
    }
}

#[test]
fn datagrams_of_each_source_arrive_with_their_bytes() {
    for app in [
        json!({"kind": "voip"}),
        json!({"kind": "poisson", "rate": 1_000_000}),
        json!({"kind": "onoff", "rate": 2_000_000, "on": 100 * MS, "off": 100 * MS}),
    ] {
        let report = play(&of(3, &app, &udp()), 1);
        let sent: u64 = report
            .traffic
            .flows
            .iter()
            .map(|flow| flow.data_pkts_sent)
            .sum();
        let payload = if app["kind"] == "voip" { 160 } else { 1_000 };
        let arrived = group(&report)["delivered_bytes"].as_u64().expect("bytes") / payload;
        assert!(
            arrived > 300 && sent - arrived <= 20,
            "{app}: {arrived} of {sent}"
        );
    }
}

#[test]
fn bursts_over_tcp_are_one_connection() {
    let app = json!({"kind": "onoff", "rate": 2_000_000, "on": 100 * MS, "off": 100 * MS});
    let group = group(&play(&of(1, &app, &json!({})), 1));
    assert_eq!(group["opened"], json!(1));
    near(&group["goodput_mbps"], 1.0, 0.5);
}

#[test]
fn users_that_stop_are_silent_and_leave_nothing_behind() {
    for app in [
        json!({"kind": "web", "think": 100 * MS}),
        json!({"kind": "tmix", "gap": 10 * MS}),
        json!({"kind": "files", "gap": 10 * MS, "size": 20_000}),
        json!({"kind": "files", "gap": 10 * MS, "size": 20_000, "connections": "one"}),
    ] {
        let mut scenario = of(10, &app, &json!({"stop": 4 * S}));
        scenario["record"]["windows"] = json!([
            {"name": "before", "from": 0, "to": 4 * S},
            {"name": "after", "from": 5 * S, "to": 10 * S}
        ]);
        let report = play(&scenario, 1);
        let [before, after] = [0, 1].map(|window| {
            let group = &report.traffic.transport[window].groups[0];
            serde_json::to_value(group).expect("a group")
        });
        assert!(before["opened"].as_u64() > Some(9), "{app}: {before}");
        assert_eq!(after["opened"], json!(0), "{app}");
        assert_eq!(after["delivered_bytes"], json!(0), "{app}");
    }
}

#[test]
fn conversations_live_through_a_link_that_stands_still() {
    let app = json!({"kind": "web", "think": 200 * MS});
    let mut scenario = of(20, &app, &json!({}));
    scenario["duration"] = json!(60 * S);
    // A packet takes 25 minutes at 8 bit/s: nothing moves for ten seconds.
    scenario["links"][1]["schedule"] = json!([
        {"at": 5 * S, "rate": 8}, {"at": 15 * S, "rate": 10_000_000}
    ]);
    scenario["links"][1]["shaper"] = json!("tbf");
    scenario["record"]["windows"] = json!([
        {"name": "still", "from": 6 * S, "to": 15 * S},
        {"name": "later", "from": 30 * S, "to": 60 * S}
    ]);
    let report = play(&scenario, 2);
    let pages = |window: usize| {
        let group = &report.traffic.transport[window].groups[0];
        group
            .script
            .as_ref()
            .and_then(|s| s.page_s.as_ref())
            .map(|p| p.n)
    };
    assert_eq!(pages(0), Some(0));
    assert!(pages(1) > Some(500), "{:?}", pages(1));
}

#[test]
fn losses_delay_conversations_and_end_none() {
    let vectors: String = (0..50)
        .map(|i| {
            format!(
                "SEQ {} 3 0 0\n> 300\n< 9000\n> 300\n< 9000\n> 300\n< 9000\nt 0\n",
                i * 20_000
            )
        })
        .collect();
    let mut scenario = of(1, &json!({"kind": "tmix", "vectors": vectors}), &json!({}));
    scenario["links"][1]["loss"] = json!(0.05);
    scenario["links"][2]["loss"] = json!(0.05);
    scenario["duration"] = json!(100 * S);
    scenario["record"]["windows"] = json!([{"name": "all", "from": 0, "to": 100 * S}]);
    let group = group(&play(&scenario, 1));
    assert_eq!(group["fct_s"]["n"], json!(150));
    assert_eq!(group["delivered_bytes"], json!(50 * 27_000));
    assert!(group["retransmitted_pkts"].as_u64() > Some(20), "{group}");
}

#[test]
fn an_unknown_source_is_refused_with_those_that_there_are() {
    let scenario = of(1, &json!({"kind": "wbe"}), &json!({}));
    let fault = sojourn_sim::Scenario::from_json(&scenario.to_string()).expect_err("no source");
    assert!(
        fault
            .reason
            .contains("no traffic is named 'wbe'; kinds: bulk, drawn, respawn"),
        "{fault}"
    );
    let scenario = of(1, &json!({"kind": "web"}), &udp());
    let fault = sojourn_sim::Scenario::from_json(&scenario.to_string()).expect_err("tcp");
    assert_eq!(fault.key, "flows[0].transport");
    assert_eq!(fault.reason, "a 'web' source sends by 'tcp'");
}

#[test]
fn a_path_with_a_loop_is_refused() {
    let mut scenario = of(1, &json!({"kind": "bulk"}), &json!({}));
    scenario["flows"][0]["path"] = json!(["up", "bottleneck", "back", "up", "bottleneck"]);
    let fault = sojourn_sim::Scenario::from_json(&scenario.to_string()).expect_err("a loop");
    assert_eq!(fault.key, "flows[0].path");
    assert!(fault.reason.contains("comes to 's' twice"), "{fault}");
}

/// As on Linux, whose sender has no other work in between; with a delay of its own, another flow's
/// packet would come between the two, and a queue that acts at few moments would drop more SYNs.
#[test]
fn a_syn_comes_right_behind_the_last_acknowledgement_before_it_whatever_the_senders_jitter() {
    let app = json!({"kind": "respawn", "size": 100_000});
    let mut scenario = of(1, &app, &json!({"sim": {"send_jitter": null}}));
    scenario["record"]["events"] = json!(true);
    let events = play(&scenario, 1).queues.swap_remove(0).events;
    let mut packets: Vec<_> = events
        .expect("events")
        .iter()
        .map(|event| (event.enq_ns, event.len_bytes))
        .collect();
    packets.sort_by_key(|&(enq_ns, _)| enq_ns);
    let pairs = packets.windows(2).filter(|pair| pair[1].1 == 74);
    let gaps_ns: Vec<_> = pairs.map(|pair| pair[1].0 - pair[0].0).collect();
    assert!(gaps_ns.len() > 20, "{gaps_ns:?}");
    assert!(gaps_ns.iter().all(|&ns| ns == 0), "{gaps_ns:?}");
}
