// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Several queues at a link's end: who sends, and how much, beside Linux 6.12.

use crate::common::{MS, S, play};
use serde_json::{Value, json};
use sojourn_sim::Report;

const MBPS: u64 = 1_000_000;

/// That of a group and of the class for it.
fn dscp(name: &str) -> usize {
    let known = ["A1", "A2", "B1", "B2", "m1", "m2", "m3"];
    known
        .iter()
        .position(|of| *of == name)
        .expect("a group of these tests")
}

/// Datagrams of 1,514 bytes on the wire, of each group so many Mbit/s, into the stages of a link.
fn offered(groups: &[(&str, u64)], end: &Value) -> Value {
    let flow = |(name, mbps): &(&str, u64)| {
        json!({
            "name": name, "dscp": dscp(name), "from": "a", "to": "b", "transport": {"kind": "udp"},
            "app": {"kind": "cbr", "rate": mbps * MBPS, "payload": 1_472}, "start_spread": 10 * MS
        })
    };
    json!({
        "format": 2, "duration": 10 * S, "nodes": ["a", "r", "b"],
        "links": [
            {"name": "x", "from": "a", "to": "r", "rate": 1_000 * MBPS,
             "queue": {"algorithm": "fifo", "limit": 1_000}},
            {"name": "tree", "from": "r", "to": "b", "end": end}
        ],
        "flows": groups.iter().map(flow).collect::<Vec<_>>(),
        "record": {
            "queues": ["tree"], "windows": [{"name": "late", "from": 2 * S, "to": 10 * S}]
        }
    })
}

/// A class of HTB: its name, its parent, rate and ceiling in Mbit/s; a leaf takes the group of its
/// name.
fn class(name: &str, parent: Option<&str>, rate_mbps: u64, ceil_mbps: u64, more: Value) -> Value {
    let mut class = json!({
        "name": name, "rate": rate_mbps * MBPS, "ceil": ceil_mbps * MBPS, "quantum": 1_514
    });
    if let Some(parent) = parent {
        class["parent"] = json!(parent);
    }
    merge(&mut class, more);
    class
}

fn merge(into: &mut Value, more: Value) {
    let more = more.as_object().expect("keys").clone();
    into.as_object_mut().expect("keys").extend(more);
}

fn leaf(name: &str, parent: Option<&str>, rate_mbps: u64, ceil_mbps: u64, more: Value) -> Value {
    let mut queue = json!({
        "match": [{"dscp": [dscp(name)]}], "queue": {"algorithm": "fifo", "limit": 200}
    });
    merge(&mut queue, more);
    class(name, parent, rate_mbps, ceil_mbps, queue)
}

fn htb(classes: &[Value]) -> Value {
    json!([{"kind": "htb", "name": "htb", "classes": classes}])
}

/// Root 24; A 16 over A1 10 and A2 6; B 8 over B1 5 and B2 3: all up to 24. `more` lies over the
/// leaves of these names.
fn three_levels(more: &[(&str, Value)]) -> Value {
    let own = |name| {
        let own = more.iter().find(|(of, _)| *of == name || *of == "all");
        own.map_or(json!({}), |(_, more)| more.clone())
    };
    htb(&[
        class("root", None, 24, 24, json!({})),
        class("A", Some("root"), 16, 24, json!({})),
        class("B", Some("root"), 8, 24, json!({})),
        leaf("A1", Some("A"), 10, 24, own("A1")),
        leaf("A2", Some("A"), 6, 24, own("A2")),
        leaf("B1", Some("B"), 5, 24, own("B1")),
        leaf("B2", Some("B"), 3, 24, own("B2")),
    ])
}

/// Three modems of 8 to 16 Mbit/s below a parent.
fn modems(parent_mbps: u64) -> Value {
    let modem = |name| leaf(name, Some("cmts"), 8, 16, json!({}));
    htb(&[
        class("cmts", None, parent_mbps, parent_mbps, json!({})),
        modem("m1"),
        modem("m2"),
        modem("m3"),
    ])
}

