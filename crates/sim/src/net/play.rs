// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! The scripts of flows, played: visits begin, conversations are opened, applications write what
//! their moves say when they have heard what these wait for.

use super::conversation::{NONE, OpenConversation, OpenVisit, Pending, Side};
use super::endpoint::Kind;
use super::{Net, Owner};
use crate::base::datagram::Datagram;
use crate::base::ecn::Ecn;
use crate::base::time::Time;
use crate::link::packet::Body;
use crate::traffic::{Act, Conversation, End, Move, Pace, Visit};

impl Net {
    /// A flow starts, or its next visit is due.
    pub(super) fn on_flow(&mut self, now: Time, index: u32) {
        if self.flows[index as usize].stopped {
            return;
        }
        let due = self.flows[index as usize].next_visit.take();
        if let Some(visit) = due.or_else(|| self.draw(now, index)) {
            self.visit(now, index, visit);
        }
    }

    /// The next visit, if its time is now; one that is later is left for then.
    fn draw(&mut self, now: Time, index: u32) -> Option<Visit> {
        let flow = &mut self.flows[index as usize];
        let visit = flow.script.announce()?;
        if visit.wait_ns == 0 {
            return Some(visit);
        }
        self.shared
            .events
            .schedule(flow.source, now + visit.wait_ns);
        flow.next_visit = Some(visit);
        None
    }

    /// Begins a visit, and those behind it that are due at once.
    fn visit(&mut self, now: Time, index: u32, visit: Visit) {
        let mut next = Some(visit);
        while let Some(visit) = next.take() {
            self.begin(now, index, visit);
            if self.flows[index as usize].script.pace() == Pace::Open {
                next = self.draw(now, index);
            }
        }
    }

    fn begin(&mut self, now: Time, index: u32, mut visit: Visit) {
        let flow = &mut self.flows[index as usize];
        flow.script.complete(&mut visit);
        flow.visits += 1;
        let open_visit = OpenVisit {
            flow: index,
            number: flow.visits,
            begun: now,
            page: visit.page,
            left: visit.conversations.len(),
            planned: visit.conversations.into_iter().map(Some).collect(),
        };
        let number = match self.free_visits.pop() {
            Some(number) => {
                self.visits[number as usize] = open_visit;
                number
            }
            None => {
                self.visits.push(open_visit);
                (self.visits.len() - 1) as u32
            }
        };
        for place in 0..self.visits[number as usize].planned.len() {
            let waiting = &mut self.visits[number as usize].planned[place];
            if let Some(planned) = waiting.take_if(|planned| planned.after.is_none()) {
                let conversation = self.claim_conversation(index, number, place);
                self.open(now, conversation, planned);
            }
        }
    }

    /// A place for a conversation.
    fn claim_conversation(&mut self, flow: u32, visit: u32, place: usize) -> u32 {
        let number = self
            .free_conversations
            .pop()
            .unwrap_or(self.conversations.len() as u32);
        if number as usize == self.conversations.len() {
            let sides = [End::From, End::To]
                .map(|end| Side::new(self.source(Owner::Conversation(number, end))));
            self.conversations.push(OpenConversation {
                flow,
                visit,
                place,
                visit_number: 0,
                opener: End::From,
                opened: Time(0),
                begun_transfers: 0,
                ends: [NONE; 2],
                sides,
                done_bytes: None,
                over: false,
                pending: None,
            });
        }
        let conversation = &mut self.conversations[number as usize];
        (conversation.flow, conversation.visit, conversation.place) = (flow, visit, place);
        conversation.visit_number = self.visits[visit as usize].number;
        (conversation.ends, conversation.over) = ([NONE; 2], false);
        self.flows[flow as usize].conversations.push(number);
        number
    }

    /// Opens a conversation, and lets its opener do what it does at once.
    fn open(&mut self, now: Time, number: u32, planned: Conversation) {
        let conversation = &mut self.conversations[number as usize];
        let opener = planned.opener;
        (conversation.opener, conversation.done_bytes) = (opener, planned.done_bytes);
        (conversation.opened, conversation.begun_transfers) = (now, 0);
        for (side, moves) in conversation.sides.iter_mut().zip(planned.moves) {
            side.begin(moves);
        }
        let index = conversation.flow;
        let ends = self.connect(now, index, number, opener, planned.rtt_ns);
        self.conversations[number as usize].ends = ends;
        self.speak(now, number, opener);
        self.drain(now, ends[opener as usize]);
    }

