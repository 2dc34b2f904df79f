//! Two-sample statistics of ranks, and their permutation null.
//!
//! The pooled sample is sorted once. A labeling is the sorted list of the places of the smaller
//! sample; with sums prepared over the blocks between, each statistic takes time in proportion to
//! that sample alone. Kuiper's and Cramer and von Mises' statistics are integers, so that equal
//! ones compare as equal; Anderson and Darling's are compared to a relative 1e-10.

use crate::labelings::Labelings;
use crate::rng::Stream;

/// Anderson-Darling statistics closer than this, relatively, are one value.
const SAME_FLOAT: f64 = 1e-10;

/// Which statistic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Kuiper's V: both one-sided distances together.
    Kuiper,
    /// Cramer and von Mises, by midranks (Anderson 1962, doi:10.1214/aoms/1177704477).
    Cramer,
    /// Anderson and Darling, by midranks (Scholz & Stephens 1987, doi:10.2307/2288805, eq. 7).
    Anderson,
}

/// The value of a statistic, exact where it is an integer.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Value {
    /// Kuiper's, times both sizes.
    Height(i128),
    /// Four times Anderson's U.
    Square(i128),
    Real(f64),
}

impl Value {
    fn reaches(self, other: Self) -> bool {
        match (self, other) {
            (Self::Height(a), Self::Height(b)) | (Self::Square(a), Self::Square(b)) => a >= b,
            (Self::Real(a), Self::Real(b)) => a >= b - SAME_FLOAT * b.abs(),
            _ => false,
        }
    }
}

/// A block of equal values.
#[derive(Debug, Clone, Copy, Default)]
struct Block {
    start: i128,
    size: i128,
}

/// Sums over the blocks before one.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    /// Of doubled rank times the places it takes, and times twice its size.
    places: i128,
    ranks: i128,
    /// Of Anderson-Darling weights, times the doubled middle, and its square.
    weight: f64,
    middle: f64,
    square: f64,
}

/// Two samples pooled and sorted.
#[derive(Debug, Clone, Default)]
pub struct Midranks {
    blocks: Vec<Block>,
    sums: Vec<Sums>,
    /// Block of each place.
    block_of: Vec<u32>,
    /// Sum of all squared doubled ranks.
    squared_ranks: i128,
    /// Places of the smaller sample, sorted.
    observed: Vec<u32>,
}

/// The statistic of the two samples and its p-value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome {
    /// The statistic as its authors define it.
    pub statistic: f64,
    /// Share of labelings with a statistic at least as large.
    pub pvalue: f64,
    /// Whether all labelings were looked at.
    pub is_exact: bool,
}

impl Midranks {
    /// Pool two samples; NaN is not expected.
    #[must_use]
    pub fn new(x: &[f64], y: &[f64]) -> Self {
        let (few, many) = if x.len() <= y.len() { (x, y) } else { (y, x) };
        let marked = few.iter().map(|&v| (v, true)).chain(many.iter().map(|&v| (v, false)));
        let mut pool: Vec<(f64, bool)> = marked.collect();
        pool.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let mut out = Self::default();
        for (place, &(value, is_few)) in (0u32..).zip(&pool) {
            let is_new = place == 0 || pool[place as usize - 1].0 != value;
            if is_new {
                out.blocks.push(Block { start: i128::from(place), size: 0 });
            }
            if let Some(block) = out.blocks.last_mut() {
                block.size += 1;
            }
            #[allow(clippy::cast_possible_truncation)] // no more blocks than places
            out.block_of.push(out.blocks.len() as u32 - 1);
            if is_few {
                out.observed.push(place);
            }
        }
        out.add_up();
        out
    }

    fn add_up(&mut self) {
        let n = self.block_of.len() as i128;
        let mut sums = Sums::default();
        self.sums.push(sums);
        for block in &self.blocks {
            let rank = 2 * block.start + block.size + 1;
            sums.places += rank * block.size * (2 * block.start + block.size + 1);
            sums.ranks += 2 * rank * block.size;
            self.squared_ranks += rank * rank * block.size;
            let middle = (2 * block.start + block.size) as f64;
            let weight = Self::weight(*block, n);
            sums.weight += weight;
            sums.middle += weight * middle;
            sums.square += weight * middle * middle;
            self.sums.push(sums);
        }
    }

    /// The weight of a block for Anderson & Darling; 0 where everything is one block.
    fn weight(block: Block, n: i128) -> f64 {
        let middle = 2 * block.start + block.size;
        let denominator = middle * (2 * n - middle) - n * block.size;
        if denominator == 0 { 0.0 } else { block.size as f64 / denominator as f64 }
    }

    /// Visit the blocks that hold chosen places: block, how many before it, how many in it.
    fn visit(&self, chosen: &[u32], mut see: impl FnMut(usize, i128, i128)) {
        let mut before = 0;
        while let Some(&place) = chosen.get(before) {
            let block = self.block_of[place as usize];
            let rest = chosen[before..].iter();
            let inside = rest.take_while(|&&p| self.block_of[p as usize] == block).count();
            see(block as usize, before as i128, inside as i128);
            before += inside;
        }
    }

