//! The probability that the counting process of n uniform points leaves a band.
//!
//! The band is checked at finitely many levels only. The process is a Poisson process conditioned
//! on n points, so that a jump is one convolution whatever the state (as for two samples; Khmaladze
//! & Shinjikashvili 2001, doi:10.1239/aap/1005091353). What is summed is the mass that leaves:
//! every term is positive, so that a probability of 1e-200 keeps its relative accuracy.

use crate::pmf::{fill_poisson, poisson};

/// Weights below this can no longer matter to a probability above 1e-250.
const NEGLIGIBLE: f64 = 1e-290;
/// Relative weight of the tail of a sum that may be left out.
const TAIL: f64 = 1e-17;

/// A level at which the count is looked at, and the counts that stay inside.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Checkpoint {
    /// Level in (0, 1).
    pub level: f64,
    /// Smallest count inside.
    pub low: usize,
    /// Largest count inside.
    pub high: usize,
}

/// Merge upper checks (at `below[j - 1]` counts from j on are outside) and lower checks (at
/// `above[j]` counts up to j are outside) into checkpoints by rising level.
///
/// Both lists must not decrease. Checks outside of (0, 1), or NaN, are void.
#[must_use]
pub fn merge_checks(below: &[f64], above: &[f64]) -> Vec<Checkpoint> {
    let n = below.len().max(above.len());
    let is_inside = |u: f64| u > 0.0 && u < 1.0;
    let uppers: Vec<(f64, usize)> =
        below.iter().copied().zip(1..).filter(|c| is_inside(c.0)).collect();
    let lowers: Vec<(f64, usize)> =
        above.iter().copied().zip(0..).filter(|c| is_inside(c.0)).collect();
    let (mut up, mut low, mut smallest) = (0, 0, 0);
    let mut out: Vec<Checkpoint> = Vec::with_capacity(uppers.len() + lowers.len());
    while up < uppers.len() || low < lowers.len() {
        let next = |list: &[(f64, usize)], i: usize| list.get(i).map_or(f64::INFINITY, |c| c.0);
        let level = next(&uppers, up).min(next(&lowers, low));
        // A count that is outside at the next upper check is lost already: counts never fall.
        let high = uppers.get(up).map_or(n, |c| c.1 - 1);
        while next(&uppers, up) == level {
            up += 1;
        }
        while next(&lowers, low) == level {
            smallest = lowers[low].1 + 1;
            low += 1;
        }
        out.push(Checkpoint { level, low: smallest, high });
    }
    out
}

/// Buffers that the rows of one task share.
#[derive(Debug, Default)]
pub struct Scratch {
    weights: Vec<f64>,
    next: Vec<f64>,
    jump: Vec<f64>,
}

/// Sum the mass of `n` uniform points that leaves the band, each departure weighted.
///
/// A departure to count k at level u counts with `above(k, u)` or `below(k, u)`, the share of its
/// futures that are wanted, where a weight of 1 means the Poisson process of rate n alone: see
/// [`all_futures`] for the weight that gives plain probabilities.
pub fn mass_outside(
    n: usize,
    checkpoints: &[Checkpoint],
    scratch: &mut Scratch,
    above: impl Fn(usize, f64) -> f64,
    below: impl Fn(usize, f64) -> f64,
) -> f64 {
    let Scratch { weights, next, jump } = scratch;
    for buffer in [&mut *weights, &mut *next] {
        buffer.clear();
        buffer.resize(n + 1, 0.0);
    }
    weights[0] = 1.0;
    let (mut first, mut last, mut level, mut outside) = (0, 0, 0.0, 0.0);
    for check in checkpoints {
        fill_poisson(jump, (check.level - level) * n as f64, n - first);
        level = check.level;
        let high = check.high.min(n);
        if first <= high {
            next[first..=high].fill(0.0);
            convolve(&weights[first..=last.min(high)], jump, &mut next[first..=high]);
        }
        let lowest = check.low.min(high + 1).max(first);
        let lost = (first..).zip(&next[first..lowest]);
        outside += lost.map(|(k, mass)| mass * below(k, level)).sum::<f64>();
        outside +=
            mass_above(&weights[first..=last], first, high, n, jump, outside, |k| above(k, level));
        std::mem::swap(weights, next);
        first = first.max(check.low);
        last = high;
        while first <= last && weights[first] < NEGLIGIBLE {
            first += 1;
        }
        while first <= last && weights[last] < NEGLIGIBLE {
            if last == 0 {
                return outside;
            }
            last -= 1;
        }
        if first > last {
            return outside;
        }
    }
    outside
}

