// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! The applications of `traffic/`, made safe.

use std::ffi::{CString, c_char, c_int};
use std::ptr::NonNull;

/// What an end does next: `struct decision`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// When it has heard so many bytes,
    pub heard_bytes: u64,
    /// and then waited so long,
    pub wait_ns: u64,
    /// it writes so many; 0: nothing, but what comes next is decided then.
    pub bytes: u64,
    /// A transfer that begins with this is complete when its end has heard so many.
    pub hears_bytes: u64,
    /// That end, 0 or 1; -1: none begins.
    pub hears: i32,
}

/// What a viewer has counted: `struct viewing`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Viewing {
    /// Segments that have come.
    pub segments: u64,
    /// Sum of their bit rates.
    pub bps: u64,
    /// Sum of their rungs, of which the least is 1.
    pub rungs: u64,
    /// Segments of another rung than the one before.
    pub switches: u64,
    /// How often the picture stood still, after it began.
    pub stalls: u64,
    /// How long.
    pub stalled_ns: u64,
}

impl Viewing {
    /// What has been counted since an earlier reading.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        Self {
            segments: self.segments - before.segments,
            bps: self.bps - before.bps,
            rungs: self.rungs - before.rungs,
            switches: self.switches - before.switches,
            stalls: self.stalls - before.stalls,
            stalled_ns: self.stalled_ns - before.stalled_ns,
        }
    }

    /// What both have counted.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        Self {
            segments: self.segments + other.segments,
            bps: self.bps + other.bps,
            rungs: self.rungs + other.rungs,
            switches: self.switches + other.switches,
            stalls: self.stalls + other.stalls,
            stalled_ns: self.stalled_ns + other.stalled_ns,
        }
    }
}

/// `struct application`, of which only C knows more.
#[repr(C)]
struct Opaque {
    _private: [u8; 0],
}

unsafe extern "C" {
    fn application_of(words: *const c_char, exponential: extern "C" fn(f64) -> f64) -> *mut Opaque;
    fn application_end(application: *mut Opaque);
    fn application_opener(application: *const Opaque) -> c_int;
    fn application_next(application: *mut Opaque, end: c_int, now_ns: u64) -> Decision;
    fn application_hears(
        application: *mut Opaque,
        end: c_int,
        now_ns: u64,
        sent_ns: u64,
        delay_ns: u64,
    ) -> c_int;
    fn application_viewing(application: *const Opaque, now_ns: u64) -> Viewing;
}

/// The same to the bit on every target, which the C library's is not.
extern "C" fn exponential(x: f64) -> f64 {
    libm::exp(x)
}

/// An application at both ends of one conversation. An end is 0, from which most of the data
/// comes, or 1. Times never go back.
#[derive(Debug)]
pub struct Application(NonNull<Opaque>);

impl Application {
    /// The application of these words, as `traffic/application.h` lists them; none: these are no
    /// words of one.
    #[must_use]
    pub fn of(words: &str) -> Option<Self> {
        let words = CString::new(words).ok()?;
        // SAFETY: the text ends with a zero, and C keeps no part of it.
        NonNull::new(unsafe { application_of(words.as_ptr(), exponential) }).map(Self)
    }

    /// Which end opens the conversation.
    #[must_use]
    pub fn opener(&self) -> usize {
        // SAFETY: `self.0` lives until it is dropped, here and below.
        usize::from(unsafe { application_opener(self.0.as_ptr()) } == 1)
    }

    /// Decides what an end does next. It is asked when the conversation begins, and each time
    /// that the decision before is carried out.
    pub fn next(&mut self, end: usize, now_ns: u64) -> Decision {
        unsafe { application_next(self.0.as_ptr(), number(end), now_ns) }
    }

    /// A datagram came to an end; it was sent then, and the network had it so long. True: with
    /// this one the end begins to speak.
    pub fn hears(&mut self, end: usize, now_ns: u64, sent_ns: u64, delay_ns: u64) -> bool {
        unsafe { application_hears(self.0.as_ptr(), number(end), now_ns, sent_ns, delay_ns) != 0 }
    }

    /// What its viewer has seen until now, if it has one.
    #[must_use]
    pub fn viewing(&self, now_ns: u64) -> Viewing {
        unsafe { application_viewing(self.0.as_ptr(), now_ns) }
    }
}

impl Drop for Application {
    fn drop(&mut self) {
        unsafe { application_end(self.0.as_ptr()) }
    }
}

/// C indexes arrays with it.
fn number(end: usize) -> c_int {
    assert!(end < 2, "a conversation has two ends");
    end as c_int
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_no_application_make_none() {
        for words in [
            "",
            "video",
            "video 4 30",
            "nada 1200 150000",
            "nada 1 0 5",
            "ping 5",
        ] {
            assert!(Application::of(words).is_none(), "{words}");
        }
    }

    #[test]
    fn a_decision_and_a_viewing_have_the_members_of_c() {
        let mut video = Application::of("video 4000000000 8000000000 1000001 9000000");
        let video = video.as_mut().expect("an application");
        assert_eq!(video.opener(), 1);
        let request = Decision {
            heard_bytes: 0,
            wait_ns: 0,
            bytes: 300,
            hears_bytes: 500_001,
            hears: 1,
        };
        assert_eq!(video.next(1, 0), request);
        assert_eq!(video.next(1, 0).heard_bytes, 500_001);
        assert_eq!(video.next(1, 1_000_000_000).wait_ns, 0);
        let seen = Viewing {
            segments: 1,
            bps: 1_000_001,
            rungs: 1,
            switches: 0,
            stalls: 1,
            stalled_ns: 2_000_000_000,
        };
        assert_eq!(video.viewing(7_000_000_000), seen);
    }

    #[test]
    fn a_call_speaks_at_its_far_end_with_the_first_datagram() {
        let mut call = Application::of("nada 1000 100000 1000000");
        let call = call.as_mut().expect("an application");
        assert_eq!((call.opener(), call.next(0, 5).bytes), (0, 1_000));
        // 8,000 bits at 100 kbit/s.
        assert_eq!(call.next(0, 5).wait_ns, 80_000_000);
        assert!(call.hears(1, 25, 5, 20));
        assert_eq!(call.next(1, 25).wait_ns, 100_000_000);
        assert!(!call.hears(1, 80_000_030, 80_000_005, 25));
    }
}
