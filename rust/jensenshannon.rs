//! Jensen-Shannon divergence in nats (Lin 1991, doi:10.1109/18.61115), between 0 and ln 2.

use crate::kde::{Estimate, Grid};
use crate::scale::power_of_two_below_inverse;

/// Ranges whose squares neither overflow nor underflow; the divergence itself has no scale.
const SAFE_RANGE: std::ops::Range<f64> = 1e-140..1e140;

/// Cells computed side by side.
const LANES: usize = 8;
/// Terms of [`close_cells`]; the next is below 2^-61 of the first.
const N_TERMS: usize = 24;
/// `1 / (k (2k - 1))` for k = 1, 2, ...
const TERMS: [f64; N_TERMS] = {
    let (mut terms, mut k) = ([1.0; N_TERMS], 1);
    while k < N_TERMS {
        terms[k] = 1.0 / ((k + 1) * (2 * k + 1)) as f64;
        k += 1;
    }
    terms
};

/// Divergence of two distributions over the same cells, each given by non-negative weights that
/// are not all 0.
#[must_use]
pub fn of_weights(p: &[f64], q: &[f64]) -> f64 {
    let (p_total, q_total) = (p.iter().sum::<f64>(), q.iter().sum::<f64>());
    let ((p, p_rest), (q, q_rest)) = (p.as_chunks::<LANES>(), q.as_chunks::<LANES>());
    let mut sum = 0.0;
    for (p, q) in p.iter().zip(q) {
        let (a, b) = (p.map(|v| v / p_total), q.map(|v| v / q_total));
        sum += close_cells(&a, &b)
            .unwrap_or_else(|| a.iter().zip(&b).map(|(&a, &b)| cell(a, b)).sum());
    }
    for (&a, &b) in p_rest.iter().zip(q_rest) {
        sum += cell(a / p_total, b / q_total);
    }
    (0.5 * sum).clamp(0.0, std::f64::consts::LN_2)
}

/// The sum of cells' shares without a logarithm, where no cell has three times the weight of the
/// other side's: with d = (a-b)/(a+b), a share is `(a+b)/2 ((1+d) ln(1+d) + (1-d) ln(1-d))`, which
/// is `(a+b)/2` times the sum of `d^2k / (k (2k - 1))` over k.
#[inline]
fn close_cells(a: &[f64; LANES], b: &[f64; LANES]) -> Option<f64> {
    let both: [f64; LANES] = std::array::from_fn(|i| a[i] + b[i]);
    let square: [f64; LANES] = std::array::from_fn(|i| ((a[i] - b[i]) / both[i]).powi(2));
    if !square.iter().all(|&square| square <= 0.25) {
        return None;
    }
    let mut series = [0.0; LANES];
    for term in TERMS.iter().rev() {
        series = std::array::from_fn(|i| (series[i] + term) * square[i]);
    }
    Some(0.5 * both.iter().zip(&series).map(|(both, series)| both * series).sum::<f64>())
}

/// A cell's share: `a ln(2a/(a+b)) + b ln(2b/(a+b))`, with 0 ln 0 = 0 and no midpoint that could
/// underflow.
#[inline]
fn cell(a: f64, b: f64) -> f64 {
    let both = a + b;
    let term = |v: f64| if v > 0.0 { v * (2.0 * (v / both)).ln() } else { 0.0 };
    term(a) + term(b)
}

/// Divergence of two counted samples over the same cells.
#[must_use]
pub fn of_counts(sorted_x: &[f64], sorted_y: &[f64]) -> f64 {
    let (n, m) = (sorted_x.len() as f64, sorted_y.len() as f64);
    let (mut i, mut j) = (0, 0);
    let mut sum = 0.0;
    while i < sorted_x.len() || j < sorted_y.len() {
        let z = match (sorted_x.get(i), sorted_y.get(j)) {
            (Some(&a), Some(&b)) => a.min(b),
            (Some(&a), None) => a,
            (None, Some(&b)) => b,
            (None, None) => break,
        };
        let run = |v: &[f64]| v.iter().take_while(|&&x| x == z).count();
        let (a, b) = (run(&sorted_x[i..]), run(&sorted_y[j..]));
        sum += cell(a as f64 / n, b as f64 / m);
        i += a;
        j += b;
    }
    (0.5 * sum).clamp(0.0, std::f64::consts::LN_2)
}

/// The truth's density on the grid around its own range, which serves every sample inside of it;
/// and its estimate, for the grids of other samples.
#[derive(Debug, Clone)]
pub struct TruthDensity {
    grid: Grid,
    padding: f64,
    density: Vec<f64>,
    estimate: Estimate,
}

impl TruthDensity {
    /// Prepare a sorted, finite truth.
    #[must_use]
    pub fn new(sorted: &[f64], n_grid: usize, padding: f64) -> Self {
        let grid = Grid::around(sorted[0], sorted[sorted.len() - 1], padding, n_grid);
        let mut density = vec![0.0; n_grid];
        let estimate = Estimate::new(sorted);
        if grid.step() > 0.0 {
            estimate.density(sorted, &grid, &mut density);
        }
        Self { grid, padding, density, estimate }
    }
}

/// Buffers of [`by_kde`].
#[derive(Debug, Clone, Default)]
pub struct Scratch {
    x: Vec<f64>,
    y: Vec<f64>,
}

