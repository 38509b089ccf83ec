// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! A table of fingerprints: what the engine does must not change unnoticed, nor
//! differ between targets. After a wanted change,
//!
//!     SOJOURN_RENEW=1 cargo test -p sojourn-sim --test engine fingerprints
//!
//! writes the table anew; its difference is reviewed with the change.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::common::{S, datagrams, dumbbell, merge, play, queue_of};

const HEAD: &str = "# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# What each scenario of tests/engine/fingerprints.rs does, as a hash; renewed by the
# command written there.

";

fn scenarios() -> Vec<(String, Value)> {
    let mut all = Vec::new();
    for &algorithm in sojourn_core::algorithms() {
        let name = algorithm.name();
        let queue = queue_of(algorithm, json!({"limit": 100}));
        all.push((format!("{name}-drop"), dumbbell(5, &queue, &json!({}))));
        let queue = queue_of(algorithm, json!({"limit": 100, "ecn": 1}));
        let mut marking = dumbbell(5, &queue, &json!({}));
        marking["flows"][0]["transport"]["ecn"] = json!(true);
        all.push((format!("{name}-ecn"), marking));
    }
    let codel = json!({"algorithm": "codel"});
    for cc in ["cubic", "reno", "htcp"] {
        let mut scenario = dumbbell(3, &codel, &json!({"loss": 0.005}));
        scenario["flows"][0]["transport"]["cc"] = json!(cc);
        all.push((format!("tcp-{cc}"), scenario));
    }
    for shaper in ["tbf", "htb"] {
        let link = json!({
            "shaper": shaper, "schedule": [{"at": 4 * S, "rate": 3_000_000}]
        });
        all.push((format!("shaper-{shaper}"), dumbbell(5, &codel, &link)));
    }
    for distribution in ["normal", "uniform"] {
        let jitter = json!({"distribution": distribution, "sd": 4_000_000});
        let link = json!({"jitter": jitter, "sim": {"ring": 3}});
        all.push((format!("jitter-{distribution}"), dumbbell(5, &codel, &link)));
    }
    let mut short = dumbbell(20, &codel, &json!({}));
    let respawn = json!({"app": {"kind": "respawn", "size": 40_000}});
    merge(&mut short["flows"][0], &respawn);
    all.push(("respawn".into(), short));
    for name in ["fifo", "codel"] {
        let queue = json!({
            "algorithm": name, "limit": 100, "ecn": 1, "flows": 4, "quantum": 300
        });
        let mut shared = dumbbell(12, &queue, &json!({}));
        shared["flows"][0]["transport"]["ecn"] = json!(true);
        all.push((format!("flows-{name}"), shared));
    }
    all.push(("datagrams".into(), datagrams(5, S, &json!({}))));
    let mut l4s = dumbbell(2, &json!({"algorithm": "dualpi2"}), &json!({}));
    let mut scalable = l4s["flows"][0].clone();
    let ect1 = json!({"name": "l4s", "transport": {"kind": "tcp", "cc": "dctcp", "ecn": "ect1"}});
    merge(&mut scalable, &ect1);
    l4s["flows"].as_array_mut().expect("flows").push(scalable);
    all.push(("tcp-dctcp-ect1".into(), l4s));
    all
}

#[test]
fn every_scenario_does_what_it_did() {
    let seen: BTreeMap<_, _> = scenarios()
        .into_iter()
        .map(|(name, scenario)| (name, play(&scenario, 1).fingerprint))
        .collect();
    let mut table = HEAD.to_owned();
    for (name, fingerprint) in &seen {
        writeln!(table, "{name} = \"{fingerprint}\"").expect("memory");
    }
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fingerprints.toml");
    if std::env::var_os("SOJOURN_RENEW").is_some() {
        fs::write(&path, &table).expect("the table can be written");
    }
    let kept = fs::read_to_string(&path).expect("the table");
    for (kept, seen) in kept.lines().zip(table.lines()) {
        assert_eq!(
            kept, seen,
            "if this change is wanted, see the top of this file"
        );
    }
    assert_eq!(kept.lines().count(), table.lines().count());
}
