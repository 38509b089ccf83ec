// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Probes are packets: they wait, travel through what lies below their queue, are answered by
//! a node, and come back.

use crate::common::{MS, dumbbell, merge, play};
use serde_json::{Value, json};
use sojourn_sim::{Report, Scenario};

/// ASQM, which asks for probes, on a link of 10 Mbit/s before a tail of its own rate.
fn access(tail: &Value) -> Value {
    let queue = json!({"algorithm": "asqm", "limit": 1000});
    let mut scenario = dumbbell(4, &queue, &json!({"to": "m"}));
    let mut below = json!({
        "name": "below", "from": "m", "to": "d", "rate": 10_000_000,
        "queue": {"algorithm": "fifo", "limit": 1000}
    });
    merge(&mut below, tail);
    scenario["nodes"] = json!(["s", "r", "m", "d"]);
    // So that what is beyond the first link can be answered without crossing the second.
    let near = json!({"name": "near", "from": "m", "to": "r"});
    let links = scenario["links"].as_array_mut().expect("links");
    links.extend([below, near]);
    scenario["links"][1]["responder"] = json!("d");
    scenario["record"]["queues"] = json!(["bottleneck", "below"]);
    scenario
}

fn late_ms(report: &Report, queue: usize) -> f64 {
    let delay = &report.queues[queue].windows[1].queue_delay_ms;
    delay.mean.expect("packets left")
}

fn drops(report: &Report) -> f64 {
    report.queues[0].windows[1].drop_pct.expect("packets came")
}

#[test]
fn a_queue_in_the_driver_is_found() {
    let queue = |name| json!({"algorithm": name, "limit": 1000});
    let ring = json!({"sim": {"ring": 400}});
    let asqm = play(&dumbbell(4, &queue("asqm"), &ring), 1);
    let codel = play(&dumbbell(4, &queue("codel"), &ring), 1);
    let system = |report: &Report| {
        let delay = &report.queues[0].windows[1].system_delay_ms;
        delay.mean.expect("packets left")
    };
    // Its own queue is empty: the packets wait in the ring.
    assert!(late_ms(&asqm, 0) < 1.0, "{}", late_ms(&asqm, 0));
    assert!(drops(&asqm) > 0.0);
    assert!(system(&asqm) < 110.0, "{}", system(&asqm));
    assert!(system(&codel) > 200.0, "{}", system(&codel));
}

#[test]
fn a_queue_on_a_second_link_is_found() {
    let slow = json!({"rate": 5_000_000});
    let report = play(&access(&slow), 1);
    assert!(late_ms(&report, 0) < 2.0, "{}", late_ms(&report, 0));
    assert!(late_ms(&report, 1) < 110.0, "{}", late_ms(&report, 1));
    assert!(drops(&report) > 0.0);
    // A responder in front of the slow link sees nothing of it.
    let mut near = access(&slow);
    near["links"][1]["responder"] = json!("m");
    let near = play(&near, 1);
    assert!(drops(&near) == 0.0);
    assert!(late_ms(&near, 1) > 200.0, "{}", late_ms(&near, 1));
}

#[test]
fn without_answers_there_is_no_signal() {
    let queue = json!({"algorithm": "asqm", "limit": 4000});
    let mut scenario = dumbbell(4, &queue, &json!({}));
    // Probes go back by a link of their own, since it is the shortest, and are lost there.
    let back = json!({
        "name": "lost", "from": "d", "to": "r", "loss": 1.0, "queue": {"algorithm": "fifo"}
    });
    scenario["links"].as_array_mut().expect("links").push(back);
    scenario["flows"][0]["reverse_path"] = json!(["back"]);
    let report = play(&scenario, 1);
    assert!(drops(&report) == 0.0, "{}", drops(&report));
    assert!(late_ms(&report, 0) > 200.0);
}

#[test]
fn a_probe_is_one_packet_to_four_and_takes_its_share_of_the_link() {
    let rows = |ratio: u64| {
        let queue = json!({
            "algorithm": "asqm", "limit": 1000, "ratio": ratio
        });
        let report = play(&dumbbell(4, &queue, &json!({})), 1);
        let goodput: f64 = report
            .traffic
            .flows
            .iter()
            .map(|flow| flow.goodput_mbps_of_windows[1])
            .sum();
        (report.queues[0].windows[1].utilisation_pct, goodput)
    };
    let (often, seldom) = (rows(1), rows(65536));
    // 42 bytes behind each full packet of 1514.
    let share = 1.0 - often.1 / seldom.1;
    assert!((share - 42.0 / 1556.0).abs() < 0.004, "{share}");
    // Users' packets have the rest of the link.
    assert!(
        (1.0 - often.0 / seldom.0 - share).abs() < 0.005,
        "{often:?} {seldom:?}"
    );
}

#[test]
fn probes_through_flow_queues_are_answered_to_their_own_flow() {
    let queue = json!({"algorithm": "asqm", "limit": 1000, "flows": 16});
    let report = play(&dumbbell(4, &queue, &json!({"sim": {"ring": 200}})), 1);
    assert!(drops(&report) > 0.0);
}

