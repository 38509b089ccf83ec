// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Every refusal of a scenario names the key and says what is allowed.

use crate::common::{MS, S, dumbbell};
use serde_json::{Value, json};
use sojourn_sim::Scenario;

/// Puts `value` at `pointer` of a sound scenario and gives key and reason.
fn refusal(pointer: &str, value: Value) -> (String, String) {
    let mut scenario = dumbbell(2, &json!({"algorithm": "codel"}), &json!({"shaper": "tbf"}));
    match scenario.pointer_mut(pointer) {
        Some(place) => *place = value,
        None => {
            let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
            scenario.pointer_mut(parent).expect("a parent")[key] = value;
        }
    }
    let fault = Scenario::from_json(&scenario.to_string()).expect_err(pointer);
    (fault.key, fault.reason)
}

#[track_caller]
fn refuses(pointer: &str, value: Value, key: &str, words: &str) {
    let (place, reason) = refusal(pointer, value);
    assert_eq!(place, key, "{reason}");
    assert!(reason.contains(words), "{reason}");
}

#[test]
fn all_faults_are_found_at_once_and_a_broken_network_does_not_hide_the_record() {
    let mut scenario = dumbbell(2, &json!({"algorithm": "codel"}), &json!({"loss": 2.0}));
    scenario["links"][0]["delay"] = json!(u64::MAX);
    scenario["record"]["windows"] = json!([{"name": "w", "from": 5, "to": 5}]);
    let keys = |scenario: &Value| -> Vec<_> {
        let scenario = Scenario::read(&scenario.to_string()).expect("of the right form");
        scenario.faults().into_iter().map(|f| f.key).collect()
    };
    let network = ["links[0].delay", "links[1].loss", "record.windows[0].to"];
    assert_eq!(keys(&scenario), network);
    let mut scenario = dumbbell(2, &json!({"algorithm": "codel"}), &json!({}));
    let mut second = scenario["flows"][0].clone();
    second["name"] = json!("second");
    second["to"] = json!("nowhere");
    scenario["flows"][0]["from"] = json!("nowhere");
    scenario["flows"]
        .as_array_mut()
        .expect("flows")
        .push(second);
    assert_eq!(keys(&scenario), ["flows[0].from", "flows[1].to"]);
}

#[test]
fn a_header_of_a_link_that_has_none_to_count() {
    let key = "links[1].header";
    let mut scenario = dumbbell(2, &json!({"algorithm": "codel"}), &json!({"shaper": "tbf"}));
    let refusal = |scenario: &Value| {
        let fault = Scenario::from_json(&scenario.to_string()).expect_err("a fault");
        (fault.key, fault.reason)
    };
    scenario["links"][1]["header"] = json!(257);
    assert_eq!(
        refusal(&scenario),
        (key.to_owned(), "257 is outside 0 to 256".to_owned())
    );
    // 1,500 bytes of IP and the header do not fit into two frames less a byte.
    scenario["links"][1]["header"] = json!(100);
    scenario["links"][1]["burst"] = json!(1_599);
    assert!(refusal(&scenario).1.contains("give 1600 bytes or more"));
    scenario["links"][1]["burst"] = json!(3_028);
    scenario["links"][0]["header"] = json!(0);
    assert_eq!(refusal(&scenario).0, "links[0].header");
}

#[test]
fn a_mark_that_no_packet_can_have() {
    refuses(
        "/flows/0/dscp",
        json!(64),
        "flows[0].dscp",
        "outside 0 to 63",
    );
}

#[test]
fn a_least_frame_or_cells_of_a_link_that_has_none() {
    for (key, value) in [("mpu", json!(64)), ("linklayer", json!("atm"))] {
        refuses(
            &format!("/links/0/{key}"),
            value,
            &format!("links[0].{key}"),
            "give a rate",
        );
    }
    let mut scenario = dumbbell(2, &json!({"algorithm": "codel"}), &json!({"shaper": "tbf"}));
    scenario["links"][1]["mpu"] = json!(1_515);
    let fault = Scenario::from_json(&scenario.to_string()).expect_err("a fault");
    assert_eq!(fault.reason, "1515 is outside 0 to 1514");
    // 1,514 bytes are 32 cells.
    scenario["links"][1]["mpu"] = json!(0);
    scenario["links"][1]["linklayer"] = json!("atm");
    scenario["links"][1]["burst"] = json!(1_695);
    let fault = Scenario::from_json(&scenario.to_string()).expect_err("a fault");
    assert!(
        fault.reason.contains("give 1696 bytes or more"),
        "{}",
        fault.reason
    );
}

#[test]
fn a_bound_on_memory_that_packets_do_not_have_here() {
    refuses(
        "/links/1/queue/memory_limit",
        json!(1_000_000),
        "links[1].queue.memory_limit",
        "limit_bytes",
    );
}

