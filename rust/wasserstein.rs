//! Wasserstein distances on the line.
//!
//! Against a prepared truth the first distance costs O(n log m): with the truth centred at its
//! median and its prefix sums P, the integral of its cdf up to x is
//! `IG(x) = (rank(x) x - P[rank(x)]) / m`; between two neighbouring observations the empirical cdf
//! of the sample is constant and crosses the truth's at one quantile. Everything else is the merge
//! of two sorted samples (Vallender 1974, doi:10.1137/1118101).

use crate::energy::mean_pair_distance;
use crate::truth::Truth;

/// Below this many mean deviations the closed form, whose absolute error is about 1e-15 of them, has
/// lost digits to cancellation, and the exact merge is used instead.
const CANCELLATION: f64 = 1.0 / 256.0;
/// Observations ranked at a time, so that their reads do not wait for each other.
const BLOCK: usize = 128;

/// What all samples share about one truth: its values centred at the median, and prefix sums.
#[derive(Debug, Clone)]
pub struct Centred {
    centre: f64,
    values: Vec<f64>,
    prefix: Vec<f64>,
    gaps: Vec<f64>,
    mean_deviation: f64,
    mean_pair_distance: f64,
}

impl Centred {
    /// Prepare a truth that is sorted and finite.
    #[must_use]
    pub fn new(sorted: &[f64]) -> Self {
        let m = sorted.len();
        let centre = sorted[m / 2];
        let values: Vec<f64> = sorted.iter().map(|y| y - centre).collect();
        let mut prefix = Vec::with_capacity(m + 1);
        let (mut sum, mut lost) = (0.0, 0.0);
        prefix.push(0.0);
        for &value in &values {
            (sum, lost) = add_compensated(sum, lost, value);
            prefix.push(sum + lost);
        }
        let mean_deviation = (prefix[m] - 2.0 * prefix[m / 2]) / m as f64;
        let mean_pair_distance = mean_pair_distance(&values);
        let gaps = sorted.windows(2).map(|w| w[1] - w[0]).collect();
        Self { centre, values, prefix, gaps, mean_deviation, mean_pair_distance }
    }

    /// The value that everything is measured from.
    #[must_use]
    pub fn centre(&self) -> f64 {
        self.centre
    }

    /// The truth less its centre, ascending.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Distances of neighbouring draws.
    #[must_use]
    pub fn gaps(&self) -> &[f64] {
        &self.gaps
    }

    /// Mean absolute difference over all ordered pairs of draws, each with itself included.
    #[must_use]
    pub fn mean_pair_distance(&self) -> f64 {
        self.mean_pair_distance
    }

    /// m times the integral of the truth's cdf up to `x` (centred), `rank` draws lying at or
    /// below it.
    #[inline]
    fn integral(&self, rank: u32, x: f64) -> f64 {
        f64::from(rank) * x - self.prefix[rank as usize]
    }

    /// Sum of the absolute distances from `x` (centred) to every draw.
    #[inline]
    #[must_use]
    pub fn sum_of_distances(&self, rank: u32, x: f64) -> f64 {
        let m = self.values.len();
        2.0 * self.integral(rank, x) + self.prefix[m] - m as f64 * x
    }
}

/// One step of Neumaier's summation: the new sum and the new correction.
#[inline]
pub(crate) fn add_compensated(sum: f64, lost: f64, value: f64) -> (f64, f64) {
    let next = sum + value;
    let error = if sum.abs() >= value.abs() { (sum - next) + value } else { (value - next) + sum };
    (next, lost + error)
}

/// First Wasserstein distance of a sorted, finite sample to a prepared, finite truth.
///
/// Exactly 0 when the two empirical cdfs agree everywhere.
#[must_use]
pub fn to_truth(sorted: &[f64], truth: &Truth) -> f64 {
    let parts = truth.centred();
    let distance = closed_form(sorted, truth, parts);
    if distance <= CANCELLATION * parts.mean_deviation {
        return between_sorted(sorted, truth.sorted());
    }
    distance
}

#[allow(clippy::cast_possible_truncation)] // a truth holds fewer than 2^30 draws
fn closed_form(sorted: &[f64], truth: &Truth, parts: &Centred) -> f64 {
    let (n, m) = (sorted.len(), truth.len());
    let (scale, weight) = (1.0 / m as f64, m as f64 / n as f64);
    let mut a = sorted[0] - parts.centre;
    let mut integral_a = parts.integral(truth.ranks(sorted[0]).upper, a);
    let mut total = integral_a;
    // floor(i m / n) without a division a step.
    let (quotient, remainder) = (m / n, m % n);
    let (mut i, mut crossing, mut excess) = (0u32, 0, 0);
    let mut uppers = [0; BLOCK];
    for block in sorted[1..].chunks(BLOCK) {
        truth.uppers_into(block, &mut uppers[..block.len()]);
        for (&value, &upper) in block.iter().zip(&uppers) {
            i += 1;
            crossing += quotient;
            excess += remainder;
            let carry = usize::from(excess >= n);
            crossing += carry;
            excess -= carry * n;
            let b = value - parts.centre;
            let integral_b = parts.integral(upper, b);
            let quantile = parts.values[crossing];
            // Clamped to the stretch; selections, not branches: nobody could predict them.
            let inner = parts.integral(crossing as u32, quantile);
            let below = if quantile <= a { integral_a } else { inner };
            let integral_x = if quantile >= b { integral_b } else { below };
            let x = quantile.max(a).min(b);
            let height = f64::from(i) * weight;
            total += height * ((x - a) + (x - b))
                + ((integral_a - integral_x) + (integral_b - integral_x));
            (a, integral_a) = (b, integral_b);
        }
    }
    // Right of the last observation: the integral of 1 - G.
    total += integral_a + parts.prefix[m] - m as f64 * a;
    (total * scale).max(0.0)
}

