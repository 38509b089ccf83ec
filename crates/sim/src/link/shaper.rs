// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! How packets leave a queue: at what pace, and how far ahead they are taken.
//! docs/inside/engine.md compares the three manners.

use super::opportunities::Opportunities;
use super::packet::PacketId;
use super::port::Port;
use super::shared::Shared;
use crate::base::rate::{Bucket, Rate};
use crate::base::ring::Ring;
use crate::base::time::Time;
use crate::scenario::{LinkSpec, ShaperKind};

/// A line: a packet is sent for as long as it takes.
///
/// When a packet begins to be sent, the time of its last bit is known, and on a wire that
/// does nothing but delay also when it comes out. So it is put on the wire then, and no
/// event is spent on the last bit: whoever looks at the link next catches up with it.
pub struct Line {
    sending: Option<PacketId>,
    last_bit: Time,
    /// Packets taken ahead, as by a driver.
    ring: Ring<PacketId>,
    ring_pkts: usize,
}

/// How packets leave the queue.
pub enum Shaper {
    /// No rate: they never enter it.
    None,
    /// An line.
    Line(Line),
    /// Each packet waits, outside the queue, for its tokens.
    Tbf {
        /// They come here.
        bucket: Bucket,
        /// The packet that waits.
        held: Option<PacketId>,
    },
    /// Each packet is paid for after it went.
    Htb(Bucket),
    /// Packets leave at the opportunities of a trace.
    Trace(Opportunities),
}

impl Shaper {
    /// An idle shaper; a bucket is full.
    pub fn new(spec: &LinkSpec, rate: &Rate) -> Self {
        let bucket = || Bucket::full(spec.burst_bytes, rate);
        if let Some(opportunities) = spec.opportunities() {
            return Self::Trace(Opportunities::new(opportunities));
        }
        match (spec.rate_bps, spec.shaper) {
            (None, _) => Self::None,
            (_, ShaperKind::Line) => Self::Line(Line {
                sending: None,
                last_bit: Time::MAX,
                ring: Ring::default(),
                ring_pkts: spec.sim.ring_pkts as usize,
            }),
            (_, ShaperKind::Tbf) => Self::Tbf {
                bucket: bucket(),
                held: None,
            },
            (_, ShaperKind::Htb) => Self::Htb(bucket()),
        }
    }

    /// Takes no packet now, whatever comes.
    #[inline]
    pub fn is_full(&self) -> bool {
        match self {
            Self::Line(line) => line.is_full(),
            Self::Trace(trace) => trace.waits,
            _ => false,
        }
    }

    /// Packets inside that are not on the propagation.
    pub fn held_pkts(&self, works_ahead: bool) -> usize {
        match self {
            Self::Line(line) => {
                let sending = line.sending.is_some() && !works_ahead;
                line.ring.len() + usize::from(sending)
            }
            Self::Tbf { held, .. } => usize::from(held.is_some()),
            Self::Trace(trace) => usize::from(trace.holds_packet()),
            Self::None | Self::Htb(_) => 0,
        }
    }

    /// Reckons tokens up to now, before the rate changes.
    pub fn refill(&mut self, now: Time, rate: &Rate) {
        if let Self::Tbf { bucket, .. } | Self::Htb(bucket) = self {
            bucket.fill(now, rate);
        }
    }

    /// When the packet that a line sends will have left; never: it sends none.
    #[inline]
    pub fn last_bit(&self) -> Time {
        match self {
            Self::Line(line) => line.last_bit,
            _ => Time::MAX,
        }
    }

    /// The event `service` of the port is due.
    pub fn on_service(&mut self, now: Time, port: &mut Port, shared: &mut Shared) {
        match self {
            Self::Line(line) => line.end(now, port, shared),
            Self::Trace(trace) => trace.waits = false,
            _ => {}
        }
        self.serve(now, port, shared);
    }

