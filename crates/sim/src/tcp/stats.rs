// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! What a connection counts, and what it shows of itself.

use super::connection::Connection;
use super::rtt::NO_RTT;

/// Counters; all begin at zero and only rise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpCounts {
    /// Packets sent, of any kind.
    pub pkts_sent: u64,
    /// Packets with data sent, retransmissions included.
    pub data_pkts_sent: u64,
    /// Acknowledgements without data sent.
    pub acks_sent: u64,
    /// Packets sent again: data, SYN, probes (RetransSegs of Linux).
    pub retransmitted_pkts: u64,
    /// Retransmission timeouts, of SYN and SYN-ACK too (TCPTimeouts).
    pub timeouts: u64,
    /// Tail loss probes (TCPLossProbes).
    pub probes: u64,
    /// Recoveries begun without a timeout (TCPSackRecovery, TCPRenoRecovery).
    pub recoveries: u64,
    /// Reductions taken back.
    pub undos: u64,
    /// Data packets that arrived with CE.
    pub ce_received: u64,
}

/// A snapshot of one end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpStats {
    /// What it has counted.
    pub counts: TcpCounts,
    /// Bytes acknowledged by the peer.
    pub acknowledged_bytes: u64,
    /// Bytes received in order.
    pub received_bytes: u64,
    /// Congestion window and threshold, packets.
    pub cwnd_pkts: u32,
    /// Slow-start threshold, packets.
    pub ssthresh_pkts: u32,
    /// Packets that are out.
    pub pkts_out: u32,
    /// Smoothed round trip in microseconds; 0: none yet.
    pub srtt_us: u32,
    /// Least round trip in microseconds; 0: none yet.
    pub min_rtt_us: u32,
    /// Retransmission timeout in ms.
    pub rto_ms: u64,
}

impl Connection {
    /// Congestion window in packets and smoothed round trip, once there is one.
    #[must_use]
    pub fn window_and_srtt(&self) -> Option<(u32, u32)> {
        let srtt_us = self.snd.rtt.srtt8_us() >> 3;
        (srtt_us > 0).then_some((self.snd.window.cwnd, srtt_us))
    }
}

impl TcpStats {
    pub(super) fn of(connection: &Connection) -> Self {
        let snd = &connection.snd;
        // SYN takes the first offset, a FIN the last.
        let data = |offset: u64, fin: bool| offset.saturating_sub(1 + u64::from(fin));
        let min_rtt_us = snd.rtt.min_us();
        Self {
            counts: connection.counts,
            acknowledged_bytes: data(snd.una, snd.fin_sent && snd.una > snd.write_end),
            received_bytes: data(connection.rcv.nxt, connection.rcv.fin_received),
            cwnd_pkts: snd.window.cwnd,
            ssthresh_pkts: snd.window.ssthresh,
            pkts_out: snd.packets_out(),
            srtt_us: connection
                .window_and_srtt()
                .map_or(0, |(_, srtt_us)| srtt_us),
            min_rtt_us: if min_rtt_us == NO_RTT { 0 } else { min_rtt_us },
            rto_ms: snd.rto,
        }
    }
}
