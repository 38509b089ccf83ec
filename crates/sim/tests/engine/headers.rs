// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! A link counts its own header beside each IP packet, its least frame and its cells, and the next
//! link counts its own.

use serde_json::{Value, json};

use crate::common::{MS, S, datagrams, dumbbell, merge, play};

/// Datagrams of 1,000 bytes, 1,028 with IP and UDP, over two links with these headers.
fn two_links(first: u32, second: u32, link: &Value) -> Value {
    let mut scenario = datagrams(10, S, link);
    scenario["nodes"] = json!(["s", "r", "d"]);
    let mut links = [scenario["links"][0].clone(), scenario["links"][0].clone()];
    for (i, header_bytes) in [first, second].into_iter().enumerate() {
        let ends = [["s", "r"], ["r", "d"]][i];
        let own = json!({
            "name": format!("link {i}"), "from": ends[0], "to": ends[1],
            "header": header_bytes
        });
        merge(&mut links[i], &own);
    }
    scenario["links"] = json!(links);
    scenario["record"]["queues"] = json!(["link 0", "link 1"]);
    scenario
}

#[test]
fn each_link_counts_its_own_header_whatever_its_shaper_is() {
    let manners = [
        json!({}),
        json!({"delay": MS}),
        json!({"sim": {"ring": 3}}),
        json!({"loss": 0.1}),
        json!({"jitter": {"distribution": "uniform", "sd": MS, "reorder": true}}),
        json!({"shaper": "tbf"}),
        json!({"shaper": "htb"}),
        json!({"trace": [5, 10], "opportunity": "packet"}),
    ];
    for link in &manners {
        for (first, second) in [(0, 14), (14, 40), (40, 0), (256, 256)] {
            let report = play(&two_links(first, second, link), 1);
            for (queue, header) in report.queues.iter().zip([first, second]) {
                let events = queue.events.as_ref().expect("events");
                assert!(events.len() > 40, "{link}");
                assert!(
                    events.iter().all(|e| e.len_bytes == 1_028 + header),
                    "{link}"
                );
            }
        }
    }
}

#[test]
fn throughput_in_bytes_of_ip_is_of_whole_ip_packets_whatever_the_header_is() {
    let manners = [
        json!({}),
        json!({"delay": MS}),
        json!({"sim": {"ring": 3}}),
        json!({"shaper": "tbf"}),
        json!({"shaper": "htb"}),
        json!({"trace": [5, 10]}),
    ];
    for link in &manners {
        for header in [0, 14, 38] {
            let report = play(&two_links(header, 14, link), 1);
            let (window, events) = (&report.queues[0].windows[0], &report.queues[0].events);
            let ip_mbps = window.ip_mbps.expect("of a plain header");
            let packets = ip_mbps * 1e6 / 8.0 * (window.to_s - window.from_s) / 1_028.0;
            let left = events.iter().flatten().filter(|e| e.why == 0).count() as f64;
            assert!(
                (packets - packets.round()).abs() < 1e-6,
                "{link}: {packets}"
            );
            assert!((left - 5.0..=left).contains(&packets.round()), "{link}");
        }
    }
    let uneven = [
        json!({"mpu": 84}),
        json!({"linklayer": "atm"}),
        json!({"trace": [5, 10], "opportunity": "packet"}),
    ];
    for link in &uneven {
        let report = play(&two_links(14, 14, link), 1);
        assert_eq!(report.queues[0].windows[0].ip_mbps, None, "{link}");
    }
}

/// Frames of links, and how long a datagram of 1,000 bytes is in each: tc's `tc_calc_size_table`.
#[test]
fn a_link_counts_its_least_frame_and_its_cells() {
    let atm = |header: u32| json!({"header": header, "linklayer": "atm"});
    let frames = [
        (json!({"mpu": 1_100}), 1_100),
        (json!({"mpu": 1_042}), 1_042),
        (json!({"mpu": 1_000, "header": 38}), 1_066),
        // 1,068 bytes are 22 cells and 12 bytes of one more.
        (atm(40), 23 * 53),
        (atm(28), 22 * 53),
        (atm(29), 23 * 53),
        (json!({"mpu": 1_200, "linklayer": "atm"}), 25 * 53),
        (json!({}), 1_042),
    ];
    let manners = [
        json!({}),
        json!({"shaper": "tbf"}),
        json!({"sim": {"ring": 3}}),
        json!({"loss": 0.1}),
    ];
    for manner in &manners {
        for pair in frames.windows(2) {
            let mut scenario = two_links(14, 14, manner);
            for (link, (frame, _)) in scenario["links"]
                .as_array_mut()
                .unwrap()
                .iter_mut()
                .zip(pair)
            {
                merge(link, frame);
            }
            let report = play(&scenario, 1);
            for (queue, (frame, bytes)) in report.queues.iter().zip(pair) {
                let events = queue.events.as_ref().expect("events");
                assert!(events.len() > 40, "{frame} {manner}");
                assert!(
                    events.iter().all(|e| e.len_bytes == *bytes),
                    "{frame} {manner}"
                );
            }
        }
    }
}

