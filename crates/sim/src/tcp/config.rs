// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Every switch of the TCP. The defaults are those of Linux 6.12; each can be
//! set back to the form that older papers simulated.

use serde::{Deserialize, Serialize};

use super::clock::Wheel;

/// Which law moves the congestion window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CongestionControl {
    /// CUBIC (RFC 8312) as in tcp_cubic.c.
    #[default]
    Cubic,
    /// NewReno (RFC 5681, RFC 6582) as in tcp_cong.c.
    Reno,
    /// H-TCP as in tcp_htcp.c.
    Htcp,
    /// DCTCP (RFC 8257) as in tcp_dctcp.c; it needs `ecn`.
    Dctcp,
}

/// How the retransmission timeout follows from the measured round trips.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RtoForm {
    /// `srtt + rttvar`, where rttvar is four mean deviations, rises at once,
    /// decays once a window and never falls below `min_rto_ms`.
    #[default]
    Linux,
    /// RFC 6298: `max(min_rto_ms, srtt + 4 * rttvar)`.
    Rfc6298,
}

/// The behaviour of one end of a connection. Both ends of a flow normally
/// share one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TcpConfig {
    /// Congestion control.
    pub cc: CongestionControl,
    /// Negotiate ECN (RFC 3168).
    pub ecn: bool,
    /// With `ecn`: ECT(1) where ECT(0) would be sent, so that the flow is L4S traffic
    /// (RFC 9331 §4.1), whose law must be scalable (§4.3): `cc` is DCTCP.
    pub ect1: bool,
    /// A SYN that is sent again asks for no ECN (RFC 3168 §6.1.1.1), as Linux does since 4.2.
    pub ecn_fallback: bool,

    /// Payload of a full segment in bytes; none: what a packet of 1500 bytes
    /// holds, 1460, or 1448 beside timestamps.
    pub mss_bytes: Option<u32>,
    /// Timestamps option (RFC 7323).
    pub timestamps: bool,
    /// Selective acknowledgements (RFC 2018).
    pub sack: bool,
    /// Report duplicates in a first SACK block (RFC 2883).
    pub dsack: bool,
    /// Hold small segments back while data is unacknowledged (RFC 896, in
    /// Minshall's form).
    pub nagle: bool,

    /// Congestion window after the handshake (RFC 6928), packets.
    pub initial_window_pkts: u32,
    /// Initial slow-start threshold, packets; none: unlimited.
    pub initial_ssthresh_pkts: Option<u32>,
    /// Upper bound of the congestion window, packets; none: unlimited.
    pub max_window_pkts: Option<u32>,
    /// End slow start early when delay rises or acknowledgements form a long
    /// train (CUBIC only).
    pub hystart: bool,
    /// CUBIC: give up window when the last maximum was not reached again.
    pub fast_convergence: bool,
    /// CUBIC: never slower than a standard TCP would be.
    pub tcp_friendliness: bool,
    /// CUBIC: grow by as much more for each acknowledgement as packets stand behind one on
    /// average, as Linux did before 4.0; without `byte_counting`.
    pub cubic_ack_ratio: bool,
    /// Slow start also where the window equals its threshold, as Linux did before 4.3.
    pub slow_start_at_threshold: bool,
    /// Let the window grow only while it is used (RFC 7661 in spirit).
    pub cwnd_validation: bool,
    /// Shrink the window after an idle period.
    pub slow_start_after_idle: bool,
    /// Count acknowledged packets rather than acknowledgements when the window
    /// grows (RFC 3465). Without it each acknowledgement counts as one packet.
    pub byte_counting: bool,
    /// Begin with the threshold and the reordering that the last connection between the same
    /// hosts left, as Linux did before 5.6.
    pub path_metrics: bool,

    /// Find losses by time (RFC 8985) instead of by three duplicates.
    pub rack: bool,
    /// Probe for a lost tail (RFC 8985).
    pub tlp: bool,
    /// Spread the reduction of the window over a round trip (RFC 6937). Without
    /// it the window is set to its target at once.
    pub prr: bool,
    /// Tell a spurious timeout from a true one (RFC 5682).
    pub frto: bool,
    /// Take reductions back that timestamps or D-SACK show to be needless.
    pub undo: bool,
    /// Without SACK: restart the retransmission timeout at the first partial
    /// acknowledgement of a recovery only, so that many losses end in slow
    /// start (RFC 6582 §4, the Impatient variant; NewReno in ns-2). Linux
    /// restarts it at each.
    pub impatient: bool,
    /// Duplicates that mean a loss, at first.
    pub reordering_pkts: u32,
    /// Bound of the measured reordering.
    pub max_reordering_pkts: u32,

    /// Form of the retransmission timeout.
    pub rto: RtoForm,
    /// Lower bound of the timeout in ms (see `RtoForm`).
    pub min_rto_ms: u32,
    /// Upper bound of the timeout in ms.
    pub max_rto_ms: u32,
    /// Timeout before any measurement in ms.
    pub initial_rto_ms: u32,
    /// Timeouts of a SYN that pass before back-off begins; 0: double at once.
    pub syn_linear_timeouts: u32,
    /// Round timer deadlines as the Linux timer wheel does.
    pub timer_wheel: bool,
    /// Without `timer_wheel`: granularity of timers in ms, 500 for the coarse
    /// clock of 4.4BSD.
    pub timer_tick_ms: u32,

    /// Delay acknowledgements (RFC 1122 §4.2.3.2): one for two full segments.
    /// Without it every segment is acknowledged at once.
    pub delayed_ack: bool,
    /// Acknowledge the first segments of a transfer at once.
    pub quick_ack: bool,
    /// Shortest delay of an acknowledgement in ms.
    pub delayed_ack_min_ms: u32,
    /// Longest delay of an acknowledgement in ms.
    pub delayed_ack_max_ms: u32,
    /// Thin out duplicate acknowledgements by up to 1 ms.
    pub compressed_ack: bool,

    /// Send in bursts of several segments, as a stack that builds large
    /// packets and segments them on the way out.
    pub gso: bool,

    /// Initial receive buffer in bytes (tcp_rmem, middle value).
    pub rcvbuf_bytes: u32,
    /// Largest receive buffer in bytes (tcp_rmem, last value).
    pub rcvbuf_max_bytes: u32,
    /// Let the receive buffer grow with the flow.
    pub rcvbuf_moderation: bool,
    /// Full segments that share one buffer while they wait to be read. One that
    /// has room for a second makes the window go twice as far.
    pub rx_segments_per_buffer: u32,
    /// The application is woken when so many bytes can be read (SO_RCVLOWAT).
    pub read_at_least_bytes: u32,
    /// A constant receive window in bytes instead of a buffer that grows.
    pub fixed_window_bytes: Option<u32>,
    /// Memory that a segment takes at the receiver beyond its payload, in
    /// bytes: it says how much window a buffer is worth.
    pub rx_overhead_bytes: u32,
}

