// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! What is measured of the classes and rings at a link's end, whose queues have rows of their own.

use serde::Serialize;

use crate::base::time::Time;
use crate::scenario::WindowSpec;

/// What a class has counted up to now.
#[derive(Clone, Debug, Default)]
pub struct ClassReading {
    /// Packets sent.
    pub sent_pkts: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Integral over time of the packets below it.
    pub pkt_ns: u128,
    /// HTB: packets lent and borrowed; times in which it could send, could borrow, could do
    /// neither.
    pub borrowing: Option<(u64, u64, [u64; 3])>,
}

/// A class over a window.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct ClassWindowReport {
    pub name: String,
    pub from_s: f64,
    pub to_s: f64,
    pub sent_pkts: u64,
    pub sent_bytes: u64,
    pub lent_pkts: Option<u64>,
    pub borrowed_pkts: Option<u64>,
    pub can_send_pct: Option<f64>,
    pub may_borrow_pct: Option<f64>,
    pub cannot_send_pct: Option<f64>,
    pub backlog_pkts: f64,
}

/// A class, a band or a ring.
#[derive(Clone, Debug, Serialize)]
pub struct ClassReport {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: &'static str,
    /// By window.
    pub windows: Vec<ClassWindowReport>,
}

/// The measuring of one class.
pub struct ClassRecord {
    name: String,
    kind: &'static str,
    windows: Vec<(WindowSpec, Option<ClassReading>, Option<ClassReading>)>,
}

impl ClassRecord {
    /// Nothing measured yet.
    pub fn new(name: String, kind: &'static str, windows: &[WindowSpec]) -> Self {
        let windows = windows.iter().map(|spec| (spec.clone(), None, None));
        Self {
            name,
            kind,
            windows: windows.collect(),
        }
    }

    /// Some window begins or ends.
    pub fn on_edge(&mut self, now: Time, reading: &ClassReading) {
        for (spec, begin, end) in &mut self.windows {
            if spec.from_ns == now.0 {
                *begin = Some(reading.clone());
            }
            if spec.to_ns == now.0 {
                *end = Some(reading.clone());
            }
        }
    }

    /// The report; windows that the run never came to the end of are left out.
    pub fn report(&self) -> ClassReport {
        let spans = self
            .windows
            .iter()
            .filter_map(|(spec, begin, end)| Some(window(spec, begin.as_ref()?, end.as_ref()?)));
        ClassReport {
            name: self.name.clone(),
            kind: self.kind,
            windows: spans.collect(),
        }
    }
}

fn window(spec: &WindowSpec, begin: &ClassReading, end: &ClassReading) -> ClassWindowReport {
    let span_ns = (spec.to_ns - spec.from_ns) as f64;
    let borrowing = end.borrowing.zip(begin.borrowing);
    let pct = |mode: usize| {
        borrowing.map(|((_, _, to), (_, _, from))| (to[mode] - from[mode]) as f64 / span_ns * 100.0)
    };
    ClassWindowReport {
        name: spec.name.clone(),
        from_s: Time(spec.from_ns).seconds(),
        to_s: Time(spec.to_ns).seconds(),
        sent_pkts: end.sent_pkts - begin.sent_pkts,
        sent_bytes: end.sent_bytes - begin.sent_bytes,
        lent_pkts: borrowing.map(|(to, from)| to.0 - from.0),
        borrowed_pkts: borrowing.map(|(to, from)| to.1 - from.1),
        can_send_pct: pct(0),
        may_borrow_pct: pct(1),
        cannot_send_pct: pct(2),
        backlog_pkts: (end.pkt_ns - begin.pkt_ns) as f64 / span_ns,
    }
}
