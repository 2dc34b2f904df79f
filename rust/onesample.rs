//! Kolmogorov-Smirnov against a law: statistic and exact null, whatever the law's atoms.
//!
//! With k(u) the count of observations whose cdf value is at most u, the null sees the law only
//! through the levels u that its cdf takes or approaches. Counts never fall, so that for each of
//! the 2n ways to be too far away one level decides: the largest level at or below j/n - d, or the
//! smallest at or above j/n + d (Gleser 1985, doi:10.2307/2288555, for steps; Noe 1972 for the
//! recursion). One-sided and continuous: Birnbaum & Tingey 1951, doi:10.1214/aoms/1177729550.

use crate::crossing::{Scratch, all_futures, mass_outside, merge_checks};
use crate::pmf::ln_binomial;
use crate::smirnov::{Side, Tail};

/// Distances closer than this are one value of the statistic: 8 units in the last place of 1.
pub const SAME: f64 = 8.0 * f64::EPSILON;
/// Below this probability the logarithm comes from a bound that does not underflow.
const DEEP: f64 = 1e-250;

/// The largest deviations on both sides and where they are.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Deviation {
    /// Largest excess of the sample's cdf over the law's, at least 0.
    pub above: f64,
    /// First observation at which it is reached.
    pub above_at: f64,
    /// Largest excess of the law's cdf over the sample's, at least 0.
    pub below: f64,
    /// First observation just before which it is reached.
    pub below_at: f64,
}

impl Deviation {
    /// The statistic of a side, its location and its sign.
    #[must_use]
    pub fn on(&self, side: Side) -> (f64, f64, i8) {
        let is_above = match side {
            Side::Both => self.above >= self.below - SAME,
            Side::Upper => true,
            Side::Lower => false,
        };
        if is_above {
            let statistic =
                if side == Side::Both { self.above.max(self.below) } else { self.above };
            (statistic, self.above_at, 1)
        } else {
            (self.below, self.below_at, -1)
        }
    }
}

/// Compare a sample with a law through the law's cdf at its observations.
///
/// `cdf` and `cdf_left` hold P(X <= x) and P(X < x) of each observation. `n_invalid` further
/// answers have no place: they count as if all at the one end that is worse, on either side.
#[must_use]
pub fn deviation(
    x: &[f64],
    cdf: &[f64],
    cdf_left: &[f64],
    n_invalid: usize,
    order: &mut Vec<u32>,
) -> Deviation {
    sort_order(x, order);
    let total = (x.len() + n_invalid) as f64;
    let lost = n_invalid as f64 / total;
    let mut out =
        Deviation { above: lost, above_at: f64::NEG_INFINITY, below: 0.0, below_at: f64::INFINITY };
    let mut i = 0;
    while i < x.len() {
        let first = order[i] as usize;
        let before = cdf_left[first] - i as f64 / total;
        while i < x.len() && x[order[i] as usize] == x[first] {
            i += 1;
        }
        let after = (i + n_invalid) as f64 / total - cdf[first];
        if before > out.below {
            (out.below, out.below_at) = (before, x[first]);
        }
        if after > out.above {
            (out.above, out.above_at) = (after, x[first]);
        }
    }
    if lost > out.below {
        (out.below, out.below_at) = (lost, f64::INFINITY);
    }
    out
}

/// Fill `order` with the positions of `x` in ascending order of value.
pub fn sort_order(x: &[f64], order: &mut Vec<u32>) {
    order.clear();
    #[allow(clippy::cast_possible_truncation)] // a sample has far fewer than 2^32 observations
    order.extend(0..x.len() as u32);
    order.sort_unstable_by(|&a, &b| x[a as usize].total_cmp(&x[b as usize]).then(a.cmp(&b)));
}

fn tail_of(p: f64) -> Tail {
    Tail { p: p.min(1.0), log_p: p.ln().min(0.0) }
}

fn tail_of_ln(log_p: f64) -> Tail {
    let log_p = log_p.min(0.0);
    Tail { p: log_p.exp(), log_p }
}

/// P(D >= d) for `n` observations of a continuous law.
///
/// ```
/// use unpredictabench::crossing::Scratch;
/// use unpredictabench::onesample::continuous;
/// use unpredictabench::smirnov::Side;
/// let tail = continuous(1, 0.75, Side::Both, &mut Scratch::default());
/// assert!((tail.p - 0.5).abs() < 1e-15);
/// ```
#[must_use]
pub fn continuous(n: usize, d: f64, side: Side, scratch: &mut Scratch) -> Tail {
    if d <= SAME {
        return Tail::ONE;
    }
    if d >= 1.0 {
        return tail_of_ln(f64::NEG_INFINITY);
    }
    if side != Side::Both {
        return tail_of_ln(ln_one_sided(n, d));
    }
    let size = n as f64;
    let below: Vec<f64> = (1..=n).map(|j| j as f64 / size - d).collect();
    let above: Vec<f64> = (0..n).map(|j| j as f64 / size + d).collect();
    let p = outside(n, &below, &above, scratch);
    // So far out both sides at once are negligible beside one.
    if p > DEEP { tail_of(p) } else { tail_of_ln(ln_one_sided(n, d) + 2f64.ln()) }
}

