//! The two-sample Kolmogorov-Smirnov statistic as an integer, and its exact tail.
//!
//! With `i` observations of the sample and `j` draws of the truth at or below the end of a block of
//! equal values, the statistic is `h = max |i m - j n|`, `D = h / (n m)`: comparing integers keeps
//! the ties that comparing floats loses.

use crate::error::{Error, Result};
use crate::memory::Recent;
use crate::order::{Rank, sort_into};
use crate::pooled::Pooled;
use crate::smirnov::{self, Side, Tail};
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
    codes: Vec<u32>,
    keys: Vec<u64>,
    sorted: Vec<f64>,
    ranks: Vec<Rank>,
    recent: Recent,
}

impl Scratch {
    /// The ranks of a sample in ascending order; whether some of its observations are equal.
    pub fn rank(&mut self, sample: &[f64], truth: &Truth) -> (&[Rank], bool) {
        self.ranks.clear();
        let Some(levels) = truth.indexed() else {
            sort_into(sample, &mut self.sorted);
            self.ranks.extend(self.sorted.iter().map(|&x| truth.ranks(x)));
            return (&self.ranks, self.sorted.windows(2).any(|w| w[0] == w[1]));
        };
        levels.codes_into(sample, &mut self.codes);
        self.keys.clear();
        self.keys.extend((0u64..).zip(&self.codes).map(|(i, &code)| u64::from(code) << 32 | i));
        self.keys.sort_unstable();
        self.ranks.extend(self.keys.iter().map(|key| levels.rank(code_of(*key))));
        let mut groups = self.keys.chunk_by(|a, b| code_of(*a) == code_of(*b));
        (&self.ranks, groups.any(|group| has_equal(group, sample, &mut self.sorted)))
    }
}

#[allow(clippy::cast_possible_truncation)] // the upper half
fn code_of(key: u64) -> u32 {
    (key >> 32) as u32
}

/// Whether two observations with the same code are equal.
#[allow(clippy::cast_possible_truncation)] // the lower half
fn has_equal(group: &[u64], sample: &[f64], values: &mut Vec<f64>) -> bool {
    let value = |key: &u64| sample[*key as u32 as usize];
    match group {
        [_] => false,
        _ if group[0] >> 32 & 1 == 1 => true,
        [a, b] => value(a) == value(b),
        _ => {
            values.clear();
            values.extend(group.iter().map(value));
            values.sort_unstable_by(f64::total_cmp);
            values.windows(2).any(|w| w[0] == w[1])
        }
    }
}

/// The largest deviation of a sample's cdf above the truth's, `max (i m - j n)`, and the draws at
/// most at the observation that attains it. `n_invalid` observations stand before all others.
#[must_use]
pub fn above(ranks: &[Rank], n: i64, m: i64, n_invalid: i64) -> (i64, usize) {
    let mut best = (i64::MIN, 0);
    let mut i = n_invalid * m;
    for rank in ranks {
        i += m;
        let h = i - i64::from(rank.upper) * n;
        if h > best.0 {
            best = (h, rank.upper as usize);
        }
    }
    best
}

/// The largest deviation of a sample's cdf below the truth's, `max (j n - i m)`, and the draws
/// below the observation before which it is attained; 0 draws when it is nowhere positive.
#[must_use]
pub fn below(ranks: &[Rank], n: i64, m: i64) -> (i64, usize) {
    let mut best = (i64::MIN, 0);
    let mut i = 0;
    for rank in ranks {
        let h = i64::from(rank.lower) * n - i;
        if h > best.0 && rank.lower > 0 {
            best = (h, rank.lower as usize);
        }
        i += m;
    }
    best
}

/// The statistic before its tail.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Statistic {
    /// `max |i m - j n|`.
    pub h: i64,
    /// The first value at which it is attained.
    pub location: f64,
    /// 1 where the sample's cdf is the higher one there, else -1.
    pub sign: i8,
}

/// The statistic of a sample with its ranks in ascending order; `n_invalid` further answers count
/// against it, as one block at whichever end gives the larger value.
#[must_use]
pub fn statistic(
    sample: &[f64],
    ranks: &[Rank],
    draws: &[f64],
    n_invalid: i64,
    side: Side,
) -> Statistic {
    let (m, n) = (draws.len() as i64, sample.len() as i64 + n_invalid);
    let jump = n_invalid * m;
    let mut plus = Statistic { h: jump, location: f64::NEG_INFINITY, sign: 1 };
    if side != Side::Lower {
        let (h, upper) = above(ranks, n, m, n_invalid);
        if h > jump || n_invalid == 0 {
            let before = draws.get(upper).copied().unwrap_or(f64::NAN);
            let location = sample.iter().filter(|&&x| !(x >= before));
            let location = location.fold(f64::NEG_INFINITY, |a, &b| a.max(b));
            plus = Statistic { h, location, sign: 1 };
        }
    }
    let mut minus = Statistic { h: jump, location: f64::INFINITY, sign: -1 };
    if side != Side::Upper {
        let (h, lower) = below(ranks, n, m);
        if h >= jump {
            minus = Statistic { h, location: draws[lower - 1], sign: -1 };
        } else {
            // Nowhere below, or most so between the last value and the invalid answers.
            minus.location = sample.iter().copied().fold(draws[draws.len() - 1], f64::max);
        }
    }
    match side {
        Side::Both if minus.h > plus.h => minus,
        Side::Both | Side::Upper => plus,
        Side::Lower => minus,
    }
}

/// Test one sample against a truth.
///
/// # Errors
/// When the sizes are too large for 64-bit counts.
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
    let (ranks, is_tied) = scratch.rank(sample, truth);
    let found = statistic(sample, ranks, truth.sorted(), n_invalid, side);
    let is_exact = match method {
        Method::Auto => smirnov::is_feasible(n, m, found.h, side),
        Method::Exact => true,
        Method::Asymptotic => false,
    };
    let is_tied =
        is_tied || n_invalid > 1 || truth.is_tied() || ranks.iter().any(|r| r.lower < r.upper);
    let tail = if !is_exact {
        smirnov::tail_asymptotic(n, m, found.h, side)
    } else if is_tied {
        sort_into(sample, &mut scratch.sorted);
        let (sorted, ranks) = (&scratch.sorted, &scratch.ranks);
        let mut blocks = Pooled::new(sorted, ranks, truth, n_invalid, found.sign > 0);
        smirnov::tail(n, m, found.h, side, &mut blocks)
    } else {
        scratch.recent.tail(n, m, found.h, side)
    };
    let statistic = found.h as f64 / (n as f64 * m as f64);
    Ok(Outcome { statistic, location: found.location, sign: found.sign, tail, is_exact })
}
