// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! What is read at each step of the series: groups of flows, and the algorithms' statistics.

use crate::common::{MS, S, dumbbell, merge, play};
use serde_json::{Value, json};
use sojourn_sim::Report;
use sojourn_sim::measure::record::{GroupSeries, StatisticReport};

fn queue(algorithm: &str, rows: &Value) -> Value {
    let mut queue = json!({"algorithm": algorithm});
    merge(&mut queue, rows);
    queue
}

fn statistic<'a>(report: &'a Report, name: &str) -> &'a StatisticReport {
    let all = report.queues[0].statistics.iter();
    let mut named = all.filter(|series| series.name == name);
    named.next().expect("a statistic of this name")
}

fn group<'a>(report: &'a Report, name: &str) -> &'a GroupSeries {
    let mut named = report
        .group_series
        .iter()
        .filter(|series| series.name == name);
    named.next().expect("a group of this name")
}

fn sum(values: &[f64]) -> f64 {
    values.iter().sum()
}

/// Ten flows over a queue of this algorithm.
fn ten(algorithm: &str, rows: &Value) -> Report {
    play(&dumbbell(10, &queue(algorithm, rows), &json!({})), 3)
}

#[test]
fn statistics_are_read_at_the_end_of_each_step() {
    let report = ten("pie", &json!({}));
    let prob = statistic(&report, "prob");
    assert_eq!(prob.t_s, report.queues[0].series.t_s);
    assert_eq!((prob.t_s[0], prob.t_s[19]), (0.5, 10.0));
    assert_eq!(prob.values.len(), 20);
    assert!(prob.values.iter().all(|p| (0.0..1.0).contains(p)));
    assert!(prob.values.iter().any(|&p| p > 0.01));
}

/// RED's average follows the queue that the recorder measures by itself.
#[test]
fn an_average_queue_is_near_the_measured_one() {
    let report = ten("red", &json!({"limit": 200}));
    let average = statistic(&report, "average");
    assert_eq!(average.unit, "packets");
    let (own, measured) = (
        sum(&average.values),
        sum(&report.queues[0].series.queue_pkts),
    );
    assert!((own / measured - 1.0).abs() < 0.25, "{own} {measured}");
}

#[test]
fn a_gauge_of_many_flows_has_no_value_and_a_counter_is_their_sum() {
    let rows = json!({"flows": 64, "limit": 60, "ratio": 10});
    let report = ten("asqm", &rows);
    let names = report.queues[0]
        .statistics
        .iter()
        .map(|statistic| &statistic.name[..]);
    assert_eq!(names.collect::<Vec<_>>(), ["answers"]);
    let answers = statistic(&report, "answers");
    assert!(answers.values.is_sorted());
    let all = report.queues[0].windows[0].arrived_pkts as f64;
    let last = answers.values[19];
    assert!(last > 10.0 && last <= all, "{last} of {all}");
}

#[test]
fn rates_of_a_group_add_up_to_what_it_delivered() {
    let mut scenario = dumbbell(4, &queue("codel", &json!({})), &json!({}));
    scenario["flows"]
        .as_array_mut()
        .expect("flows")
        .push(json!({
            "name": "voice", "from": "s", "to": "d", "transport": {"kind": "udp"},
            "app": {"kind": "cbr", "rate": 64_000, "payload": 160}
        }));
    let report = play(&scenario, 1);
    for name in ["bulk", "voice"] {
        let flows = report.traffic.flows.iter().filter(|flow| flow.name == name);
        let bits = flows.map(|flow| flow.delivered_bytes).sum::<u64>() as f64 * 8.0;
        let series = group(&report, name);
        assert_eq!(series.t_s, report.queues[0].series.t_s);
        assert!(
            (sum(&series.goodput_mbps) * 0.5e6 / bits - 1.0).abs() < 1e-9,
            "{name}"
        );
        assert_eq!(sum(&series.answered_mbps), 0.0);
    }
    let voice = group(&report, "voice");
    assert_eq!(sum(&voice.connections), 0.0);
    assert!(
        voice
            .cwnd_pkts
            .iter()
            .chain(&voice.srtt_ms)
            .all(|x| x.is_nan())
    );
}

/// What is in flight is what the windows allow: goodput = windows x segment / round trip.
#[test]
fn windows_and_round_trips_of_a_group_make_its_rate() {
    let report = play(
        &dumbbell(4, &queue("fifo", &json!({"limit": 100})), &json!({})),
        1,
    );
    let series = group(&report, "bulk");
    let mbps = |i: usize| {
        let bits = series.connections[i] * series.cwnd_pkts[i] * 1448.0 * 8.0;
        bits / series.srtt_ms[i] / 1e3
    };
    assert_eq!(series.connections[10..], [4.0; 10]);
    let allowed: f64 = (10..20).map(mbps).sum();
    let ratio = allowed / sum(&series.goodput_mbps[10..]);
    assert!((ratio - 1.0).abs() < 0.05, "{ratio}");
    let late = &report.traffic.flows[0];
    assert!((late.srtt_ms.expect("a connection") / series.srtt_ms[19] - 1.0).abs() < 0.05);
}

#[test]
fn both_directions_of_conversations_have_their_rates() {
    let mut scenario = dumbbell(3, &queue("codel", &json!({})), &json!({}));
    scenario["flows"][0]["app"] = json!({"kind": "web", "think": 200 * MS});
    let report = play(&scenario, 1);
    let window = &report.traffic.transport[0].groups[0];
    let series = group(&report, "bulk");
    let answered = window.script.as_ref().expect("a script").answered_bytes as f64;
    assert!(answered > 0.0);
    assert!((sum(&series.answered_mbps) * 0.5e6 / 8.0 / answered - 1.0).abs() < 1e-9);
    let delivered = window.all.delivered_bytes as f64;
    assert!((sum(&series.goodput_mbps) * 0.5e6 / 8.0 / delivered - 1.0).abs() < 1e-9);
}

/// Every third flow is looked at, and stands for three.
#[test]
fn many_flows_are_counted_by_those_that_are_looked_at() {
    let mut scenario = dumbbell(
        2_500,
        &queue("fifo", &json!({"limit": 100_000})),
        &json!({}),
    );
    scenario["links"][1]["rate"] = json!(1_000_000_000);
    scenario["duration"] = json!(2 * S);
    scenario["record"]["windows"] = json!([]);
    let series = play(&scenario, 1).group_series.remove(0);
    let open = series.connections.last().expect("steps");
    assert!((open / 2_500.0 - 1.0).abs() < 0.01, "{open}");
    assert!(series.cwnd_pkts.last().expect("steps") >= &1.0);
}

#[test]
fn without_a_series_nothing_is_read() {
    let mut scenario = dumbbell(2, &queue("pie", &json!({})), &json!({}));
    scenario["record"]["series"] = json!(0);
    let report = play(&scenario, 1);
    assert!(report.queues[0].statistics.is_empty());
    assert!(report.group_series.iter().all(|group| group.t_s.is_empty()));
}
