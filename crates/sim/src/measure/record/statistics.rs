// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! An algorithm's own statistics over time, as `tc -s` shows them at each step of the series.

use sojourn_core::{Field, Unit};

use crate::base::time::{NS_PER_MS, Time};

/// Readings of one queue. Which rows have a value does not change during a run.
#[derive(Default)]
pub struct Statistics {
    rows: Vec<&'static Field>,
    at: Vec<Time>,
    /// Reading after reading.
    values: Vec<u64>,
}

/// One statistic over time.
#[derive(Clone, Debug, PartialEq)]
pub struct StatisticReport {
    /// Name of its row.
    pub name: String,
    /// What `values` are counted in; empty: they are numbers or shares.
    pub unit: String,
    /// When it was read.
    pub t_s: Vec<f64>,
    /// What it was.
    pub values: Vec<f64>,
}

/// How readings of a row are shown: what its number is multiplied by, and the unit it then has.
#[must_use]
pub fn scale(unit: &Unit) -> (f64, &'static str) {
    let (more, shown) = match unit.base {
        "time" => (1.0 / NS_PER_MS as f64, "ms"),
        "rate" => (1e-6, "Mbit/s"),
        "packets" => (1.0, "packets"),
        "size" => (1.0, "bytes"),
        "frequency" => (1.0, "Hz"),
        _ => (1.0, ""),
    };
    (unit.divide as f64 / unit.multiply as f64 * more, shown)
}

impl Statistics {
    /// The statistics have these values now.
    pub fn read(&mut self, now: Time, values: &[(&'static Field, u64)]) {
        if self.at.is_empty() {
            self.rows = values.iter().map(|&(row, _)| row).collect();
        }
        self.at.push(now);
        self.values.extend(values.iter().map(|&(_, value)| value));
    }

    /// By statistic.
    #[must_use]
    pub fn report(&self) -> Vec<StatisticReport> {
        let t_s: Vec<_> = self.at.iter().map(|at| at.seconds()).collect();
        let of = |(nth, row): (usize, &&'static Field)| {
            let (factor, unit) = scale(&row.unit);
            let column = self.values.iter().skip(nth).step_by(self.rows.len());
            StatisticReport {
                name: row.name.to_owned(),
                unit: unit.to_owned(),
                t_s: t_s.clone(),
                values: column.map(|&value| value as f64 * factor).collect(),
            }
        };
        self.rows.iter().enumerate().map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(unit: &str, value: u64) -> (f64, &'static str) {
        let unit = sojourn_core::units().iter().find(|of| of.name == unit);
        let (factor, shown) = scale(unit.expect("a unit of the core"));
        (value as f64 * factor, shown)
    }

    #[test]
    fn values_are_in_the_units_of_other_tables() {
        assert_eq!(shown("ns", 1_500_000), (1.5, "ms"));
        assert_eq!(shown("bytes/s", 1_250_000), (10.0, "Mbit/s"));
        assert_eq!(shown("q32", 1 << 31), (0.5, ""));
        assert_eq!(shown("hz/16", 8), (0.5, "Hz"));
        assert_eq!(shown("pkts", 7), (7.0, "packets"));
        assert_eq!(shown("bytes", 7), (7.0, "bytes"));
        assert_eq!(shown("count", 7), (7.0, ""));
    }

    #[test]
    fn a_report_has_the_readings_of_each_row_in_their_order() {
        let pie = sojourn_core::Algorithm::find("pie").expect("pie").stats();
        let mut statistics = Statistics::default();
        for (ns, prob, delay) in [(1, 1 << 30, 2_000_000), (2, 1 << 31, 3_000_000)] {
            statistics.read(Time(ns), &[(&pie[0], prob), (&pie[1], delay)]);
        }
        let [prob, delay] = &statistics.report()[..] else {
            panic!("two rows");
        };
        assert_eq!((&prob.name[..], &prob.unit[..]), ("prob", ""));
        assert_eq!((&delay.name[..], &delay.unit[..]), ("delay", "ms"));
        assert_eq!(prob.values, [0.25, 0.5]);
        assert_eq!(delay.values, [2.0, 3.0]);
        assert_eq!(delay.t_s, [1e-9, 2e-9]);
    }
}
