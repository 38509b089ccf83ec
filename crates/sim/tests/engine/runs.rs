// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! What holds for every run: nothing is lost uncounted, the same seed gives the
//! same run, another seed another, and windows agree with series.

use std::ops::ControlFlow;

use crate::common::{S, dumbbell, merge, play, queue_of, star};
use serde_json::{Value, json};
use sojourn_sim::{Control, Error, Report, Scenario, run};

fn fifo(limit: u64) -> Value {
    json!({"algorithm": "fifo", "limit": limit})
}

/// The run itself fails when a packet is missing, so it is enough that it ends.
#[test]
fn packets_are_conserved_with_every_algorithm_and_shaper() {
    for &algorithm in sojourn_core::algorithms() {
        for shaper in ["wire", "tbf", "htb"] {
            for ecn in [0, 1] {
                let queue = queue_of(algorithm, json!({"limit": 60, "ecn": ecn}));
                let mut scenario = dumbbell(5, &queue, &json!({"shaper": shaper}));
                scenario["flows"][0]["transport"]["ecn"] = json!(ecn == 1);
                scenario["duration"] = json!(3 * S);
                scenario["record"]["windows"] = json!([]);
                let report = play(&scenario, 7);
                let window = &report.queues[0].windows[0];
                assert!(
                    window.departed_pkts > 1_000,
                    "{} {shaper}",
                    algorithm.name()
                );
            }
        }
    }
}

#[test]
fn packets_are_conserved_with_loss_jitter_ring_and_short_transfers() {
    let link = json!({
        "loss": 0.02, "sim": {"ring": 5},
        "jitter": {"distribution": "normal", "sd": 3_000_000},
        "schedule": [{"at": 2 * S, "rate": 1_000_000}, {"at": 5 * S, "rate": 20_000_000}]
    });
    let mut scenario = dumbbell(3, &fifo(50), &link);
    let mut short = scenario["flows"][0].clone();
    merge(
        &mut short,
        &json!({
            "name": "short", "count": 10, "app": {"kind": "respawn", "size": 25_000},
            "stop": 8 * S
        }),
    );
    let voice = json!({
        "name": "voice", "count": 4, "from": "s", "to": "d", "transport": {"kind": "udp"},
        "app": {"kind": "cbr", "rate": 64_000, "payload": 160}, "start_spread": S
    });
    scenario["flows"]
        .as_array_mut()
        .expect("flows")
        .extend([short, voice]);
    let report = play(&scenario, 3);
    let sum = &report.conservation;
    assert!(sum.dropped > 0 && sum.lost > 0 && sum.delivered > 0);
    assert_eq!(
        sum.born,
        sum.delivered + sum.stale + sum.dropped + sum.lost + sum.inside
    );
    assert!(report.traffic.fct_s.n > 20, "{}", report.traffic.fct_s.n);
}

#[test]
fn same_seed_gives_the_same_report_and_another_seed_another() {
    let scenario = dumbbell(5, &json!({"algorithm": "pie"}), &json!({}));
    let text = |seed| serde_json::to_string(&play(&scenario, seed)).expect("a report");
    assert_eq!(text(1), text(1));
    assert_ne!(
        play(&scenario, 1).fingerprint,
        play(&scenario, 2).fingerprint
    );
    let mean = |seed| {
        play(&scenario, seed).queues[0].windows[1]
            .queue_delay_ms
            .mean
    };
    assert_ne!(mean(1), mean(2));
}

