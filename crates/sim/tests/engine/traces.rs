// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! A link that follows a trace of opportunities.

use std::collections::BTreeMap;

use serde_json::json;

use crate::common::{MS, S, datagrams, dumbbell, merge, play};

#[test]
fn packets_leave_at_the_opportunities_and_nowhere_else() {
    let fifo = json!({"algorithm": "fifo", "limit": 50});
    let trace = json!({"trace": [2, 2, 2, 3, 10], "opportunity": "packet"});
    let mut scenario = dumbbell(2, &fifo, &trace);
    merge(
        &mut scenario["record"],
        &json!({"events": true, "queues": ["bottleneck"]}),
    );
    let report = play(&scenario, 1);
    let queue = &report.queues[0];
    let events = queue.events.as_ref().expect("events");
    let mut left = BTreeMap::new();
    for event in events.iter().filter(|event| event.why == 0) {
        *left.entry(event.at_ns).or_insert(0) += 1;
    }
    let most = |ns: u64| match ns % (10 * MS) {
        ns if ns == 2 * MS => 3,
        ns if ns == 3 * MS || ns == 0 => 1,
        _ => 0,
    };
    assert!(left.iter().all(|(&ns, &pkts)| pkts <= most(ns)));
    // The flows keep a queue, so that nearly all the 500 opportunities a second are used.
    let used: i32 = left.range(5_000 * MS + 1..).map(|(_, &pkts)| pkts).sum();
    assert!((2_480..=2_500).contains(&used), "{used}");
}

/// When the last bytes of each packet leave, of packets that come and are so long: worked out for
/// all opportunities of 1,504 bytes, one after the other.
fn served(packets: &[(u64, u32)], at_ns: impl Iterator<Item = u64>) -> Vec<u64> {
    let (mut ended, mut sent_bytes) = (Vec::new(), 0);
    for now in at_ns {
        let mut bytes = 1_504;
        while let Some(&(came_ns, len_bytes)) = packets.get(ended.len()) {
            if came_ns > now || bytes == 0 {
                break;
            }
            let part = bytes.min(len_bytes - sent_bytes);
            (bytes, sent_bytes) = (bytes - part, sent_bytes + part);
            if sent_bytes == len_bytes {
                ended.push(now);
                sent_bytes = 0;
            }
        }
    }
    ended
}

#[test]
fn packets_share_the_bytes_of_an_opportunity_and_take_the_rest_from_the_next() {
    let trace = json!({"trace": [3, 3, 10]});
    // Of 52 to 1,514 bytes; some two a cycle, and many.
    for (gap_ms, payload_bytes) in [(1, 10), (1, 400), (2, 700), (4, 1_000), (4, 1_472)] {
        let mut scenario = datagrams(gap_ms, 4 * S, &trace);
        // None comes in the very moment of an opportunity.
        scenario["flows"][0]["start"] = json!(300_000);
        scenario["flows"][0]["app"]["payload"] = json!(payload_bytes);
        scenario["flows"][0]["app"]["rate"] = json!(payload_bytes * 8_000 / gap_ms);
        let report = play(&scenario, 1);
        let queue = &report.queues[0];
        let events = queue.events.as_ref().expect("events");
        let packets: Vec<_> = events.iter().map(|e| (e.enq_ns, e.len_bytes)).collect();
        let opportunities = (0..400).flat_map(|cycle| [3, 3, 10].map(|ms| (cycle * 10 + ms) * MS));
        let ended = served(&packets, opportunities);
        let delays_ns = ended
            .iter()
            .zip(&packets)
            .map(|(end, (came, _))| end - came);
        let most_ms = delays_ns.clone().max().expect("some") as f64 / 1e6;
        let mean_ms = delays_ns.sum::<u64>() as f64 / ended.len() as f64 / 1e6;
        let delay_ms = &queue.windows[0].system_delay_ms;
        assert!(
            (delay_ms.mean.expect("some") - mean_ms).abs() < 0.01,
            "{gap_ms} {payload_bytes}: {delay_ms:?}, {mean_ms}, {most_ms}"
        );
        assert!(
            (delay_ms.max.expect("some") - most_ms).abs() < 0.01,
            "{gap_ms} {payload_bytes}: {delay_ms:?}, {mean_ms}, {most_ms}"
        );
        assert!(ended.len() > 300, "{}", ended.len());
        let bytes: u32 = packets[..ended.len()].iter().map(|(_, bytes)| bytes).sum();
        let used_pct = f64::from(bytes) / (1_504.0 * 1_200.0) * 100.0;
        assert!((queue.windows[0].utilisation_pct - used_pct).abs() < 0.2);
    }
}

#[test]
fn a_trace_that_is_used_up_is_used_to_the_full_whatever_the_size_of_packets() {
    // One a second, and eight at once; each way of serving, with small and full packets.
    for at_ms in [vec![1_000], vec![500; 8]] {
        for (opportunity, payload_bytes, header_bytes) in [
            ("bytes", 1_472, 4),
            ("bytes", 160, 4),
            ("packet", 1_472, 14),
            ("packet", 160, 14),
        ] {
            let trace = json!({
                "trace": at_ms, "opportunity": opportunity, "header": header_bytes,
            });
            let mut scenario = datagrams(1, 60 * S, &trace);
            scenario["flows"][0]["app"]["payload"] = json!(payload_bytes);
            let report = play(&scenario, 1);
            let utilisation_pct = report.queues[0].windows[0].utilisation_pct;
            assert!(
                (98.0..100.3).contains(&utilisation_pct),
                "{opportunity} {payload_bytes}: {utilisation_pct}"
            );
        }
    }
}