/// P(D >= d) through the levels of the law that decide it.
///
/// `below[j - 1]`: the largest level at or below j/n - d, for j = 1..=n; `above[j]`: the smallest
/// level at or above j/n + d, for j = 0..n; NaN where there is none.
///
/// Below 1e-250 the result is the sum over the single checks: an upper bound, within a factor 2n.
#[must_use]
pub fn stepped(n: usize, below: &[f64], above: &[f64], side: Side, scratch: &mut Scratch) -> Tail {
    let below = if side == Side::Lower { &[] } else { below };
    let above = if side == Side::Upper { &[] } else { above };
    let p = outside(n, below, above, scratch);
    if p > DEEP { tail_of(p) } else { tail_of_ln(ln_sum_of_checks(n, below, above)) }
}

/// Observations up to which the null is exact whatever the law: about half a second for one tail.
pub const EXACT_OBSERVATIONS: usize = 10_000;

/// P(D >= d) for a continuous law in the limit of many observations; an upper bound, to that
/// accuracy, where the law has atoms.
///
/// Kolmogorov's law at `d sqrt(n) + 1 / (6 sqrt(n))` (Stephens 1970; one-sided Maag & Dicaire
/// 1971).
#[must_use]
pub fn asymptotic(n: usize, d: f64, side: Side) -> Tail {
    if d <= SAME {
        return Tail::ONE;
    }
    let root = (n as f64).sqrt();
    let z = d * root + 1.0 / (6.0 * root);
    if side != Side::Both {
        return tail_of_ln(-2.0 * z * z);
    }
    if z < 0.3 {
        return Tail::ONE; // the tail differs from 1 by less than 1e-5 of 1e-5
    }
    // Relative to the first term, so that the logarithm survives.
    let term = |k: f64| (-2.0 * (k * k - 1.0) * z * z).exp();
    let sum: f64 =
        (1..=20).map(f64::from).map(|k| if k % 2.0 == 1.0 { term(k) } else { -term(k) }).sum();
    tail_of_ln(2f64.ln() - 2.0 * z * z + sum.ln())
}

/// Usual levels need fewer than ten.
const MOST_NEWTON_STEPS: usize = 60;

/// The smallest distance whose tail for a continuous law is at most `alpha`.
#[must_use]
pub fn critical_distance(n: usize, alpha: f64, scratch: &mut Scratch) -> f64 {
    let size = n as f64;
    let log_p = |d: f64, scratch: &mut Scratch| {
        if n > EXACT_OBSERVATIONS {
            asymptotic(n, d, Side::Both).log_p
        } else {
            continuous(n, d, Side::Both, scratch).log_p
        }
    };
    // The bound of Dvoretzky, Kiefer & Wolfowitz with Massart's constant.
    let (mut low, mut high) = (0.0, ((2.0 / alpha).ln() / (2.0 * size)).sqrt().min(1.0));
    let mut guess = high * (1.0 - 1e-3);
    let mut n_steps = 0;
    while high - low > 4.0 * f64::EPSILON * high {
        n_steps += 1;
        let excess = log_p(guess, scratch) - alpha.ln();
        if excess > 0.0 {
            low = guess;
        } else {
            high = guess;
        }
        // Newton's step on the exponent, whose slope is close to -4 n d; past the bracket, when it
        // no longer moves, or where it creeps because the slope is not that (alpha near 1), halve.
        let step = guess + excess / (4.0 * size * guess);
        let nudged = step + (step - guess) * 0.01;
        let is_inside = nudged > low && nudged < high;
        guess = if is_inside && n_steps < MOST_NEWTON_STEPS {
            nudged
        } else {
            low + (high - low) / 2.0
        };
    }
    high
}

fn outside(n: usize, below: &[f64], above: &[f64], scratch: &mut Scratch) -> f64 {
    let future = all_futures(n);
    mass_outside(n, &merge_checks(below, above), scratch, &future, &future)
}

/// Logarithm of P(D+ >= d) for a continuous law.
fn ln_one_sided(n: usize, d: f64) -> f64 {
    let size = n as f64;
    let terms: Vec<f64> = (0..=n)
        .map_while(|j| {
            let reach = d + j as f64 / size;
            let rest = (n - j) as f64 / size - d;
            (rest > 0.0).then(|| (d / reach).ln() + ln_binomial(j, n, reach, rest))
        })
        .collect();
    ln_sum(&terms)
}

