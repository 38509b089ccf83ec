// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Distribution of delays: mean and deviation exact, quantiles from a histogram
//! whose cells grow with the value, 1024 to an octave. A quantile is the middle of
//! its cell, so it is off by at most half a cell: 0.05 %.

const CELLS_LOG2: u32 = 10;
const CELLS: u64 = 1 << CELLS_LOG2;

/// Values below this have a cell each, which tells all about them.
const EXACT: u64 = 2 * CELLS;

/// Delays seen, in nanoseconds.
#[derive(Clone, Debug, Default)]
pub struct Delays {
    /// Whole octaves, from that of the least value seen to that of the largest.
    cells: Vec<u64>,
    /// Number of the first of them.
    first: usize,
    /// Of those whose cells hold more than one value.
    sum_ns: u128,
    sum_square: u128,
    max_ns: u64,
}

/// Exact below 2 * CELLS, then by exponent and the bits behind the leading one.
#[inline]
fn cell_of(ns: u64) -> usize {
    if ns < EXACT {
        return ns as usize;
    }
    let shift = 63 - ns.leading_zeros() - CELLS_LOG2;
    ((u64::from(shift) << CELLS_LOG2) + (ns >> shift)) as usize
}

/// The least value in it, and how many values it holds.
fn span_of(cell: usize) -> (u64, u64) {
    let cell = cell as u64;
    if cell < EXACT {
        return (cell, 1);
    }
    let shift = (cell >> CELLS_LOG2) - 1;
    ((CELLS + (cell & (CELLS - 1))) << shift, 1 << shift)
}

fn middle_of(cell: usize) -> f64 {
    match span_of(cell) {
        (only, 1) => only as f64,
        (start, width) => start as f64 + width as f64 / 2.0,
    }
}

impl Delays {
    /// One more.
    #[inline]
    pub fn add(&mut self, ns: u64) {
        let cell = cell_of(ns);
        match self.cells.get_mut(cell.wrapping_sub(self.first)) {
            Some(count) => *count += 1,
            None => self.open(cell),
        }
        if ns >= EXACT {
            self.sum_ns += u128::from(ns);
            self.sum_square += u128::from(ns) * u128::from(ns);
            self.max_ns = self.max_ns.max(ns);
        }
    }

    /// One more, mostly of those that have a cell each.
    #[inline]
    pub fn add_small(&mut self, value: u64) {
        match self
            .cells
            .get_mut((value as usize).wrapping_sub(self.first))
        {
            Some(count) if value < EXACT => *count += 1,
            _ => self.add_large(value),
        }
    }

    #[cold]
    fn add_large(&mut self, value: u64) {
        self.add(value);
    }

    /// All that `others` has seen too.
    pub fn add_all(&mut self, others: &Self) {
        if !others.cells.is_empty() {
            self.cover(others.first);
            self.cover(others.first + others.cells.len() - 1);
            let cells = self.cells[others.first - self.first..].iter_mut();
            for (cell, other) in cells.zip(&others.cells) {
                *cell += other;
            }
        }
        self.sum_ns += others.sum_ns;
        self.sum_square += others.sum_square;
        self.max_ns = self.max_ns.max(others.max_ns);
    }

    /// The largest since it was last asked for, of those above 2 us, and forgets it.
    pub fn take_max_ns(&mut self) -> u64 {
        std::mem::take(&mut self.max_ns)
    }

    /// The largest again.
    pub fn give_max_ns(&mut self, max_ns: u64) {
        self.max_ns = self.max_ns.max(max_ns);
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.cells.fill(0);
        (self.sum_ns, self.sum_square, self.max_ns) = (0, 0, 0);
    }

    /// Makes room for a cell, and counts the first in it.
    #[cold]
    fn open(&mut self, cell: usize) {
        self.cover(cell);
        self.cells[cell - self.first] = 1;
    }

    /// Makes room for the octave of a cell, and for all between it and the others.
    fn cover(&mut self, cell: usize) {
        let octave = cell - cell % CELLS as usize;
        if self.cells.is_empty() {
            self.first = octave;
        }
        let missing = self.first.saturating_sub(octave);
        self.cells.splice(..0, std::iter::repeat_n(0, missing));
        self.first -= missing;
        let len = self.cells.len().max(octave + CELLS as usize - self.first);
        self.cells.resize(len, 0);
    }

