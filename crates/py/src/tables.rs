// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! The tables of the C core as Python dictionaries.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sojourn_core::{Algorithm, Field, Kind, Queue, QueueSpec};
use sojourn_sim::traffic::KINDS;
use sojourn_sim::traffic::key::{Key, Otherwise, Unit};

/// Any link's MTU does for checking rows; this one is Ethernet's with its header.
const CHECK_MTU_BYTES: u32 = 1514;

/// Version of the engine and a digest of the sources it was built from.
#[pyfunction]
pub fn core_version() -> String {
    format!("{}+{}", env!("CARGO_PKG_VERSION"), env!("SOJOURN_SOURCES"))
}

/// Every algorithm of the C core, with its rows.
#[pyfunction]
pub fn algorithms(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    sojourn_core::algorithms()
        .iter()
        .map(|algorithm| entry(py, *algorithm))
        .collect()
}

/// What rows are counted in: name, base, multiplier, divisor, note.
#[pyfunction]
pub fn units() -> Vec<(&'static str, &'static str, u64, u64, &'static str)> {
    let all = sojourn_core::units().iter();
    all.map(|unit| (unit.name, unit.base, unit.multiply, unit.divide, unit.note))
        .collect()
}

/// Loads the algorithm of a library, to be known as `name`.
#[pyfunction]
pub fn load<'py>(py: Python<'py>, path: PathBuf, name: &str) -> PyResult<Bound<'py, PyDict>> {
    // SAFETY: it was compiled from a file that the user names to be run.
    let loaded = unsafe { sojourn_core::load(&path, name) };
    entry(py, loaded.map_err(PyValueError::new_err)?)
}

fn entry<'py>(py: Python<'py>, algorithm: Algorithm) -> PyResult<Bound<'py, PyDict>> {
    let entry = PyDict::new(py);
    entry.set_item("name", algorithm.name())?;
    entry.set_item("brief", algorithm.brief())?;
    entry.set_item("source", algorithm.source())?;
    entry.set_item("marks", algorithm.marks())?;
    entry.set_item("acts", algorithm.acts())?;
    entry.set_item("samples", algorithm.samples())?;
    entry.set_item("probes", algorithm.probes())?;
    entry.set_item("needs_rate", algorithm.needs_rate())?;
    let defaults = sojourn_core::queue_rows()
        .iter()
        .map(|row| (row.name, algorithm.queue_default(row)));
    entry.set_item("defaults", defaults.collect::<BTreeMap<_, _>>())?;
    entry.set_item("params", rows(py, algorithm.params())?)?;
    entry.set_item("stats", rows(py, algorithm.stats())?)?;
    Ok(entry)
}

/// The rows of the queue itself, which every algorithm shares.
#[pyfunction]
pub fn queue_rows(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    rows(py, sojourn_core::queue_rows())
}

/// Every kind of traffic, with its keys.
#[pyfunction]
pub fn traffic(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    KINDS
        .iter()
        .map(|kind| {
            let entry = PyDict::new(py);
            entry.set_item("name", kind.name)?;
            entry.set_item("help", kind.help)?;
            entry.set_item("transports", kind.transports.to_vec())?;
            let keys: PyResult<Vec<_>> = kind.keys.iter().map(|key| key_of(py, key)).collect();
            entry.set_item("keys", keys?)?;
            Ok(entry)
        })
        .collect()
}

fn key_of<'py>(py: Python<'py>, key: &Key) -> PyResult<Bound<'py, PyDict>> {
    let (unit, words) = match key.unit {
        Unit::Time => ("time", &[][..]),
        Unit::Rate => ("rate", &[][..]),
        Unit::Rates => ("rates", &[][..]),
        Unit::Size => ("size", &[][..]),
        Unit::Count => ("count", &[][..]),
        Unit::Share => ("share", &[][..]),
        Unit::Number => ("number", &[][..]),
        Unit::Text => ("text", &[][..]),
        Unit::Words(words) => ("words", words),
    };
    let entry = PyDict::new(py);
    entry.set_item("name", key.name)?;
    entry.set_item("unit", unit)?;
    entry.set_item("words", words.to_vec())?;
    entry.set_item("least", key.range.0)?;
    entry.set_item("most", key.range.1)?;
    entry.set_item("needed", key.otherwise == Otherwise::Needed)?;
    match key.otherwise {
        Otherwise::Number(number) => entry.set_item("default", number)?,
        Otherwise::Word(word) => entry.set_item("default", word)?,
        Otherwise::Numbers(numbers) => entry.set_item("default", numbers.to_vec())?,
        Otherwise::Needed | Otherwise::Nothing => entry.set_item("default", py.None())?,
    }
    entry.set_item("help", key.help)?;
    Ok(entry)
}

/// The names of the reasons for a drop or a mark, in the order of their numbers.
#[pyfunction]
pub fn reason_names() -> Vec<&'static str> {
    numbered(sojourn_core::reason_name)
}

/// The names of the rules that a verdict can break, in the order of their numbers.
#[pyfunction]
pub fn bad_names() -> Vec<&'static str> {
    numbered(sojourn_core::bad_name)
}

/// Beyond the last of its names the core answers "unknown".
fn numbered(name: fn(u8) -> &'static str) -> Vec<&'static str> {
    (0..=u8::MAX)
        .map(name)
        .take_while(|&name| name != "unknown")
        .collect()
}

fn rows<'py>(py: Python<'py>, fields: &[Field]) -> PyResult<Vec<Bound<'py, PyDict>>> {
    fields
        .iter()
        .map(|field| {
            let row = PyDict::new(py);
            row.set_item("name", field.name)?;
            row.set_item("help", field.help)?;
            row.set_item("unit", field.unit.name)?;
            row.set_item("kind", kind_name(field.kind))?;
            row.set_item("default", field.def)?;
            row.set_item("min", field.min)?;
            row.set_item("max", field.max)?;
            row.set_item("choices", field.choices.clone())?;
            row.set_item("fixed", field.fixed)?;
            row.set_item("attr", field.attr)?;
            Ok(row)
        })
        .collect()
}

fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Bool => "bool",
        Kind::U32 => "u32",
        Kind::U64 => "u64",
        Kind::Choice => "choice",
    }
}

/// The row that was refused (None: several together), the sentence, and the row's range.
type Refusal = (Option<String>, &'static str, u64, u64);

/// None if a queue can be made of this; else why not.
#[pyfunction]
pub fn check(algorithm: &str, rows: BTreeMap<String, u64>) -> PyResult<Option<Refusal>> {
    let algorithm = Algorithm::find(algorithm)
        .ok_or_else(|| PyKeyError::new_err(format!("no algorithm '{algorithm}'")))?;
    let spec = QueueSpec {
        algorithm,
        rows: rows.into_iter().collect(),
        mtu_bytes: CHECK_MTU_BYTES,
        seed: 1,
        start_ns: 0,
    };
    Ok(Queue::new(&spec).err().map(|error| {
        let row = (!error.row.is_empty()).then_some(error.row);
        (row, error.sentence, error.min, error.max)
    }))
}
