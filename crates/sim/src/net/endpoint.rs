// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! One end of a conversation: a connection or a source of datagrams, its timer, and
//! the sender that spaces its packets.

use sojourn_core::Slot;

use crate::base::ecn::Ecn;
use crate::base::event::{Events, Source};
use crate::base::rng::Rng;
use crate::base::time::Time;
use crate::link::Link;
use crate::link::packet::{PacketCounts, PacketId, Path};
use crate::link::shared::Shared;
use crate::tcp::Connection;
use crate::traffic::End;

/// What an end does.
pub enum Kind {
    /// Nothing: its number is free.
    Free,
    /// TCP.
    Tcp(Box<Connection>),
    /// UDP: the sending end counts on the flow's own timer.
    Udp,
}

/// One end, in whole cache lines.
#[repr(align(64))]
pub struct Endpoint {
    /// What it does.
    pub kind: Kind,
    /// Goes up by one with each use of the number.
    pub age: u32,
    /// Its flow.
    pub flow: u32,
    /// Its conversation.
    pub conversation: u32,
    /// Which end of that it is.
    pub who: End,
    /// Whether what it counts is the flow's.
    pub counts: bool,
    /// Its connection is closed, and waits for the other end's.
    pub closed: bool,
    /// What its application has read.
    pub heard_bytes: u64,
    /// When that has something to do next.
    pub wake_bytes: u64,
    /// Event: the connection's timer.
    pub timer: Source,
    /// When that is due. Deadlines that move later are left to be found then.
    pub timer_due: Time,
    /// When the connection wants it. It stands here too, so that an event that comes too
    /// early needs not fetch the connection.
    pub deadline: Time,
    /// Packets that have come to it: its flow's, once its number is free again.
    pub arrived_pkts: u64,
    /// How its packets leave.
    pub outlet: Outlet,
}

/// What an end that has sent all it may leaves to be done.
pub enum Left {
    /// Nothing.
    Nothing,
    /// Its application has waited for what has arrived.
    Reader,
    /// The connection has events to tell, and its timer is to be seen to.
    News,
}

/// Where packets of an end go, and when.
pub struct Outlet {
    /// Hash that they carry.
    pub hash: u32,
    /// DSCP that they carry.
    pub dscp: u8,
    /// The first hop, the other end and its age.
    pub path: Path,
    /// Their spacing.
    pub jitter: SendJitter,
    /// The first link, if delay is all that it does.
    pub delay_link: Option<u32>,
    /// Packets that left: see `arrived_pkts`.
    pub born_pkts: u64,
}

impl Outlet {
    /// Sends a packet whose path and contents are written, at the time that its sender has told.
    #[inline]
    pub fn launch(
        &mut self,
        leaves: Time,
        id: PacketId,
        len_bytes: u32,
        ecn: Ecn,
        links: &mut [Link],
        shared: &mut Shared,
    ) {
        shared.packets.slots[id as usize] = Slot {
            flow: self.hash,
            len_bytes,
            ecn: ecn as u8,
            dscp: self.dscp,
            ..Slot::default()
        };
        self.born_pkts += 1;
        if self.jitter.holds {
            let at = leaves + self.jitter.lead_ns;
            links[self.jitter.link as usize].expect(at, id, shared);
        } else if let Some(link) = self.delay_link
            && shared.arrived.is_empty()
        {
            // Nobody is before it at this instant: it need not queue up for the link.
            shared.packets.all[id as usize].path.hop += 1;
            links[link as usize].offer(leaves, id, shared);
        } else {
            shared.arrived.push_back(id);
        }
    }
}

impl Endpoint {
    /// Adds what it has counted to its flow's.
    pub fn enter_in(&self, packets: &mut [PacketCounts]) {
        let flow = &mut packets[self.flow as usize];
        flow.arrived += self.arrived_pkts;
        flow.born += self.outlet.born_pkts;
    }

