// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! What the sending half remembers. How it acts on it is in the files `ack`,
//! `sacktag`, `recovery`, `rack`, `tlp`, `undo`, `prr`, `retransmit` and
//! `output`.

use super::scoreboard::{EVER_RETRANS, NONE, Scoreboard};
use crate::tcp::cc::window::Window;
use crate::tcp::config::TcpConfig;
use crate::tcp::rtt::Rtt;

/// Offsets an interval `[start, end)`.
pub(in crate::tcp) type Range = (u64, u64);

/// The packet that RACK reckons from and its reordering window (RFC 8985).
#[derive(Clone, Debug)]
pub(in crate::tcp) struct Rack {
    /// Transmission time and end of the packet sent last of all delivered.
    pub sent_us: u64,
    pub end_seq: u64,
    /// Its round trip.
    pub rtt_us: u32,
    /// A packet was delivered since losses were last looked for.
    pub advanced: bool,
    /// A D-SACK came in this round trip.
    pub dsack_seen: bool,
    /// Reordering window in quarters of the least round trip, and recoveries
    /// for which it is kept.
    pub steps: u32,
    pub persist: u8,
    /// Packets delivered when the window was last widened.
    pub last_delivered: u32,
}

/// A tail loss probe in flight (RFC 8985 §7).
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct Probe {
    /// End of what was out when it was sent.
    pub high_seq: u64,
    /// It repeated a segment, rather than sending a new one.
    pub retransmitted: bool,
}

/// What is needed to take a reduction back.
#[derive(Clone, Debug, Default)]
pub(in crate::tcp) struct Undo {
    /// First unacknowledged offset when the reduction began; none: nothing to
    /// take back.
    pub marker: Option<u64>,
    /// Retransmissions not yet shown to be needless; none: there were none.
    pub retrans: Option<u32>,
    /// Timestamp of the first retransmission of the episode; 0: none.
    pub stamp: u32,
}

/// Sending half of a connection; laid out as written here. What an acknowledgement reads that
/// repairs nothing begins at `rack`.
#[derive(Debug)]
#[repr(C)]
pub(in crate::tcp) struct Sender {
    /// Blocks of the last acknowledgement, by offset; (0, 0): none.
    pub sack_cache: [Range; 4],
    pub undo: Undo,
    /// End of the highest segment that was selectively acknowledged.
    pub sacked_end: u64,
    /// End of what was out when the state was entered.
    pub high_seq: u64,
    /// End of the last segment that was not full (Minshall's rule).
    pub small_end: u64,
    pub total_retrans: u32,
    pub dsack_dups: u32,
    pub total_timeouts: u32,
    /// Packets delivered and sent since the reduction began (RFC 6937).
    pub prr_delivered: u32,
    pub prr_out: u32,
    /// Reordering in packets, and how often it was seen.
    pub reordering: u32,
    pub reordering_seen: u32,
    /// Partial acknowledgements of this recovery.
    pub partial_acks: u32,
    /// Running count, as `delivered`.
    pub lost: u32,
    /// With `lost_hint`: the number of packets acknowledged before.
    pub lost_hint_sacked: u32,
    /// A timeout may prove spurious (RFC 5682).
    pub frto: bool,
    /// All that was written before has been sent.
    pub fresh_write: bool,

    pub rack: Rack,
    pub rtt: Rtt,
    pub probe: Option<Probe>,
    /// Everything that has been sent more than once lies below.
    pub retransmitted_end: u64,
    /// Bytes per second that pacing would use, as of the last acknowledgement.
    pub pacing_rate: u64,
    /// Jiffy and nanosecond of the last transmission of data.
    pub last_send_jiffy: u64,
    pub last_send_ns: u64,
    /// The write queue: packets of `chunk_len` bytes from `chunk_base` on, and
    /// the end of the one at its head.
    pub chunk_base: u64,
    pub chunk_len: u64,
    pub chunk_end: u64,
    pub max_wnd: u64,
    pub window: Window,
    pub board: Scoreboard,
    /// Where to look for the next retransmission, and (without RACK) up to
    /// where losses are marked.
    pub retransmit_hint: u32,
    pub lost_hint: u32,
    pub sacked_out: u32,
    pub lost_out: u32,
    pub retrans_out: u32,
    /// Running counts; differences are taken, so they may wrap.
    pub delivered: u32,
    pub delivered_ce: u32,
    pub backoff: u32,
    /// Timeouts in a row.
    pub timeouts_in_row: u32,
    pub mss: u32,

    /// First offset not acknowledged, next to be sent, end of written data. Here begins what
    /// data that arrives reads too.
    pub una: u64,
    pub nxt: u64,
    pub write_end: u64,
    /// Window offered by the peer (`max_wnd`: the greatest ever), and the offset of the
    /// segment that last set it.
    pub wnd: u64,
    pub wl1: u64,
    /// Timeout in jiffies, back-off included.
    pub rto: u64,
    /// A FIN follows the data; it was sent.
    pub fin_queued: bool,
    pub fin_sent: bool,
    pub sack_ok: bool,
    /// Switches of the configuration: see there.
    pub gso: bool,
    pub tlp: bool,
}

