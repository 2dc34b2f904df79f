//! Order: sorted copies of samples and their ranks in a truth.

use crate::truth::Truth;

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
pub fn sort_into(values: &[f64], out: &mut Vec<f64>) {
    out.clear();
    out.extend(values.iter().map(|v| v + 0.0));
    out.sort_unstable_by(f64::total_cmp);
}

/// Rank a sorted sample in a truth, into `out`.
#[allow(clippy::cast_possible_truncation)] // a truth holds fewer than 2^32 draws
pub fn rank_into(sorted: &[f64], truth: &Truth, out: &mut Vec<Rank>) {
    let draws = truth.sorted();
    out.clear();
    out.extend(sorted.iter().map(|x| Rank {
        lower: draws.partition_point(|y| y < x) as u32,
        upper: draws.partition_point(|y| y <= x) as u32,
    }));
}
