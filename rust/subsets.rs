//! The share of all subsets of a pool that pass a fixed band, without drawing any subset.
//!
//! The sorted pool is walked once; the state is how many answers were chosen so far, and states
//! outside of the band just before or just after a block of equal answers die. An answer is chosen
//! with probability N/M at each step and the result divided by the probability of choosing N in
//! all, so that only positive terms are added. The analogue for verdicts of the unbiased pass@k
//! (Chen et al. 2021, arXiv:2107.03374); the error is the delete-one jackknife.

use crate::pmf::binomial;

/// Blocks of equal answers in ascending order, each with what the band compares it to.
#[derive(Debug, Clone, Copy)]
pub struct Pool<'a, L> {
    /// Number of answers up to and including each block.
    pub ends: &'a [usize],
    /// Level just before each block.
    pub before: &'a [L],
    /// Level at each block.
    pub after: &'a [L],
    /// Answers asked for that are invalid.
    pub n_invalid: usize,
}

/// What the counts of a subset are compared with.
pub trait Band<L> {
    /// Whether `count` of `n` is too far above the level.
    fn is_above(&self, count: usize, n: usize, level: L) -> bool;
    /// Whether `count` of `n` is too far below the level.
    fn is_below(&self, count: usize, n: usize, level: L) -> bool;
    /// About the largest count of `n` that is not too far above the level.
    fn highest(&self, n: usize, level: L) -> f64;
    /// About the smallest count of `n` that is not too far below the level.
    fn lowest(&self, n: usize, level: L) -> f64;
}

/// A band around a law: levels are values of its cdf.
#[derive(Debug, Clone, Copy)]
pub struct AroundLaw {
    /// Deviations from this on are outside.
    pub distance: f64,
}

impl Band<f64> for AroundLaw {
    // The very expressions of `onesample::deviation`, so that all M of M is its verdict.
    fn is_above(&self, count: usize, n: usize, level: f64) -> bool {
        count as f64 / n as f64 - level >= self.distance
    }
    fn is_below(&self, count: usize, n: usize, level: f64) -> bool {
        level - count as f64 / n as f64 >= self.distance
    }
    fn highest(&self, n: usize, level: f64) -> f64 {
        (level + self.distance) * n as f64
    }
    fn lowest(&self, n: usize, level: f64) -> f64 {
        (level - self.distance) * n as f64
    }
}

/// A band around a truth sample: levels count its draws.
#[derive(Debug, Clone, Copy)]
pub struct AroundTruth {
    /// Number of draws m.
    pub size: u64,
    /// Deviations |k m - j n| from this on are outside.
    pub height: u64,
}

impl Band<u64> for AroundTruth {
    fn is_above(&self, count: usize, n: usize, level: u64) -> bool {
        count as u64 * self.size >= self.height + level * n as u64
    }
    fn is_below(&self, count: usize, n: usize, level: u64) -> bool {
        level * n as u64 >= self.height + count as u64 * self.size
    }
    fn highest(&self, n: usize, level: u64) -> f64 {
        (self.height + level * n as u64) as f64 / self.size as f64
    }
    fn lowest(&self, n: usize, level: u64) -> f64 {
        ((level * n as u64) as f64 - self.height as f64) / self.size as f64
    }
}

/// Share of passing subsets and its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    /// Share of the subsets that pass, in [0, 1]; NaN when the pool is smaller than the subsets.
    pub rate: f64,
    /// Delete-one jackknife; NaN when a subset is the whole pool.
    pub standard_error: f64,
}

impl Default for Share {
    fn default() -> Self {
        Self { rate: f64::NAN, standard_error: f64::NAN }
    }
}

/// Buffers that the rows of one task share.
#[derive(Debug, Default)]
pub struct Scratch {
    limits: Vec<(usize, usize)>,
    state: Vec<f64>,
    stored: Vec<f64>,
    rows: Vec<(usize, usize, usize)>,
    chosen: Vec<f64>,
    total: Vec<f64>,
}

