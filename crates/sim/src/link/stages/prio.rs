// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Bands of which the first that gives a packet sends, as sch_prio (Linux 6.12).

use super::{Classes, Discipline, Next};
use crate::base::time::Time;
use crate::link::gate::Gate;
use crate::link::shared::Shared;

/// Strict priority.
pub struct Prio {
    bands: Classes,
}

impl Prio {
    pub(super) fn new(bands: Classes) -> Self {
        Self { bands }
    }
}

impl Discipline for Prio {
    fn settle(&mut self, now: Time, way: &[u16], gates: &[Gate]) {
        self.bands.settle(now, way, gates);
    }

    fn take(&mut self, now: Time, gates: &mut [Gate], shared: &mut Shared) -> Next {
        let mut again = Time::MAX;
        for band in 0..self.bands.len() {
            if self.bands.held_by(band) == 0 {
                continue;
            }
            match self.bands.take(now, band, gates, shared).0 {
                Ok(taken) => {
                    self.bands.counts[band].send(taken.len_bytes);
                    return Ok(taken);
                }
                Err(at) => again = again.min(at),
            }
        }
        Err(again)
    }

    fn classes(&self) -> &Classes {
        &self.bands
    }

    fn classes_mut(&mut self) -> &mut Classes {
        &mut self.bands
    }
}