#[test]
fn numbers_outside_their_range() {
    refuses("/format", json!(1), "format", "this version reads 2");
    refuses("/duration", json!(0), "duration", "more than 0 s");
    refuses(
        "/links/1/rate",
        json!(0),
        "links[1].rate",
        "0 is outside 8 to",
    );
    refuses(
        "/links/1/loss",
        json!(1.5),
        "links[1].loss",
        "1.5 is outside 0 to 1",
    );
    refuses(
        "/links/1/burst",
        json!(1_000),
        "links[1].burst",
        "1000 is less than",
    );
    refuses(
        "/links/1/sim",
        json!({"ring": 4}),
        "links[1].sim.ring",
        "'wire'",
    );
    refuses(
        "/flows/0/count",
        json!(0),
        "flows[0].count",
        "0 is outside 1 to",
    );
    refuses(
        "/flows/0/stop",
        json!(0),
        "flows[0].stop",
        "'0 ns' is not later than the start, '0 ns'",
    );
    refuses("/record/series", json!(1), "record.series", "rows");
    refuses(
        "/flows/0/app",
        json!({"kind": "respawn", "size": 0}),
        "flows[0].app.size",
        "0 B is outside 1 B to",
    );
}

#[test]
fn schedule_out_of_order() {
    let step = |at_ns: u64| json!({"at": at_ns, "rate": 1_000_000});
    let key = "links[1].schedule[1].at";
    let pointer = "/links/1/schedule";
    refuses(
        pointer,
        json!([step(2 * S), step(S)]),
        key,
        "not later than",
    );
    refuses(pointer, json!([step(S), step(S)]), key, "not later than");
    let zero = json!([{"at": S, "rate": 0}]);
    refuses(
        pointer,
        zero,
        "links[1].schedule[0].rate",
        "0 is outside 8 to",
    );
}

#[test]
fn unknown_names() {
    refuses("/links/1/to", json!("x"), "links[1].to", "no node 'x'");
    refuses("/flows/0/from", json!("x"), "flows[0].from", "no node 'x'");
    refuses(
        "/flows/0/path",
        json!(["up", "x"]),
        "flows[0].path[1]",
        "'x'",
    );
    refuses("/record/queues", json!(["x"]), "record.queues[0]", "'x'");
    refuses(
        "/links/1/queue/algorithm",
        json!("x"),
        "links[1].queue.algorithm",
        "fifo",
    );
    let (queue, target) = ("links[1].queue", "/links/1/queue/target");
    refuses("/links/1/queue/x", json!(1), &format!("{queue}.x"), "row");
    refuses(target, json!(0), &format!("{queue}.target"), "0: ");
}

#[test]
fn names_that_there_are_come_with_one_that_nothing_has() {
    let mut scenario = dumbbell(2, &json!({"algorithm": "codel"}), &json!({}));
    scenario["flows"][0]["path"] = json!(["up", "botleneck"]);
    scenario["record"]["queues"] = json!(["up"]);
    let faults = Scenario::read(&scenario.to_string())
        .expect("of the right form")
        .faults();
    let known = |i: usize| faults[i].unknown.clone().expect("a name");
    let links = ["up", "bottleneck", "back"].map(str::to_owned).to_vec();
    assert_eq!(known(0), ("botleneck".to_owned(), links));
    // A queue is measured where there is a rate.
    assert_eq!(known(1), ("up".to_owned(), vec!["bottleneck".to_owned()]));
    assert_eq!(
        faults[1].to_string(),
        "record.queues[0]: there is no link 'up' with a rate; there are: bottleneck"
    );
}

#[test]
fn ect1_of_a_flow_that_cannot_be_l4s() {
    let tcp = |cc: &str, ecn: Value| json!({"kind": "tcp", "cc": cc, "ecn": ecn});
    let (at, options) = ("/flows/0/transport", "flows[0].transport.options");
    refuses(at, tcp("cubic", json!("ect1")), options, "ect1 needs dctcp");
    refuses(at, tcp("dctcp", json!(false)), options, "dctcp needs ecn");
    let linux = json!({"cc": "dctcp"});
    refuses("/flows/0/linux", linux, "flows[0].linux.cc", "needs ecn");
    refuses(
        at,
        tcp("dctcp", json!("ect2")),
        "flows[0].transport",
        "ecn is true, false or \"ect1\", not \"ect2\"",
    );
}

#[test]
fn unknown_keys_are_named_with_their_place() {
    refuses(
        "/links/1/delai",
        json!(1),
        "links[1].delai",
        "unknown field",
    );
    refuses(
        "/record/window",
        json!([]),
        "record.window",
        "unknown field",
    );
    let options = json!({"kind": "tcp", "options": {"sak": true}});
    refuses(
        "/flows/0/transport",
        options,
        "flows[0].transport.options",
        "sak",
    );
    let wrong = json!({"kind": "tcp", "options": {"min_rto_ms": 0}});
    refuses(
        "/flows/0/transport",
        wrong,
        "flows[0].transport.options",
        "min_rto_ms",
    );
    let over = json!({"options": {"min_rto_ms": 0}});
    refuses("/flows/0/sim", over, "flows[0].sim.options", "min_rto_ms");
}

