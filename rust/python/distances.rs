//! Bindings of the distances, their null moments and their resamples.

use std::borrow::Cow;

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, ToPyArray};
use pyo3::prelude::*;

use crate::{PyRows, PyTruths, Reply, detached};
use unpredictabench::batch::map_rows;
use unpredictabench::distances::{self, Distance, Kind, Options};
use unpredictabench::error::{Error, Result};
use unpredictabench::permutation::{Partial, Permuted, join};
use unpredictabench::resampling::RowStreams;

/// Replicates computed between two looks at Ctrl-C, at the least.
const REPLICATES_A_PART: usize = 1024;

/// Two columns, one value a row each.
type Pair<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);
/// Three columns, one value a row each.
type Triple<'py> =
    (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

/// What the caller chose: the name of the statistic, the order p, the grid and its padding.
#[derive(FromPyObject)]
pub(super) struct PyOptions(String, f64, usize, f64);

impl PyOptions {
    fn parse(&self) -> Result<Options> {
        let kind = match self.0.as_str() {
            "wasserstein" => Kind::Wasserstein,
            "energy" => Kind::Energy,
            "energy_squared" => Kind::EnergySquared,
            "jensenshannon_kde" => Kind::JensenShannonKde,
            "jensenshannon_counts" => Kind::JensenShannonCounts,
            other => return Err(Error::argument("statistic", "be a known distance", other)),
        };
        Ok(Options { kind, order: self.1, n_grid: self.2, padding: self.3 })
    }
}

/// The distance of every row.
#[pyfunction]
pub(super) fn distance<'py>(
    py: Python<'py>,
    x: PyRows<'py>,
    y: PyTruths<'py>,
    options: PyOptions,
    workers: Option<usize>,
) -> Reply<Bound<'py, PyArray1<f64>>> {
    let (rows, truths, options) = (x.view()?, y.view()?, options.parse()?);
    let mut out = vec![0.0; rows.len()];
    detached(py, |interrupt| {
        let distance = Distance::new(options, truths.shared());
        map_rows(&mut out, workers, interrupt, distances::Scratch::default, |i, scratch| {
            match truths.of(i)? {
                Some(truth) if !rows.row(i).is_empty() => {
                    Ok(distance.of(rows.row(i), truth.as_ref(), scratch))
                }
                _ => Ok(f64::NAN),
            }
        })
    })?;
    Ok(out.to_pyarray(py))
}

/// Exact null mean of every row, and the standard deviation (NaN unless asked for).
#[pyfunction]
pub(super) fn null_moments<'py>(
    py: Python<'py>,
    x: PyRows<'py>,
    y: PyTruths<'py>,
    statistic: &str,
    with_deviation: bool,
    workers: Option<usize>,
) -> Reply<Pair<'py>> {
    let (rows, truths) = (x.view()?, y.view()?);
    let moments = match statistic {
        "wasserstein" if with_deviation => distances::wasserstein_moments,
        "wasserstein" => distances::wasserstein_mean,
        _ => distances::energy_moments,
    };
    let mut out = vec![(0.0, 0.0); rows.len()];
    detached(py, |interrupt| {
        map_rows(&mut out, workers, interrupt, distances::Scratch::default, |i, scratch| {
            match truths.of(i)? {
                Some(truth) if !rows.row(i).is_empty() => {
                    Ok(moments(rows.row(i), truth.as_ref(), scratch))
                }
                _ => Ok((f64::NAN, f64::NAN)),
            }
        })
    })?;
    let (means, deviations): (Vec<f64>, Vec<f64>) = out.into_iter().unzip();
    Ok((means.to_pyarray(py), deviations.to_pyarray(py)))
}

