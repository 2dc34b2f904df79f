//! Permutation tests of distances: labels of the pooled sample are dealt anew.
//!
//! The cdf of the pooled sample is the weighted mean of the two, so that a distance of the two
//! samples is N/m times the distance of the first to the pooled one (squared distances: its
//! square). A permutation therefore costs one subset of the pooled sample, and no second sample.

use crate::error::Result;
use crate::resampling::{Resample, RowStreams, merge};
use crate::truth::Truth;

/// A permuted statistic this much (relatively) below the observed one counts as equal to it: the
/// same distance reached along two paths differs by rounding only.
const ROUNDING: f64 = 1e-12;

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

/// Permute the labels of a pair `n_resamples` times.
///
/// `distance` is the distance of a sorted sample to a prepared one; `order` is 1 for a distance
/// and 2 for a squared one.
///
/// # Errors
/// When the pooled sample cannot be prepared.
pub fn test(
    x: &[f64],
    y: &[f64],
    n_resamples: usize,
    streams: RowStreams,
    order: i32,
    mut distance: impl FnMut(&[f64], &Truth) -> f64,
) -> Result<Permuted> {
    let (n, m) = (x.len(), y.len());
    let mut pooled = Vec::new();
    merge(x, y, &mut pooled);
    let pooled = Truth::new(&pooled)?;
    let scale = ((n + m) as f64 / m as f64).powi(order);
    let observed = distance(x, &pooled);
    let mut resample = Resample::default();
    let (mut sum, mut squares, mut n_at_least) = (0.0, 0.0, 0usize);
    for replicate in 0..n_resamples {
        let mut stream = streams.replicate(replicate);
        let chosen = resample.without_replacement(pooled.sorted(), n, &mut stream);
        let value = distance(chosen, &pooled);
        // Deviations from the observed one: their squares do not cancel.
        sum += value - observed;
        squares += (value - observed).powi(2);
        n_at_least += usize::from(value >= observed * (1.0 - ROUNDING));
    }
    let count = n_resamples as f64;
    let shift = sum / count;
    Ok(Permuted {
        mean: scale * (observed + shift),
        deviation: scale * (squares / count - shift * shift).max(0.0).sqrt(),
        pvalue: (n_at_least as f64 + 1.0) / (count + 1.0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden::{number, sorted, vectors};
    use crate::{energy, wasserstein};

    #[test]
    #[allow(clippy::unwrap_used)]
    fn permuted_moments_are_the_exact_ones() {
        for case in vectors("w1_energy") {
            let (x, y) = (sorted(&case["x"]), sorted(&case["y"]));
            let streams = RowStreams { seed: 11, row: 0 };
            let close = |got: f64, want: f64, error: f64| {
                assert!((got - want).abs() < 5.0 * error, "{got} {want} {error}");
            };
            let (mean, deviation) = (number(&case["w1_null_mean"]), number(&case["w1_null_sd"]));
            let got = test(&x, &y, 4000, streams, 1, wasserstein::to_truth).unwrap();
            close(got.mean, mean, deviation / 4000f64.sqrt());
            close(got.deviation, deviation, deviation / 4000f64.sqrt());
            let mean = number(&case["energy_sq_null_mean"]);
            let deviation = number(&case["energy_sq_null_sd"]);
            let mut buffer = Vec::new();
            let got = test(&x, &y, 4000, streams, 2, |x, y| energy::to_truth(x, y, &mut buffer));
            close(got.unwrap().mean, mean, deviation / 4000f64.sqrt());
        }
    }

    #[test]
    #[allow(clippy::unwrap_used)]
    fn the_smallest_p_is_never_zero() {
        let (x, y) = ([100.0, 101.0, 102.0, 103.0], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
        let streams = RowStreams { seed: 1, row: 0 };
        let got = test(&x, &y, 9, streams, 1, wasserstein::to_truth).unwrap();
        assert_eq!(got.pvalue, 0.1);
        let same = test(&y, &y, 99, streams, 1, wasserstein::to_truth).unwrap();
        assert_eq!(same.pvalue, 1.0);
    }
}
