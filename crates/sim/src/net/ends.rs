// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! How conversations end: both ends have closed, or their flow stops.

use super::Net;
use super::conversation::NONE;
use crate::base::time::Time;
use crate::traffic::{Moves, Pace};

impl Net {
    /// The opener is done with a conversation, and perhaps with the visit.
    pub(super) fn end(&mut self, now: Time, number: u32) {
        let conversation = &mut self.conversations[number as usize];
        if std::mem::replace(&mut conversation.over, true) {
            return;
        }
        let (index, visit) = (conversation.flow, conversation.visit);
        let open_visit = &mut self.visits[visit as usize];
        open_visit.left -= 1;
        if open_visit.left > 0 {
            return;
        }
        let (page, begun) = (open_visit.page, open_visit.begun);
        open_visit.planned = Vec::new();
        self.free_visits.push(visit);
        let flow = &self.flows[index as usize];
        if page {
            self.times.add_page(flow.group, now, now - begun);
        }
        if flow.stopped || flow.script.pace() == Pace::Open {
            return;
        }
        let flow = &mut self.flows[index as usize];
        if let Some(visit) = flow.script.announce() {
            let due = now + visit.wait_ns;
            flow.next_visit = Some(visit);
            self.shared.events.schedule(flow.source, due);
        }
    }

    /// The applications are gone, and their connections with them: packets under way find no one.
    pub(super) fn on_stop(&mut self, now: Time, index: u32) {
        let flow = &mut self.flows[index as usize];
        flow.stop(now);
        flow.next_visit = None;
        self.shared.events.cancel(flow.source);
        for number in flow.conversations.clone() {
            let conversation = &self.conversations[number as usize];
            let first = conversation.ends[conversation.opener as usize];
            if first == NONE {
                self.free_conversation(number);
            } else if !self.endpoints[first as usize].closed {
                let second = conversation.ends[conversation.opener.peer() as usize];
                self.release(first);
                self.release(second);
                self.free_conversation(number);
            }
        }
    }

    /// Nothing is left of a conversation.
    pub(super) fn free_conversation(&mut self, number: u32) {
        if self.ended.is_some() {
            self.note_unfinished(number);
        }
        let conversation = &mut self.conversations[number as usize];
        conversation.pending = None;
        conversation.ends = [NONE; 2];
        for side in &mut conversation.sides {
            self.shared.events.cancel(side.timer);
            side.begin(Moves::none());
        }
        let conversations = &mut self.flows[conversation.flow as usize].conversations;
        if let Some(place) = conversations.iter().position(|&other| other == number) {
            conversations.swap_remove(place);
        }
        self.free_conversations.push(number);
    }

    /// The peer writes no more: an end that has done all closes too.
    pub(super) fn on_peer_closed(&mut self, now: Time, end: u32) {
        let endpoint = &self.endpoints[end as usize];
        let (number, who) = (endpoint.conversation, endpoint.who);
        self.conversations[number as usize].sides[who as usize].peer_closed = true;
        self.speak(now, number, who);
        self.drain(now, end);
    }
}
