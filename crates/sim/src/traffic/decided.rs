// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Applications that decide as they go: what they do depends on when they heard what, so no script
//! tells it ahead. Their C is `traffic/`, which Linux's player asks too. Both ends of a flow share
//! one, as far as each knows by itself.

use std::cell::RefCell;
use std::rc::Rc;

use sojourn_core::{Application, Decision};

use super::{Conversation, End, Move, Moves, Source, Visit, Visits};

/// One of them, as its ends and its flow know it.
pub type Shared = Rc<RefCell<Application>>;

impl From<Decision> for Move {
    fn from(decision: Decision) -> Self {
        let step = match decision.bytes {
            0 => Self::look(),
            bytes => Self::write(bytes),
        };
        let step = step
            .after_hearing(decision.heard_bytes)
            .after_waiting(decision.wait_ns);
        match decision.hears {
            0 => step.until(End::From, decision.hears_bytes),
            1 => step.until(End::To, decision.hears_bytes),
            _ => step,
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
    /// The script of the application of these words, which `traffic/application.h` lists.
    pub fn source(words: &str) -> Source {
        let application = Application::of(words).expect("words of an application");
        let opener = [End::From, End::To][application.opener()];
        let application = Rc::new(RefCell::new(application));
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
