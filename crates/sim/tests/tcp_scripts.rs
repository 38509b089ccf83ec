// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Our TCP beside Linux: each trace in `validation/tcp` holds what reached one
//! end of a connection and what Linux sent in answer. The same inputs at the
//! same times must bring the same segments from ours.
//!
//! `SOJOURN_SCRIPT=name` plays one trace only and prints both sides.

use std::fmt;
use std::fs;
use std::path::PathBuf;
use std::rc::Rc;

use sojourn_sim::Time;
use sojourn_sim::base::ecn::Ecn;
use sojourn_sim::tcp::{Connection, Flags, Segment, TcpConfig};

/// Inputs are replayed at the microsecond at which Linux got them, and our
/// timers keep to the same grid of jiffies. What remains is the clock reads
/// between an input and its answer on Linux, some microseconds each.
const TOLERANCE_US: u64 = 100;
/// Linux charges a socket for what its device's buffers really take, we for a
/// constant; windows, in steps of the scale, differ a little.
const WINDOW_TOLERANCE_PCT: u64 = 10;
/// The trace's clock is known modulo 2^24 jiffies of a millisecond; ours begins
/// that much later, so that no clock is near zero.
const ORIGIN_NS: u64 = (1 << 24) * 1_000_000;
/// Linux's default (tcp_rmem, last value); it decides the window scale.
const RCVBUF_MAX_BYTES: u32 = 6 << 20;

enum Input {
    Connect,
    Listen,
    Write(u64),
    Close,
    Segment(Wire),
}

/// A segment as the trace writes it.
#[derive(Clone, Debug, Default, PartialEq)]
struct Wire {
    flags: u8,
    seq: u64,
    len: u32,
    ack: u64,
    window: u32,
    ts_val: u32,
    ts_ecr: u32,
    sack: Vec<(u64, u64)>,
    ecn: u8,
}

struct Trace {
    role: String,
    config: TcpConfig,
    start_ns: u64,
    end_ns: u64,
    tolerance_ns: u64,
    inputs: Vec<(u64, Input)>,
    outputs: Vec<(u64, Wire)>,
}

const FLAG_LETTERS: [(char, Flags); 7] = [
    ('S', Flags::SYN),
    ('F', Flags::FIN),
    ('R', Flags::RST),
    ('P', Flags::PSH),
    ('A', Flags::ACK),
    ('E', Flags::ECE),
    ('W', Flags::CWR),
];

impl fmt::Display for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (letter, flag) in FLAG_LETTERS {
            if self.flags & flag.0 != 0 {
                write!(f, "{letter}")?;
            }
        }
        write!(f, " seq {} len {} ack {}", self.seq, self.len, self.ack)?;
        write!(f, " win {} ecr {}", self.window, self.ts_ecr)?;
        for (left, right) in &self.sack {
            write!(f, " {left}-{right}")?;
        }
        write!(f, " ecn {}", self.ecn)
    }
}

fn parse_wire(words: &[&str]) -> Wire {
    let mut wire = Wire {
        flags: FLAG_LETTERS
            .iter()
            .filter(|(letter, _)| words[0].contains(*letter))
            .fold(0, |flags, (_, flag)| flags | flag.0),
        ..Wire::default()
    };
    let mut rest = words[1..].iter();
    let mut key = "";
    while let Some(word) = rest.next() {
        if let Some((left, right)) = word.split_once('-') {
            wire.sack
                .push((left.parse().unwrap(), right.parse().unwrap()));
            continue;
        }
        let Ok(number) = word.parse::<u64>() else {
            key = word;
            continue;
        };
        match key {
            "seq" => wire.seq = number,
            "len" => wire.len = number as u32,
            "ack" => wire.ack = number,
            "win" => wire.window = number as u32,
            "ts" => {
                wire.ts_val = number as u32;
                wire.ts_ecr = rest.next().unwrap().parse().unwrap();
            }
            "ecn" => wire.ecn = number as u8,
            _ => panic!("unknown field {key}"),
        }
    }
    wire
}

