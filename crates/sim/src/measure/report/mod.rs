// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Reports of flows, reckoned from what any host has counted.

mod counted;
mod flows;
mod speech;
mod times;

pub use counted::{Counted, FlowCounted};
pub use flows::{EchoReport, FlowReport, FlowsReport, TransportWindow, fairness};
pub use times::CompletionReport;
