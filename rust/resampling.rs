//! Resamples of sorted samples: bootstrap replicates and permuted labels, in order without sorting
//! values again.
//!
//! A bootstrap replicate of a sorted sample is a set of counts, and a permutation of labels a set
//! of positions in the pooled sample; both come out sorted. Every replicate has a stream of its
//! own, named by (seed, row, replicate).

use crate::labelings::{Dealer, Labelings};
use crate::rng::Stream;

/// Names of the random streams of one row.
#[derive(Debug, Clone, Copy)]
pub struct RowStreams {
    /// Seed of the call.
    pub seed: u64,
    /// Number of the row within the call.
    pub row: u64,
}

impl RowStreams {
    /// The stream of a replicate.
    #[must_use]
    pub fn replicate(self, replicate: usize) -> Stream {
        Stream::new(self.seed, self.row, replicate as u64)
    }
}

/// Buffers for one resample.
#[derive(Debug, Clone, Default)]
pub struct Resample {
    counts: Vec<u32>,
    dealer: Dealer,
    values: Vec<f64>,
}

impl Resample {
    /// Draw as many observations as there are, with replacement, from a sorted sample; sorted.
    #[allow(clippy::cast_possible_truncation)] // samples are shorter than 2^32
    pub fn with_replacement(&mut self, sorted: &[f64], stream: &mut Stream) -> &[f64] {
        self.counts.clear();
        self.counts.resize(sorted.len(), 0);
        for _ in 0..sorted.len() {
            self.counts[stream.below(sorted.len() as u32) as usize] += 1;
        }
        self.values.clear();
        for (&value, &count) in sorted.iter().zip(&self.counts) {
            self.values.extend(std::iter::repeat_n(value, count as usize));
        }
        &self.values
    }

    /// Choose `n` of a sorted pooled sample without replacement, every subset equally likely; sorted.
    pub fn without_replacement(&mut self, pooled: &[f64], n: usize, stream: &mut Stream) -> &[f64] {
        let labelings = Labelings { pool: pooled.len(), chosen: n };
        self.values.clear();
        let chosen = self.dealer.deal(labelings, stream).iter();
        self.values.extend(chosen.map(|&place| pooled[place as usize]));
        &self.values
    }
}

/// Merge two sorted samples into `pooled`.
pub fn merge(x: &[f64], y: &[f64], pooled: &mut Vec<f64>) {
    pooled.clear();
    pooled.reserve(x.len() + y.len());
    let (mut i, mut j) = (0, 0);
    while i < x.len() && j < y.len() {
        if x[i] <= y[j] {
            pooled.push(x[i]);
            i += 1;
        } else {
            pooled.push(y[j]);
            j += 1;
        }
    }
    pooled.extend_from_slice(&x[i..]);
    pooled.extend_from_slice(&y[j..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bootstrap_replicate_is_sorted_and_as_long() {
        let sorted: Vec<f64> = (0..50).map(f64::from).collect();
        let mut resample = Resample::default();
        let values = resample.with_replacement(&sorted, &mut Stream::new(1, 2, 3)).to_vec();
        assert_eq!(values.len(), 50);
        assert!(values.is_sorted());
        assert_ne!(values, sorted);
    }

    #[test]
    fn merging_sorts() {
        let mut pooled = Vec::new();
        merge(&[1.0, 3.0, 3.0], &[0.0, 3.0, 9.0], &mut pooled);
        assert_eq!(pooled, [0.0, 1.0, 3.0, 3.0, 3.0, 9.0]);
    }
}
