// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Plain data that any host counts of a flow.

use sojourn_core::Viewing;

use crate::base::time::Time;
use crate::tcp::TcpCounts;

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
pub struct FlowCounts {
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
    /// What those who watch have seen.
    pub viewing: Viewing,
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
    /// Adds one that has arrived.
    pub fn add(&mut self, delay_ns: u64) {
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

impl FlowCounts {
    /// Adds a connection's.
    pub fn add(&mut self, counts: &TcpCounts) {
        self.retransmitted_pkts += counts.retransmitted_pkts;
        self.timeouts += counts.timeouts;
        self.data_pkts_sent += counts.data_pkts_sent;
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
            viewing: self.viewing.since(&before.viewing),
        }
    }
}
