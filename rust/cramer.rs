//! The null of Cramer and von Mises' statistic against a continuous law.
//!
//! The limit law (Smirnov 1937) at the statistic moved to the limit's variance: the mean is 1/6 for
//! every n, the variance (4 n - 3) / (180 n).

use crate::edf::{quadratic_tail, to_limit};
use std::f64::consts::PI;

/// P(W2 >= w) for `n` observations of a continuous law; exact for one observation.
///
/// ```
/// // The published limit quantile.
/// assert!((unpredictabench::cramer::tail(1_000_000, 0.46136) - 0.05).abs() < 1e-5);
/// ```
#[must_use]
pub fn tail(n: usize, w: f64) -> f64 {
    let size = n as f64;
    if w > size / 3.0 * (1.0 + 1e-12) || w.is_nan() {
        return if w.is_nan() { w } else { 0.0 };
    }
    if n == 1 {
        return (1.0 - 2.0 * (w - 1.0 / 12.0).max(0.0).sqrt()).clamp(0.0, 1.0);
    }
    let moved = to_limit(w, 1.0 / 6.0, (4.0 * size - 3.0) / (180.0 * size), 1.0 / 45.0);
    quadratic_tail(moved, |j| (PI * j).powi(2), |y| y.sqrt().sin() / y.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limit_quantiles_are_the_published_ones() {
        for (w, p) in [(0.347_30, 0.1), (0.461_36, 0.05), (0.743_46, 0.01), (1.167_86, 0.001)] {
            assert!((tail(100_000_000, w) / p - 1.0).abs() < 2e-4, "{w}: {}", tail(100_000_000, w));
        }
    }

    #[test]
    fn one_observation_is_exact() {
        assert_eq!(tail(1, 1.0 / 12.0), 1.0);
        assert!((tail(1, 1.0 / 12.0 + 0.16) - 0.2).abs() < 1e-14);
        assert_eq!(tail(1, 0.4), 0.0);
    }
}
