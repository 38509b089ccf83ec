// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Readings made by hand, whose answers are known.

use super::*;

const BIN_NS: u64 = 100_000_000;
const BPS: u64 = 8_000_000;

/// In each bin of 100 ms on a link of 8 Mbit/s: packets, the delay of each in ms, the share of the
/// bin in which the link sends.
fn read(bins: &[(u64, u64, f64)]) -> Vec<Reading> {
    let mut at = Reading {
        at: Time(2 * NS_PER_S),
        peak_ns: 999_000_000_000, // of the bin before, which is not of the phase
        ..Reading::default()
    };
    let mut all = vec![at];
    for &(pkts, delay_ms, share) in bins {
        at.at = at.at + BIN_NS;
        at.delay_ns += u128::from(pkts * delay_ms * 1_000_000);
        at.delay_count += pkts;
        at.peak_ns = if pkts > 0 { delay_ms * 1_000_000 } else { 0 };
        at.sent_bytes += (share * 100_000.0) as u64;
        at.capacity += u128::from(BPS) * u128::from(BIN_NS);
        all.push(at);
    }
    all
}

fn phase(from_ns: u64, to_ns: u64) -> Phase {
    let change = Change::Rate {
        of: "bottleneck".into(),
        rate_mbps: 8.0,
    };
    Phase {
        from_ns,
        to_ns,
        changes: vec![change],
    }
}

fn of(bins: &[(u64, u64, f64)]) -> ResponseReport {
    let read = read(bins);
    let phase = phase(2 * NS_PER_S, read[bins.len()].at.0);
    let found = responses(vec![phase], &read);
    assert_eq!(found.len(), 1);
    found[0].clone()
}

#[test]
fn a_peak_that_falls_settles_where_it_is_twice_the_later_mean() {
    // 80, 40, 20, 10, 10, 10, 10, 10 ms: the later mean is 10, and 20 is within twice that.
    let bins: Vec<_> = [80, 40, 20, 10, 10, 10, 10, 10]
        .map(|ms| (5, ms, 1.0))
        .into();
    let found = of(&bins);
    assert_eq!(found.at_s, 2.0);
    assert_eq!(found.to_s, 2.8);
    assert_eq!(found.peak_delay_ms, Some(80.0));
    assert_eq!(found.later_delay_ms, Some(10.0));
    assert_eq!(found.settling_s, Some(0.2));
    assert_eq!(found.utilised_s, Some(0.0));
}

#[test]
fn the_later_mean_is_over_packets_and_of_an_odd_number_of_bins_has_the_middle_one() {
    // The middle bin counts: (1 x 40 + 3 x 20) / 4 = 25.
    let found = of(&[(1, 50, 0.0), (1, 40, 0.0), (3, 20, 0.0)]);
    assert_eq!(found.later_delay_ms, Some(25.0));
    assert_eq!(found.settling_s, Some(0.0));
    assert_eq!(found.utilised_s, None);
}

#[test]
fn a_delay_that_leaves_again_has_not_settled_before() {
    let found = of(&[(9, 90, 0.0), (9, 1, 0.0), (1, 90, 0.0), (97, 1, 0.0)]);
    assert_eq!(found.settling_s, Some(0.3));
}

#[test]
fn a_delay_that_is_high_at_the_end_never_settles() {
    let found = of(&[(50, 1, 0.0), (50, 1, 0.0), (50, 1, 0.0), (10, 20, 0.0)]);
    assert_eq!(found.settling_s, None);
    assert_eq!(found.peak_delay_ms, Some(20.0));
}

#[test]
fn utilisation_is_reached_at_exactly_nine_tenths() {
    let found = of(&[(1, 1, 0.5), (1, 1, 0.899), (1, 1, 0.9), (1, 1, 0.2)]);
    assert_eq!(found.utilised_s, Some(0.2));
}

#[test]
fn without_packets_nothing_is_measured() {
    let found = of(&[(0, 0, 0.0), (0, 0, 0.0)]);
    assert_eq!(found.peak_delay_ms, None);
    assert_eq!(found.later_delay_ms, None);
    assert_eq!(found.settling_s, None);
    assert_eq!(found.utilised_s, None);
}

#[test]
fn without_later_packets_there_is_a_peak_alone() {
    let found = of(&[(3, 70, 1.0), (0, 0, 0.0)]);
    assert_eq!(found.peak_delay_ms, Some(70.0));
    assert_eq!(found.settling_s, None);
}

#[test]
fn a_queue_that_stays_empty_is_settled() {
    let found = of(&[(5, 0, 0.1), (5, 0, 0.1)]);
    assert_eq!(found.peak_delay_ms, Some(0.0));
    assert_eq!(found.settling_s, Some(0.0));
}

#[test]
fn a_link_that_could_send_nothing_is_not_utilised() {
    let mut read = read(&[(1, 1, 0.0)]);
    read[1].capacity = read[0].capacity;
    let found = responses(vec![phase(2 * NS_PER_S, read[1].at.0)], &read);
    assert_eq!(found[0].utilised_s, None);
}

#[test]
fn each_phase_has_its_own_readings() {
    let read = read(&[(1, 30, 1.0), (1, 10, 0.0), (1, 70, 0.0), (1, 20, 1.0)]);
    let [begin, middle, end] = [read[0].at.0, read[2].at.0, read[4].at.0];
    let found = responses(vec![phase(begin, middle), phase(middle, end)], &read);
    let peaks: Vec<_> = found.iter().map(|step| step.peak_delay_ms).collect();
    assert_eq!(peaks, [Some(30.0), Some(70.0)]);
    let utilised: Vec<_> = found.iter().map(|step| step.utilised_s).collect();
    assert_eq!(utilised, [Some(0.0), Some(0.1)]);
}
