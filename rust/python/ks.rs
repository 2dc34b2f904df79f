//! Bindings of the two-sample Kolmogorov-Smirnov test.

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, ToPyArray};
use pyo3::prelude::*;

use crate::{PyCounts, PyRows, PyTruth, PyTruths, Reply, detached};
use unpredictabench::batch::map_rows;
use unpredictabench::error::{Error, Result};
use unpredictabench::ks::{self, Method, Outcome, Scratch};
use unpredictabench::ks_bootstrap::{Replicates, Resampled};
use unpredictabench::resampling::RowStreams;
use unpredictabench::smirnov::{self, Side};
use unpredictabench::truth::Truth;

pub(super) fn side(alternative: &str) -> Result<Side> {
    match alternative {
        "two-sided" => Ok(Side::Both),
        "greater" => Ok(Side::Upper),
        "less" => Ok(Side::Lower),
        other => Err(Error::argument("alternative", "be 'two-sided', 'less' or 'greater'", other)),
    }
}

fn method(name: &str) -> Result<Method> {
    match name {
        "auto" => Ok(Method::Auto),
        "exact" => Ok(Method::Exact),
        "asymp" => Ok(Method::Asymptotic),
        other => Err(Error::argument("method", "be 'auto', 'exact' or 'asymp'", other)),
    }
}

type Column<'py, T> = Bound<'py, PyArray1<T>>;
type Columns<'py> = (
    Column<'py, f64>,
    Column<'py, f64>,
    Column<'py, i8>,
    Column<'py, f64>,
    Column<'py, f64>,
    Column<'py, bool>,
);

fn column<'py, T: numpy::Element + Clone>(
    py: Python<'py>,
    outcomes: &[Outcome],
    field: impl Fn(&Outcome) -> T,
) -> Column<'py, T> {
    outcomes.iter().map(field).collect::<Vec<T>>().to_pyarray(py)
}

/// Test every row: statistics, locations, signs, p-values, their logarithms, whether exact.
#[pyfunction]
pub(super) fn ks_2samp<'py>(
    py: Python<'py>,
    x: PyRows<'py>,
    y: PyTruths<'py>,
    n_invalid: PyCounts<'py>,
    alternative: &str,
    method: &str,
    workers: Option<usize>,
) -> Reply<Columns<'py>> {
    let (side, method) = (side(alternative)?, self::method(method)?);
    let (rows, truths, n_invalid) = (x.view()?, y.view()?, n_invalid.view()?);
    let mut out = vec![Outcome::UNDEFINED; rows.len()];
    detached(py, |interrupt| {
        map_rows(&mut out, workers, interrupt, Scratch::default, |i, scratch| {
            let Some(truth) = truths.of(i)? else { return Ok(Outcome::UNDEFINED) };
            ks::test(rows.row(i), &truth, n_invalid(i), side, method, scratch)
        })
    })?;
    Ok((
        column(py, &out, |o| o.statistic),
        column(py, &out, |o| o.location),
        column(py, &out, |o| o.sign),
        column(py, &out, |o| o.tail.p),
        column(py, &out, |o| o.tail.log_p),
        column(py, &out, |o| o.is_exact),
    ))
}

/// The truth of one sample: prepared, or its draws as they are.
#[derive(FromPyObject)]
pub(super) enum PyDraws<'py> {
    Prepared(PyRef<'py, PyTruth>),
    Raw(PyReadonlyArray1<'py, f64>),
}

/// Test one sample: the same six values as scalars.
#[pyfunction]
pub(super) fn ks_2samp_one(
    py: Python<'_>,
    x: PyReadonlyArray1<'_, f64>,
    y: PyDraws<'_>,
    n_invalid: i64,
    alternative: &str,
    method: &str,
) -> Reply<(f64, f64, i8, f64, f64, bool)> {
    let (side, method) = (side(alternative)?, self::method(method)?);
    let sample = x.as_slice()?;
    let mut scratch = Scratch::default();
    let o = match &y {
        PyDraws::Prepared(truth) => {
            let truth = &truth.inner;
            detached(py, |_| ks::test(sample, truth, n_invalid, side, method, &mut scratch))
        }
        PyDraws::Raw(draws) => {
            let draws = draws.as_slice()?;
            detached(py, |_| {
                if draws.is_empty() {
                    return Ok(Outcome::UNDEFINED);
                }
                ks::test(sample, &Truth::new(draws)?, n_invalid, side, method, &mut scratch)
            })
        }
    }?;
    Ok((o.statistic, o.location, o.sign, o.tail.p, o.tail.log_p, o.is_exact))
}

/// The smallest integer statistic whose exact tail without ties is at most `alpha`.
#[pyfunction]
pub(super) fn ks_critical_h(
    py: Python<'_>,
    n: i64,
    m: i64,
    alpha: f64,
    alternative: &str,
) -> Reply<i64> {
    let side = side(alternative)?;
    detached(py, |_| Ok(smirnov::critical_h(n, m, alpha, side)))
}

/// Bootstrap replicates of the statistic, one row of `n_resamples` a pair.
///
/// The stream of a replicate is named by the seed, the row (counted from `first_row`) and the
/// replicate, so that neither the threads nor the way a batch is cut change anything.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // the options of one call
pub(super) fn ks_bootstrap<'py>(
    py: Python<'py>,
    x: PyRows<'py>,
    y: PyTruths<'py>,
    n_resamples: usize,
    seed: u64,
    first_row: u64,
    resample_both: bool,
    workers: Option<usize>,
) -> Reply<Bound<'py, PyArray2<f64>>> {
    let resampled = if resample_both { Resampled::Both } else { Resampled::Sample };
    let (rows, truths) = (x.view()?, y.view()?);
    let mut out = vec![f64::NAN; rows.len() * n_resamples];
    detached(py, |interrupt| {
        let scratch = || (usize::MAX, Scratch::default(), Replicates::default());
        map_rows(&mut out, workers, interrupt, scratch, |k, (prepared, scratch, replicates)| {
            let (i, replicate) = (k / n_resamples, k % n_resamples);
            if *prepared != i {
                let Some(truth) = truths.of(i)? else { return Ok(f64::NAN) };
                let ranks = scratch.rank(rows.row(i), &truth);
                replicates.prepare(ranks, truth.len(), resampled);
                *prepared = i;
            }
            let streams = RowStreams { seed, row: first_row + i as u64 };
            Ok(replicates.statistic(&mut streams.replicate(replicate)))
        })
    })?;
    Ok(PyArray1::from_vec(py, out).reshape([rows.len(), n_resamples])?)
}

/// P-values of integer statistics as if no two values were equal.
#[pyfunction]
pub(super) fn ks_2samp_untied<'py>(
    py: Python<'py>,
    n: PyReadonlyArray1<'py, i64>,
    m: PyReadonlyArray1<'py, i64>,
    h: PyReadonlyArray1<'py, i64>,
    workers: Option<usize>,
) -> Reply<Column<'py, f64>> {
    let (n, m, h) = (n.as_slice()?, m.as_slice()?, h.as_slice()?);
    super::onesample::same_length("m", m.len(), n.len())?;
    super::onesample::same_length("h", h.len(), n.len())?;
    let mut out = vec![f64::NAN; n.len()];
    detached(py, |interrupt| {
        map_rows(
            &mut out,
            workers,
            interrupt,
            || (),
            |i, ()| Ok(smirnov::tail_untied(n[i], m[i], h[i], Side::Both).p),
        )
    })?;
    Ok(out.to_pyarray(py))
}
