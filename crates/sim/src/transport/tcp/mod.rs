// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! TCP as Linux 6.12 speaks it, without input or output of its own.
//!
//! State is apart from policy. State: `sender`, `receiver`, `scoreboard`,
//! `window`, `rtt`, `timers`. Policy, in the order in which an acknowledgement
//! meets it: `ack` (what it is; `ack_plain` when that is nothing special),
//! `sacktag` (SACK blocks), `rack` (what is lost), `tlp` (the probe), `recovery`
//! (states), `undo` (needless reductions), `prr` and `cc` (the window),
//! `retransmit` and `output` (what is sent). Of the receiving half: `receiver`
//! (order; `plain` when nothing is out of it), `delack` (when to answer), `rcvbuf` (the
//! window), `ecn` (marks).
//! `handshake` begins a connection, `wire` makes segments of what was decided,
//! and `connection` holds all of it together.
//!
//! `docs/inside/tcp.md` lists each behaviour, its source and its switch.

mod ack;
mod ack_plain;
mod cc;
mod clock;
mod config;
mod connection;
mod delack;
mod ecn;
mod handshake;
mod output;
mod plain;
mod prr;
mod rack;
mod rcvbuf;
mod receiver;
mod recovery;
mod reno_sack;
mod retransmit;
mod rtt;
mod sacktag;
mod scoreboard;
mod segment;
mod sender;
mod stats;
mod timers;
mod tlp;
mod undo;
mod window;
mod wire;

#[cfg(test)]
mod tests;

pub use config::{CongestionControl, RtoForm, TcpConfig};
pub use connection::{Connection, Event};
pub use segment::{Flags, MAX_SACK_BLOCKS, SackBlock, Segment};
pub use stats::TcpStats;
