// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Repair of losses.

use super::pair::{Fate, MS, Pair};
use crate::tcp::{CongestionControl, TcpConfig};

const MSS: u64 = 1448;

fn loss_at(segments: &[u64], config: &TcpConfig, bytes: u64) -> Pair {
    let mut pair = Pair::new(config, 25, 800);
    pair.lose(segments, u64::from(config.payload_bytes(config.timestamps)));
    pair.client.write(bytes);
    pair.run(20_000);
    assert_eq!(pair.delivered, bytes);
    pair
}

#[test]
fn single_loss_is_repaired_without_a_timeout() {
    let pair = loss_at(&[30], &TcpConfig::default(), 500_000);
    let stats = pair.client.stats();
    assert_eq!(
        (stats.counts.retransmitted_pkts, stats.counts.timeouts),
        (1, 0)
    );
    assert_eq!(stats.counts.recoveries, 1);
}

#[test]
fn scattered_losses_cost_one_retransmission_each() {
    let lost = [40, 42, 44, 45, 46, 51, 60];
    let pair = loss_at(&lost, &TcpConfig::default(), 600_000);
    let stats = pair.client.stats();
    assert_eq!(stats.counts.retransmitted_pkts, lost.len() as u64);
    assert_eq!(stats.counts.timeouts, 0);
}

#[test]
fn lost_tail_is_probed_within_two_round_trips() {
    let pair = loss_at(&[8, 9], &TcpConfig::default(), 10 * MSS);
    let stats = pair.client.stats();
    assert_eq!((stats.counts.probes, stats.counts.timeouts), (1, 0));
    let data = pair.data_sent();
    let (first, probe) = (data[9].at, data[10].at);
    assert_eq!(data[10].segment.seq, data[9].segment.seq);
    assert!(probe - first < 180 * MS, "{}", (probe - first) / MS);
}

#[test]
fn without_a_probe_a_lost_tail_waits_for_the_timeout() {
    let config = TcpConfig {
        tlp: false,
        ..TcpConfig::default()
    };
    let pair = loss_at(&[9], &config, 10 * MSS);
    assert_eq!(pair.client.stats().counts.timeouts, 1);
    let data = pair.data_sent();
    assert!(data[10].at - data[9].at >= 250 * MS);
}

#[test]
fn timeout_doubles_until_it_gets_through() {
    let config = TcpConfig {
        tlp: false,
        timer_wheel: false,
        ..TcpConfig::default()
    };
    let mut pair = Pair::new(&config, 25, 800);
    let mut seen = 0;
    pair.script(move |_, sent| {
        seen += usize::from(sent.segment.len > 0);
        if (1..=4).contains(&seen) && sent.segment.len > 0 {
            Fate::Drop
        } else {
            Fate::Pass
        }
    });
    pair.client.write(1_000);
    pair.run(20_000);
    let at: Vec<u64> = pair.data_sent().iter().map(|sent| sent.at / MS).collect();
    let gaps: Vec<u64> = at.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(gaps.len(), 4);
    for pair in gaps.windows(2) {
        assert!(pair[1].abs_diff(2 * pair[0]) <= 2, "{gaps:?}");
    }
    assert_eq!(pair.delivered, 1_000);
}

#[test]
fn retransmission_that_is_lost_too_is_found_by_time() {
    let mut pair = Pair::new(&TcpConfig::default(), 25, 800);
    let mut losses = 2;
    pair.script(move |_, sent| {
        if sent.segment.seq == 1 + 30 * MSS && losses > 0 {
            losses -= 1;
            return Fate::Drop;
        }
        Fate::Pass
    });
    pair.client.write(1_000_000);
    pair.run(20_000);
    let stats = pair.client.stats();
    assert_eq!(pair.delivered, 1_000_000);
    assert_eq!(
        (stats.counts.retransmitted_pkts, stats.counts.timeouts),
        (2, 0)
    );
}

#[test]
fn reordering_is_taken_back() {
    let mut pair = Pair::new(&TcpConfig::default(), 25, 800);
    pair.script(|_, sent| {
        if sent.segment.seq == 1 + 40 * MSS {
            Fate::Late(12 * MS)
        } else {
            Fate::Pass
        }
    });
    pair.client.write(1_000_000);
    pair.run(20_000);
    assert_eq!(pair.delivered, 1_000_000);
    assert!(pair.client.stats().counts.undos >= 1);
    assert_eq!(pair.client.stats().counts.timeouts, 0);
}

#[test]
fn delay_spike_is_seen_to_be_a_spurious_timeout() {
    let mut pair = Pair::new(&TcpConfig::default(), 25, 800);
    pair.script(|_, sent| {
        if (2_000 * MS..2_010 * MS).contains(&sent.at) {
            Fate::Late(1_000 * MS)
        } else {
            Fate::Pass
        }
    });
    pair.script_back(|_, sent| {
        if (2_030 * MS..2_900 * MS).contains(&sent.at) {
            Fate::Late(900 * MS)
        } else {
            Fate::Pass
        }
    });
    pair.client.write(20_000_000);
    pair.run(30_000);
    assert_eq!(pair.delivered, 20_000_000);
    assert!(pair.client.stats().counts.timeouts >= 1);
    assert!(pair.client.stats().counts.undos >= 1);
}

