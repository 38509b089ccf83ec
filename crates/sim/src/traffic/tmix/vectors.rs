// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! The connections of a file of vectors.

mod reader;
#[cfg(test)]
mod tests;
mod vector;

use std::sync::Arc;

use serde::Deserialize;

pub use reader::FIN_NS;
use reader::Reader;
pub use vector::Vector;

/// The connections of a file, by their starts. They are shared by all flows that replay it.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
pub struct Vectors(Arc<[Vector]>);

impl Vectors {
    /// The `nth`.
    pub fn get(&self, nth: usize) -> Option<&Vector> {
        self.0.get(nth)
    }
}

impl TryFrom<String> for Vectors {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let mut reader = Reader::default();
        for (i, line) in text.lines().enumerate() {
            let said = line.split('#').next().unwrap_or_default();
            let words: Vec<_> = said.split_whitespace().collect();
            let of_line = |reason: String| format!("line {} of the vectors: {reason}", i + 1);
            if let Some((mark, rest)) = words.split_first() {
                reader.read(mark, rest, i + 1).map_err(of_line)?;
            }
        }
        let mut vectors = reader.finish()?;
        vectors.sort_by_key(|vector| vector.start_us);
        Ok(Self(vectors.into()))
    }
}
