// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Gives a kernel's recorded inputs to the queue of this crate, and compares what becomes
//! of each packet, all counters and all statistics with what the kernel wrote.
//!
//! `cargo run --release -p sojourn-core --example replay FILE`: a line for each queue;
//! status 1 when one differs. The records are those of `linux/qdisc/record.h`.

use std::collections::VecDeque;
use std::fmt::{Debug, Write};
use std::process::ExitCode;

use sojourn_core::{Algorithm, Counters, Field, Queue, QueueSpec, Slot, queue_rows, reason_name};

const HEAD_BYTES: usize = 32;
const RECORD_BYTES: usize = 96;

/// `enum sojourn_what`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Row,
    Init,
    Change,
    Reset,
    Event,
    Look,
    Number,
    State,
    Joined,
    Left,
    Freed,
    Marked,
}

const WHATS: [What; 12] = [
    What::Row,
    What::Init,
    What::Change,
    What::Reset,
    What::Event,
    What::Look,
    What::Number,
    What::State,
    What::Joined,
    What::Left,
    What::Freed,
    What::Marked,
];

/// Tables of numbers, as `sojourn.h` counts them.
const QUEUE_ROWS: u8 = 3;
const COUNTS: u8 = 1;
const DROPS: u8 = 2;
const MARKS: u8 = 3;
const BAD: u8 = 4;

/// Of `enum aqm_ev`: the inputs.
const ARRIVAL: u8 = 0;
const REQUEST: u8 = 1;
const PROBE: u8 = 7;
const ECHO: u8 = 8;

const CE: u8 = 3;

/// The members that are compared here.
#[derive(Clone, Debug)]
struct Record {
    index: usize,
    now_ns: u64,
    value: u64,
    packet: u32,
    inst: u32,
    flow: u32,
    len_bytes: u32,
    mem_bytes: u32,
    pkts: u32,
    bytes: u32,
    name: String,
    what: What,
    ev: u8,
    why: u8,
    ds: u8,
    ok: bool,
    table: u8,
    row: u16,
}

fn number<const N: usize>(raw: &[u8], at: usize) -> [u8; N] {
    raw[at..at + N].try_into().expect("inside the record")
}

fn u32_at(raw: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes(number(raw, at))
}

fn u64_at(raw: &[u8], at: usize) -> u64 {
    u64::from_ne_bytes(number(raw, at))
}

impl Record {
    fn read(index: usize, raw: &[u8]) -> Record {
        let name = raw[48..80].split(|byte| *byte == 0).next().unwrap_or(&[]);
        Record {
            index,
            now_ns: u64_at(raw, 0),
            value: u64_at(raw, 8),
            packet: u32_at(raw, 20),
            inst: u32_at(raw, 24),
            flow: u32_at(raw, 28),
            len_bytes: u32_at(raw, 32),
            mem_bytes: u32_at(raw, 48),
            pkts: u32_at(raw, 40),
            bytes: u32_at(raw, 44),
            name: String::from_utf8_lossy(name).into_owned(),
            what: WHATS[usize::from(raw[80])],
            ev: raw[81],
            why: raw[82],
            ds: raw[83],
            ok: raw[89] != 0,
            table: raw[90],
            row: u16::from_ne_bytes(number(raw, 94)),
        }
    }

    /// The others are what the algorithm was asked and said.
    fn is_input(&self) -> bool {
        [ARRIVAL, REQUEST, PROBE, ECHO]
            .iter()
            .any(|&ev| self.is(ev))
    }

    fn is(&self, ev: u8) -> bool {
        self.what == What::Event && self.ev == ev
    }
}

/// The sentence that tells the first difference.
type Differs = String;

/// Where the kernel and this host disagree, if they do.
fn same<T: PartialEq + Debug>(at: &Record, of: &str, kernel: T, here: T) -> Result<(), Differs> {
    if kernel == here {
        return Ok(());
    }
    let index = at.index;
    Err(format!(
        "record {index}: {of} is {kernel:?} in the kernel, {here:?} here"
    ))
}

