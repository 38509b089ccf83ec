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
    known.iter().position(|of| *of == name).expect("a group of these tests")
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
