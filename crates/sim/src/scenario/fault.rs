// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! What is wrong with a scenario, and where.

use std::collections::HashSet;

/// A rule that a scenario breaks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fault {
    /// Path of the key, as "links[0].rate".
    pub key: String,
    /// What is wrong and what is allowed.
    pub reason: String,
    /// Of a name that nothing has: the name, and the names that there are.
    pub unknown: Option<(String, Vec<String>)>,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.key, self.reason)?;
        match &self.unknown {
            Some((_, known)) => write!(f, "; there are: {}", known.join(", ")),
            None => Ok(()),
        }
    }
}

impl Fault {
    /// At a key, for a reason.
    pub fn new(key: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            key: key.into(),
            reason: reason.into(),
            unknown: None,
        }
    }
}

pub(super) fn fault<T>(key: impl Into<String>, reason: impl Into<String>) -> Result<T, Fault> {
    Err(Fault::new(key, reason))
}

/// Of more faults nobody reads, and each of a name has all names with it.
const ENOUGH: usize = 25;

/// The faults seen so far.
#[derive(Default)]
pub(super) struct Faults(pub(super) Vec<Fault>);

impl Faults {
    /// Takes that of a check, if it has one.
    pub(super) fn take(&mut self, checked: Result<(), Fault>) {
        self.0.extend(checked.err());
    }

    pub(super) fn add(&mut self, key: impl Into<String>, reason: impl Into<String>) {
        self.0.push(Fault::new(key, reason));
    }

    /// Nothing has this name; `known` are those that there are.
    pub(super) fn unknown<'a>(
        &mut self,
        key: String,
        reason: String,
        name: &str,
        known: impl Iterator<Item = &'a String>,
    ) {
        let known = if self.0.len() < ENOUGH {
            known.cloned().collect()
        } else {
            Vec::new()
        };
        self.0.push(Fault {
            key,
            reason,
            unknown: Some((name.to_owned(), known)),
        });
    }

    /// Each name once.
    pub(super) fn unique<'a>(
        &mut self,
        list: &str,
        key: &str,
        names: impl Iterator<Item = &'a String>,
    ) {
        let mut seen = HashSet::new();
        for (i, name) in names.enumerate() {
            if !seen.insert(name) {
                self.add(
                    format!("{list}[{i}]{key}"),
                    format!("'{name}' is there twice"),
                );
            }
        }
    }
}
