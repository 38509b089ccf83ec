// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Randomness: xoshiro256++ (Blackman and Vigna 2019), one stream per name. A run's
//! seed and a name such as "flow/3/start" make a stream, so what one part draws never
//! shifts what another sees. Variates come from pure-Rust arithmetic and are the same
//! on every target.

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Rng {
    state: [u64; 4],
}

/// SplitMix64's step (Steele, Lea and Flood 2014): spreads a seed over the state.
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// FNV-1a, 64 bits: a hash that is the same everywhere and for ever.
pub fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |h, &byte| {
        (h ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// By which queues know the packets of one direction of a flow of this name; the other's is that
/// with its lowest bit turned.
pub fn flow_hash(seed: u64, name: &str) -> u32 {
    let mixed = (hash(name.as_bytes()) ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 32) as u32
}

impl Rng {
    /// The stream of `name` under `seed`.
    pub fn stream(seed: u64, name: &str) -> Self {
        let mut mixed = seed;
        let mut state = split_mix(&mut mixed) ^ hash(name.as_bytes());
        Self {
            state: std::array::from_fn(|_| split_mix(&mut state)),
        }
    }

    /// 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        let [a, b, c, d] = &mut self.state;
        let answer = a.wrapping_add(*d).rotate_left(23).wrapping_add(*a);
        let shifted = *b << 17;
        *c ^= *a;
        *d ^= *b;
        *b ^= *c;
        *a ^= *d;
        *c ^= shifted;
        *d = d.rotate_left(45);
        answer
    }

    /// A whole number in [0, `bound`), unbiased to 2^-64; 0 for a bound of 0.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// In (0, 1], with 53 bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        ((self.bits() >> 11) + 1) as f64 / (1u64 << 53) as f64
    }

    /// Standard normal, by the polar form of Box and Muller; one of the pair is used.
    pub fn normal(&mut self) -> f64 {
        loop {
            let x = 2.0 * self.unit() - 1.0;
            let y = 2.0 * self.unit() - 1.0;
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                return x * libm::sqrt(-2.0 * libm::log(square) / square);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The authors' C reference from the state 1, 2, 3, 4 begins so.
    #[test]
    fn generator_gives_the_published_sequence() {
        let mut rng = Rng {
            state: [1, 2, 3, 4],
        };
        let drawn: Vec<_> = (0..4).map(|_| rng.bits()).collect();
        assert_eq!(
            drawn,
            [
                41_943_041,
                58_720_359,
                3_588_806_011_781_223,
                3_591_011_842_654_386
            ]
        );
    }

    #[test]
    fn streams_of_other_names_and_seeds_differ() {
        let first = |seed, name| Rng::stream(seed, name).bits();
        assert_ne!(first(1, "a"), first(1, "b"));
        assert_ne!(first(1, "a"), first(2, "a"));
        assert_eq!(first(1, "a"), first(1, "a"));
    }

    #[test]
    fn normal_has_mean_0_and_deviation_1() {
        let mut rng = Rng::stream(1, "normal");
        let draws: Vec<_> = (0..200_000).map(|_| rng.normal()).collect();
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        let square = draws.iter().map(|x| x * x).sum::<f64>() / draws.len() as f64;
        assert!(
            mean.abs() < 0.01 && (square - 1.0).abs() < 0.02,
            "{mean} {square}"
        );
    }
}
