//! Bindings of the two-sample Kolmogorov-Smirnov test.

use numpy::{PyArray1, PyReadonlyArray1, ToPyArray};
use pyo3::prelude::*;

use super::{PyCounts, PyRows, PyTruth, PyTruths, detached, interrupted};
use crate::batch::map_rows;
use crate::error::{Error, Result};
use crate::ks::{self, Method, Outcome, Scratch};
use crate::smirnov::Side;

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
) -> PyResult<Columns<'py>> {
    let (side, method) = (side(alternative)?, self::method(method)?);
    let (rows, truths, n_invalid) = (x.view()?, y.view()?, n_invalid.view()?);
    let mut out = vec![Outcome::UNDEFINED; rows.len()];
    detached(py, || {
        map_rows(&mut out, workers, &mut interrupted, Scratch::default, |i, scratch| {
            ks::test(rows.row(i), truths.of(i)?.as_ref(), n_invalid(i), side, method, scratch)
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

/// Test one sample: the same six values as scalars.
#[pyfunction]
pub(super) fn ks_2samp_one(
    py: Python<'_>,
    x: PyReadonlyArray1<'_, f64>,
    y: PyRef<'_, PyTruth>,
    n_invalid: i64,
    alternative: &str,
    method: &str,
) -> PyResult<(f64, f64, i8, f64, f64, bool)> {
    let (side, method) = (side(alternative)?, self::method(method)?);
    let (x, truth) = (x.as_slice()?, &y.inner);
    let o = detached(py, || ks::test(x, truth, n_invalid, side, method, &mut Scratch::default()))?;
    Ok((o.statistic, o.location, o.sign, o.tail.p, o.tail.log_p, o.is_exact))
}