struct Replay {
    records: VecDeque<Record>,
    rows: Vec<Record>,
    slots: Vec<Slot>,
    arrivals: u32,
}

impl Replay {
    fn next(&mut self, what: What) -> Option<Record> {
        self.records.pop_front_if(|record| record.what == what)
    }

    /// What the algorithm was asked and said stands between a call and its outcome, and
    /// cannot be seen through this crate.
    fn outcome(&mut self) -> Option<Record> {
        while let Some(record) = self.records.pop_front() {
            if record.what != What::Event {
                return Some(record);
            }
        }
        None
    }

    /// What became of packets in one call, up to the record `last`.
    fn outcomes(&mut self, call: &Record, last: What) -> Result<Outcomes, Differs> {
        let mut seen = Outcomes::default();
        while let Some(record) = self.outcome() {
            match record.what {
                What::Freed => seen.freed.push((record.packet, record.why)),
                What::Marked if record.ok => seen.marked.push(record.packet),
                What::Marked => {
                    let index = record.index;
                    return Err(format!(
                        "record {index}: the kernel could not mark, this host always can"
                    ));
                }
                what if what == last => {
                    seen.last = Some(record);
                    return Ok(seen);
                }
                _ => break,
            }
        }
        Err(format!("record {}: its call has no outcome", call.index))
    }

    fn rows(&mut self, algorithm: Algorithm) -> Result<Vec<(String, u64)>, Differs> {
        let find = |record: &Record| {
            let rows = match record.table {
                QUEUE_ROWS => queue_rows(),
                _ => algorithm.params(),
            };
            let row: Option<&Field> = rows.iter().find(|row| row.attr == record.row);
            let index = record.index;
            row.map(|row| (row.name.to_owned(), record.value))
                .ok_or_else(|| format!("record {index}: there is no such row"))
        };
        self.rows.drain(..).map(|record| find(&record)).collect()
    }

    fn begin(&mut self) -> Result<Queue, Differs> {
        while let Some(row) = self.next(What::Row) {
            self.rows.push(row);
        }
        let init = self
            .next(What::Init)
            .ok_or("the first records make no queue")?;
        let algorithm = Algorithm::find(&init.name)
            .ok_or_else(|| format!("{} is not in this library", init.name))?;
        let spec = QueueSpec {
            algorithm,
            rows: self.rows(algorithm)?,
            mtu_bytes: init.len_bytes,
            seed: init.value,
            start_ns: init.now_ns,
        };
        Queue::new(&spec).map_err(|no| format!("record {}: {no}", init.index))
    }

    fn arrive(&mut self, queue: &mut Queue, call: &Record) -> Result<(), Differs> {
        let packet = self.arrivals;
        self.arrivals += 1;
        self.slots[packet as usize] = Slot {
            flow: call.flow,
            len_bytes: call.len_bytes,
            ecn: call.ds & 3,
            dscp: call.ds >> 2,
            mem_bytes: call.mem_bytes,
            ..Slot::default()
        };
        let kernel = self.outcomes(call, What::Joined)?;
        let joined = if call.is(PROBE) {
            queue.join_probe(&mut self.slots, call.now_ns, call.inst, packet)
        } else {
            queue.enqueue(&mut self.slots, call.now_ns, packet)
        };
        self.compare_freed(call, queue, &kernel)?;
        same(
            call,
            "whether the arrival joined",
            kernel.last.is_some_and(|last| last.ok),
            joined,
        )?;
        self.compare_mark(call, packet, &kernel.marked)
    }

