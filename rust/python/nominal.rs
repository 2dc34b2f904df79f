//! Bindings of the tests for nominal answers.

use numpy::{PyReadonlyArray1, ToPyArray};
use pyo3::prelude::*;

use crate::onesample::{Column, count, same_length};
use crate::{Reply, detached};
use unpredictabench::batch::map_rows;
use unpredictabench::error::{Error, Result};
use unpredictabench::multinomial::{
    Cell, MAX_STATES, Sampler, TotalVariation, largest_passing, pair_cells, pool_share, upper_tail,
};
use unpredictabench::rng::Stream;

/// Draws of one Monte Carlo task.
const DRAWS_A_BLOCK: usize = 10_000;
/// Steps of the pair programme up to which a tail is exact: about a second.
const PAIR_STEPS: usize = 2_000_000_000;

fn unsigned(name: &str, values: &[i64]) -> Result<Vec<u64>> {
    let convert =
        |&v: &i64| u64::try_from(v).map_err(|_| Error::argument(name, "be at least 0", v));
    values.iter().map(convert).collect()
}

fn each_row<T: Send + Clone + Default>(
    py: Python<'_>,
    n: &[i64],
    workers: Option<usize>,
    row: impl Fn(usize, usize) -> Result<T> + Sync + Send,
) -> Reply<Vec<T>> {
    let mut out = vec![T::default(); n.len()];
    detached(py, |interrupt| {
        map_rows(&mut out, workers, interrupt, || (), |i, ()| row(i, count("n", n[i])?))
    })?;
    Ok(out)
}

fn to_i64(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Exact tails of the total-variation statistic; `excess` is n times the denominator times it.
#[pyfunction]
pub(super) fn tv_tails<'py>(
    py: Python<'py>,
    numerators: PyReadonlyArray1<'py, i64>,
    n: PyReadonlyArray1<'py, i64>,
    excess: PyReadonlyArray1<'py, i64>,
    workers: Option<usize>,
) -> Reply<Column<'py, f64>> {
    let numerators = unsigned("p", numerators.as_slice()?)?;
    let law = TotalVariation { numerators: &numerators, denominator: numerators.iter().sum() };
    let (n, excess) = (n.as_slice()?, excess.as_slice()?);
    same_length("excess", excess.len(), n.len())?;
    let out = each_row(py, n, workers, |i, size| {
        let (cells, total) = law.null_cells(size);
        upper_tail(
            &cells,
            total,
            size,
            count("excess", excess[i])? / count("n", to_i64(law.unit(size)))?,
        )
    })?;
    Ok(out.to_pyarray(py))
}

/// The largest statistic whose tail exceeds alpha, as for `tv_tails`; none where even 0 fails.
#[pyfunction]
pub(super) fn tv_largest_passing<'py>(
    py: Python<'py>,
    numerators: PyReadonlyArray1<'py, i64>,
    n: PyReadonlyArray1<'py, i64>,
    alpha: f64,
    workers: Option<usize>,
) -> Reply<Vec<Option<u64>>> {
    let numerators = unsigned("p", numerators.as_slice()?)?;
    let law = TotalVariation { numerators: &numerators, denominator: numerators.iter().sum() };
    each_row(py, n.as_slice()?, workers, |_, size| {
        let (cells, total) = law.null_cells(size);
        let largest = largest_passing(&cells, total, size, law.largest(size), alpha)?;
        Ok(largest.map(|cost| cost as u64 * law.unit(size)))
    })
}

/// Shares of subsets of a pool of counts whose statistic is at most `largest`, and their errors.
#[pyfunction]
pub(super) fn tv_pool_shares<'py>(
    py: Python<'py>,
    numerators: PyReadonlyArray1<'py, i64>,
    counts: PyReadonlyArray1<'py, i64>,
    n_invalid: usize,
    n: PyReadonlyArray1<'py, i64>,
    largest: PyReadonlyArray1<'py, i64>,
    workers: Option<usize>,
) -> Reply<(Column<'py, f64>, Column<'py, f64>)> {
    let numerators = unsigned("p", numerators.as_slice()?)?;
    let law = TotalVariation { numerators: &numerators, denominator: numerators.iter().sum() };
    let counts = unsigned("counts", counts.as_slice()?)?;
    same_length("counts", counts.len(), numerators.len())?;
    let (n, largest) = (n.as_slice()?, largest.as_slice()?);
    same_length("largest", largest.len(), n.len())?;
    let out = each_row(py, n, workers, |i, size| {
        let units = count("largest", largest[i])? / count("n", to_i64(law.unit(size)))?;
        pool_share(&law, &counts, n_invalid, size, units)
    })?;
    let rate: Vec<f64> = out.iter().map(|o| o.0).collect();
    let error: Vec<f64> = out.iter().map(|o| o.1).collect();
    Ok((rate.to_pyarray(py), error.to_pyarray(py)))
}

