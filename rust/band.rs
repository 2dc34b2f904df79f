//! The band in which the path of a labeling stays while its statistic is below `h / (n m)`, and the
//! block ends at which it can be found outside.
//!
//! A path never goes down, so that at most `2 min(n, m)` block ends need a look, whatever the ties
//! are.

use crate::smirnov::Side;

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

/// The band in which a path stays while its statistic is below `h / (n m)`.
#[derive(Debug)]
pub struct Band {
    /// Size of the smaller sample.
    pub few: i64,
    /// Size of both.
    pub pooled: i64,
    /// The statistic as an integer.
    pub h: i64,
    /// Which deviations count, seen from the smaller sample.
    pub side: Side,
}

impl Band {
    /// The first and the last state inside at the block end `k`.
    #[must_use]
    pub fn at(&self, k: i64) -> (i64, i64) {
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
    pub fn checkpoints(&self, blocks: &mut impl Blocks) -> Vec<i64> {
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
