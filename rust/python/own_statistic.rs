//! Bindings of the loops around a statistic that the user brings.

use numpy::{PyArray2, PyArrayMethods, PyReadonlyArray1, ToPyArray};
use pyo3::prelude::*;

use crate::foreign::Function;
use crate::onesample::Column;
use crate::{PyRows, PyTruths, Reply, detached};
use unpredictabench::batch::map_rows;
use unpredictabench::error::{Error, Result};
use unpredictabench::order::sort_into;
use unpredictabench::own_statistic::{Buffers, Clustered, Draws, Redrawn, Scratch};
use unpredictabench::resampling::RowStreams;
use unpredictabench::rng::Stream;
use unpredictabench::truth::Truths;

fn draws<'a>(truths: &Truths<'a>, row: usize) -> Draws<'a> {
    match truths {
        Truths::Shared(truth) => Draws::Sorted(truth.sorted()),
        Truths::Rows(rows) => Draws::Raw(rows.row(row)),
    }
}

fn redrawn(name: &str) -> Result<Redrawn> {
    match name {
        "x" => Ok(Redrawn::Sample),
        "both" => Ok(Redrawn::Both),
        "labels" => Ok(Redrawn::Labels),
        other => Err(Error::argument("resample", "be 'x', 'both' or 'labels'", other)),
    }
}

/// The statistic of every row and its truth.
#[pyfunction]
pub(super) fn own_2samp<'py>(
    py: Python<'py>,
    function: &Bound<'py, Function>,
    x: PyRows<'py>,
    y: PyTruths<'py>,
    workers: Option<usize>,
) -> Reply<Column<'py, f64>> {
    let (rows, truths, statistic) = (x.view()?, y.view()?, function.get().of_two()?);
    let mut out = vec![0.0; rows.len()];
    detached(py, |interrupt| {
        map_rows(&mut out, workers, interrupt, Scratch::default, |i, scratch| {
            Ok(scratch.of(i as u64, rows.row(i), draws(&truths, i), &statistic))
        })
    })?;
    Ok(out.to_pyarray(py))
}

/// The statistic of every row alone.
#[pyfunction]
pub(super) fn own_1samp<'py>(
    py: Python<'py>,
    function: &Bound<'py, Function>,
    x: PyRows<'py>,
    workers: Option<usize>,
) -> Reply<Column<'py, f64>> {
    let (rows, statistic) = (x.view()?, function.get().of_one()?);
    let mut out = vec![0.0; rows.len()];
    detached(py, |interrupt| {
        map_rows(&mut out, workers, interrupt, Vec::new, |i, sorted| {
            sort_into(rows.row(i), sorted);
            Ok(if sorted.is_empty() { f64::NAN } else { statistic(sorted) })
        })
    })?;
    Ok(out.to_pyarray(py))
}

/// Replicates of the statistic: one row of them a pair.
#[pyfunction]
pub(super) fn own_resamples<'py>(
    py: Python<'py>,
    function: &Bound<'py, Function>,
    x: PyRows<'py>,
    y: PyTruths<'py>,
    resample: &str,
    n_resamples: usize,
    stream: (u64, u64),
    workers: Option<usize>,
) -> Reply<Bound<'py, PyArray2<f64>>> {
    let (rows, truths, redrawn) = (x.view()?, y.view()?, redrawn(resample)?);
    let statistic = function.get().of_two()?;
    let out = PyArray2::<f64>::zeros(py, [rows.len(), n_resamples], false);
    let mut writable = out.try_readwrite()?;
    let cells = writable.as_slice_mut()?;
    detached(py, |interrupt| {
        map_rows(cells, workers, interrupt, Scratch::default, |k, scratch| {
            let (i, replicate) = (k / n_resamples, k % n_resamples);
            let streams = RowStreams { seed: stream.0, row: stream.1 + i as u64 };
            let name = (streams, replicate);
            Ok(scratch.replicate(rows.row(i), draws(&truths, i), redrawn, name, &statistic))
        })
    })?;
    drop(writable);
    Ok(out)
}

/// Replicates of the statistic of one sorted sample in clusters, and the statistic without each.
#[pyfunction]
pub(super) fn own_bootstrap<'py>(
    py: Python<'py>,
    function: &Bound<'py, Function>,
    values: PyReadonlyArray1<'py, f64>,
    clusters: PyReadonlyArray1<'py, i64>,
    n_clusters: u32,
    n_resamples: usize,
    seed: u64,
    workers: Option<usize>,
) -> Reply<(Column<'py, f64>, Column<'py, f64>)> {
    let sample = Clustered::new(values.as_slice()?, clusters.as_slice()?, n_clusters)?;
    let statistic = function.get().of_one()?;
    let mut replicates = vec![0.0; n_resamples];
    let mut jackknife = vec![0.0; if n_clusters > 1 { n_clusters as usize } else { 0 }];
    detached(py, |interrupt| {
        let buffers = Buffers::default;
        map_rows(&mut replicates, workers, interrupt, buffers, |i, buffers| {
            Ok(statistic(sample.replicate(&mut Stream::new(seed, 0, i as u64), buffers)))
        })?;
        map_rows(&mut jackknife, workers, interrupt, buffers, |i, buffers| {
            Ok(statistic(sample.without(i, buffers)))
        })
    })?;
    Ok((replicates.to_pyarray(py), jackknife.to_pyarray(py)))
}
