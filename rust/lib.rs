//! Exact, batched statistics for judging whether samples follow a law.
//!
//! Each kernel is a pure function on slices and knows nothing of Python; the bindings live in
//! `python` behind the feature of that name. The map: [`truth`] prepares what many samples share,
//! [`batch`] runs rows in parallel, [`rng`] names every random draw.

pub mod anderson;
pub mod batch;
pub mod cramer;
pub mod crossing;
pub mod edf;
pub mod error;
pub mod ks;
pub mod kuiper;
pub mod labelings;
pub mod multinomial;
pub mod onesample;
pub mod order;
pub mod pmf;
pub mod pooled;
pub mod rng;
pub mod scaled;
pub mod smirnov;
pub mod subsets;
pub mod truth;

#[cfg(feature = "python")]
mod python;
