//! The null of Anderson and Darling's statistic against a continuous law.
//!
//! The limit law (Anderson & Darling 1952, doi:10.1214/aoms/1177729437) at the statistic moved to
//! the limit's variance: the mean is 1 for every n, the variance
//! 2 (pi^2 - 9) / 3 + (10 - pi^2) / n.

use crate::edf::{quadratic_tail, to_limit};
use std::f64::consts::PI;

/// P(A2 >= a) for `n` observations of a continuous law; exact for one observation.
///
/// ```
/// // The published limit quantile.
/// assert!((unpredictabench::anderson::tail(1_000_000, 2.492) - 0.05).abs() < 1e-4);
/// ```
#[must_use]
pub fn tail(n: usize, a: f64) -> f64 {
    if a.is_nan() {
        return a;
    }
    if a == f64::INFINITY {
        return 0.0;
    }
    if n == 1 {
        // A2 = -1 - ln(u (1 - u)).
        return 1.0 - (1.0 - 4.0 * (-1.0 - a).exp()).max(0.0).sqrt();
    }
    let limit = 2.0 * (PI * PI - 9.0) / 3.0;
    let moved = to_limit(a, 1.0, limit + (10.0 - PI * PI) / n as f64, limit);
    quadratic_tail(
        moved,
        |j| j * (j + 1.0),
        |y| (PI / 2.0 * (1.0 + 4.0 * y).sqrt()).cos() / (PI * y),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limit_quantiles_are_the_published_ones() {
        for (a, p) in [(1.933, 0.1), (2.492, 0.05), (6.0, 0.000_967_45), (10.0, 1.381_5e-5)] {
            assert!((tail(100_000_000, a) / p - 1.0).abs() < 1e-3, "{a}: {}", tail(100_000_000, a));
        }
    }

    #[test]
    fn one_observation_is_exact() {
        let u: f64 = 0.1;
        let a = -1.0 - (u * (1.0 - u)).ln();
        assert!((tail(1, a) - 0.2).abs() < 1e-14);
    }
}
