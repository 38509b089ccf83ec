// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! What is reckoned from packets seen at a queue is what the engine measures there: its
//! own packets are shown to it again, as another host's.

use serde_json::{Value, json};
use sojourn_sim::measure::from_guest::queue_log::Log;
use sojourn_sim::measure::from_guest::taps::{Reading, Taps};
use sojourn_sim::measure::from_guest::{Fate, Passage, Seen, on_line, report};
use sojourn_sim::measure::record::{PacketEvent, QueueReport};
use sojourn_sim::{Scenario, Time, Unwatched, run};

const ECT: u8 = 2;

fn scenario(shaper: &str, algorithm: &str) -> Scenario {
    let text = json!({
        "format": 2,
        "duration": 12_000_000_000u64,
        "nodes": ["a", "b"],
        "links": [
            {
                "name": "forth", "from": "a", "to": "b", "rate": 10_000_000,
                "schedule": [{"at": 5_000_000_000u64, "rate": 20_000_000}],
                "shaper": shaper, "delay": 10_000_000,
                "queue": {"algorithm": algorithm, "limit": 1000, "ecn": 1},
            },
            {"name": "back", "from": "b", "to": "a", "delay": 10_000_000},
        ],
        "flows": [
            {"name": "marked", "count": 5, "from": "a", "to": "b", "app": {"kind": "bulk"},
             "transport": {"kind": "tcp", "ecn": true}, "start_spread": 1_000_000_000},
            {"name": "dropped", "count": 5, "from": "a", "to": "b", "app": {"kind": "bulk"},
             "transport": {"kind": "tcp"}, "start_spread": 1_000_000_000},
        ],
        "record": {
            "queues": ["forth"], "events": true, "series": 100_000_000,
            "windows": [
                {"name": "all but the end", "from": 0, "to": 9_000_000_000u64},
                {"name": "slow", "from": 1_000_000_000, "to": 4_000_000_000u64},
            ],
        },
    });
    Scenario::from_json(&text.to_string()).unwrap()
}

fn seen(at_ns: u64, key: usize, event: &PacketEvent, ecn: u8) -> Seen {
    Seen {
        at_ns,
        key: key as u64,
        len_bytes: event.len_bytes,
        flow: event.flow,
        ecn,
    }
}

/// The engine's own report of its queue.
fn measured(scenario: &Scenario) -> QueueReport {
    run(scenario, 1, &mut Unwatched).unwrap().queues.remove(0)
}

/// In windows, and after the change of the rate.
fn windows(report: &QueueReport) -> Value {
    assert_eq!(report.steps.len(), 1);
    let windows = report.windows.iter().map(serde_json::to_value);
    let steps = report.steps.iter().map(serde_json::to_value);
    windows.chain(steps).collect::<Result<_, _>>().unwrap()
}

/// A packet that allows marks comes unmarked.
fn came_ecn(event: &PacketEvent) -> u8 {
    if event.ecn == 0 { 0 } else { ECT }
}

/// What stands before and behind the queue would see.
fn from_taps(events: &[PacketEvent], at_head: bool) -> Taps {
    let numbered = || events.iter().enumerate();
    let mut arrivals: Vec<_> = numbered()
        .map(|(key, event)| seen(event.enq_ns, key, event, came_ecn(event)))
        .collect();
    arrivals.sort_by_key(|packet| packet.at_ns);
    let left = numbered().filter(|(_, event)| event.why == 0);
    let departures = left.map(|(key, event)| seen(event.at_ns, key, event, event.ecn));
    Taps {
        link: "forth".into(),
        arrivals,
        departures: departures.collect(),
        readings: Vec::new(),
        at_head,
        flows_apart: false,
    }
}

/// Reasons in `aqm.h`.
const EARLY: u8 = 1;
const DELAY: u8 = 2;
/// The run began so late on the clock of the log.
const ZERO_NS: u64 = 1_767_225_600_000_000_000;

