// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! The engine: a packet simulator around the queue core. Each room may use those above it, and
//! none below: `tests/test_rooms_rust.py` holds that.
//!
//! - [`base`]: what everything is made of: time, events, rings, random numbers, rates.
//! - [`tcp`]: TCP without input or output of its own.
//! - [`traffic`]: what is sent, as a script.
//! - [`scenario`]: what people ask for, as the engine reads it.
//! - [`measure`]: what is measured at queues and of flows, here and on other hosts.
//! - [`link`]: packets; the queue, the shaper and the delay that they pass.
//! - [`net`]: links, endpoints and flows; the path of a packet between them.
//! - [`run`](mod@run): a run, from a scenario to a report.

pub mod base;
pub mod link;
pub mod measure;
pub mod net;
pub mod run;
pub mod scenario;
pub mod tcp;
pub mod traffic;

pub use base::time::Time;
pub use run::{Control, Error, Report, Unwatched, run};
pub use scenario::Scenario;
