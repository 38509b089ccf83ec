// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! The receive buffer and the window that it is worth: the window opens with
//! the data that arrives, and the buffer grows to twice what is read in a round
//! trip (tcp_grow_window, tcp_rcv_space_adjust, __tcp_select_window).

use crate::tcp::clock::Clock;
use crate::tcp::config::TcpConfig;
use crate::tcp::connection::Connection;
use crate::tcp::rtt::LONGEST_US;

/// The window of a SYN is not scaled.
pub(in crate::tcp) const MAX_UNSCALED: u32 = 65_535;
/// Part of the buffer that payload takes, of 256; a half until it is measured.
const RATIO_SHIFT: u32 = 8;
const DEFAULT_RATIO: u32 = 128;
const MAX_WINDOW_SCALE: u32 = 14;

/// Buffer, window and the measurements that make them grow. Sizes in bytes.
#[derive(Clone, Debug)]
pub(in crate::tcp) struct Buffer {
    size: u32,
    max_size: u32,
    moderated: bool,
    fixed_window: Option<u32>,
    /// Memory that a segment takes beyond its payload.
    overhead: u32,
    /// The application is woken when so much can be read.
    pub read_at_least: u32,
    /// Segments that share a buffer.
    sharing: u32,
    ratio: u32,
    /// Window that the whole buffer is worth: see `value`.
    worth: u32,
    /// Bound of the window, and the window that is offered so far.
    clamp: u32,
    offered: u32,
    /// Windows are told in multiples of this, a power of two, up to that.
    unit: u32,
    largest_field: u32,
    mss: u32,
    /// Eight times the round trip as seen by the receiver, microseconds.
    rtt8_us: u32,
    /// Measurement by window: ends at this offset, began at this time.
    round_end: u64,
    round_us: Option<u64>,
    last_echo: u32,
    /// Read in the last round trip; beginning of this one.
    space: u32,
    space_seq: u64,
    space_us: u64,
    read_to: u64,
}

impl Buffer {
    pub fn new(config: &TcpConfig) -> Self {
        let size = config.rcvbuf_bytes;
        let mut buffer = Self {
            size,
            max_size: config.rcvbuf_max_bytes,
            moderated: config.rcvbuf_moderation,
            fixed_window: config.fixed_window_bytes,
            overhead: config.rx_overhead_bytes,
            read_at_least: config.read_at_least_bytes,
            sharing: config.rx_segments_per_buffer.max(1),
            ratio: DEFAULT_RATIO,
            worth: 0,
            clamp: u32::MAX,
            offered: 0,
            unit: 1,
            largest_field: MAX_UNSCALED,
            mss: config.payload_bytes(config.timestamps),
            rtt8_us: 0,
            round_end: 0,
            round_us: None,
            last_echo: 0,
            space: 0,
            space_seq: 0,
            space_us: 0,
            read_to: 0,
        };
        buffer.worth = buffer.value(size);
        buffer.choose_scale(config);
        buffer
    }

    /// The scale must carry the largest window that there may be
    /// (tcp_select_initial_window).
    fn choose_scale(&mut self, config: &TcpConfig) {
        let first = self.initial_window(config.payload_bytes(false));
        let largest = self.fixed_window.unwrap_or(self.max_size.max(first));
        let scale = largest.max(MAX_UNSCALED).ilog2().saturating_sub(15);
        self.unit = 1 << scale.min(MAX_WINDOW_SCALE);
        self.largest_field = MAX_UNSCALED * self.unit;
    }

    /// The largest window that a segment can tell of.
    #[inline]
    pub fn largest_field(&self) -> u32 {
        self.largest_field
    }

    /// Up to the next window that a segment can tell of.
    #[inline]
    pub fn round_up(&self, window: u32) -> u32 {
        (window + (self.unit - 1)) & !(self.unit - 1)
    }

    /// Window of the SYN: half the buffer, in whole segments.
    pub fn initial_window(&self, mss: u32) -> u32 {
        if let Some(window) = self.fixed_window {
            return window;
        }
        let space = self.worth;
        if space > mss {
            space - space % mss
        } else {
            space
        }
    }

    /// The handshake is complete (tcp_init_buffer_space).
    pub fn start(&mut self, mss: u32, window: u32, nxt: u64, clock: Clock) {
        // One segment is kept back until the true ratio is known.
        self.mss = mss;
        let space = self.worth.saturating_sub(mss).max(2 * mss);
        self.clamp = space.min(self.largest_field);
        self.offered = window.min(self.clamp);
        self.space = self.offered.min(window).min(10 * mss);
        self.space_seq = nxt;
        self.space_us = clock.us;
        self.read_to = nxt;
    }