    fn value(&self, kind: Kind, chosen: &[u32]) -> Value {
        match kind {
            Kind::Kuiper => Value::Height(self.kuiper(chosen)),
            Kind::Cramer => Value::Square(self.cramer(chosen)),
            Kind::Anderson => Value::Real(self.anderson(chosen)),
        }
    }

    /// `V n m`.
    fn kuiper(&self, chosen: &[u32]) -> i128 {
        let (few, n) = (chosen.len() as i128, self.block_of.len() as i128);
        let (mut above, mut below) = (0, 0);
        self.visit(chosen, |block, before, inside| {
            let Block { start, size } = self.blocks[block];
            below = below.max(start * few - before * n);
            above = above.max((before + inside) * n - (start + size) * few);
        });
        above + below
    }

    /// Four times Anderson's U.
    fn cramer(&self, chosen: &[u32]) -> i128 {
        let (few, n) = (chosen.len() as i128, self.block_of.len() as i128);
        let many = n - few;
        let (mut of_few, mut squares, mut cross, mut next) = (0, 0, 0, 0);
        let between = |to: usize, before: i128, next: usize| {
            let (from, to) = (self.sums[next], self.sums[to]);
            (to.places - from.places) - before * (to.ranks - from.ranks)
        };
        self.visit(chosen, |block, before, inside| {
            let Block { start, size } = self.blocks[block];
            let rank = 2 * start + size + 1;
            for i in before + 1..=before + inside {
                of_few += (rank - 2 * i) * (rank - 2 * i);
            }
            squares += inside * rank * rank;
            cross += between(block, before, next);
            let (left, from) = (size - inside, start - before);
            cross += rank * (2 * left * from + left * (left + 1));
            next = block + 1;
        });
        cross += between(self.blocks.len(), few, next);
        // Sum of (rank - 2 j)^2 over the larger sample, multiplied out.
        let of_many =
            self.squared_ranks - squares - 2 * cross + 4 * (many * (many + 1) * (2 * many + 1) / 6);
        few * of_few + many * of_many
    }

    /// Anderson & Darling's statistic, not standardised.
    fn anderson(&self, chosen: &[u32]) -> f64 {
        let (few, n) = (chosen.len() as f64, self.block_of.len() as f64);
        let (mut sum, mut next) = (0.0, 0);
        let between = |to: usize, before: f64, next: usize| {
            let (from, to) = (self.sums[next], self.sums[to]);
            let level = 2.0 * n * before;
            level * level * (to.weight - from.weight)
                - 2.0 * level * few * (to.middle - from.middle)
                + few * few * (to.square - from.square)
        };
        self.visit(chosen, |block, before, inside| {
            let Block { start, size } = self.blocks[block];
            sum += between(block, before as f64, next);
            let gap = n * (2 * before + inside) as f64 - few * (2 * start + size) as f64;
            sum += gap * gap * Self::weight(self.blocks[block], self.block_of.len() as i128);
            next = block + 1;
        });
        sum += between(self.blocks.len(), few, next);
        (sum * (n - 1.0) / (n * few * (n - few))).max(0.0)
    }

    /// The statistic as its authors define it.
    fn scaled(&self, value: Value) -> f64 {
        let (few, n) = (self.observed.len() as f64, self.block_of.len() as f64);
        let product = few * (n - few);
        match value {
            Value::Height(h) => h as f64 / product,
            Value::Square(u) => u as f64 / (4.0 * product * n) - (4.0 * product - 1.0) / (6.0 * n),
            Value::Real(a) => a,
        }
    }

