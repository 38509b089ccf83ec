// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Conversations and visits that are under way.

use std::collections::VecDeque;

use crate::base::event::Source;
use crate::base::time::Time;
use crate::traffic::{Conversation, End, Move, Moves};

/// In place of a number: there is none.
pub const NONE: u32 = u32::MAX;

/// One end of a conversation, as its application sees it.
pub struct Side {
    /// What it will do.
    pub moves: Moves,
    /// The first of that, once it was looked at.
    pub next: Option<Move>,
    /// Event: a wait is over.
    pub timer: Source,
    /// `next` waits for that.
    pub waiting: bool,
    /// The peer writes no more, and neither does this end.
    pub peer_closed: bool,
    /// See above.
    pub closed: bool,
    /// Transfers that this end hears.
    pub transfers: VecDeque<Pending>,
}

/// A transfer whose last byte has not arrived.
#[derive(Clone, Copy, Debug)]
pub struct Pending {
    /// Which of its connection, from 1.
    pub number: u32,
    /// The end that hears it has heard so many bytes before it.
    pub from_bytes: u64,
    /// It is complete at so many.
    pub to_bytes: u64,
    /// The application began it.
    pub begun: Time,
    /// Its first byte arrived; known where transfers are recorded.
    pub first: Option<Time>,
}

/// A conversation that is under way.
pub struct OpenConversation {
    /// Its flow.
    pub flow: u32,
    /// Its visit, and its place there.
    pub visit: u32,
    /// See `visit`.
    pub place: usize,
    /// Number of its visit in the flow, from 1.
    pub visit_number: u32,
    /// Who opens it.
    pub opener: End,
    /// When that was.
    pub opened: Time,
    /// Transfers begun.
    pub begun_transfers: u32,
    /// Endpoints, by [`End`].
    pub ends: [u32; 2],
    /// Applications, by [`End`].
    pub sides: [Side; 2],
    /// Its opener is done when it has heard so many bytes.
    pub done_bytes: Option<u64>,
    /// The opener is done.
    pub over: bool,
    /// It waits to be opened.
    pub pending: Option<Conversation>,
}

/// A visit that is under way.
pub struct OpenVisit {
    /// Its flow.
    pub flow: u32,
    /// Which of the flow's, from 1.
    pub number: u32,
    /// When it began.
    pub begun: Time,
    /// It is a page.
    pub page: bool,
    /// Conversations that are not over.
    pub left: usize,
    /// Those that have not begun.
    pub planned: Vec<Option<Conversation>>,
}

impl Side {
    /// One whose timer is this.
    pub fn new(timer: Source) -> Self {
        Self {
            moves: Moves::none(),
            next: None,
            timer,
            waiting: false,
            peer_closed: false,
            closed: false,
            transfers: VecDeque::new(),
        }
    }

    /// The same place for another conversation.
    pub fn begin(&mut self, moves: Moves) {
        self.moves = moves;
        self.next = None;
        (self.waiting, self.peer_closed, self.closed) = (false, false, false);
        self.transfers.clear();
    }
}

impl OpenVisit {
    /// The least number of bytes, heard at a place, that another conversation waits for.
    pub fn awaited(&self, place: usize) -> Option<u64> {
        let planned = self.planned.iter().flatten();
        let after = planned.filter_map(|conversation| conversation.after);
        after
            .filter(|after| after.place == place)
            .map(|after| after.heard_bytes)
            .min()
    }

    /// Takes a conversation that waits for so many bytes at a place.
    pub fn take_next(&mut self, at: usize, heard_bytes: u64) -> Option<(usize, Conversation)> {
        let due = |conversation: &Option<Conversation>| {
            let after = conversation.as_ref().and_then(|c| c.after);
            after.is_some_and(|after| after.place == at && after.heard_bytes <= heard_bytes)
        };
        let place = self.planned.iter().position(due)?;
        let conversation = self.planned[place].take()?;
        Some((place, conversation))
    }
}
