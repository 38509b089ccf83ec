// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! The receiving half of TCP: `receiver` (order; `fast` when nothing is out of it), `delack`
//! (when to answer), `rcvbuf` (the window).

pub(super) mod delack;
mod fast;
pub(super) mod rcvbuf;
pub(super) mod receiver;
