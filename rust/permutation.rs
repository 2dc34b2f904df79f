//! Permutation tests of distances: labels of the pooled sample are dealt anew.
//!
//! The cdf of the pooled sample is the weighted mean of the two, so that a distance of the two
//! samples is N/m times the distance of the first to the pooled one (squared distances: its
//! square). A permutation therefore costs one subset of the pooled sample, and no second sample.

use std::ops::Range;

use crate::resampling::{Resample, RowStreams};
use crate::truth::Truth;

/// A permuted statistic this much (relatively) below the observed one counts as equal to it: the
/// same distance reached along two paths differs by rounding only.
const ROUNDING: f64 = 1e-12;

/// Sums over some of the permutations of one pair, of the deviations from the observed distance.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Partial {
    observed: f64,
    count: usize,
    deviations: f64,
    squares: f64,
    n_at_least: usize,
    scale: f64,
}

impl Partial {
    /// The same part, of values that were multiplied by `scale`.
    #[must_use]
    pub fn of_scaled(self, scale: f64) -> Self {
        Self { scale, ..self }
    }
}

/// What the permutations of one pair said.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Permuted {
    /// Mean of the permuted statistic.
    pub mean: f64,
    /// Its standard deviation over the permutations (divided by their number).
    pub deviation: f64,
    /// `(b + 1) / (B + 1)` with b permuted statistics at or above the observed one.
    pub pvalue: f64,
}

/// Deal the labels anew for the replicates in `range`; `distance` is that of a sorted sample to the
/// pooled one.
pub fn part(
    x: &[f64],
    pooled: &Truth,
    range: Range<usize>,
    streams: RowStreams,
    resample: &mut Resample,
    mut distance: impl FnMut(&[f64], &Truth) -> f64,
) -> Partial {
    let observed = distance(x, pooled);
    let mut sums = Partial { observed, count: range.len(), scale: 1.0, ..Partial::default() };
    for replicate in range {
        let mut stream = streams.replicate(replicate);
        let chosen = resample.without_replacement(pooled.sorted(), x.len(), &mut stream);
        let value = distance(chosen, pooled);
        sums.deviations += value - observed;
        sums.squares += (value - observed).powi(2);
        sums.n_at_least += usize::from(value >= observed * (1.0 - ROUNDING));
    }
    sums
}

/// Join the parts of one pair, in order; `factor` turns a distance to the pooled sample into one
/// to the truth.
#[must_use]
pub fn join(parts: &[Partial], factor: f64) -> Permuted {
    let (observed, scale) = parts.first().map_or((0.0, 1.0), |p| (p.observed, p.scale));
    let count = parts.iter().map(|p| p.count).sum::<usize>() as f64;
    let shift = parts.iter().map(|p| p.deviations).sum::<f64>() / count;
    let square = parts.iter().map(|p| p.squares).sum::<f64>() / count;
    let n_at_least = parts.iter().map(|p| p.n_at_least).sum::<usize>() as f64;
    Permuted {
        mean: factor * (observed + shift) / scale,
        deviation: factor * (square - shift * shift).max(0.0).sqrt() / scale,
        pvalue: (n_at_least + 1.0) / (count + 1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden::{number, sorted, vectors};
    use crate::resampling::merge;
    use crate::{energy, wasserstein};

    #[allow(clippy::unwrap_used)]
    fn test(
        x: &[f64],
        y: &[f64],
        count: usize,
        order: i32,
        mut distance: impl FnMut(&[f64], &Truth) -> f64,
    ) -> Permuted {
        let mut pooled = Vec::new();
        merge(x, y, &mut pooled);
        let pooled = Truth::new(&pooled).unwrap();
        let streams = RowStreams { seed: 11, row: 0 };
        let mut resample = Resample::default();
        let half = count / 2;
        let parts = [0..half, half..count]
            .map(|range| part(x, &pooled, range, streams, &mut resample, &mut distance));
        join(&parts, ((x.len() + y.len()) as f64 / y.len() as f64).powi(order))
    }

    #[test]
    fn permuted_moments_are_the_exact_ones() {
        for case in vectors("w1_energy") {
            let (x, y) = (sorted(&case["x"]), sorted(&case["y"]));
            let close = |got: f64, want: f64, error: f64| {
                assert!((got - want).abs() < 5.0 * error, "{got} {want} {error}");
            };
            let (mean, deviation) = (number(&case["w1_null_mean"]), number(&case["w1_null_sd"]));
            let got = test(&x, &y, 4000, 1, wasserstein::to_truth);
            close(got.mean, mean, deviation / 4000f64.sqrt());
            close(got.deviation, deviation, deviation / 4000f64.sqrt());
            let mean = number(&case["energy_sq_null_mean"]);
            let deviation = number(&case["energy_sq_null_sd"]);
            let mut buffer = Vec::new();
            let got = test(&x, &y, 4000, 2, |x, y| energy::to_truth(x, y, &mut buffer));
            close(got.mean, mean, deviation / 4000f64.sqrt());
        }
    }

    #[test]
    fn the_smallest_p_is_never_zero() {
        let (x, y) = ([100.0, 101.0, 102.0, 103.0], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
        assert_eq!(test(&x, &y, 9, 1, wasserstein::to_truth).pvalue, 0.1);
        assert_eq!(test(&y, &y, 99, 1, wasserstein::to_truth).pvalue, 1.0);
    }
}
