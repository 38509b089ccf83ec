// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! The engine: a packet simulator around the queue core.
pub mod event;
pub mod packet;
pub mod rng;
pub mod time;
pub mod transport;

pub use time::Time;