/// The flows stop in the middle: the second half has the packets under way at most.
#[test]
fn each_window_has_its_own_goodput_and_completion_times() {
    let mut scenario = dumbbell(3, &fifo(60), &json!({}));
    scenario["flows"][0]["app"] = json!({"kind": "respawn", "size": 50_000});
    scenario["flows"][0]["stop"] = json!(5 * S);
    let halves = json!([
        {"name": "sent", "from": S, "to": 5 * S},
        {"name": "stopped", "from": 6 * S, "to": 10 * S}
    ]);
    scenario["record"]["windows"] = halves;
    let report = play(&scenario, 1);
    let [sent, stopped] = &report.traffic.transport[..] else {
        panic!("two windows: {:?}", report.traffic.transport);
    };
    let (sent, stopped) = (&sent.all, &stopped.all);
    assert!(sent.goodput_mbps > 5.0 && sent.goodput_mbps < 10.0);
    assert!(sent.fct_s.n > 20 && sent.jain > 0.5 && sent.jain < 1.0);
    assert!(stopped.goodput_mbps < 0.1 && stopped.fct_s.n < 4);
    for (i, window) in report.traffic.transport.iter().map(|w| &w.all).enumerate() {
        let flows = report.traffic.flows.iter();
        let sum: f64 = flows.map(|flow| flow.goodput_mbps_of_windows[i]).sum();
        assert!((sum - window.goodput_mbps).abs() < 1e-9);
        let bits = window.delivered_bytes as f64 * 8.0;
        assert!((bits / 4.0 / 1e6 - window.goodput_mbps).abs() < 1e-9);
    }
    assert_eq!(report.traffic.jain, sent.jain);
}

#[test]
fn measuring_more_changes_nothing() {
    let scenario = dumbbell(3, &json!({"algorithm": "codel"}), &json!({}));
    let mut plain = scenario.clone();
    plain["record"] = json!({"queues": ["bottleneck"]});
    let (all, little) = (play(&scenario, 4), play(&plain, 4));
    assert_eq!(all.fingerprint, little.fingerprint);
    let (whole, same) = (&all.queues[0].windows[0], &little.queues[0].windows[0]);
    assert_eq!(whole.queue_delay_ms.p95, same.queue_delay_ms.p95);
    assert_eq!(whole.queue_pkts.mean, same.queue_pkts.mean);
}

/// A wire with a jitter of nothing delays as one without, but its link gets an event for
/// each last bit and each packet from a sender. The rates leave no two things at one time.
#[test]
fn a_link_that_catches_up_does_what_events_would() {
    let queues = [
        (fifo(60), json!({"sim": {"ring": 3}})),
        (json!({"algorithm": "codel"}), json!({})),
        (json!({"algorithm": "pie"}), json!({"delay": 0})),
        (json!({"algorithm": "choke"}), json!({"delay": 77})),
    ];
    for (queue, link) in queues {
        let schedule = json!([{"at": 4 * S + 7, "rate": 3_141_593}]);
        let mut scenario = dumbbell(12, &queue, &link);
        scenario["links"][1]["rate"] = json!(9_753_191);
        scenario["links"][1]["schedule"] = schedule;
        let ahead = play(&scenario, 5);
        scenario["links"][1]["jitter"] = json!({"distribution": "uniform", "sd": 0});
        let by_events = play(&scenario, 5);
        assert!(ahead.events < by_events.events);
        assert_eq!(ahead.fingerprint, by_events.fingerprint);
        let windows = |report: &Report| serde_json::to_value(&report.queues).unwrap();
        assert_eq!(windows(&ahead), windows(&by_events));
    }
}

#[test]
fn series_adds_up_to_the_window() {
    let report = play(&dumbbell(5, &fifo(60), &json!({})), 2);
    let queue = &report.queues[0];
    let mean = |column: &[f64]| column.iter().sum::<f64>() / column.len() as f64;
    assert_eq!(queue.series.t_s.len(), 20);
    let window = &queue.windows[0];
    assert!((mean(&queue.series.queue_pkts) - window.queue_pkts.mean).abs() < 1e-9);
    assert!((mean(&queue.series.utilisation_pct) - window.utilisation_pct).abs() < 1e-9);
    let late = &queue.windows[1];
    assert!((mean(&queue.series.queue_pkts[10..]) - late.queue_pkts.mean).abs() < 1e-9);
}

