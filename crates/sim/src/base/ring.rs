// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! A queue of small values, first in, first out. As `VecDeque`, but its size is a power
//! of two, so that a place is found by a mask: it is used several times per packet.

use sojourn_core::Cells;

/// The queue.
#[derive(Clone, Debug)]
pub struct Ring<T> {
    cells: Cells<T>,
    /// Running numbers, which wrap; a place is one of them under a mask.
    first: usize,
    behind: usize,
}

impl<T: Copy + Default> Default for Ring<T> {
    fn default() -> Self {
        Self {
            cells: Cells::new(1),
            first: 0,
            behind: 0,
        }
    }
}

impl<T: Copy + Default> Ring<T> {
    /// How many wait.
    #[inline]
    pub fn len(&self) -> usize {
        self.behind.wrapping_sub(self.first)
    }

    /// Whether none waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.first == self.behind
    }

    /// The one that came first.
    #[inline]
    pub fn front(&self) -> Option<T> {
        (!self.is_empty()).then(|| *self.cells.get(self.first))
    }

    /// The one that came last.
    #[inline]
    pub fn back(&self) -> Option<T> {
        (!self.is_empty()).then(|| *self.cells.get(self.behind.wrapping_sub(1)))
    }

    /// The one behind `nth` others.
    #[inline]
    pub fn get(&self, nth: usize) -> Option<T> {
        (nth < self.len()).then(|| *self.cells.get(self.first.wrapping_add(nth)))
    }

    /// Adds one behind the others.
    #[inline]
    pub fn push_back(&mut self, value: T) {
        if self.len() == self.cells.count() {
            self.grow();
        }
        *self.cells.get_mut(self.behind) = value;
        self.behind = self.behind.wrapping_add(1);
    }

    /// Takes the first one out.
    #[inline]
    pub fn pop_front(&mut self) -> Option<T> {
        let value = self.front()?;
        self.first = self.first.wrapping_add(1);
        Some(value)
    }

    /// Takes the first one out unseen; there is one.
    #[inline]
    pub fn drop_front(&mut self) {
        debug_assert!(!self.is_empty());
        self.first = self.first.wrapping_add(1);
    }

    /// All, the first one first.
    pub fn iter(&self) -> impl Iterator<Item = T> + '_ {
        (0..self.len()).map(|nth| *self.cells.get(self.first.wrapping_add(nth)))
    }

    /// Adds one behind the last that is not `later`. False: it would have to pass more than
    /// `most`, and is not added.
    #[inline]
    pub fn insert(&mut self, value: T, most: usize, later: impl Fn(T) -> bool) -> bool {
        let mut passed = 0;
        while passed < self.len() {
            let number = self.behind.wrapping_sub(passed + 1);
            if !later(*self.cells.get(number)) {
                break;
            }
            if passed == most {
                return false;
            }
            passed += 1;
        }
        self.push_back(value);
        let mut number = self.behind.wrapping_sub(1);
        for _ in 0..passed {
            let before = number.wrapping_sub(1);
            *self.cells.get_mut(number) = *self.cells.get(before);
            *self.cells.get_mut(before) = value;
            number = before;
        }
        true
    }

    #[cold]
    fn grow(&mut self) {
        let mut cells = Cells::new(2 * self.cells.count());
        for (place, value) in self.iter().enumerate() {
            *cells.get_mut(place) = value;
        }
        (self.first, self.behind) = (0, self.len());
        self.cells = cells;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_kept_while_it_grows_and_wraps() {
        let mut ring = Ring::default();
        let (mut pushed, mut popped) = (0_u32, 0);
        for round in 0..50 {
            for _ in 0..round % 7 {
                ring.push_back(pushed);
                pushed += 1;
            }
            for _ in 0..round % 5 {
                let next = (popped < pushed).then_some(popped);
                assert_eq!(ring.pop_front(), next);
                popped += u32::from(next.is_some());
            }
            assert!(ring.iter().eq(popped..pushed));
            assert_eq!(ring.len(), (pushed - popped) as usize);
        }
    }

    #[test]
    fn late_comer_finds_its_place_behind_its_equals() {
        let mut ring = Ring::default();
        let later = |than: (u32, char)| move |other: (u32, char)| other.0 > than.0;
        let mut insert = |value| ring.insert(value, 3, later(value));
        for value in [(2, 'a'), (4, 'b'), (3, 'c'), (2, 'd'), (3, 'e')] {
            assert!(insert(value));
        }
        assert!(!insert((1, 'f')));
        let order: String = ring.iter().map(|(_, name)| name).collect();
        assert_eq!(order, "adceb");
    }
}
