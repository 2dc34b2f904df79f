//! Poisson and binomial probabilities to full relative accuracy, by saddle-point expansion.
//!
//! The factorials are never formed: what is left after Stirling's formula is a short series, and
//! the exponent is a deviance that loses nothing near the mode. Reference: Loader (2000), "Fast
//! and accurate computation of binomial probabilities".

use std::f64::consts::{PI, TAU};

/// `ln n! - ln(sqrt(2 pi n) (n/e)^n)` for n = 0..16, from 40-digit arithmetic.
const STIRLING_ERROR: [f64; 16] = [
    0.0,
    0.081_061_466_795_327_26,
    0.041_340_695_955_409_29,
    0.027_677_925_684_998_34,
    0.020_790_672_103_765_093,
    0.016_644_691_189_821_193,
    0.013_876_128_823_070_748,
    0.011_896_709_945_891_77,
    0.010_411_265_261_972_096,
    0.009_255_462_182_712_733,
    0.008_330_563_433_362_87,
    0.007_573_675_487_951_841,
    0.006_942_840_107_209_53,
    0.006_408_994_188_004_207,
    0.005_951_370_112_758_848,
    0.005_554_733_551_962_801,
];

fn stirling_error(n: usize) -> f64 {
    if let Some(&value) = STIRLING_ERROR.get(n) {
        return value;
    }
    let n = n as f64;
    let s = 1.0 / (n * n);
    (1.0 / 12.0 - s * (1.0 / 360.0 - s * (1.0 / 1260.0 - s * (1.0 / 1680.0 - s / 1188.0)))) / n
}

/// `k ln(k/mean) + mean - k`, without cancellation where the two are close.
fn deviance(k: f64, mean: f64) -> f64 {
    if (k - mean).abs() >= 0.1 * (k + mean) {
        return k * (k / mean).ln() + mean - k;
    }
    let v = (k - mean) / (k + mean);
    let (mut sum, mut power, mut odd) = ((k - mean) * v, 2.0 * k * v, 1.0);
    loop {
        power *= v * v;
        odd += 2.0;
        let next = sum + power / odd;
        if next == sum {
            return sum;
        }
        sum = next;
    }
}

/// Logarithm of the probability that a Poisson variable of that mean is `k`.
#[must_use]
pub fn ln_poisson(k: usize, mean: f64) -> f64 {
    if mean == 0.0 {
        return if k == 0 { 0.0 } else { f64::NEG_INFINITY };
    }
    if k == 0 {
        return -mean;
    }
    let count = k as f64;
    -stirling_error(k) - deviance(count, mean) - 0.5 * (TAU * count).ln()
}

/// Probability that a Poisson variable of that mean is `k`.
///
/// ```
/// use unpredictabench::pmf::poisson;
/// assert!((poisson(2, 1.0) - 0.5 * (-1.0f64).exp()).abs() < 1e-16);
/// ```
#[must_use]
pub fn poisson(k: usize, mean: f64) -> f64 {
    if k == 0 || mean == 0.0 {
        return ln_poisson(k, mean).exp();
    }
    let count = k as f64;
    (-stirling_error(k) - deviance(count, mean)).exp() / (TAU * count).sqrt()
}

/// Logarithm of the probability of `k` successes in `n` trials of probability `p` (`q` = 1 - p).
#[must_use]
pub fn ln_binomial(k: usize, n: usize, p: f64, q: f64) -> f64 {
    if k > n || (p == 0.0 && k > 0) || (q == 0.0 && k < n) {
        return f64::NEG_INFINITY;
    }
    if p == 0.0 || q == 0.0 {
        return 0.0;
    }
    if k == 0 || k == n {
        let (one, other) = if k == 0 { (q, p) } else { (p, q) };
        // The smaller of the two is the one known to full relative accuracy.
        return n as f64 * if other < 0.5 { (-other).ln_1p() } else { one.ln() };
    }
    let (successes, failures, trials) = (k as f64, (n - k) as f64, n as f64);
    stirling_error(n)
        - stirling_error(k)
        - stirling_error(n - k)
        - deviance(successes, trials * p)
        - deviance(failures, trials * q)
        + 0.5 * (trials / (2.0 * PI * successes * failures)).ln()
}

/// Probability of `k` successes in `n` trials of probability `p` (`q` = 1 - p).
///
/// ```
/// use unpredictabench::pmf::binomial;
/// assert!((binomial(2, 3, 0.5, 0.5) - 0.375).abs() < 1e-15);
/// ```
#[must_use]
pub fn binomial(k: usize, n: usize, p: f64, q: f64) -> f64 {
    ln_binomial(k, n, p, q).exp()
}

/// Fill `out` with the Poisson probabilities of 0, 1, 2, ... up to `last`, or fewer where the rest
/// is below the smallest normal float.
pub fn fill_poisson(out: &mut Vec<f64>, mean: f64, last: usize) {
    out.clear();
    if mean == 0.0 {
        out.push(1.0);
        return;
    }
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // means are positive
    let mode = (mean as usize).min(last);
    out.resize(last + 1, 0.0);
    out[mode] = poisson(mode, mean);
    for k in (0..mode).rev() {
        out[k] = out[k + 1] * (k + 1) as f64 / mean;
    }
    for k in mode + 1..=last {
        let value = out[k - 1] * mean / k as f64;
        if value < f64::MIN_POSITIVE {
            out.truncate(k);
            return;
        }
        out[k] = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(got: f64, want: f64, tolerance: f64) {
        assert!((got / want - 1.0).abs() < tolerance, "{got} is not {want}");
    }

    #[test]
    fn values_agree_with_40_digit_arithmetic() {
        close(poisson(3, 2.5), 0.213_763_017_249_736_45, 1e-14);
        close(poisson(100, 100.0), 0.039_860_996_809_147_136, 1e-14);
        close(poisson(50, 3.0), 1.175_180_070_545_476e-42, 1e-13);
        close(binomial(22, 100, 0.25, 0.75), 0.074_935_076_222_732_06, 1e-13);
        close(binomial(0, 1000, 0.3, 0.7), 1.253_256_639_965_638_8e-155, 1e-12);
    }

    #[test]
    fn probabilities_sum_to_one() {
        for mean in [0.01, 0.5, 3.0, 40.0] {
            let mut table = Vec::new();
            fill_poisson(&mut table, mean, 400);
            close(table.iter().sum(), 1.0, 1e-14);
            for (k, &value) in table.iter().enumerate() {
                close(value, poisson(k, mean), 2e-13);
            }
        }
        let total: f64 = (0..=37).map(|k| binomial(k, 37, 0.2, 0.8)).sum();
        close(total, 1.0, 1e-14);
    }

    #[test]
    fn impossible_counts_have_probability_zero() {
        assert_eq!(poisson(1, 0.0), 0.0);
        assert_eq!(poisson(0, 0.0), 1.0);
        assert_eq!(binomial(4, 3, 0.5, 0.5), 0.0);
        assert_eq!(binomial(3, 3, 1.0, 0.0), 1.0);
        assert_eq!(binomial(0, 3, 0.0, 1.0), 1.0);
    }
}
