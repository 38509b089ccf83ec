// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! When acknowledgements are sent: at once at the beginning and when something
//! is amiss, for every second full segment otherwise, late when nothing more
//! comes, thinned out while a gap is open (RFC 1122 §4.2.3.2, RFC 5681 §4.2;
//! __tcp_ack_snd_check, tcp_send_delayed_ack, tcp_event_data_recv).

use crate::base::ecn::Ecn;
use crate::base::time::Time;
use crate::tcp::clock::us_to_jiffies;
use crate::tcp::config::TcpConfig;
use crate::tcp::connection::Connection;
use crate::tcp::outgoing::Out;
use crate::tcp::segment::{Flags, Segment};

/// Acknowledgements sent at once at the beginning of a transfer.
pub(in crate::tcp) const MAX_QUICK_ACKS: u32 = 16;
/// First guess of the peer's segment size (RFC 9293 §3.7.1), and the least
/// payload that is taken for a full segment.
const DEFAULT_MSS: u32 = 536;
const MIN_MSS: u32 = 88;
/// A duplicate acknowledgement is sent at once this many times for one gap.
const DUPLICATES_AT_ONCE: u32 = 3;
/// Then so many are thinned into one ...
const COMPRESSED_MAX: u32 = 44;
/// ... over 1 ms or a twentieth of the round trip, and the timer's slack.
const COMPRESSED_DELAY_NS: u64 = 1_000_000;
const COMPRESSED_SLACK_NS: u64 = 100_000;
/// Bound of the delay without a measured round trip, ms.
const MAX_ATO_JIFFIES: u64 = 500;

/// State of the acknowledgements.
#[derive(Clone, Debug)]
pub(in crate::tcp) struct AckTimer {
    /// Segments are unacknowledged; the timer runs; do not wait.
    pub scheduled: bool,
    pub timer: bool,
    pub now: bool,
    /// One or more segments ended a write of the peer.
    pushed: bool,
    pushed_twice: bool,
    /// Jiffy at which the timer is to fire.
    expires: u64,
    /// Acknowledgements to be sent at once.
    quick: u32,
    /// Data goes both ways in turn.
    pub pingpong: u8,
    /// Estimated gap between segments, jiffies; 0: no data yet.
    pub ato: u64,
    pub last_received: u64,
    /// Size of the peer's full segments, as far as known.
    pub mss: u32,
    last_small: u32,
    advertised_mss: u32,
    /// Duplicate acknowledgements held back, and those sent for this gap.
    compressed: u32,
    gap: u64,
    duplicates: u32,
    min_jiffies: u64,
    max_jiffies: u64,
    /// A jiffy less than the least timeout, so that none is provoked.
    rto_bound: u64,
    use_quick: bool,
    /// Acknowledgements may be delayed at all.
    delays: bool,
}

impl AckTimer {
    pub fn new(config: &TcpConfig) -> Self {
        Self {
            scheduled: false,
            timer: false,
            now: false,
            pushed: false,
            pushed_twice: false,
            expires: 0,
            quick: 0,
            pingpong: 0,
            ato: 0,
            last_received: 0,
            mss: DEFAULT_MSS,
            last_small: 0,
            advertised_mss: config.payload_bytes(config.timestamps),
            compressed: 0,
            gap: 0,
            duplicates: 0,
            min_jiffies: u64::from(config.delayed_ack_min_ms),
            max_jiffies: u64::from(config.delayed_ack_max_ms),
            rto_bound: u64::from(config.min_rto_ms.max(2)) - 1,
            use_quick: config.quick_ack,
            delays: config.delayed_ack,
        }
    }

    /// First guess of the peer's segment size (tcp_initialize_rcv_mss).
    pub fn guess_mss(&mut self, mss: u32, window: u32) {
        self.advertised_mss = mss;
        self.mss = mss.min(window / 2).clamp(MIN_MSS, DEFAULT_MSS);
    }

    #[inline]
    fn in_pingpong(&self) -> bool {
        self.pingpong > 0
    }

    fn more_quick(&mut self, most: u32, window: u32) {
        if !self.use_quick {
            return;
        }
        let quick = match window / (2 * self.mss) {
            0 => 2,
            quick => quick,
        };
        self.quick = self.quick.max(quick.min(most));
    }

    /// One more acknowledgement at once: the window is growing.
    #[inline]
    pub fn quick_once(&mut self) {
        if self.use_quick {
            self.quick |= 1;
        }
    }

    /// Follows the gaps between segments.
    #[inline(always)]
    fn follow(&mut self, now: u64, rto: u64, window: u32) {
        if self.ato == 0 {
            self.more_quick(MAX_QUICK_ACKS, window);
            self.ato = self.min_jiffies;
        } else {
            let gap = now.saturating_sub(self.last_received);
            if gap <= self.min_jiffies / 2 {
                self.ato = (self.ato >> 1) + self.min_jiffies / 2;
            } else if gap < self.ato {
                self.ato = ((self.ato >> 1) + gap).min(rto).min(self.max_jiffies);
            } else if gap > rto {
                // The sender has probably begun slow start again.
                self.more_quick(MAX_QUICK_ACKS, window);
            }
        }
        self.last_received = now;
    }

