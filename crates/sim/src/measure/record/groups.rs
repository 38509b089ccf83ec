// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Groups of flows over time: rates, congestion windows and round trips at steps of the series.

use crate::base::time::Time;

/// Flows of a group whose connections are looked at in a step: a run with 20,000 users takes as
/// long as one with a thousand to look.
pub const MAX_LOOKED_AT: u32 = 1 << 10;
/// Rows of all groups together: 64 MB while the run lasts.
const MAX_ROWS: u64 = 1 << 20;

/// Of so many steps of the series one has rows, so that there are not more than can be kept.
#[must_use]
pub fn every(steps: u64, groups: u64) -> u64 {
    steps.saturating_mul(groups).div_ceil(MAX_ROWS).max(1)
}

/// Sums over connections that are open.
#[derive(Clone, Copy, Debug, Default)]
pub struct Open {
    /// How many they are.
    pub connections: u64,
    /// Sum of their congestion windows.
    pub cwnd_pkts: u64,
    /// Sum of their smoothed round trips.
    pub srtt_us: u64,
}

/// What was seen of a group at one time.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// When.
    pub at: Time,
    /// Payload delivered so far, by the end that heard it.
    pub delivered_bytes: [u64; 2],
    /// Connections of the flows that were looked at.
    pub open: Open,
    /// How many flows there are for each that was looked at.
    pub flows_per_look: f64,
}

/// A group over time, a row a step. Windows and round trips are NaN where no connection was open.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs)]
pub struct GroupSeries {
    pub name: String,
    pub t_s: Vec<f64>,
    pub goodput_mbps: Vec<f64>,
    pub answered_mbps: Vec<f64>,
    pub connections: Vec<f64>,
    pub cwnd_pkts: Vec<f64>,
    pub srtt_ms: Vec<f64>,
}

impl GroupSeries {
    /// From one reading to the next; the first, at the begin of the run, has no row.
    #[must_use]
    pub fn of(name: &str, seen: &[Seen]) -> Self {
        let mut series = Self {
            name: name.to_owned(),
            ..Self::default()
        };
        for pair in seen.windows(2) {
            series.step(&pair[0], &pair[1]);
        }
        series
    }

    fn step(&mut self, from: &Seen, to: &Seen) {
        let us = (to.at - from.at) as f64 / 1e3;
        // What a socket held when its flow was stopped is not counted any more on Linux.
        let [answered, delivered] =
            [0, 1].map(|end| to.delivered_bytes[end].saturating_sub(from.delivered_bytes[end]));
        let open = to.open;
        let mean = |sum: u64| sum as f64 / open.connections as f64;
        self.t_s.push(to.at.seconds());
        self.goodput_mbps.push(delivered as f64 * 8.0 / us);
        self.answered_mbps.push(answered as f64 * 8.0 / us);
        self.connections
            .push(open.connections as f64 * to.flows_per_look);
        // 0 of 0 connections is NaN.
        self.cwnd_pkts.push(mean(open.cwnd_pkts));
        self.srtt_ms.push(mean(open.srtt_us) / 1e3);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(s: u64, delivered: u64, open: (u64, u64, u64), flows_per_look: f64) -> Seen {
        let (connections, cwnd_pkts, srtt_us) = open;
        Seen {
            at: Time(s * 1_000_000_000),
            delivered_bytes: [0, delivered],
            open: Open {
                connections,
                cwnd_pkts,
                srtt_us,
            },
            flows_per_look,
        }
    }

    #[test]
    fn a_step_has_differences_of_bytes_and_means_of_connections() {
        let all = [
            seen(0, 0, (0, 0, 0), 1.0),
            seen(2, 1_000_000, (2, 30, 50_000), 2.5),
        ];
        let series = GroupSeries::of("bulk", &all);
        assert_eq!(
            (&series.t_s[..], &series.goodput_mbps[..]),
            (&[2.0][..], &[4.0][..])
        );
        assert_eq!((series.connections[0], series.cwnd_pkts[0]), (5.0, 15.0));
        assert_eq!(series.srtt_ms, [25.0]);
    }

    #[test]
    fn bytes_that_a_socket_took_along_are_no_negative_rate() {
        let all = [seen(0, 500, (1, 10, 1), 1.0), seen(1, 400, (0, 0, 0), 1.0)];
        let series = GroupSeries::of("bulk", &all);
        assert_eq!(series.goodput_mbps, [0.0]);
        assert!(series.cwnd_pkts[0].is_nan() && series.srtt_ms[0].is_nan());
    }

    #[test]
    fn very_many_groups_have_rows_of_fewer_steps() {
        assert_eq!(every(6_000, 100), 1);
        assert_eq!(every(6_000, 16_000), 92);
        let rows = 6_000 / every(6_000, 16_000) * 16_000;
        assert!(rows <= MAX_ROWS, "{rows}");
        assert_eq!(
            (every(0, 0), every(u64::MAX, u64::MAX)),
            (1, u64::MAX.div_ceil(MAX_ROWS))
        );
    }
}