impl Default for TcpConfig {
    fn default() -> Self {
        Self {
            cc: CongestionControl::Cubic,
            ecn: false,
            ect1: false,
            ecn_fallback: true,
            mss_bytes: None,
            timestamps: true,
            sack: true,
            dsack: true,
            nagle: true,
            initial_window_pkts: 10,
            initial_ssthresh_pkts: None,
            max_window_pkts: None,
            hystart: true,
            fast_convergence: true,
            tcp_friendliness: true,
            cubic_ack_ratio: false,
            slow_start_at_threshold: false,
            cwnd_validation: true,
            slow_start_after_idle: true,
            byte_counting: true,
            path_metrics: false,
            rack: true,
            tlp: true,
            prr: true,
            frto: true,
            undo: true,
            impatient: false,
            reordering_pkts: 3,
            max_reordering_pkts: 300,
            rto: RtoForm::Linux,
            min_rto_ms: 200,
            max_rto_ms: 120_000,
            initial_rto_ms: 1_000,
            syn_linear_timeouts: 4,
            timer_wheel: true,
            timer_tick_ms: 1,
            delayed_ack: true,
            quick_ack: true,
            delayed_ack_min_ms: 40,
            delayed_ack_max_ms: 200,
            compressed_ack: true,
            gso: true,
            rcvbuf_bytes: 131_072,
            rcvbuf_max_bytes: 6 << 20,
            rcvbuf_moderation: true,
            rx_segments_per_buffer: 1,
            read_at_least_bytes: 1,
            fixed_window_bytes: None,
            rx_overhead_bytes: 856,
        }
    }
}

impl TcpConfig {
    /// The TCP of simulations before 2005 or so: an initial window of two, no
    /// SACK, no timestamps, an acknowledgement per packet, loss by three
    /// duplicates, no timer below a second.
    pub fn classic(cc: CongestionControl) -> Self {
        Self {
            cc,
            timestamps: false,
            sack: false,
            dsack: false,
            initial_window_pkts: 2,
            hystart: false,
            byte_counting: false,
            rack: false,
            tlp: false,
            prr: false,
            frto: false,
            undo: false,
            rto: RtoForm::Rfc6298,
            min_rto_ms: 1_000,
            syn_linear_timeouts: 0,
            timer_wheel: false,
            timer_tick_ms: 500,
            delayed_ack: false,
            quick_ack: false,
            compressed_ack: false,
            gso: false,
            ..Self::default()
        }
    }

