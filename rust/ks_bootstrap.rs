//! Bootstrap replicates of the Kolmogorov-Smirnov statistic, without sorting anything again.
//!
//! With the ranks of the sample in ascending order, a replicate is a set of multinomial counts and
//! one pass with a running maximum. Where the truth is resampled too, all that matters of a draw is
//! between which observations it lies.

use crate::order::Rank;
use crate::rng::Stream;

/// Whose observations are drawn again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resampled {
    /// The sample's only: the truth is taken as it is.
    Sample,
    /// Both, independently.
    Both,
}

/// A sample's ranks in a truth of `m` draws, and buffers for its replicates.
#[derive(Debug, Clone, Default)]
pub struct Replicates {
    ranks: Vec<Rank>,
    m: u32,
    counts: Vec<u32>,
    /// Cell of each draw: twice the number of distinct ranks below it, plus one when it ties.
    cells: Vec<u32>,
    cell_counts: Vec<u32>,
    /// Cells before and at most at each observation.
    edges: Vec<Rank>,
}

#[allow(clippy::cast_possible_truncation)] // samples and truths are shorter than 2^31
impl Replicates {
    /// Prepare for the replicates of one sample; its ranks are in ascending order.
    pub fn prepare(&mut self, ranks: &[Rank], m: usize, resampled: Resampled) {
        self.ranks.clear();
        self.ranks.extend_from_slice(ranks);
        self.m = m as u32;
        self.cells.clear();
        if resampled == Resampled::Sample {
            return;
        }
        self.edges.clear();
        let mut cell = 0;
        for (i, rank) in ranks.iter().enumerate() {
            if i == 0 || ranks[i - 1] != *rank {
                self.cells.resize(rank.lower as usize, cell);
                self.cells.resize(rank.upper as usize, cell + 1);
                cell += 2;
            }
            self.edges.push(Rank { lower: cell - 1, upper: cell });
        }
        self.cells.resize(m, cell);
        self.cell_counts.resize(cell as usize + 1, 0);
    }

    /// The statistic of one replicate.
    ///
    /// NaN without observations.
    pub fn statistic(&mut self, stream: &mut Stream) -> f64 {
        let n = self.ranks.len() as u32;
        if n == 0 {
            return f64::NAN;
        }
        draw_counts(&mut self.counts, n, stream);
        let h = if self.cells.is_empty() {
            largest(&self.counts, &self.ranks, i64::from(self.m))
        } else {
            self.resample_truth(stream);
            largest(&self.counts, &self.edges, i64::from(self.m))
        };
        h as f64 / (f64::from(n) * f64::from(self.m))
    }

    /// Draw the truth again and turn the edges into its ranks.
    fn resample_truth(&mut self, stream: &mut Stream) {
        self.cell_counts.fill(0);
        for_each_index(self.m, self.m, stream, |j| {
            self.cell_counts[self.cells[j as usize] as usize] += 1;
        });
        let (mut cell, mut below, mut edge) = (0, 0, Rank { lower: 0, upper: 0 });
        for (i, rank) in self.ranks.iter().enumerate() {
            if i == 0 || self.ranks[i - 1] != *rank {
                below += self.cell_counts[cell];
                edge.lower = below;
                below += self.cell_counts[cell + 1];
                edge.upper = below;
                cell += 2;
            }
            self.edges[i] = edge;
        }
    }
}

/// Multinomial counts of `n` draws among `n` observations.
fn draw_counts(counts: &mut Vec<u32>, n: u32, stream: &mut Stream) {
    counts.clear();
    counts.resize(n as usize, 0);
    for_each_index(n, n, stream, |i| counts[i as usize] += 1);
}

/// Call `use_index` with `n_draws` uniform indices below `bound`.
fn for_each_index(n_draws: u32, bound: u32, stream: &mut Stream, mut use_index: impl FnMut(u32)) {
    for _ in 0..n_draws / 2 {
        let [a, b] = stream.two_below(bound);
        use_index(a);
        use_index(b);
    }
    if n_draws % 2 == 1 {
        use_index(stream.below(bound));
    }
}

/// The statistic of a resampled sample: `max |i m - j n|` at and before each observation.
fn largest(counts: &[u32], ranks: &[Rank], m: i64) -> i64 {
    let n = counts.len() as i64;
    // Two maxima that do not wait for each other.
    let (mut i, mut below, mut above) = (0, 0, 0);
    for (&count, rank) in counts.iter().zip(ranks) {
        below = below.max(i64::from(rank.lower) * n - i);
        i += i64::from(count) * m;
        above = above.max(i - i64::from(rank.upper) * n);
    }
    below.max(above)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ks::Scratch;
    use crate::truth::Truth;

    /// The statistic by its definition.
    fn slow(x: &[f64], y: &[f64]) -> f64 {
        let share =
            |v: &[f64], u: f64| v.iter().filter(|&&w| w <= u).count() as f64 / v.len() as f64;
        x.iter().chain(y).map(|&u| (share(x, u) - share(y, u)).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn replicates_equal_the_definition_on_drawn_values() -> crate::error::Result<()> {
        let y: Vec<f64> = (0..97).map(|i| f64::from(i * 37 % 61)).collect();
        let x: Vec<f64> = (0..20).map(|i| f64::from(i * i % 31) * 2.5).collect();
        let truth = Truth::new(&y)?;
        let (mut x_sorted, mut scratch) = (x.clone(), Scratch::default());
        x_sorted.sort_unstable_by(crate::order::ascending);
        for resampled in [Resampled::Sample, Resampled::Both] {
            let mut replicates = Replicates::default();
            replicates.prepare(scratch.rank(&x, &truth), y.len(), resampled);
            for seed in 0..50 {
                let got = replicates.statistic(&mut Stream::new(seed, 1, 2));
                let mut stream = Stream::new(seed, 1, 2);
                let (mut a, mut b) = (Vec::new(), truth.sorted().to_vec());
                for_each_index(20, 20, &mut stream, |i| a.push(x_sorted[i as usize]));
                if resampled == Resampled::Both {
                    b.clear();
                    for_each_index(97, 97, &mut stream, |i| b.push(truth.sorted()[i as usize]));
                }
                assert!((got - slow(&a, &b)).abs() < 1e-14, "{resampled:?} {seed}: {got}");
            }
        }
        Ok(())
    }
}
