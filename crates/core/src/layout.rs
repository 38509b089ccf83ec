// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Whether `ffi` mirrors the C side: its sizes, offsets and lengths beside those that the C
//! side tells of itself.

use std::collections::BTreeMap;
use std::mem::offset_of;

use crate::ffi;
use crate::rows::text;

/// The size of a mirror and the offsets of its members, under their names in C.
macro_rules! mirror {
    ($of:ty, $name:literal: $($member:ident = $c:literal),+) => {
        [($name.to_owned(), size_of::<$of>())]
            .into_iter()
            .chain([$((format!("{}.{}", $name, $c), offset_of!($of, $member))),+])
    };
}

fn here() -> BTreeMap<String, usize> {
    let lengths = [
        ("aqm_abi", ffi::ABI as usize),
        ("aqm_why", ffi::WHY_COUNT),
        ("aqm_bad", ffi::BAD_COUNT),
        // Units are read as a table, so that any number of them will do.
        ("aqm_unit", units()),
    ];
    lengths
        .map(|(name, value)| (name.to_owned(), value))
        .into_iter()
        .chain(mirror!(ffi::Field, "aqm_field":
            name = "name", help = "help", choices = "choices", def = "def", min = "min",
            max = "max", offset = "offset", attr = "attr", kind = "type", unit = "unit",
            flags = "flags"))
        .chain(mirror!(ffi::UnitInfo, "aqm_unit_info":
            name = "name", base = "base", multiply = "multiply", divide = "divide", note = "note"))
        .chain(mirror!(ffi::Default, "aqm_default": row = "row", value = "value"))
        .chain(mirror!(ffi::Algo, "aqm_algo":
            name = "name", brief = "brief", source = "source", abi = "abi", flags = "flags",
            queues = "queues", conf_bytes = "conf_bytes", state_bytes = "state_bytes",
            params = "params", stats = "stats", defaults = "defaults"))
        .chain(mirror!(ffi::Setup, "aqm_setup":
            limit = "limit", limit_bytes = "limit_bytes", ecn = "ecn", flows = "flows",
            quantum = "quantum", memory_limit = "memory_limit", bandwidth = "bandwidth"))
        .chain(mirror!(ffi::Refusal, "aqm_refusal": row = "row", sentence = "sentence"))
        .chain(mirror!(ffi::Counters, "aqm_counters":
            in_pkts = "in_pkts", in_bytes = "in_bytes", out_pkts = "out_pkts",
            out_bytes = "out_bytes", drop_bytes = "drop_bytes", unmarkable = "unmarkable",
            drops = "drops", marks = "marks", bad = "bad"))
        .chain(mirror!(crate::Slot, "slot":
            enq_ns = "keep.enq_ns", flow = "keep.flow", own = "keep.own",
            len_bytes = "len_bytes", next = "next", mem_bytes = "mem_bytes", ecn = "ecn",
            dscp = "dscp", why = "why", probe = "probe"))
        .chain(mirror!(ffi::Probes, "aqm_probes":
            joined = "joined", refused = "refused", left = "left", freed = "freed",
            answered = "answered"))
        .chain(mirror!(ffi::Front, "front":
            freed_count = "freed_count", freed_first = "freed_first",
            probe_asked = "probe_asked", pkts = "pkts",
            bytes = "bytes"))
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
