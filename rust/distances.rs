//! The distances behind one face: by name, of unsorted rows, with their null moments, permutations
//! and bootstrap replicates.

use std::borrow::Cow;
use std::sync::OnceLock;

use crate::error::Result;
use crate::jensenshannon::{self, TruthDensity};
use crate::order::sort_into;
use crate::permutation::{self, Partial};
use crate::resampling::{Resample, RowStreams, merge};
use crate::scale;
use crate::sorting::Sorter;
use crate::truth::Truth;
use crate::{energy, w1_null, wasserstein};

/// Which distance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Wasserstein distance of some order.
    Wasserstein,
    /// Energy distance.
    Energy,
    /// Squared energy distance.
    EnergySquared,
    /// Jensen-Shannon divergence of kernel density estimates.
    JensenShannonKde,
    /// Jensen-Shannon divergence of counted values.
    JensenShannonCounts,
}

/// Which distance, and what it depends on.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Which distance.
    pub kind: Kind,
    /// Order p of the Wasserstein distance.
    pub order: f64,
    /// Number of grid points of the density estimates.
    pub n_grid: usize,
    /// Widening of the grid on each side, in ranges.
    pub padding: f64,
}

/// Buffers for one row after another; the last row is remembered for its replicates.
#[derive(Debug, Default)]
pub struct Scratch {
    row: Option<u64>,
    sorter: Sorter,
    sorted: Vec<f64>,
    buffer: Vec<f64>,
    pooled: Vec<f64>,
    prepared: Option<Truth>,
    densities: jensenshannon::Scratch,
    resample: Resample,
    second: Resample,
    weights: (usize, usize, Vec<f64>),
    scale: f64,
}

/// A distance to be taken many times, to one truth or to many.
#[derive(Debug)]
pub struct Distance<'a> {
    options: Options,
    shared: Option<&'a Truth>,
    density: OnceLock<TruthDensity>,
}

impl<'a> Distance<'a> {
    /// The distance; `shared` is the truth of all rows, if there is one.
    #[must_use]
    pub fn new(options: Options, shared: Option<&'a Truth>) -> Self {
        Self { options, shared, density: OnceLock::new() }
    }

    /// Distance of a row, in any order, to its truth.
    pub fn of(&self, x: &[f64], truth: &Truth, scratch: &mut Scratch) -> f64 {
        let mut sorted = std::mem::take(&mut scratch.sorted);
        scratch.sorter.sort_into(x, truth.indexed(), &mut sorted);
        let distance = self.of_sorted(&sorted, truth, scratch);
        scratch.sorted = sorted;
        distance
    }

    /// Wasserstein and squared energy distances are linear in the values, which are scaled by a
    /// power of two where powers of them would leave the range of a double.
    fn of_sorted(&self, x: &[f64], truth: &Truth, scratch: &mut Scratch) -> f64 {
        let scale = match self.options.kind {
            Kind::JensenShannonKde | Kind::JensenShannonCounts => 1.0,
            _ => scale::for_powers(largest(x, truth.sorted()), self.options.order),
        };
        if scale == 1.0 {
            return self.of_moderate(x, truth, scratch);
        }
        let (x, truth) = (times(x, scale), scaled(truth, scale));
        let distance = self.of_moderate(&x, &truth, scratch);
        distance / if self.options.kind == Kind::Energy { scale.sqrt() } else { scale }
    }

    fn of_moderate(&self, x: &[f64], truth: &Truth, scratch: &mut Scratch) -> f64 {
        let y = truth.sorted();
        match self.options.kind {
            Kind::Wasserstein if self.options.order == 1.0 => wasserstein::to_truth(x, truth),
            Kind::Wasserstein => wasserstein::of_order(x, y, self.options.order),
            Kind::Energy => energy::to_truth(x, truth, &mut scratch.buffer).sqrt(),
            Kind::EnergySquared => energy::to_truth(x, truth, &mut scratch.buffer),
            Kind::JensenShannonCounts => jensenshannon::of_counts(x, y),
            Kind::JensenShannonKde => {
                let made = || TruthDensity::new(y, self.options.n_grid, self.options.padding);
                if self.shared.is_some_and(|shared| std::ptr::eq(shared, truth)) {
                    let density = self.density.get_or_init(made);
                    jensenshannon::by_kde(x, y, density, &mut scratch.densities)
                } else {
                    jensenshannon::by_kde(x, y, &made(), &mut scratch.densities)
                }
            }
        }
    }

    /// One bootstrap replicate of the distance of row `streams.row`: the sample resampled, and
    /// with `both` the truth too. `make_truth` makes the row's truth unless it is shared. NaN
    /// where one of the two is empty.
    ///
    /// # Errors
    /// When a truth cannot be prepared.
    pub fn replicate(
        &self,
        x: &[f64],
        make_truth: &dyn Fn() -> Result<Option<Truth>>,
        both: bool,
        (streams, replicate): (RowStreams, usize),
        scratch: &mut Scratch,
    ) -> Result<f64> {
        if scratch.row != Some(streams.row) {
            sort_into(x, &mut scratch.sorted);
            (scratch.row, scratch.prepared) = (Some(streams.row), None);
        }
        let truth = match (self.shared, scratch.prepared.take()) {
            (Some(shared), _) => Cow::Borrowed(shared),
            (None, Some(own)) => Cow::Owned(own),
            (None, None) => match make_truth()? {
                Some(made) => Cow::Owned(made),
                None => return Ok(f64::NAN),
            },
        };
        if x.is_empty() {
            return Ok(f64::NAN);
        }
        let mut stream = streams.replicate(replicate);
        let mut resample = std::mem::take(&mut scratch.resample);
        let drawn = resample.with_replacement(&scratch.sorted, &mut stream);
        let distance = if both {
            let mut second = std::mem::take(&mut scratch.second);
            let redrawn = Truth::from_sorted(second.with_replacement(truth.sorted(), &mut stream))?;
            scratch.second = second;
            self.of_sorted(drawn, &redrawn, scratch)
        } else {
            self.of_sorted(drawn, &truth, scratch)
        };
        scratch.resample = resample;
        if let Cow::Owned(own) = truth {
            scratch.prepared = Some(own);
        }
        Ok(distance)
    }
}

