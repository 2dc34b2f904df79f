//! Resamples for a statistic that the user brings: any function of one or two sorted samples.
//!
//! The function is a closure on slices, which are always in ascending order, with -0.0 made 0.0:
//! in the data, in bootstrap replicates and under permuted labels alike.

use crate::error::{Error, Result};
use crate::order::sort_into;
use crate::resampling::{Resample, RowStreams, merge};
use crate::rng::Stream;

/// What is drawn anew in a replicate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Redrawn {
    /// The sample, with replacement; the truth stays.
    Sample,
    /// Both, with replacement.
    Both,
    /// The labels of the pooled values.
    Labels,
}

/// The draws of a row's truth.
#[derive(Debug, Clone, Copy)]
pub enum Draws<'a> {
    /// In ascending order.
    Sorted(&'a [f64]),
    /// In any order.
    Raw(&'a [f64]),
}

/// The two samples of the row at hand and buffers for its replicates.
#[derive(Debug, Default)]
pub struct Scratch {
    row: Option<u64>,
    x: Vec<f64>,
    y: Vec<f64>,
    pooled: Vec<f64>,
    rest: Vec<f64>,
    first: Resample,
    second: Resample,
}

impl Scratch {
    /// Sort the two samples of a row, once for all its replicates; false where one is empty.
    fn open(&mut self, row: u64, x: &[f64], draws: Draws<'_>) -> bool {
        if self.row != Some(row) {
            sort_into(x, &mut self.x);
            match draws {
                Draws::Raw(y) => sort_into(y, &mut self.y),
                Draws::Sorted(_) => self.y.clear(),
            }
            self.pooled.clear();
            self.row = Some(row);
        }
        let (Draws::Raw(y) | Draws::Sorted(y)) = draws;
        !x.is_empty() && !y.is_empty()
    }

    /// The statistic of a row; NaN where one of the samples is empty.
    pub fn of(
        &mut self,
        row: u64,
        x: &[f64],
        draws: Draws<'_>,
        statistic: impl Fn(&[f64], &[f64]) -> f64,
    ) -> f64 {
        if !self.open(row, x, draws) {
            return f64::NAN;
        }
        let y = if let Draws::Sorted(y) = draws { y } else { &self.y };
        statistic(&self.x, y)
    }

    /// The statistic of one replicate of the row `streams.row`; NaN where a sample is empty.
    pub fn replicate(
        &mut self,
        x: &[f64],
        draws: Draws<'_>,
        redrawn: Redrawn,
        (streams, replicate): (RowStreams, usize),
        statistic: impl Fn(&[f64], &[f64]) -> f64,
    ) -> f64 {
        if !self.open(streams.row, x, draws) {
            return f64::NAN;
        }
        let y = if let Draws::Sorted(y) = draws { y } else { &self.y };
        let mut stream = streams.replicate(replicate);
        match redrawn {
            Redrawn::Sample => statistic(self.first.with_replacement(&self.x, &mut stream), y),
            Redrawn::Both => statistic(
                self.first.with_replacement(&self.x, &mut stream),
                self.second.with_replacement(y, &mut stream),
            ),
            Redrawn::Labels => {
                if self.pooled.is_empty() {
                    merge(&self.x, y, &mut self.pooled);
                }
                let few = self.x.len().min(y.len());
                let chosen = self.first.without_replacement(&self.pooled, few, &mut stream);
                leave_out(&self.pooled, chosen, &mut self.rest);
                if few == self.x.len() {
                    statistic(chosen, &self.rest)
                } else {
                    statistic(&self.rest, chosen)
                }
            }
        }
    }
}

/// Copy a sorted pooled sample without some of its values, which are sorted too.
fn leave_out(pooled: &[f64], chosen: &[f64], rest: &mut Vec<f64>) {
    rest.clear();
    let mut place = 0;
    for value in chosen {
        let skipped = pooled[place..].partition_point(|v| v < value);
        rest.extend_from_slice(&pooled[place..place + skipped]);
        place += skipped + 1;
    }
    rest.extend_from_slice(&pooled[place..]);
}

/// A sample in ascending order, each observation of which belongs to a cluster.
#[derive(Debug, Clone, Copy)]
pub struct Clustered<'a> {
    sorted: &'a [f64],
    clusters: &'a [i64],
    n_clusters: u32,
}

#[allow(clippy::cast_sign_loss, clippy::cast_possible_truncation)] // checked in `new`
impl<'a> Clustered<'a> {
    /// View a sorted sample; cluster numbers are below `n_clusters`.
    ///
    /// # Errors
    /// When lengths differ or a cluster number is out of range.
    pub fn new(sorted: &'a [f64], clusters: &'a [i64], n_clusters: u32) -> Result<Self> {
        if clusters.len() != sorted.len() {
            let rule = format!("hold {} entries", sorted.len());
            return Err(Error::argument("clusters", &rule, clusters.len()));
        }
        match clusters.iter().find(|&&c| !(0..i64::from(n_clusters)).contains(&c)) {
            Some(wrong) => Err(Error::argument("clusters", "be below n_clusters", wrong)),
            None => Ok(Self { sorted, clusters, n_clusters }),
        }
    }

