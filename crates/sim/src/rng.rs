// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Randomness: named streams of one pinned generator.
//!
//! xoshiro256** by Blackman and Vigna (2018), seeded through SplitMix64. A stream
//! is named by the run's seed and a text such as "flow/3/start": what one part of
//! a scenario draws never shifts what another draws.

/// One stream.
#[derive(Clone, Debug)]
pub struct Rng {
    state: [u64; 4],
    /// The second value of a pair of normal variates.
    spare: Option<f64>,
}

/// SplitMix64 (Steele, Lea and Flood 2014): one step.
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A seed for the stream `name` of the run `seed`: FNV-1a over the name, begun
/// from the mixed seed.
#[must_use]
pub fn stream_seed(seed: u64, name: &str) -> u64 {
    let mut state = seed;
    let mut hash = split_mix(&mut state) ^ 0xcbf2_9ce4_8422_2325;
    for byte in name.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    hash
}

impl Rng {
    /// The stream `name` of the run `seed`.
    #[must_use]
    pub fn stream(seed: u64, name: &str) -> Self {
        Self::from_seed(stream_seed(seed, name))
    }

    fn from_seed(mut seed: u64) -> Self {
        Self {
            state: std::array::from_fn(|_| split_mix(&mut seed)),
            spare: None,
        }
    }

    /// 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.state;
        let out = s[1].wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        out
    }

    /// Uniform in `[0, bound)`, 0 for a bound of 0. The bias of the multiply-high
    /// method is below bound / 2^64: for an hour in ns, 2e-7 of a draw.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// Uniform in `[0, 1)`, a multiple of 2^-53.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Normal with mean 0 and deviation 1, by Marsaglia's polar method: no
    /// function but a logarithm and a root, both from libm.
    pub fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        loop {
            let x = 2.0 * self.unit() - 1.0;
            let y = 2.0 * self.unit() - 1.0;
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                let scale = libm::sqrt(-2.0 * libm::log(square) / square);
                self.spare = Some(y * scale);
                return x * scale;
            }
        }
    }

    /// Exponential with mean 1.
    pub fn exponential(&mut self) -> f64 {
        -libm::log(1.0 - self.unit())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn split_mix_gives_the_published_numbers() {
        let mut state = 1_234_567;
        let expected = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        assert_eq!(expected.map(|_| split_mix(&mut state)), expected);
    }

    #[test]
    fn xoshiro_gives_the_published_numbers() {
        let mut rng = Rng {
            state: [1, 2, 3, 4],
            spare: None,
        };
        let expected = [
            11_520,
            0,
            1_509_978_240,
            1_215_971_899_390_074_240,
            1_216_172_134_540_287_360,
            607_988_272_756_665_600,
            16_172_922_978_634_559_625,
        ];
        assert_eq!(expected.map(|_| rng.next_u64()), expected);
    }

    #[test]
    fn streams_of_different_names_or_seeds_differ() {
        let first = |seed, name| Rng::stream(seed, name).next_u64();
        assert_eq!(first(1, "flow/3/start"), first(1, "flow/3/start"));
        assert_ne!(first(1, "flow/3/start"), first(2, "flow/3/start"));
        assert_ne!(first(1, "flow/3/start"), first(1, "flow/4/start"));
    }

    /// Mean and deviation within five standard errors of 100,000 draws.
    #[test]
    fn variates_have_their_moments() {
        let mut rng = Rng::stream(7, "moments");
        let n = 100_000;
        let moments = |draws: Vec<f64>| {
            let mean = draws.iter().sum::<f64>() / f64::from(n);
            let square = draws.iter().map(|x| x * x).sum::<f64>() / f64::from(n);
            (mean, libm::sqrt(square - mean * mean))
        };
        let (mean, sd) = moments((0..n).map(|_| rng.normal()).collect());
        assert!(mean.abs() < 0.016 && (sd - 1.0).abs() < 0.012, "{mean} {sd}");
        let (mean, sd) = moments((0..n).map(|_| rng.exponential()).collect());
        assert!((mean - 1.0).abs() < 0.016 && (sd - 1.0).abs() < 0.03, "{mean} {sd}");
    }
}
