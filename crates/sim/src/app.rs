// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! A flow: what is sent between two nodes, and what became of it. Plain data; the
//! net drives it, and a driver of real sockets can follow the same description.

use crate::event::Source;
use crate::packet::Ledger;
use crate::rng::Rng;
use crate::scenario::{AppSpec, FlowSpec};
use crate::time::{NS_PER_S, Time};
use crate::transport::Datagram;
use crate::transport::tcp::{TcpConfig, TcpStats};

/// Written instead of a size by a transfer without end.
pub const ENDLESS: u64 = u64::MAX / 4;

/// A transfer that has come to its end.
#[derive(Clone, Copy, Debug)]
pub struct Completion {
    /// When its last byte had arrived in order.
    pub at: Time,
    /// Since its connection was opened.
    pub took_ns: u64,
}

/// What a flow has counted, with its connections that are over.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Payload delivered to the receiver.
    pub delivered_bytes: u64,
    /// Packets sent again.
    pub retransmitted_pkts: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Packets with data, sent.
    pub data_pkts_sent: u64,
    /// Packets of all kinds that queues dropped or wires lost.
    pub lost_pkts: u64,
    /// What datagrams took.
    pub transit: Transit,
}

/// How long datagrams took from application to application.
#[derive(Clone, Copy, Debug, Default)]
pub struct Transit {
    /// Datagrams that arrived.
    pub arrived_pkts: u64,
    /// Sum of their delays.
    pub delay_ns: u64,
    /// Datagrams that had one before them.
    pub differences: u64,
    /// Sum of the differences between the delays of each two that arrived one after the
    /// other (RFC 3550 §6.4.1, |D|).
    pub differences_ns: u64,
    /// Of the last one.
    last_ns: Option<u64>,
}

impl Transit {
    fn add(&mut self, delay_ns: u64) {
        self.arrived_pkts += 1;
        self.delay_ns += delay_ns;
        if let Some(last_ns) = self.last_ns.replace(delay_ns) {
            self.differences += 1;
            self.differences_ns += last_ns.abs_diff(delay_ns);
        }
    }

    /// What has been added since an earlier reading.
    pub fn since(&self, before: &Self) -> Self {
        Self {
            arrived_pkts: self.arrived_pkts - before.arrived_pkts,
            delay_ns: self.delay_ns - before.delay_ns,
            differences: self.differences - before.differences,
            differences_ns: self.differences_ns - before.differences_ns,
            last_ns: self.last_ns,
        }
    }
}

impl Tally {
    /// Of a flow's connections that are over, and its datagrams.
    pub fn of(flow: &Flow, ledger: &Ledger) -> Self {
        Self {
            lost_pkts: ledger.lost,
            delivered_bytes: flow.delivered_bytes,
            data_pkts_sent: flow.tally.data_pkts_sent + flow.datagrams_sent,
            transit: flow.transit,
            ..flow.tally
        }
    }

    /// Adds a connection's.
    pub fn add(&mut self, stats: &TcpStats) {
        self.retransmitted_pkts += stats.retransmitted_pkts;
        self.timeouts += stats.timeouts;
        self.data_pkts_sent += stats.data_pkts_sent;
    }

    /// What has been counted since an earlier reading.
    pub fn since(&self, before: &Self) -> Self {
        Self {
            delivered_bytes: self.delivered_bytes - before.delivered_bytes,
            retransmitted_pkts: self.retransmitted_pkts - before.retransmitted_pkts,
            timeouts: self.timeouts - before.timeouts,
            data_pkts_sent: self.data_pkts_sent - before.data_pkts_sent,
            lost_pkts: self.lost_pkts - before.lost_pkts,
            transit: self.transit.since(&before.transit),
        }
    }
}

