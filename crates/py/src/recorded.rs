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
use pyo3::pyfunction;
use sojourn_sim::record::{GroupSeries, PacketEvent, QueueReport, SeriesReport, StatisticReport};

/// A column: name, Parquet's type and what it stands for, unit, meaning.
type Column = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
);

const QUEUE: Column = ("queue", "binary", "(STRING)", "", "link of the queue");

const SERIES: [Column; 8] = [
    QUEUE,
    ("t_s", "double", "", "s", "end of the step"),
    (
        "queue_delay_ms",
        "double",
        "",
        "ms",
        "from arrival at the queue to departure from it: mean of the packets that left in the step",
    ),
    (
        "system_delay_ms",
        "double",
        "",
        "ms",
        "from arrival at the queue to the last bit sent: mean of the packets sent in the step",
    ),
    (
        "queue_pkts",
        "double",
        "",
        "packets",
        "in the queue: mean over the step",
    ),
    (
        "utilisation_pct",
        "double",
        "",
        "%",
        "bits sent, of what the link could have sent",
    ),
    (
        "drop_pct",
        "double",
        "",
        "%",
        "packets dropped, of those that arrived",
    ),
    (
        "mark_pct",
        "double",
        "",
        "%",
        "packets marked, of those that arrived",
    ),
];

const EVENTS: [Column; 7] = [
    QUEUE,
    (
        "at_ns",
        "int64",
        UNSIGNED_64,
        "ns",
        "when it left the queue or was dropped",
    ),
    ("enq_ns", "int64", UNSIGNED_64, "ns", "when it had come"),
    ("flow", "int32", UNSIGNED_32, "", "hash of its flow"),
    (
        "len_bytes",
        "int32",
        UNSIGNED_32,
        "bytes",
        "its length, with the link's header",
    ),
    (
        "ecn",
        "int32",
        UNSIGNED_8,
        "",
        "its ECN field: 0 Not-ECT, 1 ECT(1), 2 ECT(0), 3 CE",
    ),
    (
        "why",
        "int32",
        UNSIGNED_8,
        "",
        "0: sent; else the reason of the drop, as in results.md",
    ),
];

const STATISTICS: [Column; 5] = [
    QUEUE,
    (
        "t_s",
        "double",
        "",
        "s",
        "when it was read: end of the step",
    ),
    (
        "statistic",
        "binary",
        "(STRING)",
        "",
        "name of the row of the algorithm's statistics, as its page has it",
    ),
    (
        "unit",
        "binary",
        "(STRING)",
        "",
        "unit of `value`; empty: a number, or a share from 0 to 1",
    ),
    (
        "value",
        "double",
        "",
        "as in `unit`",
        "as of the last event at the queue",
    ),
];

const GROUP_SERIES: [Column; 7] = [
    ("group", "binary", "(STRING)", "", "name of the group"),
    ("t_s", "double", "", "s", "end of the step"),
    (
        "goodput_mbps",
        "double",
        "",
        "Mbit/s",
        "payload delivered in order to the ends `to`, in the step",
    ),
    (
        "answered_mbps",
        "double",
        "",
        "Mbit/s",
        "payload delivered in order to the ends `from`, in the step",
    ),
    (
        "connections",
        "double",
        "",
        "",
        "of TCP, open at the end of the step; above 1,024 flows, of every so manieth flow, times that",
    ),
    (
        "cwnd_pkts",
        "double",
        "",
        "packets",
        "congestion window at the ends `from`: mean over these connections",
    ),
    (
        "srtt_ms",
        "double",
        "",
        "ms",
        "smoothed round trip at the ends `from`: mean over these connections",
    ),
];

const UNSIGNED_64: &str = "(INTEGER(64, false))";
const UNSIGNED_32: &str = "(INTEGER(32, false))";
const UNSIGNED_8: &str = "(INTEGER(8, false))";

/// Of each column of all tables: table, name, unit, meaning.
#[pyfunction]
pub fn recorded_columns() -> Vec<(&'static str, &'static str, &'static str, &'static str)> {
    let of = |table, columns: &[Column]| {
        let told = |&(name, _, _, unit, meaning): &Column| (table, name, unit, meaning);
        columns.iter().map(told).collect::<Vec<_>>()
    };
    [
        of("series", &SERIES),
        of("events", &EVENTS),
        of("statistics", &STATISTICS),
        of("group_series", &GROUP_SERIES),
    ]
    .concat()
}

