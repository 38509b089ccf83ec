// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! How good a call sounds: the E-model of ITU-T G.107, with its default values but for delay, loss
//! and codec. Echo is cancelled whole, so of its impairments by delay Idd alone is left.

use serde::Serialize;

use crate::traffic::Codec;

/// R with all default values (G.107 of 2011, section 7.7).
const R_DEFAULT: f64 = 93.2;
/// The playout buffer waits for this share of the datagrams that arrive. Others come too late.
const PLAYED: f64 = 0.99;

/// A call, and all that its score was reckoned from.
#[derive(Clone, Debug, Serialize)]
pub struct Speech {
    /// The codec's name.
    pub codec: &'static str,
    /// Its impairment without loss, Ie.
    pub ie: f64,
    /// Its robustness to loss, Bpl.
    pub bpl: f64,
    /// From mouth to ear: one datagram of speech, and the delay of the playout buffer.
    pub mouth_to_ear_ms: f64,
    /// Lost, or too late for the playout buffer.
    pub unplayed_pct: f64,
    /// The rating.
    pub r: f64,
}

impl Speech {
    /// Of a call whose 99th percentile of delay and whose loss these are.
    pub(super) fn of(codec: &Codec, delay_p99_ms: f64, lost_pct: f64) -> Self {
        let lost = lost_pct.clamp(0.0, 100.0) / 100.0;
        let unplayed_pct = 100.0 * (1.0 - (1.0 - lost) * PLAYED);
        let mouth_to_ear_ms = delay_p99_ms + codec.interval_ns as f64 / 1e6;
        let loss = loss_impairment(codec.ie, codec.bpl, unplayed_pct);
        Self {
            codec: codec.name,
            ie: codec.ie,
            bpl: codec.bpl,
            mouth_to_ear_ms,
            unplayed_pct,
            r: R_DEFAULT - delay_impairment(mouth_to_ear_ms) - loss,
        }
    }

    /// The mean opinion score, from 1 to 4.5 (G.107, annex B).
    pub(super) fn mos(&self) -> f64 {
        mos(self.r)
    }
}

fn mos(r: f64) -> f64 {
    match r {
        ..0.0 => 1.0,
        100.0.. => 4.5,
        _ => 1.0 + 0.035 * r + r * (r - 60.0) * (100.0 - r) * 7e-6,
    }
}

/// Idd.
fn delay_impairment(ms: f64) -> f64 {
    if ms <= 100.0 {
        return 0.0;
    }
    let x = libm::log2(ms / 100.0);
    let sixth = |x: f64| libm::pow(1.0 + libm::pow(x, 6.0), 1.0 / 6.0);
    25.0 * (sixth(x) - 3.0 * sixth(x / 3.0) + 2.0)
}

/// Ie,eff of losses that are independent (`BurstR` is 1).
fn loss_impairment(ie: f64, bpl: f64, loss_pct: f64) -> f64 {
    ie + (95.0 - ie) * loss_pct / (loss_pct + bpl)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(got: f64, published: f64, by: f64) {
        assert!((got - published).abs() <= by, "{got} for {published}");
    }

    #[test]
    fn ratings_have_the_scores_of_annex_b_of_g_107() {
        for (r, published) in [
            (93.2, 4.41),
            (90.0, 4.34),
            (80.0, 4.03),
            (70.0, 3.60),
            (60.0, 3.10),
            (50.0, 2.58),
        ] {
            close(mos(r), published, 0.007);
        }
        assert_eq!((mos(-1.0), mos(101.0)), (1.0, 4.5));
    }

    #[test]
    fn delay_costs_what_g_107_says() {
        assert_eq!(delay_impairment(100.0), 0.0);
        // Worked by hand, with X = 1 and X = 2.
        close(delay_impairment(200.0), 3.04, 0.01);
        close(delay_impairment(400.0), 24.08, 0.01);
    }

    #[test]
    fn losses_cost_what_was_measured_of_g_729a() {
        // G.113 of 2001, table I.2: Ie by share of lost packets.
        let measured = [
            (0.5, 13.0),
            (1.0, 15.0),
            (2.0, 19.0),
            (4.0, 26.0),
            (8.0, 36.0),
            (16.0, 49.0),
        ];
        for (loss_pct, published) in measured {
            close(loss_impairment(11.0, 19.0, loss_pct), published, 0.5);
        }
        assert_eq!(loss_impairment(11.0, 19.0, 0.0), 11.0);
    }
}
