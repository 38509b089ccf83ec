// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Adaptive streaming: a viewer asks for a video segment by segment over one connection, each at a
//! rung of a ladder of bit rates. The buffer alone chooses the rung: BBA-0 of Huang et al., "A
//! Buffer-Based Approach to Rate Adaptation", SIGCOMM 2014.

use serde::{Deserialize, Serialize};

use super::decided::{Application, Decided, Viewing};
use super::key::{Key, Kind, Unit};
use super::kinds::{Member, Traffic};
use super::{End, Move, Source};
use crate::base::time::NS_PER_S;

/// Bytes of a request for a segment.
const REQUEST_BYTES: u64 = 300;
/// Bounds of the cushion, of a buffer of 240 s (section 4: 90 s, and 126 s from there).
const CUSHION: (f64, f64) = (90.0 / 240.0, 216.0 / 240.0);

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

/// What a scenario says of it.
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
        Decided::source(Stream {
            player: Player::new(self),
            asked_bytes: 0,
            requests: 0,
            answers: 0,
            waits: false,
        })
    }

    fn both_write(&self) -> bool {
        true
    }

    fn decides(&self) -> bool {
        true
    }

    fn has_viewers(&self) -> bool {
        true
    }
}

/// Viewer and server of one stream.
#[derive(Debug)]
struct Stream {
    player: Player,
    /// Bytes of all segments that were asked for.
    asked_bytes: u64,
    requests: u64,
    /// Requests that the server waited for.
    answers: u64,
    /// The viewer waits for the segment that it asked for.
    waits: bool,
}

impl Stream {
    /// The viewer asks, waits for the whole segment, and asks for the next one.
    fn view(&mut self, now_ns: u64) -> Move {
        if self.waits {
            self.waits = false;
            return Move::look().after_hearing(self.asked_bytes);
        }
        if self.requests > 0 {
            self.player.take(now_ns);
        }
        let wait_ns = self.player.choose();
        self.asked_bytes += self.player.segment_bytes();
        self.requests += 1;
        self.waits = true;
        Move::write(REQUEST_BYTES)
            .after_waiting(wait_ns)
            .until(End::To, self.asked_bytes)
    }

    /// The server hears a request, and then answers it.
    fn serve(&mut self) -> Move {
        self.answers += 1;
        if self.answers % 2 == 1 {
            let requests = self.answers.div_ceil(2);
            return Move::look().after_hearing(requests * REQUEST_BYTES);
        }
        Move::write(self.player.segment_bytes())
    }
}

impl Application for Stream {
    fn opener(&self) -> End {
        End::To
    }

    fn next_move(&mut self, end: End, now_ns: u64) -> Move {
        match end {
            End::To => self.view(now_ns),
            End::From => self.serve(),
        }
    }

    fn viewing(&self, now_ns: u64) -> Viewing {
        let mut player = self.player.clone();
        player.play(now_ns);
        player.viewing
    }
}

/// The buffer, and what is played from it.
#[derive(Clone, Debug)]
struct Player {
    ladder_bps: Vec<u64>,
    segment_ns: u64,
    buffer_ns: u64,
    /// Of the segment that was asked for last.
    rung: usize,
    /// Of the one that came last.
    before: Option<usize>,
    /// Video in the buffer, then.
    level_ns: u64,
    at_ns: u64,
    /// The picture stands still now.
    stalls: bool,
    viewing: Viewing,
}

impl Player {
    fn new(spec: &Spec) -> Self {
        Self {
            ladder_bps: spec.ladder_bps.clone(),
            segment_ns: spec.segment_ns,
            buffer_ns: spec.buffer_ns,
            rung: 0,
            before: None,
            level_ns: 0,
            at_ns: 0,
            stalls: false,
            viewing: Viewing::default(),
        }
    }

    fn segment_bytes(&self) -> u64 {
        let bits = u128::from(self.ladder_bps[self.rung]) * u128::from(self.segment_ns);
        (bits.div_ceil(8 * u128::from(NS_PER_S))) as u64
    }

    /// Plays until now. Before the first segment nothing stalls.
    fn play(&mut self, now_ns: u64) {
        let since_ns = now_ns - std::mem::replace(&mut self.at_ns, now_ns);
        if self.before.is_none() {
            return;
        }
        let missing_ns = since_ns.saturating_sub(self.level_ns);
        self.level_ns = self.level_ns.saturating_sub(since_ns);
        if missing_ns > 0 {
            self.viewing.stalls += u64::from(!self.stalls);
            self.viewing.stalled_ns += missing_ns;
            self.stalls = true;
        }
    }

    /// A segment has come: it is played at once if the picture stands still.
    fn take(&mut self, now_ns: u64) {
        self.play(now_ns);
        self.stalls = false;
        self.level_ns += self.segment_ns;
        let before = self.before.replace(self.rung);
        self.viewing.segments += 1;
        self.viewing.bps += self.ladder_bps[self.rung];
        self.viewing.rungs += self.rung as u64 + 1;
        self.viewing.switches += u64::from(before.is_some_and(|rung| rung != self.rung));
    }

