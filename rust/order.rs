//! Order: sorted samples, and ranks of observations in a truth.
//!
//! A table of cells of equal width says at once which few draws an observation lies among; a
//! bisection with a fixed number of steps and no branch finds its place there. For heavy tails the
//! cells cover the middle of the truth only, and the number of steps grows.

use std::cmp::Ordering;

/// An observation's place among the truth's draws: how many lie below it, and how many at most at
/// it. The two differ where the observation equals a draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rank {
    /// Draws below the observation.
    pub lower: u32,
    /// Draws at or below the observation.
    pub upper: u32,
}

/// Sort a copy of `values` into `out`, with -0.0 made 0.0, so that equal values have equal bits.
///
/// NaN, which the callers refuse, would end up anywhere.
pub fn sort_into(values: &[f64], out: &mut Vec<f64>) {
    out.clear();
    out.extend(values.iter().map(|v| v + 0.0));
    out.sort_unstable_by(ascending);
}

/// Order of numbers that are not NaN: two comparisons, where `total_cmp` rewrites both bit
/// patterns and takes more than twice the time.
#[inline]
#[must_use]
pub fn ascending(a: &f64, b: &f64) -> Ordering {
    if a < b {
        Ordering::Less
    } else if a > b {
        Ordering::Greater
    } else {
        Ordering::Equal
    }
}

/// Cells at the most, so that the table stays in the cache.
const MOST_CELLS: usize = 1 << 16;
/// Shares of the draws at either end that the cells may leave out.
const TRIMS: [f64; 3] = [0.0, 1e-3, 1.5e-2];

/// The distinct draws of a truth, with a table that finds places among them.
#[derive(Debug, Clone)]
pub struct Levels {
    /// Ascending, followed by as many NaN as a bisection may read beyond the end.
    values: Vec<f64>,
    /// Draws below each level, and their number; empty when all draws differ.
    starts: Vec<u32>,
    count: u32,
    low: f64,
    scale: f64,
    cells: Vec<u32>,
    steps: u32,
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a truth holds < 2^31 draws
impl Levels {
    /// Index draws that are sorted, not empty and free of NaN.
    #[must_use]
    pub fn new(sorted: &[f64]) -> Self {
        let mut values = sorted.to_vec();
        values.dedup();
        let mut starts = Vec::new();
        if values.len() < sorted.len() {
            starts.push(0);
            starts
                .extend((1..sorted.len()).filter(|&i| sorted[i - 1] < sorted[i]).map(|i| i as u32));
            starts.push(sorted.len() as u32);
        }
        let n_cells = (2 * values.len()).next_power_of_two().min(MOST_CELLS);
        let mut levels = Self {
            count: values.len() as u32,
            values,
            starts,
            low: 0.0,
            scale: 0.0,
            cells: Vec::new(),
            steps: u32::MAX,
        };
        for trim in TRIMS {
            levels.try_cells(n_cells, trim);
        }
        levels.values.resize(levels.values.len() + (1 << levels.steps), f64::NAN);
        levels
    }

    /// Take cells over all levels but a share at either end, when that saves steps.
    fn try_cells(&mut self, n_cells: usize, trim: f64) {
        let last = self.values.len() - 1;
        let skip = (self.values.len() as f64 * trim) as usize;
        let finite = |v: f64| v.clamp(f64::MIN, f64::MAX);
        let (low, high) = (finite(self.values[skip]), finite(self.values[last - skip]));
        let scale = n_cells as f64 / (high - low);
        let scale = if scale.is_finite() { scale } else { 0.0 };
        let mut cells = vec![0u32; n_cells + 1];
        for &value in &self.values {
            cells[cell(value, low, scale, n_cells) + 1] += 1;
        }
        let most = cells.iter().copied().max().unwrap_or(0);
        let steps = u32::BITS - most.leading_zeros();
        if steps < self.steps {
            let mut sum = 0;
            for slot in &mut cells {
                sum += *slot;
                *slot = sum;
            }
            (self.low, self.scale, self.cells, self.steps) = (low, scale, cells, steps);
        }
    }

