// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! The room of measurement. `record` measures a queue, `report` reckons what flows have counted
//! (`counts`), and `from_guest` does both for packets of another host. It uses `base`, `tcp`,
//! `traffic` and `scenario`.

pub mod counts;
pub mod from_guest;
pub mod record;
pub mod report;
