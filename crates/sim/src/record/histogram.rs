// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Distribution of delays: mean and deviation exact, quantiles from a histogram
//! whose cells grow with the value, 1024 to an octave. A quantile is the middle of
//! its cell, so it is off by at most half a cell: 0.05 %.

const CELLS_LOG2: u32 = 10;
const CELLS: u64 = 1 << CELLS_LOG2;

/// Delays seen, in nanoseconds.
#[derive(Clone, Default)]
pub struct Delays {
    cells: Vec<u64>,
    count: u64,
    sum_ns: u128,
    sum_square: u128,
    max_ns: u64,
}

/// Exact below 2 * CELLS, then by exponent and the bits behind the leading one.
#[inline]
fn cell_of(ns: u64) -> usize {
    if ns < 2 * CELLS {
        return ns as usize;
    }
    let shift = 63 - ns.leading_zeros() - CELLS_LOG2;
    ((u64::from(shift) << CELLS_LOG2) + (ns >> shift)) as usize
}

fn middle_of(cell: usize) -> f64 {
    let cell = cell as u64;
    if cell < 2 * CELLS {
        return cell as f64;
    }
    let shift = (cell >> CELLS_LOG2) - 1;
    let start = (CELLS + (cell & (CELLS - 1))) << shift;
    start as f64 + (1u64 << shift) as f64 / 2.0
}

impl Delays {
    /// One more.
    #[inline]
    pub fn add(&mut self, ns: u64) {
        let cell = cell_of(ns);
        match self.cells.get_mut(cell) {
            Some(count) => *count += 1,
            None => self.open(cell),
        }
        self.count += 1;
        self.sum_ns += u128::from(ns);
        self.sum_square += u128::from(ns) * u128::from(ns);
        self.max_ns = self.max_ns.max(ns);
    }

    /// Makes room for a cell, and counts the first in it.
    #[cold]
    fn open(&mut self, cell: usize) {
        self.cells.resize(cell + CELLS as usize, 0);
        self.cells[cell] = 1;
    }

    /// All of another one too.
    pub fn merge(&mut self, other: &Self) {
        if self.cells.len() < other.cells.len() {
            self.cells.resize(other.cells.len(), 0);
        }
        for (cell, more) in self.cells.iter_mut().zip(&other.cells) {
            *cell += more;
        }
        self.count += other.count;
        self.sum_ns += other.sum_ns;
        self.sum_square += other.sum_square;
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// How many.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Mean in ns; none of nothing.
    pub fn mean_ns(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64)
    }

    /// Standard deviation in ns, over all of them (not a sample's).
    pub fn sd_ns(&self) -> Option<f64> {
        let mean = self.mean_ns()?;
        let square = self.sum_square as f64 / self.count as f64;
        Some(libm::sqrt((square - mean * mean).max(0.0)))
    }

    /// Largest.
    pub fn max_ns(&self) -> Option<f64> {
        (self.count > 0).then_some(self.max_ns as f64)
    }

    /// The least value with at least `share` of all at or below it.
    pub fn quantile_ns(&self, share: f64) -> Option<f64> {
        let rank = (libm::ceil(share * self.count as f64) as u64).max(1);
        let mut below = 0;
        for (cell, &count) in self.cells.iter().enumerate() {
            below += count;
            if below >= rank {
                return Some(middle_of(cell).min(self.max_ns as f64));
            }
        }
        None
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
    fn two_of_them_are_one_of_all() {
        let (mut all, mut halves) = (Delays::default(), [Delays::default(), Delays::default()]);
        for ns in (0..2_000u64).map(|i| i * i * 37 % 1_000_003) {
            all.add(ns);
            halves[usize::from(ns > 5_000)].add(ns);
        }
        let [mut merged, other] = halves;
        merged.merge(&other);
        assert_eq!(merged.count(), all.count());
        assert_eq!(merged.mean_ns(), all.mean_ns());
        assert_eq!(merged.quantile_ns(0.75), all.quantile_ns(0.75));
        assert_eq!(merged.max_ns(), all.max_ns());
    }
}
