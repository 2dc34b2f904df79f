//! Resamples of sorted samples: bootstrap replicates and permuted labels, in order without sorting
//! values again.
//!
//! A bootstrap replicate of a sorted sample is a set of counts, and a permutation of labels a set
//! of positions in the pooled sample; both come out sorted. Every replicate has a stream of its
//! own, named by (seed, row, replicate).

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
    /// All false between calls.
    taken: Vec<bool>,
    chosen: Vec<u32>,
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

    /// Choose `n` of a sorted pooled sample without replacement, every subset equally likely;
    /// sorted (Floyd's algorithm: Bentley & Floyd 1987, doi:10.1145/30401.315746).
    #[allow(clippy::cast_possible_truncation)] // samples are shorter than 2^32
    pub fn without_replacement(&mut self, pooled: &[f64], n: usize, stream: &mut Stream) -> &[f64] {
        self.taken.resize(pooled.len(), false);
        self.chosen.clear();
        for last in pooled.len() - n..pooled.len() {
            let candidate = stream.below(last as u32 + 1) as usize;
            let position = if self.taken[candidate] { last } else { candidate };
            self.taken[position] = true;
            self.chosen.push(position as u32);
        }
        for &position in &self.chosen {
            self.taken[position as usize] = false;
        }
        self.chosen.sort_unstable();
        self.values.clear();
        self.values.extend(self.chosen.iter().map(|&i| pooled[i as usize]));
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
    fn every_subset_is_equally_likely() {
        let pooled = [0.0, 1.0, 2.0, 3.0, 4.0];
        let (mut resample, mut counts) = (Resample::default(), std::collections::HashMap::new());
        for replicate in 0..20_000 {
            let mut stream = RowStreams { seed: 3, row: 1 }.replicate(replicate);
            let chosen = resample.without_replacement(&pooled, 2, &mut stream);
            assert!(chosen[0] < chosen[1]);
            *counts.entry((chosen[0].to_bits(), chosen[1].to_bits())).or_insert(0u32) += 1;
        }
        assert_eq!(counts.len(), 10);
        let chi2: f64 = counts.values().map(|&c| (f64::from(c) - 2e3).powi(2) / 2e3).sum();
        assert!(chi2 < 33.7, "chi-square with 9 degrees of freedom, 1e-4 tail: {chi2}");
    }

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
