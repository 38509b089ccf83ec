// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! One transfer on one connection, of a size that each flow draws.

use serde::{Deserialize, Serialize};

use super::Source;
use super::bulk::whole;
use super::key::{Key, Kind, Unit};
use super::kinds::{Member, Traffic};

/// Its keys.
pub const KIND: Kind = Kind {
    name: "drawn",
    help: "Sends one transfer; each flow draws its size, all up to twice the mean alike.",
    transports: &["tcp"],
    keys: &[Key::new("size", Unit::Size, "of a transfer, in the mean")],
};

/// Its table in a scenario.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Mean size.
    #[serde(rename = "size")]
    pub bytes: u64,
}

impl Traffic for Spec {
    /// Uniform from 1 to 2 `bytes` - 1.
    fn source(&self, mut member: Member) -> Source {
        Source::once(whole(1 + member.rng.below(2 * self.bytes - 1)))
    }
}
