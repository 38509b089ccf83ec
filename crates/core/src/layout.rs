// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Whether `ffi` mirrors the C side: compares its sizes, offsets and lengths with those in
//! the tables of the C side.

use std::collections::BTreeMap;
use std::mem::offset_of;

use crate::ffi::{self, text};

/// A member's name in C: its own, unless another is given.
macro_rules! in_c {
    ($member:ident) => {
        stringify!($member)
    };
    ($member:ident $c:literal) => {
        $c
    };
}

/// The size of a mirror and the offsets of its members, under their names in C.
macro_rules! mirror {
    ($of:ty, $name:literal: $($member:ident $(= $c:literal)?),+) => {
        [($name.to_owned(), size_of::<$of>())]
            .into_iter()
            .chain([$((
                format!("{}.{}", $name, in_c!($member $($c)?)),
                offset_of!($of, $member),
            )),+])
    };
}

fn here() -> BTreeMap<String, usize> {
    let lengths = [
        ("aqm_abi", ffi::ABI as usize),
        ("aqm_why", ffi::WHY_COUNT),
        ("aqm_bad", ffi::BAD_COUNT),
        // Rust reads units from their table, so any number of them will do.
        ("aqm_unit", units()),
    ];
    lengths
        .map(|(name, value)| (name.to_owned(), value))
        .into_iter()
        .chain(mirror!(ffi::Field, "aqm_field":
            name, help, choices, def, min, max, offset, attr, kind = "type", unit, flags))
        .chain(mirror!(ffi::UnitInfo, "aqm_unit_info": name, base, multiply, divide, note))
        .chain(mirror!(ffi::Default, "aqm_default": row, value))
        .chain(mirror!(ffi::Algo, "aqm_algo":
            name, brief, source, abi, flags, queues, conf_bytes, state_bytes, params, stats,
            defaults))
        .chain(mirror!(ffi::Setup, "aqm_setup":
            limit, limit_bytes, ecn, flows, quantum, memory_limit, bandwidth,
            drop_batch))
        .chain(mirror!(ffi::Refusal, "aqm_refusal": row, sentence))
        .chain(mirror!(crate::Counters, "aqm_counters":
            in_pkts, in_bytes, out_pkts, out_bytes, drop_bytes, unmarkable, drops, marks, bad))
        .chain(mirror!(crate::Slot, "slot":
            enq_ns = "keep.enq_ns", flow = "keep.flow", own = "keep.own", len_bytes, next,
            mem_bytes, ecn, dscp, why, probe))
        .chain(mirror!(crate::Probes, "aqm_probes": joined, refused, left, freed, answered))
        .chain(mirror!(crate::Flows, "aqm_flows":
            new_flow_count, new_flows_len, old_flows_len, collisions,
            delay_mean_ns, delay_sparse_ns, delay_peak_ns, memory_used_bytes))
        .chain(mirror!(ffi::Front, "front": freed_count, freed_first, probe_asked, pkts, bytes))
        .collect()
}

/// What the tables of the library and of the host say.
fn there() -> BTreeMap<String, usize> {
    // SAFETY: both tables are constant and end with a nameless entry.
    let tables = unsafe {
        [
            entries((&raw const ffi::aqm_layouts).cast()),
            entries((&raw const ffi::core_layouts).cast()),
        ]
    };
    tables.concat().into_iter().collect()
}

/// # Safety
/// `at` is a constant table that ends with a nameless entry.
unsafe fn entries(mut at: *const ffi::Layout) -> Vec<(String, usize)> {
    let mut all = Vec::new();
    unsafe {
        while let Some(entry) = at.as_ref().filter(|entry| !entry.name.is_null()) {
            all.push((text(entry.name).to_owned(), entry.value as usize));
            at = at.add(1);
        }
    }
    all
}

/// How many units the library has.
pub(crate) fn units() -> usize {
    // SAFETY: as in `there`.
    let all = unsafe { entries((&raw const ffi::aqm_layouts).cast()) };
    let units = all.iter().find(|(name, _)| name == "aqm_unit");
    units.map_or(0, |&(_, count)| count)
}

/// # Panics
/// When this crate and the C library that it was linked with disagree.
pub(crate) fn check() {
    let (here, there) = (here(), there());
    if here == there {
        return;
    }
    let names = here.keys().chain(there.keys());
    let differ = names.filter(|&name| here.get(name) != there.get(name));
    let differ: std::collections::BTreeSet<_> = differ.map(String::as_str).collect();
    panic!("ffi.rs does not mirror the C library: {differ:?}");
}
