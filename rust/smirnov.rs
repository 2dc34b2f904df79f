//! The exact null law of the two-sample Kolmogorov-Smirnov statistic, with any ties.
//!
//! Conditional on the pooled sample all labelings are equally likely; [`crate::lattice`] counts
//! those whose statistic is as large, [`crate::halves`] in half the time where no values are equal.
//! Without ties and with equal sizes there is a closed form, and for large samples a limit law
//! (Hodges 1958, doi:10.1007/BF02589501).

use crate::band::{Band, Blocks, Untied};
use crate::extended::{Product, Scaled};
use crate::halves::leave_symmetric;
use crate::lattice::leave;

/// Which deviations count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// Either sign.
    Both,
    /// The empirical cdf of the first sample above that of the second.
    Upper,
    /// The empirical cdf of the first sample below that of the second.
    Lower,
}

impl Side {
    /// The side seen after the two samples have changed places.
    #[must_use]
    pub fn swapped(self) -> Self {
        match self {
            Self::Both => Self::Both,
            Self::Upper => Self::Lower,
            Self::Lower => Self::Upper,
        }
    }
}

/// A tail probability and its logarithm, which is finite where the probability underflows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tail {
    /// Probability of a statistic at least as large.
    pub p: f64,
    /// Natural logarithm of it.
    pub log_p: f64,
}

impl Tail {
    /// The certain event.
    pub const ONE: Self = Self { p: 1.0, log_p: 0.0 };

    fn from_scaled(p: Scaled) -> Self {
        Self { p: p.to_f64().min(1.0), log_p: p.ln().min(0.0) }
    }

    fn from_log(log_p: f64) -> Self {
        Self { p: log_p.exp().min(1.0), log_p: log_p.min(0.0) }
    }
}

/// Steps of the inner loop up to which a tail is exact by default: less than half a second.
pub const EXACT_STEPS: f64 = 4e8;
/// Pooled observations up to which a tail is exact by default (the table of factorials).
pub const EXACT_POOLED: i64 = 1 << 24;
/// Below this the plain sum is repeated with an exponent beside every number.
const SMALLEST_PLAIN: f64 = 1e-250;

/// Whether the exact tail without ties is affordable: see [`EXACT_STEPS`].
#[must_use]
pub fn is_feasible(n: i64, m: i64, h: i64, side: Side) -> bool {
    let (few, pooled) = (n.min(m) as f64, (n + m) as f64);
    let half = h as f64 / pooled;
    let width = few.min(if side == Side::Both { 2.0 * half } else { few }) + 1.0;
    let taps = width.min(pooled / (2.0 * few) + 2.0);
    n + m <= EXACT_POOLED && 2.0 * few * width * taps <= EXACT_STEPS
}

/// Probability that the statistic is at least `h / (n m)`.
///
/// `h` is the integer `max |i m - j n|`. Sizes and `h` must be such that `n m < 2^62`.
#[must_use]
pub fn tail(n: i64, m: i64, h: i64, side: Side, blocks: &mut impl Blocks) -> Tail {
    if h <= 0 {
        return Tail::ONE;
    }
    let (few, many, side) = if n <= m { (n, m, side) } else { (m, n, side.swapped()) };
    let band = Band { few, pooled: few + many, h, side };
    let checkpoints = band.checkpoints(blocks);
    tail_from(leave(&band, &checkpoints), &band, &checkpoints)
}

/// The tail that the plain sum gives, unless that underflows.
fn tail_from(plain: f64, band: &Band, checkpoints: &[i64]) -> Tail {
    if plain >= SMALLEST_PLAIN {
        return Tail { p: plain.min(1.0), log_p: plain.ln().min(0.0) };
    }
    Tail::from_scaled(leave(band, checkpoints))
}

