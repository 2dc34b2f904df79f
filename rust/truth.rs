//! A truth prepared once: sorted, with a table that finds ranks in a few steps.
//!
//! Everything that many samples share about one truth lives here; parts that only some statistics
//! need are made on first use and then shared by every thread.

use std::borrow::Cow;
use std::sync::{OnceLock, PoisonError, RwLock};

use crate::batch::Ragged;
use crate::error::{Error, Result};
use crate::order::{Levels, Rank};
use crate::sorting::Sorter;
use crate::wasserstein::Centred;

/// Draws from the target, sorted and ready for many comparisons.
#[derive(Debug, Clone)]
pub struct Truth {
    sorted: Vec<f64>,
    levels: OnceLock<Levels>,
    centred: OnceLock<Centred>,
}

/// Read while a part of a truth is made.
static MAKING: RwLock<()> = RwLock::new(());

/// Wait for parts that are being made, and let none be begun: a fork meanwhile leaves none half
/// made in the child, where nobody would finish it.
pub fn hold() -> impl Sized + 'static {
    MAKING.write().unwrap_or_else(PoisonError::into_inner)
}

fn made<T>(part: &OnceLock<T>, make: impl FnOnce() -> T) -> &T {
    part.get().unwrap_or_else(|| {
        let _making = MAKING.read().unwrap_or_else(PoisonError::into_inner);
        part.get_or_init(make)
    })
}

/// Draws of one truth at the most: codes of ranks take 32 bits.
const MOST_DRAWS: usize = 1 << 30;

impl Truth {
    /// Prepare a truth from its draws in any order.
    ///
    /// # Errors
    /// When there are no draws, or too many, or one of them is NaN.
    pub fn new(draws: &[f64]) -> Result<Self> {
        if draws.is_empty() {
            return Err(Error::argument("y", "hold at least one observation", "none"));
        }
        if draws.len() > MOST_DRAWS {
            return Err(Error::argument("y", "hold at most 2**30 observations", draws.len()));
        }
        if let Some(i) = draws.iter().position(|v| v.is_nan()) {
            return Err(Error::argument("y", "hold no NaN", format!("NaN at position {i}")));
        }
        let mut sorted = Vec::new();
        Sorter::default().sort_into(draws, None, &mut sorted);
        Ok(Self::of_sorted(sorted))
    }

    /// Prepare a truth from draws that are in order and hold no NaN.
    ///
    /// # Errors
    /// When there are no draws.
    pub fn from_sorted(sorted: &[f64]) -> Result<Self> {
        if sorted.is_empty() {
            return Err(Error::argument("y", "hold at least one observation", "none"));
        }
        Ok(Self::of_sorted(sorted.to_vec()))
    }

    pub(crate) fn of_sorted(sorted: Vec<f64>) -> Self {
        Self { sorted, levels: OnceLock::new(), centred: OnceLock::new() }
    }

    /// The draws in ascending order, with -0.0 made 0.0.
    #[must_use]
    pub fn sorted(&self) -> &[f64] {
        &self.sorted
    }

    /// Whether no draw is infinite.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        self.sorted[0].is_finite() && self.sorted[self.sorted.len() - 1].is_finite()
    }

    /// The distinct draws, indexed on first use: for a truth that meets many samples.
    #[must_use]
    pub fn levels(&self) -> &Levels {
        made(&self.levels, || Levels::new(&self.sorted))
    }

    /// The index, when there is one already.
    #[must_use]
    pub fn indexed(&self) -> Option<&Levels> {
        self.levels.get()
    }

    /// Whether some draws are equal.
    #[must_use]
    pub fn is_tied(&self) -> bool {
        match self.indexed() {
            Some(levels) => levels.is_tied(),
            None => self.sorted.windows(2).any(|w| w[0] == w[1]),
        }
    }

    /// The draws below and at most at `x`.
    #[inline]
    #[must_use]
    #[allow(clippy::cast_possible_truncation)] // fewer than 2^30
    pub fn ranks(&self, x: f64) -> Rank {
        if let Some(levels) = self.indexed() {
            return levels.rank(levels.code(x));
        }
        let lower = self.sorted.partition_point(|&y| y < x);
        let equal = self.sorted[lower..].partition_point(|&y| y <= x);
        Rank { lower: lower as u32, upper: (lower + equal) as u32 }
    }

    /// The ranks of a sample; `codes` is scratch space.
    pub fn ranks_into(&self, sample: &[f64], codes: &mut Vec<u32>, ranks: &mut Vec<Rank>) {
        if let Some(levels) = self.indexed() {
            levels.ranks_into(sample, codes, ranks);
            return;
        }
        ranks.clear();
        ranks.extend(sample.iter().map(|&x| self.ranks(x)));
    }

    /// Number of draws at or below each observation of a sample.
    pub fn uppers_into(&self, sample: &[f64], uppers: &mut [u32]) {
        if let Some(levels) = self.indexed() {
            levels.codes_of(sample, uppers);
            for code in uppers {
                *code = levels.rank(*code).upper;
            }
        } else {
            uppers.iter_mut().zip(sample).for_each(|(upper, &x)| *upper = self.ranks(x).upper);
        }
    }

    /// Number of draws at or below `x`.
    #[inline]
    #[must_use]
    pub fn rank(&self, x: f64) -> usize {
        self.ranks(x).upper as usize
    }

    /// Values centred at the median with their prefix sums, made on first use.
    #[must_use]
    pub fn centred(&self) -> &Centred {
        made(&self.centred, || Centred::new(&self.sorted))
    }

    /// Number of draws.
    #[must_use]
    pub fn len(&self) -> usize {
        self.sorted.len()
    }

    /// Always false: a truth without draws cannot be made.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }
}

/// The truths of a batch: one for all rows, or one a row, prepared when its turn comes.
#[derive(Debug, Clone, Copy)]
pub enum Truths<'a> {
    /// Every row is compared with this truth.
    Shared(&'a Truth),
    /// Row `i` is compared with these draws.
    Rows(Ragged<'a>),
}

impl<'a> Truths<'a> {
    /// Number of draws in a row's truth.
    #[must_use]
    pub fn len_of(&self, row: usize) -> usize {
        match self {
            Self::Shared(truth) => truth.len(),
            Self::Rows(rows) => rows.row(row).len(),
        }
    }

    /// The truth of all rows, if there is one.
    #[must_use]
    pub fn shared(&self) -> Option<&'a Truth> {
        match self {
            Self::Shared(truth) => Some(truth),
            Self::Rows(_) => None,
        }
    }

    /// The truth of a row; none where the row is empty.
    ///
    /// # Errors
    /// When the row's truth holds NaN.
    pub fn of(&self, row: usize) -> Result<Option<Cow<'a, Truth>>> {
        match self {
            Self::Shared(truth) => Ok(Some(Cow::Borrowed(truth))),
            Self::Rows(rows) if rows.row(row).is_empty() => Ok(None),
            Self::Rows(rows) => Truth::new(rows.row(row)).map(|truth| Some(Cow::Owned(truth))),
        }
    }
}
