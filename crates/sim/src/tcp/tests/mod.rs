// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Two ends of a connection over a pipe with a constant delay and scripted
//! losses: virtual time, nothing random.

mod pair;
mod repair;
mod storm;
mod transfer;