/// Mean, standard deviation and p-value over permutations of the labels, for every row.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // one a column of the call, checked by the stub
pub(super) fn permutation<'py>(
    py: Python<'py>,
    x: PyRows<'py>,
    y: PyTruths<'py>,
    statistic: &str,
    n_resamples: usize,
    stream: (u64, u64),
    workers: Option<usize>,
) -> Reply<Triple<'py>> {
    let (rows, truths) = (x.view()?, y.view()?);
    let kind = if statistic == "wasserstein" { Kind::Wasserstein } else { Kind::EnergySquared };
    let n_parts = n_resamples.div_ceil(REPLICATES_A_PART);
    let mut parts = vec![Partial::default(); rows.len() * n_parts];
    detached(py, |interrupt| {
        map_rows(&mut parts, workers, interrupt, distances::Scratch::default, |k, scratch| {
            let (i, part) = (k / n_parts, k % n_parts);
            let first = part * REPLICATES_A_PART;
            let range = first..n_resamples.min(first + REPLICATES_A_PART);
            let streams = RowStreams { seed: stream.0, row: stream.1 + i as u64 };
            match truths.of(i)? {
                Some(truth) if !rows.row(i).is_empty() => {
                    let work = (streams, range);
                    distances::permuted(rows.row(i), truth.as_ref(), kind, work, scratch)
                }
                _ => Ok(Partial::default()),
            }
        })
    })?;
    let mut out = Vec::with_capacity(rows.len());
    for (i, parts) in parts.chunks(n_parts).enumerate() {
        let (n, m) = (rows.row(i).len() as f64, truths.len_of(i) as f64);
        out.push(join(parts, ((n + m) / m).powi(distances::pooled_order(kind))));
    }
    let column = |field: fn(&Permuted) -> f64| -> Bound<'py, PyArray1<f64>> {
        out.iter().map(field).collect::<Vec<f64>>().to_pyarray(py)
    };
    Ok((column(|o| o.mean), column(|o| o.deviation), column(|o| o.pvalue)))
}

/// Bootstrap replicates of the distance: one row of replicates a pair.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // one a column of the call, checked by the stub
pub(super) fn distance_bootstrap<'py>(
    py: Python<'py>,
    x: PyRows<'py>,
    y: PyTruths<'py>,
    options: PyOptions,
    both: bool,
    n_resamples: usize,
    stream: (u64, u64),
    workers: Option<usize>,
) -> Reply<Bound<'py, PyArray2<f64>>> {
    let (rows, truths, options) = (x.view()?, y.view()?, options.parse()?);
    let out = PyArray2::<f64>::zeros(py, [rows.len(), n_resamples], false);
    let mut writable = out.try_readwrite()?;
    let cells = writable.as_slice_mut()?;
    detached(py, |interrupt| {
        let distance = Distance::new(options, truths.shared());
        map_rows(cells, workers, interrupt, distances::Scratch::default, |k, scratch| {
            let (i, replicate) = (k / n_resamples, k % n_resamples);
            let streams = RowStreams { seed: stream.0, row: stream.1 + i as u64 };
            let make_truth = || Ok(truths.of(i)?.map(Cow::into_owned));
            distance.replicate(rows.row(i), &make_truth, both, (streams, replicate), scratch)
        })
    })?;
    drop(writable);
    Ok(out)
}

/// Wasserstein distance of order `p` of two weighted samples, both sorted by value.
#[pyfunction]
pub(super) fn wasserstein_weighted(
    x: PyReadonlyArray1<'_, f64>,
    x_weights: PyReadonlyArray1<'_, f64>,
    y: PyReadonlyArray1<'_, f64>,
    y_weights: PyReadonlyArray1<'_, f64>,
    p: f64,
) -> Reply<f64> {
    Ok(distances::wasserstein_weighted(
        (x.as_slice()?, x_weights.as_slice()?),
        (y.as_slice()?, y_weights.as_slice()?),
        p,
    ))
}

/// Energy distance of two weighted samples, both sorted by value.
#[pyfunction]
pub(super) fn energy_weighted(
    x: PyReadonlyArray1<'_, f64>,
    x_weights: PyReadonlyArray1<'_, f64>,
    y: PyReadonlyArray1<'_, f64>,
    y_weights: PyReadonlyArray1<'_, f64>,
) -> Reply<f64> {
    Ok(distances::energy_weighted(
        (x.as_slice()?, x_weights.as_slice()?),
        (y.as_slice()?, y_weights.as_slice()?),
    ))
}
