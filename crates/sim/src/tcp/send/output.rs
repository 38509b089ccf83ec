// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Sending new data: how much the windows allow, in bursts of how many
//! segments, and when a burst waits for the next acknowledgement
//! (tcp_write_xmit and its helpers).
//!
//! Linux builds packets of many segments even where no device can send them,
//! and segments them on the way out; the segments of one such packet leave
//! back to back. A burst here is one such packet.

use super::scoreboard::{FIN, PSH};
use crate::base::time::NS_PER_MS;
use crate::tcp::cc::window::{CaState, Usage};
use crate::tcp::connection::Connection;
use crate::tcp::outgoing::Burst;
use crate::tcp::segment::Flags;

/// Largest packet before segmentation: 64 KiB less room for headers.
pub(in crate::tcp) const GSO_MAX_BYTES: u64 = 65_536 - 192 - 1;
/// A burst is what pacing would send in a millisecond (2^-10 s) ...
const PACING_SHIFT: u32 = 10;
/// ... and more on short paths: the largest packet, halved for every 512 us of
/// round trip (tcp_tso_rtt_log).
const TSO_RTT_LOG: u32 = 9;
/// Largest send buffer (tcp_wmem): what a write beyond it holds is cut later.
const SEND_BUFFER_BYTES: u64 = 4 << 20;
/// A burst has at least this many segments.
const MIN_TSO_SEGS: u32 = 2;
/// A burst may wait only if less than this part of the window is free.
const TSO_WIN_DIVISOR: u64 = 3;

/// How far sending may go.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::tcp) enum Push {
    /// All that the windows allow.
    All,
    /// The same, short segments included (F-RTO).
    AtOnce,
    /// One segment, whatever the congestion window says (a loss probe).
    Probe,
}

impl Connection {
    /// Sends what may be sent, and arms the timer of a window probe when
    /// nothing may and nothing is out.
    #[inline]
    pub(in crate::tcp) fn push_pending(&mut self) {
        self.push_as(Push::All);
    }

    /// As `push_pending`, with or without Nagle's rule.
    #[inline(always)]
    pub(in crate::tcp) fn push_as(&mut self, push: Push) {
        if self.snd.has_unsent() && self.is_open() && !self.written {
            self.send_new(push);
            if self.snd.packets_out() == 0 && self.snd.has_unsent() {
                self.arm_window_probe();
            }
        }
    }

    /// Returns whether anything was sent.
    pub(in crate::tcp) fn send_new(&mut self, push: Push) -> bool {
        let max_segs = self.burst_segs();
        let mut sent = 0;
        let mut limited = false;
        while self.snd.has_unsent() {
            let mut quota = self.window_quota();
            if quota == 0 {
                // As many are in flight as the window allows.
                limited = true;
                if push != Push::Probe {
                    break;
                }
                quota = 1;
            }
            let quota = quota.min(max_segs);
            let Some(len) = self.next_burst(quota, max_segs, push, &mut limited) else {
                break;
            };
            sent += self.transmit_new(len);
            if push == Push::Probe {
                break;
            }
        }
        limited = limited || self.snd.in_flight() >= self.snd.window.cwnd;
        if sent > 0 || limited {
            self.validate_window(limited);
        }
        if sent > 0 {
            if self.snd.window.in_reduction() {
                self.snd.prr_out += sent;
            }
            if push != Push::Probe && self.schedule_probe(false) {
                self.timers.due = false;
            }
        }
        sent > 0
    }

    /// Segments per burst.
    #[inline]
    fn burst_segs(&self) -> u32 {
        if !self.snd.gso {
            return 1;
        }
        let mut bytes = self.snd.pacing_rate >> PACING_SHIFT;
        let halvings = self.snd.rtt.min_us() >> TSO_RTT_LOG;
        if halvings < u32::BITS {
            bytes += GSO_MAX_BYTES >> halvings;
        }
        let bytes = bytes.min(GSO_MAX_BYTES) as u32;
        (bytes / self.snd.mss).max(MIN_TSO_SEGS)
    }

    /// Packets that the congestion window allows, at most half of it at a time.
    #[inline]
    fn window_quota(&self) -> u32 {
        let cwnd = self.snd.window.cwnd;
        let free = cwnd.saturating_sub(self.snd.in_flight());
        free.min((cwnd >> 1).max(1))
    }