    /// Lets an end do all that it can do now.
    pub(super) fn speak(&mut self, now: Time, number: u32, who: End) {
        while let Some(step) = self.ready(now, number, who) {
            self.act(now, number, who, step);
            // A socket sends what is written before it hears of the next call; `bulk` and
            // `respawn` write and close in one.
            let conversation = &self.conversations[number as usize];
            if !self.flows[conversation.flow as usize].keeps_transfers {
                let end = conversation.ends[who as usize];
                let age = self.endpoints[end as usize].age;
                self.drain(now, end);
                if self.endpoints[end as usize].age != age {
                    return;
                }
            }
        }
        self.set_wake(number, who);
    }

    /// The next move of an end, if it is due.
    fn ready(&mut self, now: Time, number: u32, who: End) -> Option<Move> {
        let conversation = &mut self.conversations[number as usize];
        let heard_bytes = self.endpoints[conversation.ends[who as usize] as usize].heard_bytes;
        let side = &mut conversation.sides[who as usize];
        if side.waiting {
            return None;
        }
        let Some(mut next) = side.next.take().or_else(|| side.moves.next_at(now.0)) else {
            let closes = side.peer_closed && !side.closed;
            return closes.then(Move::close);
        };
        let events = &mut self.shared.events;
        // Waits of a move whose bytes were heard, until its time.
        let mut waits = |side: &mut Side, step: &mut Move| {
            if step.heard_bytes > heard_bytes || step.wait_ns == 0 {
                return step.heard_bytes > heard_bytes;
            }
            events.schedule(side.timer, now + step.wait_ns);
            (step.wait_ns, side.waiting) = (0, true);
            true
        };
        if waits(side, &mut next) {
            side.next = Some(next);
            return None;
        }
        // The wait of the one behind it begins with it.
        side.next = side.moves.next_at(now.0);
        if let Some(mut behind) = side.next {
            waits(side, &mut behind);
            side.next = Some(behind);
        }
        Some(next)
    }

    fn act(&mut self, now: Time, number: u32, who: End, step: Move) {
        let conversation = &mut self.conversations[number as usize];
        let end = conversation.ends[who as usize];
        if let Some((hears, bytes)) = step.transfer {
            let heard_bytes =
                self.endpoints[conversation.ends[hears as usize] as usize].heard_bytes;
            conversation.begun_transfers += 1;
            let transfers = &mut conversation.sides[hears as usize].transfers;
            transfers.push_back(Pending {
                number: conversation.begun_transfers,
                from_bytes: transfers.back().map_or(heard_bytes, |last| last.to_bytes),
                to_bytes: bytes,
                begun: now,
                first: None,
            });
            self.set_wake(number, hears);
        }
        match (&mut self.endpoints[end as usize].kind, step.act) {
            (Kind::Tcp(connection), Act::Write(bytes)) => connection.write(bytes),
            (Kind::Tcp(connection), Act::Close) => {
                connection.close();
                self.conversations[number as usize].sides[who as usize].closed = true;
            }
            (Kind::Udp, Act::Write(bytes)) => {
                let datagram = Datagram {
                    len: bytes as u32,
                    sent_ns: now.0,
                    held_ns: 0,
                };
                let flow = self.endpoints[end as usize].flow;
                if who == End::From {
                    self.flows[flow as usize].on_sent(&datagram);
                }
                self.send(now, end, datagram);
            }
            (_, Act::Look) | (Kind::Udp, Act::Close) | (Kind::Free, _) => {}
        }
    }

    /// Sends a datagram.
    pub(super) fn send(&mut self, now: Time, end: u32, mut datagram: Datagram) {
        let outlet = &mut self.endpoints[end as usize].outlet;
        let leaves = outlet.jitter.release(now);
        datagram.held_ns += leaves - now;
        let (id, body) = self.shared.packets.claim_for(&outlet.path);
        *body = Body::Udp(datagram);
        let len_bytes = datagram.wire_bytes();
        let (links, shared) = (&mut self.links, &mut self.shared);
        outlet.launch(leaves, id, len_bytes, Ecn::NotEct, links, shared);
    }