    /// Moves packets on as far as it may now.
    pub fn serve(&mut self, now: Time, port: &mut Port, shared: &mut Shared) {
        match self {
            Self::None => {}
            Self::Line(line) => line.serve(now, port, shared),
            Self::Tbf { bucket, held } => serve_tbf(bucket, held, now, port, shared),
            Self::Htb(bucket) => serve_htb(bucket, now, port, shared),
            Self::Trace(trace) => trace.serve(now, port, shared),
        }
    }
}

impl Line {
    /// Takes no packet now, whatever comes.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.sending.is_some() && self.ring.len() >= self.ring_pkts
    }

    /// When the packet that is sent will have left; never: none is sent.
    #[inline]
    pub fn last_bit(&self) -> Time {
        self.last_bit
    }

    /// The packet that is sent has left.
    #[inline(always)]
    pub fn end(&mut self, now: Time, port: &mut Port, shared: &mut Shared) {
        if let Some(id) = self.sending.take() {
            self.last_bit = Time::MAX;
            if port.works_ahead {
                port.note_sent(now, id, shared);
            } else {
                port.depart(now, now, id, shared);
            }
        }
    }

    /// Begins to send the next packet, if none is being sent, and fills the ring.
    #[inline(always)]
    pub fn serve(&mut self, now: Time, port: &mut Port, shared: &mut Shared) {
        if self.ring_pkts > 0 {
            self.serve_by_ring(now, port, shared);
        } else if self.sending.is_none()
            && let Some((id, len_bytes)) = port.take(now, shared)
        {
            self.send(now, id, len_bytes, port, shared);
        }
    }

    fn serve_by_ring(&mut self, now: Time, port: &mut Port, shared: &mut Shared) {
        if self.sending.is_none() {
            let next = match self.ring.pop_front() {
                Some(id) => Some((id, shared.packets.slots[id as usize].len_bytes)),
                None => port.take(now, shared),
            };
            let Some((id, len_bytes)) = next else { return };
            self.send(now, id, len_bytes, port, shared);
        }
        while self.ring.len() < self.ring_pkts {
            let Some((id, _)) = port.take(now, shared) else {
                return;
            };
            self.ring.push_back(id);
        }
    }

    #[inline(always)]
    fn send(
        &mut self,
        now: Time,
        id: PacketId,
        len_bytes: u32,
        port: &mut Port,
        shared: &mut Shared,
    ) {
        self.sending = Some(id);
        self.last_bit = now + port.rate.next_ns(len_bytes);
        if port.works_ahead {
            port.fly(self.last_bit, id);
        } else {
            shared.events.schedule_idle(port.service, self.last_bit);
        }
    }
}

fn serve_tbf(
    bucket: &mut Bucket,
    held: &mut Option<PacketId>,
    now: Time,
    port: &mut Port,
    shared: &mut Shared,
) {
    while let Some(id) = held
        .take()
        .or_else(|| port.take(now, shared).map(|(id, _)| id))
    {
        let need_ns = port.rate.ns_of(shared.packets.slots[id as usize].len_bytes) as i64;
        bucket.fill(now, &port.rate);
        if bucket.tokens_ns < need_ns {
            *held = Some(id);
            let wait_ns = (need_ns - bucket.tokens_ns) as u64;
            return shared.events.schedule(port.service, now + wait_ns);
        }
        bucket.tokens_ns -= need_ns;
        port.depart(now, now, id, shared);
    }
}

fn serve_htb(bucket: &mut Bucket, now: Time, port: &mut Port, shared: &mut Shared) {
    while port.queue.backlog_pkts() > 0 {
        bucket.fill(now, &port.rate);
        if bucket.tokens_ns < 0 {
            let wait_ns = bucket.tokens_ns.unsigned_abs();
            return shared.events.schedule(port.service, now + wait_ns);
        }
        let Some((id, len_bytes)) = port.take(now, shared) else {
            return;
        };
        let debt_ns = bucket.pay(len_bytes, &port.rate);
        port.depart(now, now + debt_ns, id, shared);
    }
}
