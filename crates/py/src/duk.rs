// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! How fast DUK's probability is computed, for `sojourn bench`.

use std::hint::black_box;
use std::time::Instant;

use pyo3::prelude::*;
use sojourn_core::hooks::{DukSample, duk_probability};

/// Evaluations of DUK's Eq. 9 in a second, each waiting for the one before, as in a queue.
#[pyfunction]
pub fn duk_evaluations_per_second(py: Python<'_>, evaluations: u32) -> f64 {
    py.detach(|| {
        // Best of five, because other programs only ever make it slower.
        let best_s = (0..5)
            .map(|_| time(evaluations))
            .fold(f64::INFINITY, f64::min);
        f64::from(evaluations) / best_s
    })
}

/// Numbers that vary, so that no branch is foretold: 2 kB to 1 MB in intervals of 1 to 64 ticks.
fn sample(step: u64, was_used: i64) -> DukSample {
    let noise = step.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let could = 2_000 + (noise >> 44);
    let sent = (noise >> 20) % could;
    DukSample {
        arrived: 1 + sent + (noise & 0xffff),
        sent,
        could,
        was_used,
        delay_change: (noise >> 41) as i64 - (4 << 20),
        ticks: 1 + (noise >> 58) as u32,
    }
}

fn time(evaluations: u32) -> f64 {
    let mut used = 0;
    let begun = Instant::now();
    for step in 1..=u64::from(evaluations) {
        let (probability, now_used) = duk_probability(&sample(step, used));
        black_box(probability);
        used = now_used;
    }
    begun.elapsed().as_secs_f64()
}
