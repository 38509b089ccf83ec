// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! A flow: what one user sends between two nodes, and what became of it. Plain data; the net
//! plays its script.

use std::sync::Arc;

use super::endpoint::Last;
use crate::base::datagram::Datagram;
use crate::base::event::Source;
use crate::base::rng::Rng;
use crate::base::time::Time;
use crate::link::packet::Ledger;
use crate::scenario::FlowSpec;
use crate::tcp::{TcpConfig, TcpStats};
use crate::traffic::{AppSpec, End, Source as Script, Visit};

/// A transfer that has come to its end.
#[derive(Clone, Copy, Debug)]
pub struct Completion {
    /// When its last byte had arrived in order.
    pub at: Time,
    /// Since its connection was opened.
    pub took_ns: u64,
}

/// A datagram that the far end was to send back.
#[derive(Clone, Copy, Debug)]
pub struct Echo {
    /// When the application sent it.
    pub sent: Time,
    /// How long the network had it, there and back, once it has come.
    pub rtt_ns: Option<u64>,
}

/// What a flow has counted, with its connections that are over.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Payload delivered to the receiver.
    pub delivered_bytes: u64,
    /// Payload delivered to the sender, of conversations in which both ends write.
    pub answered_bytes: u64,
    /// Connections opened.
    pub opened: u64,
    /// Packets sent again.
    pub retransmitted_pkts: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Packets with data, sent.
    pub data_pkts_sent: u64,
    /// Packets of all kinds that queues dropped or wires lost. Where a host knows only which
    /// datagrams should have arrived by now, it falls with one that was late.
    pub lost_pkts: i64,
    /// What datagrams took.
    pub transit: Transit,
}

/// How long datagrams took.
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
    pub last_ns: Option<u64>,
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
    pub fn of(flow: &Flow, ledger: &Ledger, delivered_bytes: [u64; 2]) -> Self {
        Self {
            lost_pkts: ledger.lost.cast_signed(),
            delivered_bytes: delivered_bytes[End::To as usize],
            answered_bytes: delivered_bytes[End::From as usize],
            opened: flow.opened.into(),
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
            answered_bytes: self.answered_bytes - before.answered_bytes,
            opened: self.opened - before.opened,
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
    /// The number of its specification.
    pub group: u32,
    /// What it sends.
    pub script: Script,
    /// The visit that is due next, if it is known.
    pub next_visit: Option<Visit>,
    /// How.
    pub tcp: Option<Arc<TcpConfig>>,
    /// Event: start, then the next visit.
    pub source: Source,
    /// Event: stop.
    pub stopper: Source,
    /// First places of its ways, by the end that sends.
    pub ways: [u32; 2],
    /// Constant delay of the links, there and back.
    pub delays_ns: u64,
    /// Whether its sender delays packets at all.
    pub holds: bool,
    /// Bound of its sender's random delays.
    pub jitter_ns: u64,
    /// The last packet of its sender's connection that closed last.
    pub last: Last,
    /// Constant delay of the first links, and of the flow's own round trip beyond that of its
    /// links: its sender sees to both.
    pub lead_ns: u64,
    /// How far the clocks of its two hosts are before the run's.
    pub clocks_ahead_ns: [u64; 2],
    /// Both its ends write, so that both ends' counts are its own.
    pub both_write: bool,
    /// Its transfers are kept one by one.
    pub keeps_transfers: bool,
    /// Connections opened so far.
    pub opened: u32,
    /// Visits begun so far.
    pub visits: u32,
    /// Its conversations.
    pub talks: Vec<u32>,
    /// Datagrams sent in the whole run.
    pub datagrams_sent: u64,
    /// Datagrams that arrived in the whole run.
    pub transit: Transit,
    /// Of a flow whose datagrams are sent back.
    pub echoes: Option<Vec<Echo>>,
    /// How many transfers are done.
    pub transfers: u64,
    /// The transfers, if they are kept.
    pub completions: Vec<Completion>,
    /// Of connections that are over.
    pub tally: Tally,
    /// Whether it sends no more.
    pub stopped: bool,
    /// Start time.
    pub start: Time,
}

impl Flow {
    /// A flow that has yet to start: `index` of the group `group`.
    pub fn new(spec: &FlowSpec, group: u32, index: u32, start: Time, seed: u64) -> Self {
        let rng = Rng::stream(seed, &format!("flow/{}/{index}/traffic", spec.name));
        Self {
            name: spec.name.clone(),
            index,
            group,
            script: spec.app.source(index, spec.count, rng),
            next_visit: None,
            tcp: None,
            source: 0,
            stopper: 0,
            ways: [0, 0],
            delays_ns: 0,
            holds: false,
            jitter_ns: 0,
            last: Last::default(),
            lead_ns: 0,
            clocks_ahead_ns: [0, 0],
            both_write: spec.app.both_write(),
            keeps_transfers: spec.app.keeps_transfers(),
            opened: 0,
            visits: 0,
            talks: Vec::new(),
            datagrams_sent: 0,
            transit: Transit::default(),
            echoes: matches!(spec.app, AppSpec::Ping(_)).then(Vec::new),
            transfers: 0,
            completions: Vec::new(),
            tally: Tally::default(),
            stopped: false,
            start,
        }
    }

    /// It sends a datagram.
    pub fn on_sent(&mut self, datagram: &Datagram) {
        self.datagrams_sent += 1;
        if let Some(echoes) = &mut self.echoes {
            echoes.push(Echo {
                sent: Time(datagram.sent_ns),
                rtt_ns: None,
            });
        }
    }

    /// A datagram came to an end. True: it is sent back.
    pub fn on_datagram(&mut self, now: Time, who: End, datagram: &Datagram) -> bool {
        if who == End::To {
            self.transit.add(datagram.delay_ns(now));
            return self.echoes.is_some();
        }
        let echoes = self.echoes.as_mut().into_iter().flatten();
        let mut echoes = echoes.rev();
        if let Some(echo) = echoes.find(|echo| echo.sent.0 == datagram.sent_ns) {
            echo.rtt_ns = Some(datagram.delay_ns(now));
        }
        false
    }

    /// A transfer is complete.
    pub fn on_transfer(&mut self, now: Time, took_ns: u64) {
        self.transfers += 1;
        if self.keeps_transfers {
            self.completions.push(Completion { at: now, took_ns });
        }
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
