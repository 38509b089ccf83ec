// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! A queue in front of a shaper: what is measured at it, and its probes.

use sojourn_core::{Queue, Slot};

use super::packet::{Body, PacketId, Path, Probe};
use super::shaper::PacketSource;
use super::shared::Shared;
use crate::base::time::Time;
use crate::measure::record::{FlowsReport, ProbesReport, QueueRecord};
use crate::scenario::frame::Frames;
use crate::scenario::{LinkSpec, QueueSpec, RATE_ROW};

/// A queue from which a shaper takes packets.
pub struct Gate {
    /// The queue.
    pub queue: Queue,
    /// What is measured at it.
    pub record: Option<QueueRecord>,
    frames: Frames,
    pub(crate) entered_pkts: u64,
    pub(crate) dropped_pkts: u64,
    /// The queue's row of the link's rate follows the link.
    tells_rate: bool,
    /// Where probes of this queue go; none: its algorithm asks for none.
    pub probes: Option<ProbePath>,
    /// The instance that wanted a probe behind a packet that may not ask: the next one asks.
    due: Option<u32>,
}

/// The path of a queue's probes.
#[derive(Clone, Copy, Debug)]
pub struct ProbePath {
    /// Number of the link.
    pub link: u32,
    /// Number of the queue at the link.
    pub gate: u32,
    /// To the responder: behind the link, and the flow under which probes are counted.
    pub forth: Path,
    /// The first place of the way back.
    pub back_hop: u32,
    /// Of all probes of this queue, by which queues on their way know the flow; that of the answers
    /// is another.
    pub hash: u32,
}

/// A probe as a queue sees it: 20 bytes of IP and 8 of payload behind an Ethernet header.
pub const PROBE_BYTES: u32 = 42;

impl Gate {
    /// An empty queue of this link, made by this specification.
    pub(crate) fn new(link: &LinkSpec, spec: &QueueSpec, queue: Queue) -> Self {
        Self {
            queue,
            record: None,
            frames: Frames::new(link),
            entered_pkts: 0,
            dropped_pkts: 0,
            probes: None,
            due: None,
            tells_rate: !spec.rows.contains_key(RATE_ROW),
        }
    }

    /// What the link can send is another from now on; the queue's algorithm may want to know.
    pub(crate) fn set_rate(&mut self, now: Time, bps: u64, shared: &mut Shared) {
        if let Some(record) = &mut self.record {
            record.on_rate(now, bps);
        }
        self.tell_rate(now, bps, shared);
    }

    /// Tells the algorithm a rate.
    pub(crate) fn tell_rate(&mut self, now: Time, bps: u64, shared: &mut Shared) {
        if self.tells_rate {
            let row = [(RATE_ROW.to_owned(), bps / 8)];
            let changed = self.queue.change(&mut shared.packets.slots, now.0, &row);
            changed.expect("a link's rate is a value of the row");
            self.collect(now, shared);
        }
    }

    #[inline(always)]
    fn note_backlog(&mut self, now: Time) {
        let pkts = self.users_pkts();
        if let Some(record) = &mut self.record {
            record.on_backlog(now, pkts);
        }
    }

    /// Packets in the queue without its own probes.
    #[inline(always)]
    pub(crate) fn users_pkts(&self) -> u32 {
        let all = self.queue.backlog_pkts();
        match self.probes {
            None => all,
            Some(_) => all - self.queue.probes().held() as u32,
        }
    }

    /// A packet comes to the queue.
    #[inline(always)]
    pub(crate) fn join(&mut self, now: Time, id: PacketId, shared: &mut Shared) {
        self.entered_pkts += 1;
        self.note_backlog(now);
        if self.frames.differ {
            let slot = &mut shared.packets.slots[id as usize];
            slot.len_bytes = self.frames.enter(id, slot.len_bytes);
        }
        let joined = self.queue.enqueue(&mut shared.packets.slots, now.0, id);
        self.collect(now, shared);
        if let Some(inst) = self.queue.probe_asked().or(self.due.filter(|_| joined)) {
            self.ask(now, id, inst, shared);
        }
    }

    /// A packet may ask for a probe. Those of other queues and answers may not: two queues whose
    /// answers pass the other one would keep each other busy for ever.
    #[cold]
    fn ask(&mut self, now: Time, asking: PacketId, inst: u32, shared: &mut Shared) {
        let may = !matches!(shared.packets.all[asking as usize].body, Body::Probe(_));
        self.due = (!may).then_some(inst);
        if may {
            self.send_probe(now, asking, inst, shared);
        }
    }

