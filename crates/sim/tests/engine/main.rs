// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! The engine from outside: scenarios in, reports out.

mod clocks;
mod common;
mod conversations;
mod delays;
mod fingerprints;
mod headers;
mod media;
mod over_time;
mod probes;
mod refusals;
mod runs;
mod steps;
mod times;
mod traces;
mod transfers;
mod trees;
mod video;
mod windows;