/// Add the jumps of each weight to `out`; both start at the same count.
fn convolve(weights: &[f64], jump: &[f64], out: &mut [f64]) {
    for (k, &weight) in weights.iter().enumerate() {
        for (slot, &probability) in out[k..].iter_mut().zip(jump) {
            *slot += weight * probability;
        }
    }
}

/// Sum the mass that lands above `high`, up to a tail of relative weight [`TAIL`].
///
/// The terms are log-concave in the count (a convolution of log-concave sequences), hence bounded
/// by a geometric series once they fall.
fn mass_above(
    weights: &[f64],
    first: usize,
    high: usize,
    n: usize,
    jump: &[f64],
    known: f64,
    future: impl Fn(usize) -> f64,
) -> f64 {
    let (mut sum, mut previous) = (0.0, 0.0);
    for count in (high + 1).max(first)..=n {
        let offset = count - first;
        let skip = (offset + 1).saturating_sub(jump.len());
        let mass: f64 = weights
            .iter()
            .enumerate()
            .skip(skip)
            .take_while(|(k, _)| *k <= offset)
            .map(|(k, weight)| weight * jump[offset - k])
            .sum();
        let term = mass * future(count);
        sum += term;
        if term < previous {
            let ratio = term / previous;
            if term * ratio <= TAIL * (sum + known) * (1.0 - ratio) {
                break;
            }
        }
        previous = term;
    }
    sum
}

/// The weight for plain probabilities: the Poisson process of rate n reaches n points from there.
pub fn all_futures(n: usize) -> impl Fn(usize, f64) -> f64 {
    let total = poisson(n, n as f64);
    move |k, level| poisson(n - k, n as f64 * (1.0 - level)) / total
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pmf::binomial;

    fn probability(n: usize, checkpoints: &[Checkpoint]) -> f64 {
        let future = all_futures(n);
        mass_outside(n, checkpoints, &mut Scratch::default(), &future, &future)
    }

    #[test]
    fn one_checkpoint_is_two_binomial_tails() {
        for (n, level, low, high) in [(7, 0.3, 2, 4), (40, 0.01, 0, 3), (100, 0.6, 45, 80)] {
            let got = probability(n, &[Checkpoint { level, low, high }]);
            let want: f64 = (0..=n)
                .filter(|&k| k < low || k > high)
                .map(|k| binomial(k, n, level, 1.0 - level))
                .sum();
            assert!((got / want - 1.0).abs() < 1e-13, "{got} is not {want}");
        }
    }

    #[test]
    fn a_tiny_tail_keeps_its_accuracy() {
        let got = probability(100, &[Checkpoint { level: 1e-3, low: 0, high: 79 }]);
        let want: f64 = (80..=100).map(|k| binomial(k, 100, 1e-3, 0.999)).sum();
        assert!((got / want - 1.0).abs() < 1e-12, "{got} is not {want}");
    }

    #[test]
    fn a_count_that_is_lost_already_leaves_early() {
        let merged = merge_checks(&[f64::NAN, 0.2, 0.6], &[0.4, 0.9, f64::NAN]);
        let want = [(0.2, 0, 1), (0.4, 1, 2), (0.6, 1, 2), (0.9, 2, 3)]
            .map(|(level, low, high)| Checkpoint { level, low, high });
        assert_eq!(merged, want);
    }

    #[test]
    fn a_band_that_nothing_survives_has_probability_one() {
        let got = probability(5, &[Checkpoint { level: 0.5, low: 3, high: 2 }]);
        assert!((got - 1.0).abs() < 1e-14, "{got}");
    }
}