    /// Draw as many clusters as there are, with replacement, and give their observations in order.
    pub fn replicate<'b>(&self, stream: &mut Stream, buffers: &'b mut Buffers) -> &'b [f64] {
        buffers.counts.clear();
        buffers.counts.resize(self.n_clusters as usize, 0);
        for _ in 0..self.n_clusters {
            buffers.counts[stream.below(self.n_clusters) as usize] += 1;
        }
        buffers.values.clear();
        for (&value, &cluster) in self.sorted.iter().zip(self.clusters) {
            let count = buffers.counts[cluster as usize] as usize;
            buffers.values.extend(std::iter::repeat_n(value, count));
        }
        &buffers.values
    }

    /// The observations outside of one cluster, in order.
    pub fn without<'b>(&self, cluster: usize, buffers: &'b mut Buffers) -> &'b [f64] {
        buffers.values.clear();
        let kept = self.sorted.iter().zip(self.clusters).filter(|&(_, &c)| c as usize != cluster);
        buffers.values.extend(kept.map(|(&value, _)| value));
        &buffers.values
    }
}

/// Buffers for the replicates of a clustered sample.
#[derive(Debug, Clone, Default)]
pub struct Buffers {
    counts: Vec<u32>,
    values: Vec<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    const X: [f64; 4] = [3.0, -0.0, 2.0, 2.0];
    const Y: [f64; 6] = [5.0, 2.0, 1.0, 0.0, 9.0, 2.0];

    #[test]
    fn both_samples_come_in_order_and_whole() {
        let mut scratch = Scratch::default();
        for redrawn in [Redrawn::Sample, Redrawn::Both, Redrawn::Labels] {
            for replicate in 0..200 {
                let name = (RowStreams { seed: 4, row: 0 }, replicate);
                scratch.replicate(&X, Draws::Raw(&Y), redrawn, name, |x, y| {
                    assert!(x.is_sorted() && y.is_sorted());
                    assert_eq!((x.len(), y.len()), (X.len(), Y.len()));
                    if redrawn == Redrawn::Labels {
                        assert_eq!(x.iter().chain(y).sum::<f64>(), 26.0);
                    }
                    0.0
                });
            }
        }
    }

    #[test]
    fn which_sample_is_smaller_changes_no_law() {
        let mean = |x: &[f64], y: &[f64]| {
            let mut scratch = Scratch::default();
            let total: f64 = (0..20_000)
                .map(|i| {
                    let name = (RowStreams { seed: 1, row: 0 }, i);
                    scratch.replicate(x, Draws::Raw(y), Redrawn::Labels, name, |x, _| {
                        x.iter().sum::<f64>() / x.len() as f64
                    })
                })
                .sum();
            total / 20_000.0
        };
        // The mean of a random subset is the pooled mean, 26 / 10, within 5 standard errors.
        assert!((mean(&X, &Y) - 2.6).abs() < 0.05);
        assert!((mean(&Y, &X) - 2.6).abs() < 0.05);
    }

    #[test]
    fn rows_do_not_mix() {
        let mut scratch = Scratch::default();
        let gap = |x: &[f64], y: &[f64]| x[0] - y[0];
        assert_eq!(scratch.of(0, &[1.0], Draws::Raw(&[3.0]), gap), -2.0);
        assert_eq!(scratch.of(1, &[7.0], Draws::Sorted(&[4.0]), gap), 3.0);
        assert!(scratch.of(2, &[], Draws::Raw(&[4.0]), gap).is_nan());
        assert!(scratch.of(3, &[1.0], Draws::Raw(&[]), gap).is_nan());
    }

    #[test]
    fn clusters_are_drawn_whole() -> Result<()> {
        let sample = Clustered::new(&[1.0, 2.0, 3.0, 3.0], &[1, 0, 0, 1], 2)?;
        let mut buffers = Buffers::default();
        assert_eq!(sample.without(0, &mut buffers), [1.0, 3.0]);
        for replicate in 0..50 {
            let values = sample.replicate(&mut Stream::new(2, 0, replicate), &mut buffers);
            let known: [&[f64]; 3] =
                [&[1.0, 1.0, 3.0, 3.0], &[2.0, 2.0, 3.0, 3.0], &[1.0, 2.0, 3.0, 3.0]];
            assert!(known.contains(&values));
        }
        Ok(())
    }

    #[test]
    fn wrong_clusters_are_refused() {
        assert!(Clustered::new(&[1.0], &[1], 1).is_err());
        assert!(Clustered::new(&[1.0], &[0, 0], 1).is_err());
    }
}