/// Logarithm of the sum of the probabilities of failing each single check.
fn ln_sum_of_checks(n: usize, below: &[f64], above: &[f64]) -> f64 {
    let is_inside = |u: &f64| *u > 0.0 && *u < 1.0;
    let uppers = below.iter().zip(1..).filter(|c| is_inside(c.0));
    // The lower tail of the successes is the upper tail of the failures.
    let lowers = above.iter().enumerate().filter(|c| is_inside(c.1));
    let terms: Vec<f64> = uppers
        .map(|(&u, j)| ln_upper_tail(j, n, u, 1.0 - u))
        .chain(lowers.map(|(j, &u)| ln_upper_tail(n - j, n, 1.0 - u, u)))
        .collect();
    ln_sum(&terms)
}

fn ln_upper_tail(k: usize, n: usize, p: f64, q: f64) -> f64 {
    if k as f64 <= n as f64 * p {
        return 0.0; // above the mode the sum below would not fall; such a check is no deep tail
    }
    let (mut sum, mut term) = (1.0, 1.0);
    for i in k..n {
        term *= (n - i) as f64 / (i + 1) as f64 * (p / q);
        sum += term;
        if term < sum * f64::EPSILON {
            break;
        }
    }
    ln_binomial(k, n, p, q) + f64::ln(sum)
}

fn ln_sum(terms: &[f64]) -> f64 {
    let top = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if top == f64::NEG_INFINITY {
        return top;
    }
    top + terms.iter().map(|t| (t - top).exp()).sum::<f64>().ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_sided(n: usize, d: f64) -> f64 {
        continuous(n, d, Side::Both, &mut Scratch::default()).p
    }

    fn close(got: f64, want: f64, tolerance: f64) {
        assert!((got / want - 1.0).abs() < tolerance, "{got} is not {want}");
    }

    #[test]
    fn one_and_two_observations_by_hand() {
        close(two_sided(1, 0.5), 1.0, 1e-14);
        close(two_sided(1, 0.9), 0.2, 1e-13);
        // For d >= 1/2: P(D_2 >= d) = 2 (1 - d)^2.
        close(two_sided(2, 0.8), 2.0 * 0.2f64.powi(2), 1e-13);
    }

    #[test]
    fn far_out_both_sides_are_twice_one_side() {
        let one = continuous(50, 0.6, Side::Upper, &mut Scratch::default()).p;
        close(two_sided(50, 0.6), 2.0 * one, 1e-12);
    }

    #[test]
    fn one_sided_programme_equals_the_closed_form() {
        let (n, d) = (30, 0.2);
        let below: Vec<f64> = (1..=n).map(|j| j as f64 / 30.0 - d).collect();
        let mut scratch = Scratch::default();
        let by_steps = stepped(n, &below, &[], Side::Upper, &mut scratch).p;
        close(by_steps, continuous(n, d, Side::Upper, &mut scratch).p, 1e-12);
    }

    #[test]
    fn a_fair_coin_is_a_binomial() {
        // Levels 0, 1/2, 1: D >= 0.3 for ten flips means at most 2 or at least 8 heads.
        let (n, d) = (10, 0.3);
        let below: Vec<f64> =
            (1..=n).map(|j| if j as f64 / 10.0 - d >= 0.5 - SAME { 0.5 } else { 0.0 }).collect();
        let above: Vec<f64> =
            (0..n).map(|j| if j as f64 / 10.0 + d <= 0.5 + SAME { 0.5 } else { 1.0 }).collect();
        let got = stepped(n, &below, &above, Side::Both, &mut Scratch::default()).p;
        close(got, 2.0 * 56.0 / 1024.0, 1e-13);
    }

    #[test]
    fn deep_tails_have_a_logarithm() {
        let tail = continuous(1000, 0.9, Side::Both, &mut Scratch::default());
        assert_eq!(tail.p, 0.0);
        assert!(tail.log_p < -1500.0 && tail.log_p.is_finite());
        let flip = stepped(2000, &[0.5; 2000], &[], Side::Upper, &mut Scratch::default());
        assert!(flip.log_p <= 0.0);
    }

    #[test]
    fn invalid_answers_count_at_the_worse_end() {
        let mut order = Vec::new();
        let uniform = deviation(&[0.1, 0.9], &[0.1, 0.9], &[0.1, 0.9], 2, &mut order);
        close(uniform.on(Side::Both).0, 0.65, 1e-14);
        let none = deviation(&[], &[], &[], 3, &mut order);
        assert_eq!(none.on(Side::Both), (1.0, f64::NEG_INFINITY, 1));
    }

    #[test]
    fn both_zeros_are_one_value() {
        let mut order = Vec::new();
        let got = deviation(&[0.0, -0.0], &[1.0, 1.0], &[0.0, 0.0], 0, &mut order);
        assert_eq!((got.above, got.below), (0.0, 0.0));
    }
}
