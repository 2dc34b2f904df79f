//! The two-sample Kolmogorov-Smirnov statistic as an integer, and its exact tail.
//!
//! With `i` observations of the sample and `j` draws of the truth at or below the end of a block of
//! equal values, the statistic is `h = max |i m - j n|`, `D = h / (n m)`: comparing integers keeps
//! the ties that comparing floats loses.

use crate::error::{Error, Result};
use crate::order::{Rank, rank_into, sort_into};
use crate::smirnov::{self, Blocks, Side, Tail};
use crate::truth::Truth;

/// How to compute the tail probability.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Exact where it is affordable ([`smirnov::is_feasible`]), else the limit law.
    Auto,
    /// Exact, however long it takes.
    Exact,
    /// The limit law.
    Asymptotic,
}

/// Result of one test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome {
    /// `h / (n m)`.
    pub statistic: f64,
    /// Where the deviation is attained: the first such value.
    pub location: f64,
    /// 1 where the sample's empirical cdf is the higher one, else -1.
    pub sign: i8,
    /// Probability of a statistic at least as large under the null hypothesis.
    pub tail: Tail,
    /// Whether the tail is exact.
    pub is_exact: bool,
}

impl Outcome {
    /// The result where there is no sample.
    pub const UNDEFINED: Self = Self {
        statistic: f64::NAN,
        location: f64::NAN,
        sign: 0,
        tail: Tail { p: f64::NAN, log_p: f64::NAN },
        is_exact: true,
    };
}

/// Buffers that the rows of one task share.
#[derive(Debug, Default)]
pub struct Scratch {
    sorted: Vec<f64>,
    ranks: Vec<Rank>,
}

/// The largest deviation to one side and where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deviation {
    /// `max (i m - j n)` or its mirror image.
    pub h: i64,
    /// Place in the sorted sample.
    pub index: usize,
}

/// The largest deviation of the sample's cdf above the truth's: attained at an observation.
#[must_use]
pub fn above(ranks: &[Rank], n: i64, m: i64, n_invalid: i64) -> Deviation {
    let mut best = Deviation { h: i64::MIN, index: 0 };
    let mut i = n_invalid;
    for (index, rank) in ranks.iter().enumerate() {
        i += 1;
        let h = i * m - i64::from(rank.upper) * n;
        if h > best.h {
            best = Deviation { h, index };
        }
    }
    best
}

/// The largest deviation of the sample's cdf below the truth's: attained just before an
/// observation, at the draw below it.
#[must_use]
pub fn below(ranks: &[Rank], n: i64, m: i64) -> Deviation {
    let mut best = Deviation { h: i64::MIN, index: 0 };
    let mut i = 0;
    for (index, rank) in ranks.iter().enumerate() {
        let h = i64::from(rank.lower) * n - i * m;
        if h > best.h {
            best = Deviation { h, index };
        }
        i += 1;
    }
    best
}

/// The statistic before its tail: the integer, where, the sign, and the side on which the invalid
/// answers stand.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Statistic {
    /// `max |i m - j n|`.
    pub h: i64,
    /// Where it is attained.
    pub location: f64,
    /// Which cdf is the higher one there.
    pub sign: i8,
}

