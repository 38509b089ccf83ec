// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! The queue core in C, made safe.
//!
//! `aqm/` holds the algorithms and the queue around them; this crate compiles it,
//! and is the only place with `unsafe`. Reading order: `host.c` (this host's side of
//! `queue.h`), `ffi` (the C side as Rust sees it), `rows` (algorithms, parameters,
//! statistics), `load` (further algorithms at run time), `queue` (what the engine uses).
//! `application` is the applications of `traffic/`, which this crate compiles too.

mod application;
mod cache;
mod cells;
mod ffi;
#[doc(hidden)]
mod layout;
mod load;
mod queue;
mod rows;

pub use application::{Application, Decision, Viewing};
pub use cache::{prefetch, prefetch_part};
pub use cells::Cells;
pub use load::load;
pub use queue::{Counters, Flows, Freed, Probes, Queue, QueueSpec, Slot};
pub use rows::{
    Algorithm, ConfError, Field, Kind, Unit, algorithms, bad_name, queue_rows, reason_name, units,
};