    /// Twice the number of levels below `x`, plus one when `x` is a level: a monotone code.
    #[inline]
    #[must_use]
    pub fn code(&self, x: f64) -> u32 {
        let mut place = self.cells[self.cell(x)];
        for step in (0..self.steps).rev() {
            let tested = self.values[place as usize + (1 << step) - 1];
            place += u32::from(tested < x) << step;
        }
        2 * place + u32::from(self.values[place as usize] == x)
    }

    /// The codes of a sample.
    pub fn codes_into(&self, sample: &[f64], codes: &mut Vec<u32>) {
        codes.resize(sample.len(), 0);
        self.codes_of(sample, codes);
    }

    /// The codes of a sample. One step for all observations at a time: their reads do not wait for
    /// each other, and no branch is left to mispredict.
    pub fn codes_of(&self, sample: &[f64], codes: &mut [u32]) {
        for (place, &x) in codes.iter_mut().zip(sample) {
            *place = self.cells[self.cell(x)];
        }
        for step in (0..self.steps).rev() {
            let ahead = &self.values[(1 << step) - 1..];
            for (place, &x) in codes.iter_mut().zip(sample) {
                *place += u32::from(ahead[*place as usize] < x) << step;
            }
        }
        for (place, &x) in codes.iter_mut().zip(sample) {
            *place = 2 * *place + u32::from(self.values[*place as usize] == x);
        }
    }

    /// Which of `n_buckets` (a power of two) equal shares of the levels each observation falls into,
    /// roughly: by the cell that it lies in.
    pub fn places_into(&self, sample: &[f64], n_buckets: usize, places: &mut Vec<u32>) {
        let last = n_buckets as u32 - 1;
        let shift = self.count.next_power_of_two().ilog2().saturating_sub(n_buckets.ilog2());
        places.clear();
        places.extend(sample.iter().map(|&x| (self.cells[self.cell(x)] >> shift).min(last)));
    }

    /// The ranks of a sample.
    pub fn ranks_into(&self, sample: &[f64], codes: &mut Vec<u32>, ranks: &mut Vec<Rank>) {
        self.codes_into(sample, codes);
        ranks.clear();
        ranks.extend(codes.iter().map(|&code| self.rank(code)));
    }

    #[inline]
    fn cell(&self, x: f64) -> usize {
        cell(x, self.low, self.scale, self.cells.len() - 1)
    }

    /// The rank that a code stands for.
    #[inline]
    #[must_use]
    pub fn rank(&self, code: u32) -> Rank {
        let (lower, upper) = (code >> 1, (code + 1) >> 1);
        if self.starts.is_empty() {
            return Rank { lower, upper };
        }
        Rank { lower: self.starts[lower as usize], upper: self.starts[upper as usize] }
    }

    /// Whether some draws are equal.
    #[must_use]
    pub fn is_tied(&self) -> bool {
        !self.starts.is_empty()
    }

    /// The draws below each level, and the number of all; empty when all draws differ.
    #[must_use]
    pub fn starts(&self) -> &[u32] {
        &self.starts
    }

    /// The distinct draws, ascending.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values[..self.count as usize]
    }

    /// The largest end of a block of equal draws at or below `j`.
    #[must_use]
    pub fn block_at_most(&self, j: i64) -> i64 {
        if self.starts.is_empty() {
            return j;
        }
        let place = self.starts.partition_point(|&start| i64::from(start) <= j);
        i64::from(self.starts[place - 1])
    }

    /// The smallest end of a block of equal draws at or above `j`.
    #[must_use]
    pub fn block_at_least(&self, j: i64) -> i64 {
        if self.starts.is_empty() {
            return j;
        }
        let place = self.starts.partition_point(|&start| i64::from(start) < j);
        i64::from(self.starts[place])
    }
}

#[inline]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates, as it should
fn cell(x: f64, low: f64, scale: f64, n_cells: usize) -> usize {
    (((x - low) * scale) as u32 as usize).min(n_cells - 1)
}
