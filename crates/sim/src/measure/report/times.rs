// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! How long transfers and pages took.

use std::borrow::Cow;

use serde::Serialize;

use super::counted::FlowCounted;
use crate::base::time::Time;
use crate::measure::counts::Completion;
use crate::measure::record::{Delays, Sum};
use crate::scenario::WindowSpec;

/// Completion times of transfers that ended in a window.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct CompletionReport {
    pub n: u64,
    pub mean: Option<f64>,
    pub p25: Option<f64>,
    pub p50: Option<f64>,
    pub p75: Option<f64>,
    pub p95: Option<f64>,
}

/// The quantiles that it has.
const SHARES: [f64; 4] = [0.25, 0.5, 0.75, 0.95];

/// Those that a flow kept one by one: its transfers, or its pages.
pub(super) type Kept = for<'a> fn(&'a FlowCounted<'_>) -> &'a [Completion];

pub(super) const TRANSFERS: Kept = |flow| flow.completions;
pub(super) const PAGES: Kept = |flow| flow.pages;

/// Of what was kept one by one, and of distributions of others. Where there is only the first,
/// quantiles are exact.
pub(super) fn completions(
    flows: &[FlowCounted<'_>],
    kept: Kept,
    window: &WindowSpec,
    others: &[&Delays],
) -> CompletionReport {
    if others.iter().any(|times| times.count() > 0) {
        return distribution(&merged(flows, kept, window, others));
    }
    let mut took_ns: Vec<_> = took_ns(flows, kept, window).collect();
    took_ns.sort_unstable();
    let quantile = |share: f64| {
        let rank = (libm::ceil(share * took_ns.len() as f64) as usize).max(1);
        took_ns.get(rank - 1).map(|&ns| ns as f64)
    };
    let sum_ns: u128 = took_ns.iter().map(|&ns| u128::from(ns)).sum();
    let mean_ns = (!took_ns.is_empty()).then(|| sum_ns as f64 / took_ns.len() as f64);
    CompletionReport::of(took_ns.len() as u64, mean_ns, SHARES.map(quantile))
}

/// Of a part of a group: what was kept one by one, or the number and mean of others.
pub(super) fn of_part(
    flows: &[FlowCounted<'_>],
    kept: Kept,
    window: &WindowSpec,
    sum: &Sum,
) -> CompletionReport {
    if sum.count == 0 {
        return completions(flows, kept, window, &[]);
    }
    let mean_ns = sum.took_ns as f64 / sum.count as f64;
    CompletionReport::of(sum.count, Some(mean_ns), [None; SHARES.len()])
}

/// What was kept one by one, and others, as one distribution.
pub(super) fn merged<'a>(
    flows: &[FlowCounted<'_>],
    kept: Kept,
    window: &WindowSpec,
    others: &[&'a Delays],
) -> Cow<'a, Delays> {
    let mut took_ns = took_ns(flows, kept, window).peekable();
    if let (&[only], None) = (others, took_ns.peek()) {
        return Cow::Borrowed(only);
    }
    let mut merged = Delays::default();
    for times in others {
        merged.add_all(times);
    }
    for ns in took_ns {
        merged.add(ns);
    }
    Cow::Owned(merged)
}

fn took_ns(
    flows: &[FlowCounted<'_>],
    kept: Kept,
    window: &WindowSpec,
) -> impl Iterator<Item = u64> {
    let within = |at: Time| (window.from_ns..window.to_ns).contains(&at.0);
    let all = flows.iter().flat_map(kept);
    all.filter(move |c| within(c.at)).map(|c| c.took_ns)
}

fn distribution(times: &Delays) -> CompletionReport {
    CompletionReport::of(times.count(), times.mean_ns(), times.quantiles_ns(SHARES))
}

impl CompletionReport {
    fn of(n: u64, mean_ns: Option<f64>, quantiles_ns: [Option<f64>; SHARES.len()]) -> Self {
        let seconds = |ns: Option<f64>| ns.map(|ns| ns / 1e9);
        let [p25, p50, p75, p95] = quantiles_ns.map(seconds);
        Self {
            n,
            mean: seconds(mean_ns),
            p25,
            p50,
            p75,
            p95,
        }
    }
}
