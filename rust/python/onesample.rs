//! Bindings of the Kolmogorov-Smirnov test against a law.

use numpy::{PyArray1, PyReadonlyArray1, ToPyArray};
use pyo3::prelude::*;

use crate::ks::side;
use crate::{PyCounts, PyRows, Reply, detached};
use unpredictabench::batch::map_rows;
use unpredictabench::crossing::Scratch;
use unpredictabench::error::{Error, Result};
use unpredictabench::onesample::{self, EXACT_OBSERVATIONS};
use unpredictabench::smirnov::{Side, Tail};

pub(super) type Column<'py, T> = Bound<'py, PyArray1<T>>;

/// A count that came as a 64-bit integer.
pub(super) fn count(name: &str, value: i64) -> Result<usize> {
    usize::try_from(value).map_err(|_| Error::argument(name, "be at least 0", value))
}

/// Check that an array has the length that another one asks for.
pub(super) fn same_length(name: &str, length: usize, wanted: usize) -> Result<()> {
    if length == wanted {
        return Ok(());
    }
    Err(Error::argument(name, &format!("have {wanted} entries"), length))
}

fn tails<'py>(py: Python<'py>, out: &[Tail]) -> (Column<'py, f64>, Column<'py, f64>) {
    let p: Vec<f64> = out.iter().map(|t| t.p).collect();
    let log_p: Vec<f64> = out.iter().map(|t| t.log_p).collect();
    (p.to_pyarray(py), log_p.to_pyarray(py))
}

/// Statistic, location and sign of every row, from the cdf at its observations.
#[pyfunction]
pub(super) fn ks_1samp_statistic<'py>(
    py: Python<'py>,
    x: PyRows<'py>,
    cdf: PyReadonlyArray1<'py, f64>,
    cdf_left: PyReadonlyArray1<'py, f64>,
    n_invalid: PyCounts<'py>,
    alternative: &str,
    workers: Option<usize>,
) -> Reply<(Column<'py, f64>, Column<'py, f64>, Column<'py, i8>)> {
    let side = side(alternative)?;
    let (rows, n_invalid) = (x.view()?, n_invalid.view()?);
    let cdf = rows.beside("cdf", cdf.as_slice()?)?;
    let cdf_left = rows.beside("cdf_left", cdf_left.as_slice()?)?;
    let mut out = vec![(f64::NAN, f64::NAN, 0i8); rows.len()];
    detached(py, |interrupt| {
        map_rows(&mut out, workers, interrupt, Vec::new, |i, order| {
            let lost = count("n_invalid", n_invalid(i))?;
            if rows.row(i).len() + lost == 0 {
                return Ok((f64::NAN, f64::NAN, 0));
            }
            let found = onesample::deviation(rows.row(i), cdf.row(i), cdf_left.row(i), lost, order);
            Ok(found.on(side))
        })
    })?;
    let statistic: Vec<f64> = out.iter().map(|o| o.0).collect();
    let location: Vec<f64> = out.iter().map(|o| o.1).collect();
    let sign: Vec<i8> = out.iter().map(|o| o.2).collect();
    Ok((statistic.to_pyarray(py), location.to_pyarray(py), sign.to_pyarray(py)))
}

/// Tails of distances for continuous laws: p-values and their logarithms.
#[pyfunction]
pub(super) fn ks_1samp_continuous<'py>(
    py: Python<'py>,
    n: PyReadonlyArray1<'py, i64>,
    distance: PyReadonlyArray1<'py, f64>,
    alternative: &str,
    workers: Option<usize>,
) -> Reply<(Column<'py, f64>, Column<'py, f64>)> {
    let (side, n, distance) = (side(alternative)?, n.as_slice()?, distance.as_slice()?);
    same_length("distance", distance.len(), n.len())?;
    let mut out = vec![Tail::ONE; n.len()];
    detached(py, |interrupt| {
        map_rows(&mut out, workers, interrupt, Scratch::default, |i, scratch| {
            let n = count("n", n[i])?;
            Ok(if n > EXACT_OBSERVATIONS {
                onesample::asymptotic(n, distance[i], side)
            } else {
                onesample::continuous(n, distance[i], side, scratch)
            })
        })
    })?;
    Ok(tails(py, &out))
}

/// Tails of distances for laws with atoms, from the levels that decide them; a row has n levels
/// in each list.
#[pyfunction]
pub(super) fn ks_1samp_stepped<'py>(
    py: Python<'py>,
    below: PyRows<'py>,
    above: PyReadonlyArray1<'py, f64>,
    alternative: &str,
    workers: Option<usize>,
) -> Reply<(Column<'py, f64>, Column<'py, f64>)> {
    let (side, below) = (side(alternative)?, below.view()?);
    let above = below.beside("above", above.as_slice()?)?;
    let mut out = vec![Tail::ONE; below.len()];
    detached(py, |interrupt| {
        map_rows(&mut out, workers, interrupt, Scratch::default, |i, scratch| {
            let n = below.row(i).len();
            Ok(onesample::stepped(n, below.row(i), above.row(i), side, scratch))
        })
    })?;
    Ok(tails(py, &out))
}

/// The smallest distance that a continuous law reaches with probability at most alpha, for each n.
#[pyfunction]
pub(super) fn ks_1samp_critical<'py>(
    py: Python<'py>,
    n: PyReadonlyArray1<'py, i64>,
    alpha: f64,
    workers: Option<usize>,
) -> Reply<Column<'py, f64>> {
    let n = n.as_slice()?;
    let mut out = vec![f64::NAN; n.len()];
    detached(py, |interrupt| {
        map_rows(&mut out, workers, interrupt, Scratch::default, |i, scratch| {
            Ok(onesample::critical_distance(count("n", n[i])?, alpha, scratch))
        })
    })?;
    Ok(out.to_pyarray(py))
}

/// The smallest integer statistic of the two-sample null that has probability at most alpha.
#[pyfunction]
pub(super) fn ks_2samp_critical<'py>(
    py: Python<'py>,
    n: PyReadonlyArray1<'py, i64>,
    m: i64,
    alpha: f64,
    workers: Option<usize>,
) -> Reply<Column<'py, i64>> {
    let n = n.as_slice()?;
    let mut out = vec![0i64; n.len()];
    detached(py, |interrupt| {
        map_rows(
            &mut out,
            workers,
            interrupt,
            || (),
            |i, ()| Ok(unpredictabench::smirnov::critical_h(n[i], m, alpha, Side::Both)),
        )
    })?;
    Ok(out.to_pyarray(py))
}
