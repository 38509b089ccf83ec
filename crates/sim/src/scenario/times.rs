// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only

//! Times of the flows of a group, one each: when they start, how long their round trips are.

use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::Fault;
use super::fault::fault;
use super::range::time;
use crate::base::rng::Rng;

/// A time for each flow of a group: one for all, in turn from a list, evenly spread, or drawn.
/// In data it is a number, a list, or the table of a distribution.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(
    remote = "Self",
    tag = "distribution",
    rename_all = "lowercase",
    deny_unknown_fields
)]
pub enum TimesSpec {
    /// Each flow has this.
    #[serde(skip)]
    One(u64),
    /// The flows take these in turn; behind the last comes the first again.
    #[serde(skip)]
    List(Vec<u64>),
    /// At equal distances: the first flow has `from_ns`, the last `to_ns`.
    Even {
        /// Of the first flow.
        #[serde(rename = "from")]
        from_ns: u64,
        /// Of the last flow.
        #[serde(rename = "to")]
        to_ns: u64,
    },
    /// Drawn with equal chances.
    Uniform {
        /// The least.
        #[serde(rename = "from")]
        from_ns: u64,
        /// The most.
        #[serde(rename = "to")]
        to_ns: u64,
    },
    /// Drawn from a normal distribution.
    Normal {
        /// Its mean.
        #[serde(rename = "mean")]
        mean_ns: u64,
        /// Its standard deviation.
        #[serde(rename = "sd")]
        sd_ns: u64,
    },
    /// Drawn from an exponential distribution.
    Exponential {
        /// Its mean.
        #[serde(rename = "mean")]
        mean_ns: u64,
    },
    /// Each is an exponential gap later than the one before it: arrivals of a Poisson process.
    Poisson {
        /// When the process begins.
        #[serde(rename = "from")]
        from_ns: u64,
        /// Mean gap.
        #[serde(rename = "gap")]
        gap_ns: u64,
    },
}

impl Default for TimesSpec {
    fn default() -> Self {
        Self::One(0)
    }
}

impl<'de> Deserialize<'de> for TimesSpec {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        reader.deserialize_any(Times)
    }
}

struct Times;

impl<'de> Visitor<'de> for Times {
    type Value = TimesSpec;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a time, a list of times, or a distribution")
    }

    fn visit_u64<E: Error>(self, ns: u64) -> Result<TimesSpec, E> {
        Ok(TimesSpec::One(ns))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<TimesSpec, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(list)).map(TimesSpec::List)
    }

    fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<TimesSpec, A::Error> {
        // This is the derived function, of the variants that are tables.
        TimesSpec::deserialize(MapAccessDeserializer::new(table))
    }
}

impl TimesSpec {
    /// A time for each of `count` flows, none below `least_ns`. Those of one group come from one
    /// stream, so that a group's first flows have the same times however many follow.
    pub fn of_all(&self, count: u32, least_ns: u64, mut rng: Rng) -> Vec<u64> {
        let mut at_ns = match *self {
            Self::Poisson { from_ns, .. } => from_ns as f64,
            _ => 0.0,
        };
        let mut next = |index: u32| match self {
            &Self::One(ns) => ns,
            Self::List(ns) => ns[index as usize % ns.len()],
            &Self::Even { from_ns, to_ns } => {
                let steps = u128::from(count.max(2) - 1);
                from_ns + (u128::from(to_ns - from_ns) * u128::from(index) / steps) as u64
            }
            &Self::Uniform { from_ns, to_ns } => from_ns + rng.below(to_ns - from_ns + 1),
            &Self::Normal { mean_ns, sd_ns } => {
                whole_ns(mean_ns as f64 + sd_ns as f64 * rng.normal())
            }
            &Self::Exponential { mean_ns } => whole_ns(-libm::log(rng.unit()) * mean_ns as f64),
            &Self::Poisson { gap_ns, .. } => {
                at_ns -= libm::log(rng.unit()) * gap_ns as f64;
                whole_ns(at_ns)
            }
        };
        (0..count).map(|index| next(index).max(least_ns)).collect()
    }