#[test]
fn ways_that_do_not_join() {
    refuses(
        "/flows/0/path",
        json!(["bottleneck"]),
        "flows[0].path[0]",
        "begins at 'r'",
    );
    refuses(
        "/flows/0/path",
        json!(["up"]),
        "flows[0].path",
        "ends at 'r'",
    );
    refuses(
        "/flows/0/reverse_path",
        json!([]),
        "flows[0].reverse_path",
        "ends at 'd'",
    );
    refuses(
        "/links/2/to",
        json!("r"),
        "flows[0].reverse_path",
        "no way leads",
    );
    refuses(
        "/flows/0/to",
        json!("s"),
        "flows[0].to",
        "at the same node, 's'",
    );
}

#[test]
fn names_used_twice() {
    refuses(
        "/nodes",
        json!(["s", "r", "d", "s"]),
        "nodes[3]",
        "'s' is there twice",
    );
    refuses(
        "/links/0/name",
        json!("back"),
        "links[2].name",
        "'back' is there twice",
    );
}

#[test]
fn traffic_over_the_wrong_transport() {
    refuses(
        "/flows/0/transport",
        json!({"kind": "udp"}),
        "flows[0].transport",
        "a 'bulk' source sends by 'tcp'",
    );
    let cbr = json!({"kind": "cbr", "rate": 64_000, "payload": 160});
    refuses(
        "/flows/0/app",
        cbr,
        "flows[0].transport",
        "a 'cbr' source sends by 'udp'",
    );
}

#[test]
fn windows_outside_the_run() {
    let window = |from_ns, to_ns| json!([{"name": "w", "from": from_ns, "to": to_ns}]);
    let key = "record.windows[0].to";
    refuses(
        "/record/windows",
        window(S, 11 * S),
        key,
        "is after the end",
    );
    refuses(
        "/record/windows",
        window(2 * S, S),
        key,
        "not later than its beginning",
    );
}

#[test]
fn time_that_would_stand_still() {
    let scenario = json!({
        "format": 2, "duration": S, "nodes": ["s", "d"],
        "links": [{"name": "a", "from": "s", "to": "d"}, {"name": "b", "from": "d", "to": "s"}],
        "flows": [{
            "name": "bulk", "from": "s", "to": "d", "transport": {"kind": "tcp"},
            "app": {"kind": "bulk"}
        }]
    });
    let fault = Scenario::from_json(&scenario.to_string()).expect_err("no time");
    assert_eq!(fault.key, "flows[0]");
    assert!(fault.reason.contains("stand still"), "{}", fault.reason);
}

#[test]
fn time_that_would_stand_still_from_a_change_on() {
    let mut scenario = json!({
        "format": 2, "duration": S, "nodes": ["s", "d"],
        "links": [
            {"name": "a", "from": "s", "to": "d", "delay": MS,
             "delays": [{"at": MS, "delay": 0}]},
            {"name": "b", "from": "d", "to": "s"}
        ],
        "flows": [{
            "name": "bulk", "from": "s", "to": "d", "transport": {"kind": "tcp"},
            "app": {"kind": "bulk"}
        }]
    });
    let fault = Scenario::from_json(&scenario.to_string()).expect_err("no time");
    assert_eq!(fault.key, "flows[0]");
    assert!(fault.reason.contains("stand still"), "{}", fault.reason);
    scenario["links"][0]["delays"][0]["delay"] = json!(1);
    assert!(Scenario::from_json(&scenario.to_string()).is_ok());
}

#[test]
fn later_delays() {
    let step = |at_ns: u64, delay_ns: u64| json!({"at": at_ns, "delay": delay_ns});
    let refusal = |steps: &[Value]| {
        let mut scenario = dumbbell(2, &json!({"algorithm": "codel"}), &json!({}));
        scenario["links"][1]["delays"] = json!(steps);
        let fault = Scenario::from_json(&scenario.to_string()).expect_err("no step");
        (fault.key, fault.reason)
    };
    let (key, reason) = refusal(&[step(S, 5), step(S, 6)]);
    assert_eq!(key, "links[1].delays[1].at");
    assert!(reason.contains("not later"), "{reason}");
    let (key, reason) = refusal(&[step(S, u64::MAX)]);
    assert_eq!(key, "links[1].delays[0].delay");
    assert!(reason.contains("a year"), "{reason}");
}

#[test]
fn a_delay_of_an_hour_is_no_fault() {
    let mut scenario = dumbbell(1, &json!({"algorithm": "fifo"}), &json!({}));
    scenario["links"][0]["delay"] = json!(3_600 * 1_000 * MS);
    assert!(Scenario::from_json(&scenario.to_string()).is_ok());
}
