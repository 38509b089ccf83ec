// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! The test network: two connections, a delay and a rate between them, and a
//! script that says which packets are lost, marked or held up.

use std::collections::VecDeque;
use std::rc::Rc;

use crate::base::ecn::Ecn;
use crate::base::time::Time;
use crate::tcp::{Connection, Event, Flags, Segment, TcpConfig};

pub(super) const MS: u64 = 1_000_000;

/// What the script says about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Pass,
    Drop,
    Mark,
    /// Arrives so many nanoseconds later, behind others.
    Late(u64),
}

/// A packet that was sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub at: u64,
    pub segment: Segment,
    pub ecn: Ecn,
}

/// A script: called with the number of the packet in its direction and the
/// packet.
pub(super) type Script = Box<dyn FnMut(usize, &Sent) -> Fate>;

/// One direction.
struct Direction {
    sent: Vec<Sent>,
    flying: VecDeque<(u64, Segment, Ecn)>,
    script: Script,
    free_at: u64,
}

impl Direction {
    fn new() -> Self {
        Self {
            sent: Vec::new(),
            flying: VecDeque::new(),
            script: Box::new(|_, _| Fate::Pass),
            free_at: 0,
        }
    }

    fn send(&mut self, at: u64, segment: Segment, mut ecn: Ecn, delay: u64, ns_per_byte: u64) {
        let sent = Sent { at, segment, ecn };
        let fate = (self.script)(self.sent.len(), &sent);
        self.sent.push(sent);
        let mut late = 0;
        match fate {
            Fate::Drop => return,
            Fate::Mark => ecn = Ecn::Ce,
            Fate::Late(ns) => late = ns,
            Fate::Pass => {}
        }
        self.free_at = self.free_at.max(at) + u64::from(segment.wire_bytes()) * ns_per_byte;
        let arrives = self.free_at + delay + late;
        let place = self.flying.partition_point(|flying| flying.0 <= arrives);
        self.flying.insert(place, (arrives, segment, ecn));
    }
}

/// The client sends to the server over a path with a rate; the way back only
/// delays.
pub(super) struct Pair {
    pub now: u64,
    pub client: Connection,
    pub server: Connection,
    forward: Direction,
    back: Direction,
    delay: u64,
    ns_per_byte: u64,
    pub delivered: u64,
    pub client_events: Vec<Event>,
    pub server_events: Vec<Event>,
}

impl Pair {
    /// One way takes `delay_ms`; the forward path sends a byte in
    /// `ns_per_byte` (80: 100 Mbit/s).
    pub fn new(config: &TcpConfig, delay_ms: u64, ns_per_byte: u64) -> Self {
        let start = Time(5 * MS);
        let config = Rc::new(config.clone());
        Self {
            now: start.0,
            client: *Connection::client(&config, start, 0, None),
            server: *Connection::server(&config, start, 0, None),
            forward: Direction::new(),
            back: Direction::new(),
            delay: delay_ms * MS,
            ns_per_byte,
            delivered: 0,
            client_events: Vec::new(),
            server_events: Vec::new(),
        }
    }

    /// Takes no short way, at either end.
    pub fn take_long_way(&mut self) {
        self.client.use_long_way = true;
        self.server.use_long_way = true;
    }

    pub fn script(&mut self, script: impl FnMut(usize, &Sent) -> Fate + 'static) {
        self.forward.script = Box::new(script);
    }

    pub fn script_back(&mut self, script: impl FnMut(usize, &Sent) -> Fate + 'static) {
        self.back.script = Box::new(script);
    }

    /// Loses the first transmission of each of these data segments, counted
    /// from 0.
    pub fn lose(&mut self, segments: &[u64], mss: u64) {
        let mut left: Vec<u64> = segments.iter().map(|n| 1 + n * mss).collect();
        self.script(move |_, sent| {
            let hit = left
                .iter()
                .position(|seq| sent.segment.len > 0 && *seq == sent.segment.seq);
            match hit {
                Some(place) => {
                    left.swap_remove(place);
                    Fate::Drop
                }
                None => Fate::Pass,
            }
        });
    }

    /// Packets with data that the client sent.
    pub fn data_sent(&self) -> Vec<Sent> {
        let has_data = |sent: &&Sent| sent.segment.len > 0;
        self.forward.sent.iter().filter(has_data).copied().collect()
    }

    pub fn sent(&self) -> &[Sent] {
        &self.forward.sent
    }

    /// What the server sent.
    pub fn answered(&self) -> &[Sent] {
        &self.back.sent
    }

    /// Pure acknowledgements of the server.
    pub fn acks(&self) -> Vec<Sent> {
        let is_ack = |sent: &&Sent| sent.segment.flags.0 & !Flags::ECE.0 == Flags::ACK.0;
        self.back.sent.iter().filter(is_ack).copied().collect()
    }

    fn drain(&mut self) {
        let now = Time(self.now);
        while let Some((segment, ecn)) = self.client.poll_transmit(now) {
            self.forward
                .send(self.now, segment, ecn, self.delay, self.ns_per_byte);
        }
        while let Some((segment, ecn)) = self.server.poll_transmit(now) {
            self.back.send(self.now, segment, ecn, self.delay, 0);
        }
        while let Some(event) = self.client.poll_event() {
            self.client_events.push(event);
        }
        while let Some(event) = self.server.poll_event() {
            if let Event::Delivered(bytes) = event {
                self.delivered += bytes;
            }
            if event == Event::PeerClosed {
                self.server.close();
            }
            self.server_events.push(event);
        }
    }

    /// Runs to `until_ms`.
    pub fn run(&mut self, until_ms: u64) {
        let until = until_ms * MS;
        loop {
            self.drain();
            self.drain();
            let times = [
                self.forward.flying.front().map_or(u64::MAX, |next| next.0),
                self.back.flying.front().map_or(u64::MAX, |next| next.0),
                self.client.poll_timeout().0,
                self.server.poll_timeout().0,
            ];
            let next = times.into_iter().min().unwrap_or(u64::MAX);
            if next > until {
                self.now = until;
                return;
            }
            self.now = self.now.max(next);
            let now = Time(self.now);
            if times[0] == next {
                if let Some((_, segment, ecn)) = self.forward.flying.pop_front() {
                    self.server.handle_segment(now, &segment, ecn);
                }
            } else if times[1] == next {
                if let Some((_, segment, ecn)) = self.back.flying.pop_front() {
                    self.client.handle_segment(now, &segment, ecn);
                }
            } else if times[2] == next {
                self.client.handle_timeout(now);
            } else {
                self.server.handle_timeout(now);
            }
        }
    }
}
