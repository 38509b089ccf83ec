// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! The first room: time, events, rings, random numbers and rates, of which everything is made.
//! It also has the two things of a packet that both ends and queues know: its ECN field and its
//! datagram. It uses no other room.

pub mod datagram;
pub mod ecn;
pub mod event;
pub mod rate;
pub mod ring;
pub mod rng;
pub mod time;
