// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! How packets leave a queue: at what pace, and how far ahead they are taken.
//! docs/inside/engine.md compares the three manners.

use super::gate::Gate;
use super::granted::Granted;
use super::opportunities::Opportunities;
use super::packet::PacketId;
use super::shared::Shared;
use super::stages::ring::ByteLimit;
use super::tree::Tree;
use super::wire::Wire;
use crate::base::rate::{Bucket, Rate};
use crate::base::ring::Ring;
use crate::base::time::Time;
use crate::scenario::{LinkSpec, ShaperKind};

/// From where a line takes its packets.
pub trait PacketSource {
    /// Asks for the next packet; gives its length too.
    fn take(&mut self, now: Time, shared: &mut Shared) -> Option<(PacketId, u32)>;
    /// The last bit of a packet that was taken leaves at that time.
    fn note_sent(&mut self, last_bit: Time, id: PacketId, shared: &mut Shared);
}

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
    /// Bytes in the ring and on the line, where they are bounded.
    bytes: Option<ByteLimit>,
}

/// How packets leave the queue.
pub enum Shaper {
    /// No rate: they never enter it.
    None,
    /// A line.
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
    /// Packets leave when a medium grants a turn.
    Granted(Granted),
    /// Classes share the rate. The link's own queue holds nothing, those of the classes do.
    Tree(Box<Tree>),
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
            (_, ShaperKind::Line) => Self::Line(Line::new(spec)),
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
            Self::Tree(tree) => tree.is_full(),
            Self::Granted(_) => true,
            _ => false,
        }
    }

    /// Packets inside that are not on the propagation.
    pub fn held_pkts(&self, works_ahead: bool) -> usize {
        match self {
            Self::Line(line) => line.held_pkts(works_ahead),
            Self::Tbf { held, .. } => usize::from(held.is_some()),
            Self::Trace(trace) => usize::from(trace.holds_packet()),
            Self::Granted(granted) => usize::from(granted.holds_packet()),
            Self::Tree(tree) => tree.held_pkts(),
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
    pub fn on_service(&mut self, now: Time, gate: &mut Gate, wire: &mut Wire, shared: &mut Shared) {
        match self {
            Self::Line(line) => line.end(now, gate, wire, shared),
            Self::Trace(trace) => trace.waits = false,
            Self::Granted(granted) => return granted.on_service(now, gate, wire, shared),
            Self::Tree(tree) => tree.end(now, wire, shared),
            _ => {}
        }
        self.serve(now, gate, wire, shared);
    }

    /// Moves packets on as far as it may now.
    pub fn serve(&mut self, now: Time, gate: &mut Gate, wire: &mut Wire, shared: &mut Shared) {
        match self {
            Self::None | Self::Granted(_) => {}
            Self::Line(line) => line.serve(now, gate, wire, shared),
            Self::Tbf { bucket, held } => serve_tbf(bucket, held, now, gate, wire, shared),
            Self::Htb(bucket) => serve_htb(bucket, now, gate, wire, shared),
            Self::Trace(trace) => trace.serve(now, gate, wire, shared),
            Self::Tree(tree) => tree.serve(now, wire, shared),
        }
    }
}

impl Line {
    /// An idle line, with the ring of this link.
    pub fn new(spec: &LinkSpec) -> Self {
        Self {
            sending: None,
            last_bit: Time::MAX,
            ring: Ring::default(),
            ring_pkts: spec.sim.ring_pkts as usize,
            bytes: None,
        }
    }

    /// Bounds the bytes in the ring and on the line. Without a ring these are those of one packet,
    /// which any limit lets in.
    pub fn with_limit(self, bytes: Option<ByteLimit>) -> Self {
        let bytes = bytes.filter(|_| self.ring_pkts > 0);
        Self { bytes, ..self }
    }

    /// Packets in the ring.
    pub fn ring_pkts(&self) -> usize {
        self.ring.len()
    }

    /// Packets inside that are not on the wire.
    pub fn held_pkts(&self, works_ahead: bool) -> usize {
        let sending = self.sending.is_some() && !works_ahead;
        self.ring.len() + usize::from(sending)
    }

    /// Takes no packet now, whatever comes.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.sending.is_some() && !self.has_room()
    }

    /// Whether the ring takes one more packet.
    #[inline]
    fn has_room(&self) -> bool {
        self.ring.len() < self.ring_pkts && self.bytes.as_ref().is_none_or(ByteLimit::has_room)
    }

    /// When the packet that is sent will have left; never: none is sent.
    #[inline]
    pub fn last_bit(&self) -> Time {
        self.last_bit
    }

    /// The packet that is sent has left.
    #[inline(always)]
    pub fn end(
        &mut self,
        now: Time,
        source: &mut impl PacketSource,
        wire: &mut Wire,
        shared: &mut Shared,
    ) {
        if let Some(id) = self.sending.take() {
            self.last_bit = Time::MAX;
            if let Some(bytes) = &mut self.bytes {
                bytes.complete(now, shared.packets.slots[id as usize].len_bytes);
            }
            source.note_sent(now, id, shared);
            if !wire.works_ahead {
                wire.launch(now, id, shared);
            }
        }
    }

    /// Begins to send the next packet, if none is being sent, and fills the ring.
    #[inline(always)]
    pub fn serve(
        &mut self,
        now: Time,
        source: &mut impl PacketSource,
        wire: &mut Wire,
        shared: &mut Shared,
    ) {
        if self.ring_pkts > 0 {
            self.serve_by_ring(now, source, wire, shared);
        } else if self.sending.is_none()
            && let Some((id, len_bytes)) = source.take(now, shared)
        {
            self.send(now, id, len_bytes, wire, shared);
        }
    }

    fn serve_by_ring(
        &mut self,
        now: Time,
        source: &mut impl PacketSource,
        wire: &mut Wire,
        shared: &mut Shared,
    ) {
        if self.sending.is_none() {
            let next = match self.ring.pop_front() {
                Some(id) => Some((id, shared.packets.slots[id as usize].len_bytes)),
                None => self.pull(now, source, shared),
            };
            let Some((id, len_bytes)) = next else { return };
            self.send(now, id, len_bytes, wire, shared);
        }
        while self.has_room() {
            let Some((id, _)) = self.pull(now, source, shared) else {
                return;
            };
            self.ring.push_back(id);
        }
    }

    fn pull(
        &mut self,
        now: Time,
        source: &mut impl PacketSource,
        shared: &mut Shared,
    ) -> Option<(PacketId, u32)> {
        let (id, len_bytes) = source.take(now, shared)?;
        if let Some(bytes) = &mut self.bytes {
            bytes.queue(len_bytes);
        }
        Some((id, len_bytes))
    }

    #[inline(always)]
    fn send(
        &mut self,
        now: Time,
        id: PacketId,
        len_bytes: u32,
        wire: &mut Wire,
        shared: &mut Shared,
    ) {
        self.sending = Some(id);
        self.last_bit = now + wire.rate.next_ns(len_bytes);
        if wire.works_ahead {
            wire.fly(self.last_bit, id);
        } else {
            shared.events.schedule_idle(wire.service, self.last_bit);
        }
    }
}

