// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! A connection of a file.

use crate::traffic::tmix::conversation;
use crate::traffic::{Conversation, Move};

/// A connection.
#[derive(Clone, Debug)]
pub struct Vector {
    /// When it is opened.
    pub start_us: u64,
    pub(super) rtt_us: u64,
    /// What acceptor and initiator do.
    pub(super) acceptor: Vec<Move>,
    pub(super) initiator: Vec<Move>,
}

impl Vector {
    /// As a script.
    pub fn conversation(&self) -> Conversation {
        let (acceptor, initiator) = (self.acceptor.clone(), self.initiator.clone());
        conversation(acceptor, initiator, self.rtt_us * 1_000)
    }
}
