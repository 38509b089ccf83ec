// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! The table of transfers. It goes to its file while the run goes on, so that a longer run takes
//! no more memory.

use std::fs::File;
use std::path::Path;

use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};
use parquet::errors::{ParquetError, Result};
use pyo3::PyErr;
use pyo3::exceptions::{PyOSError, PyRuntimeError};
use sojourn_sim::base::time::Time;
use sojourn_sim::measure::record::Transfer;

use super::{Column, Rows, Table, UNSIGNED_32, UNSIGNED_64, column};

pub(super) const COLUMNS: [Column; 10] = [
    (
        "group",
        "binary",
        "(STRING)",
        "",
        "name of the flow's group",
    ),
    (
        "index",
        "int32",
        UNSIGNED_32,
        "",
        "number of the flow in its group, from 0",
    ),
    (
        "visit",
        "int32",
        UNSIGNED_32,
        "",
        "number of the visit of the flow, from 1: of `web` a page, of others mostly a connection",
    ),
    (
        "connection",
        "int32",
        UNSIGNED_32,
        "",
        "number of the connection in the visit, from 1",
    ),
    (
        "transfer",
        "int32",
        UNSIGNED_32,
        "",
        "number of the transfer on the connection, from 1",
    ),
    (
        "opened_ns",
        "int64",
        UNSIGNED_64,
        "ns",
        "when the connection was opened",
    ),
    (
        "begun_ns",
        "int64",
        UNSIGNED_64,
        "ns",
        "when the transfer was begun: its completion time runs from here",
    ),
    (
        "first_byte_ns",
        "int64",
        UNSIGNED_64,
        "ns",
        "when its first byte had arrived; null if it has not",
    ),
    (
        "last_byte_ns",
        "int64",
        UNSIGNED_64,
        "ns",
        "when all of it had arrived in order; null if it has not",
    ),
    ("bytes", "int64", UNSIGNED_64, "bytes", "all of it"),
];

/// Columns that are null in some rows.
pub(super) const MAY_LACK: [&str; 2] = ["first_byte_ns", "last_byte_ns"];

/// Rows of a row group, and so in memory: some 5 MB.
const TOGETHER: usize = 1 << 16;

/// A failure, as Python's error of the file system where it is one.
pub fn told(error: ParquetError) -> PyErr {
    match error {
        ParquetError::External(inner) => match inner.downcast::<std::io::Error>() {
            Ok(error) => of_system(&error),
            Err(other) => PyRuntimeError::new_err(other.to_string()),
        },
        other => PyRuntimeError::new_err(other.to_string()),
    }
}

fn of_system(error: &std::io::Error) -> PyErr {
    let text = error.to_string();
    match error.raw_os_error() {
        Some(code) => {
            let said = text.split(" (os error").next().unwrap_or_default();
            PyOSError::new_err((code, said.to_owned()))
        }
        None => PyOSError::new_err(text),
    }
}

/// A table that is being written.
pub struct TransferFile {
    table: Table<File>,
    groups: Vec<ByteArray>,
    waiting: Vec<Transfer>,
}

impl TransferFile {
    /// None yet, of these groups of flows.
    pub fn new(path: &Path, groups: Vec<String>) -> Result<Self> {
        let table = Table::new("transfers", &COLUMNS, File::create(path)?)?;
        Ok(Self {
            table,
            groups: groups.iter().map(|name| name.as_str().into()).collect(),
            waiting: Vec::new(),
        })
    }

    /// These too.
    pub fn add(&mut self, ended: &[Transfer]) -> Result<()> {
        for together in ended.chunks(TOGETHER) {
            self.waiting.extend_from_slice(together);
            if self.waiting.len() >= TOGETHER {
                self.write()?;
            }
        }
        Ok(())
    }

    /// That was all.
    pub fn finish(mut self) -> Result<()> {
        if !self.waiting.is_empty() {
            self.write()?;
        }
        self.table.finish()?.sync_all()?;
        Ok(())
    }

    fn write(&mut self) -> Result<()> {
        let of = &self.waiting;
        let groups = column(of, |t| self.groups[t.group as usize].clone());
        let mut rows = Rows::new(&mut self.table)?;
        rows.add::<ByteArrayType>(&groups)?;
        rows.add::<Int32Type>(&column(of, |t| t.index.cast_signed()))?;
        rows.add::<Int32Type>(&column(of, |t| t.visit.cast_signed()))?;
        rows.add::<Int32Type>(&column(of, |t| t.connection.cast_signed()))?;
        rows.add::<Int32Type>(&column(of, |t| t.transfer.cast_signed()))?;
        rows.add::<Int64Type>(&column(of, |t| t.opened.0.cast_signed()))?;
        rows.add::<Int64Type>(&column(of, |t| t.begun.0.cast_signed()))?;
        add_times(&mut rows, of, |t| t.first_byte)?;
        add_times(&mut rows, of, |t| t.last_byte)?;
        rows.add::<Int64Type>(&column(of, |t| t.bytes.cast_signed()))?;
        rows.finish()?;
        self.waiting.clear();
        Ok(())
    }
}

fn add_times(
    rows: &mut Rows<'_, File>,
    of: &[Transfer],
    time: impl Fn(&Transfer) -> Option<Time>,
) -> Result<()> {
    let present = column(of, |t| i16::from(time(t).is_some()));
    let values: Vec<_> = of.iter().filter_map(&time).collect();
    let values = column(&values, |time| time.0.cast_signed());
    rows.add_present::<Int64Type>(&values, Some(&present))
}
