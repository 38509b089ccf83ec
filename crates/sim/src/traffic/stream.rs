// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! A source that writes at times of its own, whatever becomes of it: datagrams, or bytes on one
//! connection.

use std::fmt::Debug;

use super::burst::Burst;
use super::{Conversation, End, Move, Source};

/// Which times, and how much.
pub trait Stream: Debug {
    /// Draws the next write.
    fn next_burst(&mut self) -> Burst;

    /// Tells whether each write is a transfer.
    fn are_transfers(&self) -> bool {
        false
    }

    /// Gives size and rate of its writes, if they go on at a constant rate.
    fn size_and_rate(&self) -> Option<(u64, u64)> {
        None
    }

    /// Makes it the script of one conversation.
    fn into_source(self) -> Source
    where
        Self: Sized + 'static,
    {
        Source::once(Conversation::sending(Drawn {
            transfers: self.are_transfers(),
            stream: Box::new(self),
            at_ns: None,
            written_bytes: 0,
        }))
    }
}

/// The moves of an end that plays a stream.
#[derive(Debug)]
pub struct Drawn {
    stream: Box<dyn Stream>,
    /// Each write is a transfer.
    transfers: bool,
    at_ns: Option<u64>,
    written_bytes: u64,
}

impl Drawn {
    /// Size and rate of writes at a constant rate.
    pub(super) fn even(&self) -> Option<(u64, u64)> {
        self.stream.size_and_rate().filter(|_| !self.transfers)
    }

    pub(super) fn next_move(&mut self) -> Move {
        let burst = self.stream.next_burst();
        // Two of them never stand at one time: a source that has no gaps between its draws would
        // stop the clock.
        let at_ns = self
            .at_ns
            .map_or(burst.at_ns, |last| burst.at_ns.max(last + 1));
        let wait_ns = at_ns - self.at_ns.unwrap_or(0);
        self.at_ns = Some(at_ns);
        self.written_bytes = self.written_bytes.saturating_add(burst.bytes);
        let write = Move::write(burst.bytes).after_waiting(wait_ns);
        if self.transfers {
            write.until(End::To, self.written_bytes)
        } else {
            write
        }
    }
}