fn serve_tbf(
    bucket: &mut Bucket,
    held: &mut Option<PacketId>,
    now: Time,
    gate: &mut Gate,
    wire: &mut Wire,
    shared: &mut Shared,
) {
    while let Some(id) = held
        .take()
        .or_else(|| gate.take(now, shared).map(|(id, _)| id))
    {
        let need_ns = wire.rate.ns_of(shared.packets.slots[id as usize].len_bytes) as i64;
        bucket.fill(now, &wire.rate);
        if bucket.tokens_ns < need_ns {
            *held = Some(id);
            let wait_ns = (need_ns - bucket.tokens_ns) as u64;
            return shared.events.schedule(wire.service, now + wait_ns);
        }
        bucket.tokens_ns -= need_ns;
        gate.note_sent(now, id, shared);
        wire.launch(now, id, shared);
    }
}

fn serve_htb(
    bucket: &mut Bucket,
    now: Time,
    gate: &mut Gate,
    wire: &mut Wire,
    shared: &mut Shared,
) {
    while gate.queue.backlog_pkts() > 0 {
        bucket.fill(now, &wire.rate);
        if bucket.tokens_ns < 0 {
            let wait_ns = bucket.tokens_ns.unsigned_abs();
            return shared.events.schedule(wire.service, now + wait_ns);
        }
        let Some((id, len_bytes)) = gate.take(now, shared) else {
            return;
        };
        let debt_ns = bucket.pay(len_bytes, &wire.rate);
        gate.note_sent(now + debt_ns, id, shared);
        wire.launch(now, id, shared);
    }
}
