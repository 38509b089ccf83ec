// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! The room of traffic: what is sent, as a script. A source draws visits, a visit is a few conversations, and a
//! conversation is what two applications do at the ends of one connection: each writes so many
//! bytes once it has heard so many and then waited so long. Nothing here opens a connection or
//! reads a clock: the engine plays the script, and so can a driver of real sockets.
//!
//! A user's draws come from one stream of random numbers, and only when they are needed, so that
//! a script takes no more memory for a longer run. The room uses `base` alone, and the applications
//! of `sojourn_core`.

pub mod bulk;
pub mod burst;
pub mod cbr;
pub mod decided;
pub mod draw;
pub mod drawn;
pub mod files;
pub mod key;
pub mod kinds;
pub mod mix;
pub mod nada;
pub mod onoff;
pub mod paced;
pub mod ping;
pub mod poisson;
pub mod respawn;
pub mod stream;
pub mod tmix;
pub mod video;
pub mod voip;
pub mod web;

#[cfg(test)]
mod tests;

use std::fmt::Debug;

pub use decided::Shared;
pub use kinds::{AppSpec, KINDS, Member, Traffic};
pub use stream::Drawn;
pub use voip::Codec;

/// The two ends of a flow, as the scenario names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Where most of the data comes from.
    From = 0,
    /// Where it goes.
    To = 1,
}

impl End {
    /// The other one.
    pub fn peer(self) -> Self {
        match self {
            Self::From => Self::To,
            Self::To => Self::From,
        }
    }
}

/// What an application does with its end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Hands over so many bytes.
    Write(u64),
    /// Writes no more.
    Close,
    /// Nothing: the application decides anew.
    Look,
}

/// One thing that an application does, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// It has heard so many bytes on this connection,
    pub heard_bytes: u64,
    /// and then, or after the move before it if that was later, waited so long.
    pub wait_ns: u64,
    /// What it does.
    pub act: Act,
    /// A transfer begins with this: it is complete when that end has heard so many bytes.
    pub transfer: Option<(End, u64)>,
}

impl Move {
    /// So many bytes, at once.
    pub fn write(bytes: u64) -> Self {
        Self {
            heard_bytes: 0,
            wait_ns: 0,
            act: Act::Write(bytes),
            transfer: None,
        }
    }

    /// Nothing is done, but what comes next is decided then.
    pub fn look() -> Self {
        Self {
            act: Act::Look,
            ..Self::write(0)
        }
    }

    /// The end of what is written.
    pub fn close() -> Self {
        Self {
            act: Act::Close,
            ..Self::write(0)
        }
    }

    /// Not before so many bytes were heard.
    #[must_use]
    pub fn after_hearing(self, heard_bytes: u64) -> Self {
        Self {
            heard_bytes,
            ..self
        }
    }

    /// After such a wait.
    #[must_use]
    pub fn after_waiting(self, wait_ns: u64) -> Self {
        Self { wait_ns, ..self }
    }

    /// Begins a transfer.
    #[must_use]
    pub fn until(self, end: End, heard_bytes: u64) -> Self {
        Self {
            transfer: Some((end, heard_bytes)),
            ..self
        }
    }
}

/// What one end does, in order. An end that has done all closes when its peer does.
#[derive(Debug)]
pub enum Moves {
    /// Known from the start.
    Listed(std::vec::IntoIter<Move>),
    /// Drawn one by one, without end.
    Drawn(Box<Drawn>),
    /// Decided one by one by an application at this end.
    Decided(Shared, End),
}

impl Moves {
    /// An end that only listens.
    pub fn none() -> Self {
        Self::from(Vec::new())
    }

    /// Size and rate of writes that go on evenly without end, if they are such.
    pub fn even(&self) -> Option<(u64, u64)> {
        match self {
            Self::Listed(_) | Self::Decided(..) => None,
            Self::Drawn(drawn) => drawn.even(),
        }
    }

    /// The next one, which an application decides now.
    pub fn next_at(&mut self, now_ns: u64) -> Option<Move> {
        match self {
            Self::Decided(application, end) => {
                Some(application.borrow_mut().next(*end as usize, now_ns).into())
            }
            _ => self.next(),
        }
    }
}

impl From<Vec<Move>> for Moves {
    fn from(moves: Vec<Move>) -> Self {
        Self::Listed(moves.into_iter())
    }
}