/// A log as `linux/qdisc/passage.h` has it, of two queues that did the same.
fn log(events: &[PacketEvent], at_head: bool) -> Vec<u8> {
    let devices = [
        *b"another\0\0\0\0\0\0\0\0\0",
        *b"l0h1a\0\0\0\0\0\0\0\0\0\0\0",
    ];
    let mut records = Vec::new();
    for (queue, device) in devices.iter().enumerate() {
        records.extend(
            [
                device,
                &[[0; 8], [queue as u8, 0, 0, 0, 0, 0, 0, 0]].concat()[..],
            ]
            .concat(),
        );
    }
    for event in events {
        let marked = event.why == 0 && event.ecn == 3;
        for queue in [0, 1] {
            records.extend((ZERO_NS + event.enq_ns).to_le_bytes());
            records.extend((ZERO_NS + event.at_ns).to_le_bytes());
            records.extend(event.flow.to_le_bytes());
            records.extend(event.len_bytes.to_le_bytes());
            let fate = if event.why == 0 { 1 } else { 2 };
            let (how, why) = match (marked, at_head) {
                (false, _) => (0, 0),
                (true, false) => (1, EARLY),
                (true, true) => (2, DELAY),
            };
            records.extend([
                queue,
                0,
                fate,
                event.why,
                how,
                why,
                came_ecn(event),
                event.ecn,
            ]);
        }
    }
    let mut head = b"passage1".to_vec();
    head.extend(32u32.to_le_bytes());
    head.extend(32u32.to_le_bytes());
    head.extend((records.len() as u64 / 32).to_le_bytes());
    head.extend(0u64.to_le_bytes());
    [head, records].concat()
}

#[test]
fn a_queue_seen_from_outside_gives_the_same_numbers() {
    for shaper in ["htb", "wire"] {
        for (algorithm, at_head) in [("pie", false), ("codel", true)] {
            let scenario = scenario(shaper, algorithm);
            let there = measured(&scenario);
            let taps = from_taps(there.events.as_ref().unwrap(), at_head);
            let here = report(&scenario, "forth", &taps.passages(&scenario).unwrap());
            let (there, here) = (windows(&there), windows(&here.unwrap()));
            assert!(there[0]["dropped_pkts"].as_u64() > Some(10), "{there}");
            assert!(there[0]["marked_pkts"].as_u64() > Some(10), "{there}");
            assert_eq!(there, here, "{algorithm} below {shaper}");
        }
    }
}

/// Of a queue that serves flows in turn, packets of one flow wait while later ones of
/// others leave.
#[test]
fn what_waits_behind_other_flows_is_not_dropped() {
    let mut scenario = scenario("htb", "codel");
    scenario.links[0].queue.rows.insert("flows".into(), 64);
    let there = measured(&scenario);
    let mut taps = from_taps(there.events.as_ref().unwrap(), true);
    // Packets that still wait when the run ends are in no event.
    let (flow, end) = (taps.arrivals[0].flow, taps.departures.last().unwrap().at_ns);
    let others = |packet: &Seen| packet.flow == flow || packet.at_ns < end - 50_000_000;
    let waits = taps
        .departures
        .iter()
        .filter(|packet| !others(packet))
        .count();
    taps.departures.retain(others);
    taps.flows_apart = true;
    let passages = taps.passages(&scenario).unwrap();
    let count = |is: fn(&Fate) -> bool| passages.iter().filter(|p| is(&p.fate)).count();
    let events = there.events.as_ref().unwrap().iter();
    let dropped = events.filter(|event| event.why != 0).count();
    assert!(waits > 10 && dropped > 10, "{waits} {dropped}");
    let waiting = count(|fate| matches!(fate, Fate::Waits));
    let known = count(|fate| matches!(fate, Fate::Dropped { .. }));
    // A drop that no packet of its flow has passed yet is not known for one.
    assert!((waits..waits + 5).contains(&waiting), "{waiting} {waits}");
    assert_eq!(waiting + known, waits + dropped);
    taps.flows_apart = false;
    let as_one = taps.passages(&scenario).unwrap();
    let of_one = as_one
        .iter()
        .filter(|p| matches!(p.fate, Fate::Dropped { .. }));
    assert!(of_one.count() > dropped + 5);
}

/// What the counter of drops tells in readings of 10 ms.
fn readings(events: &[PacketEvent]) -> Vec<Reading> {
    let every_ns = 10_000_000;
    let drops = events.iter().filter(|event| event.why != 0);
    let mut readings: Vec<Reading> = Vec::new();
    for (n, event) in drops.enumerate() {
        let since_ns = event.at_ns / every_ns * every_ns;
        let reading = Reading {
            since_ns,
            at_ns: since_ns + every_ns,
            dropped_pkts: n as u64 + 1,
            more_pkts: 1,
        };
        match readings.last_mut().filter(|last| last.since_ns == since_ns) {
            Some(last) => {
                last.dropped_pkts += 1;
                last.more_pkts += 1;
            }
            None => readings.push(reading),
        }
    }
    readings
}

