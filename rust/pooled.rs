//! The blocks of equal values of a sample pooled with a truth, found without merging the two.

use crate::band::Blocks;
use crate::order::{Levels, Rank};
use crate::truth::Truth;

/// A group of equal observations in the pooled sample: it starts and ends a block.
#[derive(Debug, Clone, Copy)]
struct Group {
    start: i64,
    end: i64,
    /// Observations up to and with it.
    observed: i64,
}

/// The blocks of a sample pooled with a truth.
#[derive(Debug)]
pub struct Pooled<'a> {
    draws: &'a [f64],
    levels: Option<&'a Levels>,
    groups: Vec<Group>,
    /// Places up to which the two questions have walked.
    at_most: usize,
    at_least: usize,
}

impl<'a> Pooled<'a> {
    /// Pool a sorted sample with a truth; the invalid answers are one block at the lower end, or
    /// at the upper one.
    #[must_use]
    pub fn new(
        sorted: &[f64],
        ranks: &[Rank],
        truth: &'a Truth,
        n_invalid: i64,
        invalid_first: bool,
    ) -> Self {
        let m = truth.len() as i64;
        let mut groups = Vec::with_capacity(sorted.len() + 1);
        let mut observed = 0;
        let invalid = |groups: &mut Vec<Group>, observed: &mut i64, lower: i64| {
            if n_invalid > 0 {
                let start = *observed + lower;
                *observed += n_invalid;
                groups.push(Group { start, end: start + n_invalid, observed: *observed });
            }
        };
        if invalid_first {
            invalid(&mut groups, &mut observed, 0);
        }
        let mut i = 0;
        while i < sorted.len() {
            let same = sorted[i..].iter().take_while(|&&x| x == sorted[i]).count();
            let start = observed + i64::from(ranks[i].lower);
            observed += same as i64;
            groups.push(Group { start, end: observed + i64::from(ranks[i].upper), observed });
            i += same;
        }
        if !invalid_first {
            invalid(&mut groups, &mut observed, m);
        }
        let (draws, levels) = (truth.sorted(), truth.indexed());
        Self { draws, levels, groups, at_most: 0, at_least: 0 }
    }

    fn step(&self, mut place: usize, k: i64) -> (usize, i64) {
        while self.groups.get(place).is_some_and(|group| group.end <= k) {
            place += 1;
        }
        (place, if place == 0 { 0 } else { self.groups[place - 1].observed })
    }

    /// The largest end of a block of equal draws at or below `j`.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // 0 <= j <= m
    fn draws_at_most(&self, j: i64) -> i64 {
        if let Some(levels) = self.levels {
            return levels.block_at_most(j);
        }
        match self.draws.get(j as usize) {
            Some(value) => self.draws.partition_point(|y| y < value) as i64,
            None => j,
        }
    }

    /// The smallest end of a block of equal draws at or above `j`.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // 0 <= j <= m
    fn draws_at_least(&self, j: i64) -> i64 {
        match (self.levels, j) {
            (_, 0) => 0,
            (Some(levels), _) => levels.block_at_least(j),
            (None, _) => {
                let value = self.draws[j as usize - 1];
                self.draws.partition_point(|&y| y <= value) as i64
            }
        }
    }
}

impl Blocks for Pooled<'_> {
    fn at_most(&mut self, k: i64) -> i64 {
        let (place, observed) = self.step(self.at_most, k);
        self.at_most = place;
        match self.groups.get(place) {
            Some(group) if group.start <= k => group.start,
            _ => observed + self.draws_at_most(k - observed),
        }
    }

    fn at_least(&mut self, k: i64) -> i64 {
        let (place, observed) = self.step(self.at_least, k);
        self.at_least = place;
        match self.groups.get(place) {
            Some(group) if group.start < k => group.end,
            _ => observed + self.draws_at_least(k - observed),
        }
    }
}
