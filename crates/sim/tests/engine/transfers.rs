// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! The table of transfers, as whoever watches a run takes it.

use std::ops::ControlFlow;

use serde_json::{Value, json};
use sojourn_sim::measure::record::Transfer;
use sojourn_sim::{Control, Error, Report, Scenario, run};

use crate::common::{MS, S, dumbbell, merge, play};

/// What was taken, call by call.
#[derive(Default)]
struct Taken {
    calls: Vec<Vec<Transfer>>,
    most_calls: Option<usize>,
}

impl Control for Taken {
    fn progress(&mut self, _now_ns: u64, _end_ns: u64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn transfers(&mut self, ended: &[Transfer]) -> ControlFlow<()> {
        self.calls.push(ended.to_vec());
        match self.most_calls {
            Some(most) if self.calls.len() == most => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }
}

/// Such traffic in a dumbbell of 10 Mbit/s and 20 ms, without jitter of the sender.
fn of(count: u32, app: &Value, keys: &Value) -> Value {
    let mut scenario = dumbbell(count, &json!({"algorithm": "fifo"}), &json!({}));
    let flow = &mut scenario["flows"][0];
    flow["app"] = app.clone();
    flow["start_spread"] = json!(0);
    flow["sim"] = json!({"send_jitter": 0});
    merge(flow, keys);
    scenario["record"]["windows"] = json!([{"name": "all", "from": 0, "to": 10 * S}]);
    scenario["record"]["transfers"] = json!(true);
    scenario
}

fn take(scenario: &Value, taken: &mut Taken) -> Result<Report, Error> {
    let scenario = Scenario::from_json(&scenario.to_string()).expect("a sound scenario");
    run(&scenario, 1, taken)
}

fn rows(scenario: &Value) -> Vec<Transfer> {
    let mut taken = Taken::default();
    take(scenario, &mut taken).expect("a run that ends");
    taken.calls.concat()
}

fn traffic() -> [Value; 5] {
    let vectors = "SEQ 1000000 2 0 0\n> 400\n< 9000\nt 20000\n> 500\n< 40000\n";
    [
        json!({"kind": "respawn", "size": 30_000}),
        json!({"kind": "bulk", "size": 200_000}),
        json!({"kind": "web", "think": 300 * MS}),
        json!({"kind": "files", "gap": 100 * MS, "size": 20_000, "shape": 1.5,
               "connections": "one"}),
        json!({"kind": "tmix", "vectors": vectors}),
    ]
}

#[test]
fn a_transfer_has_the_times_that_its_packets_have_by_hand() {
    let all = rows(&of(
        1,
        &json!({"kind": "respawn", "size": 3_000}),
        &json!({}),
    ));
    let first = all[0];
    // On a link of 10 Mbit/s a byte takes 800 ns.
    let (syn, ack, full, rest) = (74 * 800, 66 * 800, 1_514 * 800, (104 + 66) * 800);
    let first_byte = 30 * MS + syn + ack + full;
    let expected = [0, 0, first_byte, first_byte + full + rest];
    let times = [
        first.opened.0,
        first.begun.0,
        first.first_byte.expect("a first byte").0,
        first.last_byte.expect("a last byte").0,
    ];
    assert_eq!(times, expected);
    assert_eq!(
        (first.visit, first.connection, first.transfer, first.bytes),
        (1, 1, 1, 3_000)
    );
    let visits: Vec<_> = all.iter().map(|transfer| transfer.visit).collect();
    assert_eq!(visits, (1..=all.len() as u32).collect::<Vec<_>>());
}

#[test]
fn rows_are_taken_while_the_run_goes_on() {
    let mut taken = Taken::default();
    let app = json!({"kind": "web", "think": 300 * MS});
    let mut scenario = of(50, &app, &json!({}));
    scenario["duration"] = json!(60 * S);
    let report = take(&scenario, &mut taken).expect("a run that ends");
    assert!(taken.calls.len() > 5, "{}", taken.calls.len());
    let longest = taken.calls.iter().map(Vec::len).max().expect("calls");
    let all = taken.calls.concat();
    assert!(longest < all.len() / 4, "{longest} of {}", all.len());
    let ends: Vec<_> = all
        .iter()
        .map_while(|transfer| transfer.last_byte)
        .collect();
    assert!(ends.is_sorted());
    let completions: u64 = report
        .traffic
        .flows
        .iter()
        .map(|flow| flow.completions)
        .sum();
    assert_eq!(ends.len() as u64, completions);
    assert!(all[ends.len()..].iter().all(|t| t.last_byte.is_none()));
    for transfer in all {
        let begun = transfer.opened <= transfer.begun;
        let first = transfer.first_byte.is_none_or(|at| transfer.begun < at);
        let last = transfer
            .last_byte
            .is_none_or(|at| transfer.first_byte <= Some(at));
        assert!(begun && first && last, "{transfer:?}");
    }
}

#[test]
fn whoever_takes_rows_can_end_the_run() {
    let mut taken = Taken {
        most_calls: Some(2),
        ..Taken::default()
    };
    let app = json!({"kind": "web", "think": 300 * MS});
    let ended = take(&of(50, &app, &json!({})), &mut taken);
    assert_eq!(ended.err(), Some(Error::Stopped));
    assert_eq!(taken.calls.len(), 2);
}

#[test]
fn recording_transfers_changes_no_packet() {
    for app in traffic() {
        let mut scenario = of(4, &app, &json!({}));
        let with = play(&scenario, 1);
        scenario["record"]["transfers"] = json!(false);
        let without = play(&scenario, 1);
        let text = |report: &Report| serde_json::to_string(report).expect("JSON");
        assert_eq!(text(&with), text(&without), "{app}");
    }
}

#[test]
fn bytes_of_transfers_are_those_that_arrived() {
    for app in traffic() {
        let mut taken = Taken::default();
        let report = take(&of(4, &app, &json!({})), &mut taken).expect("a run that ends");
        let all = taken.calls.concat();
        let done = all.iter().filter(|transfer| transfer.last_byte.is_some());
        let bytes: u64 = done.map(|transfer| transfer.bytes).sum();
        let delivered: u64 = report
            .traffic
            .flows
            .iter()
            .map(|flow| flow.delivered_bytes)
            .sum();
        let open: u64 = all
            .iter()
            .filter(|t| t.last_byte.is_none())
            .map(|t| t.bytes)
            .sum();
        assert!(
            bytes > 0 && bytes <= delivered,
            "{app}: {bytes} of {delivered}"
        );
        assert!(
            delivered <= bytes + open,
            "{app}: {delivered}, {bytes} and {open}"
        );
    }
}

#[test]
fn a_transfer_that_is_not_complete_has_no_last_byte() {
    let bulk = json!({"kind": "bulk", "size": 1_000_000_000});
    for (keys, first_byte) in [
        (json!({}), true),
        (json!({"stop": S}), true),
        (json!({"start": 10 * S - MS}), false),
    ] {
        let all = rows(&of(1, &bulk, &keys));
        let times: Vec<_> = all
            .iter()
            .map(|t| (t.first_byte.is_some(), t.last_byte))
            .collect();
        assert_eq!(times, [(first_byte, None)], "{keys}");
        assert_eq!(all[0].bytes, 1_000_000_000);
    }
}