/// The share of subsets of `n` answers, valid or not, that stay inside of the band.
pub fn pass_share<L: Copy, B: Band<L>>(
    pool: &Pool<'_, L>,
    n: usize,
    band: &B,
    zero: L,
    scratch: &mut Scratch,
) -> Share {
    let n_valid = pool.ends.last().copied().unwrap_or(0);
    let size = n_valid + pool.n_invalid;
    if n == 0 || n > size {
        return Share::default();
    }
    let (p, q) = (n as f64 / size as f64, (size - n) as f64 / size as f64);
    scratch.total.clear();
    scratch.total.resize(pool.ends.len(), 0.0);
    let (mut rate, mut lost) = (0.0, 0.0);
    for n_lost in n.saturating_sub(n_valid)..=pool.n_invalid.min(n) {
        if band.is_above(n_lost, n, zero) {
            break;
        }
        let weight = if pool.n_invalid == 0 || n == size {
            1.0
        } else {
            binomial(n_lost, pool.n_invalid, p, q) * binomial(n - n_lost, n_valid, p, q)
                / binomial(n, size, p, q)
        };
        set_limits(pool, n, n_lost, band, &mut scratch.limits);
        let passing = weight * walk(pool.ends, n - n_lost, scratch);
        rate += passing;
        lost += passing * n_lost as f64;
        for (sum, part) in scratch.total.iter_mut().zip(&scratch.chosen) {
            *sum += weight * part;
        }
    }
    if n == size {
        return Share { rate, standard_error: f64::NAN };
    }
    if rate == 1.0 {
        return Share { rate, standard_error: 0.0 }; // no subset was cut: nothing but rounding varies
    }
    let (n, size) = (n as f64, size as f64);
    let mut spread = 0.0;
    let mut start = 0;
    for (&end, &with) in pool.ends.iter().zip(&scratch.total) {
        spread += (end - start) as f64 * (n * rate - size * with).powi(2);
        start = end;
    }
    if pool.n_invalid > 0 {
        let each = lost / pool.n_invalid as f64;
        spread += pool.n_invalid as f64 * (n * rate - size * each).powi(2);
    }
    let standard_error = ((size - 1.0) / size * spread).sqrt() / (size - n);
    Share { rate: rate.min(1.0), standard_error }
}

/// For each block: the smallest count just before it and the largest after it that stay inside.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // clamped to counts
fn set_limits<L: Copy, B: Band<L>>(
    pool: &Pool<'_, L>,
    n: usize,
    n_lost: usize,
    band: &B,
    limits: &mut Vec<(usize, usize)>,
) {
    limits.clear();
    limits.extend(pool.before.iter().zip(pool.after).map(|(&before, &after)| {
        let mut low = band.lowest(n, before).max(0.0) as usize;
        while low > 0 && !band.is_below(low - 1, n, before) {
            low -= 1;
        }
        while band.is_below(low, n, before) {
            low += 1;
        }
        let mut high = (band.highest(n, after).max(0.0) as usize).min(n);
        while high < n && !band.is_above(high + 1, n, after) {
            high += 1;
        }
        while high > 0 && band.is_above(high, n, after) {
            high -= 1;
        }
        // Count 0 can only be too high by the invalid answers, which the caller looked at.
        (low, if high < n_lost { usize::MAX } else { high - n_lost })
    }));
}

