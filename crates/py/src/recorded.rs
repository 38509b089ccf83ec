// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! What a run recorded, as Parquet files. They are written here and not in Python because a
//! library that writes them there takes longer to load than many a run.

use std::sync::Arc;

use parquet::basic::{Compression, Encoding};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::Result;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;
use sojourn_sim::record::{PacketEvent, QueueReport, SeriesReport};

const SERIES: &str = "message series {
    required binary queue (STRING);
    required double t_s;
    required double queue_delay_ms;
    required double system_delay_ms;
    required double queue_pkts;
    required double utilisation_pct;
    required double drop_pct;
    required double mark_pct;
}";

const EVENTS: &str = "message events {
    required binary queue (STRING);
    required int64 at_ns (INTEGER(64, false));
    required int64 enq_ns (INTEGER(64, false));
    required int32 flow (INTEGER(32, false));
    required int32 len_bytes (INTEGER(32, false));
    required int32 ecn (INTEGER(8, false));
    required int32 why (INTEGER(8, false));
}";

/// Packets of a row group. A group's columns are made one after the other, so this bounds
/// what is in memory beside the events and the file.
const EVENTS_TOGETHER: usize = 1 << 20;

/// Columns that grow from row to row, or nearly so.
const TIMES: [&str; 2] = ["at_ns", "enq_ns"];

/// The series of all queues, a row a step.
pub fn series(queues: &[QueueReport]) -> Result<Vec<u8>> {
    let mut table = Table::new(SERIES)?;
    for queue in queues {
        table.add_series(&queue.name, &queue.series)?;
    }
    table.finish()
}

/// The packets of all queues, a row a packet; None if they were not asked for.
pub fn events(queues: &[QueueReport]) -> Result<Option<Vec<u8>>> {
    if queues.iter().all(|queue| queue.events.is_none()) {
        return Ok(None);
    }
    let mut table = Table::new(EVENTS)?;
    for queue in queues {
        let kept = queue.events.as_deref().unwrap_or_default();
        for together in kept.chunks(EVENTS_TOGETHER) {
            table.add_events(&queue.name, together)?;
        }
    }
    table.finish().map(Some)
}

/// A file that is being written.
struct Table(SerializedFileWriter<Vec<u8>>);

impl Table {
    fn new(schema: &str) -> Result<Self> {
        let mut properties = WriterProperties::builder().set_compression(Compression::SNAPPY);
        for column in TIMES.map(ColumnPath::from) {
            properties = properties
                .set_column_dictionary_enabled(column.clone(), false)
                .set_column_encoding(column, Encoding::DELTA_BINARY_PACKED);
        }
        let schema = Arc::new(parse_message_type(schema)?);
        SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties.build())).map(Self)
    }

    fn add_series(&mut self, queue: &str, series: &SeriesReport) -> Result<()> {
        let mut rows = Rows::new(self, queue, series.t_s.len())?;
        for column in [
            &series.t_s,
            &series.queue_delay_ms,
            &series.system_delay_ms,
            &series.queue_pkts,
            &series.utilisation_pct,
            &series.drop_pct,
            &series.mark_pct,
        ] {
            rows.add::<DoubleType>(column)?;
        }
        rows.finish()
    }

    /// Parquet has signed integers of 32 and 64 bits; the schema says how to take them.
    fn add_events(&mut self, queue: &str, events: &[PacketEvent]) -> Result<()> {
        let mut rows = Rows::new(self, queue, events.len())?;
        rows.add::<Int64Type>(&column(events, |e| e.at_ns.cast_signed()))?;
        rows.add::<Int64Type>(&column(events, |e| e.enq_ns.cast_signed()))?;
        rows.add::<Int32Type>(&column(events, |e| e.flow.cast_signed()))?;
        rows.add::<Int32Type>(&column(events, |e| e.len_bytes.cast_signed()))?;
        rows.add::<Int32Type>(&column(events, |e| e.ecn.into()))?;
        rows.add::<Int32Type>(&column(events, |e| e.why.into()))?;
        rows.finish()
    }

    fn finish(self) -> Result<Vec<u8>> {
        self.0.into_inner()
    }
}

fn column<T>(events: &[PacketEvent], of: impl Fn(&PacketEvent) -> T) -> Vec<T> {
    events.iter().map(of).collect()
}

/// Rows of one queue, whose columns are added from left to right.
struct Rows<'a>(SerializedRowGroupWriter<'a, Vec<u8>>);

impl<'a> Rows<'a> {
    fn new(table: &'a mut Table, queue: &str, count: usize) -> Result<Self> {
        let mut rows = Self(table.0.next_row_group()?);
        rows.add::<ByteArrayType>(&vec![ByteArray::from(queue); count])?;
        Ok(rows)
    }

    fn add<T: DataType>(&mut self, values: &[T::T]) -> Result<()> {
        let mut column = self
            .0
            .next_column()?
            .expect("no more columns than in the schema");
        column.typed::<T>().write_batch(values, None, None)?;
        column.close()
    }

    fn finish(self) -> Result<()> {
        self.0.close().map(drop)
    }
}
