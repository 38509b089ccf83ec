// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! The safe wrapper: rows, refusals, and the way of packets.

use sojourn_core::{Algorithm, Freed, Queue, QueueSpec, Slot, algorithms, queue_rows, reason_name};

const MS: u64 = 1_000_000;

fn spec(name: &str, rows: &[(&str, u64)]) -> QueueSpec {
    QueueSpec {
        algorithm: Algorithm::find(name).expect("known algorithm"),
        rows: rows.iter().map(|(n, v)| ((*n).to_owned(), *v)).collect(),
        mtu_bytes: 1514,
        seed: 1,
        start_ns: 0,
    }
}

fn packets(n: usize) -> Vec<Slot> {
    let slot = |i: usize| Slot {
        len_bytes: 1514,
        flow: (i as u32) << 28,
        ecn: 2,
        ..Slot::default()
    };
    (0..n).map(slot).collect()
}

#[test]
fn every_table_has_unique_names_and_numbers() {
    for algorithm in algorithms() {
        for rows in [queue_rows(), algorithm.params(), algorithm.stats()] {
            for (i, row) in rows.iter().enumerate() {
                let before = &rows[..i];
                assert!(
                    before
                        .iter()
                        .all(|r| r.name != row.name && r.attr != row.attr)
                );
                assert!(row.attr > 0 && !row.help.is_empty());
                assert!(row.min <= row.def && row.def <= row.max, "{}", row.name);
            }
        }
        let own = |r: &&sojourn_core::Field| queue_rows().iter().any(|q| q.name == r.name);
        assert!(algorithm.params().iter().find(own).is_none());
    }
}

#[test]
fn names_are_sorted_and_found() {
    let names: Vec<_> = algorithms().iter().map(|a| a.name()).collect();
    assert!(names.is_sorted());
    assert!(names.contains(&"fifo") && names.contains(&"codel"));
    assert!(Algorithm::find("no_such").is_none());
}

#[test]
fn memory_limit_counts_what_slots_say_that_they_occupy() {
    let mut queue = Queue::new(&spec("fifo", &[("memory_limit", 5000)])).unwrap();
    let mut slots = packets(9);
    for slot in &mut slots[..4] {
        slot.mem_bytes = 2304;
    }
    let joined = (0..9).filter(|p| queue.enqueue(&mut slots, 0, *p)).count();
    assert_eq!(joined, 7); // two of 2304 bytes, and those that occupy none
}

#[test]
fn packets_leave_in_the_order_they_came() {
    let mut slots = packets(10);
    let mut queue = Queue::new(&spec("fifo", &[])).unwrap();
    for i in 0..10 {
        assert!(queue.enqueue(&mut slots, 5, i));
    }
    assert_eq!((queue.backlog_pkts(), queue.backlog_bytes()), (10, 15140));
    for i in 0..10 {
        assert_eq!(queue.dequeue(&mut slots, 6), Some(i));
    }
    assert_eq!(queue.dequeue(&mut slots, 6), None);
    assert_eq!(slots[3].enq_ns, 5);
}

#[test]
fn a_full_queue_refuses_and_hands_back() {
    let mut slots = packets(3);
    let mut queue = Queue::new(&spec("fifo", &[("limit", 2)])).unwrap();
    assert!(queue.enqueue(&mut slots, 0, 0) && queue.enqueue(&mut slots, 0, 1));
    assert!(queue.freed().is_empty());
    assert!(!queue.enqueue(&mut slots, 0, 2));
    assert_eq!(queue.freed().len(), 1);
    assert_eq!(queue.freed()[0].packet, 2);
    assert_eq!(reason_name(queue.freed()[0].why), "limit");
    assert_eq!(
        queue.counters().drops_by_name().collect::<Vec<_>>(),
        [("limit", 1)]
    );
}

#[test]
fn a_limit_in_bytes_is_one() {
    let mut slots = packets(3);
    let mut queue = Queue::new(&spec("fifo", &[("limit_bytes", 3028)])).unwrap();
    assert!(queue.enqueue(&mut slots, 0, 0) && queue.enqueue(&mut slots, 0, 1));
    assert!(!queue.enqueue(&mut slots, 0, 2));
}

#[test]
fn a_refused_row_names_itself_and_its_range() {
    let refused = |name: &str, rows: &[(&str, u64)]| Queue::new(&spec(name, rows)).err().unwrap();
    let error = refused("codel", &[("target", 0)]);
    assert_eq!((error.row.as_str(), error.min), ("target", 1000));
    assert!(error.sentence.contains("smallest"));
    assert!(
        refused("codel", &[("nonsense", 1)])
            .sentence
            .contains("row")
    );
    assert!(
        refused("fifo", &[("limit", 1 << 40)])
            .sentence
            .contains("largest")
    );
    assert_eq!(refused("fifo", &[("quantum", 100)]).row, "quantum");
}

