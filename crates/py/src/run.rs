// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! One run of the engine on behalf of Python.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use sojourn_sim::measure::record::Transfer;
use sojourn_sim::tcp::{CongestionControl, TcpConfig};
use sojourn_sim::{Control, Report, Scenario};

use super::recorded::{self, Files, TransferFile};

/// JSON of every switch of the TCP, at its default.
#[pyfunction]
pub fn tcp_options() -> PyResult<String> {
    serde_json::to_string(&TcpConfig::default()).map_err(|e| PyValueError::new_err(e.to_string()))
}

/// The names of the congestion controls, as the engine's own refusal of a wrong one lists them.
#[pyfunction]
pub fn congestion_controls() -> Vec<String> {
    let refusal = serde_json::from_str::<CongestionControl>("\"?\"")
        .map_or_else(|error| error.to_string(), |_| String::new());
    let quoted = refusal.split('`').skip(1).step_by(2);
    quoted.skip(1).map(str::to_owned).collect()
}

/// A key at fault, the reason, and of a name that nothing has: it and those that there are.
type FaultRow = (String, String, Option<(String, Vec<String>)>);

/// Nothing if the engine can run this scenario; else what is wrong.
#[pyfunction]
pub fn check_scenario(scenario: &str) -> Vec<FaultRow> {
    let faults = match Scenario::read(scenario) {
        Ok(scenario) => scenario.faults(),
        Err(fault) => vec![fault],
    };
    let rows = faults
        .into_iter()
        .map(|fault| (fault.key, fault.reason, fault.unknown));
    rows.collect()
}

/// Asks Python whether to go on, each time the engine looks up.
struct Watch {
    progress: Option<Py<PyAny>>,
    stopped: bool,
    error: Option<PyErr>,
    transfers: Option<TransferFile>,
}

impl Watch {
    fn ask(&self, py: Python<'_>, share: f64) -> PyResult<bool> {
        py.check_signals()?;
        match &self.progress {
            Some(progress) => progress.call1(py, (share,))?.extract(py),
            None => Ok(true),
        }
    }
}

impl Control for Watch {
    fn progress(&mut self, now_ns: u64, end_ns: u64) -> ControlFlow<()> {
        let share = now_ns as f64 / end_ns.max(1) as f64;
        match Python::attach(|py| self.ask(py, share)) {
            Ok(true) => return ControlFlow::Continue(()),
            Ok(false) => self.stopped = true,
            Err(error) => self.error = Some(error),
        }
        ControlFlow::Break(())
    }

    fn transfers(&mut self, ended: &[Transfer]) -> ControlFlow<()> {
        let file = self.transfers.as_mut();
        match file.map_or(Ok(()), |file| file.add(ended)) {
            Ok(()) => return ControlFlow::Continue(()),
            Err(error) => self.error = Some(recorded::told(error)),
        }
        ControlFlow::Break(())
    }
}

/// The report as JSON, and Parquet files by name.
pub type Packed = (String, Py<PyDict>);

/// One run: its report and files, or None when told to stop.
#[pyfunction]
#[pyo3(signature = (scenario, seed, progress=None, transfers=None))]
pub fn run(
    py: Python<'_>,
    scenario: &str,
    seed: u64,
    progress: Option<Py<PyAny>>,
    transfers: Option<PathBuf>,
) -> PyResult<Option<Packed>> {
    let scenario =
        Scenario::from_json(scenario).map_err(|fault| PyValueError::new_err(fault.to_string()))?;
    if scenario.record.transfers && transfers.is_none() {
        return Err(PyValueError::new_err(
            "record.transfers: name a file for them",
        ));
    }
    let groups = scenario.flows.iter().map(|flow| flow.name.clone());
    let transfers = transfers.filter(|_| scenario.record.transfers);
    let transfers = transfers.map(|path| TransferFile::new(&path, groups.collect()));
    let mut watch = Watch {
        transfers: transfers.transpose().map_err(recorded::told)?,
        progress,
        stopped: false,
        error: None,
    };
    let result = py.detach(|| {
        catch_unwind(AssertUnwindSafe(|| {
            simulate_scenario(&scenario, seed, &mut watch)
        }))
    });
    if let Some(error) = watch.error {
        return Err(error);
    }
    if watch.stopped {
        return Ok(None);
    }
    match result {
        Ok(Ok(report)) => {
            let file = watch.transfers.take();
            py.detach(|| file.map_or(Ok(()), TransferFile::finish))
                .map_err(recorded::told)?;
            pack_run(py, &report).map(Some)
        }
        Ok(Err(error)) => Err(PyValueError::new_err(error.to_string())),
        Err(panic) => Err(PyRuntimeError::new_err(format!(
            "the engine broke one of its own rules: {}",
            message(panic.as_ref())
        ))),
    }
}

/// A name of its own for what is counted when instructions are: the engine, nothing around it.
#[inline(never)]
fn simulate_scenario(
    scenario: &Scenario,
    seed: u64,
    watch: &mut Watch,
) -> Result<Report, sojourn_sim::Error> {
    sojourn_sim::run(scenario, seed, watch)
}

fn message(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message")
}

fn pack_run(py: Python<'_>, report: &Report) -> PyResult<Packed> {
    let text = serde_json::to_string(report).map_err(|e| PyRuntimeError::new_err(e.to_string()))?;
    let files = py
        .detach(|| recorded::files(&report.queues, &report.traffic.times, &report.group_series))
        .map_err(recorded::told)?;
    pack(py, text, files)
}

/// For Python.
pub fn pack(py: Python<'_>, report: String, files: Files) -> PyResult<Packed> {
    let named = PyDict::new(py);
    for (name, content) in files {
        named.set_item(name, PyBytes::new(py, &content))?;
    }
    Ok((report, named.unbind()))
}