    /// Values that have a cell each, and how often they were seen.
    fn exact(&self) -> impl DoubleEndedIterator<Item = (u64, u64)> + '_ {
        let first = self.first as u64;
        let cells = self.cells.iter().take(EXACT.saturating_sub(first) as usize);
        let numbered = cells.enumerate();
        numbered.map(move |(nth, &seen)| (first + nth as u64, seen))
    }

    /// Of each cell that is not empty: its least value, the least beyond it, and how often it was
    /// seen.
    pub fn cells(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        let seen = self.cells.iter().enumerate().filter(|&(_, &seen)| seen > 0);
        seen.map(|(cell, &seen)| {
            let (start, width) = span_of(self.first + cell);
            (start, start.saturating_add(width), seen)
        })
    }

    /// How many.
    pub fn count(&self) -> u64 {
        self.cells.iter().sum()
    }

    /// Mean in ns; none of nothing.
    pub fn mean_ns(&self) -> Option<f64> {
        let count = self.count();
        let exact = self.exact().map(|(ns, seen)| u128::from(ns * seen));
        let sum = self.sum_ns + exact.sum::<u128>();
        (count > 0).then(|| sum as f64 / count as f64)
    }

    /// Standard deviation in ns, over all of them (not a sample's).
    pub fn sd_ns(&self) -> Option<f64> {
        let mean = self.mean_ns()?;
        let exact = self.exact().map(|(ns, seen)| u128::from(ns * ns * seen));
        let sum = self.sum_square + exact.sum::<u128>();
        let square = sum as f64 / self.count() as f64;
        Some(libm::sqrt((square - mean * mean).max(0.0)))
    }

    fn largest(&self) -> u64 {
        let mut exact = self.exact().filter(|&(_, seen)| seen > 0);
        let largest = exact.next_back().map_or(0, |(ns, _)| ns);
        largest.max(self.max_ns)
    }

    /// Largest.
    pub fn max_ns(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.largest() as f64)
    }

    /// The least value with at least `share` of all at or below it.
    pub fn quantile_ns(&self, share: f64) -> Option<f64> {
        self.quantiles_ns([share])[0]
    }

    /// The same of several shares, the least first.
    pub fn quantiles_ns<const N: usize>(&self, shares: [f64; N]) -> [Option<f64>; N] {
        let count = self.count();
        let mut cells = self.cells.iter().enumerate();
        let (mut below, mut cell) = (0, 0);
        shares.map(|share| {
            let rank = (libm::ceil(share * count as f64) as u64).max(1);
            while below < rank {
                let (nth, &seen) = cells.next()?;
                (below, cell) = (below + seen, self.first + nth);
            }
            Some(middle_of(cell).min(self.largest() as f64))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_follow_each_other_without_gap_or_overlap() {
        for ns in 1..5_000 {
            assert!(cell_of(ns) - cell_of(ns - 1) <= 1, "{ns}");
        }
        for ns in (1..50).flat_map(|e| [(1u64 << e) - 1, 1 << e, (1 << e) + 1]) {
            let middle = middle_of(cell_of(ns));
            let off = (middle - ns as f64).abs();
            assert!(off <= 0.001 * ns as f64, "{ns} in a cell around {middle}");
        }
    }

    #[test]
    fn quantiles_are_within_a_thousandth() {
        let mut delays = Delays::default();
        for i in 1..=100_000u64 {
            delays.add(i * 1_000);
        }
        for share in [0.25, 0.5, 0.95, 0.99] {
            let exact = share * 100_000.0 * 1_000.0;
            let got = delays.quantile_ns(share).unwrap();
            assert!((got - exact).abs() <= 0.001 * exact, "{share}: {got}");
        }
        assert_eq!(delays.mean_ns(), Some(50_000_500.0));
    }

    #[test]
    fn values_may_come_in_any_order() {
        let told = |values: &[u64]| {
            let mut delays = Delays::default();
            values.iter().for_each(|&ns| delays.add(ns));
            let cells: Vec<_> = delays.cells().collect();
            (cells, delays.mean_ns(), delays.max_ns())
        };
        let rising = [3, 2_100, 70_000, 5_000_000, 9_000_000_000];
        let falling: Vec<_> = rising.iter().rev().copied().collect();
        assert_eq!(told(&falling), told(&rising));
        assert_eq!(told(&falling[..2]), told(&rising[3..]));
    }

    #[test]
    fn parts_together_are_as_the_whole() {
        let (mut whole, mut part, mut sum) = <(Delays, Delays, Delays)>::default();
        for span in [1..3, 1_900..2_300, 70_000..70_400] {
            for ns in span {
                whole.add(ns);
                part.add_small(ns);
            }
            sum.add_all(&part);
            part.clear();
        }
        assert_eq!(part.max_ns(), None);
        let told = |delays: &Delays| {
            let quantiles = delays.quantiles_ns([0.1, 0.5, 0.5, 1.0]);
            let each = [0.1, 0.5, 0.5, 1.0].map(|share| delays.quantile_ns(share));
            assert_eq!(quantiles, each);
            (delays.mean_ns(), delays.sd_ns(), delays.max_ns(), quantiles)
        };
        assert_eq!(told(&sum), told(&whole));
        let exact: Vec<u64> = (1..3).chain(1_900..2_300).chain(70_000..70_400).collect();
        let mean = exact.iter().sum::<u64>() as f64 / exact.len() as f64;
        assert_eq!((sum.count(), sum.mean_ns()), (802, Some(mean)));
    }
}
