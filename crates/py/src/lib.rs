// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! `sojourn._native`: the C core's tables and the engine, for the Python package.
//!
//! Text crosses as JSON, series as Parquet files. The interpreter's lock is not held while
//! the engine runs; it is taken every 50 ms to ask whether to go on.

mod observe;
mod over_time;
mod recorded;
mod run;
mod tables;

use pyo3::prelude::*;

/// The engine and the C core, compiled.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::observe::{Flows, Scenario, fairness};
    #[pymodule_export]
    use super::over_time::{group_series_every, group_series_file, statistics_file};
    #[pymodule_export]
    use super::recorded::recorded_columns;
    #[pymodule_export]
    use super::run::{check_scenario, congestion_controls, run, tcp_options};
    #[pymodule_export]
    use super::tables::{
        algorithms, bad_names, check, core_version, load, queue_rows, reason_names, traffic, units,
    };
}