#[test]
fn a_responder_must_have_a_way_back() {
    let queue = json!({"algorithm": "asqm"});
    let mut scenario = dumbbell(1, &queue, &json!({"delay": 5 * MS}));
    scenario["links"][2]["to"] = json!("elsewhere");
    scenario["links"][2]["from"] = json!("d");
    scenario["nodes"] = json!(["s", "r", "d", "elsewhere"]);
    scenario["flows"][0]["transport"] = json!({"kind": "udp"});
    scenario["flows"][0]["app"] = json!({"kind": "cbr", "rate": 1_000_000, "payload": 1000});
    let fault = Scenario::from_json(&scenario.to_string()).expect_err("no way back");
    assert_eq!(fault.key, "links[1].responder");
    assert!(
        fault.reason.contains("no way leads from 'd' to 'r'"),
        "{}",
        fault.reason
    );
    scenario["links"][1]["responder"] = json!("nowhere");
    let fault = Scenario::from_json(&scenario.to_string()).expect_err("no such node");
    assert_eq!(fault.key, "links[1].responder");
}

#[test]
fn a_probe_is_a_flow_of_its_own_in_every_queue_but_its_own() {
    // Queues for flows, whose law never acts: a flow waits for its own packets alone.
    let queue = json!({
        "algorithm": "fq_codel", "limit": 1000, "flows": 1024, "target": 10_000_000_000_u64
    });
    let fair = json!({"rate": 5_000_000, "queue": queue});
    let report = play(&access(&fair), 1);
    assert!(drops(&report) == 0.0, "{}", drops(&report));
    assert!(late_ms(&report, 1) > 200.0, "{}", late_ms(&report, 1));
}

#[test]
fn neither_probes_of_other_queues_nor_answers_ask_for_probes() {
    let queue = json!({"algorithm": "asqm", "ratio": 1});
    let mut scenario = dumbbell(1, &queue, &json!({}));
    scenario["links"][2]["rate"] = json!(10_000_000);
    scenario["links"][2]["queue"] = queue;
    scenario["flows"][0]["transport"] = json!({"kind": "udp"});
    scenario["flows"][0]["app"] = json!({"kind": "cbr", "rate": 1_000_000, "payload": 1000});
    scenario["record"]["queues"] = json!(["bottleneck", "back"]);
    let report = play(&scenario, 1);
    let [there, back] = &report.queues[..] else {
        panic!("two queues");
    };
    let sent = there.probes.expect("asqm probes").left_pkts;
    assert_eq!(sent, there.windows[0].departed_pkts);
    // Nothing but answers goes back.
    let answers = back.windows[0].departed_pkts;
    assert!(answers > 1000 && answers <= sent, "{answers} {sent}");
    assert_eq!(back.probes.expect("asqm probes").left_pkts, 0);
}

#[test]
fn the_packet_behind_one_that_may_not_ask_asks_in_its_place() {
    let queue = json!({"algorithm": "asqm", "ratio": 4});
    let mut scenario = dumbbell(1, &queue, &json!({}));
    scenario["links"][2]["rate"] = json!(10_000_000);
    scenario["links"][2]["queue"] = queue;
    scenario["record"]["queues"] = json!(["bottleneck", "back"]);
    let report = play(&scenario, 1);
    // Acknowledgements and answers: one of four asks, or the acknowledgement behind it does.
    let back = &report.queues[1];
    let quarter = back.windows[0].departed_pkts as f64 / 4.0;
    let probes = back.probes.expect("asqm probes").left_pkts as f64;
    assert!((probes / quarter - 1.0).abs() < 0.02, "{probes} {quarter}");
}

#[test]
fn a_queue_length_is_of_users_packets() {
    let queue = json!({"algorithm": "asqm", "limit": 1000, "ratio": 1});
    let report = play(&dumbbell(4, &queue, &json!({})), 1);
    let late = &report.queues[0].windows[1];
    let series = &report.queues[0].series.queue_pkts[10..];
    // Little's law: with the probes it would be twice as many.
    let pkts = late.departed_pkts as f64 / 5.0 * late_ms(&report, 0) / 1000.0;
    assert!((late.queue_pkts.mean / pkts - 1.0).abs() < 0.05, "{pkts}");
    let mean = series.iter().sum::<f64>() / series.len() as f64;
    assert!((mean / pkts - 1.0).abs() < 0.05, "{mean} {pkts}");
}

#[test]
fn a_report_counts_probes_and_their_bytes() {
    let queue = json!({"algorithm": "asqm", "limit": 1000});
    let scenario = dumbbell(4, &queue, &json!({"header": 38}));
    let report = play(&scenario, 1);
    let probes = report.queues[0].probes.expect("asqm probes");
    let passed = report.queues[0].windows[0].departed_pkts;
    assert!(probes.left_pkts > passed / 5, "{probes:?} {passed}");
    assert!(probes.left_pkts > probes.answered_pkts);
    assert!(probes.answered_pkts > probes.left_pkts * 9 / 10);
    assert_eq!(probes.left_bytes, probes.left_pkts * (28 + 38));
    assert_eq!(probes.refused_pkts, 0);
    let silent = play(&dumbbell(4, &json!({"algorithm": "codel"}), &json!({})), 1);
    assert!(silent.queues[0].probes.is_none());
}