/// Divergence of the kernel density estimates of two sorted, finite samples on one grid over
/// their joint range, widened on each side.
///
/// Two equal constants give 0, two different ones ln 2; a constant against a spread sample is a
/// point mass on its nearest grid point, which is the limit of vanishing bandwidth.
#[must_use]
pub fn by_kde(x: &[f64], y: &[f64], truth: &TruthDensity, scratch: &mut Scratch) -> f64 {
    let (low, high) = (x[0].min(y[0]), x[x.len() - 1].max(y[y.len() - 1]));
    if low == high {
        return 0.0;
    }
    if !SAFE_RANGE.contains(&(high - low)) {
        return by_kde_rescaled(x, y, truth, low.abs().max(high.abs()));
    }
    let grid = Grid::around(low, high, truth.padding, truth.grid.len);
    scratch.x.resize(grid.len, 0.0);
    Estimate::new(x).density(x, &grid, &mut scratch.x);
    if grid == truth.grid {
        return of_weights(&scratch.x, &truth.density);
    }
    scratch.y.resize(grid.len, 0.0);
    truth.estimate.density(y, &grid, &mut scratch.y);
    of_weights(&scratch.x, &scratch.y)
}

/// The same after scaling by a power of two that brings the largest value near 1.
fn by_kde_rescaled(x: &[f64], y: &[f64], truth: &TruthDensity, largest: f64) -> f64 {
    let scale = power_of_two_below_inverse(largest);
    let scaled = |v: &[f64]| -> Vec<f64> { v.iter().map(|v| v * scale).collect() };
    let (x, y) = (scaled(x), scaled(y));
    let (low, high) = (x[0].min(y[0]), x[x.len() - 1].max(y[y.len() - 1]));
    if !SAFE_RANGE.contains(&(high - low)) {
        // Values that differ in their last digits only: as constants.
        return of_counts(&x, &y);
    }
    let truth = TruthDensity::new(&y, truth.grid.len, truth.padding);
    by_kde(&x, &y, &truth, &mut Scratch::default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden::{number, sorted, vectors};

    fn kde(x: &[f64], y: &[f64]) -> f64 {
        by_kde(x, y, &TruthDensity::new(y, 512, 0.1), &mut Scratch::default())
    }

    #[test]
    fn agrees_with_the_high_precision_values() {
        for case in vectors("js_kde") {
            let got = kde(&sorted(&case["x"]), &sorted(&case["y"]));
            let want = number(&case["js_mpmath"]);
            assert!((got - want).abs() < 1e-12, "{got} {want}");
        }
        for case in vectors("js_cat") {
            let got = of_weights(&weights(&case["x_counts"]), &weights(&case["y_counts"]));
            assert!((got - number(&case["js_nats"])).abs() < 1e-15);
        }
    }

    #[allow(clippy::unwrap_used)]
    fn weights(value: &serde_json::Value) -> Vec<f64> {
        value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
    }

    #[test]
    fn constants_have_limits() {
        let ln2 = std::f64::consts::LN_2;
        assert_eq!(kde(&[3.0; 3], &[3.0; 3]), 0.0);
        assert!((kde(&[3.0; 3], &[4.0; 3]) - ln2).abs() < 1e-15);
        let spread: Vec<f64> = (0..101).map(|i| f64::from(i) * 10.0).collect();
        let mut spike = vec![500.0; 99];
        spike.push(500.001);
        let (constant, nearly) = (kde(&[500.0; 100], &spread), kde(&spike, &spread));
        assert!(constant > 0.6 && constant < ln2);
        assert!((constant - nearly).abs() < 0.01, "{constant} {nearly}");
    }

    #[test]
    fn extreme_scales_change_nothing() {
        let x: Vec<f64> = (0..50).map(|i| f64::from(i * i)).collect();
        let y: Vec<f64> = (0..80).map(|i| f64::from(i * 31)).collect();
        let base = kde(&x, &y);
        for exponent in [-1000, -700, 700, 1000] {
            let scale =
                |v: &[f64]| -> Vec<f64> { v.iter().map(|v| v * 2f64.powi(exponent)).collect() };
            assert!((kde(&scale(&x), &scale(&y)) - base).abs() < 1e-13);
        }
    }

    #[test]
    fn a_spread_far_below_the_range_is_no_spread() {
        // The spread of y is 158 orders below the joint range: its square is 0 in doubles.
        let mut y = vec![0.0; 11];
        y.insert(0, f64::from_bits(0x5f00_0000_0000_0000));
        y.sort_by(f64::total_cmp);
        let js = kde(&[f64::MIN], &y);
        assert!((js - std::f64::consts::LN_2).abs() < 1e-15, "{js}");
        // Midway between two points of a grid of 64, 1e72 bandwidths from both.
        let x = [-1.0, -1.0, 0.0, 1.0];
        let y = [-4.6e-74, 0.0, 0.0, 0.0, 9e-285];
        let middle = by_kde(&x, &y, &TruthDensity::new(&y, 64, 0.1), &mut Scratch::default());
        assert!(middle > 0.0 && middle <= std::f64::consts::LN_2, "{middle}");
        let near = kde(&[-1.0], &[0.0, 0.0, 1e-155]);
        assert!((near - std::f64::consts::LN_2).abs() < 1e-15, "{near}");
    }

    #[test]
    fn a_denormal_weight_stays_finite() {
        let js = of_weights(&[0.0, 1.0], &[5e-324, 1.0]);
        assert!((0.0..1e-300).contains(&js));
        assert_eq!(of_weights(&[60.0, 40.0], &[0.6, 0.4]), 0.0);
    }
}
