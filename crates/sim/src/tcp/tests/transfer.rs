// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Transfers on a path without losses.

use super::pair::{Fate, MS, Pair};
use crate::base::ecn::Ecn;
use crate::tcp::{CongestionControl, Event, Flags, TcpConfig};

#[test]
fn handshake_takes_a_round_trip_and_data_follows() {
    let mut pair = Pair::new(&TcpConfig::default(), 10, 80);
    pair.client.write(100_000);
    pair.run(1_000);
    assert_eq!(pair.client_events[0], Event::Connected);
    assert_eq!(pair.sent()[0].segment.flags, Flags::SYN);
    assert_eq!(pair.sent()[0].at, 5 * MS);
    assert_eq!(pair.sent()[1].segment.wire_bytes(), 66);
    assert_eq!(pair.data_sent()[0].segment.wire_bytes(), 1514);
    assert_eq!(pair.delivered, 100_000);
}

#[test]
fn initial_window_is_ten_packets() {
    let mut pair = Pair::new(&TcpConfig::default(), 10, 80);
    pair.client.write(1_000_000);
    pair.run(30);
    assert_eq!(pair.data_sent().len(), 10);
}

#[test]
fn lost_syn_is_repeated_after_a_second() {
    let mut pair = Pair::new(&TcpConfig::default(), 10, 80);
    pair.script(|nth, _| if nth == 0 { Fate::Drop } else { Fate::Pass });
    pair.client.write(1_000);
    pair.run(3_000);
    let again = pair.sent()[1];
    assert!(again.segment.flags.has(Flags::SYN));
    assert!((1_005 * MS..1_090 * MS).contains(&again.at), "{}", again.at);
    assert_eq!(pair.delivered, 1_000);
    assert_eq!(pair.client.stats().counts.timeouts, 1);
}

#[test]
fn ecn_outlives_a_lost_syn_without_the_fallback_alone() {
    for ecn_fallback in [true, false] {
        let config = TcpConfig {
            ecn: true,
            ecn_fallback,
            ..TcpConfig::default()
        };
        let mut pair = Pair::new(&config, 10, 80);
        pair.script(|nth, _| if nth == 0 { Fate::Drop } else { Fate::Pass });
        pair.client.write(1_000);
        pair.run(3_000);
        assert_eq!(pair.data_sent()[0].ecn == Ecn::Ect0, !ecn_fallback);
    }
}

#[test]
fn lost_syn_ack_is_repeated() {
    let mut pair = Pair::new(&TcpConfig::default(), 10, 80);
    pair.script_back(|nth, _| if nth == 0 { Fate::Drop } else { Fate::Pass });
    pair.client.write(1_000);
    pair.run(3_000);
    assert_eq!(pair.delivered, 1_000);
}

#[test]
fn both_ends_close_with_a_fin() {
    let mut pair = Pair::new(&TcpConfig::default(), 10, 80);
    pair.client.write(10_000);
    pair.client.close();
    pair.run(2_000);
    assert!(pair.server_events.contains(&Event::PeerClosed));
    assert_eq!(pair.client_events.last(), Some(&Event::Closed));
    assert_eq!(pair.server_events.last(), Some(&Event::Closed));
    assert_eq!(pair.delivered, 10_000);
}

#[test]
fn a_fin_that_goes_alone_is_no_data_packet() {
    let sent = |wait_ms: u64| {
        let mut pair = Pair::new(&TcpConfig::default(), 10, 80);
        pair.client.write(1_000);
        pair.run(wait_ms);
        pair.client.close();
        pair.run(2_000);
        assert_eq!(pair.client_events.last(), Some(&Event::Closed));
        (pair.client.stats(), pair.server.stats())
    };
    // With the data, and behind it.
    for (client, server) in [sent(0), sent(500)] {
        assert_eq!(client.counts.data_pkts_sent, 1);
        assert_eq!(server.counts.data_pkts_sent, 0);
    }
}

#[test]
fn long_transfer_fills_the_path_with_every_law() {
    for cc in [
        CongestionControl::Cubic,
        CongestionControl::Reno,
        CongestionControl::Htcp,
    ] {
        let config = TcpConfig {
            cc,
            ..TcpConfig::default()
        };
        let mut pair = Pair::new(&config, 10, 800);
        pair.client.write(u64::MAX / 4);
        pair.run(10_000);
        // 10 Mbit/s for 10 s, headers and the start left aside.
        assert!(pair.delivered > 11_500_000, "{cc:?}: {}", pair.delivered);
        assert_eq!(pair.client.stats().counts.retransmitted_pkts, 0, "{cc:?}");
    }
}

#[test]
fn classic_form_transfers_too() {
    let mut pair = Pair::new(&TcpConfig::classic(CongestionControl::Reno), 10, 800);
    pair.client.write(1_000_000);
    pair.run(5_000);
    assert_eq!(pair.delivered, 1_000_000);
    assert_eq!(pair.acks().len(), pair.data_sent().len());
    assert_eq!(pair.data_sent()[0].segment.wire_bytes(), 1514);
}