/// The share of choices of `n` valid answers that stay inside of the limits; `chosen` receives for
/// each block the share of choices that stay inside and hold one given answer of that block.
fn walk(ends: &[usize], n: usize, scratch: &mut Scratch) -> f64 {
    let Scratch { limits, state, stored, rows, chosen, .. } = scratch;
    let size = ends.last().copied().unwrap_or(0);
    chosen.clear();
    chosen.resize(ends.len(), 0.0);
    // With all or none to choose, p or q is 0 and the one path has weight 1.
    let (p, q) = if size == 0 {
        (0.0, 1.0)
    } else {
        (n as f64 / size as f64, (size - n) as f64 / size as f64)
    };
    state.clear();
    state.resize(n + 2, 0.0);
    stored.clear();
    rows.clear();
    state[0] = 1.0;
    let (mut first, mut last, mut start, mut is_cut) = (0usize, 0usize, 0usize, false);
    for (&end, &(low, high)) in ends.iter().zip(&*limits) {
        if high == usize::MAX {
            return 0.0;
        }
        is_cut |= first < low;
        first = first.max(low);
        for seen in start..end {
            if first > last {
                return 0.0;
            }
            if seen + 1 == end {
                rows.push((stored.len(), first, last));
                stored.extend_from_slice(&state[first..=last]);
            }
            let top = (last + 1).min(n);
            if top > last {
                state[top] = 0.0;
            }
            for k in (first + 1..=top).rev() {
                state[k] = q * state[k] + p * state[k - 1];
            }
            state[first] *= q;
            last = top;
            // Too few are left to reach n from lower counts.
            first = first.max((n + seen + 1).saturating_sub(size));
        }
        is_cut |= last > high;
        last = last.min(high);
        start = end;
    }
    if first > last || last < n {
        return 0.0;
    }
    let all = binomial(n, size, p, q);
    let passing = if is_cut { state[n] / all } else { 1.0 };
    backward(ends, n, (p, q), passing / state[n], scratch);
    passing
}