/// What classes sent, in Mbit/s.
fn sent_mbps(report: &Report, names: &[&str]) -> Vec<f64> {
    let sent = |name: &&str| {
        let name = format!("tree/{name}");
        let class = report.classes.iter().find(|class| class.name == name);
        let window = &class.expect("a recorded class").windows[0];
        window.sent_bytes as f64 * 8.0 / (window.to_s - window.from_s) / 1e6
    };
    names.iter().map(sent).collect()
}

/// Holds what classes send to within a tenth of a per cent, and two packets at the window's edges.
fn sends(groups: &[(&str, u64)], end: &Value, names: &[&str], mbps: &[f64]) {
    let report = play(&offered(groups, end), 1);
    let sent = sent_mbps(&report, names);
    for ((name, sent), mbps) in names.iter().zip(&sent).zip(mbps) {
        let near = mbps * 1e-3 + 2.0 * 1_514.0 * 8.0 / 8.0 / 1e6;
        assert!(
            (sent - mbps).abs() < near,
            "{name}: {sent:.3} for {mbps:.3} of {names:?}: {sent:?}"
        );
    }
}

const LEAVES: [&str; 4] = ["A1", "A2", "B1", "B2"];
const OVERLOAD: [(&str, u64); 4] = [("A1", 36), ("A2", 36), ("B1", 36), ("B2", 36)];

/// Linux 6.12.117, `tc` by hand: the same load, trees and bursts.
#[test]
fn classes_share_a_rate_as_those_of_linux() {
    let plain = three_levels(&[]);
    sends(&OVERLOAD, &plain, &LEAVES, &[10.0, 6.0, 4.999, 3.001]);
    sends(&OVERLOAD[1..], &plain, &LEAVES[1..], &[16.0, 4.999, 3.001]);
    sends(&OVERLOAD[..2], &plain, &LEAVES[..2], &[14.0, 10.0]);
    let usual = three_levels(&[("all", json!({"quantum": null}))]);
    sends(&OVERLOAD[..2], &usual, &LEAVES[..2], &[14.999, 9.001]);
    let later = three_levels(&[("A1", json!({"prio": 1}))]);
    sends(&OVERLOAD[..2], &later, &LEAVES[..2], &[10.0, 14.0]);
    let later = three_levels(&[("B1", json!({"prio": 1}))]);
    sends(&OVERLOAD, &later, &LEAVES, &[10.0, 6.0, 4.999, 3.001]);
}

#[test]
fn a_parent_holds_no_leaf_below_its_own_rate() {
    let all = [("m1", 20), ("m2", 20), ("m3", 20)];
    let names = ["m1", "m2", "m3"];
    sends(&all, &modems(21), &names, &[8.0, 8.0, 8.0]);
    sends(&all, &modems(48), &names, &[16.0, 16.0, 16.0]);
    sends(&all[..2], &modems(24), &names[..2], &[12.0, 12.0]);
    let alone = htb(&[leaf("m1", None, 8, 16, json!({}))]);
    sends(&all[..1], &alone, &["m1"], &[8.0]);
}

/// A ring of 24 Mbit/s below a discipline, with so many packets.
fn above_ring(stage: Value, packets: u32, bql: Value) -> Value {
    json!([stage, {
        "kind": "ring", "name": "line", "packets": packets, "bql": bql, "rate": 24 * MBPS
    }])
}

/// A class of a discipline that has no rates.
fn turn(name: &str, more: Value) -> Value {
    let mut class = json!({
        "name": name, "match": [{"dscp": [dscp(name)]}], "queue": {"algorithm": "fifo", "limit": 200}
    });
    merge(&mut class, more);
    class
}

#[test]
fn the_first_band_sends_all_and_the_next_the_rest() {
    let bands = [
        turn("A1", json!({})),
        turn("A2", json!({})),
        turn("B1", json!({})),
    ];
    let prio = json!({"kind": "prio", "name": "bands", "bands": bands});
    let offered = [("A1", 10), ("A2", 36), ("B1", 36)];
    for packets in [0, 16, 256] {
        let end = above_ring(prio.clone(), packets, json!(false));
        // 10 Mbit/s of payload, and 42 bytes of headers to each 1,472.
        let first = 10.0 * 1_514.0 / 1_472.0;
        sends(
            &offered,
            &end,
            &["A1", "A2", "B1"],
            &[first, 24.0 - first, 0.0],
        );
    }
}

