// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Responses to changes of the scenario.

use serde_json::{Value, json};
use sojourn_sim::Scenario;
use sojourn_sim::scenario::Change;

use crate::common::{MS, S, datagrams, merge, play};

/// A packet each 10 ms takes 8.336 ms; at half the rate, between 1 s and 2 s, 16.672 ms: each
/// waits 6.672 ms longer than the one before it, and 1.664 ms less when the rate is back. Some
/// edges of windows lie within bins.
#[test]
fn a_queue_that_fills_and_empties_has_the_peaks_of_its_arithmetic() {
    let steps = json!([
        {"at": S, "rate": 500_000}, {"at": 2 * S, "rate": 1_000_000},
    ]);
    let mut scenario = datagrams(10, 3 * S, &json!({"schedule": steps}));
    let windows = json!([
        {"name": "all", "from": 0, "to": 3 * S},
        {"name": "slow", "from": S, "to": 1_990 * MS},
        {"name": "over both", "from": 1_950 * MS, "to": 2_050 * MS},
    ]);
    merge(&mut scenario["record"], &json!({"windows": windows}));
    let queue = play(&scenario, 1).queues.remove(0);
    let [slow, fast] = queue.steps.as_slice() else {
        panic!("{:?}", queue.steps);
    };
    assert_eq!((slow.at_s, slow.to_s), (1.0, 2.0));
    assert_eq!((fast.at_s, fast.to_s), (2.0, 3.0));
    let peaks = [slow.peak_delay_ms, fast.peak_delay_ms];
    assert_eq!(peaks, [Some(393.648), Some(400.32)]);
    // A packet counts when its last bit is sent: 5 of 16.672 ms in the first bin, 6 in the next.
    assert_eq!(slow.utilised_s, Some(0.1));
    // Packets 30 to 59 leave between 1.5 s and 2 s.
    let later_ms = 6.672 * f64::from(30 + 59) / 2.0;
    let measured_ms = slow.later_delay_ms.expect("packets");
    assert!((measured_ms - later_ms).abs() < 1e-9, "{measured_ms}");
    // No bin of a delay that rises evenly is above twice its later mean.
    assert_eq!(slow.settling_s, Some(0.0));
    let most: Vec<_> = queue.windows.iter().map(|w| w.queue_delay_ms.max).collect();
    assert_eq!(most, [Some(400.32), Some(393.648), Some(400.32)]);
}

#[test]
fn without_a_change_the_report_has_no_steps() {
    let report = play(&datagrams(10, S, &json!({})), 1);
    let text = serde_json::to_value(&report.queues).expect("JSON");
    assert_eq!(text[0].get("steps"), None);
}

fn phases(scenario: &Value) -> Vec<(u64, u64, Vec<Change>)> {
    let scenario = Scenario::from_json(&scenario.to_string()).expect("a sound scenario");
    let phases = scenario.phases().into_iter();
    let rows = phases.map(|phase| (phase.from_ns / MS, phase.to_ns / MS, phase.changes));
    rows.collect()
}

#[test]
fn changes_of_one_time_are_one_step_and_none_is_at_either_end_of_the_run() {
    let steps: Vec<_> = [0, 300, 600, 1_000, 2_000]
        .map(|ms| json!({"at": ms * MS, "rate": 2_000_000}))
        .into();
    let mut scenario = datagrams(10, S, &json!({"schedule": steps}));
    merge(
        &mut scenario["flows"][0],
        &json!({"start": 300 * MS, "stop": 600 * MS, "count": 2}),
    );
    let rate = || Change::Rate {
        of: "bottleneck".into(),
        rate_mbps: 2.0,
    };
    let (name, flows) = ("cbr".to_owned(), 2);
    let start = Change::Start {
        of: name.clone(),
        flows,
    };
    let stop = Change::Stop { of: name, flows };
    let rows = phases(&scenario);
    assert_eq!(
        rows,
        [
            (300, 600, vec![rate(), start]),
            (600, 1_000, vec![rate(), stop])
        ]
    );
    assert_eq!(play(&scenario, 1).queues[0].steps.len(), 2);
}