/// First Wasserstein distance of two sorted, finite samples, by merging them: the sum of
/// `|i m - j n| (z' - z) / (n m)` over the gaps of the pooled sample, in integers where it counts.
#[must_use]
#[allow(clippy::cast_possible_wrap)] // lengths of slices fit an i64
pub fn between_sorted(x: &[f64], y: &[f64]) -> f64 {
    let (n, m) = (x.len(), y.len());
    let (mut i, mut j) = (0, 0);
    let (mut sum, mut lost) = (0.0, 0.0);
    while i < n || j < m {
        let z = if j == m || (i < n && x[i] <= y[j]) { x[i] } else { y[j] };
        while i < n && x[i] == z {
            i += 1;
        }
        while j < m && y[j] == z {
            j += 1;
        }
        let next = match (x.get(i), y.get(j)) {
            (Some(&a), Some(&b)) => a.min(b),
            (Some(&a), None) => a,
            (None, Some(&b)) => b,
            (None, None) => break,
        };
        let h = (i as i128 * m as i128 - j as i128 * n as i128).unsigned_abs() as f64;
        (sum, lost) = add_compensated(sum, lost, h * (next - z));
    }
    (sum + lost) / (n as f64 * m as f64)
}

/// Wasserstein distance of order `p` of two sorted, finite samples.
#[must_use]
pub fn of_order(x: &[f64], y: &[f64], p: f64) -> f64 {
    let (n, m) = (x.len() as f64, y.len() as f64);
    // Each observation of x weighs m and each of y weighs n: whole numbers, hence exact.
    transport(x, |_| m, y, |_| n, p, n * m)
}

/// Wasserstein distance of order `p` of two weighted samples, both sorted by value.
///
/// The weights need not sum to 1; they must be non-negative and not all 0. Mass is moved in order
/// of the values, which is optimal on the line for every p >= 1.
#[must_use]
pub fn weighted(x: &[f64], x_weights: &[f64], y: &[f64], y_weights: &[f64], p: f64) -> f64 {
    let (x_total, y_total) = (x_weights.iter().sum::<f64>(), y_weights.iter().sum::<f64>());
    transport(x, |i| x_weights[i] / x_total, y, |j| y_weights[j] / y_total, p, 1.0)
}

fn transport(
    x: &[f64],
    x_mass: impl Fn(usize) -> f64,
    y: &[f64],
    y_mass: impl Fn(usize) -> f64,
    p: f64,
    total: f64,
) -> f64 {
    let (mut i, mut j) = (0, 0);
    let (mut left_x, mut left_y) = (x_mass(0), y_mass(0));
    let (mut sum, mut lost) = (0.0, 0.0);
    loop {
        let moved = left_x.min(left_y);
        if moved > 0.0 {
            let distance = (x[i] - y[j]).abs();
            let cost = if p == 1.0 { distance } else { distance.powf(p) };
            (sum, lost) = add_compensated(sum, lost, moved * cost);
        }
        left_x -= moved;
        left_y -= moved;
        if left_x <= 0.0 {
            i += 1;
            if i == x.len() {
                break;
            }
            left_x = x_mass(i);
        }
        if left_y <= 0.0 {
            j += 1;
            if j == y.len() {
                break;
            }
            left_y = y_mass(j);
        }
    }
    let mean = (sum + lost) / total;
    if p == 1.0 { mean } else { mean.powf(1.0 / p) }
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
            let truth = Truth::new(&y).unwrap();
            let want = number(&case["w1"]);
            assert_close(to_truth(&x, &truth), want, 1e-12, "closed form");
            assert_close(between_sorted(&x, &y), want, 1e-12, "merge");
            assert_close(of_order(&x, &y, 1.0), want, 1e-12, "transport");
        }
    }

    #[test]
    #[allow(clippy::unwrap_used)]
    fn equal_samples_are_at_distance_zero() {
        let y: Vec<f64> = (0..5).map(|i| 1e15 + 0.25 * f64::from(i)).collect();
        let shifted: Vec<f64> = y.iter().map(|v| v + 0.5).collect();
        let truth = Truth::new(&y).unwrap();
        assert_eq!(to_truth(&y, &truth), 0.0);
        assert_eq!(to_truth(&shifted, &truth), 0.5);
    }

    #[test]
    fn the_root_is_taken_of_the_whole_cost() {
        assert_eq!(of_order(&[0.0, 0.0], &[3.0, 3.0], 2.0), 3.0);
        assert_eq!(weighted(&[0.0], &[2.0], &[3.0], &[5.0], 2.0), 3.0);
    }
}