    /// What is wrong with the values, as a sentence; none: nothing.
    pub fn fault(&self) -> Option<&'static str> {
        let mss = self.payload_bytes(true);
        let faults = [
            (
                !(88..=65_000).contains(&mss),
                "mss_bytes must lie between 88 and 65000",
            ),
            (
                self.initial_window_pkts == 0 || self.initial_window_pkts > 10_000,
                "initial_window_pkts must lie between 1 and 10000",
            ),
            (
                self.reordering_pkts == 0,
                "reordering_pkts must be at least 1",
            ),
            (
                self.max_window_pkts.is_some_and(|window| window < 2),
                "max_window_pkts must be at least 2",
            ),
            (
                self.initial_ssthresh_pkts.is_some_and(|window| window < 2),
                "initial_ssthresh_pkts must be at least 2",
            ),
            (
                self.min_rto_ms == 0 || self.min_rto_ms > self.max_rto_ms,
                "min_rto_ms must lie between 1 and max_rto_ms",
            ),
            (
                self.initial_rto_ms == 0 || self.initial_rto_ms > self.max_rto_ms,
                "initial_rto_ms must lie between 1 and max_rto_ms",
            ),
            (
                self.max_rto_ms > 3_600_000,
                "max_rto_ms must be at most 3600000",
            ),
            (
                self.timer_tick_ms == 0 || self.timer_tick_ms > 10_000,
                "timer_tick_ms must lie between 1 and 10000",
            ),
            (
                self.delayed_ack_min_ms == 0
                    || self.delayed_ack_min_ms > self.delayed_ack_max_ms
                    || self.delayed_ack_max_ms > 10_000,
                "delayed_ack_min_ms must lie between 1 and delayed_ack_max_ms (at most 10000)",
            ),
            (
                self.rx_overhead_bytes > 1 << 16,
                "rx_overhead_bytes must be at most 65536",
            ),
            (
                !(1..=64).contains(&self.rx_segments_per_buffer),
                "rx_segments_per_buffer must lie between 1 and 64",
            ),
            (
                self.rcvbuf_bytes / 4 < mss + self.rx_overhead_bytes.min(1 << 16)
                    || self.rcvbuf_max_bytes < self.rcvbuf_bytes
                    || self.rcvbuf_max_bytes > 1 << 30,
                "rcvbuf_bytes must hold four segments and not exceed rcvbuf_max_bytes (1 GiB)",
            ),
            (
                self.fixed_window_bytes
                    .is_some_and(|window| window < mss || window > 1 << 30),
                "fixed_window_bytes must lie between mss_bytes and 1 GiB",
            ),
            (
                self.cc == CongestionControl::Dctcp && !self.ecn,
                "dctcp needs ecn",
            ),
            (
                self.ect1 && (self.cc != CongestionControl::Dctcp || !self.ecn),
                "ect1 needs dctcp and ecn",
            ),
        ];
        faults
            .iter()
            .find(|(wrong, _)| *wrong)
            .map(|(_, sentence)| *sentence)
    }

    /// Payload of a full segment, beside timestamps or without.
    pub fn payload_bytes(&self, timestamps: bool) -> u32 {
        const FULL: u32 = 1460;
        const TIMESTAMPS: u32 = 12;
        self.mss_bytes
            .unwrap_or(if timestamps { FULL - TIMESTAMPS } else { FULL })
    }

    pub(super) fn wheel(&self) -> Wheel {
        if self.timer_wheel {
            Wheel::Linux
        } else {
            Wheel::Tick(u64::from(self.timer_tick_ms.max(1)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_and_classic_form_are_valid() {
        assert_eq!(TcpConfig::default().fault(), None);
        assert_eq!(TcpConfig::classic(CongestionControl::Reno).fault(), None);
    }

    #[test]
    fn unknown_switch_is_refused() {
        assert!(serde_json::from_str::<TcpConfig>(r#"{"sak": true}"#).is_err());
    }

    #[test]
    fn absent_switches_keep_their_defaults() {
        let config: TcpConfig = serde_json::from_str(r#"{"cc": "reno", "sack": false}"#).unwrap();
        let expected = TcpConfig {
            cc: CongestionControl::Reno,
            sack: false,
            ..TcpConfig::default()
        };
        assert_eq!(config, expected);
    }

    #[test]
    fn dctcp_without_ecn_is_refused_with_a_sentence() {
        let config = TcpConfig {
            cc: CongestionControl::Dctcp,
            ..TcpConfig::default()
        };
        assert_eq!(config.fault(), Some("dctcp needs ecn"));
    }

    #[test]
    fn ect1_is_for_a_scalable_law_with_ecn() {
        let sentences = [
            (CongestionControl::Dctcp, true, None),
            (
                CongestionControl::Cubic,
                true,
                Some("ect1 needs dctcp and ecn"),
            ),
            (CongestionControl::Dctcp, false, Some("dctcp needs ecn")),
            (
                CongestionControl::Reno,
                false,
                Some("ect1 needs dctcp and ecn"),
            ),
        ];
        for (cc, ecn, sentence) in sentences {
            let config = TcpConfig {
                cc,
                ecn,
                ect1: true,
                ..TcpConfig::default()
            };
            assert_eq!(config.fault(), sentence, "{cc:?} {ecn}");
        }
    }
}