/// Of many flows most lose the last packet that they have in the queue, and send the next one a
/// timeout later.
#[test]
fn a_packet_that_its_flow_loses_last_waits_no_longer_than_it_does() {
    for (algorithm, at_head) in [("codel", true), ("pie", false)] {
        let mut scenario = scenario("htb", algorithm);
        let rows = &mut scenario.links[0].queue.rows;
        rows.extend([("flows".into(), 1024), ("limit".into(), 10_000)]);
        scenario.flows[0].count = 30;
        scenario.flows[1].count = 45;
        let there = measured(&scenario);
        let events = there.events.as_ref().unwrap();
        let mut taps = from_taps(events, at_head);
        taps.flows_apart = true;
        let queue = |taps: &Taps| {
            let passages = taps.passages(&scenario).unwrap();
            let here = report(&scenario, "forth", &passages).unwrap();
            let window = &here.windows[0];
            (window.queue_pkts.mean, window.dropped_pkts)
        };
        let unread = queue(&taps);
        taps.readings = readings(events);
        let read = queue(&taps);
        let known = &there.windows[0];
        let mean_pkts = known.queue_pkts.mean;
        assert!(
            (read.0 / mean_pkts - 1.0).abs() < 0.01,
            "{algorithm}: {read:?} {mean_pkts}"
        );
        // One that drops arrivals is wrong about the very end alone.
        assert_eq!(
            at_head,
            unread.0 / mean_pkts > 1.02,
            "{algorithm}: {unread:?} {mean_pkts}"
        );
        assert_eq!(read.1, known.dropped_pkts, "{algorithm}");
    }
}

#[test]
fn a_queue_that_logs_its_packets_gives_the_same_numbers_and_reasons() {
    for shaper in ["htb", "wire"] {
        for (algorithm, at_head) in [("pie", false), ("codel", true), ("sfb", false)] {
            let mut scenario = scenario(shaper, algorithm);
            // Some go for want of room, which is not seen from taps.
            scenario.links[0].queue.rows.insert("limit".into(), 30);
            let there = measured(&scenario);
            let bytes = log(there.events.as_ref().unwrap(), at_head);
            let passages = Log::new(&bytes).unwrap().passages("l0h1a", ZERO_NS, None);
            let here = report(&scenario, "forth", &passages.unwrap()).unwrap();
            assert!(
                there.windows[0].drops["limit"] > 10,
                "{:?}",
                there.windows[0].drops
            );
            assert!(
                there.windows[0].drops.len() > 1,
                "{:?}",
                there.windows[0].drops
            );
            assert_eq!(
                windows(&there),
                windows(&here),
                "{algorithm} below {shaper}"
            );
        }
    }
}

#[test]
fn a_shaper_that_holds_packets_is_looked_at_from_behind() {
    let there = measured(&scenario("tbf", "codel"));
    let events = there.events.unwrap();
    let bytes = log(&events, true);
    let log = Log::new(&bytes).unwrap();
    let left: Vec<_> = events.iter().filter(|event| event.why == 0).collect();
    let later = |event: &&PacketEvent| seen(event.at_ns + 500, 0, event, event.ecn);
    let mut behind: Vec<_> = left.iter().map(later).collect();
    // It still has one.
    let held = behind.pop().unwrap();
    let passages = log.passages("l0h1a", ZERO_NS, Some(&behind)).unwrap();
    let outs: Vec<_> = passages
        .iter()
        .filter_map(|passage| match passage.fate {
            Fate::Left { dequeue, out, .. } => Some((dequeue.0, out.0)),
            _ => None,
        })
        .collect();
    assert_eq!(outs.len(), left.len());
    for (dequeue, out) in &outs[..outs.len() - 1] {
        assert_eq!(out - dequeue, 500);
    }
    assert_eq!(outs.last().unwrap().1, u64::MAX);
    behind.extend([held, held]);
    let refusal = log.passages("l0h1a", ZERO_NS, Some(&behind)).unwrap_err();
    assert!(refusal.contains("never came to it"), "{refusal}");
}

/// A packet of ours that came when it left, or a probe of the queue's own.
fn passed(out_ns: u64, len_bytes: u32, probe: bool) -> Passage {
    let (out, ecn) = (Time(out_ns), 0);
    let fate = if probe {
        Fate::Probe { out }
    } else {
        let dequeue = out;
        Fate::Left { dequeue, out, ecn }
    };
    Passage {
        came: out,
        flow: 1,
        len_bytes,
        mark: None,
        fate,
    }
}

