// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! The sending half of TCP. State: `sender`, `scoreboard`. Policy, in the order in which an
//! acknowledgement meets it: `ack` (what it is; `ack_fast` when that is nothing special),
//! `sacktag` (SACK blocks; `reno_sack` without them), `rack` (what is lost), `tlp` (the probe),
//! `recovery` (states), `undo` (needless reductions), `prr` (the window meanwhile), `retransmit`
//! and `output` (what is sent).

mod ack;
mod ack_fast;
pub(super) mod output;
mod prr;
mod rack;
mod recovery;
mod reno_sack;
mod retransmit;
mod sacktag;
pub(super) mod scoreboard;
pub(super) mod sender;
mod tlp;
mod undo;
