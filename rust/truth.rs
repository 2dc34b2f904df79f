//! A truth prepared once: sorted, with a table that finds ranks in a few steps.
//!
//! Everything that many samples share about one truth lives here; parts that only some statistics
//! need are made on first use and then shared by every thread.

use std::borrow::Cow;
use std::sync::OnceLock;

use crate::batch::Ragged;
use crate::error::{Error, Result};
use crate::order::sort_into;
use crate::wasserstein::Centred;

/// Draws from the target, sorted and ready for many comparisons.
#[derive(Debug, Clone)]
pub struct Truth {
    sorted: Vec<f64>,
    is_tied: bool,
    centred: OnceLock<Centred>,
}

impl Truth {
    /// Prepare a truth from its draws in any order.
    ///
    /// # Errors
    /// When there are no draws or one of them is NaN.
    pub fn new(draws: &[f64]) -> Result<Self> {
        if draws.is_empty() {
            return Err(Error::argument("y", "hold at least one observation", "none"));
        }
        if let Some(i) = draws.iter().position(|v| v.is_nan()) {
            return Err(Error::argument("y", "hold no NaN", format!("NaN at position {i}")));
        }
        let mut sorted = Vec::new();
        sort_into(draws, &mut sorted);
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

    fn of_sorted(sorted: Vec<f64>) -> Self {
        let is_tied = sorted.windows(2).any(|w| w[0] == w[1]);
        Self { sorted, is_tied, centred: OnceLock::new() }
    }

    /// The draws in ascending order, with -0.0 made 0.0.
    #[must_use]
    pub fn sorted(&self) -> &[f64] {
        &self.sorted
    }

    /// Number of draws at or below `x`.
    #[must_use]
    pub fn rank(&self, x: f64) -> usize {
        self.sorted.partition_point(|&y| y <= x)
    }

    /// Values centred at the median with their prefix sums, made on first use.
    #[must_use]
    pub fn centred(&self) -> &Centred {
        self.centred.get_or_init(|| Centred::new(&self.sorted))
    }

    /// Whether some draws are equal.
    #[must_use]
    pub fn is_tied(&self) -> bool {
        self.is_tied
    }

    /// The largest end of a block of equal draws at or below `j`.
    #[must_use]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub fn block_at_most(&self, j: i64) -> i64 {
        let at = j as usize;
        if !self.is_tied || at == 0 || at >= self.sorted.len() {
            return j;
        }
        let value = self.sorted[at];
        if self.sorted[at - 1] < value {
            return j;
        }
        self.sorted.partition_point(|&y| y < value) as i64
    }

    /// The smallest end of a block of equal draws at or above `j`.
    #[must_use]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub fn block_at_least(&self, j: i64) -> i64 {
        let at = j as usize;
        if !self.is_tied || at == 0 || at >= self.sorted.len() {
            return j;
        }
        let value = self.sorted[at - 1];
        self.sorted.partition_point(|&y| y <= value) as i64
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

    /// Whether a row's truth has no draws.
    #[must_use]
    pub fn is_empty(&self, row: usize) -> bool {
        self.len_of(row) == 0
    }

    /// The truth of all rows, if there is one.
    #[must_use]
    pub fn shared(&self) -> Option<&'a Truth> {
        match self {
            Self::Shared(truth) => Some(truth),
            Self::Rows(_) => None,
        }
    }

    /// The truth of a row.
    ///
    /// # Errors
    /// When the row's truth is empty or holds NaN.
    pub fn of(&self, row: usize) -> Result<Cow<'a, Truth>> {
        match self {
            Self::Shared(truth) => Ok(Cow::Borrowed(truth)),
            Self::Rows(rows) => Truth::new(rows.row(row)).map(Cow::Owned),
        }
    }
}
