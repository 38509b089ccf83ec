// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Evaluations of DUK's probability per second; the paper reports 25 million.
//!
//! `cargo run --release -p sojourn-core --example evaluations`

use std::time::Instant;

use sojourn_core::hooks::{DukSample, duk_probability};

fn main() {
    let mut x = 1u64;
    let mut draw = |n: u64| {
        x = x
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (x >> 33) % n
    };
    let mut samples: Vec<DukSample> = (0..1024)
        .map(|_| {
            let could = 2_000 + draw(1_000_000);
            let sent = draw(could + 1);
            DukSample {
                arrived: 1 + sent + draw(could),
                sent,
                could,
                was_used: 0,
                delay_change: draw(8 << 20) as i64 - (4 << 20),
                ticks: 1 + draw(64) as u32,
            }
        })
        .collect();

    let rounds = 20_000;
    let (mut sum, mut was) = (0u64, 0);
    let start = Instant::now();
    for _ in 0..rounds {
        for sample in &mut samples {
            sample.was_used = was; // each evaluation waits for the one before
            let (p, used) = duk_probability(sample);
            sum += u64::from(p);
            was = used;
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    let count = f64::from(rounds) * samples.len() as f64;
    println!(
        "{:.1} million evaluations per second (mean p {:.3})",
        count / seconds / 1e6,
        sum as f64 / count / 2f64.powi(32)
    );
}