#[test]
fn change_keeps_what_it_does_not_name() {
    let mut slots = packets(8);
    let mut queue = Queue::new(&spec("codel", &[("target", 7 * MS)])).unwrap();
    for i in 0..8 {
        queue.enqueue(&mut slots, 0, i);
    }
    let rows = [("limit".to_owned(), 5), ("interval".to_owned(), 50 * MS)];
    queue.change(&mut slots, 1, &rows).unwrap();
    let why = queue.freed()[0].why;
    assert_eq!(reason_name(why), "lowered");
    assert_eq!(queue.freed(), [0, 1, 2].map(|packet| Freed { packet, why }));
    let now = queue.rows();
    for row in [("limit", 5), ("target", 7 * MS), ("interval", 50 * MS)] {
        assert!(now.contains(&row), "{row:?}");
    }
    let fixed = queue
        .change(&mut slots, 2, &[("flows".to_owned(), 4)])
        .unwrap_err();
    assert_eq!(fixed.row, "flows");
}

#[test]
fn reset_frees_everything_and_may_be_repeated() {
    let mut slots = packets(4);
    let mut queue = Queue::new(&spec("codel", &[])).unwrap();
    for i in 0..4 {
        queue.enqueue(&mut slots, 0, i);
    }
    queue.reset(&mut slots, 1);
    assert_eq!(queue.freed().len(), 4);
    queue.reset(&mut slots, 1);
    assert!(queue.freed().is_empty());
    assert_eq!(queue.backlog_pkts(), 0);
}

#[test]
fn a_broken_link_cannot_lead_outside() {
    let mut slots = packets(4);
    let mut queue = Queue::new(&spec("fifo", &[])).unwrap();
    for i in 0..4 {
        queue.enqueue(&mut slots, 0, i);
    }
    slots[1].next = 4_000_000_000;
    let mut left = 0;
    while queue.dequeue(&mut slots, 1).is_some() {
        left += 1;
    }
    assert_eq!(left, 2);
}

#[test]
#[should_panic(expected = "missing")]
fn too_few_slots_are_refused() {
    let mut slots = packets(4);
    let mut queue = Queue::new(&spec("fifo", &[])).unwrap();
    queue.enqueue(&mut slots, 0, 3);
    queue.dequeue(&mut slots[..2], 1);
}

#[test]
fn codel_marks_where_ecn_allows_and_drops_elsewhere() {
    for (ecn, mark) in [(1, true), (0, false)] {
        let mut slots = packets(400);
        let mut queue = Queue::new(&spec("codel", &[("ecn", ecn)])).unwrap();
        for i in 0..400 {
            queue.enqueue(&mut slots, 0, i);
        }
        let mut now = 0;
        while queue.dequeue(&mut slots, now).is_some() {
            now += MS;
        }
        let counters = queue.counters();
        assert_eq!(counters.mark_pkts() > 0, mark);
        assert_eq!(counters.drop_pkts() > 0, !mark);
        assert_eq!(counters.in_pkts, counters.out_pkts + counters.drop_pkts());
        assert_eq!(counters.bad_verdicts(), 0);
    }
}

#[test]
fn a_queue_with_flows_tells_of_them() {
    let mut slots = packets(4);
    assert!(Queue::new(&spec("fifo", &[])).unwrap().flows().is_none());
    let mut queue = Queue::new(&spec("fifo", &[("flows", 16)])).unwrap();
    slots[3].flow = (2 << 28) + 1;
    for packet in 0..4 {
        assert!(queue.enqueue(&mut slots, 0, packet));
    }
    // Two packets share a flow of the queue, and not their hash.
    let flows = queue.flows().unwrap();
    assert_eq!((flows.new_flow_count, flows.collisions), (3, 1));
    for now_ns in [MS, 2 * MS, 3 * MS, 4 * MS] {
        queue.dequeue(&mut slots, now_ns).unwrap();
    }
    let flows = queue.flows().unwrap();
    // The last is of a flow that has spent its quantum.
    assert_eq!(flows.delay_mean_ns, 5 * MS / 2);
    assert_eq!(flows.delay_sparse_ns, 2 * MS);
    assert_eq!(flows.delay_peak_ns, 4 * MS);
}