    /// Length of the next burst in bytes, FIN not counted; none: wait.
    #[inline]
    fn next_burst(
        &mut self,
        quota: u32,
        max_segs: u32,
        push: Push,
        limited: &mut bool,
    ) -> Option<u64> {
        let mss = u64::from(self.snd.mss);
        let data = self.snd.unsent_data();
        let queued = self.assemble(u64::from(quota) * mss, data);
        let is_last = queued == data;
        let room = self.snd.wnd_end().saturating_sub(self.snd.nxt);
        if queued.min(mss).max(u64::from(queued == 0)) > room {
            return None;
        }
        // Neither a probe nor new data after a timeout waits for an acknowledgement.
        let nagle = push == Push::All;
        if queued <= mss {
            let has_fin = is_last && self.snd.fin_queued;
            if nagle && is_last && !has_fin && self.nagle_holds(queued < mss) {
                return None;
            }
            return Some(queued);
        }
        if push != Push::Probe && self.should_wait(queued, is_last, max_segs, limited) {
            return None;
        }
        let most = u64::from(quota) * mss;
        if most <= room && !is_last {
            return Some(most.min(queued));
        }
        let needed = queued.min(room);
        if most <= needed {
            return Some(most);
        }
        // A short rest follows unless Nagle holds it back.
        let rest = needed % mss;
        if nagle && rest != 0 && !(is_last && self.snd.fin_queued) && self.nagle_holds(true) {
            return Some(needed - rest);
        }
        Some(needed)
    }

    /// The write queue is cut into packets; the one at the head takes from the
    /// next when it falls short of `wanted` bytes (tcp_grow_skb). Returns its
    /// length.
    #[inline]
    fn assemble(&mut self, wanted: u64, data: u64) -> u64 {
        if !self.snd.gso {
            return data.min(u64::from(self.snd.mss));
        }
        if self.snd.chunk_end <= self.snd.nxt {
            self.begin_chunk(data);
        }
        let snd = &mut self.snd;
        snd.chunk_end = snd.chunk_end.max(snd.nxt + wanted);
        snd.chunk_end.min(snd.nxt + data) - snd.nxt
    }

    /// The next packet of the write queue. Its size was set when the data was
    /// written, from the window known then; what was too much for a send buffer
    /// was written later.
    fn begin_chunk(&mut self, data: u64) {
        if data > SEND_BUFFER_BYTES {
            self.snd.chunk_len = self.chunk_bytes();
        }
        let snd = &mut self.snd;
        let behind = snd.nxt - snd.chunk_base;
        let whole = behind / snd.chunk_len + 1;
        snd.chunk_end = snd.chunk_base + whole * snd.chunk_len;
    }

    /// Size of the packets that a write is cut into: the largest, but not more
    /// than half the window (tcp_xmit_size_goal).
    fn chunk_bytes(&self) -> u64 {
        let mss = u64::from(self.snd.mss);
        let most = GSO_MAX_BYTES.min((self.snd.max_wnd >> 1).max(mss));
        (most / mss).max(1) * mss
    }

    /// The application has written: what fits is sent while it writes, and the
    /// packets that wait are cut from there on.
    pub(in crate::tcp) fn push_written(&mut self) {
        self.check_idle();
        let fresh = std::mem::take(&mut self.snd.fresh_write);
        if fresh {
            self.snd.chunk_len = self.chunk_bytes();
            self.snd.chunk_end = self.snd.write_end;
        }
        self.push_pending();
        if fresh {
            self.snd.chunk_base = self.snd.nxt;
            self.snd.chunk_end = self.snd.nxt;
        }
    }

    /// Nagle's rule as Minshall amended it: a short segment waits while an
    /// earlier short one is unacknowledged.
    fn nagle_holds(&self, short: bool) -> bool {
        self.config.nagle && short && self.snd.small_end > self.snd.una
    }

    /// Whether a burst that is smaller than it could be should wait for the
    /// acknowledgement that is about to come (tcp_tso_should_defer).
    fn should_wait(&self, queued: u64, is_last: bool, max_segs: u32, limited: &mut bool) -> bool {
        let snd = &self.snd;
        if snd.window.state >= CaState::Recovery || self.clock.ns > snd.last_send_ns + NS_PER_MS {
            return false;
        }
        let mss = u64::from(snd.mss);
        let send_room = snd.wnd_end().saturating_sub(snd.nxt);
        let free = u64::from(snd.window.cwnd.saturating_sub(snd.in_flight())) * mss;
        let limit = send_room.min(free);
        if limit >= u64::from(max_segs) * mss || (!is_last && limit >= queued) {
            return false;
        }
        let window = snd.wnd.min(u64::from(snd.window.cwnd) * mss);
        if limit >= window / TSO_WIN_DIVISOR {
            return false;
        }
        let Some(head) = snd.board.first() else {
            return false;
        };
        // The acknowledgement of the oldest packet is expected one round trip
        // after it was sent; waiting pays only if that is near.
        let srtt_ns = u64::from(snd.rtt.srtt8_us()) * 125;
        let expected = head.sent_us * 1_000 + srtt_ns;
        if expected > self.clock.ns + (srtt_ns >> 1).min(NS_PER_MS) {
            return false;
        }
        if free < send_room {
            if free <= queued {
                *limited = true;
                return true;
            }
        } else if send_room <= queued {
            return true;
        }
        !(is_last && snd.fin_queued)
    }

