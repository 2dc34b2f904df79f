//! Exact, batched statistics for judging whether samples follow a law.
//!
//! Each kernel is a pure function on slices and knows nothing of Python; the bindings are a package
//! of their own, in `rust/python`. The map: [`truth`] prepares what many samples share,
//! [`batch`] runs rows in parallel, [`rng`] names every random draw.

#![forbid(unsafe_code)]

pub mod anderson;
pub mod band;
pub mod batch;
pub mod cramer;
pub mod crossing;
pub mod distances;
pub mod edf;
pub mod energy;
pub mod error;
pub mod extended;
pub mod halves;
pub mod jensenshannon;
pub mod kde;
pub mod ks;
pub mod ks_bootstrap;
pub mod kuiper;
pub mod labelings;
pub mod lattice;
pub mod memory;
pub mod midranks;
pub mod multinomial;
pub mod onesample;
pub mod order;
pub mod own_statistic;
pub mod permutation;
pub mod pmf;
pub mod pooled;
pub mod resampling;
pub mod rng;
pub mod scale;
pub mod smirnov;
pub mod sorting;
pub mod subsets;
pub mod truth;
pub mod w1_null;
pub mod wasserstein;
pub mod weight;

#[cfg(test)]
mod golden;