/// The statistic of a sorted sample with its ranks; `n_invalid` further answers count against it
/// at whichever end gives the larger value.
#[must_use]
pub fn statistic(
    sorted: &[f64],
    ranks: &[Rank],
    truth: &Truth,
    n_invalid: i64,
    side: Side,
) -> Statistic {
    let draws = truth.sorted();
    let (m, n) = (draws.len() as i64, sorted.len() as i64 + n_invalid);
    let up = above(ranks, n, m, n_invalid);
    let jump = n_invalid * m;
    let mut plus = Statistic { h: jump, location: f64::NEG_INFINITY, sign: 1 };
    if !ranks.is_empty() && (up.h > jump || n_invalid == 0) {
        plus = Statistic { h: up.h, location: sorted[up.index], sign: 1 };
    }
    if side == Side::Upper {
        return plus;
    }
    let down = below(ranks, n, m);
    let mut minus = Statistic { h: jump, location: f64::INFINITY, sign: -1 };
    let is_block = !ranks.is_empty() && ranks[down.index].lower > 0;
    if is_block && down.h >= jump {
        let at = draws[ranks[down.index].lower as usize - 1];
        minus = Statistic { h: down.h, location: at, sign: -1 };
    } else if n_invalid == 0 {
        minus.location = sorted[sorted.len() - 1].max(draws[draws.len() - 1]);
    } else {
        minus.location = draws[draws.len() - 1].max(sorted.last().copied().unwrap_or(f64::MIN));
    }
    if side == Side::Lower || minus.h > plus.h { minus } else { plus }
}

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
struct Pooled<'a> {
    truth: &'a Truth,
    groups: Vec<Group>,
    /// Places up to which the two questions have walked.
    at_most: usize,
    at_least: usize,
}

impl<'a> Pooled<'a> {
    fn new(
        sorted: &[f64],
        ranks: &[Rank],
        truth: &'a Truth,
        n_invalid: i64,
        is_first: bool,
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
        if is_first {
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
        if !is_first {
            invalid(&mut groups, &mut observed, m);
        }
        Self { truth, groups, at_most: 0, at_least: 0 }
    }

    fn step(&self, mut place: usize, k: i64) -> (usize, i64) {
        while self.groups.get(place).is_some_and(|group| group.end <= k) {
            place += 1;
        }
        (place, if place == 0 { 0 } else { self.groups[place - 1].observed })
    }
}

impl Blocks for Pooled<'_> {
    fn at_most(&mut self, k: i64) -> i64 {
        let (place, observed) = self.step(self.at_most, k);
        self.at_most = place;
        match self.groups.get(place) {
            Some(group) if group.start <= k => group.start,
            _ => observed + self.truth.block_at_most(k - observed),
        }
    }

    fn at_least(&mut self, k: i64) -> i64 {
        let (place, observed) = self.step(self.at_least, k);
        self.at_least = place;
        match self.groups.get(place) {
            Some(group) if group.start < k => group.end,
            _ => observed + self.truth.block_at_least(k - observed),
        }
    }
}

/// Test one sample against a truth.
///
/// # Errors
/// When there is nothing to test or the sizes are too large for 64-bit counts.
pub fn test(
    sample: &[f64],
    truth: &Truth,
    n_invalid: i64,
    side: Side,
    method: Method,
    scratch: &mut Scratch,
) -> Result<Outcome> {
    let (n, m) = (sample.len() as i64 + n_invalid, truth.len() as i64);
    if n.checked_mul(m).is_none_or(|size| size >= 1 << 62) {
        return Err(Error::argument("x", "be such that len(x) * len(y) is below 2**62", n));
    }
    if n == 0 {
        return Ok(Outcome::UNDEFINED);
    }
    let Scratch { sorted, ranks } = scratch;
    sort_into(sample, sorted);
    rank_into(sorted, truth, ranks);
    let found = statistic(sorted, ranks, truth, n_invalid, side);
    let exact = match method {
        Method::Auto => smirnov::is_feasible(n, m, found.h, side),
        Method::Exact => true,
        Method::Asymptotic => false,
    };
    let tail = if exact {
        let tied = truth.is_tied()
            || n_invalid > 1
            || ranks.iter().any(|r| r.lower < r.upper)
            || sorted.windows(2).any(|w| w[0] == w[1]);
        if tied {
            let first = found.sign > 0;
            smirnov::tail(
                n,
                m,
                found.h,
                side,
                &mut Pooled::new(sorted, ranks, truth, n_invalid, first),
            )
        } else {
            smirnov::tail_untied(n, m, found.h, side)
        }
    } else {
        smirnov::tail_asymptotic(n, m, found.h, side)
    };
    let statistic = found.h as f64 / (n as f64 * m as f64);
    Ok(Outcome { statistic, location: found.location, sign: found.sign, tail, is_exact: exact })
}