impl Iterator for Moves {
    type Item = Move;

    fn next(&mut self) -> Option<Move> {
        match self {
            Self::Listed(moves) => moves.next(),
            Self::Drawn(drawn) => Some(drawn.next_move()),
            // No script has them.
            Self::Decided(..) => None,
        }
    }
}

/// A conversation that another one of its visit must come before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct After {
    /// Its place in the visit.
    pub place: usize,
    /// Its opener has heard so many bytes there,
    pub heard_bytes: u64,
    /// and so long ago.
    pub wait_ns: u64,
}

/// One connection, from its opening to its end.
#[derive(Debug)]
pub struct Conversation {
    /// Which end opens it.
    pub opener: End,
    /// When; none: at once.
    pub after: Option<After>,
    /// What its two ends do, by [`End`].
    pub moves: [Moves; 2],
    /// The opener is done with it when it has heard so many bytes; none: when both directions are
    /// closed.
    pub done_bytes: Option<u64>,
    /// Its round trip without queues, where that is longer than the delays of the links.
    pub rtt_ns: Option<u64>,
}

impl Conversation {
    /// Opened by the end that sends; the other one listens.
    pub fn sending(moves: impl Into<Moves>) -> Self {
        Self {
            opener: End::From,
            after: None,
            moves: [moves.into(), Moves::none()],
            done_bytes: None,
            rtt_ns: None,
        }
    }
}

impl From<Drawn> for Moves {
    fn from(drawn: Drawn) -> Self {
        Self::Drawn(Box::new(drawn))
    }
}

/// What a user does in one go.
#[derive(Debug)]
pub struct Visit {
    /// So long after the visit before it, or after the start of the flow.
    pub wait_ns: u64,
    /// Those that follow others stand behind them.
    pub conversations: Vec<Conversation>,
    /// How long it takes is a result: it is a page.
    pub page: bool,
}

impl Visit {
    /// One conversation.
    pub fn of(conversation: Conversation) -> Self {
        Self {
            wait_ns: 0,
            conversations: vec![conversation],
            page: false,
        }
    }
}

/// From what the wait for the next visit runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// From the begin of the one before: how long that takes changes nothing.
    Open,
    /// From its end, when all its conversations are done.
    Closed,
}

/// The script of one user: draws visits when they are asked for.
pub trait Visits: Debug {
    /// Tells how visits follow each other.
    fn pace(&self) -> Pace {
        Pace::Closed
    }

    /// Tells whether one visit is repeated without end.
    fn repeats(&self) -> bool {
        false
    }

    /// Draws the next visit; none: there are no more.
    fn next_visit(&mut self) -> Option<Visit>;

    /// Draws the conversations that `next_visit` left to be drawn as the visit begins. Of many
    /// users most wait, and what they will do would lie in memory for that long.
    fn complete(&mut self, _: &mut Visit) {}

    /// Gives the application that decides, if one does.
    fn application(&self) -> Option<Shared> {
        None
    }
}

/// A single visit.
impl Visits for Option<Visit> {
    fn next_visit(&mut self) -> Option<Visit> {
        self.take()
    }
}

/// The script of one user, of any kind.
#[derive(Debug)]
pub struct Source(Box<dyn Visits>);

impl Source {
    /// A script.
    pub fn new(visits: impl Visits + 'static) -> Self {
        Self(Box::new(visits))
    }

    /// A single conversation.
    pub fn once(conversation: Conversation) -> Self {
        Self::new(Some(Visit::of(conversation)))
    }

    /// How its visits follow each other.
    pub fn pace(&self) -> Pace {
        self.0.pace()
    }

    /// Whether one visit is repeated without end.
    pub fn repeats(&self) -> bool {
        self.0.repeats()
    }

    /// The application that decides, if one does.
    pub fn application(&self) -> Option<Shared> {
        self.0.application()
    }

    /// The next visit; none: there are no more.
    pub fn next_visit(&mut self) -> Option<Visit> {
        let mut visit = self.announce()?;
        self.complete(&mut visit);
        Some(visit)
    }

    /// The same, whose conversations may be missing until it is completed.
    pub fn announce(&mut self) -> Option<Visit> {
        self.0.next_visit()
    }

    /// Draws what is missing of the visit that was announced last.
    pub fn complete(&mut self, visit: &mut Visit) {
        self.0.complete(visit);
    }
}