#[test]
fn turns_are_as_long_as_their_quanta() {
    let classes = [
        turn("A1", json!({"quantum": 3_028})),
        turn("A2", json!({"quantum": 1_514})),
        turn("B1", json!({"quantum": 100})),
        turn("B2", json!({"quantum": 1_414})),
    ];
    let drr = json!({"kind": "drr", "name": "turns", "classes": classes});
    let end = above_ring(drr, 16, json!(true));
    sends(&OVERLOAD, &end, &LEAVES, &[12.0, 6.0, 0.3963, 5.6037]);
}

#[test]
fn a_discipline_inside_a_class_shares_what_the_class_may_send() {
    let drr = json!({"kind": "drr", "classes": [
        turn("A1", json!({"quantum": 3_028})), turn("A2", json!({"quantum": 1_514}))
    ]});
    let inside =
        json!({"inner": drr, "queue": null, "match": [{"dscp": [dscp("A1"), dscp("A2")]}]});
    let end = htb(&[
        class("root", None, 24, 24, json!({})),
        class("A", Some("root"), 15, 15, inside),
        leaf("B1", Some("root"), 3, 24, json!({})),
    ]);
    sends(
        &OVERLOAD[..3],
        &end,
        &["A1", "A2", "A", "B1"],
        &[10.0, 5.0, 15.0, 9.0],
    );
}

/// The mean number of packets in the ring, and the mean delay from queue to last bit.
fn ring_pkts_and_system_ms(packets: u32, bql: Value) -> (f64, f64) {
    let prio = json!({"kind": "prio", "name": "bands", "bands": [turn("A1", json!({}))]});
    let report = play(&offered(&[("A1", 36)], &above_ring(prio, packets, bql)), 1);
    let ring = report.classes.iter().find(|class| class.kind == "ring");
    let queue = &report.queues[0].windows[0];
    let waited =
        queue.system_delay_ms.mean.expect("packets") - queue.queue_delay_ms.mean.expect("packets");
    (ring.expect("a ring").windows[0].backlog_pkts, waited)
}

#[test]
fn a_ring_is_full_under_load_unless_its_bytes_are_bounded() {
    // A packet of 1,514 bytes takes 0.5047 ms at 24 Mbit/s.
    let packet_ms = 1_514.0 * 8.0 / 24_000.0;
    let no_bytes = [(0, json!(false)), (16, json!(false)), (256, json!(false))];
    // One packet is on the line whatever the bytes are.
    for (packets, bql) in no_bytes
        .into_iter()
        .chain([(0, json!(true)), (0, json!(1))])
    {
        let (held, waited_ms) = ring_pkts_and_system_ms(packets, bql);
        assert!((held - f64::from(packets)).abs() < 0.6, "{packets}: {held}");
        let due_ms = f64::from(packets + 1) * packet_ms;
        assert!(
            (waited_ms - due_ms).abs() < packet_ms,
            "{packets}: {waited_ms} for {due_ms}"
        );
    }
    for bql in [json!(true), json!(1)] {
        let (held, waited_ms) = ring_pkts_and_system_ms(0, bql);
        assert!(held == 0.0 && waited_ms < 1.1 * packet_ms, "{waited_ms}");
    }
    let (held, _) = ring_pkts_and_system_ms(256, json!(15_140));
    assert!((9.0..=10.0).contains(&held), "{held}");
    let (held, _) = ring_pkts_and_system_ms(256, json!(true));
    assert!(held < 3.0, "{held}");
}

