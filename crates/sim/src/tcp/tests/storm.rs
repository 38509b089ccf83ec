// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Storms: random switches, losses, delays and marks, in both directions, from
//! fixed seeds. Whatever happens, all bytes arrive once and in the end nothing
//! is left to wait for.

use super::pair::{Fate, MS, Pair, Sent};
use crate::base::time::Time;
use crate::tcp::{CongestionControl, RtoForm, TcpConfig};

/// A generator for tests (SplitMix64).
#[derive(Clone)]
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn often(&mut self) -> bool {
        self.below(4) > 0
    }
}

fn config(dice: &mut Dice) -> TcpConfig {
    let ecn = dice.below(2) == 0;
    let cc = match dice.below(4) {
        0 => CongestionControl::Reno,
        1 => CongestionControl::Htcp,
        2 if ecn => CongestionControl::Dctcp,
        _ => CongestionControl::Cubic,
    };
    let rto = if dice.often() {
        RtoForm::Linux
    } else {
        RtoForm::Rfc6298
    };
    TcpConfig {
        cc,
        ecn,
        rto,
        mss_bytes: [None, Some(200), Some(8_000)][dice.below(3) as usize],
        timestamps: dice.often(),
        sack: dice.often(),
        dsack: dice.often(),
        nagle: dice.often(),
        initial_window_pkts: 1 + dice.below(20) as u32,
        hystart: dice.often(),
        cwnd_validation: dice.often(),
        slow_start_after_idle: dice.often(),
        byte_counting: dice.often(),
        rack: dice.often(),
        tlp: dice.often(),
        prr: dice.often(),
        frto: dice.often(),
        undo: dice.often(),
        timer_wheel: dice.often(),
        delayed_ack: dice.often(),
        quick_ack: dice.often(),
        compressed_ack: dice.often(),
        gso: dice.often(),
        fixed_window_bytes: (dice.below(4) == 0).then_some(50_000),
        ..TcpConfig::default()
    }
}

/// What happens to packets: loss, delay and marks in parts of 1000.
fn weather(mut dice: Dice) -> impl FnMut(usize, &Sent) -> Fate {
    let loss = dice.below(80);
    let late = dice.below(60);
    let mark = dice.below(100);
    move |_, sent| {
        let draw = dice.below(1000);
        let hold = dice.below(30) * MS;
        if draw < loss {
            Fate::Drop
        } else if draw < loss + late {
            Fate::Late(hold)
        } else if draw < loss + late + mark && sent.ecn != crate::base::ecn::Ecn::NotEct {
            Fate::Mark
        } else {
            Fate::Pass
        }
    }
}

fn storm(seed: u64) {
    let mut dice = Dice(seed);
    let config = config(&mut dice);
    assert_eq!(config.fault(), None, "seed {seed}");
    let ns_per_byte = [8, 80, 800][dice.below(3) as usize];
    let mut pair = Pair::new(&config, 1 + dice.below(80), ns_per_byte);
    pair.script(weather(Dice(dice.next())));
    pair.script_back(weather(Dice(dice.next())));
    let mut written = 0;
    let mut until = 0;
    for _ in 0..4 {
        let bytes = 1 + dice.below(300_000);
        pair.client.write(bytes);
        written += bytes;
        until += 100 + dice.below(3_000);
        pair.run(until);
    }
    pair.client.close();
    pair.run(3_000_000);
    assert_eq!(pair.delivered, written, "seed {seed}: {config:?}");
    let stats = pair.client.stats();
    assert_eq!(stats.acknowledged_bytes, written, "seed {seed}");
    assert_eq!(stats.pkts_out, 0, "seed {seed}");
    assert_eq!(pair.client.poll_timeout(), Time::MAX, "seed {seed}");
}

#[test]
fn all_bytes_arrive_once_in_any_weather() {
    for seed in 1..=60 {
        storm(seed);
    }
}

#[test]
#[ignore = "long: for a change of the repair"]
fn all_bytes_arrive_once_in_much_weather() {
    for seed in 1_000..11_000 {
        storm(seed);
    }
}