/// Pairs that the programme can count exactly in about a second and 32 MB.
fn most_pairs(n_cells: usize, n: usize) -> usize {
    let by_time = PAIR_STEPS / (n_cells * n * n / 2).max(1);
    by_time.max(32).min(MAX_STATES / (n + 1) - 2)
}

/// Tails of the number of pairs of equal answers among equally likely cells; upper bounds where
/// there are too many pairs to count.
#[pyfunction]
pub(super) fn pair_tails<'py>(
    py: Python<'py>,
    n_cells: usize,
    n: PyReadonlyArray1<'py, i64>,
    pairs: PyReadonlyArray1<'py, i64>,
    workers: Option<usize>,
) -> Reply<Column<'py, f64>> {
    let (n, pairs) = (n.as_slice()?, pairs.as_slice()?);
    same_length("pairs", pairs.len(), n.len())?;
    let out = each_row(py, n, workers, |i, size| {
        let (cells, total): (Vec<Cell>, f64) = pair_cells(n_cells, size);
        let pairs = count("pairs", pairs[i])?.min(most_pairs(n_cells, size));
        upper_tail(&cells, total, size, pairs)
    })?;
    Ok(out.to_pyarray(py))
}

/// The largest number of pairs whose tail exceeds alpha; none where even 0 fails.
#[pyfunction]
pub(super) fn pair_largest_passing<'py>(
    py: Python<'py>,
    n_cells: usize,
    n: PyReadonlyArray1<'py, i64>,
    alpha: f64,
    workers: Option<usize>,
) -> Reply<Vec<Option<u64>>> {
    each_row(py, n.as_slice()?, workers, |_, size| {
        let (cells, total) = pair_cells(n_cells, size);
        let largest = largest_passing(&cells, total, size, size * (size - 1) / 2, alpha)?;
        Ok(largest.map(|pairs| pairs as u64))
    })
}

/// The `keep` largest of many draws of the statistic under the null, in falling order.
#[pyfunction]
pub(super) fn tv_largest_draws<'py>(
    py: Python<'py>,
    probabilities: PyReadonlyArray1<'py, f64>,
    n: usize,
    n_resamples: usize,
    keep: usize,
    seed: u64,
    workers: Option<usize>,
) -> Reply<Column<'py, f64>> {
    let probabilities = probabilities.as_slice()?;
    let mut out = vec![Vec::new(); n_resamples.div_ceil(DRAWS_A_BLOCK)];
    detached(py, |interrupt| {
        let sampler = Sampler::new(probabilities, n);
        map_rows(
            &mut out,
            workers,
            interrupt,
            || (),
            |block, ()| {
                let mut stream = Stream::new(seed, n as u64, block as u64);
                let size = DRAWS_A_BLOCK.min(n_resamples - block * DRAWS_A_BLOCK);
                let mut draws: Vec<f64> = (0..size).map(|_| sampler.draw(&mut stream)).collect();
                draws.sort_unstable_by(|a, b| b.total_cmp(a));
                draws.truncate(keep);
                draws.shrink_to_fit();
                Ok(draws)
            },
        )
    })?;
    let mut all: Vec<f64> = out.into_iter().flatten().collect();
    all.sort_unstable_by(|a, b| b.total_cmp(a));
    all.truncate(keep);
    Ok(all.to_pyarray(py))
}

/// How many of many draws under the null are at least `distance`.
#[pyfunction]
pub(super) fn tv_count_draws(
    py: Python<'_>,
    probabilities: PyReadonlyArray1<'_, f64>,
    n: usize,
    distance: f64,
    n_resamples: usize,
    seed: u64,
    workers: Option<usize>,
) -> Reply<u64> {
    let probabilities = probabilities.as_slice()?;
    let mut out = vec![0u64; n_resamples.div_ceil(DRAWS_A_BLOCK)];
    detached(py, |interrupt| {
        let sampler = Sampler::new(probabilities, n);
        map_rows(
            &mut out,
            workers,
            interrupt,
            || (),
            |block, ()| {
                let mut stream = Stream::new(seed, n as u64, block as u64);
                let size = DRAWS_A_BLOCK.min(n_resamples - block * DRAWS_A_BLOCK);
                Ok((0..size).map(|_| u64::from(sampler.draw(&mut stream) >= distance)).sum())
            },
        )
    })?;
    Ok(out.iter().sum())
}