/// Null mean of the first Wasserstein distance; the deviation is NaN, for it was not asked for.
pub fn wasserstein_mean(x: &[f64], truth: &Truth, scratch: &mut Scratch) -> (f64, f64) {
    sort_into(x, &mut scratch.sorted);
    let scale = scale::for_powers(largest(&scratch.sorted, truth.sorted()), 1.0);
    if scale != 1.0 {
        scratch.sorted = times(&scratch.sorted, scale);
    }
    let own = if scale == 1.0 { None } else { Some(scaled(truth, scale)) };
    let truth = own.as_ref().unwrap_or(truth);
    let (n, m) = (x.len(), truth.len());
    if (scratch.weights.0, scratch.weights.1) != (n, m) {
        scratch.weights = (n, m, w1_null::mean_weights(n, m));
    }
    let gaps = truth.centred().gaps();
    let rank = |v: f64| truth.rank(v);
    let mean = w1_null::mean(&scratch.sorted, truth.sorted(), gaps, rank, &scratch.weights.2);
    (mean / scale, f64::NAN)
}

/// Null mean and standard deviation of the first Wasserstein distance.
pub fn wasserstein_moments(x: &[f64], truth: &Truth, scratch: &mut Scratch) -> (f64, f64) {
    pool(x, truth, scratch);
    let (mean, deviation) = w1_null::moments(&scratch.pooled, x.len());
    (mean / scratch.scale, deviation / scratch.scale)
}

/// Null mean and standard deviation of the squared energy distance.
pub fn energy_moments(x: &[f64], truth: &Truth, scratch: &mut Scratch) -> (f64, f64) {
    pool(x, truth, scratch);
    let (mean, deviation) = energy::null_moments(&scratch.pooled, x.len());
    (mean / scratch.scale, deviation / scratch.scale)
}

/// Distance of order `p` of two weighted samples, both sorted by value.
#[must_use]
pub fn wasserstein_weighted(
    (x, x_weights): (&[f64], &[f64]),
    (y, y_weights): (&[f64], &[f64]),
    p: f64,
) -> f64 {
    let scale = scale::for_powers(largest(x, y), p);
    wasserstein::weighted(&times(x, scale), x_weights, &times(y, scale), y_weights, p) / scale
}

/// Energy distance of two weighted samples, both sorted by value.
#[must_use]
pub fn energy_weighted((x, x_weights): (&[f64], &[f64]), (y, y_weights): (&[f64], &[f64])) -> f64 {
    let scale = scale::for_powers(largest(x, y), 1.0);
    let squared = energy::weighted(&times(x, scale), x_weights, &times(y, scale), y_weights);
    squared.sqrt() / scale.sqrt()
}

/// Pool a sample and its truth, scaled by `scratch.scale`.
fn pool(x: &[f64], truth: &Truth, scratch: &mut Scratch) {
    sort_into(x, &mut scratch.sorted);
    merge(&scratch.sorted, truth.sorted(), &mut scratch.pooled);
    scratch.scale = scale::for_powers(largest(&scratch.pooled, &[]), 1.0);
    if scratch.scale != 1.0 {
        scratch.sorted = times(&scratch.sorted, scratch.scale);
        scratch.pooled = times(&scratch.pooled, scratch.scale);
    }
}

/// Largest absolute value of two sorted samples.
fn largest(x: &[f64], y: &[f64]) -> f64 {
    let ends = [x.first(), x.last(), y.first(), y.last()];
    ends.into_iter().flatten().fold(0.0, |most, end| most.max(end.abs()))
}

fn times(values: &[f64], scale: f64) -> Vec<f64> {
    values.iter().map(|value| value * scale).collect()
}

fn scaled(truth: &Truth, scale: f64) -> Truth {
    Truth::of_sorted(times(truth.sorted(), scale))
}

/// Part of a permutation test of row `streams.row`: the replicates in `range`.
///
/// # Errors
/// When the pooled sample cannot be prepared.
pub fn permuted(
    x: &[f64],
    truth: &Truth,
    kind: Kind,
    (streams, range): (RowStreams, std::ops::Range<usize>),
    scratch: &mut Scratch,
) -> Result<Partial> {
    if scratch.row != Some(streams.row) {
        pool(x, truth, scratch);
        (scratch.row, scratch.prepared) = (Some(streams.row), None);
    }
    let pooled = match scratch.prepared.take() {
        Some(pooled) => pooled,
        None => Truth::from_sorted(&scratch.pooled)?,
    };
    let (sorted, resample) = (&scratch.sorted, &mut scratch.resample);
    let part = match kind {
        Kind::EnergySquared => {
            permutation::part(sorted, &pooled, range, streams, resample, |x, y| {
                energy::to_truth(x, y, &mut scratch.buffer)
            })
        }
        _ => permutation::part(sorted, &pooled, range, streams, resample, wasserstein::to_truth),
    };
    scratch.prepared = Some(pooled);
    Ok(part.of_scaled(scratch.scale))
}

/// By how many powers of `N/m` a distance to the pooled sample falls short of one to the truth.
#[must_use]
pub fn pooled_order(kind: Kind) -> i32 {
    if kind == Kind::EnergySquared { 2 } else { 1 }
}