    /// Window that so much buffer is worth.
    #[inline]
    fn value(&self, bytes: u32) -> u32 {
        ((u64::from(bytes) * u64::from(self.ratio)) >> RATIO_SHIFT) as u32
    }

    /// Window that is left when `held` bytes wait in the buffer.
    #[inline]
    fn free(&self, held: u64) -> u32 {
        // A segment alone in its buffer takes as much as its window is worth.
        if self.sharing == 1 {
            return u64::from(self.worth).saturating_sub(held) as u32;
        }
        let buffers = held.div_ceil(u64::from(self.mss * self.sharing));
        let taken = buffers * u64::from(self.mss + self.overhead);
        self.value(
            self.size
                .saturating_sub(taken.min(u64::from(u32::MAX)) as u32),
        )
    }

    /// Bytes that may wait in the buffer.
    #[inline]
    pub fn limit(&self) -> u64 {
        u64::from(self.fixed_window.unwrap_or(self.worth))
    }

    /// Eight times the round trip that the receiver measures.
    #[inline]
    pub fn rtt8_us(&self) -> u32 {
        self.rtt8_us
    }

    /// The first full segment shows what part of the memory is payload.
    pub fn learn_ratio(&mut self, len: u32) {
        let ratio = ((len << RATIO_SHIFT) / (len + self.overhead)).clamp(1, 255);
        if ratio != self.ratio {
            self.ratio = ratio;
            self.worth = self.value(self.size);
            self.clamp = self.worth;
            self.space = self.space.min(self.clamp);
        }
    }

    /// Round trip from the echo of our timestamp, one for each new echo.
    #[inline]
    pub fn measure_by_echo(&mut self, echo: u32, full: bool, clock: Clock) {
        if echo == 0 || echo == self.last_echo {
            return;
        }
        self.last_echo = echo;
        let ms = clock.stamp().wrapping_sub(echo);
        if full && ms > 0 && ms < 1 << 20 {
            self.take_rtt(ms * 1_000, false);
        }
    }

    /// Round trip from the time that a window of data takes: an upper bound.
    #[inline]
    pub fn measure_by_window(&mut self, nxt: u64, window: u32, clock: Clock) {
        if let Some(began) = self.round_us {
            if nxt < self.round_end {
                return;
            }
            let took = (clock.us - began).clamp(1, 1 << 28) as u32;
            self.take_rtt(took, true);
        }
        self.round_end = nxt + u64::from(window);
        self.round_us = Some(clock.us);
    }

    fn take_rtt(&mut self, rtt_us: u32, by_window: bool) {
        let rtt_us = rtt_us.min(LONGEST_US);
        let rtt8 = rtt_us << 3;
        if self.rtt8_us == 0 || rtt8 < self.rtt8_us {
            self.rtt8_us = rtt8;
        } else if !by_window {
            self.rtt8_us = self.rtt8_us - (self.rtt8_us >> 3) + rtt_us;
        }
    }

    /// Bytes that the application has not read yet.
    #[inline]
    pub fn unread(&self, nxt: u64) -> u64 {
        nxt - self.read_to
    }

    /// The application has read all up to `nxt` (tcp_rcv_space_adjust): once a
    /// round trip, the buffer grows to twice what was read in it, and more while
    /// that itself is growing. The measurement is taken when the first buffer has
    /// been read; what is still unread then is not counted.
    #[inline]
    pub fn on_read(&mut self, nxt: u64, clock: Clock) {
        let from = std::mem::replace(&mut self.read_to, nxt);
        if self.rtt8_us == 0 || clock.us - self.space_us < u64::from(self.rtt8_us >> 3) {
            return;
        }
        let first = nxt.min(from + u64::from(self.mss * self.sharing));
        let read = (first - self.space_seq).min(u64::from(u32::MAX >> 1));
        let copied = read.saturating_sub(nxt - first);
        let space = u64::from(self.space);
        if copied > space {
            if self.moderated && self.fixed_window.is_none() {
                self.enlarge(copied, space.max(1));
            }
            self.space = copied as u32;
        }
        self.space_seq = first;
        self.space_us = clock.us;
    }

    fn enlarge(&mut self, copied: u64, space: u64) {
        let mut window = 2 * copied + 16 * u64::from(self.mss);
        window += 2 * (window * (copied - space) / space);
        let size = (window << RATIO_SHIFT) / u64::from(self.ratio);
        let size = size.min(u64::from(self.max_size)) as u32;
        if size > self.size {
            self.size = size;
            self.worth = self.value(size);
            self.clamp = self.worth;
        }
    }

    /// Opens the window by two segments for a segment that arrived; true: it
    /// grew.
    #[inline]
    fn grow(&mut self, len: u32, held: u64) -> bool {
        let bound = self.clamp.min(self.free(held));
        if bound <= self.offered {
            return false;
        }
        let step = (2 * self.mss).max(2 * len);
        self.offered += step.min(bound - self.offered);
        true
    }

