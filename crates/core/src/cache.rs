// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! A hint to the processor.

#[cfg(target_arch = "x86_64")]
const LINE_BYTES: usize = 64;

/// Fetches what will be read soon into the nearest cache. Does nothing where the
/// compiler offers no such instruction.
#[inline]
pub fn prefetch<T>(what: &T) {
    #[cfg(target_arch = "x86_64")]
    for line in (0..size_of::<T>()).step_by(LINE_BYTES) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let place: *const i8 = std::ptr::from_ref(what).cast();
        // SAFETY: the place lies inside `what`, the instruction reads nothing that the
        // program could see, and SSE is part of every x86-64.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(place.add(line)) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = what;
}