/// A switch of the script as the configuration's own reader takes it.
fn config(settings: &[(String, String)]) -> TcpConfig {
    let mut fields = vec![format!(r#""rcvbuf_max_bytes": {RCVBUF_MAX_BYTES}"#)];
    if settings.iter().all(|(key, _)| key != "gso") {
        // Scripts that do not ask for it are recorded without large segments.
        fields.push(r#""gso": false"#.to_owned());
    }
    for (key, value) in settings {
        if key == "rcvbuf" {
            // The kernel doubles what SO_RCVBUF asks for, and changes it no more.
            let bytes = 2 * value.parse::<u64>().unwrap();
            fields.push(format!(
                r#""rcvbuf_bytes": {bytes}, "rcvbuf_moderation": false"#
            ));
            continue;
        }
        if key == "timestamps" && value == "0" {
            // What the option took is free for payload.
            fields.push(r#""mss_bytes": 1460"#.to_owned());
        }
        fields.push(match value.as_str() {
            "0" => format!(r#""{key}": false"#),
            "1" => format!(r#""{key}": true"#),
            word => format!(r#""{key}": "{word}""#),
        });
    }
    serde_json::from_str(&format!("{{{}}}", fields.join(","))).unwrap()
}

fn nanoseconds(ms: &str) -> u64 {
    (ms.parse::<f64>().unwrap() * 1e6).round() as u64
}

fn parse(text: &str) -> Trace {
    let mut settings = Vec::new();
    let mut trace = Trace {
        role: "client".to_owned(),
        config: TcpConfig::default(),
        start_ns: 0,
        end_ns: 0,
        tolerance_ns: TOLERANCE_US * 1_000,
        inputs: Vec::new(),
        outputs: Vec::new(),
    };
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[0] {
            "start_us" => trace.start_ns = words[1].parse::<u64>().unwrap() * 1_000,
            "set" if words[1] == "role" => trace.role = words[2].to_owned(),
            "set" => settings.push((words[1].to_owned(), words[2].to_owned())),
            "tolerance" => trace.tolerance_ns = nanoseconds(words[1]),
            "end" => trace.end_ns = nanoseconds(words[1]),
            time => {
                let at = nanoseconds(time);
                let input = match (words[1], words[2]) {
                    ("out", _) => {
                        trace.outputs.push((at, parse_wire(&words[2..])));
                        continue;
                    }
                    ("in", _) => Input::Segment(parse_wire(&words[2..])),
                    ("app", "connect") => Input::Connect,
                    ("app", "listen") => Input::Listen,
                    ("app", "write") => Input::Write(words[3].parse().unwrap()),
                    ("app", "close") => Input::Close,
                    _ => panic!("unknown line {line}"),
                };
                trace.inputs.push((at, input));
            }
        }
    }
    trace.config = config(&settings);
    trace
}

/// Our end, with its outputs as the trace counts them.
struct Player {
    connection: Connection,
    origin_ns: u64,
    ts_base: Option<u32>,
    sack: bool,
    outputs: Vec<(u64, Wire)>,
}

impl Player {
    fn open(trace: &Trace) -> Self {
        let origin_ns = ORIGIN_NS + trace.start_ns;
        let now = Time(origin_ns + trace.inputs[0].0);
        let config = Rc::new(trace.config.clone());
        let connection = match trace.inputs[0].1 {
            Input::Connect => *Connection::client(&config, now, 0, None),
            _ => *Connection::server(&config, now, 0, None),
        };
        Self {
            connection,
            origin_ns,
            ts_base: None,
            sack: trace.config.sack,
            outputs: Vec::new(),
        }
    }

    fn collect(&mut self, now: Time) {
        while self.connection.poll_event().is_some() {}
        while let Some((segment, ecn)) = self.connection.poll_transmit(now) {
            let base = *self
                .ts_base
                .get_or_insert_with(|| segment.ts_val.saturating_sub(1));
            let wire = Wire {
                flags: segment.flags.0,
                seq: segment.seq,
                len: segment.len,
                ack: segment.ack,
                window: segment.window,
                ts_val: segment.ts_val.saturating_sub(base),
                ts_ecr: segment.ts_ecr,
                sack: segment.sack_blocks().collect(),
                ecn: ecn as u8,
            };
            self.outputs.push((now.0 - self.origin_ns, wire));
        }
        while self.connection.poll_event().is_some() {}
    }

    fn run_timers(&mut self, until: Time, mut now: Time) {
        while self.connection.poll_timeout() <= until {
            now = self.connection.poll_timeout().max(now);
            self.connection.handle_timeout(now);
            self.collect(now);
        }
    }

    fn feed(&mut self, now: Time, wire: &Wire) {
        let echo = |ecr| ecr + self.ts_base.unwrap_or(0);
        let mut segment = Segment {
            seq: wire.seq,
            ack: wire.ack,
            len: wire.len,
            window: wire.window,
            ts_val: wire.ts_val,
            ts_ecr: if wire.ts_ecr == 0 {
                0
            } else {
                echo(wire.ts_ecr)
            },
            flags: Flags(wire.flags),
            sack_permitted: self.sack && wire.flags & Flags::SYN.0 != 0,
            ..Segment::default()
        };
        for (left, right) in &wire.sack {
            segment.push_sack(*left, *right);
        }
        self.connection
            .handle_segment(now, &segment, Ecn::from_bits(wire.ecn));
    }
}

fn play(trace: &Trace) -> Vec<(u64, Wire)> {
    let mut player = Player::open(trace);
    let mut now = Time(player.origin_ns);
    for (at, input) in &trace.inputs {
        let then = Time(player.origin_ns + at);
        player.run_timers(then, now);
        now = then;
        match input {
            Input::Connect | Input::Listen => {}
            Input::Write(bytes) => player.connection.write(*bytes),
            Input::Close => player.connection.close(),
            Input::Segment(wire) => player.feed(now, wire),
        }
        player.collect(now);
    }
    player.run_timers(Time(player.origin_ns + trace.end_ns), now);
    player.outputs
}

/// What differs between a segment of Linux and ours, in a word; none: nothing.
/// PSH is not compared: it follows the sizes of the application's writes, and
/// what it does to a receiver shows in that receiver's own traces.
fn difference(theirs: &(u64, Wire), ours: &(u64, Wire), trace: &Trace) -> Option<&'static str> {
    let (a, b) = (&theirs.1, &ours.1);
    // An echo tells when the segment that it answers came, in milliseconds.
    let echo_gap_ms = u64::from(a.ts_ecr.abs_diff(b.ts_ecr));
    let window_gap = u64::from(a.window.abs_diff(b.window)) * 100;
    let checks = [
        ((a.flags ^ b.flags) & !Flags::PSH.0 == 0, "flags"),
        (a.seq == b.seq, "seq"),
        (a.len == b.len, "len"),
        (a.ack == b.ack, "ack"),
        (a.sack == b.sack, "sack"),
        (a.ecn == b.ecn, "ecn"),
        (echo_gap_ms <= trace.tolerance_ns / 1_000_000, "ts_ecr"),
        (theirs.0.abs_diff(ours.0) <= trace.tolerance_ns, "time"),
        (
            window_gap <= WINDOW_TOLERANCE_PCT * u64::from(a.window),
            "window",
        ),
    ];
    checks.iter().find(|(same, _)| !same).map(|(_, word)| *word)
}

fn shown(segment: Option<&(u64, Wire)>) -> String {
    segment.map_or_else(
        || "nothing".to_owned(),
        |(at, wire)| format!("{:.3} {wire}", *at as f64 / 1e6),
    )
}

/// The first differences, each with the two segments; empty: the same.
fn compare(trace: &Trace, ours: &[(u64, Wire)]) -> Vec<String> {
    let count = trace.outputs.len().max(ours.len());
    (0..count)
        .filter_map(|i| {
            let (a, b) = (trace.outputs.get(i), ours.get(i));
            let word = match (a, b) {
                (Some(a), Some(b)) => difference(a, b, trace)?,
                _ => "count",
            };
            Some(format!(
                "  segment {i}, {word}:\n    Linux {}\n    ours  {}",
                shown(a),
                shown(b)
            ))
        })
        .collect()
}

#[test]
fn answers_as_linux_did() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../validation/tcp");
    let only = std::env::var("SOJOURN_SCRIPT").ok();
    let mut traces: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().ends_with(".linux.trace"))
        .collect();
    traces.sort();
    let mut failed = Vec::new();
    let mut played = 0;
    for path in traces {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let name = name.trim_end_matches(".linux.trace").to_owned();
        if only.as_ref().is_some_and(|only| *only != name) {
            continue;
        }
        played += 1;
        let trace = parse(&fs::read_to_string(&path).unwrap());
        let ours = play(&trace);
        if only.is_some() {
            for i in 0..trace.outputs.len().max(ours.len()) {
                println!("Linux {}", shown(trace.outputs.get(i)));
                println!("ours  {}", shown(ours.get(i)));
            }
        }
        let differences = compare(&trace, &ours);
        if !differences.is_empty() {
            let first: Vec<&str> = differences.iter().take(2).map(String::as_str).collect();
            failed.push(format!(
                "{name} ({}): {} of {} segments differ\n{}",
                trace.role,
                differences.len(),
                trace.outputs.len(),
                first.join("\n")
            ));
        }
    }
    assert!(played > 0, "no trace found");
    assert!(
        failed.is_empty(),
        "{} of {played} traces differ from Linux\n{}",
        failed.len(),
        failed.join("\n")
    );
}