/// The tail without ties, by the closed form where both sizes are equal.
#[must_use]
pub fn tail_untied(n: i64, m: i64, h: i64, side: Side) -> Tail {
    if h > 0 && n == m {
        return tail_equal_sizes(n, (h + n - 1) / n, side);
    }
    if h > 0 && side == Side::Both {
        let band = Band { few: n.min(m), pooled: n + m, h, side };
        let checkpoints = band.checkpoints(&mut Untied);
        let guess = tail_asymptotic(n, m, h, side).p;
        return tail_from(leave_symmetric(&band, &checkpoints, guess), &band, &checkpoints);
    }
    tail(n, m, h, side, &mut Untied)
}

/// Sizes are equal, values differ: the reflection principle (Hodges 1958, section 3), with the
/// statistic `c / n`.
fn tail_equal_sizes(n: i64, c: i64, side: Side) -> Tail {
    // The term of k reflections is C(2n, n - kc) / C(2n, n).
    let mut term = Product::one();
    let (mut done, mut sum, mut sign) = (0, Scaled::ZERO, 1.0);
    let mut correction = 0.0;
    for k in 1..=n / c {
        while done < k * c {
            term.times((n - done) as f64);
            done += 1;
            term.over((n + done) as f64);
        }
        if side != Side::Both {
            return Tail::from_scaled(term.value());
        }
        if k == 1 {
            sum = term.value().shifted(1);
        } else {
            let part = 2.0 * term.value().over(sum).to_f64();
            correction -= sign * part;
            if part < 1e-20 {
                break;
            }
            sign = -sign;
        }
    }
    Tail::from_scaled(sum.times(Scaled::new(1.0 + correction, 0)))
}

/// The large-sample tail: Kolmogorov's limit law, one-sided with the correction of Hodges 1958.
#[must_use]
pub fn tail_asymptotic(n: i64, m: i64, h: i64, side: Side) -> Tail {
    if h <= 0 {
        return Tail::ONE;
    }
    let (a, b) = (n.max(m) as f64, n.min(m) as f64);
    let d = h as f64 / (n as f64 * m as f64);
    let z = (a * b / (a + b)).sqrt() * d;
    if side != Side::Both {
        let correction = 2.0 * z * (a + 2.0 * b) / (a * b * (a + b)).sqrt() / 3.0;
        return Tail::from_log(-2.0 * z * z - correction);
    }
    if z < 0.5 {
        // Jacobi's other series, which converges where the first does not.
        let q = -std::f64::consts::PI.powi(2) / (8.0 * z * z);
        let cdf = [1.0, 9.0, 25.0].iter().map(|k| (k * q).exp()).sum::<f64>();
        let cdf = cdf * (2.0 * std::f64::consts::PI).sqrt() / z;
        return Tail::from_log((-cdf).ln_1p());
    }
    let first = -2.0 * z * z;
    let (mut rest, mut sign) = (0.0, -1.0);
    for k in 2..12 {
        let term = (first * f64::from(k * k - 1)).exp();
        rest += sign * term;
        sign = -sign;
        if term < 1e-18 {
            break;
        }
    }
    Tail::from_log(first + std::f64::consts::LN_2 + rest.ln_1p())
}