/// Packets of a row group. A group's columns are made one after the other, so this bounds
/// what is in memory beside the events and the file.
const EVENTS_TOGETHER: usize = 1 << 20;

/// Columns that grow from row to row, or nearly so.
const TIMES: [&str; 2] = ["at_ns", "enq_ns"];

/// The series of all queues, a row a step.
pub fn series(queues: &[QueueReport]) -> Result<Vec<u8>> {
    let mut table = Table::new("series", &SERIES)?;
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
    let mut table = Table::new("events", &EVENTS)?;
    for queue in queues {
        let kept = queue.events.as_deref().unwrap_or_default();
        for together in kept.chunks(EVENTS_TOGETHER) {
            table.add_events(&queue.name, together)?;
        }
    }
    table.finish().map(Some)
}

/// Statistics of all queues, a row a reading; None where nothing was read.
pub fn statistics<'a>(
    queues: impl Iterator<Item = (&'a str, &'a [StatisticReport])>,
) -> Result<Option<Vec<u8>>> {
    let mut table = Table::new("statistics", &STATISTICS)?;
    let mut has_rows = false;
    for (queue, statistics) in queues {
        for of in statistics.iter().filter(|of| !of.t_s.is_empty()) {
            table.add_statistic(queue, of)?;
            has_rows = true;
        }
    }
    let file = table.finish()?;
    Ok(has_rows.then_some(file))
}

/// All groups over time, a row a step; None where there is no step.
pub fn group_series(groups: &[GroupSeries]) -> Result<Option<Vec<u8>>> {
    if groups.iter().all(|group| group.t_s.is_empty()) {
        return Ok(None);
    }
    let mut table = Table::new("group_series", &GROUP_SERIES)?;
    table.add_groups(groups)?;
    table.finish().map(Some)
}

/// A file that is being written.
struct Table(SerializedFileWriter<Vec<u8>>);

impl Table {
    fn new(name: &str, columns: &[Column]) -> Result<Self> {
        let fields = columns
            .iter()
            .map(|(name, kind, stands_for, ..)| format!("required {kind} {name} {stands_for};"));
        let schema = format!("message {name} {{ {} }}", fields.collect::<String>());
        let mut properties = WriterProperties::builder().set_compression(Compression::SNAPPY);
        for column in TIMES.map(ColumnPath::from) {
            properties = properties
                .set_column_dictionary_enabled(column.clone(), false)
                .set_column_encoding(column, Encoding::DELTA_BINARY_PACKED);
        }
        let schema = Arc::new(parse_message_type(&schema)?);
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

    fn add_statistic(&mut self, queue: &str, of: &StatisticReport) -> Result<()> {
        let mut rows = Rows::new(self, queue, of.t_s.len())?;
        let count = of.t_s.len();
        rows.add::<DoubleType>(&of.t_s)?;
        rows.repeat(&of.name, count)?;
        rows.repeat(&of.unit, count)?;
        rows.add::<DoubleType>(&of.values)?;
        rows.finish()
    }

    /// All in one: a reader takes its time for each piece of a file.
    fn add_groups(&mut self, groups: &[GroupSeries]) -> Result<()> {
        let mut rows = Rows(self.0.next_row_group()?);
        let names = groups.iter().flat_map(|group| {
            std::iter::repeat_n(ByteArray::from(group.name.as_str()), group.t_s.len())
        });
        rows.add::<ByteArrayType>(&names.collect::<Vec<_>>())?;
        let columns: [fn(&GroupSeries) -> &[f64]; 6] = [
            |group| &group.t_s,
            |group| &group.goodput_mbps,
            |group| &group.answered_mbps,
            |group| &group.connections,
            |group| &group.cwnd_pkts,
            |group| &group.srtt_ms,
        ];
        for column in columns {
            let values: Vec<_> = groups.iter().flat_map(column).copied().collect();
            rows.add::<DoubleType>(&values)?;
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

/// Rows whose columns are added from left to right.
struct Rows<'a>(SerializedRowGroupWriter<'a, Vec<u8>>);

impl<'a> Rows<'a> {
    fn new(table: &'a mut Table, of: &str, count: usize) -> Result<Self> {
        let mut rows = Self(table.0.next_row_group()?);
        rows.repeat(of, count)?;
        Ok(rows)
    }

    fn repeat(&mut self, word: &str, count: usize) -> Result<()> {
        self.add::<ByteArrayType>(&vec![ByteArray::from(word); count])
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