    /// Makes the probe that the packet `asking` wants behind it.
    fn send_probe(&mut self, now: Time, asking: PacketId, inst: u32, shared: &mut Shared) {
        let Some(path) = self.probes else {
            return;
        };
        let asking = shared.packets.slots[asking as usize];
        let id = shared.packets.claim();
        shared.packets.slots[id as usize] = Slot {
            flow: path.hash,
            dscp: asking.dscp,
            len_bytes: self.frames.enter(id, PROBE_BYTES),
            ..Slot::default()
        };
        let packet = &mut shared.packets.all[id as usize];
        packet.path = path.forth;
        packet.body = Body::Probe(Probe {
            link: path.link,
            gate: path.gate,
            inst,
            sent: now,
            answered: false,
        });
        shared.packet_counts[path.forth.flow as usize].born += 1;
        self.entered_pkts += 1;
        self.note_backlog(now);
        self.queue
            .join_probe(&mut shared.packets.slots, now.0, inst, id);
        self.collect(now, shared);
    }

    /// What became of its probes, which are all of one length; none: its algorithm asks for none.
    pub(crate) fn probes_report(&self) -> Option<ProbesReport> {
        let counts = self.probes.map(|_| self.queue.probes())?;
        let bytes = self.frames.bytes(PROBE_BYTES);
        Some(ProbesReport {
            joined_pkts: counts.joined,
            refused_pkts: counts.refused,
            left_pkts: counts.left,
            left_bytes: counts.left * u64::from(bytes),
            freed_pkts: counts.freed,
            answered_pkts: counts.answered,
        })
    }

    /// The statistics of its flows; none: it has no flows.
    pub(crate) fn flows_report(&self) -> Option<FlowsReport> {
        let ms = |ns: u64| ns as f64 / 1e6;
        self.queue.flows().map(|flows| FlowsReport {
            new_flow_count: flows.new_flow_count,
            collisions: flows.collisions,
            delay_mean_ms: ms(flows.delay_mean_ns),
            delay_sparse_ms: ms(flows.delay_sparse_ns),
            delay_peak_ms: ms(flows.delay_peak_ns),
        })
    }

    #[inline]
    fn collect(&mut self, now: Time, shared: &mut Shared) {
        if self.queue.has_freed() {
            self.take_back(now, shared);
        }
    }

    /// Takes back what the queue has let go of.
    #[cold]
    fn take_back(&mut self, now: Time, shared: &mut Shared) {
        for freed in self.queue.freed() {
            let slot = &shared.packets.slots[freed.packet as usize];
            if let (Some(record), 0) = (&mut self.record, slot.probe) {
                record.on_drop(now, slot, freed.why);
            }
            let path = &shared.packets.all[freed.packet as usize].path;
            shared.packet_counts[path.flow as usize].lost += 1;
            shared.packets.remove(freed.packet);
            shared.dropped_pkts += 1;
            self.dropped_pkts += 1;
        }
    }

    /// Whether all that came has been taken, was dropped, or is inside; and the queue says so too.
    pub(crate) fn is_conserved(&self) -> bool {
        let count = self.queue.counters();
        let probes = self.queue.probes();
        let inside = u64::from(self.queue.backlog_pkts()) - probes.held();
        count.drop_pkts() + probes.freed + probes.refused == self.dropped_pkts
            && count.in_pkts == count.out_pkts + count.drop_pkts() + inside
    }
}

impl PacketSource for Gate {
    #[inline(always)]
    fn take(&mut self, now: Time, shared: &mut Shared) -> Option<(PacketId, u32)> {
        self.note_backlog(now);
        let taken = self.queue.dequeue(&mut shared.packets.slots, now.0);
        self.collect(now, shared);
        let id = taken?;
        let slot = &shared.packets.slots[id as usize];
        if let (Some(record), 0) = (&mut self.record, slot.probe) {
            record.on_dequeue(now, slot);
        }
        Some((id, slot.len_bytes))
    }

    #[inline(always)]
    fn note_sent(&mut self, last_bit: Time, id: PacketId, shared: &mut Shared) {
        if let Some(record) = &mut self.record {
            record.on_sent(last_bit, &shared.packets.slots[id as usize]);
        }
        if self.frames.differ {
            let slot = &mut shared.packets.slots[id as usize];
            slot.len_bytes = self.frames.leave(id, slot.len_bytes);
        }
    }
}