    /// Sends `len` bytes of new data, and the FIN if it is next. Returns the
    /// number of segments.
    fn transmit_new(&mut self, len: u64) -> u32 {
        let snd = &mut self.snd;
        let (start, data_end) = (snd.nxt, snd.nxt + len);
        let fin = snd.fin_queued && data_end == snd.write_end;
        let was_idle = snd.in_flight() == 0;
        let were_out = snd.packets_out();
        let mss = u64::from(snd.mss);
        let ends = len > mss || data_end == snd.write_end;
        let marks = if fin { FIN } else { 0 } | if ends { PSH } else { 0 };
        let (now_us, delivered) = (self.clock.us, snd.delivered);
        let (mut seq, mut segs) = (start, 1);
        let rest = loop {
            let rest = data_end - seq;
            let last = rest <= mss;
            let (seq_len, marks) = if last {
                (rest as u32 + u32::from(fin), marks)
            } else {
                (mss as u32, 0)
            };
            snd.board.push(seq, seq_len, now_us, delivered, marks);
            if last {
                break rest as u32;
            }
            seq += mss;
            segs += 1;
        };
        let whole = rest == snd.mss;
        if !whole && rest > 0 {
            snd.small_end = data_end;
        }
        snd.fin_sent |= fin;
        snd.nxt = data_end + u64::from(fin);
        if was_idle {
            let idle = self.clock.jiffies.saturating_sub(snd.last_send_jiffy);
            let facts = self.facts();
            self.cc.on_send_start(idle, facts);
        }
        self.send_data(Burst {
            seq: start,
            end: data_end,
            first: Flags::default(),
            last: Flags::when(fin, Flags::FIN).with(Flags::when(ends, Flags::PSH)),
            new_data: true,
            whole,
        });
        // A FIN alone is no data.
        self.counts.data_pkts_sent += if len > 0 { u64::from(segs) } else { 0 };
        // Where a probe is due it replaces the timeout when all is sent.
        if (were_out == 0 || self.timers.probe_is_armed()) && !self.timers.due {
            self.rearm_rto();
        }
        segs
    }

    /// Hands a run of segments to the wire; everything that travels with data
    /// (acknowledgement, window, CWR) is settled here.
    #[inline(always)]
    pub(in crate::tcp) fn send_data(&mut self, mut run: Burst) {
        if run.new_data && self.ecn.ok && self.ecn.queue_cwr {
            self.ecn.queue_cwr = false;
            run.first = Flags::CWR;
        }
        self.out.push_burst(run);
        self.note_ack_sent(self.rcv.nxt);
        self.snd.last_send_jiffy = self.clock.jiffies;
        self.snd.last_send_ns = self.clock.ns;
        // Data in answer to data: an acknowledgement can ride on it.
        if self.rcv.heard_within_ato(self.clock.jiffies) {
            self.rcv.ack.pingpong = self.rcv.ack.pingpong.saturating_add(1);
        }
    }

    #[inline]
    fn validate_window(&mut self, limited: bool) {
        let snd = &mut self.snd;
        let usage = Usage {
            una: snd.una,
            nxt: snd.nxt,
            packets_out: snd.packets_out(),
            jiffy: self.clock.jiffies,
            rto_jiffies: snd.rto,
        };
        let unused = snd.window.note_usage(limited, usage);
        if unused && self.config.slow_start_after_idle {
            snd.window
                .shrink_to_use(self.config.initial_window_pkts, self.clock.jiffies);
        }
    }

    /// Slow start again after an idle time longer than the timeout.
    pub(in crate::tcp) fn check_idle(&mut self) {
        let snd = &mut self.snd;
        if !self.config.slow_start_after_idle || snd.packets_out() > 0 {
            return;
        }
        let idle = self.clock.jiffies.saturating_sub(snd.last_send_jiffy);
        if idle > snd.rto {
            let initial = self.config.initial_window_pkts;
            snd.window
                .restart(idle, snd.rto, initial, self.clock.jiffies);
        }
    }
}
