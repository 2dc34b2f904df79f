//! A truth prepared once: sorted, with a table that finds ranks in a few steps.
//!
//! Everything that many samples share about one truth lives here; parts that only some statistics
//! need are made on first use and then shared by every thread.

use std::sync::OnceLock;

use crate::error::{Error, Result};
use crate::wasserstein::Centred;

/// Draws from the target, sorted and ready for many comparisons.
#[derive(Debug, Clone)]
pub struct Truth {
    sorted: Vec<f64>,
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
        let mut sorted = draws.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        Ok(Self { sorted, centred: OnceLock::new() })
    }

    /// The draws in ascending order (-0.0 before 0.0, which compare as equal).
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
