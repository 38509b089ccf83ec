// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! The cells that rings are made of. Their count is a power of two, so a running number and a mask
//! choose a cell. A packet asks for several, so no place is checked at run time.

/// The cells. There is at least one, and their number is a power of two.
#[derive(Clone, Debug)]
pub struct Cells<T>(Box<[T]>);

impl<T: Clone + Default> Cells<T> {
    /// Makes `count` cells of the default value.
    ///
    /// # Panics
    /// When `count` is no power of two.
    #[must_use]
    pub fn new(count: usize) -> Self {
        assert!(count.is_power_of_two(), "{count} cells");
        Self(vec![T::default(); count].into_boxed_slice())
    }
}

impl<T> Cells<T> {
    /// Returns the number of cells.
    #[inline]
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.len()
    }

    #[inline]
    fn place(&self, number: usize) -> usize {
        number & (self.0.len() - 1)
    }

    /// The cell of a running number.
    #[inline]
    #[must_use]
    pub fn get(&self, number: usize) -> &T {
        // SAFETY: `new` made a power of two of cells, and nothing changes their number. Under
        // the mask of one less, every number is below it.
        unsafe { self.0.get_unchecked(self.place(number)) }
    }

    /// See `get`.
    #[inline]
    pub fn get_mut(&mut self, number: usize) -> &mut T {
        let place = self.place(number);
        // SAFETY: as in `get`.
        unsafe { self.0.get_unchecked_mut(place) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_differ_by_the_count_name_one_cell() {
        for count in [1, 2, 64] {
            let mut cells = Cells::<usize>::new(count);
            for number in 0..count {
                *cells.get_mut(number.wrapping_sub(count)) = number;
            }
            assert!((0..count).all(|number| *cells.get(number + 5 * count) == number));
        }
    }

    #[test]
    #[should_panic(expected = "0 cells")]
    fn there_is_a_cell_at_least() {
        let _ = Cells::<u8>::new(0);
    }

    #[test]
    #[should_panic(expected = "12 cells")]
    fn their_number_is_a_power_of_two() {
        let _ = Cells::<u8>::new(12);
    }
}
