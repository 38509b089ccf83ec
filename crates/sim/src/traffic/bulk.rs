// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! One transfer on one connection.

use serde::{Deserialize, Serialize};

use super::key::{Key, Kind, Unit};
use super::kinds::{Member, Traffic};
use super::{Conversation, End, Move, Source};

/// Written instead of a size by a transfer without end.
pub const ENDLESS: u64 = u64::MAX / 4;

/// Its keys.
pub const KIND: Kind = Kind {
    name: "bulk",
    help: "Sends `size`, or for ever.",
    transports: &["tcp"],
    keys: &[Key::new(
        "size",
        Unit::Size,
        "of the transfer; unless given, without end",
    )
    .within(1.0, 4e18)
    .optional()],
};

/// Its table in a scenario.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Size; none: without end.
    #[serde(default, rename = "size")]
    pub bytes: Option<u64>,
}

impl Traffic for Spec {
    fn source(&self, _: Member) -> Source {
        Source::once(match self.bytes {
            Some(bytes) => whole(bytes),
            None => Conversation::sending(vec![Move::write(ENDLESS)]),
        })
    }

    fn is_script(&self) -> bool {
        false
    }

    fn keeps_transfers(&self) -> bool {
        true
    }
}

/// A connection for so many bytes.
pub(super) fn whole(bytes: u64) -> Conversation {
    let write = Move::write(bytes).until(End::To, bytes);
    Conversation::sending(vec![write, Move::close()])
}
