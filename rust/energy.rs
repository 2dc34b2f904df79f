//! Energy distance of two samples and its exact permutation null moments.
//!
//! `Q = 2 int (F - G)^2` is the squared distance; SciPy's `energy_distance` is its root. Its first
//! two moments under permutation of the labels are polynomials in sums of pairwise distances of
//! the pooled sample (Székely & Rizzo 2013, doi:10.1016/j.jspi.2013.03.018), which sorted data give
//! in one pass.

use crate::scale::{deviation, power_of_two_below_inverse};
use crate::truth::Truth;
use crate::wasserstein::add_compensated;

/// Below this many mean pairwise distances the closed form has lost digits to cancellation, and the
/// exact merge is used instead.
const CANCELLATION: f64 = 1.0 / 256.0;

/// Mean absolute difference over all ordered pairs of a sorted sample, each with itself included.
#[must_use]
pub fn mean_pair_distance(sorted: &[f64]) -> f64 {
    let n = sorted.len() as f64;
    let (mut sum, mut lost) = (0.0, 0.0);
    for (i, &x) in sorted.iter().enumerate() {
        (sum, lost) = add_compensated(sum, lost, (2.0 * i as f64 - (n - 1.0)) * x);
    }
    2.0 * (sum + lost) / (n * n)
}

/// Squared energy distance of a sorted, finite sample to a prepared, finite truth.
///
/// `centred` is scratch space. Exactly 0 when the two empirical cdfs agree everywhere.
#[must_use]
pub fn to_truth(sorted: &[f64], truth: &Truth, centred: &mut Vec<f64>) -> f64 {
    let parts = truth.centred();
    let (n, m) = (sorted.len() as f64, truth.len() as f64);
    centred.clear();
    centred.extend(sorted.iter().map(|x| x - parts.centre()));
    let cross: f64 = sorted
        .iter()
        .zip(centred.iter())
        .map(|(&x, &c)| parts.sum_of_distances(truth.ranks(x).upper, c))
        .sum::<f64>()
        / (n * m);
    let squared = 2.0 * cross - mean_pair_distance(centred) - parts.mean_pair_distance();
    if squared <= CANCELLATION * cross {
        return between_sorted(sorted, truth.sorted());
    }
    squared
}

/// Squared energy distance of two sorted, finite samples, by merging them.
#[must_use]
pub fn between_sorted(x: &[f64], y: &[f64]) -> f64 {
    let (n, m) = (x.len() as f64, y.len() as f64);
    // Whole numbers, exact up to 2^53: each observation of x weighs m and each of y weighs n.
    weighted_by(x, |_| m, y, |_| n) / (n * m * (n * m))
}

/// Squared energy distance of two weighted samples, both sorted by value.
#[must_use]
pub fn weighted(x: &[f64], x_weights: &[f64], y: &[f64], y_weights: &[f64]) -> f64 {
    let (x_total, y_total) = (x_weights.iter().sum::<f64>(), y_weights.iter().sum::<f64>());
    weighted_by(x, |i| x_weights[i] / x_total, y, |j| y_weights[j] / y_total)
}

fn weighted_by(
    x: &[f64],
    x_mass: impl Fn(usize) -> f64,
    y: &[f64],
    y_mass: impl Fn(usize) -> f64,
) -> f64 {
    let (mut i, mut j) = (0, 0);
    let (mut mass_x, mut mass_y) = (0.0, 0.0);
    let (mut sum, mut lost) = (0.0, 0.0);
    let mut last = x[0].min(y[0]);
    while i < x.len() || j < y.len() {
        let from_x = j == y.len() || (i < x.len() && x[i] <= y[j]);
        let z = if from_x { x[i] } else { y[j] };
        if z > last {
            let difference: f64 = mass_x - mass_y;
            (sum, lost) = add_compensated(sum, lost, difference * difference * (z - last));
            last = z;
        }
        if from_x {
            mass_x += x_mass(i);
            i += 1;
        } else {
            mass_y += y_mass(j);
            j += 1;
        }
    }
    2.0 * (sum + lost)
}

/// Null mean and standard deviation of the squared distance for a sorted pooled sample, `n` of
/// whose members carry an x-label.
///
/// Fewer than four pooled observations have no fourth-order terms; these then vanish.
#[must_use]
pub fn null_moments(pooled: &[f64], n: usize) -> (f64, f64) {
    let total = pooled.len();
    let (nf, mf, tf) = (n as f64, (total - n) as f64, total as f64);
    // The moments are homogeneous: a power of two keeps the squares of extreme values finite.
    let scale = power_of_two_below_inverse(pooled[0].abs().max(pooled[total - 1].abs()));
    let centre = pooled[total / 2] * scale;
    let centred = || pooled.iter().map(|z| z * scale - centre);
    let grand: f64 = centred().sum();
    let (mut below, mut sum2) = (0.0, 0.0);
    let (mut a, mut c) = (0.0, 0.0);
    for (k, z) in centred().enumerate() {
        let kf = k as f64;
        let row = (kf * z - below) + ((grand - below) - (tf - kf) * z);
        a += row;
        c += row * row;
        sum2 += z * z;
        below += z;
    }
    let b = 2.0 * tf * sum2 - 2.0 * grand * grand;
    let p2 = 1.0 / nf + 1.0 / mf;
    let p4 = 1.0 / (nf * nf * nf) + 1.0 / (mf * mf * mf);
    let falling = |order: usize, numerator: f64| {
        if total < order {
            0.0
        } else {
            numerator / (0..order).map(|i| tf - i as f64).product::<f64>()
        }
    };
    let mean = a * falling(2, p2);
    let square = 2.0 * b * falling(2, p2 * p2 - p4)
        + 4.0 * (c - b) * falling(3, 2.0 * p4 - p2 * p2)
        + (a * a - 4.0 * c + 2.0 * b) * falling(4, 3.0 * p2 * p2 - 6.0 * p4);
    (mean / scale, deviation(mean, square) / scale)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden::{assert_close, number, sorted, vectors};

    #[test]
    #[allow(clippy::unwrap_used)]
    fn agrees_with_exact_values() {
        for case in vectors("w1_energy") {
            let (x, y) = (sorted(&case["x"]), sorted(&case["y"]));
            let want = number(&case["energy_sq"]);
            let truth = Truth::new(&y).unwrap();
            assert_close(to_truth(&x, &truth, &mut Vec::new()), want, 1e-12, "closed form");
            assert_close(between_sorted(&x, &y), want, 1e-12, "merge");
            let mut pooled = [x.clone(), y].concat();
            pooled.sort_unstable_by(f64::total_cmp);
            let (mean, deviation) = null_moments(&pooled, x.len());
            assert_close(mean, number(&case["energy_sq_null_mean"]), 1e-12, "mean");
            assert_close(deviation, number(&case["energy_sq_null_sd"]), 1e-12, "deviation");
        }
    }
}