#[test]
fn every_kind_of_stage_counts_the_frames_of_its_link() {
    let fifo = json!({"algorithm": "fifo"});
    let ring = json!({"kind": "ring", "name": "ring", "packets": 3, "rate": 10_000_000});
    let classes = |kind: &str, keys: Value| {
        let mut class = json!({"name": "all", "queue": fifo});
        merge(&mut class, &keys);
        json!({"kind": kind, "name": kind, "default": "all", "classes": [class]})
    };
    let cells = json!({"header": 44, "linklayer": "atm"});
    for end in [
        json!([{"kind": "queue", "name": "q", "rate": 10_000_000, "queue": fifo}]),
        json!([{"kind": "queue", "name": "q", "medium": "cable", "queue": fifo}]),
        json!([{"kind": "queue", "name": "q", "queue": fifo}, ring]),
        json!([classes("htb", json!({"rate": 10_000_000}))]),
        json!([classes("prio", json!({})), ring]),
        json!([classes("drr", json!({})), ring]),
        json!([
            classes("htb", json!({"rate": 10_000_000})),
            classes("drr", json!({})),
            ring
        ]),
    ] {
        let mut scenario = datagrams(10, S, &cells);
        let link = scenario["links"][0].as_object_mut().expect("a link");
        link.retain(|key, _| key != "rate" && key != "queue");
        link.insert("end".to_owned(), end.clone());
        scenario["media"] = json!([{
            "name": "cable", "rate": 10_000_000, "cycle": 2 * MS, "grant": 8_000, "slots": 8,
            "backoff": [3, 8]
        }]);
        for queue in &play(&scenario, 1).queues {
            let events = queue.events.as_ref().expect("events");
            assert!(events.len() > 40, "{end}");
            // 1,028 bytes and 44 fill 23 cells.
            assert!(events.iter().all(|e| e.len_bytes == 23 * 53), "{end}");
        }
    }
}

#[test]
fn small_frames_are_as_many_as_an_ethernet_can_carry() {
    let mut scenario = datagrams(10, S, &json!({"header": 38, "mpu": 84}));
    scenario["links"][0]["rate"] = json!(10_000_000);
    scenario["links"][0]["queue"]["limit"] = json!(100);
    // 20,000 datagrams of a byte each second.
    scenario["flows"][0]["app"] = json!({"kind": "cbr", "rate": 160_000, "payload": 1});
    let report = play(&scenario, 1);
    // Preamble, header, 46 bytes of data, checksum and gap: 84 bytes, 67.2 us.
    assert_eq!(report.queues[0].windows[0].departed_pkts, 14_881);
}

#[test]
fn a_packet_takes_the_time_of_its_header_too() {
    // 8,000 bits of payload and 224 of IP and UDP, at 1 Mbit/s; more than the link can send.
    for (header, packet_us) in [(0, 8_224), (14, 8_336), (96, 8_992)] {
        let scenario = two_links(header, 14, &json!({"delay": 0}));
        let mut fast = scenario.clone();
        fast["flows"][0]["app"]["rate"] = json!(4_000_000);
        let events = play(&fast, 1).queues.swap_remove(0).events.expect("events");
        let leaves: Vec<_> = events
            .iter()
            .filter(|e| e.why == 0)
            .map(|e| e.at_ns)
            .collect();
        let gaps: Vec<_> = leaves.windows(2).skip(1).map(|w| w[1] - w[0]).collect();
        assert!(gaps.len() > 50);
        assert!(
            gaps.iter().all(|&gap| gap == packet_us * 1_000),
            "{header}: {gaps:?}"
        );
    }
}

#[test]
fn a_full_link_carries_less_data_with_a_longer_header() {
    for header_bytes in [0, 14, 256] {
        let queue = json!({"algorithm": "fifo", "limit": 100_000});
        let scenario = dumbbell(1, &queue, &json!({"header": header_bytes}));
        let report = play(&scenario, 1);
        // A full packet is 1,500 bytes with 1,448 of data. Later the link is full, and nothing
        // is lost.
        let full_mbps = 10.0 * 1448.0 / f64::from(1500 + header_bytes);
        let goodput_mbps = report.traffic.transport[1].all.goodput_mbps;
        assert!(
            (goodput_mbps / full_mbps - 1.0).abs() < 0.001,
            "{goodput_mbps} {full_mbps}"
        );
    }
}