#[test]
fn quick_acknowledgements_become_one_for_two() {
    // A window that grows draws acknowledgements at once: hold it still.
    let config = TcpConfig {
        fixed_window_bytes: Some(500_000),
        ..TcpConfig::default()
    };
    let mut pair = Pair::new(&config, 10, 800);
    pair.client.write(u64::MAX / 4);
    pair.run(5_000);
    let acks = pair.acks();
    let (first, last) = (acks[0].segment.ack, acks[1].segment.ack);
    assert_eq!(last - first, 1448);
    let (a, b) = (&acks[acks.len() - 2], &acks[acks.len() - 1]);
    assert_eq!(b.segment.ack - a.segment.ack, 2 * 1448);
}

/// The twelfth unread segment wakes the reader, and is acknowledged when he has read: with a window
/// from which at most the next one is missing, not with one that twelve unread segments narrow.
#[test]
fn the_reader_acknowledges_where_the_window_opens_only_when_it_has_read() {
    let config = TcpConfig {
        rcvbuf_bytes: 400_000,
        rcvbuf_moderation: false,
        read_at_least_bytes: 16_384,
        ..TcpConfig::default()
    };
    let mut pair = Pair::new(&config, 10, 800);
    pair.client.write(u64::MAX / 4);
    pair.run(5_000);
    let acks = pair.acks();
    let late = acks.iter().skip(acks.len() / 2);
    let widest = late.map(|ack| ack.segment.window).max();
    // 160 of 256 bytes of the buffer are payload.
    let whole = 400_000 * 160 / 256;
    assert!(widest > Some(whole - 1448), "{widest:?} of {whole}");
}

#[test]
fn mark_is_echoed_until_the_sender_has_reduced() {
    let config = TcpConfig {
        ecn: true,
        ..TcpConfig::default()
    };
    let mut pair = Pair::new(&config, 10, 800);
    pair.script(|nth, sent| {
        if nth == 20 {
            assert_eq!(sent.ecn, Ecn::Ect0);
            Fate::Mark
        } else {
            Fate::Pass
        }
    });
    pair.client.write(u64::MAX / 4);
    pair.run(1_000);
    assert_eq!(pair.sent()[0].ecn, Ecn::NotEct);
    assert!(pair.sent()[0].segment.flags.has(Flags::CWR));
    let echoes = pair
        .acks()
        .iter()
        .filter(|ack| ack.segment.flags.has(Flags::ECE))
        .count();
    assert!(echoes > 1, "{echoes}");
    let reduced = pair
        .data_sent()
        .iter()
        .filter(|sent| sent.segment.flags.has(Flags::CWR))
        .count();
    assert_eq!(reduced, 1);
    assert_eq!(pair.client.stats().counts.retransmitted_pkts, 0);
    assert!(pair.client.stats().ssthresh_pkts < 100);
}

#[test]
fn dctcp_marks_every_packet_and_reduces_a_little() {
    let config = TcpConfig {
        ecn: true,
        cc: CongestionControl::Dctcp,
        ..TcpConfig::default()
    };
    let mut pair = Pair::new(&config, 10, 800);
    pair.script(|nth, _| {
        if nth % 50 == 49 {
            Fate::Mark
        } else {
            Fate::Pass
        }
    });
    pair.client.write(u64::MAX / 4);
    pair.run(5_000);
    assert!(pair.sent().iter().all(|sent| sent.ecn == Ecn::Ect0));
    assert!(pair.delivered > 3_000_000, "{}", pair.delivered);
}

/// Only the code point differs: marks have the same effect on ECT(1).
#[test]
fn dctcp_sends_ect1_where_it_would_send_ect0() {
    let sent = |ect1| {
        let config = TcpConfig {
            ecn: true,
            ect1,
            cc: CongestionControl::Dctcp,
            ..TcpConfig::default()
        };
        let mut pair = Pair::new(&config, 10, 800);
        pair.script(|nth, _| match nth % 50 {
            48 => Fate::Drop,
            49 => Fate::Mark,
            _ => Fate::Pass,
        });
        pair.client.write(u64::MAX / 4);
        pair.run(5_000);
        let acks = pair.acks();
        let both = pair.sent().iter().chain(&acks);
        let codes: Vec<_> = both.map(|sent| sent.ecn).collect();
        let swapped = codes.iter().map(|&ecn| match ecn {
            Ecn::Ect0 => Ecn::Ect1,
            Ecn::Ect1 => Ecn::Ect0,
            other => other,
        });
        (pair.delivered, codes.clone(), swapped.collect::<Vec<_>>())
    };
    let (classic, l4s) = (sent(false), sent(true));
    assert_eq!(classic.0, l4s.0);
    assert_eq!(classic.1, l4s.2);
    assert!(l4s.1.iter().all(|&ecn| ecn == Ecn::Ect1));
}