    /// Chooses the next segment's rung; gives how long to wait until the buffer has room for it.
    fn choose(&mut self) -> u64 {
        self.rung = self.next_rung();
        (self.level_ns + self.segment_ns).saturating_sub(self.buffer_ns)
    }

    /// Algorithm 1 of the paper.
    fn next_rung(&self) -> usize {
        let top = self.ladder_bps.len() - 1;
        let [level, buffer] = [self.level_ns, self.buffer_ns].map(|ns| ns as f64);
        let (from, to) = (CUSHION.0 * buffer, CUSHION.1 * buffer);
        if level <= from {
            return 0;
        }
        if level >= to {
            return top;
        }
        let [least, most] = [self.ladder_bps[0], self.ladder_bps[top]].map(|bps| bps as f64);
        let allowed = least + (most - least) * (level - from) / (to - from);
        let rate = |rung: usize| self.ladder_bps[rung] as f64;
        let (above, below) = ((self.rung + 1).min(top), self.rung.saturating_sub(1));
        if allowed >= rate(above) {
            (0..=top)
                .rev()
                .find(|&rung| rate(rung) < allowed)
                .unwrap_or(0)
        } else if allowed <= rate(below) {
            (0..=top).find(|&rung| rate(rung) > allowed).unwrap_or(top)
        } else {
            self.rung
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Act;
    use super::*;

    const S: u64 = NS_PER_S;

    fn player() -> Player {
        Player::new(&Spec {
            ladder_bps: vec![1_000_000, 2_000_000, 3_000_000],
            segment_ns: 4 * S,
            buffer_ns: 240 * S,
        })
    }

    #[test]
    fn the_rung_follows_the_map_of_the_paper_and_keeps_still_between_its_neighbours() {
        let rung = |level_s: u64, before: usize| {
            let mut player = player();
            (player.level_ns, player.rung) = (level_s * S, before);
            player.next_rung()
        };
        // The reservoir, and what is above the cushion.
        assert_eq!(
            [rung(0, 2), rung(90, 2), rung(216, 0), rung(240, 0)],
            [0, 0, 2, 2]
        );
        // In the middle, at 153 s, the map allows 2 Mbit/s: the rung below from either side.
        assert_eq!([rung(152, 0), rung(152, 1), rung(152, 2)], [0, 1, 1]);
        assert_eq!([rung(154, 0), rung(154, 1), rung(154, 2)], [1, 1, 2]);
    }

    #[test]
    fn a_stall_lasts_from_the_empty_buffer_to_the_next_segment() {
        let mut player = player();
        player.take(10 * S);
        assert_eq!(player.viewing.stalls, 0);
        // 4 s were there, and 6 s passed.
        player.take(16 * S);
        player.take(17 * S);
        player.rung = 2;
        player.take(30 * S);
        let expected = Viewing {
            segments: 4,
            bps: 6_000_000,
            rungs: 6,
            switches: 1,
            stalls: 2,
            stalled_ns: 2 * S + 6 * S,
        };
        assert_eq!(player.viewing, expected);
    }

    #[test]
    fn a_stall_that_goes_on_is_counted_at_each_reading() {
        let mut stream = Stream {
            player: player(),
            asked_bytes: 0,
            requests: 0,
            answers: 0,
            waits: false,
        };
        stream.player.take(S);
        assert_eq!(stream.viewing(5 * S).stalls, 0);
        let seen = stream.viewing(8 * S);
        assert_eq!((seen.stalls, seen.stalled_ns), (1, 3 * S));
        stream.player.take(9 * S);
        let seen = stream.viewing(9 * S);
        assert_eq!((seen.stalls, seen.stalled_ns), (1, 4 * S));
    }

    #[test]
    fn a_full_buffer_waits_until_a_segment_has_room() {
        let mut player = player();
        player.level_ns = 239 * S;
        assert_eq!(player.choose(), 3 * S);
        player.level_ns = 236 * S;
        assert_eq!(player.choose(), 0);
    }

    #[test]
    fn viewer_and_server_agree_on_every_byte() {
        let mut stream = Stream {
            player: player(),
            asked_bytes: 0,
            requests: 0,
            answers: 0,
            waits: false,
        };
        stream.player.buffer_ns = 60 * S;
        let mut asked = 0;
        for second in 0..40u64 {
            let request = stream.next_move(End::To, second * S);
            let heard = stream.next_move(End::From, second * S);
            assert_eq!(heard.heard_bytes, (second + 1) * REQUEST_BYTES);
            let Act::Write(bytes) = stream.next_move(End::From, second * S).act else {
                panic!("the server answers");
            };
            asked += bytes;
            assert_eq!(request.transfer, Some((End::To, asked)));
            assert_eq!(stream.next_move(End::To, second * S).heard_bytes, asked);
        }
        // Four seconds of video came each second: the buffer is full, and allows the top.
        assert_eq!(stream.player.rung, 2);
    }
}
