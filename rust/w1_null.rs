//! Exact null moments of the first Wasserstein distance when the labels of a pooled sample are
//! permuted.
//!
//! With `A_k` the number of x-labels among the k smallest, hypergeometric, the distance is
//! `sum_k |A_k N - k n| (z_{k+1} - z_k) / (n m)`. The mean needs only the mean deviation of each
//! `A_k`, which has a closed form (Johnson, Kemp & Kotz, Univariate Discrete Distributions, 6.3);
//! the second moment comes from a programme over k that carries, for each count a, the probability
//! and the first two moments of the partial sum.

/// Counts this many standard deviations off carry too little (1e-19) to be seen in the moments.
const NEGLIGIBLE_DEVIATIONS: f64 = 9.5;

/// `E|A_k - n k/N|` over n m, for k = 1..N-1: the weight of the k-th gap in the null mean.
#[must_use]
pub fn mean_weights(n: usize, m: usize) -> Vec<f64> {
    let total = n + m;
    let (nf, mf, tf) = (n as f64, m as f64, total as f64);
    let mut weights = vec![0.0; total.saturating_sub(1)];
    // P(A_k = c) with c = floor(n k / N) + 1, from one value of k to the next by ratios.
    let mut probability = nf / tf; // k = 1, c = 1
    let mut c = 1usize;
    for k in 1..total {
        let kf = k as f64;
        if k > 1 {
            // From k-1 to k at the same c: C(k,c) C(N-k,n-c) / (C(k-1,c) C(N-k+1,n-c)).
            let cf = c as f64;
            probability *= kf / (kf - cf) * (mf - (kf - 1.0 - cf)) / (tf - kf + 1.0);
            if n * k / total + 1 > c {
                // From c to c+1 at the same k.
                probability *= (nf - cf) * (kf - cf) / ((cf + 1.0) * (mf - kf + cf + 1.0));
                c += 1;
            }
        }
        let cf = c as f64;
        weights[k - 1] = 2.0 * cf * (mf - kf + cf) * probability / (nf * mf);
    }
    weights
}

/// Null mean of the distance of a sorted sample to a sorted truth, given [`mean_weights`].
#[must_use]
pub fn mean(
    x: &[f64],
    y: &[f64],
    gaps: &[f64],
    rank: impl Fn(f64) -> usize,
    weights: &[f64],
) -> f64 {
    let m = y.len();
    // Between two neighbouring observations the pooled index runs ahead of the truth's by a
    // constant, so each stretch is a dot product of the truth's gaps with shifted weights.
    let mut sum = 0.0;
    let mut from = 0usize; // draws of the truth already passed
    for (i, &value) in x.iter().enumerate() {
        let to = rank(value);
        if to > from {
            // i observations lie below; gaps from..to-1 of the truth lie wholly below `value`.
            if i > 0 {
                sum += weights[from + i - 1] * (y[from] - x[i - 1]);
            }
            sum += dot(&gaps[from..to - 1], &weights[from + i..to - 1 + i]);
            sum += weights[to + i - 1] * (value - y[to - 1]);
        } else if i > 0 {
            sum += weights[from + i - 1] * (value - x[i - 1]);
        }
        from = to;
    }
    let n = x.len();
    if from < m {
        sum += weights[from + n - 1] * (y[from] - x[n - 1]);
        sum += dot(&gaps[from..m - 1], &weights[from + n..m - 1 + n]);
    }
    sum
}

/// Inner product in eight fixed lanes: the same bits however wide the machine's registers are.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    let (a_chunks, b_chunks) = (a.chunks_exact(8), b.chunks_exact(8));
    let tail: f64 = a_chunks.remainder().iter().zip(b_chunks.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in a_chunks.zip(b_chunks) {
        for lane in 0..8 {
            lanes[lane] += x[lane] * y[lane];
        }
    }
    lanes.iter().sum::<f64>() + tail
}

