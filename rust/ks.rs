//! The two-sample Kolmogorov-Smirnov statistic as an integer, and its exact tail.
//!
//! With `i` observations of the sample and `j` draws of the truth at or below the end of a block of
//! equal values, the statistic is `h = max |i m - j n|`, `D = h / (n m)`: comparing integers keeps
//! the ties that comparing floats loses.

use crate::error::{Error, Result};
use crate::memory::Recent;
use crate::order::Rank;
use crate::pooled::Pooled;
use crate::smirnov::{self, Side, Tail};
use crate::sorting::Sorter;
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
    sorter: Sorter,
    sorted: Vec<f64>,
    codes: Vec<u32>,
    ranks: Vec<Rank>,
    recent: Recent,
}

impl Scratch {
    /// Sort a sample and rank it; the ranks in ascending order.
    pub fn rank(&mut self, sample: &[f64], truth: &Truth) -> &[Rank] {
        self.sorter.sort_into(sample, truth.indexed(), &mut self.sorted);
        truth.ranks_into(&self.sorted, &mut self.codes, &mut self.ranks);
        &self.ranks
    }
}

/// The largest deviations of a sample's cdf above the truth's, `max (i m - j n)`, attained at an
/// observation, and below it, attained just before one. `n_invalid` observations stand before all
/// others for the former, behind them for the latter.
#[must_use]
pub fn deviations(ranks: &[Rank], n: i64, m: i64, n_invalid: i64) -> (i64, i64) {
    let (mut above, mut below, mut i) = (i64::MIN, i64::MIN, 0);
    for rank in ranks {
        below = below.max(i64::from(rank.lower) * n - i);
        i += m;
        above = above.max(i - i64::from(rank.upper) * n);
    }
    (above.saturating_add(n_invalid * m), below)
}

/// Where the sample's cdf is first `h` above the truth's: at the last observation of a gap.
fn location_above(sorted: &[f64], ranks: &[Rank], m: i64, h: i64, n_invalid: i64) -> f64 {
    let n = sorted.len() as i64 + n_invalid;
    let mut observed = (n_invalid + 1..).zip(ranks).zip(sorted);
    let attained = observed.find(|((i, rank), _)| i * m - i64::from(rank.upper) * n == h);
    let found = attained.map(|(_, &x)| x).or(sorted.last().copied());
    found.unwrap_or(f64::NEG_INFINITY)
}

/// Where the sample's cdf is first `h` below the truth's: at the draw before an observation, or at
/// the end of all values.
fn location_below(sorted: &[f64], ranks: &[Rank], draws: &[f64], h: i64, n_invalid: i64) -> f64 {
    let (m, n) = (draws.len() as i64, sorted.len() as i64 + n_invalid);
    let mut observed = (0..).zip(ranks);
    let attained = observed
        .find(|(i, rank)| rank.lower > 0 && i64::from(rank.lower) * n - i * m == h)
        .map(|(_, rank)| draws[rank.lower as usize - 1]);
    let end = draws[draws.len() - 1];
    attained.unwrap_or_else(|| sorted.last().map_or(end, |&last| last.max(end)))
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

/// The statistic of a sorted sample with its ranks; `n_invalid` further answers count against it, as one block at whichever end gives the larger value.
#[must_use]
pub fn statistic(
    sorted: &[f64],
    ranks: &[Rank],
    draws: &[f64],
    n_invalid: i64,
    side: Side,
) -> Statistic {
    let (m, n) = (draws.len() as i64, sorted.len() as i64 + n_invalid);
    let jump = n_invalid * m;
    let (above, below) = deviations(ranks, n, m, n_invalid);
    let (above, below) = (above.max(jump), below.max(jump));
    if side == Side::Upper || (side == Side::Both && above >= below) {
        let location = if n_invalid > 0 && above == jump {
            f64::NEG_INFINITY
        } else {
            location_above(sorted, ranks, m, above, n_invalid)
        };
        return Statistic { h: above, location, sign: 1 };
    }
    let location = location_below(sorted, ranks, draws, below, n_invalid);
    Statistic { h: below, location, sign: -1 }
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
    scratch.rank(sample, truth);
    let (sorted, ranks) = (&scratch.sorted, &scratch.ranks);
    let found = statistic(sorted, ranks, truth.sorted(), n_invalid, side);
    let meets_draws = ranks.iter().any(|r| r.lower < r.upper);
    let wants_exact = match method {
        Method::Auto => n == m || smirnov::is_feasible(n, m, found.h, side),
        Method::Exact => true,
        Method::Asymptotic => false,
    };
    let is_tied = wants_exact
        && (n_invalid > 1
            || meets_draws
            || truth.is_tied()
            || sorted.windows(2).any(|w| w[0] == w[1]));
    let is_exact = wants_exact
        && (method == Method::Exact || !is_tied || smirnov::is_feasible(n, m, found.h, side));
    let tail = if !is_exact {
        smirnov::tail_asymptotic(n, m, found.h, side)
    } else if is_tied {
        let mut blocks = Pooled::new(sorted, ranks, truth, n_invalid, found.sign > 0);
        smirnov::tail(n, m, found.h, side, &mut blocks)
    } else {
        scratch.recent.tail(n, m, found.h, side)
    };
    let statistic = found.h as f64 / (n as f64 * m as f64);
    Ok(Outcome { statistic, location: found.location, sign: found.sign, tail, is_exact })
}
