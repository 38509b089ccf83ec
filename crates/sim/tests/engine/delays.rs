// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Delays that can be worked out on paper: datagrams at a constant rate through
//! each manner of shaper. Times in microseconds; a packet takes 8,336.

use crate::common::{MS, S, datagrams, play};
use serde_json::{Value, json};

const PACKET_US: u64 = 8_336;

/// Arrival and departure from the queue of each packet, in microseconds.
fn passages(gap_ms: u64, link: &Value) -> Vec<(u64, u64)> {
    let report = play(&datagrams(gap_ms, S, link), 1);
    let events = report.queues[0].events.as_ref().expect("events");
    let passages = events.iter().map(|e| (e.enq_ns / 1_000, e.at_ns / 1_000));
    passages.collect()
}

/// Packets that have come out at the far end after `end_ms`.
fn delivered(end_ms: u64, link: &Value) -> u64 {
    let report = play(&datagrams(5, end_ms * MS, link), 1);
    report.traffic.flows[0].delivered_bytes / 1_000
}

#[test]
fn packets_on_an_idle_wire_do_not_wait() {
    let report = play(&datagrams(10, S, &json!({})), 1);
    let window = &report.queues[0].windows[0];
    assert_eq!(window.queue_delay_ms.max, Some(0.0));
    assert_eq!(window.system_delay_ms.mean, Some(8.336));
    assert_eq!(window.system_delay_ms.sd, Some(0.0));
}

#[test]
fn each_packet_on_a_busy_wire_waits_for_those_before_it() {
    let seen = passages(5, &json!({}));
    assert!(seen.len() > 100);
    for (k, &(came, left)) in seen.iter().enumerate() {
        assert_eq!(came, 5_000 * k as u64);
        assert_eq!(left, PACKET_US * k as u64);
    }
}

/// Packet k waits k times 3.336 ms; each of these is cut before the mean is taken.
#[test]
fn whole_milliseconds_are_cut_packet_by_packet() {
    let report = play(&datagrams(5, S, &json!({})), 1);
    let window = &report.queues[0].windows[0];
    let n = window.departed_pkts;
    let mut cut: Vec<u64> = (0..n).map(|k| k * (PACKET_US - 5_000) / 1_000).collect();
    let whole = &window.queue_delay_whole_ms;
    assert_eq!(whole.mean, Some(cut.iter().sum::<u64>() as f64 / n as f64));
    assert_eq!(whole.max, cut.last().map(|&ms| ms as f64));
    cut.sort_unstable();
    let quarter = |share: u64| cut[(share * n).div_ceil(4) as usize - 1] as f64;
    assert_eq!(whole.iqr, Some(quarter(3) - quarter(1)));
    assert!(window.queue_delay_ms.mean > whole.mean);
}

/// With a ring of two, a packet leaves the queue when the one three before it has
/// left the wire.
#[test]
fn driver_ring_takes_its_packets_early() {
    let seen = passages(5, &json!({"sim": {"ring": 2}}));
    for (k, &(came, left)) in seen.iter().enumerate() {
        let k = k as u64;
        assert_eq!(left, came.max(PACKET_US * k.saturating_sub(2)));
    }
}

/// The bucket of two packets is full: packets 0, 1 and 2 find their tokens, packet
/// 3 misses 1.672 ms, and from then on packet k is released at (k - 1) packet times.
/// It leaves the queue as soon as the one before it is released.
#[test]
fn tbf_takes_its_packet_one_token_wait_early() {
    let link = json!({"shaper": "tbf", "burst": 2_084});
    let seen = passages(5, &link);
    for (k, &(came, left)) in seen.iter().enumerate().skip(4) {
        let k = k as u64;
        assert_eq!(left, came.max(PACKET_US * (k - 2)), "packet {k}");
    }
    // Released by 400 ms: k - 1 <= 400 / 8.336 = 47.98, so packets 0 to 48.
    assert_eq!(delivered(400, &link), 49);
}

/// A debt is paid before the next packet is asked for: packet k leaves the queue,
/// and the link, at (k - 2) packet times, one packet time before tbf sends it.
#[test]
fn htb_sends_before_it_pays() {
    let link = json!({"shaper": "htb", "burst": 2_084});
    let seen = passages(5, &link);
    for (k, &(came, left)) in seen.iter().enumerate().skip(4) {
        let k = k as u64;
        assert_eq!(left, came.max(PACKET_US * (k - 2)), "packet {k}");
    }
    assert_eq!(delivered(400, &link), 50);
}

/// In both manners the last bit counts as sent when it is paid for, so the two differ only
/// in a packet that is under way when the run ends; here none is.
#[test]
fn token_buckets_agree_on_every_delay() {
    let delays = |shaper| {
        let link = json!({"shaper": shaper, "burst": 2_084});
        let mut scenario = datagrams(5, 400 * MS, &link);
        scenario["flows"][0]["stop"] = json!(150 * MS);
        let report = play(&scenario, 1);
        let window = &report.queues[0].windows[0];
        assert_eq!(window.departed_pkts, 30);
        let (queue, system) = (&window.queue_delay_ms, &window.system_delay_ms);
        (queue.mean, queue.max, system.mean, system.max)
    };
    assert_eq!(delays("tbf"), delays("htb"));
}