    /// Window to offer while `held` bytes wait.
    pub(in crate::tcp) fn window(&self, held: u64, segment: u32) -> u32 {
        if let Some(window) = self.fixed_window {
            return window;
        }
        let mut free = self.free(held);
        let full = self.clamp.min(self.worth);
        if free < full >> 1 {
            // Less than half is free: no tiny windows (RFC 9293 §3.8.6.2.2).
            free &= !(self.unit - 1);
            if free < self.worth >> 4 || free < segment {
                return 0;
            }
        }
        self.round_up(free.min(self.offered))
    }
}

impl Connection {
    /// A segment of `len` bytes arrived: the window may open.
    #[inline]
    pub(in crate::tcp) fn grow_window(&mut self, len: u32) {
        let held = self.rcv.held_bytes();
        if self.rcv.buffer.fixed_window.is_none() && self.rcv.buffer.grow(len, held) {
            self.rcv.ack.quick_once();
        }
    }

    /// Whether the application is woken: enough has come, or no more can
    /// (tcp_epollin_ready).
    #[inline]
    pub(in crate::tcp) fn reader_wakes(&self) -> bool {
        let rcv = &self.rcv;
        let unread = rcv.buffer.unread(rcv.nxt);
        unread >= u64::from(rcv.buffer.read_at_least.max(1))
            || (unread > 0
                && (rcv.fin_received
                    || rcv.open_window() <= u64::from(rcv.ack.mss)
                    || rcv.held_bytes() > rcv.buffer.limit() * 7 / 8))
    }

    /// Reading has made the window at least twice what the peer may still use.
    #[inline]
    pub(in crate::tcp) fn window_has_doubled(&self) -> bool {
        let open = self.rcv.open_window();
        if 2 * open > u64::from(self.rcv.buffer.clamp) || self.rcv.fin_received {
            return false;
        }
        let held = self.rcv.held_bytes();
        let window = u64::from(self.rcv.buffer.window(held, self.rcv.ack.mss));
        window > 0 && window >= 2 * open
    }

    /// Sets the window for a segment that is about to leave. Its right edge
    /// never goes back (tcp_select_window). An end that only sends has settled it for good.
    #[inline]
    pub(in crate::tcp) fn select_window(&mut self) {
        if (!self.rcv.wnd_settled || self.use_long_way) && self.is_open() {
            self.choose_window();
        }
    }

    fn choose_window(&mut self) {
        self.rcv.wnd_settled = true;
        let open = self.rcv.open_window() as u32;
        let held = self.rcv.held_bytes();
        let window = self.rcv.buffer.window(held, self.rcv.ack.mss);
        self.rcv.wnd = if window < open {
            self.rcv.buffer.round_up(open)
        } else {
            window
        };
        self.rcv.wup = self.rcv.nxt;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::time::Time;

    #[test]
    fn window_of_the_syn_is_that_of_linux() {
        let buffer = Buffer::new(&TcpConfig::default());
        assert_eq!(buffer.initial_window(1448), 65_160);
        assert_eq!(buffer.initial_window(1460), 64_240);
    }

    #[test]
    fn buffer_follows_what_is_read_in_a_round_trip() {
        let mut buffer = Buffer::new(&TcpConfig::default());
        let at = |ms: u64| Clock::at(Time(ms * 1_000_000));
        buffer.start(1448, 65_160, 1, at(0));
        buffer.learn_ratio(1448);
        buffer.take_rtt(50_000, false);
        buffer.on_read(30_000, at(10));
        assert_eq!(buffer.size, 131_072);
        buffer.on_read(198_553, at(40));
        buffer.on_read(200_001, at(60));
        assert!(buffer.size > 400_000, "{}", buffer.size);
        assert_eq!(buffer.space, 200_000);
    }

    #[test]
    fn what_is_unread_after_the_first_buffer_does_not_count() {
        let mut buffer = Buffer::new(&TcpConfig::default());
        let at = |ms: u64| Clock::at(Time(ms * 1_000_000));
        buffer.start(1448, 65_160, 1, at(0));
        buffer.take_rtt(50_000, false);
        buffer.on_read(1 + 20 * 1448, at(60));
        assert_eq!(buffer.size, 131_072);
        assert_eq!(buffer.space_seq, 1 + 1448);
    }

    #[test]
    fn window_opens_by_two_segments_for_each_that_arrives() {
        let mut buffer = Buffer::new(&TcpConfig::default());
        buffer.start(1448, 65_160, 1, Clock::default());
        buffer.learn_ratio(1448);
        assert!(buffer.grow(1448, 0));
        assert_eq!(buffer.offered, 65_536 - 1_448 + 2_896);
    }
}
