// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! How long transfers and pages took.

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
        took_ns.get(rank - 1).map(|&ns| ns as f64 / 1e9)
    };
    let sum_ns: u128 = took_ns.iter().map(|&ns| u128::from(ns)).sum();
    let mean = (!took_ns.is_empty()).then(|| sum_ns as f64 / took_ns.len() as f64 / 1e9);
    CompletionReport::of(took_ns.len() as u64, mean, quantile)
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
    let mean = sum.took_ns as f64 / sum.count as f64 / 1e9;
    CompletionReport::of(sum.count, Some(mean), |_| None)
}

/// What was kept one by one, and others, as one distribution.
pub(super) fn merged(
    flows: &[FlowCounted<'_>],
    kept: Kept,
    window: &WindowSpec,
    others: &[&Delays],
) -> Delays {
    let mut merged = Delays::default();
    for times in others {
        merged.add_all(times);
    }
    for ns in took_ns(flows, kept, window) {
        merged.add(ns);
    }
    merged
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
    let mean = times.mean_ns().map(|ns| ns / 1e9);
    CompletionReport::of(times.count(), mean, |share| {
        times.quantile_ns(share).map(|ns| ns / 1e9)
    })
}

impl CompletionReport {
    fn of(n: u64, mean: Option<f64>, quantile: impl Fn(f64) -> Option<f64>) -> Self {
        Self {
            n,
            mean,
            p25: quantile(0.25),
            p50: quantile(0.5),
            p75: quantile(0.75),
            p95: quantile(0.95),
        }
    }
}