/// A flow.
pub struct Flow {
    /// Its specification's name.
    pub name: String,
    /// Which of the flows of that name.
    pub index: u32,
    /// What it sends.
    pub app: AppSpec,
    /// How.
    pub tcp: Option<TcpConfig>,
    /// Event: start, then the next datagram.
    pub source: Source,
    /// Event: stop.
    pub stopper: Source,
    /// First places of its ways.
    pub ways: (u32, u32),
    /// Whether its sender delays packets at all.
    pub holds: bool,
    /// Bound of its sender's random delays.
    pub jitter_ns: u64,
    /// Constant delay of the first links, and of the flow's own round trip beyond that of its
    /// links: its sender sees to both.
    pub lead_ns: u64,
    /// How far the clocks of its two hosts are before the run's.
    pub clocks_ahead_ns: (u64, u64),
    /// Connections opened so far.
    pub opened: u32,
    /// When the latest was.
    pub opened_at: Time,
    /// The end that sends, while there is one.
    pub client: Option<u32>,
    /// Bytes of the current transfer that have arrived in order.
    pub arrived_bytes: u64,
    /// Payload delivered to the receiver in the whole run.
    pub delivered_bytes: u64,
    /// Datagrams sent in the whole run.
    pub datagrams_sent: u64,
    /// Datagrams that arrived in the whole run.
    pub transit: Transit,
    /// Transfers done.
    pub completions: Vec<Completion>,
    /// Of connections that are over.
    pub tally: Tally,
    /// Whether it sends no more.
    pub stopped: bool,
    /// Start time.
    pub start: Time,
}

impl Flow {
    /// A flow that has yet to start.
    pub fn new(spec: &FlowSpec, index: u32, tcp: Option<TcpConfig>, start: Time) -> Self {
        Self {
            name: spec.name.clone(),
            index,
            app: spec.app,
            tcp,
            source: 0,
            stopper: 0,
            ways: (0, 0),
            holds: false,
            jitter_ns: 0,
            lead_ns: 0,
            clocks_ahead_ns: (0, 0),
            opened: 0,
            opened_at: Time(0),
            client: None,
            arrived_bytes: 0,
            delivered_bytes: 0,
            datagrams_sent: 0,
            transit: Transit::default(),
            completions: Vec::new(),
            tally: Tally::default(),
            stopped: false,
            start,
        }
    }

    /// A datagram came to the receiver.
    pub fn on_datagram(&mut self, now: Time, datagram: &Datagram) {
        self.delivered_bytes += u64::from(datagram.len);
        self.transit.add(now.0 - datagram.sent_ns);
    }

    /// Bytes of one transfer; none: without end.
    pub fn transfer_bytes(&self) -> Option<u64> {
        match self.app {
            AppSpec::Bulk { bytes } => bytes,
            AppSpec::Respawn { bytes } => Some(bytes),
            AppSpec::Cbr { .. } => None,
        }
    }

    /// So much more has arrived in order. True once a transfer is complete.
    pub fn on_delivered(&mut self, now: Time, bytes: u64) -> bool {
        self.delivered_bytes += bytes;
        self.arrived_bytes += bytes;
        if Some(self.arrived_bytes) != self.transfer_bytes() {
            return false;
        }
        self.completions.push(Completion {
            at: now,
            took_ns: now - self.opened_at,
        });
        true
    }
}

/// When each flow of a group starts: the same on every host.
pub fn starts_of(spec: &FlowSpec, seed: u64) -> Vec<Time> {
    if let Some(starts) = &spec.starts {
        let rng = Rng::stream(seed, &format!("flow/{}/starts", spec.name));
        return starts
            .of_all(spec.count, 0, rng)
            .into_iter()
            .map(Time)
            .collect();
    }
    let start = |index: u32| {
        let mut rng = Rng::stream(seed, &format!("flow/{}/{index}/start", spec.name));
        Time(spec.start_ns + rng.below(spec.start_spread_ns))
    };
    (0..spec.count).map(start).collect()
}

/// What each flow of a group adds to the delays of its links, so that its round trip is its own:
/// the same on every host.
pub fn added_ns_of(spec: &FlowSpec, delays_ns: u64, seed: u64) -> Vec<u64> {
    let Some(rtts) = &spec.rtts else {
        return vec![0; spec.count as usize];
    };
    let rng = Rng::stream(seed, &format!("flow/{}/rtts", spec.name));
    let all = rtts.of_all(spec.count, delays_ns, rng);
    all.into_iter().map(|ns| ns - delays_ns).collect()
}

/// When the datagram behind the first `sent` is due at a constant rate, after the first one's
/// start. From the count and not from the gap: a gap cut to whole nanoseconds is a higher rate
/// (0.65 % of 100 Gbit/s).
pub fn datagram_due_ns(sent: u64, rate_bps: u64, payload_bytes: u32) -> u64 {
    let bits = u128::from(sent) * u128::from(payload_bytes) * 8;
    (bits * u128::from(NS_PER_S) / u128::from(rate_bps)) as u64
}
