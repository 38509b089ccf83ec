// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! The response of a queue to each change of the scenario: docs/guide/results.md, "After a change".

use serde::Serialize;

use crate::base::time::{NS_PER_S, Time};
use crate::scenario::{Change, Phase};

/// Delay is settled within so many times its later mean.
const WITHIN: u128 = 2;
/// The link is utilised from so much on.
const UTILISED_PCT: u128 = 90;

/// What a queue has counted up to an edge of the bins, and its largest delay in the bin before.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reading {
    pub at: Time,
    pub delay_ns: u128,
    pub delay_count: u64,
    pub peak_ns: u64,
    pub sent_bytes: u64,
    /// Bits times 1e9.
    pub capacity: u128,
}

/// What came of the changes of one time, until the next one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ResponseReport {
    /// When it changed.
    pub at_s: f64,
    /// The next change, or the end of the run.
    pub to_s: f64,
    /// What changed.
    pub changes: Vec<Change>,
    /// The largest queue delay of a packet that left; null where none did.
    pub peak_delay_ms: Option<f64>,
    /// The mean over the packets that left in the later half of the bins.
    pub later_delay_ms: Option<f64>,
    /// From the change until the delay stays within twice that; null where it does not.
    pub settling_s: Option<f64>,
    /// From the change until the link is utilised; null where it is never.
    pub utilised_s: Option<f64>,
}

/// Sum of delays, packets.
fn delays(from: &Reading, to: &Reading) -> (u128, u128) {
    let count = u128::from(to.delay_count - from.delay_count);
    (to.delay_ns - from.delay_ns, count)
}

fn is_utilised(from: &Reading, to: &Reading) -> bool {
    let bits = u128::from(to.sent_bytes - from.sent_bytes) * 8 * u128::from(NS_PER_S);
    let capacity = to.capacity - from.capacity;
    capacity > 0 && bits * 100 >= capacity * UTILISED_PCT
}

/// Of a phase whose edges were all read.
fn response(phase: Phase, read: &[Reading]) -> Option<ResponseReport> {
    let ms = |ns: f64| ns / 1e6;
    let (first, last) = (read.first()?, read.last()?);
    let bins: Vec<_> = read.windows(2).map(|pair| (&pair[0], &pair[1])).collect();
    let since = |at: Time| (at - first.at) as f64 / NS_PER_S as f64;
    let (later_ns, later_count) = delays(&read[bins.len() / 2], last);
    let is_high = |(from, to): &(&Reading, &Reading)| {
        let (ns, count) = delays(from, to);
        ns * later_count > WITHIN * later_ns * count
    };
    // Where the first bin begins from which on all are low: behind the last that is high.
    let settled = match bins.iter().rposition(is_high) {
        None => Some(first.at),
        Some(high) => bins.get(high + 1).map(|(from, _)| from.at),
    };
    let utilised = bins.iter().find(|(from, to)| is_utilised(from, to));
    let peak_ns = read[1..].iter().map(|end| end.peak_ns).max();
    let any = delays(first, last).1 > 0;
    Some(ResponseReport {
        at_s: first.at.seconds(),
        to_s: last.at.seconds(),
        changes: phase.changes,
        peak_delay_ms: peak_ns.filter(|_| any).map(|ns| ms(ns as f64)),
        later_delay_ms: (later_count > 0).then(|| ms(later_ns as f64 / later_count as f64)),
        settling_s: settled.filter(|_| later_count > 0).map(since),
        utilised_s: utilised.map(|(from, _)| since(from.at)),
    })
}

/// Of all phases. Their edges were read in order; where one ends and the next begins, once.
pub(super) fn responses(phases: Vec<Phase>, read: &[Reading]) -> Vec<ResponseReport> {
    let mut rest = read;
    let of = |phase: Phase| {
        let end = rest.partition_point(|reading| reading.at.0 < phase.to_ns);
        let here = rest.get(..=end)?;
        rest = &rest[end..];
        response(phase, here)
    };
    phases.into_iter().map_while(of).collect()
}

#[cfg(test)]
mod tests;