#[test]
fn a_class_has_its_later_rate_and_keeps_its_debt() {
    let later = json!({"schedule": [{"at": 6 * S, "rate": 2 * MBPS, "ceil": 4 * MBPS}]});
    let end = htb(&[
        class("root", None, 24, 24, json!({})),
        leaf("A1", Some("root"), 10, 12, later),
        leaf("A2", Some("root"), 1, 24, json!({})),
    ]);
    // Of the window's 8 s four are at the ceiling of before and four at that of after.
    sends(&OVERLOAD[..2], &end, &["A1", "A2"], &[8.0, 16.0]);
}

#[test]
fn what_does_not_fit_in_a_lower_stage_is_dropped_there() {
    let mut end = modems(48);
    let below = json!({
        "kind": "queue", "name": "cable", "rate": 21 * MBPS,
        "queue": {"algorithm": "fifo", "limit": 100}
    });
    end.as_array_mut().expect("stages").push(below);
    let all = [("m1", 20), ("m2", 20), ("m3", 20)];
    let report = play(&offered(&all, &end), 1);
    let names: Vec<_> = report.queues.iter().map(|queue| &queue.name[..]).collect();
    assert_eq!(
        names,
        ["tree/htb/m1", "tree/htb/m2", "tree/htb/m3", "tree/cable"]
    );
    let cable = &report.queues[3].windows[0];
    assert!(
        (cable.utilisation_pct - 100.0).abs() < 0.1,
        "{}",
        cable.utilisation_pct
    );
    // 48 Mbit/s come, 21 leave.
    let drop_pct = cable.drop_pct.expect("packets came");
    assert!((drop_pct - 100.0 * 27.0 / 48.0).abs() < 0.5, "{drop_pct}");
}

#[test]
fn probes_of_a_class_measure_the_stage_below() {
    let mut scenario = offered(
        &[("A1", 15)],
        &json!([
            {"kind": "htb", "name": "ip", "classes": [
                class("root", None, 16, 16, json!({})),
                leaf("A1", Some("root"), 8, 16, json!({"queue": {"algorithm": "asqm", "limit": 1_000}})),
                leaf("A2", Some("root"), 1, 16, json!({"match": [{"transport": ["probe"]}]})),
            ]},
            {"kind": "queue", "name": "mac", "rate": 10 * MBPS,
             "queue": {"algorithm": "fifo", "limit": 1_000}}
        ]),
    );
    let back = json!({"name": "back", "from": "b", "to": "r"});
    scenario["links"].as_array_mut().expect("links").push(back);
    let report = play(&scenario, 1);
    let probes = report.queues[0].probes.expect("it asks");
    assert!(probes.answered_pkts > 1_000, "{probes:?}");
    assert!(report.queues[0].windows[0].dropped_pkts > 1_000);
    // Without a class for them they are refused, where the packets of the group are not.
    scenario["links"][1]["end"][1] = json!({"kind": "htb", "name": "mac", "classes": [
        leaf("A1", None, 10, 10, json!({"match": [{"flows": ["A1"]}]}))
    ]});
    let fault = sojourn_sim::Scenario::from_json(&scenario.to_string()).expect_err("no class");
    assert_eq!(fault.key, "links[1].end[1]");
    assert!(
        fault.reason.contains("packets of probes from 'r' to 'b'"),
        "{fault}"
    );
}

#[test]
fn probes_whose_class_is_full_are_lost_and_the_rest_goes_on() {
    let mut scenario = offered(
        &[("A1", 15)],
        &json!([
            {"kind": "queue", "name": "ip", "rate": 12 * MBPS,
             "queue": {"algorithm": "asqm", "limit": 1_000}},
            {"kind": "htb", "name": "mac", "classes": [
                leaf("A1", None, 10, 10, json!({"match": [{"flows": ["A1"]}]})),
                {"name": "probes", "rate": 8_000, "match": [{"transport": ["probe"]}],
                 "queue": {"algorithm": "fifo", "limit": 1}},
            ]}
        ]),
    );
    let back = json!({"name": "back", "from": "b", "to": "r"});
    scenario["links"].as_array_mut().expect("links").push(back);
    let report = play(&scenario, 1);
    let probes = report.queues[0].probes.expect("it asks");
    assert!(probes.answered_pkts > 100, "{probes:?}");
    assert!(probes.joined_pkts > 2 * probes.answered_pkts, "{probes:?}");
    let bits = report.classes[0].windows[0].sent_bytes * 8;
    let seconds = report.classes[0].windows[0].to_s - report.classes[0].windows[0].from_s;
    assert!(
        (bits as f64 / seconds / 1e7 - 1.0).abs() < 0.01,
        "{bits} in {seconds} s"
    );
}

