// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Distributions as a report has them: the cells of their histograms.

use super::Delays;
use crate::base::time::NS_PER_MS;

/// What was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Of a queue: arrival to departure.
    QueueDelay,
    /// The same, each packet's cut to whole milliseconds.
    QueueDelayWhole,
    /// Of a queue: arrival to last bit sent.
    SystemDelay,
    /// Of a group of flows: completion times of transfers.
    CompletionTime,
    /// Of a group of flows: load times of pages.
    PageTime,
    /// Of a group of flows: one-way delays of datagrams.
    DatagramDelay,
}

impl Quantity {
    /// As tables call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::QueueDelay => "queue_delay",
            Self::QueueDelayWhole => "queue_delay_whole",
            Self::SystemDelay => "system_delay",
            Self::CompletionTime => "fct",
            Self::PageTime => "page",
            Self::DatagramDelay => "datagram_delay",
        }
    }

    /// What its histogram counts in.
    fn unit_ns(self) -> u64 {
        match self {
            Self::QueueDelayWhole => NS_PER_MS,
            _ => 1,
        }
    }
}

/// One quantity in one window.
#[derive(Clone, Debug)]
pub struct Distribution {
    /// What was measured.
    pub quantity: Quantity,
    /// Link of the queue, or name of the group.
    pub of: String,
    /// Name of the window.
    pub window: String,
    /// What was seen.
    pub seen: Delays,
}

/// How many values are in [from, below).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Least value.
    pub from_ns: u64,
    /// Least value beyond.
    pub below_ns: u64,
    /// How many.
    pub count: u64,
}

impl Distribution {
    /// Cells that are not empty, from the least value on.
    pub fn cells(&self) -> impl Iterator<Item = Cell> + '_ {
        let unit_ns = self.quantity.unit_ns();
        self.seen.cells().map(move |(from, below, count)| Cell {
            from_ns: from.saturating_mul(unit_ns),
            below_ns: below.saturating_mul(unit_ns),
            count,
        })
    }
}
