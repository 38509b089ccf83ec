// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! TCP as Linux 6.12 speaks it, without input or output of its own: segments and deadlines go in,
//! segments, deadlines and events come out. It uses `base` alone, and knows neither nodes nor links
//! nor queues.
//!
//! State is apart from policy. `connection` holds all state together, and each file of policy adds
//! to it. `send` is the sending half, `receive` the receiving one, `cc` the congestion window.
//! Files for both halves: `handshake` begins a connection, and `ecn` handles marks. `rtt` measures
//! round trips, `timers` keeps deadlines, and `clock` rounds them as Linux's timer wheel does.
//! `outgoing` makes segments of decisions, and `segment` is their form. `metrics` keeps facts of a
//! path for the next connection, `stats` has counters, and `config` has the switches.
//!
//! `docs/inside/tcp.md` lists each behaviour, its source and its switch.

mod cc;
mod clock;
mod config;
mod connection;
mod ecn;
mod handshake;
mod metrics;
mod outgoing;
mod receive;
mod rtt;
mod segment;
mod send;
mod stats;
mod timers;

#[cfg(test)]
mod tests;

pub use config::{CongestionControl, RtoForm, TcpConfig};
pub use connection::{Connection, Event};
pub use metrics::PathMetrics;
pub use segment::{Flags, MAX_SACK_BLOCKS, SackBlock, Segment};
pub use stats::{TcpCounts, TcpStats};