    /// At how many bytes an end has something to do.
    fn set_wake(&mut self, number: u32, who: End) {
        let conversation = &self.conversations[number as usize];
        let end = conversation.ends[who as usize];
        let heard_bytes = self.endpoints[end as usize].heard_bytes;
        let side = &conversation.sides[who as usize];
        let next = side.next.filter(|_| !side.waiting);
        let mut wake = next.map_or(u64::MAX, |next| next.heard_bytes);
        if wake <= heard_bytes {
            wake = u64::MAX;
        }
        if let Some(transfer) = side.transfers.front() {
            let is_first_told = self.ended.is_none() || transfer.first.is_some();
            wake = wake.min(match is_first_told {
                true => transfer.to_bytes,
                false => transfer.from_bytes + 1,
            });
        }
        if who == conversation.opener && !conversation.over {
            let awaited = self.visits[conversation.visit as usize].awaited(conversation.place);
            let all = conversation.done_bytes.into_iter().chain(awaited);
            wake = all.fold(wake, u64::min);
        }
        self.endpoints[end as usize].wake_bytes = wake;
    }

    /// An end has heard what something waits for.
    #[cold]
    pub(super) fn on_heard(&mut self, now: Time, end: u32) {
        let endpoint = &self.endpoints[end as usize];
        let (number, who, heard_bytes) =
            (endpoint.conversation, endpoint.who, endpoint.heard_bytes);
        let conversation = &mut self.conversations[number as usize];
        let transfers = &mut conversation.sides[who as usize].transfers;
        if let Some(next) = transfers
            .iter_mut()
            .find(|next| next.to_bytes > heard_bytes)
            && next.from_bytes < heard_bytes
        {
            next.first.get_or_insert(now);
        }
        while let Some(transfer) = self.conversations[number as usize].sides[who as usize]
            .transfers
            .pop_front_if(|next| next.to_bytes <= heard_bytes)
        {
            self.on_transfer(now, number, transfer);
        }
        if self.conversations[number as usize].opener == who {
            self.follow(now, number, heard_bytes);
        }
        self.speak(now, number, who);
    }

    /// Begins what follows a conversation, and ends that if its opener is done.
    fn follow(&mut self, now: Time, number: u32, heard_bytes: u64) {
        let conversation = &self.conversations[number as usize];
        let (flow, visit, at, over) = (
            conversation.flow,
            conversation.visit,
            conversation.place,
            conversation.over,
        );
        if over {
            return;
        }
        while let Some((place, next)) = self.visits[visit as usize].take_next(at, heard_bytes) {
            let wait_ns = next.after.map_or(0, |after| after.wait_ns);
            let conversation = self.claim_conversation(flow, visit, place);
            if wait_ns == 0 {
                self.open(now, conversation, next);
                continue;
            }
            let timer = self.conversations[conversation as usize].sides[0].timer;
            self.shared.events.schedule(timer, now + wait_ns);
            self.conversations[conversation as usize].pending = Some(next);
        }
        let done_bytes = self.conversations[number as usize].done_bytes;
        if done_bytes.is_some_and(|bytes| bytes <= heard_bytes) {
            self.end(now, number);
        }
    }

    /// A wait is over.
    pub(super) fn on_conversation(&mut self, now: Time, number: u32, who: End) {
        let conversation = &mut self.conversations[number as usize];
        if let Some(planned) = conversation.pending.take() {
            return self.open(now, number, planned);
        }
        conversation.sides[who as usize].waiting = false;
        let end = conversation.ends[who as usize];
        self.speak(now, number, who);
        self.drain(now, end);
    }

    /// The end that was called has answered: its application begins.
    pub(super) fn on_connected(&mut self, now: Time, end: u32) {
        let endpoint = &self.endpoints[end as usize];
        let (number, who) = (endpoint.conversation, endpoint.who);
        if who != self.conversations[number as usize].opener {
            self.speak(now, number, who);
            self.drain(now, end);
        }
    }
}
