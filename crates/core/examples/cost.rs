// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Nanoseconds of one arrival and one departure, for each algorithm.
//!
//! `cargo run --release -p sojourn-core --example cost [PACKETS]`

use std::time::Instant;

use sojourn_core::{Algorithm, Queue, QueueSpec, Slot, algorithms};

const PACKET_NS: u64 = 121_120; // 1514 bytes at 100 Mbit/s

fn main() {
    let packets: u64 = std::env::args()
        .nth(1)
        .map_or(5_000_000, |n| n.parse().expect("a number"));
    println!(
        "{:10} {:>10} {:>10} {:>14}",
        "ns/packet", "backlog 3", "backlog 40", "1024 flows, 40"
    );
    for algorithm in algorithms() {
        let [a, b] = [3, 40].map(|backlog| cost(*algorithm, backlog, 0, packets));
        let fq = cost(*algorithm, 40, 1024, packets);
        println!("{:10} {a:10.1} {b:10.1} {fq:14.1}", algorithm.name());
    }
}

fn cost(algorithm: Algorithm, backlog: u32, flows: u64, packets: u64) -> f64 {
    let rows = vec![("flows".to_owned(), flows)];
    let spec = QueueSpec {
        algorithm,
        rows,
        mtu_bytes: 1514,
        seed: 1,
        start_ns: 0,
    };
    let Ok(mut queue) = Queue::new(&spec) else {
        return f64::NAN;
    };
    let mut slots = vec![
        Slot {
            len_bytes: 1514,
            ..Slot::default()
        };
        64
    ];
    for (i, slot) in slots.iter_mut().enumerate() {
        slot.flow = (i as u32).wrapping_mul(0x9e37_79b9);
    }
    let mut free: Vec<u32> = (0..64).collect();
    let mut now = 0;
    let start = Instant::now();
    for _ in 0..packets {
        now += PACKET_NS;
        // One arrival per departure, and a second while the backlog is building up: an
        // algorithm that drops all for a while must not be offered packets for ever.
        for _ in 0..2 {
            if queue.backlog_pkts() < backlog {
                let packet = free.pop().expect("64 slots are enough");
                queue.enqueue(&mut slots, now, packet);
                free.extend(queue.freed().iter().map(|f| f.packet));
            }
        }
        if let Some(packet) = queue.dequeue(&mut slots, now) {
            free.push(packet);
        }
        free.extend(queue.freed().iter().map(|f| f.packet));
    }
    start.elapsed().as_nanos() as f64 / packets as f64
}
