//! Lattice paths that leave a band at the end of a block of equal values.
//!
//! A labeling of the pooled sample is a lattice path; the Kolmogorov-Smirnov statistic reaches
//! `h / (n m)` when the path is outside of a band at one of the checkpoints ([`crate::band`]);
//! between two of them a jump is a convolution with a binomial kernel. What leaves the band is
//! counted with the share of its completions, so that every term is positive and a probability of
//! 1e-240 keeps its relative accuracy.
//!
//! Schroer & Trenkler 1995 (doi:10.1016/0167-9473(94)00040-P); Nikiforov 1994, AS 288
//! (doi:10.2307/2986199); Viehmann 2021 (arXiv:2102.08037).

use crate::band::Band;
use crate::extended::{Factorials, Product, Scaled};
use crate::weight::Weight;

/// Probability of leaving the band at one of the checkpoints.
#[must_use]
pub fn leave<W: Weight>(band: &Band, checkpoints: &[i64]) -> W {
    if W::NEGLIGIBLE > 0.0 {
        let quick = Walk::<W>::new(band, QUICK).run(checkpoints);
        if quick.to_f64() >= QUICK_HOLDS {
            return quick;
        }
    }
    Walk::new(band, W::NEGLIGIBLE).run(checkpoints)
}

/// Terms of a kernel that a first walk leaves out, relative to its largest.
pub(crate) const QUICK: f64 = 1e-36;
/// The least probability that such a walk gives to 1e-15: what it leaves out is below `4 QUICK` at
/// each of at most `2 n` checkpoints, over the share of label counts that are right, which is at
/// least `0.39 / sqrt(n)`; with n < 2^24 that is 1e-24 at most, and 1e-28 up to n = 10^5.
pub(crate) const QUICK_HOLDS: f64 = 1e-8;

/// What a sum may lack, relative to itself.
const NEGLIGIBLE: f64 = 1e-16;
/// Kernels kept by length of jump.
const KERNELS: usize = 64;

/// The binomial kernel of a jump: `C(length, t) ratio^t 2^-exponent`.
struct Kernel<W> {
    length: i64,
    exponent: i64,
    /// From the tap `first` on.
    first: i64,
    taps: Vec<W>,
    /// The same between zeros.
    padded: Vec<W>,
    /// The same from the last tap to the first.
    reversed: Vec<W>,
}

/// One pass over the checkpoints.
pub(crate) struct Walk<'a, W> {
    pub(crate) band: &'a Band,
    pub(crate) factorials: Factorials,
    /// Odds of a label of the smaller sample; any value gives the same result, this one keeps the
    /// weights near one.
    pub(crate) ratio: f64,
    /// Base-two logarithm of the weight that a step adds.
    growth: f64,
    pub(crate) powers: Vec<Scaled>,
    /// Terms of a kernel this much below its largest are left out.
    negligible: f64,
    /// Reciprocal of the weight of all paths.
    pub(crate) per_path: Scaled,
    kernels: Vec<Kernel<W>>,
    /// Whether what leaves is counted.
    pub(crate) counts_left: bool,
}

/// The weights of the states inside at a position, and what has left before.
#[derive(Clone)]
pub(crate) struct Front<W> {
    pub(crate) position: i64,
    /// The weights are `2^exponent` times those stored.
    pub(crate) exponent: i64,
    /// The state of the first weight.
    pub(crate) first: i64,
    pub(crate) inside: Vec<W>,
    next: Vec<W>,
    pub(crate) left: W,
}

impl<W: Weight> Front<W> {
    pub(crate) fn start() -> Self {
        let inside = vec![W::from_scaled(Scaled::ONE)];
        Self { position: 0, exponent: 0, first: 0, inside, next: Vec::new(), left: W::zero() }
    }

