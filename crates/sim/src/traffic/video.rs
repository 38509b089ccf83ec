// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Adaptive streaming, whose viewer decides by its buffer: `traffic/video.c`.

use serde::{Deserialize, Serialize};

use super::Source;
use super::decided::Decided;
use super::key::{Key, Kind, Unit};
use super::kinds::{Member, Traffic};

/// Its keys.
pub const KIND: Kind = Kind {
    name: "video",
    help: "A stream whose viewer asks for segments at the bit rate that its buffer allows (BBA-0).",
    transports: &["tcp"],
    keys: &[
        // Of the streams of 2012, in "Per-Title Encode Optimization", Netflix 2015.
        Key::new(
            "ladder",
            Unit::Rates,
            "bit rates of the video, from the least on",
        )
        .or_numbers(&[
            235e3, 375e3, 560e3, 750e3, 1_050e3, 1_750e3, 2_350e3, 3_000e3, 4_300e3, 5_800e3,
        ]),
        Key::new("segment", Unit::Time, "of video in a segment")
            .within(1e8, 6e10)
            .or(4e9),
        Key::new(
            "buffer",
            Unit::Time,
            "of video that the viewer keeps at most",
        )
        .within(1e9, 3.6e12)
        .or(3e10),
    ],
};

/// Its table in a scenario.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Bit rates.
    #[serde(rename = "ladder")]
    pub ladder_bps: Vec<u64>,
    /// Video in a segment.
    #[serde(rename = "segment")]
    pub segment_ns: u64,
    /// Video that is kept at most.
    #[serde(rename = "buffer")]
    pub buffer_ns: u64,
}

impl Spec {
    fn words(&self) -> String {
        let ladder = self.ladder_bps.iter().map(|bps| format!(" {bps}"));
        let ladder: String = ladder.collect();
        format!("video {} {}{ladder}", self.segment_ns, self.buffer_ns)
    }
}

impl Traffic for Spec {
    fn check(&self) -> Result<(), (&'static str, String)> {
        if !self.ladder_bps.is_sorted_by(|one, next| one < next) {
            let reason = "its rates do not rise; write each once, the least first";
            return Err(("ladder", reason.to_owned()));
        }
        if self.buffer_ns < 2 * self.segment_ns {
            let reason = format!(
                "{} ns hold no two segments of {} ns; write at least {} ns",
                self.buffer_ns,
                self.segment_ns,
                2 * self.segment_ns
            );
            return Err(("buffer", reason));
        }
        Ok(())
    }

    fn source(&self, _: Member) -> Source {
        Decided::source(&self.words())
    }

    fn both_write(&self) -> bool {
        true
    }

    fn application(&self) -> Option<String> {
        Some(self.words())
    }

    fn has_viewers(&self) -> bool {
        true
    }
}