/// Null mean and standard deviation of the distance for a sorted pooled sample, `n` of whose
/// members carry an x-label.
///
/// The labels are drawn as independent coin flips of probability n/N and conditioned on their
/// number at the end, so that the transition probabilities are two constants.
#[must_use]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // clamped to 0..=n
pub fn moments(pooled: &[f64], n: usize) -> (f64, f64) {
    let total = pooled.len();
    let m = total - n;
    let (nf, mf, tf) = (n as f64, m as f64, total as f64);
    let (p, q) = (nf / tf, mf / tf);
    let counts: Vec<f64> = (0..=n).map(|a| a as f64).collect();
    let mut now = Moments::new(n);
    let mut next = Moments::new(n);
    now.mass[1] = 1.0;
    let (mut low, mut high) = (0usize, 0usize);
    for k in 1..=total {
        let kf = k as f64;
        let spread = NEGLIGIBLE_DEVIATIONS * (kf * (tf - kf) * p * q / tf).sqrt() + 2.0;
        // Both ends only ever move up, the upper one by one at a time.
        low = low.max((kf * p - spread).max(0.0) as usize).max(n.saturating_sub(total - k));
        high = high.max((kf * p + spread) as usize + 1).min(high + 1).min(n);
        let gap = if k < total { pooled[k] - pooled[k - 1] } else { 0.0 };
        let step = gap / (nf * mf);
        next.follow(&now, &counts, low..high + 1, (p, q), (step * tf, step * kf * nf));
        std::mem::swap(&mut now, &mut next);
    }
    let mass = now.mass[n + 1];
    let mean = now.first[n + 1] / mass;
    let second = now.second[n + 1] / mass;
    (mean, crate::scale::deviation(mean, second))
}

/// Probability and first two moments of the partial sum for each count; count a stands at a + 1,
/// so that the count below the lowest reads as nothing.
struct Moments {
    mass: Vec<f64>,
    first: Vec<f64>,
    second: Vec<f64>,
}

impl Moments {
    fn new(n: usize) -> Self {
        let zeros = || vec![0.0; n + 3];
        Self { mass: zeros(), first: zeros(), second: zeros() }
    }

    /// One more label: the counts in `window` after it, each then taking the gap's share
    /// `|a slope - offset|`.
    #[allow(clippy::needless_range_loop)] // nine slices of one length: zips would hide the formula
    fn follow(
        &mut self,
        before: &Self,
        counts: &[f64],
        window: std::ops::Range<usize>,
        (p, q): (f64, f64),
        (slope, offset): (f64, f64),
    ) {
        let (low, high) = (window.start, window.end);
        let len = high - low;
        let (s0, f0) = (&before.mass[low + 1..=high], &before.mass[low..high]);
        let (s1, f1) = (&before.first[low + 1..=high], &before.first[low..high]);
        let (s2, f2) = (&before.second[low + 1..=high], &before.second[low..high]);
        let counts = &counts[low..high];
        let (t0, t1, t2) = (
            &mut self.mass[low + 1..=high],
            &mut self.first[low + 1..=high],
            &mut self.second[low + 1..=high],
        );
        for i in 0..len {
            let f = (counts[i] * slope - offset).abs();
            let mass = q * s0[i] + p * f0[i];
            let first = q * s1[i] + p * f1[i];
            let second = q * s2[i] + p * f2[i];
            t0[i] = mass;
            t1[i] = first + f * mass;
            t2[i] = second + f * (2.0 * first + f * mass);
        }
        for moment in [&mut self.mass, &mut self.first, &mut self.second] {
            moment[low] = 0.0;
            moment[high + 1] = 0.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden::{assert_close, number, sorted, vectors};

    fn gaps(y: &[f64]) -> Vec<f64> {
        y.windows(2).map(|w| w[1] - w[0]).collect()
    }

    #[test]
    fn agrees_with_exact_values() {
        for case in vectors("w1_energy") {
            let (x, y) = (sorted(&case["x"]), sorted(&case["y"]));
            let want = number(&case["w1_null_mean"]);
            let weights = mean_weights(x.len(), y.len());
            let rank = |v: f64| y.partition_point(|&t| t <= v);
            assert_close(mean(&x, &y, &gaps(&y), rank, &weights), want, 1e-12, "mean");
            let mut pooled = [x.clone(), y].concat();
            pooled.sort_unstable_by(f64::total_cmp);
            let (first, deviation) = moments(&pooled, x.len());
            assert_close(first, want, 1e-12, "mean by programme");
            assert_close(deviation, number(&case["w1_null_sd"]), 1e-12, "deviation");
        }
    }
}