    /// The weight of a state, zero outside.
    pub(crate) fn weight(&self, state: i64) -> W {
        let place = usize::try_from(state - self.first).ok();
        place.and_then(|place| self.inside.get(place)).copied().unwrap_or(W::zero())
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // counts below 2^24
impl<'a, W: Weight> Walk<'a, W> {
    pub(crate) fn new(band: &'a Band, negligible: f64) -> Self {
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
        let growth = ratio.ln_1p() / std::f64::consts::LN_2;
        let (kernels, counts_left) = (Vec::new(), true);
        Self { band, factorials, ratio, growth, powers, negligible, per_path, kernels, counts_left }
    }

    /// The exponent that keeps the weights at position `k` near probabilities.
    fn exponent_at(&self, k: i64) -> i64 {
        (k as f64 * self.growth) as i64
    }

    /// Probability of leaving the band at one of the checkpoints.
    pub(crate) fn run(mut self, checkpoints: &[i64]) -> W {
        let mut front = Front::start();
        self.walk(&mut front, checkpoints);
        front.left
    }

    pub(crate) fn walk(&mut self, front: &mut Front<W>, checkpoints: &[i64]) {
        for &k in checkpoints {
            if !front.inside.is_empty() {
                self.jump(front, k, self.band.at(k));
            }
        }
    }

    /// Go to the position `k`, where the states from `low` to `high` are inside.
    pub(crate) fn jump(&mut self, front: &mut Front<W>, k: i64, (low, high): (i64, i64)) {
        let Band { few, pooled, .. } = *self.band;
        let which = self.kernel(k - front.position);
        let kernel = &self.kernels[which];
        let raised = self.exponent_at(k);
        let unit = W::from_scaled(Scaled::ONE.shifted(kernel.exponent + front.exponent - raised));
        for weight in &mut front.inside {
            *weight = weight.times(unit);
        }
        let base = front.first + kernel.first;
        let reached = base + (front.inside.len() + kernel.taps.len()) as i64 - 2;
        let (lowest, highest) = (base.max(k - (pooled - few)), reached.min(few));
        if self.counts_left {
            let inside = &front.inside;
            let weight = |state: i64| reach(inside, &kernel.reversed, (state - base) as usize);
            let (above, below) = ((high + 1).max(lowest), (low - 1).min(highest));
            if above <= highest {
                let left = self.leaving(k, above, 1, highest - above, raised, weight);
                front.left = front.left.plus(left);
            }
            if lowest <= below {
                let left = self.leaving(k, below, -1, below - lowest, raised, weight);
                front.left = front.left.plus(left);
            }
        }
        let (low, high) = (low.max(lowest), high.min(highest));
        front.next.clear();
        front.next.resize(usize::try_from(high - low + 1).unwrap_or(0), W::zero());
        spread(&front.inside, &kernel.padded, low - base, &mut front.next);
        std::mem::swap(&mut front.inside, &mut front.next);
        (front.first, front.position, front.exponent) = (low, k, raised);
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
        let scale = weight(start);
        if scale.to_f64() == 0.0 && W::NEGLIGIBLE > 0.0 {
            return W::zero();
        }
        let (mut relative, mut sum, mut before) = (1.0, 0.0, 0.0);
        let per_scale = W::from_scaled(Scaled::ONE).over(scale);
        for i in 0..=room {
            let state = start + i * step;
            let term = weight(state).times(per_scale).to_f64() * relative;
            sum += term;
            if term == 0.0 || (term < before && term * term < NEGLIGIBLE * sum * (before - term)) {
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
        let counts = |value: &W| value.over(peak).to_f64() >= self.negligible;
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
        let reversed = taps.iter().rev().copied().collect();
        let zeros = [W::zero(); PADDING];
        let padded = [&zeros, taps.as_slice(), &zeros].concat();
        Kernel { length, exponent, first, taps, padded, reversed }
    }
}

/// The weight that a jump brings to the state `offset` above the lowest that it reaches.
fn reach<W: Weight>(inside: &[W], reversed: &[W], offset: usize) -> W {
    let from = (offset + 1).saturating_sub(reversed.len());
    let to = inside.len().min(offset + 1);
    let weights = &inside[from..to];
    let taps = &reversed[reversed.len() + from - offset - 1..][..weights.len()];
    // Four sums that do not wait for each other.
    let mut sums = [W::zero(); 4];
    let (quads, tap_quads) = (weights.chunks_exact(4), taps.chunks_exact(4));
    let rest = quads.remainder().iter().zip(tap_quads.remainder());
    let rest = rest.fold(W::zero(), |sum, (&w, &tap)| sum.plus(w.times(tap)));
    for (quad, tap_quad) in quads.zip(tap_quads) {
        for (sum, (&w, &tap)) in sums.iter_mut().zip(quad.iter().zip(tap_quad)) {
            *sum = sum.plus(w.times(tap));
        }
    }
    sums[0].plus(sums[1]).plus(sums[2].plus(sums[3])).plus(rest)
}

/// Zeros on either side of the taps, so that four weights at a time find a tap for every state.
const PADDING: usize = 3;

/// Convolve `inside` with padded taps into `next`, whose first state lies `start` above the lowest
/// that is reached. Four weights at a time: the loops are short, and their turns cost most.
fn spread<W: Weight>(inside: &[W], padded: &[W], start: i64, next: &mut [W]) {
    for (block, four) in (0i64..).step_by(4).zip(inside.chunks(4)) {
        let skip = usize::try_from(start - block).unwrap_or(0);
        let place = usize::try_from(block - start).unwrap_or(0);
        if skip + PADDING >= padded.len() || place >= next.len() {
            continue;
        }
        let at = |i: usize| four.get(i).copied().unwrap_or(W::zero());
        let (a, b, c, d) = (at(0), at(1), at(2), at(3));
        for (slot, taps) in next[place..].iter_mut().zip(padded[skip..].windows(4)) {
            let (ab, cd) =
                (a.times(taps[3]).plus(b.times(taps[2])), c.times(taps[1]).plus(d.times(taps[0])));
            *slot = slot.plus(ab.plus(cd));
        }
    }
}