/// Little's law: mean backlog = throughput of the queue x mean delay, but for the
/// packets that were inside at the edges.
#[test]
fn backlog_rate_and_delay_agree() {
    let report = play(&dumbbell(10, &fifo(80), &json!({})), 5);
    let window = &report.queues[0].windows[1];
    let delay_s = window.queue_delay_ms.mean.expect("packets") / 1e3;
    let rate_pps = window.departed_pkts as f64 / (window.to_s - window.from_s);
    let ratio = window.queue_pkts.mean / (rate_pps * delay_s);
    assert!((ratio - 1.0).abs() < 0.01, "{ratio}");
}

#[test]
fn bulk_flows_fill_the_link_and_share_it() {
    let report = play(&dumbbell(4, &fifo(100), &json!({})), 1);
    let late = &report.queues[0].windows[1];
    assert!(late.utilisation_pct > 97.0, "{}", late.utilisation_pct);
    // 1448 of 1514 bytes are payload.
    assert!(report.traffic.goodput_mbps < 10.0 * 1448.0 / 1514.0);
    assert!(report.traffic.jain > 0.5 && report.traffic.jain <= 1.0);
}

#[test]
fn a_stopped_flow_leaves_the_link() {
    let mut scenario = dumbbell(4, &fifo(100), &json!({}));
    scenario["flows"][0]["stop"] = json!(4 * S);
    let report = play(&scenario, 1);
    assert_eq!(report.queues[0].windows[1].departed_pkts, 0);
    assert_eq!(report.conservation.inside, 0);
}

#[test]
fn a_run_stops_when_told() {
    struct Stop;
    impl Control for Stop {
        fn progress(&mut self, now_ns: u64, end_ns: u64) -> ControlFlow<()> {
            assert!(now_ns <= end_ns);
            ControlFlow::Break(())
        }
    }
    let mut scenario = dumbbell(10, &fifo(100), &json!({}));
    scenario["duration"] = json!(10_000 * S);
    let scenario = Scenario::from_json(&scenario.to_string()).expect("a sound scenario");
    assert_eq!(run(&scenario, 1, &mut Stop).err(), Some(Error::Stopped));
}

/// Laying out 300,000 flows takes much longer than the 20 ms between two looks.
#[test]
fn whoever_watches_is_heard_before_the_first_event() {
    struct Stop(Option<u64>);
    impl Control for Stop {
        fn progress(&mut self, now_ns: u64, _end_ns: u64) -> ControlFlow<()> {
            self.0 = Some(now_ns);
            ControlFlow::Break(())
        }
    }
    let scenario = dumbbell(300_000, &fifo(100), &json!({}));
    let scenario = Scenario::from_json(&scenario.to_string()).expect("a sound scenario");
    let mut stop = Stop(None);
    assert_eq!(run(&scenario, 1, &mut stop).err(), Some(Error::Stopped));
    assert_eq!(stop.0, Some(0));
}

/// Each of 3,000 users has links of its own. When each way looked at every link for every node,
/// and each link at every flow,
/// this did not end in time.
#[test]
fn ways_of_many_users_are_found_in_time() {
    let scenario = star(3_000, &json!({}), &json!({}));
    assert_eq!(play(&scenario, 1).traffic.flows.len(), 3_000);
}

/// The last acknowledgement of a connection often goes down with the queue; the end
/// that waits for it asks again and is answered, so nothing repeats for ever.
#[test]
fn closed_connections_come_to_rest_though_acknowledgements_are_lost() {
    let link = json!({"loss": 0.3});
    let mut scenario = dumbbell(10, &fifo(50), &link);
    let respawn = json!({"app": {"kind": "respawn", "size": 3_000}, "stop": 20 * S});
    merge(&mut scenario["flows"][0], &respawn);
    scenario["duration"] = json!(600 * S);
    scenario["record"]["windows"] = json!([{"name": "after", "from": 400 * S, "to": 600 * S}]);
    let report = play(&scenario, 1);
    assert!(report.traffic.flows[0].completions > 5);
    assert_eq!(report.traffic.transport[0].all.timeouts, 0);
}