    /// An acknowledgement of all that arrived has left.
    #[inline]
    fn fire(&mut self) {
        if self.quick > 0 {
            let counts = u32::from(self.scheduled);
            if counts >= self.quick {
                self.quick = 0;
                self.ato = self.min_jiffies;
            } else {
                self.quick -= counts;
            }
        }
        self.scheduled = false;
        self.timer = false;
        self.now = false;
        self.pushed = false;
        self.pushed_twice = false;
    }
}

impl Connection {
    /// Acknowledge the next segments at once.
    pub(in crate::tcp) fn enter_quick_ack(&mut self, most: u32) {
        let window = self.rcv.wnd;
        self.rcv.ack.more_quick(most, window);
        self.rcv.ack.pingpong = 0;
        self.rcv.ack.ato = self.rcv.ack.min_jiffies;
    }

    /// In-order data has arrived (tcp_event_data_recv).
    #[inline(always)]
    pub(in crate::tcp) fn note_data_received(&mut self, segment: &Segment, ecn: Ecn) {
        self.rcv.ack.scheduled = true;
        self.measure_mss(segment);
        self.rcv
            .buffer
            .measure_by_window(self.rcv.nxt, self.rcv.wnd, self.clock);
        let window = self.rcv.wnd;
        self.rcv
            .ack
            .follow(self.clock.jiffies, self.snd.rto, window);
        self.note_codepoint(ecn);
        if segment.len >= 128 {
            self.grow_window(segment.len);
        }
    }

    /// Learns the peer's segment size (tcp_measure_rcv_mss).
    #[inline]
    pub(in crate::tcp) fn measure_mss(&mut self, segment: &Segment) {
        let ack = &mut self.rcv.ack;
        let (len, last_small) = (segment.len, ack.last_small);
        ack.last_small = 0;
        if len >= ack.mss {
            if len != ack.mss {
                self.rcv.buffer.learn_ratio(len);
            }
            ack.mss = len.min(ack.advertised_mss);
            ack.pushed |= segment.flags.has(Flags::PSH);
            return;
        }
        // A size seen twice is the peer's; a segment that ends a write is not
        // counted unless it is large.
        let ends_write = segment.flags.has(Flags::PSH) || segment.flags.has(Flags::FIN);
        if len >= DEFAULT_MSS || (len >= MIN_MSS && !ends_write) {
            ack.last_small = len;
            if len == last_small {
                ack.mss = len;
                return;
            }
        }
        ack.pushed_twice |= ack.pushed;
        ack.pushed = true;
    }

    /// Decides whether what has arrived is acknowledged now.
    #[inline(always)]
    pub(in crate::tcp) fn check_ack(&mut self) {
        let rcv = &self.rcv;
        let more_than_one =
            rcv.nxt - rcv.wup > u64::from(rcv.ack.mss) && !self.leaves_ack_to_reader();
        let quick = rcv.ack.quick > 0 && !rcv.ack.in_pingpong();
        if more_than_one || quick || rcv.ack.now || !rcv.ack.delays {
            self.send_ack();
        } else if !rcv.has_early() {
            self.delay_ack();
        } else {
            self.acknowledge_gap();
        }
    }

    /// The application will read at once, and the window does not open before it does: so the
    /// reader acknowledges, with the window that it leaves.
    #[inline]
    fn leaves_ack_to_reader(&self) -> bool {
        let rcv = &self.rcv;
        let unread = rcv.buffer.unread(rcv.nxt);
        unread >= u64::from(rcv.buffer.read_at_least)
            && rcv.buffer.window(rcv.held_bytes(), rcv.ack.mss) < rcv.wnd
    }

    /// Whether `check_ack` would leave the answer to a reader who wakes at once: then the
    /// timer, which it sets first, would be set for nothing.
    #[inline]
    pub(in crate::tcp) fn reader_answers(&self) -> bool {
        let (rcv, ack) = (&self.rcv, &self.rcv.ack);
        rcv.nxt - rcv.wup > u64::from(ack.mss)
            && (ack.quick == 0 || ack.in_pingpong())
            && !ack.now
            && ack.delays
            && (!ack.timer || ack.expires > self.clock.jiffies + (ack.ato >> 2))
            && self.leaves_ack_to_reader()
            && self.reader_wakes()
    }

