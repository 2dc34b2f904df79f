//! Lattice paths that leave a band at the end of a block of equal values.
//!
//! A labeling of the pooled sample is a lattice path; the Kolmogorov-Smirnov statistic reaches
//! `h / (n m)` when the path is outside of a band at one of the checkpoints ([`crate::band`]); between
//! two of them a jump is a convolution with a binomial kernel. What leaves the band is counted with the share of its
//! completions, so that every term is positive and a probability of 1e-240 keeps its relative
//! accuracy.
//!
//! Schroer & Trenkler 1995 (doi:10.1016/0167-9473(94)00040-P); Nikiforov 1994, AS 288
//! (doi:10.2307/2986199); Viehmann 2021 (arXiv:2102.08037).

use crate::band::Band;
use crate::extended::{Factorials, Product, Scaled};

/// Probability of leaving the band at one of the checkpoints.
#[must_use]
pub fn leave<W: Weight>(band: &Band, checkpoints: &[i64]) -> W {
    Walk::new(band).run(checkpoints)
}

/// A number in which the walk is carried: plain, or with an exponent of its own.
pub trait Weight: Copy {
    /// Terms of a kernel this much below its largest cannot matter.
    const NEGLIGIBLE: f64;
    /// The same number, as far as the type can hold it.
    fn from_scaled(value: Scaled) -> Self;
    /// Zero.
    fn zero() -> Self;
    /// The product.
    fn times(self, other: Self) -> Self;
    /// The sum.
    fn plus(self, other: Self) -> Self;
    /// The product with a positive f64.
    fn scaled(self, factor: f64) -> Self;
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
    #[inline]
    fn scaled(self, factor: f64) -> Self {
        self * factor
    }
    #[inline]
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
    fn scaled(self, factor: f64) -> Self {
        Self::times(self, Self::new(factor, 0))
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
    per_path: Scaled,
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
        let all = factorials.choose(band.pooled as usize, few).times(powers[few]);
        let per_path = Scaled::ONE.over(all);
        Self { band, factorials, ratio, powers, per_path, kernels: Vec::new() }
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
            let which = self.kernel(k - position);
            let kernel = &self.kernels[which];
            let raised = self.exponent_at(k);
            let unit = W::from_scaled(Scaled::ONE.shifted(kernel.exponent + exponent - raised));
            for weight in &mut inside {
                *weight = weight.times(unit);
            }
            let base = first + kernel.first;
            let reached = base + (inside.len() + kernel.taps.len()) as i64 - 2;
            let (lowest, highest) = (base.max(k - many), reached.min(few));
            let (low, high) = self.band.at(k);
            let weight = |state: i64| reach(&inside, &kernel.taps, (state - base) as usize);
            let (above, below) = ((high + 1).max(lowest), (low - 1).min(highest));
            if above <= highest {
                left = left.plus(self.leaving(k, above, 1, highest - above, raised, weight));
            }
            if lowest <= below {
                left = left.plus(self.leaving(k, below, -1, below - lowest, raised, weight));
            }
            let (low, high) = (low.max(lowest), high.min(highest));
            next.clear();
            next.resize(usize::try_from(high - low + 1).unwrap_or(0), W::zero());
            spread(&inside, &kernel.taps, low - base, &mut next);
            std::mem::swap(&mut inside, &mut next);
            if inside.is_empty() {
                break;
            }
            (first, position, exponent) = (low, k, raised);
        }
        left
    }

    /// The weight of the states outside from `start` on, with the share of all paths that a unit of
    /// it stands for. The products are log-concave in the state, so that once they fall, the rest
    /// is below a geometric series.
    fn leaving(
        &self,
        k: i64,
        start: i64,
        step: i64,
        room: i64,
        exponent: i64,
        weight: impl Fn(i64) -> W,
    ) -> W {
        let Band { few, pooled, .. } = *self.band;
        let rest = pooled - k;
        let need = (few - start) as usize;
        let ways = self.factorials.choose(rest as usize, need).times(self.powers[need]);
        let share = W::from_scaled(ways.times(self.per_path).shifted(exponent));
        let (mut relative, mut sum, mut before) = (1.0, 0.0, 0.0);
        let scale = weight(start);
        if scale.ratio(W::from_scaled(Scaled::ONE)) == 0.0 && W::NEGLIGIBLE > 0.0 {
            return W::zero();
        }
        for i in 0..=room {
            let state = start + i * step;
            let term = weight(state).ratio(scale) * relative;
            sum += term;
            let fall = term / before;
            if term == 0.0 || (fall < 1.0 && term * fall < 1e-18 * sum * (1.0 - fall)) {
                break;
            }
            before = term;
            let (missing, others) = ((few - state) as f64, (rest - few + state) as f64);
            relative *= if step > 0 {
                missing / ((others + 1.0) * self.ratio)
            } else {
                others * self.ratio / (missing + 1.0)
            };
        }
        scale.times(share).scaled(sum)
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
        let peak = W::from_scaled(peak);
        let step = |t: i64| (length - t) as f64 / (t + 1) as f64 * self.ratio;
        let counts = |value: &W| value.ratio(peak) >= W::NEGLIGIBLE;
        let mut value = peak;
        let down = (0..mode).rev().map(|t| {
            value = value.scaled(1.0 / step(t));
            value
        });
        let mut taps: Vec<W> = down.take_while(counts).collect();
        let first = mode - taps.len() as i64;
        taps.reverse();
        taps.push(peak);
        value = peak;
        let up = (mode..top).map(|t| {
            value = value.scaled(step(t));
            value
        });
        taps.extend(up.take_while(counts));
        Kernel { length, exponent, first, taps }
    }
}

/// The weight that a jump brings to the state `offset` above the lowest that it reaches.
fn reach<W: Weight>(inside: &[W], taps: &[W], offset: usize) -> W {
    let from = (offset + 1).saturating_sub(taps.len());
    let to = inside.len().min(offset + 1);
    let taps = taps[offset + 1 - to..=offset - from].iter().rev();
    inside[from..to].iter().zip(taps).fold(W::zero(), |sum, (w, &tap)| sum.plus(w.times(tap)))
}

/// Convolve `inside` with `taps` into `next`, whose first state lies `start` above the lowest that
/// is reached.
fn spread<W: Weight>(inside: &[W], taps: &[W], start: i64, next: &mut [W]) {
    for (j, &weight) in (0i64..).zip(inside) {
        let skip = usize::try_from(start - j).unwrap_or(0);
        let place = usize::try_from(j - start).unwrap_or(0);
        if skip >= taps.len() || place >= next.len() {
            continue;
        }
        for (slot, &tap) in next[place..].iter_mut().zip(&taps[skip..]) {
            *slot = slot.plus(weight.times(tap));
        }
    }
}