    /// Sends what the connection wants sent, and sees to the timer. It stands where packets are
    /// delivered: as a call it was 1 % of all instructions more.
    #[inline(always)]
    pub fn drain(&mut self, now: Time, links: &mut [Link], shared: &mut Shared) -> Left {
        let Kind::Tcp(connection) = &mut self.kind else {
            return Left::Nothing;
        };
        loop {
            let (mut id, packets) = (0, &mut shared.packets);
            let sent = connection.transmit(now, || {
                let (claimed, body) = packets.claim_for(&self.outlet.path);
                id = claimed;
                body.as_segment()
            });
            let Some((ecn, len_bytes)) = sent else { break };
            let leaves = self.outlet.jitter.release(now);
            self.outlet
                .launch(leaves, id, len_bytes, ecn, links, shared);
        }
        let bytes = connection.take_delivered();
        if bytes > 0 {
            shared.delivered_bytes[self.flow as usize][self.who as usize] += bytes;
            self.heard_bytes += bytes;
            if self.heard_bytes >= self.wake_bytes {
                return Left::Reader;
            }
        }
        if connection.has_news() {
            return Left::News;
        }
        let deadline = connection.poll_timeout();
        self.set_deadline(now, deadline, &mut shared.events);
        Left::Nothing
    }

    /// Sees to it that the connection's timer fires in time.
    #[inline]
    pub fn watch(&mut self, now: Time, events: &mut Events) {
        if let Kind::Tcp(connection) = &self.kind {
            let deadline = connection.poll_timeout();
            self.set_deadline(now, deadline, events);
        }
    }

    /// The same, where the connection has told when it wants it.
    #[inline]
    pub fn set_deadline(&mut self, now: Time, deadline: Time, events: &mut Events) {
        self.deadline = deadline;
        if deadline < self.timer_due {
            self.timer_due = deadline;
            events.schedule(self.timer, deadline.max(now));
        }
    }
}

/// When a sender's last packet was sent, and when it left.
#[derive(Clone, Copy, Default)]
pub struct Last {
    sent: Time,
    left: Time,
}

/// Holds each packet for a random time and keeps their order, as a busy host does.
/// Without it the phases of senders decide who meets a full queue. What the first
/// links of the path delay by a constant is added here, and the packets wait at the link
/// behind: no event is spent on either.
pub struct SendJitter {
    /// Whether it holds packets at all.
    holds: bool,
    /// Bound of the random delay; 0: none.
    jitter_ns: u64,
    lead_ns: u64,
    /// The first link that does more than delay.
    link: u32,
    rng: Rng,
    last: Last,
    /// Nothing of its connection has been sent.
    opens: bool,
}

impl SendJitter {
    /// One that holds nothing.
    pub fn idle() -> Self {
        Self {
            holds: false,
            ..Self::new(0, 0, 0, Rng::stream(0, ""), Last::default())
        }
    }

    /// Holds nothing from now on.
    pub fn stop(&mut self) {
        self.holds = false;
    }

    /// Makes the sender of one connection. `last` is of the flow's connection before it, if that
    /// has closed.
    pub fn new(jitter_ns: u64, lead_ns: u64, link: u32, rng: Rng, last: Last) -> Self {
        Self {
            holds: true,
            jitter_ns,
            lead_ns,
            link,
            rng,
            last,
            opens: true,
        }
    }

    /// Tells of its last packet.
    pub fn last(&self) -> Last {
        self.last
    }

    /// When a packet that is written now leaves the host. Where a connection opens as the one
    /// before it closes, its SYN leaves right behind that one's last acknowledgement, since a host
    /// is as busy for the one as for the other.
    #[inline]
    pub fn release(&mut self, now: Time) -> Time {
        if !self.holds {
            return now;
        }
        if !(std::mem::take(&mut self.opens) && now == self.last.sent) {
            let drawn = now + self.rng.below(self.jitter_ns);
            self.last.left = drawn.max(self.last.left);
        }
        self.last.sent = now;
        self.last.left
    }
}