impl Sender {
    pub fn new(config: &TcpConfig, board: Scoreboard) -> Self {
        Self {
            una: 0,
            nxt: 0,
            write_end: 1,
            fin_queued: false,
            fin_sent: false,
            wnd: 0,
            max_wnd: 0,
            wl1: 0,
            small_end: 0,
            chunk_base: 1,
            chunk_len: 1,
            chunk_end: 1,
            fresh_write: false,
            mss: config.payload_bytes(config.timestamps),
            sack_ok: false,
            gso: config.gso,
            tlp: config.tlp,
            board,
            sacked_out: 0,
            lost_out: 0,
            retrans_out: 0,
            sacked_end: 0,
            sack_cache: [(0, 0); 4],
            retransmit_hint: NONE,
            lost_hint: NONE,
            lost_hint_sacked: 0,
            window: Window::new(config),
            rtt: Rtt::new(config),
            rack: Rack {
                sent_us: 0,
                end_seq: 0,
                rtt_us: 0,
                advanced: false,
                dsack_seen: false,
                steps: 1,
                persist: 0,
                last_delivered: 0,
            },
            undo: Undo::default(),
            probe: None,
            rto: u64::from(config.initial_rto_ms),
            backoff: 0,
            timeouts_in_row: 0,
            frto: false,
            high_seq: 0,
            prr_delivered: 0,
            prr_out: 0,
            reordering: config.reordering_pkts,
            reordering_seen: 0,
            retransmitted_end: 0,
            partial_acks: 0,
            delivered: 0,
            delivered_ce: 0,
            lost: 0,
            total_retrans: 0,
            dsack_dups: 0,
            total_timeouts: 0,
            pacing_rate: u64::MAX,
            last_send_jiffy: 0,
            last_send_ns: 0,
        }
    }

    #[inline]
    pub fn packets_out(&self) -> u32 {
        self.board.len()
    }

    /// Packets believed to be in the network.
    #[inline]
    pub fn in_flight(&self) -> u32 {
        (self.packets_out() + self.retrans_out).saturating_sub(self.sacked_out + self.lost_out)
    }

    /// Packets that are out but no longer in the network.
    #[inline]
    pub fn left_out(&self) -> u32 {
        self.sacked_out + self.lost_out
    }

    /// Everything below has been acknowledged in some way or is a hole.
    #[inline]
    pub fn forward_ack(&self) -> u64 {
        if self.sacked_out == 0 {
            self.una
        } else {
            self.sacked_end.max(self.una)
        }
    }

    /// End of the peer's window.
    #[inline]
    pub fn wnd_end(&self) -> u64 {
        self.una + self.wnd
    }

    /// Sequence space still to be sent for the first time, FIN included.
    #[inline]
    pub fn unsent(&self) -> u64 {
        (self.write_end - self.nxt.min(self.write_end))
            + u64::from(self.fin_queued && !self.fin_sent)
    }

    /// Whether there is any.
    #[inline]
    pub fn has_unsent(&self) -> bool {
        self.write_end > self.nxt || (self.fin_queued && !self.fin_sent)
    }

    /// Payload still to be sent for the first time.
    #[inline]
    pub fn unsent_data(&self) -> u64 {
        self.write_end - self.nxt.min(self.write_end)
    }

    /// Whether anything that is out has been retransmitted.
    #[inline]
    pub fn any_retrans_done(&self) -> bool {
        self.retrans_out > 0
            || self
                .board
                .first()
                .is_some_and(|entry| entry.has(EVER_RETRANS))
    }

    /// Follows the rate that Linux's pacing would use: twice the window per
    /// round trip in slow start, 1.2 times behind it (tcp_update_pacing_rate).
    /// Nothing is paced here; the rate sizes bursts and HyStart's trains.
    #[inline]
    pub fn update_pacing_rate(&mut self) {
        let window = &self.window;
        let percent = if window.cwnd < window.ssthresh / 2 {
            200
        } else {
            120
        };
        let srtt8 = u64::from(self.rtt.srtt8_us());
        // mss < 2^16, the constant < 2^17, percent < 2^8 and a window below
        // 2^23 packets stay below 2^64.
        let packets = u64::from(window.cwnd.max(self.packets_out()).min(1 << 22));
        let rate = u64::from(self.mss) * 80_000 * percent * packets;
        self.pacing_rate = rate / srtt8.max(1);
    }

    /// Whether a timestamp echo shows that a segment sent at `stamp` was not
    /// the one acknowledged.
    #[inline]
    pub fn echo_is_before(echo: u32, stamp: u32) -> bool {
        echo != 0 && (echo.wrapping_sub(stamp) as i32) < 0
    }
}