#[test]
fn starts_in_a_list_are_changes_and_drawn_ones_are_none() {
    let mut scenario = datagrams(10, S, &json!({}));
    let list = json!([0, 200 * MS, 500 * MS]);
    merge(
        &mut scenario["flows"][0],
        &json!({"start": list, "count": 5}),
    );
    let name = || "cbr".to_owned();
    let rows = phases(&scenario);
    let start = |flows| vec![Change::Start { of: name(), flows }];
    assert_eq!(rows, [(200, 500, start(2)), (500, 1_000, start(1))]);
    scenario["flows"][0]["start"] = json!({"distribution": "poisson", "from": MS, "gap": MS});
    assert_eq!(phases(&scenario), []);
}

#[test]
fn a_delay_of_any_link_is_a_change_for_each_queue() {
    let mut scenario = datagrams(10, S, &json!({"delay": MS}));
    scenario["links"][0]["delays"] = json!([{"at": 500 * MS, "delay": 40 * MS}]);
    let change = Change::Delay {
        of: "bottleneck".into(),
        delay_ms: 40.0,
    };
    assert_eq!(phases(&scenario), [(500, 1_000, vec![change])]);
    let report = play(&scenario, 1);
    assert_eq!(report.queues[0].steps[0].peak_delay_ms, Some(0.0));
}

#[test]
fn the_rates_of_a_trace_are_no_changes() {
    let steps = json!([{"at": 100 * MS, "rate": 2_000_000}]);
    let link = json!({"schedule": steps, "traced": true});
    assert_eq!(phases(&datagrams(10, S, &link)), []);
}

/// Bins of 100 ms, of 1,000 changes ten ms apart one each.
#[test]
fn a_thousand_changes_are_a_thousand_steps() {
    let steps: Vec<_> = (1..=1_000)
        .map(|i| json!({"at": i * 10 * MS, "rate": 1_000_000 + i % 2}))
        .collect();
    let scenario = datagrams(10, 11 * S, &json!({"schedule": steps}));
    let steps = play(&scenario, 1).queues.remove(0).steps;
    assert_eq!(steps.len(), 1_000);
    // A packet leaves at the begin of each, at once.
    assert!(steps.iter().all(|step| step.peak_delay_ms == Some(0.0)));
    assert!(steps.iter().all(|step| step.settling_s == Some(0.0)));
    let read = Scenario::from_json(&scenario.to_string()).expect("a sound scenario");
    // One in each but the last, of a second and ten more edges.
    assert_eq!(read.bin_edges().len(), 999 + 10 + 1);
}

/// A bin that is left over belongs to the one before it.
#[test]
fn what_remains_behind_whole_bins_is_not_a_bin_of_its_own() {
    let steps = json!([{"at": 700 * MS, "rate": 2_000_000}]);
    let scenario = datagrams(10, 950 * MS, &json!({"schedule": steps}));
    let read = Scenario::from_json(&scenario.to_string()).expect("a sound scenario");
    let edges: Vec<_> = read.bin_edges().iter().map(|at| at.0 / MS).collect();
    assert_eq!(edges, [700, 800, 950]);
}

/// A day takes no more memory than 10,000 s do.
#[test]
fn a_long_run_has_a_hundred_thousand_bins_at_most() {
    let steps = json!([{"at": 1, "rate": 2_000_000}]);
    for (duration_s, bins) in [(9_000, 89_999), (10_000, 99_999), (86_400, 99_999)] {
        let scenario = datagrams(10, duration_s * S, &json!({"schedule": steps}));
        let read = Scenario::from_json(&scenario.to_string()).expect("a sound scenario");
        assert_eq!(read.bin_edges().len(), bins + 1);
    }
}
