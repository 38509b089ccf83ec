// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! `aqm.h`, `field.h`, `setup.h` and `host.c` as Rust sees them, written by hand. [`Slot`],
//! [`Counters`], [`Probes`] and [`Flows`] mirror structs of theirs too.

use std::ffi::{CStr, c_char, c_void};

use crate::{Counters, Flows, Probes, Slot};

pub const ABI: u32 = 3;
pub const NIL: u32 = u32::MAX;
pub const WHY_COUNT: usize = 10;
pub const BAD_COUNT: usize = 8;
pub const FIXED: u8 = 1;
pub const SAMPLES: u32 = 1;
pub const MARKS: u32 = 2;
pub const AT_TAIL: u32 = 4;
pub const AT_HEAD: u32 = 8;
pub const NEEDS_RATE: u32 = 16;

#[repr(C)]
#[derive(Debug)]
pub struct Field {
    pub name: *const c_char,
    pub help: *const c_char,
    pub choices: *const *const c_char,
    pub def: u64,
    pub min: u64,
    pub max: u64,
    pub offset: u32,
    pub attr: u16,
    pub kind: u8,
    pub unit: u8,
    pub flags: u8,
}

#[repr(C)]
#[derive(Debug)]
pub struct UnitInfo {
    pub name: *const c_char,
    pub base: *const c_char,
    pub multiply: u64,
    pub divide: u64,
    pub note: *const c_char,
}

#[repr(C)]
pub struct Default {
    pub row: *const c_char,
    pub value: u64,
}

#[repr(C)]
pub struct Layout {
    pub name: *const c_char,
    pub value: u32,
}

/// The functions are never called from Rust: their places are kept as pointers.
#[repr(C)]
pub struct Algo {
    pub name: *const c_char,
    pub brief: *const c_char,
    pub source: *const c_char,
    pub abi: u32,
    pub flags: u32,
    pub queues: u32,
    pub conf_bytes: u32,
    pub state_bytes: u32,
    pub params: *const Field,
    pub stats: *const Field,
    pub defaults: *const Default,
    pub check: *const c_void,
    pub configure: *const c_void,
    pub start: *const c_void,
    pub enqueue: *const c_void,
    pub overflow: *const c_void,
    pub pick: *const c_void,
    pub dequeue: *const c_void,
    pub empty: *const c_void,
    pub gone: *const c_void,
    pub tick: *const c_void,
    pub idle: *const c_void,
    pub echo: *const c_void,
}

// Tables of constants: nothing behind these pointers is ever written.
unsafe impl Sync for Algo {}
unsafe impl Sync for Field {}
unsafe impl Sync for UnitInfo {}
unsafe impl Sync for Layout {}

#[repr(C)]
#[derive(Clone, Copy, std::default::Default)]
pub struct Setup {
    pub limit: u32,
    pub limit_bytes: u32,
    pub ecn: u32,
    pub flows: u32,
    pub quantum: u32,
    pub memory_limit: u32,
    pub bandwidth: u64,
    pub drop_batch: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Refusal {
    pub row: *const Field,
    pub sentence: *const c_char,
}

/// The first members of `struct core_queue`.
#[repr(C)]
pub struct Front {
    slots: *mut Slot,
    nslots: u32,
    pub freed_count: u32,
    pub freed_first: u32,
    freed_last: u32,
    pub probe_asked: u32,
    queue: [u64; 0], // `struct aqm_queue` begins here, aligned as its u64
    pub pkts: u32,
    pub bytes: u32,
}

unsafe extern "C" {
    pub static aqm_all: [*const Algo; 0];
    pub static aqm_setup_rows: [Field; 0];
    pub static aqm_units: [UnitInfo; 0];
    pub static aqm_layouts: [Layout; 0];
    pub static core_layouts: [Layout; 0];

    pub fn aqm_why_name(why: u32) -> *const c_char;
    pub fn aqm_bad_name(bad: u32) -> *const c_char;
    pub fn aqm_field_get(row: *const Field, base: *const c_void) -> u64;
    pub fn aqm_field_set(row: *const Field, base: *mut c_void, value: u64) -> *const c_char;
    pub fn aqm_setup_default(algo: *const Algo, row: *const Field) -> u64;
    pub fn aqm_setup_defaults(algo: *const Algo, setup: *mut Setup);
    pub fn aqm_field_defaults(rows: *const Field, base: *mut c_void);
    pub fn aqm_setup_check(
        algo: *const Algo,
        setup: *const Setup,
        conf: *const c_void,
        old_setup: *const Setup,
        old_conf: *const c_void,
        room: u32,
    ) -> Refusal;

    pub fn core_mem(algo: *const Algo, setup: *const Setup) -> usize;
    pub fn core_init(
        queue: *mut c_void,
        algo: *const Algo,
        setup: *const Setup,
        conf: *const c_void,
        mtu_bytes: u32,
        now: u64,
        seed: u64,
    );
    pub fn core_enqueue(
        queue: *mut c_void,
        slots: *mut Slot,
        nslots: u32,
        now: u64,
        packet: u32,
    ) -> bool;
    pub fn core_join_probe(
        queue: *mut c_void,
        slots: *mut Slot,
        nslots: u32,
        now: u64,
        inst: u32,
        packet: u32,
    ) -> bool;
    pub fn core_echo(queue: *mut c_void, now: u64, inst: u32, rtt_ns: u64);
    pub fn core_probes(queue: *const c_void) -> *const Probes;
    pub fn core_flows(queue: *const c_void) -> Flows;
    pub fn core_dequeue(queue: *mut c_void, slots: *mut Slot, nslots: u32, now: u64) -> u32;
    pub fn core_change(
        queue: *mut c_void,
        slots: *mut Slot,
        nslots: u32,
        now: u64,
        setup: *const Setup,
        conf: *const c_void,
    ) -> Refusal;
    pub fn core_reset(queue: *mut c_void, slots: *mut Slot, nslots: u32, now: u64);
    pub fn core_stat(queue: *mut c_void, row: *const Field, value: *mut u64) -> bool;
    pub fn core_counters(queue: *const c_void) -> *const Counters;
    pub fn core_setup(queue: *const c_void) -> *const Setup;
    pub fn core_conf(queue: *mut c_void) -> *const c_void;
}

/// # Safety
/// `s` is a static NUL-terminated string of ASCII.
pub unsafe fn text(s: *const c_char) -> &'static str {
    unsafe { CStr::from_ptr(s) }
        .to_str()
        .expect("the library's text is ASCII")
}
