// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! What another host read at steps of the series, as the files that a run of the engine has.

use parquet::errors::ParquetError;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sojourn_sim::base::time::Time;
use sojourn_sim::measure::record::{self, GroupSeries, MAX_LOOKED_AT, Open, Seen, StatisticReport};

use super::recorded;

/// Queue, statistic, unit of the core's rows (empty: the values are as they are shown), unit that
/// is shown where there is none of the core's, times in ns, values.
type Statistic = (String, String, String, String, Vec<u64>, Vec<f64>);

/// `statistics.parquet` of these; None where nothing was read.
#[pyfunction]
pub fn statistics_file(
    py: Python<'_>,
    statistics: Vec<Statistic>,
) -> PyResult<Option<Py<PyBytes>>> {
    let report = |(queue, name, of, shown, at_ns, values): Statistic| {
        let (factor, unit) = match sojourn_core::units().iter().find(|unit| unit.name == of) {
            Some(unit) => record::scale(unit),
            None if of.is_empty() => (1.0, shown.as_str()),
            None => return Err(PyValueError::new_err(format!("there is no unit {of}"))),
        };
        let report = StatisticReport {
            name,
            unit: unit.to_owned(),
            t_s: at_ns.iter().map(|&ns| Time(ns).seconds()).collect(),
            values: values.iter().map(|value| value * factor).collect(),
        };
        Ok((queue, report))
    };
    let reports = statistics
        .into_iter()
        .map(report)
        .collect::<PyResult<Vec<_>>>()?;
    let each = reports.iter();
    let each = each.map(|(queue, report)| (queue.as_str(), std::slice::from_ref(report)));
    file(py, recorded::statistics(each))
}

/// A reading of a group: time in ns, payload delivered so far to its ends `from` and `to`, flows,
/// flows that were looked at, and of their open connections the number, the sum of congestion
/// windows, and that of smoothed round trips in us.
type Reading = (u64, u64, u64, u64, u64, u64, u64, u64);

/// `group_series.parquet` of groups by name, each with its readings; None where there is no step.
#[pyfunction]
pub fn group_series_file(
    py: Python<'_>,
    groups: Vec<(String, Vec<Reading>)>,
) -> PyResult<Option<Py<PyBytes>>> {
    let seen =
        |&(at, answered, delivered, flows, looked_at, connections, cwnd, srtt): &Reading| Seen {
            at: Time(at),
            delivered_bytes: [answered, delivered],
            open: Open {
                connections,
                cwnd_pkts: cwnd,
                srtt_us: srtt,
            },
            flows_per_look: flows as f64 / looked_at.max(1) as f64,
        };
    let groups = groups.iter().map(|(name, readings)| {
        let readings: Vec<_> = readings.iter().map(seen).collect();
        GroupSeries::of(name, &readings)
    });
    file(py, recorded::group_series(&groups.collect::<Vec<_>>()))
}

/// Of how many steps of the series one has rows of groups, and at how many flows of a group at
/// most another host looks then.
#[pyfunction]
pub fn group_series_every(steps: u64, groups: u64) -> (u64, u32) {
    (record::every(steps, groups), MAX_LOOKED_AT)
}

fn file(
    py: Python<'_>,
    made: Result<Option<Vec<u8>>, ParquetError>,
) -> PyResult<Option<Py<PyBytes>>> {
    let made = made.map_err(recorded::told)?;
    Ok(made.map(|file| PyBytes::new(py, &file).unbind()))
}