    /// A gap is open: three duplicates at once, then fewer (RFC 5681 §4.2 asks
    /// for one for each segment; Linux thins them out).
    fn acknowledge_gap(&mut self) {
        let nxt = self.rcv.nxt;
        let rtt8_us = self.rcv.buffer.rtt8_us();
        let srtt8_us = self.snd.rtt.srtt8_us();
        let ack = &mut self.rcv.ack;
        if !self.rcv.sack_ok || !self.config.compressed_ack || ack.compressed >= COMPRESSED_MAX {
            self.send_ack();
            return;
        }
        if ack.gap != nxt {
            ack.gap = nxt;
            ack.duplicates = 0;
        }
        if ack.duplicates < DUPLICATES_AT_ONCE {
            ack.duplicates += 1;
            self.send_ack();
            return;
        }
        ack.compressed += 1;
        if self.timers.compressed_at == Time::MAX {
            let rtt8_us = if srtt8_us > 0 {
                rtt8_us.min(srtt8_us)
            } else {
                rtt8_us
            };
            // rtt8 is eight times the round trip: 1000/8/20 ns each.
            let delay_ns = (u64::from(rtt8_us) * 125 / 20).min(COMPRESSED_DELAY_NS);
            self.timers.compressed_at = Time(self.clock.ns + delay_ns + COMPRESSED_SLACK_NS);
        }
    }

    /// Sends duplicate acknowledgements that were held back, as one.
    pub(in crate::tcp) fn send_compressed_ack(&mut self) {
        if self.rcv.ack.compressed > 0 {
            self.rcv.ack.compressed = 0;
            self.timers.compressed_at = Time::MAX;
            self.send_ack();
        }
    }

    /// Starts or shortens the wait (tcp_send_delayed_ack).
    fn delay_ack(&mut self) {
        let ack = &self.rcv.ack;
        let now = self.clock.jiffies;
        let mut ato = ack.ato;
        if ato > ack.min_jiffies {
            let mut most = MAX_ATO_JIFFIES;
            if ack.in_pingpong() || ack.pushed {
                most = ack.max_jiffies;
            }
            let srtt8 = self.snd.rtt.srtt8_us();
            if srtt8 > 0 {
                let rtt = us_to_jiffies(u64::from(srtt8 >> 3)).max(ack.min_jiffies);
                most = most.min(rtt);
            }
            ato = ato.min(most);
        }
        ato = ato.min(ack.max_jiffies).min(ack.rto_bound);
        let mut expires = now + ato;
        if ack.timer {
            if ack.expires <= now + (ato >> 2) {
                self.send_ack();
                return;
            }
            expires = expires.min(ack.expires);
        }
        self.rcv.ack.scheduled = true;
        self.rcv.ack.timer = true;
        self.rcv.ack.expires = expires;
        self.timers.ack_at = self.timers.wheel.fires_at(now, expires);
    }

    /// The wait is over.
    pub(in crate::tcp) fn on_ack_timeout(&mut self) {
        let ack = &mut self.rcv.ack;
        if ack.compressed > 0 {
            self.send_compressed_ack();
            return;
        }
        ack.timer = false;
        if !ack.scheduled {
            return;
        }
        if ack.in_pingpong() {
            // Nothing went back: not a conversation after all.
            ack.pingpong = 0;
            ack.ato = ack.min_jiffies;
        } else {
            ack.ato = (ack.ato << 1).min(self.snd.rto).min(ack.max_jiffies);
        }
        self.send_ack();
    }

    /// Sends an acknowledgement now.
    #[inline(always)]
    pub(in crate::tcp) fn send_ack(&mut self) {
        self.send_ack_of(self.rcv.nxt);
    }

    /// Sends an acknowledgement of all below `ack`.
    #[inline(always)]
    pub(in crate::tcp) fn send_ack_of(&mut self, ack: u64) {
        self.note_ack_sent(ack);
        self.out.push(Out::Ack {
            ack,
            window: self.rcv.wnd,
            echo: self.ecn.echo(),
        });
    }

    /// Something that acknowledges all below `ack` is leaving, with a window.
    #[inline(always)]
    pub(in crate::tcp) fn note_ack_sent(&mut self, ack: u64) {
        self.select_window();
        if self.rcv.ack.compressed > 0 {
            self.rcv.ack.compressed = 0;
            self.timers.compressed_at = Time::MAX;
        }
        if ack == self.rcv.nxt {
            self.rcv.ack.fire();
            self.timers.ack_at = Time::MAX;
        }
    }

    #[inline]
    pub(in crate::tcp) fn take_read(&mut self) {
        self.rcv.buffer.on_read(self.rcv.nxt, self.clock);
        self.rcv.wnd_settled = false;
    }

    /// The application reads all there is (tcp_cleanup_rbuf): the end of a
    /// write is acknowledged when it has been read, and a window that has opened
    /// to twice what the peer knows of is told.
    #[inline(always)]
    pub(in crate::tcp) fn read(&mut self) {
        if !self.reader_wakes() {
            return;
        }
        self.take_read();
        let ack = &self.rcv.ack;
        let ends_write = ack.pushed_twice || (ack.pushed && !ack.in_pingpong());
        let two = self.rcv.nxt - self.rcv.wup > u64::from(ack.mss);
        let due = ack.scheduled && (two || (ends_write && !self.rcv.has_early()));
        if due || self.window_has_doubled() {
            self.send_ack();
        }
    }
}