#[test]
fn a_queues_own_probes_take_tokens_and_are_in_no_figure() {
    let mut scenario = scenario("htb", "asqm");
    scenario.links[0].burst_bytes = 2_000;
    let packets = [
        passed(1_000_000, 1_514, false),
        passed(1_000_000, 486, false),
    ];
    let alone = report(&scenario, "forth", &packets).unwrap();
    let probed = [packets[0], passed(1_000_000, 42, true), packets[1]];
    let probed = report(&scenario, "forth", &probed).unwrap();
    let system = |report: &QueueReport| report.windows[0].system_delay_ms.max.unwrap();
    // Of 42 bytes at 10 Mbit/s.
    assert_eq!((system(&alone), system(&probed)), (0.0, 0.0336));
    let of_users = |report: &QueueReport| {
        let all = &report.windows[0];
        (all.arrived_pkts, all.departed_pkts, all.utilisation_pct)
    };
    assert_eq!(of_users(&alone), of_users(&probed));
}

#[test]
fn a_queues_own_probes_are_known_behind_a_shaper_that_holds_packets() {
    let event = |at_ns, len_bytes| PacketEvent {
        at_ns,
        enq_ns: at_ns,
        flow: 1,
        len_bytes,
        ecn: 0,
        why: 0,
    };
    let events = [event(10, 1_514), event(20, 42), event(30, 1_514)];
    let mut bytes = log(&events, true);
    // The second packet, of either queue: enum sojourn_fate in linux/qdisc/passage.h.
    for record in [4, 5] {
        bytes[32 + 32 * record + 26] = 3;
    }
    let behind = events
        .each_ref()
        .map(|event| seen(event.at_ns + 5, 0, event, 0));
    let log = Log::new(&bytes).unwrap();
    let passages = log.passages("l0h1a", ZERO_NS, Some(&behind)).unwrap();
    assert_eq!(passages[1].fate, Fate::Probe { out: Time(25) });
    assert!(matches!(passages[2].fate, Fate::Left { out: Time(35), .. }));
}

#[test]
fn packets_of_all_queues_above_a_ring_share_its_line_in_the_order_in_which_they_left() {
    // At 8 Mbit/s a byte takes a microsecond.
    let mut first = vec![passed(0, 1_000, false), passed(10, 1_000, false)];
    let mut second = vec![passed(5, 500, true), passed(9_000_000, 100, false)];
    on_line(&mut [&mut first, &mut second], 8_000_000);
    let ends =
        |passages: &[Passage]| -> Vec<_> { passages.iter().map(|passage| passage.fate).collect() };
    let left = |dequeue, out| Fate::Left {
        dequeue: Time(dequeue),
        out: Time(out),
        ecn: 0,
    };
    assert_eq!(ends(&first), [left(0, 1_000_000), left(10, 2_500_000)]);
    let probe = Fate::Probe {
        out: Time(1_500_000),
    };
    assert_eq!(ends(&second), [probe, left(9_000_000, 9_100_000)]);
}

#[test]
fn a_log_that_is_not_whole_is_refused() {
    let there = measured(&scenario("htb", "codel"));
    let whole = log(there.events.as_ref().unwrap(), true);
    let mut lossy = whole.clone();
    lossy[24] = 1;
    let mut strange = whole.clone();
    strange[0] = b'q';
    let refusals = [
        (&whole[..20], "no head"),
        (&whole[..whole.len() - 1], "not whole"),
        (&whole[..whole.len() - 32], "not whole"),
        (&strange[..], "not whole"),
        (&lossy[..], "no room for 1 packets"),
    ];
    for (bytes, sentence) in refusals {
        let refusal = Log::new(bytes).map(|_| ()).unwrap_err();
        assert!(refusal.contains(sentence), "{refusal}");
    }
    let refusal = Log::new(&whole)
        .unwrap()
        .passages("eth0", 0, None)
        .unwrap_err();
    assert!(refusal.contains("no queue of device 'eth0'"), "{refusal}");
}

#[test]
fn a_departure_that_never_came_is_an_error() {
    let taps = Taps {
        link: "forth".into(),
        arrivals: Vec::new(),
        departures: vec![Seen::read(&[7; Seen::BYTES])],
        readings: Vec::new(),
        at_head: false,
        flows_apart: false,
    };
    let refusal = taps.passages(&scenario("htb", "pie")).unwrap_err();
    assert!(refusal.contains("never arrived"), "{refusal}");
}
