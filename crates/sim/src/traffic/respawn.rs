// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Transfers of one size, one after the other, on a connection each.

use serde::{Deserialize, Serialize};

use super::bulk::whole;
use super::key::{Key, Kind, Unit};
use super::kinds::{Member, Traffic};
use super::{Source, Visit, Visits};

/// Its keys.
pub const KIND: Kind = Kind {
    name: "respawn",
    help: "Sends `size`; when it has arrived, a new connection begins at once.",
    transports: &["tcp"],
    keys: &[Key::new("size", Unit::Size, "of each transfer").within(1.0, 4e18)],
};

/// Its table in a scenario.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Size of each transfer.
    #[serde(rename = "size")]
    pub bytes: u64,
}

impl Traffic for Spec {
    fn source(&self, _: Member) -> Source {
        Source::new(self.clone())
    }

    fn is_script(&self) -> bool {
        false
    }

    fn keeps_transfers(&self) -> bool {
        true
    }
}

impl Visits for Spec {
    fn repeats(&self) -> bool {
        true
    }

    fn next_visit(&mut self) -> Option<Visit> {
        Some(Visit::of(whole(self.bytes)))
    }
}
