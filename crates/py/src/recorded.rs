// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! What a run recorded, as Parquet files. They are written here and not in Python because a
//! library that writes them there takes longer to load than many a run.

mod transfers;

use std::io::Write;
use std::sync::Arc;

use parquet::basic::{Compression, Encoding};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::Result;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;
use pyo3::pyfunction;
use sojourn_sim::measure::record::{
    Cell, Distribution, GroupSeries, PacketEvent, QueueReport, SeriesReport, StatisticReport,
};

pub use transfers::{TransferFile, told};

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

const DISTRIBUTIONS: [Column; 6] = [
    (
        "quantity",
        "binary",
        "(STRING)",
        "",
        "`queue_delay`, `queue_delay_whole` or `system_delay` of a queue; `fct`, `page` or `datagram_delay` of a group",
    ),
    (
        "of",
        "binary",
        "(STRING)",
        "",
        "link of the queue, or name of the group",
    ),
    ("window", "binary", "(STRING)", "", "name of the window"),
    (
        "from_ns",
        "int64",
        UNSIGNED_64,
        "ns",
        "lower edge of the cell",
    ),
    (
        "below_ns",
        "int64",
        UNSIGNED_64,
        "ns",
        "upper edge, which is beyond it",
    ),
    (
        "count",
        "int64",
        UNSIGNED_64,
        "",
        "packets, transfers, pages or datagrams in the cell",
    ),
];

const UNSIGNED_64: &str = "(INTEGER(64, false))";
const UNSIGNED_32: &str = "(INTEGER(32, false))";
const UNSIGNED_8: &str = "(INTEGER(8, false))";

/// Of each column of these tables: table, name, unit, meaning.
#[pyfunction]
pub fn recorded_columns() -> Vec<(&'static str, &'static str, &'static str, &'static str)> {
    let of = |table, columns: &[Column]| {
        let told = |&(name, _, _, unit, meaning): &Column| (table, name, unit, meaning);
        columns.iter().map(told).collect::<Vec<_>>()
    };
    [
        of("series", &SERIES),
        of("events", &EVENTS),
        of("distributions", &DISTRIBUTIONS),
        of("statistics", &STATISTICS),
        of("group_series", &GROUP_SERIES),
        of("transfers", &transfers::COLUMNS),
    ]
    .concat()
}

/// Packets of a row group. A group's columns are made one after the other, so this bounds
/// what is in memory beside the events and the file.
const EVENTS_TOGETHER: usize = 1 << 20;

/// Columns that grow from row to row, or nearly so.
const TIMES: [&str; 8] = [
    "at_ns",
    "enq_ns",
    "from_ns",
    "below_ns",
    "opened_ns",
    "begun_ns",
    "first_byte_ns",
    "last_byte_ns",
];

/// The files of a run, by name.
pub type Files = Vec<(&'static str, Vec<u8>)>;

/// Those of queues and of groups. Of some there is none without rows.
pub fn files(
    queues: &[QueueReport],
    times: &[Distribution],
    groups: &[GroupSeries],
) -> Result<Files> {
    let of_queues = queues.iter().flat_map(|queue| &queue.distributions);
    let own = queues
        .iter()
        .map(|of| (of.name.as_str(), &of.statistics[..]));
    let mut files = vec![
        ("series.parquet", series(queues)?),
        (
            "distributions.parquet",
            distributions(of_queues.chain(times))?,
        ),
    ];
    let others = [
        ("events.parquet", events(queues)?),
        ("statistics.parquet", statistics(own)?),
        ("group_series.parquet", group_series(groups)?),
    ];
    files.extend(
        others
            .into_iter()
            .filter_map(|(name, file)| Some((name, file?))),
    );
    Ok(files)
}

fn distributions<'a>(all: impl Iterator<Item = &'a Distribution>) -> Result<Vec<u8>> {
    let mut table = Table::new("distributions", &DISTRIBUTIONS, Vec::new())?;
    for distribution in all {
        table.add_distribution(distribution)?;
    }
    table.finish()
}

/// The series of all queues, a row a step.
fn series(queues: &[QueueReport]) -> Result<Vec<u8>> {
    let mut table = Table::new("series", &SERIES, Vec::new())?;
    for queue in queues {
        table.add_series(&queue.name, &queue.series)?;
    }
    table.finish()
}

/// The packets of all queues, a row a packet; None if they were not asked for.
fn events(queues: &[QueueReport]) -> Result<Option<Vec<u8>>> {
    if queues.iter().all(|queue| queue.events.is_none()) {
        return Ok(None);
    }
    let mut table = Table::new("events", &EVENTS, Vec::new())?;
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
    let mut table = Table::new("statistics", &STATISTICS, Vec::new())?;
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
    let mut table = Table::new("group_series", &GROUP_SERIES, Vec::new())?;
    table.add_groups(groups)?;
    table.finish().map(Some)
}