/// The smallest `h` whose tail without ties is at most `alpha`; `n m + 1` when there is none.
#[must_use]
pub fn critical_h(n: i64, m: i64, alpha: f64, side: Side) -> i64 {
    let (mut low, mut high) = (0, n * m + 1);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if tail_untied(n, m, middle, side).p <= alpha {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extended::Factorials;
    use crate::golden;

    /// Block ends given one by one.
    struct Ends(Vec<i64>);

    impl Blocks for Ends {
        fn at_most(&mut self, k: i64) -> i64 {
            self.0.iter().copied().filter(|&e| e <= k).max().unwrap_or(0)
        }
        fn at_least(&mut self, k: i64) -> i64 {
            self.0.iter().copied().filter(|&e| e >= k).min().unwrap_or(k)
        }
    }

    fn integer(case: &serde_json::Value, key: &str) -> i64 {
        case[key].as_i64().unwrap_or(-1)
    }

    #[test]
    fn tails_with_blocks_equal_exact_path_counts() {
        for case in golden::vectors("ks_blocks") {
            let sizes = case["block_sizes"].as_array().into_iter().flatten();
            let ends = sizes.scan(0, |sum, s| {
                *sum += s.as_i64().unwrap_or(0);
                Some(*sum)
            });
            let (n, m, h) = (integer(&case, "n"), integer(&case, "m"), integer(&case, "h"));
            let p = tail(n, m, h, Side::Both, &mut Ends(ends.collect())).p;
            let right = golden::number(&case["p"]);
            assert!((p / right - 1.0).abs() < 1e-12, "{n} {m} {h}: {p} {right}");
        }
    }

    #[test]
    fn tails_without_ties_equal_exact_path_counts() {
        for case in golden::vectors("ks_continuous") {
            let (n, m, h) = (integer(&case, "n"), integer(&case, "m"), integer(&case, "h"));
            let right = golden::number(&case["p"]);
            let tolerance = if case["note"].is_string() { 1e-10 } else { 1e-12 };
            let p = tail_untied(n, m, h, Side::Both).p;
            assert!((p / right - 1.0).abs() < tolerance, "{n} {m} {h}: {p} {right}");
        }
    }

    #[test]
    fn the_closed_form_equals_the_walk() {
        for (n, c) in [(1, 1), (2, 1), (7, 3), (64, 16), (300, 280)] {
            for side in [Side::Both, Side::Upper, Side::Lower] {
                let closed = tail_untied(n, n, c * n, side);
                let walk = tail(n, n, c * n, side, &mut Untied);
                assert!((closed.p / walk.p - 1.0).abs() < 1e-12, "{n} {c}: {closed:?} {walk:?}");
            }
        }
    }

    #[test]
    #[allow(clippy::cast_possible_truncation)] // far below 2^63
    fn half_of_the_walk_tells_the_whole() {
        for (n, m) in [(1, 4), (2, 3), (7, 9), (20, 41), (90, 10_000), (10_001, 90), (400, 1001)] {
            // From the certain to 1e-20, with either parity of n + m and of h.
            for root in 1..60 {
                let spread = ((n + m) as f64 * n as f64 * m as f64).sqrt();
                let h = ((f64::from(root) / 12.0 * spread) as i64).clamp(1, n * m);
                let half = tail_untied(n, m, h, Side::Both);
                let whole = tail(n, m, h, Side::Both, &mut Untied);
                assert!((half.p / whole.p - 1.0).abs() < 1e-13, "{n} {m} {h}: {half:?} {whole:?}");
            }
        }
    }

    #[test]
    fn separated_samples_have_two_labelings() {
        for (n, m) in [(1usize, 5usize), (100, 10_000), (400, 5_000)] {
            let right = std::f64::consts::LN_2 - Factorials::up_to(20_000).choose(n + m, n).ln();
            let got = tail(n as i64, m as i64, (n * m) as i64, Side::Both, &mut Untied);
            assert!((got.log_p / right - 1.0).abs() < 1e-13, "{n} {m}: {got:?} {right}");
        }
    }

    #[test]
    fn critical_values_are_those_published() {
        // Critical D at alpha = 1e-4 and m = 10,000.
        for (n, d) in [(2, 0.993), (5, 0.862), (10, 0.655), (20, 0.479), (50, 0.310), (100, 0.221)]
        {
            let h = critical_h(n, 10_000, 1e-4, Side::Both);
            let got = h as f64 / (n as f64 * 1e4);
            assert!((got - d).abs() < 6e-4, "{n}: {got}");
            assert!(tail_untied(n, 10_000, h - 1, Side::Both).p > 1e-4);
        }
        assert_eq!(critical_h(1, 10_000, 1e-4, Side::Both), 10_001);
    }

    #[test]
    fn the_limit_law_is_near_the_exact_one() {
        for side in [Side::Both, Side::Upper, Side::Lower] {
            for h in [200_000, 400_000, 600_000] {
                let exact = tail_untied(4000, 5000, h, side).p;
                let limit = tail_asymptotic(4000, 5000, h, side).p;
                assert!((exact / limit - 1.0).abs() < 0.05, "{side:?} {h}: {exact} {limit}");
            }
        }
    }
}
