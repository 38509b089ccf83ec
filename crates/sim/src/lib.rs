// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! The engine: a packet simulator around the queue core. In reading order:
//!
//! - [`time`], [`event`], [`packet`], [`ring`], [`rng`]: what everything is made of.
//! - [`shared`]: what the parts of a net share. [`wire`], [`port`], [`server`], [`link`]: delay;
//!   the queue in front of it, and what it counts of a packet ([`frame`]); the shaper between them
//!   ([`rate`]); all three together.
//!   [`route`]: ways through the graph.
//! - [`transport`]: TCP and UDP, without input or output of their own.
//! - [`traffic`]: what is sent, as a script; [`app`], [`talk`], [`endpoint`]: a flow, its
//!   conversations, and the two ends of each.
//! - [`net`]: the way of a packet between all of these, and the playing of scripts.
//! - [`record`]: what is measured.
//! - [`observed`]: the same, of packets that were seen in another world.
//! - [`scenario`]: what people ask for; [`sim`]: a run, from there to a report.

pub mod agenda;
pub mod app;
pub mod endpoint;
pub mod event;
pub mod frame;
pub mod link;
pub mod net;
pub mod observed;
mod opportunities;
pub mod packet;
pub mod port;
pub mod rate;
pub mod record;
pub mod ring;
pub mod rng;
pub mod route;
pub mod scenario;
pub mod server;
pub mod shared;
pub mod sim;
pub mod talk;
pub mod time;
pub mod traffic;
pub mod transport;
pub mod wire;

pub use scenario::Scenario;
pub use sim::{Control, Error, Report, Unwatched, run};
pub use time::Time;