/// A file that is being written.
struct Table<W: Write + Send>(SerializedFileWriter<W>);

impl<W: Write + Send> Table<W> {
    fn new(name: &str, columns: &[Column], into: W) -> Result<Self> {
        let fields = columns.iter().map(|(name, kind, stands_for, ..)| {
            let presence = match transfers::MAY_LACK.contains(name) {
                true => "optional",
                false => "required",
            };
            format!("{presence} {kind} {name} {stands_for};")
        });
        let schema = format!("message {name} {{ {} }}", fields.collect::<String>());
        let mut properties = WriterProperties::builder().set_compression(Compression::SNAPPY);
        for column in TIMES.map(ColumnPath::from) {
            properties = properties
                .set_column_dictionary_enabled(column.clone(), false)
                .set_column_encoding(column, Encoding::DELTA_BINARY_PACKED);
        }
        let schema = Arc::new(parse_message_type(&schema)?);
        SerializedFileWriter::new(into, schema, Arc::new(properties.build())).map(Self)
    }

    fn add_series(&mut self, queue: &str, series: &SeriesReport) -> Result<()> {
        let mut rows = Rows::new(self)?;
        rows.repeat(queue, series.t_s.len())?;
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
        let count = of.t_s.len();
        let mut rows = Rows::new(self)?;
        rows.repeat(queue, count)?;
        rows.add::<DoubleType>(&of.t_s)?;
        rows.repeat(&of.name, count)?;
        rows.repeat(&of.unit, count)?;
        rows.add::<DoubleType>(&of.values)?;
        rows.finish()
    }

    /// All in one: a reader takes its time for each piece of a file.
    fn add_groups(&mut self, groups: &[GroupSeries]) -> Result<()> {
        let mut rows = Rows::new(self)?;
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
        let mut rows = Rows::new(self)?;
        rows.repeat(queue, events.len())?;
        rows.add::<Int64Type>(&column(events, |e| e.at_ns.cast_signed()))?;
        rows.add::<Int64Type>(&column(events, |e| e.enq_ns.cast_signed()))?;
        rows.add::<Int32Type>(&column(events, |e| e.flow.cast_signed()))?;
        rows.add::<Int32Type>(&column(events, |e| e.len_bytes.cast_signed()))?;
        rows.add::<Int32Type>(&column(events, |e| e.ecn.into()))?;
        rows.add::<Int32Type>(&column(events, |e| e.why.into()))?;
        rows.finish()
    }

    fn add_distribution(&mut self, distribution: &Distribution) -> Result<()> {
        let cells: Vec<Cell> = distribution.cells().collect();
        let mut rows = Rows::new(self)?;
        let labels = [
            distribution.quantity.name(),
            &distribution.of,
            &distribution.window,
        ];
        for label in labels {
            rows.repeat(label, cells.len())?;
        }
        rows.add::<Int64Type>(&column(&cells, |c| c.from_ns.cast_signed()))?;
        rows.add::<Int64Type>(&column(&cells, |c| c.below_ns.cast_signed()))?;
        rows.add::<Int64Type>(&column(&cells, |c| c.count.cast_signed()))?;
        rows.finish()
    }

    fn finish(self) -> Result<W> {
        self.0.into_inner()
    }
}

fn column<R, T>(rows: &[R], of: impl Fn(&R) -> T) -> Vec<T> {
    rows.iter().map(of).collect()
}

/// Rows of which the columns are added from left to right.
struct Rows<'a, W: Write + Send>(SerializedRowGroupWriter<'a, W>);

impl<'a, W: Write + Send> Rows<'a, W> {
    fn new(table: &'a mut Table<W>) -> Result<Self> {
        table.0.next_row_group().map(Self)
    }

    /// The same name in each of so many rows.
    fn repeat(&mut self, name: &str, count: usize) -> Result<()> {
        self.add::<ByteArrayType>(&vec![ByteArray::from(name); count])
    }

    fn add<T: DataType>(&mut self, values: &[T::T]) -> Result<()> {
        self.add_present::<T>(values, None)
    }

    /// A column with values in some rows alone: those with 1.
    fn add_present<T: DataType>(&mut self, values: &[T::T], present: Option<&[i16]>) -> Result<()> {
        let mut column = self
            .0
            .next_column()?
            .expect("no more columns than in the schema");
        column.typed::<T>().write_batch(values, present, None)?;
        column.close()
    }

    fn finish(self) -> Result<()> {
        self.0.close().map(drop)
    }
}