    /// Checks their range; round trips are at least `least_ns` long.
    ///
    /// # Errors
    /// The first fault found; `at` is the key of this specification.
    pub fn check(&self, at: &str, least_ns: u64) -> Result<(), Fault> {
        let within = |key: String, ns: u64| {
            time(&key, ns)?;
            if ns < least_ns {
                let reason =
                    format!("{ns} ns is less than the delays of the flow's links, {least_ns} ns");
                return fault(key, reason);
            }
            Ok(())
        };
        match *self {
            Self::One(ns) => within(at.to_owned(), ns),
            Self::List(ref ns) => {
                if ns.is_empty() {
                    return fault(at, "a list of no times");
                }
                let mut each = ns.iter().enumerate();
                each.try_for_each(|(i, &ns)| within(format!("{at}[{i}]"), ns))
            }
            Self::Even { from_ns, to_ns } | Self::Uniform { from_ns, to_ns } => {
                within(format!("{at}.from"), from_ns)?;
                time(&format!("{at}.to"), to_ns)?;
                if to_ns < from_ns {
                    let reason = format!("{to_ns} ns is less than 'from', {from_ns} ns");
                    return fault(format!("{at}.to"), reason);
                }
                Ok(())
            }
            Self::Normal { mean_ns, sd_ns } => {
                within(format!("{at}.mean"), mean_ns)?;
                time(&format!("{at}.sd"), sd_ns)
            }
            Self::Exponential { mean_ns } => within(format!("{at}.mean"), mean_ns),
            Self::Poisson { from_ns, gap_ns } => {
                time(&format!("{at}.from"), from_ns)?;
                time(&format!("{at}.gap"), gap_ns)
            }
        }
    }
}

/// What is drawn below zero is zero, and `least_ns` is above it.
fn whole_ns(drawn: f64) -> u64 {
    drawn.max(0.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(spec: &TimesSpec, count: u32, least_ns: u64) -> Vec<u64> {
        spec.of_all(count, least_ns, Rng::stream(1, "test"))
    }

    #[test]
    fn lists_go_round_and_even_times_reach_both_ends() {
        let list = TimesSpec::List(vec![5, 7]);
        assert_eq!(drawn(&list, 5, 0), [5, 7, 5, 7, 5]);
        let even = TimesSpec::Even {
            from_ns: 10,
            to_ns: 40,
        };
        assert_eq!(drawn(&even, 4, 0), [10, 20, 30, 40]);
        assert_eq!(drawn(&even, 1, 0), [10]);
    }

    #[test]
    fn drawn_times_have_the_mean_and_the_bounds_that_they_say() {
        let mean = |spec: &TimesSpec, least_ns| {
            let all = drawn(spec, 100_000, least_ns);
            assert!(all.iter().all(|&ns| ns >= least_ns));
            all.iter().sum::<u64>() as f64 / all.len() as f64
        };
        let (from_ns, to_ns) = (1_000_000, 3_000_000);
        let uniform = TimesSpec::Uniform { from_ns, to_ns };
        assert!((mean(&uniform, from_ns) / 2e6 - 1.0).abs() < 0.01);
        assert!(drawn(&uniform, 1_000, 0).iter().all(|&ns| ns <= to_ns));
        let (mean_ns, sd_ns) = (2_000_000, 200_000);
        assert!((mean(&TimesSpec::Normal { mean_ns, sd_ns }, 0) / 2e6 - 1.0).abs() < 0.01);
        assert!((mean(&TimesSpec::Exponential { mean_ns }, 0) / 2e6 - 1.0).abs() < 0.01);
        // Above a floor of half the mean: 0.5 + exp(-0.5) of it.
        let floored = mean(&TimesSpec::Exponential { mean_ns }, mean_ns / 2);
        assert!((floored / 2e6 - 0.5 - (-0.5f64).exp()).abs() < 0.01);
    }

    #[test]
    fn a_poisson_process_has_its_rate_and_the_same_beginning_however_long_it_goes_on() {
        let (from_ns, gap_ns) = (5_000_000, 1_000_000);
        let poisson = TimesSpec::Poisson { from_ns, gap_ns };
        let all = drawn(&poisson, 10_000, 0);
        assert!(all.is_sorted() && all[0] > from_ns);
        let last = all.last().expect("10,000 of them") - from_ns;
        // Three standard deviations of the sum of 10,000 gaps.
        assert!((last as f64 / (10_000.0 * gap_ns as f64) - 1.0).abs() < 0.03);
        assert_eq!(drawn(&poisson, 100, 0), all[..100]);
    }
}