/// The key and the sentence of the first fault.
fn refusal(end: &Value) -> (String, String) {
    let scenario = offered(&[("A1", 1)], end);
    let fault = sojourn_sim::Scenario::from_json(&scenario.to_string()).expect_err("a fault");
    (fault.key, fault.reason)
}

#[test]
fn trees_that_cannot_be_are_refused_with_their_key() {
    fn a1(parent: Option<&str>, more: Value) -> Value {
        leaf("A1", parent, 8, 16, more)
    }
    let root = || class("root", None, 24, 24, json!({}));
    let at = "links[1].end[0]";
    let deep = |levels: usize| {
        let name = |level: usize| format!("c{level}");
        let above = (0..levels - 1).map(|level| {
            let parent = level.checked_sub(1).map(name);
            class(&name(level), parent.as_deref(), 24, 24, json!({}))
        });
        let last = a1(Some(&name(levels - 2)), json!({}));
        htb(&above.chain([last]).collect::<Vec<_>>())
    };
    play(&offered(&[("A1", 1)], &deep(8)), 1);
    let ring = json!({"kind": "ring", "name": "line", "packets": 1, "rate": MBPS});
    let queue = json!({"kind": "queue", "name": "q", "rate": MBPS});
    let band = json!({"kind": "prio", "name": "p", "bands": [turn("A1", json!({}))]});
    for (end, key, reason) in [
        (
            htb(&[a1(Some("no"), json!({}))]),
            ".classes[0].parent",
            "there is no class 'no'",
        ),
        (
            htb(&[class("x", Some("x"), 1, 1, json!({}))]),
            ".classes[0].parent",
            "above itself",
        ),
        (deep(9), ".classes[8].parent", "more than 8 levels"),
        (
            htb(&[
                a1(None, json!({})),
                class(
                    "y",
                    Some("A1"),
                    1,
                    1,
                    json!({"queue": {"algorithm": "fifo"}}),
                ),
            ]),
            ".classes[0].queue",
            "holds no packets",
        ),
        (htb(&[root()]), ".classes[0].queue", "needs a queue"),
        (
            htb(&[leaf("A1", None, 8, 4, json!({}))]),
            ".classes[0].ceil",
            "below the rate",
        ),
        (
            htb(&[a1(None, json!({})), a1(None, json!({}))]),
            ".classes[1].name",
            "there twice",
        ),
        (
            htb(&[a1(None, json!({"match": [{"flows": ["x"]}]}))]),
            ".classes[0].match[0].flows",
            "no flows 'x'",
        ),
        (
            htb(&[a1(None, json!({"match": [{"via": ["x"]}]}))]),
            ".classes[0].match[0].via",
            "no node 'x'",
        ),
        (
            htb(&[a1(None, json!({"match": [{}]}))]),
            ".classes[0].match[0]",
            "fits nothing",
        ),
        (
            htb(&[a1(None, json!({"match": [{"dscp": [46]}]}))]),
            "",
            "no class takes the packets of 'A1'",
        ),
        (
            htb(&[a1(None, json!({"quantum": 0}))]),
            ".classes[0].quantum",
            "sends nothing",
        ),
        (json!([ring.clone()]), ".kind", "pulls from one above"),
        (
            json!([ring.clone(), queue.clone()]),
            ".kind",
            "pulls from one above",
        ),
        (
            json!([queue, ring]),
            ".rate",
            "the ring below sets the pace",
        ),
        (json!([band]), ".kind", "put a ring directly below it"),
    ] {
        let (of, sentence) = refusal(&end);
        assert_eq!(of, format!("{at}{key}"), "{sentence}");
        assert!(sentence.contains(reason), "{sentence}");
    }
}
