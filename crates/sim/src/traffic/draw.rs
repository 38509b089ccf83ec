// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Variates. They are real numbers from pinned arithmetic, the same on every target, and become
//! whole bytes or nanoseconds once.

use crate::base::rng::Rng;
use crate::base::time::NS_PER_S;

/// A hundred days: longer waits are beyond every run that anyone looks at, and sums of a few of
/// them stay below 2^63 ns.
const LONGEST_NS: f64 = 100.0 * 86_400.0 * NS_PER_S as f64;
/// A petabyte: what a tail without an end is cut at.
const LARGEST_BYTES: f64 = 1e15;

/// A wait in whole nanoseconds.
pub fn whole_ns(ns: f64) -> u64 {
    libm::round(ns.clamp(0.0, LONGEST_NS)) as u64
}

/// A size in whole bytes, at least one.
pub fn whole_bytes(bytes: f64) -> u64 {
    libm::round(bytes.clamp(1.0, LARGEST_BYTES)) as u64
}

/// Exponential, mean 1.
pub fn exponential(rng: &mut Rng) -> f64 {
    -libm::log(rng.unit())
}

/// Pareto with mean 1: for a shape of more than 1.
pub fn pareto(rng: &mut Rng, shape: f64) -> f64 {
    (shape - 1.0) / shape * libm::pow(rng.unit(), -1.0 / shape)
}

/// Pareto between `least` and `most`, by its inverse.
pub fn bounded_pareto(rng: &mut Rng, shape: f64, least: f64, most: f64) -> f64 {
    let cut = 1.0 - libm::pow(least / most, shape);
    least * libm::pow(1.0 - (1.0 - rng.unit()) * cut, -1.0 / shape)
}

/// Lognormal with this median and this deviation of the logarithm.
pub fn lognormal(rng: &mut Rng, median: f64, sigma: f64) -> f64 {
    median * libm::exp(sigma * rng.normal())
}

/// Weibull with scale 1.
pub fn weibull(rng: &mut Rng, shape: f64) -> f64 {
    libm::pow(exponential(rng), 1.0 / shape)
}

/// Gamma with scale 1, for a shape of at least 1 (Marsaglia and Tsang 2000).
pub fn gamma(rng: &mut Rng, shape: f64) -> f64 {
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / libm::sqrt(9.0 * d);
    loop {
        let x = rng.normal();
        let v = 1.0 + c * x;
        if v <= 0.0 {
            continue;
        }
        let v = v * v * v;
        if libm::log(rng.unit()) < 0.5 * x * x + d - d * v + d * libm::log(v) {
            return d * v;
        }
    }
}

/// Geometric from 0 on, with this mean.
pub fn geometric(rng: &mut Rng, mean: f64) -> u64 {
    if mean <= 0.0 {
        return 0;
    }
    (libm::log(rng.unit()) / libm::log(mean / (1.0 + mean))) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean of `n` draws, which must be within five standard errors of what it is in theory.
    #[track_caller]
    fn mean_is(mean: f64, sd: f64, mut draw: impl FnMut(&mut Rng) -> f64) {
        let n = 200_000;
        let mut rng = Rng::stream(1, "draw");
        let found = (0..n).map(|_| draw(&mut rng)).sum::<f64>() / f64::from(n);
        let error = sd / libm::sqrt(f64::from(n));
        assert!((found - mean).abs() < 5.0 * error, "{found} for {mean}");
    }

    #[test]
    fn variates_have_the_means_of_their_closed_forms() {
        mean_is(1.0, 1.0, exponential);
        // Of a Pareto with shape 3, min 2/3: sd = min * sqrt(3 / ((3 - 1)^2 (3 - 2))).
        mean_is(1.0, 2.0 / 3.0 * 0.866, |rng| pareto(rng, 3.0));
        let (a, l, h) = (1.1f64, 10.0f64, 1e4f64);
        let cut = 1.0 - (l / h).powf(a);
        let mean = a / (a - 1.0) * l * (1.0 - (l / h).powf(a - 1.0)) / cut;
        let square = a / (2.0 - a) * l.powf(a) * (h.powf(2.0 - a) - l.powf(2.0 - a)) / cut;
        mean_is(mean, (square - mean * mean).sqrt(), |rng| {
            bounded_pareto(rng, a, l, h)
        });
        let (median, sigma) = (900.0, 0.8f64);
        let mean = median * (sigma * sigma / 2.0).exp();
        let sd = mean * ((sigma * sigma).exp() - 1.0).sqrt();
        mean_is(mean, sd, |rng| lognormal(rng, median, sigma));
        mean_is(1.85, 1.85f64.sqrt(), |rng| gamma(rng, 1.85));
        mean_is(5.0, 30f64.sqrt(), |rng| geometric(rng, 5.0) as f64);
        // Gamma(1 + 1/2) = sqrt(pi) / 2.
        mean_is(0.886_227, 0.463, |rng| weibull(rng, 2.0));
    }

    #[test]
    fn a_bounded_pareto_keeps_its_bounds_and_a_size_is_never_zero() {
        let mut rng = Rng::stream(2, "draw");
        let drawn: Vec<_> = (0..100_000)
            .map(|_| bounded_pareto(&mut rng, 1.1, 10.0, 1e3))
            .collect();
        assert!(drawn.iter().all(|x| (10.0..=1000.001).contains(x)));
        assert!(drawn.iter().any(|&x| x > 900.0));
        assert_eq!(whole_bytes(0.01), 1);
        assert_eq!(whole_bytes(f64::INFINITY), LARGEST_BYTES as u64);
        assert_eq!(whole_ns(f64::NAN), 0);
    }
}
