// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! A hint to the processor.

const LINE_BYTES: usize = 64;

/// Fetches what will be read soon into the nearest cache. Does nothing where the
/// compiler offers no such instruction.
#[inline]
pub fn prefetch<T>(what: &T) {
    fetch(what, 0, size_of::<T>());
}

/// The same of the bytes from `FROM` up to `TO` of what begins at a cache line.
#[inline]
pub fn prefetch_part<const FROM: usize, const TO: usize, T>(of: &T) {
    const { assert!(align_of::<T>().is_multiple_of(LINE_BYTES) && TO <= size_of::<T>()) };
    fetch(of, FROM - FROM % LINE_BYTES, TO);
}

#[inline(always)]
fn fetch<T>(what: &T, from: usize, to: usize) {
    #[cfg(target_arch = "x86_64")]
    for offset in (from..to).step_by(LINE_BYTES) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let place = std::ptr::from_ref(what).cast::<i8>();
        // SAFETY: the instruction reads nothing that the program could see, whatever the
        // address, and SSE is part of every x86-64.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(place.wrapping_add(offset)) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (what, from, to);
}