/// Five packets of a window are lost: NewReno takes a round trip for each, and the
/// timeout is about two.
#[test]
fn an_impatient_newreno_ends_many_losses_in_slow_start() {
    let timeouts = |impatient| {
        let config = TcpConfig {
            sack: false,
            impatient,
            initial_window_pkts: 100,
            cc: CongestionControl::Reno,
            ..TcpConfig::default()
        };
        let mut pair = Pair::new(&config, 100, 800);
        pair.script(|nth, _| match nth {
            15 | 20 | 25 | 30 | 35 => Fate::Drop,
            _ => Fate::Pass,
        });
        pair.client.write(1_000_000);
        pair.run(60_000);
        assert_eq!(pair.delivered, 1_000_000);
        pair.client.stats().counts.timeouts
    };
    assert_eq!(timeouts(false), 0);
    assert!(timeouts(true) >= 1);
}

#[test]
fn every_switch_alone_still_repairs() {
    let on = TcpConfig::default;
    let configs = [
        TcpConfig {
            sack: false,
            ..on()
        },
        TcpConfig {
            sack: false,
            impatient: true,
            ..on()
        },
        TcpConfig {
            dsack: false,
            ..on()
        },
        TcpConfig {
            timestamps: false,

            ..on()
        },
        TcpConfig {
            rack: false,
            ..on()
        },
        TcpConfig { tlp: false, ..on() },
        TcpConfig { prr: false, ..on() },
        TcpConfig {
            frto: false,
            ..on()
        },
        TcpConfig {
            undo: false,
            ..on()
        },
        TcpConfig { gso: false, ..on() },
        TcpConfig {
            hystart: false,
            ..on()
        },
        TcpConfig {
            compressed_ack: false,
            ..on()
        },
        TcpConfig {
            delayed_ack: false,
            ..on()
        },
        TcpConfig {
            cwnd_validation: false,
            ..on()
        },
        TcpConfig {
            byte_counting: false,
            ..on()
        },
        TcpConfig {
            byte_counting: false,
            cubic_ack_ratio: true,
            slow_start_at_threshold: true,
            ..on()
        },
        TcpConfig {
            fixed_window_bytes: Some(200_000),
            ..on()
        },
        TcpConfig::classic(CongestionControl::Cubic),
    ];
    for config in configs {
        let mut pair = Pair::new(&config, 25, 800);
        let mut state = 1u32;
        // One packet in about fifty is lost, by a fixed sequence.
        pair.script(move |nth, _| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            if nth > 0 && state >> 24 < 5 {
                Fate::Drop
            } else {
                Fate::Pass
            }
        });
        pair.client.write(3_000_000);
        pair.client.close();
        pair.run(120_000);
        assert_eq!(pair.delivered, 3_000_000, "{config:?}");
        assert_eq!(pair.client.stats().pkts_out, 0, "{config:?}");
    }
}

/// The same transfer by the short ways and by the long one; `answer` bytes go back meanwhile.
fn short_ways_send_what_the_long_one_sends(config: &TcpConfig, answer: u64) {
    let ecn = config.ecn;
    let sent: Vec<_> = [false, true]
        .into_iter()
        .map(|long| {
            let mut pair = Pair::new(config, 25, 800);
            if long {
                pair.take_long_way();
            }
            pair.script(move |nth, sent| match nth % 331 {
                100 if sent.segment.len > 0 => Fate::Drop,
                200 if ecn => Fate::Mark,
                300 => Fate::Late(5 * MS),
                _ => Fate::Pass,
            });
            pair.client.write(5_000_000);
            pair.client.close();
            pair.server.write(answer);
            pair.run(20_000);
            assert_eq!(pair.delivered, 5_000_000, "{config:?}");
            let sent = pair.sent().iter().chain(pair.answered());
            sent.map(|sent| (sent.at, sent.segment)).collect::<Vec<_>>()
        })
        .collect();
    assert!(sent[0] == sent[1], "{config:?}");
}

#[test]
fn fast_segments_the_long_way_send_the_same_packets() {
    for (cc, ecn) in [
        (CongestionControl::Cubic, false),
        (CongestionControl::Cubic, true),
        (CongestionControl::Reno, true),
        (CongestionControl::Htcp, false),
        (CongestionControl::Dctcp, true),
    ] {
        let config = TcpConfig {
            cc,
            ecn,
            ..TcpConfig::default()
        };
        for answer in [0, 40_000, 2_000_000] {
            short_ways_send_what_the_long_one_sends(&config, answer);
        }
    }
}

#[test]
fn so_do_they_whatever_the_receiver_does() {
    let base = TcpConfig::default();
    for config in [
        TcpConfig {
            read_at_least_bytes: 20_000,
            ..base.clone()
        },
        TcpConfig {
            delayed_ack: false,
            ..base.clone()
        },
        TcpConfig {
            quick_ack: false,
            gso: false,
            ..base.clone()
        },
        TcpConfig {
            sack: false,
            timestamps: false,
            ..base.clone()
        },
        TcpConfig {
            fixed_window_bytes: Some(100_000),
            ..base.clone()
        },
        TcpConfig {
            rcvbuf_moderation: false,
            rx_segments_per_buffer: 4,
            ..base
        },
    ] {
        for answer in [0, 300_000] {
            short_ways_send_what_the_long_one_sends(&config, answer);
        }
    }
}
