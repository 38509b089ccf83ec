// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Ranges of times, rates and marks.

use super::fault::{Fault, fault};
use crate::base::rate::MIN_RATE_BPS;
use crate::base::time::NS_PER_S;

/// 10 Tbit/s; beyond it a packet would take less than the clock's grain.
const MAX_RATE_BPS: u64 = 10_000_000_000_000;
/// A year: times in ns stay far below 2^63.
const MAX_TIME_NS: u64 = 366 * 86_400 * NS_PER_S;
/// The field has six bits.
const MAX_DSCP: u8 = 63;

pub(super) fn rate(key: &str, rate_bps: u64) -> Result<(), Fault> {
    if (MIN_RATE_BPS..=MAX_RATE_BPS).contains(&rate_bps) {
        return Ok(());
    }
    fault(
        key,
        format!("{rate_bps} is outside {MIN_RATE_BPS} to {MAX_RATE_BPS} bit/s"),
    )
}

/// A step of a schedule is later than the one before it.
pub(super) fn later(key: &str, at_ns: u64, last_ns: &mut Option<u64>) -> Result<(), Fault> {
    let key = format!("{key}.at");
    time(&key, at_ns)?;
    if let Some(last_ns) = last_ns.replace(at_ns).filter(|&last_ns| at_ns <= last_ns) {
        let reason =
            format!("'{at_ns} ns' is not later than the step before it, at '{last_ns} ns'");
        return fault(key, reason);
    }
    Ok(())
}

pub(super) fn time(key: &str, ns: u64) -> Result<(), Fault> {
    if ns <= MAX_TIME_NS {
        return Ok(());
    }
    fault(
        key,
        format!("{ns} ns is more than {MAX_TIME_NS} ns, a year"),
    )
}

/// `at` is the key of what has it.
pub(super) fn check_dscp(at: &str, dscp: u8) -> Result<(), Fault> {
    if dscp <= MAX_DSCP {
        return Ok(());
    }
    fault(
        format!("{at}.dscp"),
        format!("{dscp} is outside 0 to {MAX_DSCP}"),
    )
}
