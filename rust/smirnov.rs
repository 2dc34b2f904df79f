//! The exact null law of the two-sample Kolmogorov-Smirnov statistic, with any ties.
//!
//! Conditional on the pooled sample all labelings are equally likely. A labeling is a lattice path;
//! the statistic reaches `h / (n m)` when the path leaves a band at the end of a block of equal
//! values. Because the path never goes down, at most `2 min(n, m)` block ends need a look
//! ("checkpoints"); between two of them a jump is a convolution with a binomial kernel. What
//! leaves the band is counted with the share of its completions, so that every term is positive
//! and a probability of 1e-240 keeps its relative accuracy.
//!
//! Schroer & Trenkler 1995 (doi:10.1016/0167-9473(94)00040-P); Nikiforov 1994, AS 288
//! (doi:10.2307/2986199); Viehmann 2021 (arXiv:2102.08037); Hodges 1958
//! (doi:10.1007/BF02589501).

use crate::extended::{Factorials, Product, Scaled};

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

/// Where the blocks of equal values end in the sorted pooled sample.
///
/// Both questions are asked with arguments that never decrease between calls of the same method.
pub trait Blocks {
    /// The largest block end (or 0) at or below `k`.
    fn at_most(&mut self, k: i64) -> i64;
    /// The smallest block end at or above `k`.
    fn at_least(&mut self, k: i64) -> i64;
}

/// All values differ: every position is a block end.
#[derive(Debug, Clone, Copy)]
pub struct Untied;

impl Blocks for Untied {
    fn at_most(&mut self, k: i64) -> i64 {
        k
    }

    fn at_least(&mut self, k: i64) -> i64 {
        k
    }
}

/// Steps of the inner loop up to which a tail is exact by default: about a second.
pub const EXACT_STEPS: f64 = 1e9;
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
    let plain: f64 = Walk::new(&band).run(&checkpoints);
    if plain >= SMALLEST_PLAIN {
        return Tail { p: plain.min(1.0), log_p: plain.ln().min(0.0) };
    }
    Tail::from_scaled(Walk::new(&band).run(&checkpoints))
}

