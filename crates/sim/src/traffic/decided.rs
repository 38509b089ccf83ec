// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Applications that decide as they go: what they do depends on when they heard what, so no script
//! tells it ahead. Both ends of a flow share one, as far as each knows by itself.

use std::cell::RefCell;
use std::fmt::Debug;
use std::rc::Rc;

use super::{Conversation, End, Move, Moves, Source, Visit, Visits};

/// An application at both ends of one conversation without end.
pub trait Application: Debug {
    /// Which end opens the conversation.
    fn opener(&self) -> End;

    /// Decides what an end does next. It is asked when the conversation begins, and each time that
    /// the move before is done.
    fn next_move(&mut self, end: End, now_ns: u64) -> Move;

    /// A datagram of this length came to an end; it was sent then, and the network had it so long.
    /// True: with this one the end begins to speak.
    fn on_datagram(&mut self, _end: End, _now_ns: u64, _sent_ns: u64, _delay_ns: u64) -> bool {
        false
    }

    /// Tells what its viewer has seen until now, if it has one.
    fn viewing(&self, _now_ns: u64) -> Viewing {
        Viewing::default()
    }
}

/// One of them, as its ends and its flow know it.
pub type Shared = Rc<RefCell<dyn Application>>;

/// What a viewer has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Viewing {
    /// Segments that have come.
    pub segments: u64,
    /// Sum of their bit rates.
    pub bps: u64,
    /// Sum of their rungs, of which the least is 1.
    pub rungs: u64,
    /// Segments of another rung than the one before.
    pub switches: u64,
    /// How often the picture stood still, after it began.
    pub stalls: u64,
    /// How long.
    pub stalled_ns: u64,
}

impl Viewing {
    /// What has been counted since an earlier reading.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        Self {
            segments: self.segments - before.segments,
            bps: self.bps - before.bps,
            rungs: self.rungs - before.rungs,
            switches: self.switches - before.switches,
            stalls: self.stalls - before.stalls,
            stalled_ns: self.stalled_ns - before.stalled_ns,
        }
    }

    /// What both have counted.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        Self {
            segments: self.segments + other.segments,
            bps: self.bps + other.bps,
            rungs: self.rungs + other.rungs,
            switches: self.switches + other.switches,
            stalls: self.stalls + other.stalls,
            stalled_ns: self.stalled_ns + other.stalled_ns,
        }
    }
}

/// The script of a flow whose application decides.
#[derive(Debug)]
pub struct Decided {
    application: Shared,
    visit: Option<Visit>,
}

impl Decided {
    /// The script of this application.
    pub fn source(application: impl Application + 'static) -> Source {
        let opener = application.opener();
        let application: Shared = Rc::new(RefCell::new(application));
        let moves = [End::From, End::To].map(|end| Moves::Decided(Rc::clone(&application), end));
        let conversation = Conversation {
            opener,
            moves,
            ..Conversation::sending(Moves::none())
        };
        Source::new(Self {
            application,
            visit: Some(Visit::of(conversation)),
        })
    }
}

impl Visits for Decided {
    fn next_visit(&mut self) -> Option<Visit> {
        self.visit.take()
    }

    fn application(&self) -> Option<Shared> {
        Some(Rc::clone(&self.application))
    }
}