    fn request(&mut self, queue: &mut Queue, call: &Record) -> Result<(), Differs> {
        let kernel = self.outcomes(call, What::Left)?;
        let packet = queue.dequeue(&mut self.slots, call.now_ns);
        self.compare_freed(call, queue, &kernel)?;
        let last = kernel.last.expect("outcomes() ends with it");
        same(
            call,
            "the packet that leaves",
            last.ok.then_some(last.packet),
            packet,
        )?;
        let Some(packet) = packet else { return Ok(()) };
        let slot = self.slots[packet as usize];
        let ds = slot.dscp << 2 | slot.ecn;
        same(call, "its DS field", last.ds, ds)?;
        same(call, "its time of arrival", last.value, slot.enq_ns)?;
        if kernel.marked.is_empty() {
            return Ok(());
        }
        self.compare_mark(call, packet, &kernel.marked)
    }

    /// Ticks may have been due; what the algorithm makes of an answer is seen later.
    fn echo(&mut self, queue: &mut Queue, call: &Record) {
        queue.echo(call.now_ns, call.inst, call.value);
        while self
            .records
            .pop_front_if(|record| record.what == What::Event && !record.is_input())
            .is_some()
        {}
    }

    fn compare_freed(
        &self,
        call: &Record,
        queue: &Queue,
        kernel: &Outcomes,
    ) -> Result<(), Differs> {
        let here: Vec<_> = queue.freed().iter().map(|f| (f.packet, f.why)).collect();
        for pair in kernel.freed.iter().zip(&here) {
            let name = |(packet, why): &(u32, u8)| (*packet, reason_name(*why));
            same(call, "a dropped packet", name(pair.0), name(pair.1))?;
        }
        let count = kernel.freed.len();
        same(call, "the number of dropped packets", count, here.len())
    }

    /// Only the packet in hand can be marked; one that came marked shows nothing.
    fn compare_mark(&self, call: &Record, packet: u32, kernel: &[u32]) -> Result<(), Differs> {
        let came_marked = call.is(ARRIVAL) && call.ds & 3 == CE;
        let marked = self.slots[packet as usize].ecn == CE && !came_marked;
        let here: Vec<u32> = marked.then_some(packet).into_iter().collect();
        if came_marked && kernel == [packet] {
            return Ok(());
        }
        same(call, "the marked packets", kernel, &here)
    }

    fn change(&mut self, queue: &mut Queue, call: &Record) -> Result<(), Differs> {
        let rows = self.rows(queue.algorithm())?;
        queue
            .change(&mut self.slots, call.now_ns, &rows)
            .map_err(|no| format!("record {}: {no}", call.index))?;
        self.thrown_away(queue, call)
    }

    /// The packets that a change or a reset cost.
    fn thrown_away(&mut self, queue: &Queue, call: &Record) -> Result<(), Differs> {
        let mut kernel = Outcomes::default();
        while let Some(record) = self.records.front() {
            match record.what {
                What::Freed => kernel.freed.push((record.packet, record.why)),
                What::Event if !record.is_input() => {}
                _ => break,
            }
            self.records.pop_front();
        }
        self.compare_freed(call, queue, &kernel)
    }

    fn look(&mut self, queue: &mut Queue, call: &Record) -> Result<(), Differs> {
        let stats = queue.stats();
        let counters = queue.counters();
        while let Some(record) = self.outcome() {
            if record.what == What::State {
                let here = (queue.backlog_pkts(), queue.backlog_bytes());
                return same(&record, "the backlog", (record.pkts, record.bytes), here);
            }
            let (name, here) = counter(&counters, &record).unwrap_or_else(|| {
                let mut rows = queue.algorithm().stats().iter();
                let row = rows.find(|row| row.attr == record.row);
                let found = row.and_then(|row| stats.iter().find(|(name, _)| *name == row.name));
                *found.unwrap_or(&("a statistic", u64::MAX))
            });
            same(&record, name, record.value, here)?;
        }
        Err(format!("record {}: its numbers are missing", call.index))
    }