/// The tail without ties, by the closed form where both sizes are equal.
#[must_use]
pub fn tail_untied(n: i64, m: i64, h: i64, side: Side) -> Tail {
    if h > 0 && n == m {
        return tail_equal_sizes(n, (h + n - 1) / n, side);
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
    let rest = (2..=12).map(|k: i32| {
        let sign = if k % 2 == 0 { -1.0 } else { 1.0 };
        sign * (first * f64::from(k * k - 1)).exp()
    });
    Tail::from_log(first + std::f64::consts::LN_2 + rest.sum::<f64>().ln_1p())
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

/// The band in which a path stays while its statistic is below `h / (n m)`.
#[derive(Debug)]
struct Band {
    few: i64,
    pooled: i64,
    h: i64,
    side: Side,
}

impl Band {
    /// The first and the last state inside at the block end `k`.
    fn at(&self, k: i64) -> (i64, i64) {
        let low = (k * self.few - self.h).div_euclid(self.pooled) + 1;
        let high = (k * self.few + self.h - 1).div_euclid(self.pooled);
        match self.side {
            Side::Both => (low, high),
            Side::Upper => (0, high),
            Side::Lower => (low, self.few),
        }
    }

    /// The block ends that decide, in ascending order: for each state the last one at which it is
    /// too high and the first one at which it is too low.
    fn checkpoints(&self, blocks: &mut impl Blocks) -> Vec<i64> {
        let mut all = Vec::with_capacity(2 * usize::try_from(self.few).unwrap_or(0));
        if self.side != Side::Lower {
            let high = |i: i64| (i * self.pooled - self.h).div_euclid(self.few);
            all.extend((1..=self.few).map(high).filter(|&k| k > 0).map(|k| blocks.at_most(k)));
        }
        if self.side != Side::Upper {
            let low = |i: i64| (i * self.pooled + self.h + self.few - 1).div_euclid(self.few);
            let inside = |&k: &i64| k < self.pooled;
            all.extend((0..self.few).map(low).filter(inside).map(|k| blocks.at_least(k)));
        }
        all.retain(|&k| 0 < k && k < self.pooled);
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// A number in which the walk is carried: plain, or with an exponent of its own.
trait Weight: Copy {
    /// Terms of a kernel this much below its largest cannot matter.
    const NEGLIGIBLE: f64;
    fn from_scaled(value: Scaled) -> Self;
    fn zero() -> Self;
    fn times(self, other: Self) -> Self;
    fn plus(self, other: Self) -> Self;
    /// The quotient as f64, to judge sizes.
    fn ratio(self, other: Self) -> f64;
}

impl Weight for f64 {
    const NEGLIGIBLE: f64 = 1e-290;
    fn from_scaled(value: Scaled) -> Self {
        value.to_f64()
    }
    fn zero() -> Self {
        0.0
    }
    #[inline]
    fn times(self, other: Self) -> Self {
        self * other
    }
    #[inline]
    fn plus(self, other: Self) -> Self {
        self + other
    }
    fn ratio(self, other: Self) -> f64 {
        self / other
    }
}

impl Weight for Scaled {
    const NEGLIGIBLE: f64 = -1.0;
    fn from_scaled(value: Scaled) -> Self {
        value
    }
    fn zero() -> Self {
        Self::ZERO
    }
    fn times(self, other: Self) -> Self {
        Self::times(self, other)
    }
    fn plus(self, other: Self) -> Self {
        Self::plus(self, other)
    }
    fn ratio(self, other: Self) -> f64 {
        if other == Self::ZERO { f64::INFINITY } else { self.over(other).to_f64() }
    }
}

/// Kernels kept by length of jump.
const KERNELS: usize = 64;

/// The binomial kernel of a jump: `C(length, t) ratio^t 2^-exponent`.
struct Kernel<W> {
    length: i64,
    exponent: i64,
    /// From the tap `first` on.
    first: i64,
    taps: Vec<W>,
}

/// One pass over the checkpoints.
struct Walk<'a, W> {
    band: &'a Band,
    factorials: Factorials,
    /// Odds of a label of the smaller sample; any value gives the same result, this one keeps the
    /// weights near one.
    ratio: f64,
    powers: Vec<Scaled>,
    /// Reciprocal of the weight of all paths.
    total: Scaled,
    kernels: Vec<Kernel<W>>,
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // counts below 2^24
impl<'a, W: Weight> Walk<'a, W> {
    fn new(band: &'a Band) -> Self {
        let few = band.few as usize;
        let ratio = band.few as f64 / (band.pooled - band.few) as f64;
        let factorials = Factorials::up_to(band.pooled as usize);
        let mut product = Product::one();
        let mut powers = vec![Scaled::ONE];
        powers.extend((0..few).map(|_| {
            product.times(ratio);
            product.value()
        }));
        let total = factorials.choose(band.pooled as usize, few).times(powers[few]);
        Self { band, factorials, ratio, powers, total, kernels: Vec::new() }
    }

    /// The exponent that keeps the weights at position `k` near probabilities.
    fn exponent_at(&self, k: i64) -> i64 {
        (k as f64 * self.ratio.ln_1p() / std::f64::consts::LN_2).round() as i64
    }

    /// Probability of leaving the band at one of the checkpoints.
    fn run(mut self, checkpoints: &[i64]) -> W {
        let Band { few, pooled, .. } = *self.band;
        let many = pooled - few;
        let (mut first, mut inside, mut next) = (0, vec![W::from_scaled(Scaled::ONE)], Vec::new());
        let (mut position, mut exponent, mut left) = (0, 0, W::zero());
        for &k in checkpoints {
            if inside.is_empty() {
                break;
            }
            let which = self.kernel(k - position);
            let kernel = &self.kernels[which];
            let raised = self.exponent_at(k);
            let unit = W::from_scaled(Scaled::ONE.shifted(kernel.exponent - (raised - exponent)));
            inside.iter_mut().for_each(|w| *w = w.times(unit));
            let last = first + inside.len() as i64 - 1;
            let lowest = (first + kernel.first).max(k - many);
            let highest = (last + kernel.first + kernel.taps.len() as i64 - 1).min(few);
            let (low, high) = self.band.at(k);
            let (low, high) = (low.max(lowest), high.min(highest));
            let at = |o: i64| reach(&inside, kernel, o - first);
            let gone = |o: i64| self.completions(k, o, raised);
            left = left.plus(sum_away((high + 1).max(lowest)..=highest, at, gone));
            left = left.plus(sum_away((lowest..=(low - 1).min(highest)).rev(), at, gone));
            next.clear();
            next.resize(usize::try_from(high - low + 1).unwrap_or(0), W::zero());
            spread(&inside, kernel, low - first - kernel.first, &mut next);
            std::mem::swap(&mut inside, &mut next);
            (first, position, exponent) = (low, k, raised);
        }
        left
    }

    /// The share of all paths that a unit of weight at state `o` of position `k` stands for.
    fn completions(&self, k: i64, o: i64, exponent: i64) -> W {
        let Band { few, pooled, .. } = *self.band;
        let need = (few - o) as usize;
        let ways = self.factorials.choose((pooled - k) as usize, need);
        W::from_scaled(ways.times(self.powers[need]).over(self.total).shifted(exponent))
    }

    /// The place of the kernel of that length among those kept.
    fn kernel(&mut self, length: i64) -> usize {
        if let Some(found) = self.kernels.iter().position(|kernel| kernel.length == length) {
            return found;
        }
        let made = self.make_kernel(length);
        if self.kernels.len() < KERNELS {
            self.kernels.push(made);
            return self.kernels.len() - 1;
        }
        let place = (length % KERNELS as i64) as usize;
        self.kernels[place] = made;
        place
    }

    /// Built outward from the mode, so that rounding errors are relative to each tap.
    fn make_kernel(&self, length: i64) -> Kernel<W> {
        let top = length.min(self.band.few);
        let share = self.ratio / (1.0 + self.ratio);
        let mode = (((length + 1) as f64 * share) as i64).min(top);
        let peak = self.factorials.choose(length as usize, mode as usize);
        let peak = peak.times(self.powers[mode as usize]);
        let exponent = peak.exponent();
        let peak = peak.shifted(-exponent);
        let step = |t: i64| (length - t) as f64 / (t + 1) as f64 * self.ratio;
        let (mut down, mut value) = (Vec::new(), peak);
        for t in (0..mode).rev() {
            value = value.over(Scaled::new(step(t), 0));
            if W::from_scaled(value).ratio(W::from_scaled(peak)) < W::NEGLIGIBLE {
                break;
            }
            down.push(W::from_scaled(value));
        }
        let first = mode - down.len() as i64;
        let mut taps: Vec<W> = down.into_iter().rev().collect();
        taps.push(W::from_scaled(peak));
        value = peak;
        for t in mode..top {
            value = value.times(Scaled::new(step(t), 0));
            if W::from_scaled(value).ratio(W::from_scaled(peak)) < W::NEGLIGIBLE {
                break;
            }
            taps.push(W::from_scaled(value));
        }
        Kernel { length, exponent, first, taps }
    }
}

/// The weight that a jump brings to the state `offset` above the first one inside.
fn reach<W: Weight>(inside: &[W], kernel: &Kernel<W>, offset: i64) -> W {
    let mut sum = W::zero();
    for (j, &weight) in (0i64..).zip(inside) {
        let tap = usize::try_from(offset - j - kernel.first).ok().and_then(|t| kernel.taps.get(t));
        if let Some(&tap) = tap {
            sum = sum.plus(weight.times(tap));
        }
    }
    sum
}

/// Add up weights times completions going away from the band. The products are log-concave in the
/// state, so that once they fall, the rest is below a geometric series.
fn sum_away<W: Weight>(
    states: impl Iterator<Item = i64>,
    weight: impl Fn(i64) -> W,
    completions: impl Fn(i64) -> W,
) -> W {
    let (mut sum, mut before) = (W::zero(), W::zero());
    for state in states {
        let term = weight(state).times(completions(state));
        sum = sum.plus(term);
        let fall = term.ratio(before);
        if fall < 1.0 && term.ratio(sum) * fall / (1.0 - fall) < 1e-18 {
            break;
        }
        before = term;
    }
    sum
}

/// Convolve `inside` with the kernel into `next`, whose first state lies `start` above the first
/// one that the first tap reaches.
fn spread<W: Weight>(inside: &[W], kernel: &Kernel<W>, start: i64, next: &mut [W]) {
    for (j, &weight) in (0i64..).zip(inside) {
        let from = start - j;
        let skip = usize::try_from(from).unwrap_or(0);
        let place = usize::try_from(-from).unwrap_or(0);
        if skip >= kernel.taps.len() || place >= next.len() {
            continue;
        }
        for (slot, &tap) in next[place..].iter_mut().zip(&kernel.taps[skip..]) {
            *slot = slot.plus(weight.times(tap));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    fn golden() -> serde_json::Value {
        let text = include_str!("../tests/golden/vectors.json");
        serde_json::from_str(text).unwrap_or_default()
    }

    fn number(value: &serde_json::Value) -> f64 {
        value.as_str().and_then(|s| s.parse().ok()).unwrap_or(f64::NAN)
    }

    fn integer(case: &serde_json::Value, key: &str) -> i64 {
        case[key].as_i64().unwrap_or(-1)
    }

    #[test]
    fn tails_with_blocks_equal_exact_path_counts() {
        for case in golden()["ks_blocks"].as_array().into_iter().flatten() {
            let sizes = case["block_sizes"].as_array().into_iter().flatten();
            let ends = sizes.scan(0, |sum, s| {
                *sum += s.as_i64().unwrap_or(0);
                Some(*sum)
            });
            let (n, m, h) = (integer(case, "n"), integer(case, "m"), integer(case, "h"));
            let p = tail(n, m, h, Side::Both, &mut Ends(ends.collect())).p;
            let right = number(&case["p"]);
            assert!((p / right - 1.0).abs() < 1e-12, "{n} {m} {h}: {p} {right}");
        }
    }

    #[test]
    fn tails_without_ties_equal_exact_path_counts() {
        for case in golden()["ks_continuous"].as_array().into_iter().flatten() {
            let (n, m, h) = (integer(case, "n"), integer(case, "m"), integer(case, "h"));
            let right = number(&case["p"]);
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
    fn separated_samples_have_two_labelings() {
        for (n, m) in [(1, 5), (100, 10_000), (400, 5_000)] {
            let table = Factorials::up_to(20_000);
            let ways = table.choose((n + m) as usize, n as usize).ln();
            let right = std::f64::consts::LN_2 - ways;
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
            for d in [0.01, 0.02, 0.03] {
                let h = (d * 4000.0 * 5000.0) as i64;
                let exact = tail_untied(4000, 5000, h, side).p;
                let limit = tail_asymptotic(4000, 5000, h, side).p;
                assert!((exact / limit - 1.0).abs() < 0.05, "{side:?} {d}: {exact} {limit}");
            }
        }
    }
}
