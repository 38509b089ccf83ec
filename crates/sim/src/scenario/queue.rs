// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! From the words of a scenario to a queue of the core.

use sojourn_core::{Algorithm, Queue, algorithms};

use super::{Fault, QueueSpec};

/// A full frame as a queue sees it.
pub const MTU_BYTES: u32 = 1514;
/// The row that bounds what only a kernel's packets have.
const KERNEL_ROW: &str = "memory_limit";

impl QueueSpec {
    /// Makes the queue; `at` is the key of this specification.
    ///
    /// # Errors
    /// When the algorithm or a row is unknown, or a value is outside its range.
    pub fn build(&self, at: &str, seed: u64) -> Result<Queue, Fault> {
        let Some(algorithm) = Algorithm::find(&self.algorithm) else {
            let known: Vec<_> = algorithms().iter().map(|a| a.name()).collect();
            return Err(Fault {
                key: format!("{at}.algorithm"),
                reason: format!(
                    "'{}' is no algorithm; algorithms: {}",
                    self.algorithm,
                    known.join(", ")
                ),
            });
        };
        if let Some(named) = self.rows.keys().find(|name| *name == KERNEL_ROW) {
            return Err(Fault {
                key: format!("{at}.rows.{named}"),
                reason: "packets occupy memory in a kernel only; bound limit_bytes".to_owned(),
            });
        }
        let made = Queue::new(&sojourn_core::QueueSpec {
            algorithm,
            rows: self.rows.iter().map(|(k, v)| (k.clone(), *v)).collect(),
            mtu_bytes: MTU_BYTES,
            seed,
            start_ns: 0,
        });
        made.map_err(|error| match self.rows.get(&error.row) {
            Some(value) if error.max < u64::MAX => Fault {
                key: format!("{at}.rows.{}", error.row),
                reason: format!(
                    "{value}: {} ({} to {})",
                    error.sentence, error.min, error.max
                ),
            },
            _ => Fault {
                key: format!("{at}.rows.{}", error.row),
                reason: error.sentence.to_owned(),
            },
        })
    }
}