/// Walk back and join with the stored states: the weight of the choices through each answer.
fn backward(ends: &[usize], n: usize, (p, q): (f64, f64), scale: f64, scratch: &mut Scratch) {
    let Scratch { limits, state, stored, rows, chosen, .. } = scratch;
    state.fill(0.0);
    state[n] = 1.0;
    let (mut first, mut last) = (n, n);
    for block in (0..ends.len()).rev() {
        let start = if block == 0 { 0 } else { ends[block - 1] };
        let (low, high) = limits[block];
        last = last.min(high);
        state[last + 1] = 0.0;
        let (at, from, to) = rows[block];
        let (from, to) = (from.max(first.saturating_sub(1)), to.min(last));
        let row = &stored[at + from - rows[block].1..];
        chosen[block] =
            (from..=to).zip(row).map(|(k, w)| w * state[k + 1]).sum::<f64>() * p * scale;
        for _ in start..ends[block] {
            first = first.saturating_sub(1);
            for k in first..=last {
                state[k] = q * state[k] + p * state[k + 1];
            }
        }
        if first < low {
            state[first..low.min(last + 1)].fill(0.0);
            first = low;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::onesample::deviation;
    use crate::rng::Stream;
    use crate::smirnov::Side;

    fn choose(n: usize, k: usize) -> f64 {
        (0..k).map(|i| (n - i) as f64 / (i + 1) as f64).product()
    }

    /// Passes of every subset of the slots (slot `None` is invalid) by the definition.
    fn by_brute_force(slots: &[Option<f64>], n: usize, distance: f64) -> f64 {
        let (mut passing, mut all) = (0.0, 0.0);
        for mask in 0u32..1 << slots.len() {
            if mask.count_ones() as usize != n {
                continue;
            }
            let chosen = slots.iter().enumerate().filter(|(i, _)| mask >> i & 1 == 1);
            let valid: Vec<f64> = chosen.filter_map(|(_, s)| *s).collect();
            let d = deviation(&valid, &valid, &valid, n - valid.len(), &mut Vec::new());
            passing += f64::from(u8::from(d.on(Side::Both).0 < distance));
            all += 1.0;
        }
        passing / all
    }

    fn share(slots: &[Option<f64>], n: usize, distance: f64) -> Share {
        let mut valid: Vec<f64> = slots.iter().flatten().copied().collect();
        valid.sort_by(f64::total_cmp);
        let mut ends = Vec::new();
        let mut levels = Vec::new();
        for (i, value) in valid.iter().enumerate() {
            if levels.last() == Some(value) {
                ends.pop();
            } else {
                levels.push(*value);
            }
            ends.push(i + 1);
        }
        let n_invalid = slots.len() - valid.len();
        let pool = Pool { ends: &ends, before: &levels, after: &levels, n_invalid };
        pass_share(&pool, n, &AroundLaw { distance }, 0.0, &mut Scratch::default())
    }

    /// Uniform answers rounded to tenths, so that there are ties, some of them invalid.
    fn pools() -> impl Iterator<Item = Vec<Option<f64>>> {
        (0..40).map(|seed| {
            let mut stream = Stream::new(seed, 0, 0);
            let size = 2 + stream.below(9);
            let draw = |s: &mut Stream| (f64::from(s.below(11)) / 10.0).powi(2);
            (0..size)
                .map(|_| (stream.below(5) > 0 || seed % 2 == 0).then(|| draw(&mut stream)))
                .collect()
        })
    }

    #[test]
    fn the_share_equals_that_of_all_subsets() {
        for slots in pools() {
            for n in 1..=slots.len() {
                for distance in [0.33, 0.501, 0.8] {
                    let got = share(&slots, n, distance).rate;
                    let want = by_brute_force(&slots, n, distance);
                    assert!((got - want).abs() < 1e-13, "{slots:?} {n}: {got} is not {want}");
                }
            }
        }
    }

    #[test]
    fn the_error_is_the_delete_one_jackknife() {
        for slots in pools() {
            for n in 1..slots.len() {
                let size = slots.len() as f64;
                let without: Vec<f64> = (0..slots.len())
                    .map(|t| {
                        let mut rest = slots.clone();
                        rest.remove(t);
                        by_brute_force(&rest, n, 0.501)
                    })
                    .collect();
                let mean = without.iter().sum::<f64>() / size;
                let squares: f64 = without.iter().map(|u| (u - mean).powi(2)).sum();
                let want = ((size - 1.0) / size * squares).sqrt();
                let got = share(&slots, n, 0.501).standard_error;
                assert!((got - want).abs() < 1e-12, "{slots:?} {n}: {got} is not {want}");
            }
        }
    }

    #[test]
    fn all_chosen_must_be_successes_gives_pass_at_k() {
        // A point mass at the lower end: an answer above it is a failure, and one is too many.
        let slots: Vec<Option<f64>> = (0..30).map(|i| Some(f64::from(i / 12))).collect();
        let ends = [12, 30];
        let pool = Pool { ends: &ends, before: &[0.0, 1.0], after: &[1.0, 1.0], n_invalid: 0 };
        for n in 1..=slots.len() {
            let band = AroundLaw { distance: 0.5 / n as f64 };
            let got = pass_share(&pool, n, &band, 0.0, &mut Scratch::default()).rate;
            let want = if n > 12 { 0.0 } else { choose(12, n) / choose(30, n) };
            assert!((got - want).abs() <= 1e-14 * want, "{n}: {got} is not {want}");
        }
    }

    #[test]
    fn integer_and_float_bands_agree() {
        let levels: Vec<u64> = vec![3, 10, 11, 40, 77, 90];
        let floats: Vec<f64> = levels.iter().map(|&j| j as f64 / 100.0).collect();
        let ends = [1, 2, 4, 5, 8, 9];
        let counted = Pool { ends: &ends, before: &levels, after: &levels, n_invalid: 2 };
        let valued = Pool { ends: &ends, before: &floats, after: &floats, n_invalid: 2 };
        let mut scratch = Scratch::default();
        for n in 1..=11 {
            let height = 41 * n as u64;
            let truth = AroundTruth { size: 100, height };
            let law = AroundLaw { distance: (height as f64 - 0.5) / (100 * n) as f64 };
            let a = pass_share(&counted, n, &truth, 0, &mut scratch);
            let b = pass_share(&valued, n, &law, 0.0, &mut scratch);
            assert_eq!(format!("{a:?}"), format!("{b:?}"));
        }
    }

    #[test]
    fn a_pool_without_valid_answers_fails() {
        let got = share(&[None, None, None], 2, 0.6);
        assert_eq!((got.rate, got.standard_error), (0.0, 0.0));
        assert!(share(&[None], 2, 0.6).rate.is_nan());
    }
}