    fn run(&mut self) -> Result<(), Differs> {
        let mut queue = self.begin()?;
        while let Some(record) = self.records.pop_front() {
            match record.what {
                What::Row => self.rows.push(record),
                What::Change => self.change(&mut queue, &record)?,
                What::Look => self.look(&mut queue, &record)?,
                What::Event if record.is(ARRIVAL) || record.is(PROBE) => {
                    self.arrive(&mut queue, &record)?
                }
                What::Event if record.is(REQUEST) => self.request(&mut queue, &record)?,
                What::Event if record.is(ECHO) => self.echo(&mut queue, &record),
                What::Reset => {
                    queue.reset(&mut self.slots, record.now_ns);
                    self.thrown_away(&queue, &record)?;
                }
                what => {
                    let index = record.index;
                    return Err(format!(
                        "record {index}: {what:?}, which does not happen here"
                    ));
                }
            }
        }
        Ok(())
    }
}

#[derive(Default)]
struct Outcomes {
    freed: Vec<(u32, u8)>,
    marked: Vec<u32>,
    last: Option<Record>,
}

/// A counter by its numbers; none: the record is of the algorithm's own statistics.
fn counter(counters: &Counters, record: &Record) -> Option<(&'static str, u64)> {
    let row = usize::from(record.row);
    let counts = [
        counters.in_pkts,
        counters.in_bytes,
        counters.out_pkts,
        counters.out_bytes,
        counters.drop_bytes,
        counters.unmarkable,
    ];
    match record.table {
        COUNTS => Some(("a count of packets or bytes", counts[row])),
        DROPS => Some(("a count of drops", counters.drops[row])),
        MARKS => Some(("a count of marks", counters.marks[row])),
        BAD => Some(("a count of bad verdicts", counters.bad[row])),
        _ => None,
    }
}

/// The records of each queue, or why they are not to be used.
fn read(path: &str) -> Result<Vec<VecDeque<Record>>, String> {
    let raw = std::fs::read(path).map_err(|no| format!("{path}: {no}"))?;
    let whole = raw.len() >= HEAD_BYTES
        && &raw[..8] == b"sojourn1"
        && u32_at(&raw, 8) as usize == RECORD_BYTES
        && u32_at(&raw, 12) as usize == HEAD_BYTES
        && raw.len() as u64 == HEAD_BYTES as u64 + u64_at(&raw, 16) * RECORD_BYTES as u64;
    if !whole {
        return Err(format!("{path} is no whole file of records"));
    }
    if u64_at(&raw, 24) != 0 {
        return Err("the kernel lost records: give the module more room (records=)".into());
    }
    let mut queues: Vec<VecDeque<Record>> = Vec::new();
    for (index, record) in raw[HEAD_BYTES..].chunks(RECORD_BYTES).enumerate() {
        let queue = u32_at(record, 16) as usize;
        if queues.len() <= queue {
            queues.resize(queue + 1, VecDeque::new());
        }
        queues[queue].push_back(Record::read(index, record));
    }
    Ok(queues)
}

fn main() -> ExitCode {
    let path = std::env::args().nth(1).unwrap_or_default();
    let queues = match read(&path) {
        Ok(queues) => queues,
        Err(no) => {
            eprintln!("replay: {no}");
            return ExitCode::from(2);
        }
    };
    let (mut said, mut status) = (String::new(), ExitCode::SUCCESS);
    for (number, records) in queues.into_iter().enumerate() {
        let arrivals = records
            .iter()
            .filter(|record| record.is(ARRIVAL) || record.is(PROBE))
            .count();
        let mut replay = Replay {
            records,
            rows: Vec::new(),
            slots: vec![Slot::default(); arrivals],
            arrivals: 0,
        };
        let sentence = replay.run().err();
        if sentence.is_some() {
            status = ExitCode::FAILURE;
        }
        let sentence = sentence.unwrap_or_else(|| "equal".into());
        writeln!(said, "queue {number} {sentence}").expect("a string has room");
    }
    print!("{said}");
    status
}
