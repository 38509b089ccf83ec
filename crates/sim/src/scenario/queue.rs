// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! From the words of a scenario to a queue of the core.

use sojourn_core::{Algorithm, Queue, algorithms};

use super::{Fault, QueueSpec};

/// A full frame as a queue sees it.
pub const MTU_BYTES: u32 = 1514;
/// The row that bounds what only a kernel's packets have.
const KERNEL_ROW: &str = "memory_limit";
/// The row that says what the link can send.
pub const RATE_ROW: &str = "bandwidth";

impl QueueSpec {
    /// Its rows on a link of this rate: where nobody has set the row `bandwidth`, it is the
    /// link's.
    pub fn rows_at(&self, rate_bps: Option<u64>) -> Vec<(String, u64)> {
        let mut rows = self.rows.clone();
        if let Some(rate_bps) = rate_bps {
            rows.entry(RATE_ROW.to_owned()).or_insert(rate_bps / 8);
        }
        rows.into_iter().collect()
    }

    /// Makes the queue of a link of this rate; `at` is the key of this specification.
    ///
    /// # Errors
    /// When the algorithm or a row is unknown, or a value is outside its range.
    pub fn build(&self, at: &str, rate_bps: Option<u64>, seed: u64) -> Result<Queue, Fault> {
        let Some(algorithm) = Algorithm::find(&self.algorithm) else {
            let known: Vec<_> = algorithms().iter().map(|a| a.name()).collect();
            return Err(Fault::new(
                format!("{at}.algorithm"),
                format!(
                    "'{}' is no algorithm; algorithms: {}",
                    self.algorithm,
                    known.join(", ")
                ),
            ));
        };
        if let Some(named) = self.rows.keys().find(|name| *name == KERNEL_ROW) {
            return Err(Fault::new(
                format!("{at}.{named}"),
                "packets occupy memory in a kernel only; bound limit_bytes".to_owned(),
            ));
        }
        let made = Queue::new(&sojourn_core::QueueSpec {
            algorithm,
            rows: self.rows_at(rate_bps),
            mtu_bytes: MTU_BYTES,
            seed,
            start_ns: 0,
        });
        made.map_err(|error| match self.rows.get(&error.row) {
            Some(value) if error.max < u64::MAX => Fault::new(
                format!("{at}.{}", error.row),
                format!(
                    "{value}: {} ({} to {})",
                    error.sentence, error.min, error.max
                ),
            ),
            _ => Fault::new(format!("{at}.{}", error.row), error.sentence.to_owned()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_links_rate_is_filled_in_where_nobody_has_set_it() {
        let mut spec = QueueSpec::default();
        assert!(spec.rows_at(None).iter().all(|(name, _)| name != RATE_ROW));
        let filled = (RATE_ROW.to_owned(), 1_250_000);
        assert!(spec.rows_at(Some(10_000_000)).contains(&filled));
        spec.rows.insert(RATE_ROW.to_owned(), 7);
        assert!(
            spec.rows_at(Some(10_000_000))
                .contains(&(RATE_ROW.to_owned(), 7))
        );
    }

    #[test]
    fn a_queue_takes_the_rate_of_any_link() {
        for rate_bps in [8, 10_000_000_000_000] {
            assert!(QueueSpec::default().build("", Some(rate_bps), 1).is_ok());
        }
    }
}
