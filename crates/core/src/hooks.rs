// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Laws of algorithms by themselves, for benchmarks only.

/// One evaluation of DUK's Eq. 9, as `law/duk.h` describes it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DukSample {
    /// Bytes that arrived in the interval.
    pub arrived: u64,
    /// Bytes that were sent.
    pub sent: u64,
    /// Bytes that could have been sent.
    pub could: u64,
    /// Utilisation of the interval before, Q20.
    pub was_used: i64,
    /// Change of delay in ticks, Q20.
    pub delay_change: i64,
    /// Length of the interval in ticks.
    pub ticks: u32,
}

unsafe extern "C" {
    fn hook_duk_probability(sample: *const DukSample, used: *mut i64) -> u32;
}

/// The probability in Q0.32, and this interval's utilisation in Q20.
#[inline]
#[must_use]
pub fn duk_probability(sample: &DukSample) -> (u32, i64) {
    let mut used = 0;
    // SAFETY: a pure function of one struct that writes one number.
    let p = unsafe { hook_duk_probability(sample, &mut used) };
    (p, used)
}
