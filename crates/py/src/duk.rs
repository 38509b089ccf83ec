// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! How fast DUK's probability is computed, for `sojourn bench`.

use std::time::Instant;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sojourn_core::{Algorithm, ConfError, Queue, QueueSpec, Slot};

const PACKET_BYTES: u32 = 1514;

/// Evaluations of DUK's probability in a second, timed through the queue that users run: a
/// standing queue in which nothing happens but the passing of `evaluations` ticks.
#[pyfunction]
pub fn duk_evaluations_per_second(py: Python<'_>, evaluations: u32) -> PyResult<f64> {
    py.detach(|| time(evaluations))
        .map_err(|e| PyValueError::new_err(e.sentence))
}

/// Best of five, because other programs only ever make it slower.
fn time(evaluations: u32) -> Result<f64, ConfError> {
    let mut best_s = f64::INFINITY;
    for _ in 0..5 {
        let with_ticks_s = pass_packets(evaluations, TICK_NS)?;
        let without_s = pass_packets(evaluations, 1)?;
        best_s = best_s.min(with_ticks_s - without_s);
    }
    Ok(f64::from(evaluations) / best_s.max(1e-9))
}

const TICK_NS: u64 = 1_000_000;
const STANDING_PKTS: u32 = 4;

/// Seconds for `count` packets, each in and out of a standing queue, `step_ns` apart: at one
/// tick apart each of them brings one evaluation along, at 1 ns apart practically none.
fn pass_packets(count: u32, step_ns: u64) -> Result<f64, ConfError> {
    let mut queue = Queue::new(&QueueSpec {
        algorithm: Algorithm::find("duk").expect("duk is in the library"),
        rows: vec![("tick".into(), TICK_NS), ("fixed_interval".into(), TICK_NS)],
        mtu_bytes: PACKET_BYTES,
        seed: 1,
        start_ns: 0,
    })?;
    let slot = Slot {
        len_bytes: PACKET_BYTES,
        ..Slot::default()
    };
    let mut slots = [slot; STANDING_PKTS as usize + 1];
    for packet in 0..STANDING_PKTS {
        queue.enqueue(&mut slots, 0, packet);
    }
    let mut spare = STANDING_PKTS;
    let begun = Instant::now();
    for step in 1..=u64::from(count) {
        let now_ns = step * step_ns;
        if queue.enqueue(&mut slots, now_ns, spare) {
            spare = queue.dequeue(&mut slots, now_ns).unwrap_or(spare);
        }
    }
    Ok(begun.elapsed().as_secs_f64())
}