    /// Test with at most `n_resamples` labelings: all of them where there are no more, else random
    /// ones from the streams of (seed, row, replicate), the observed one counted with them.
    #[must_use]
    pub fn test(&self, kind: Kind, n_resamples: u64, seed: u64, row: u64) -> Outcome {
        let observed = self.value(kind, &self.observed);
        let labelings = Labelings { pool: self.block_of.len(), chosen: self.observed.len() };
        let is_hit = |chosen: &[u32]| self.value(kind, chosen).reaches(observed);
        let all = labelings.count_up_to(n_resamples);
        let (hits, looked_at) = if let Some(all) = all {
            (labelings.count_all(is_hit), all)
        } else {
            let stream = |replicate| Stream::new(seed, row, replicate);
            (labelings.count_random(n_resamples, stream, is_hit) + 1, n_resamples + 1)
        };
        let pvalue = hits as f64 / looked_at as f64;
        Outcome { statistic: self.scaled(observed), pvalue, is_exact: all.is_some() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn midranks(x: &[f64], pool: &[f64]) -> Vec<f64> {
        let mut ranks: Vec<f64> = x
            .iter()
            .map(|v| {
                let below = pool.iter().filter(|p| *p < v).count() as f64;
                below + f64::midpoint(pool.iter().filter(|p| *p == v).count() as f64, 1.0)
            })
            .collect();
        ranks.sort_by(f64::total_cmp);
        ranks
    }

    /// Anderson's T by the definition.
    fn cramer_by_definition(x: &[f64], y: &[f64]) -> f64 {
        let pool = [x, y].concat();
        let part = |s: &[f64]| -> f64 {
            let ranks = midranks(s, &pool);
            s.len() as f64 * (1..).zip(ranks).map(|(i, r)| (r - f64::from(i)).powi(2)).sum::<f64>()
        };
        let (n, m) = (x.len() as f64, y.len() as f64);
        (part(x) + part(y)) / (n * m * (n + m)) - (4.0 * n * m - 1.0) / (6.0 * (n + m))
    }

    /// Scholz & Stephens' equation 7 by the definition.
    fn anderson_by_definition(x: &[f64], y: &[f64]) -> f64 {
        let pool = [x, y].concat();
        let total = pool.len() as f64;
        let mut values = pool.clone();
        values.sort_by(f64::total_cmp);
        values.dedup();
        let count = |s: &[f64], v: f64| {
            let equal = s.iter().filter(|p| **p == v).count() as f64;
            (s.iter().filter(|p| **p < v).count() as f64 + equal / 2.0, equal)
        };
        let part = |s: &[f64]| -> f64 {
            let n = s.len() as f64;
            let term = |&v: &f64| {
                let ((below, equal), (own, _)) = (count(&pool, v), count(s, v));
                equal / total * (total * own - n * below).powi(2)
                    / (below * (total - below) - total * equal / 4.0)
            };
            values.iter().map(term).sum::<f64>() / n
        };
        (part(x) + part(y)) * (total - 1.0) / total
    }

    fn samples() -> impl Iterator<Item = (Vec<f64>, Vec<f64>)> {
        (0..60).map(|seed| {
            let mut stream = Stream::new(seed, 7, 7);
            let coarse = 2 + stream.below(40);
            let mut draw =
                |n: u32| -> Vec<f64> { (0..n).map(|_| f64::from(stream.below(coarse))).collect() };
            (draw(3 + u32::from(seed % 7 == 0) * 9), draw(4))
        })
    }

    #[test]
    fn statistics_equal_their_definitions() {
        for (x, y) in samples() {
            let pooled = Midranks::new(&x, &y);
            let got = pooled.test(Kind::Cramer, 1, 0, 0).statistic;
            let want = cramer_by_definition(&x, &y);
            assert!((got - want).abs() < 1e-12, "{x:?} {y:?}: {got} is not {want}");
            if pooled.blocks.len() > 1 {
                let got = pooled.test(Kind::Anderson, 1, 0, 0).statistic;
                let want = anderson_by_definition(&x, &y);
                assert!((got - want).abs() < 1e-12, "{x:?} {y:?}: {got} is not {want}");
            }
        }
    }

    #[test]
    fn swapping_the_samples_changes_nothing() {
        for (x, y) in samples() {
            for kind in [Kind::Kuiper, Kind::Cramer, Kind::Anderson] {
                let a = Midranks::new(&x, &y).test(kind, 10_000, 0, 0);
                let b = Midranks::new(&y, &x).test(kind, 10_000, 0, 0);
                assert!((a.statistic - b.statistic).abs() < 1e-12);
                assert!((a.pvalue - b.pvalue).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn separated_samples_are_one_of_all_labelings() {
        // Kuiper cannot tell a shift around the circle: 7 turns of 1 / C(7, 3).
        let pooled = Midranks::new(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0, 7.0]);
        let kuiper = pooled.test(Kind::Kuiper, 100, 0, 0);
        assert_eq!((kuiper.statistic, kuiper.pvalue, kuiper.is_exact), (1.0, 7.0 / 35.0, true));
        assert_eq!(pooled.test(Kind::Cramer, 100, 0, 0).pvalue, 2.0 / 35.0);
    }

    #[test]
    fn random_labelings_approach_all_labelings() {
        let (x, y) = ([0.0, 1.0, 1.0, 2.0, 5.0], [1.0, 3.0, 3.0, 4.0, 6.0, 7.0, 7.0]);
        let pooled = Midranks::new(&x, &y);
        for kind in [Kind::Kuiper, Kind::Cramer, Kind::Anderson] {
            let exact = pooled.test(kind, 1_000, 0, 0);
            let value = pooled.value(kind, &pooled.observed);
            let labelings = Labelings { pool: 12, chosen: 5 };
            let stream = |replicate| Stream::new(1, 2, replicate);
            let is_hit = |chosen: &[u32]| pooled.value(kind, chosen).reaches(value);
            let hits = labelings.count_random(20_000, stream, is_hit) as f64 / 2e4;
            let error = (exact.pvalue * (1.0 - exact.pvalue) / 2e4).sqrt();
            assert!(exact.is_exact && (hits - exact.pvalue).abs() < 4.0 * error);
        }
    }
}