/// At 500 ms the rate halves. The packet on the wire keeps its pace; those behind
/// it take twice as long.
#[test]
fn rate_changes_between_packets() {
    let link = json!({"schedule": [{"at": 500 * MS, "rate": 500_000}]});
    let seen = passages(5, &link);
    let last_fast = 500_000 / PACKET_US;
    for (k, &(_, left)) in seen.iter().enumerate() {
        let k = k as u64;
        let slow = k.saturating_sub(last_fast + 1);
        assert_eq!(left, PACKET_US * (k + slow), "packet {k}");
    }
}

#[test]
fn utilisation_follows_the_schedule() {
    for shaper in ["wire", "tbf", "htb"] {
        let link = json!({
            "shaper": shaper,
            "schedule": [{"at": 20 * S, "rate": 200_000}, {"at": 40 * S, "rate": 900_000}]
        });
        let report = play(&datagrams(5, 60 * S, &link), 1);
        let pct = report.queues[0].windows[0].utilisation_pct;
        assert!((pct - 100.0).abs() < 0.2, "{shaper}: {pct}");
    }
}

/// 1 byte takes 0.8 ns: a rate is met exactly over many packets, not to the
/// nanosecond for each.
#[test]
fn fractions_of_a_nanosecond_add_up() {
    let link = json!({"rate": 9_999_000_000_u64});
    let mut scenario = datagrams(1, 200 * MS, &link);
    scenario["record"]["events"] = json!(false);
    scenario["flows"][0]["app"] =
        json!({"kind": "cbr", "rate": 12_000_000_000_u64, "payload": 1_472});
    let report = play(&scenario, 1);
    let pct = report.queues[0].windows[0].utilisation_pct;
    assert!((pct - 100.0).abs() < 0.002, "{pct}");
}

/// Mean delay, and deliveries, of datagrams each 10 ms over a delay of 5 ms, from 400 ms on 30 ms,
/// and from 800 ms on 2 ms: away from the changes; and of all.
fn while_delays_change(link: &Value, more: &[Value]) -> (Vec<Option<f64>>, u64) {
    let later = json!([
        {"at": 400 * MS, "delay": 30 * MS}, {"at": 800 * MS, "delay": 2 * MS},
    ]);
    let mut scenario = datagrams(10, 1_200 * MS, link);
    let at = more.len();
    for link in more {
        let links = scenario["links"].as_array_mut().expect("links");
        links.push(link.clone());
    }
    if at > 0 {
        scenario["nodes"] = json!(["s", "m", "d"]);
        scenario["links"][0]["from"] = json!("m");
    }
    let changing = &mut scenario["links"][at];
    changing["delay"] = json!(5 * MS);
    changing["delays"] = later;
    let window = |name: &str, from_ms: u64| json!({"name": name, "from": from_ms * MS, "to": (from_ms + 300) * MS});
    let windows = [window("a", 100), window("b", 450), window("c", 850)];
    scenario["record"]["windows"] = json!(windows);
    let report = play(&scenario, 1);
    let group_delays_ms = report
        .traffic
        .transport
        .iter()
        .map(|w| w.groups[0].delay_ms);
    (
        group_delays_ms.collect(),
        report.traffic.flows[0].delivered_bytes / 1_000,
    )
}

/// A packet keeps the delay that it was sent with; when it falls, later ones overtake.
#[test]
fn packets_have_the_delay_of_the_time_at_which_they_are_sent() {
    let expected = [13.336, 38.336, 10.336].map(Some);
    // All but the one sent at the end.
    assert_eq!(
        while_delays_change(&json!({}), &[]),
        (expected.to_vec(), 119)
    );
    for link in [
        json!({"shaper": "htb", "burst": 3_028}),
        json!({"sim": {"ring": 2}}),
    ] {
        let (delays_ms, delivered) = while_delays_change(&link, &[]);
        let [Some(a), Some(b), Some(c)] = delays_ms[..] else {
            panic!("{delays_ms:?}");
        };
        assert!((b - a - 25.0).abs() < 1e-9 && (a - c - 3.0).abs() < 1e-9);
        assert!((119..=121).contains(&delivered), "{delivered}");
    }
}

/// A sender holds packets in place of a link that only delays; not of one whose delay changes.
#[test]
fn a_link_without_a_rate_changes_its_delay_too() {
    let up = json!({"name": "up", "from": "s", "to": "m"});
    // So fast that those which bunch when it falls are gone when the window begins.
    let (delays_ms, _) = while_delays_change(&json!({"rate": 10_000_000}), &[up]);
    assert_eq!(delays_ms, [5.8336, 30.8336, 2.8336].map(Some));
}

/// Where jitter keeps the order of packets, a shorter delay lets none pass.
#[test]
fn jitter_draws_about_the_delay_of_the_time() {
    for reorder in [false, true] {
        let jitter = json!({"distribution": "uniform", "sd": MS, "reorder": reorder});
        let (delays_ms, _) = while_delays_change(&json!({"jitter": jitter}), &[]);
        for (delay_ms, expected) in delays_ms.into_iter().zip([13.336, 38.336, 10.336]) {
            let delay_ms = delay_ms.expect("datagrams");
            assert!(
                (delay_ms - expected).abs() < 0.5,
                "{reorder}: {delay_ms} {expected}"
            );
        }
    }
}
