//! Bindings of Kuiper's, Anderson and Darling's, and Cramer and von Mises' tests.

use numpy::{PyReadonlyArray1, ToPyArray};
use pyo3::prelude::*;

use crate::onesample::{Column, count, same_length};
use crate::{PyRows, PyTruths, Reply, detached};
use unpredictabench::batch::map_rows;
use unpredictabench::crossing::Scratch;
use unpredictabench::edf::Corners;
use unpredictabench::error::{Error, Result};
use unpredictabench::midranks::{Kind, Midranks, Outcome};
use unpredictabench::{anderson, cramer, kuiper};

fn kind(name: &str) -> Result<Kind> {
    match name {
        "kuiper" => Ok(Kind::Kuiper),
        "cramer" => Ok(Kind::Cramer),
        "anderson" => Ok(Kind::Anderson),
        other => Err(Error::argument("kind", "be 'kuiper', 'cramer' or 'anderson'", other)),
    }
}

/// Statistics of every row against a law, from the cdf at its observations and the left limits.
#[pyfunction]
pub(super) fn edf_statistics<'py>(
    py: Python<'py>,
    cdf: PyRows<'py>,
    cdf_left: PyReadonlyArray1<'py, f64>,
    kind: &str,
    workers: Option<usize>,
) -> Reply<Column<'py, f64>> {
    let (kind, cdf) = (self::kind(kind)?, cdf.view()?);
    let cdf_left = cdf.beside("cdf_left", cdf_left.as_slice()?)?;
    let mut out = vec![f64::NAN; cdf.len()];
    let buffers = || (Corners::default(), Vec::new());
    detached(py, |interrupt| {
        map_rows(&mut out, workers, interrupt, buffers, |i, (corners, order)| {
            corners.fill(cdf.row(i), cdf_left.row(i), order);
            let n = cdf.row(i).len() as f64;
            Ok(match kind {
                Kind::Kuiper => corners.kuiper(),
                Kind::Cramer => n * corners.squared_area(),
                Kind::Anderson => n * corners.weighted_area(),
            })
        })
    })?;
    Ok(out.to_pyarray(py))
}

/// Tails of statistics against a continuous law, and whether they are exact.
#[pyfunction]
pub(super) fn edf_tails<'py>(
    py: Python<'py>,
    n: PyReadonlyArray1<'py, i64>,
    statistic: PyReadonlyArray1<'py, f64>,
    kind: &str,
    workers: Option<usize>,
) -> Reply<(Column<'py, f64>, Column<'py, bool>)> {
    let (kind, n, statistic) = (self::kind(kind)?, n.as_slice()?, statistic.as_slice()?);
    same_length("statistic", statistic.len(), n.len())?;
    let mut out = vec![(f64::NAN, false); n.len()];
    detached(py, |interrupt| {
        map_rows(&mut out, workers, interrupt, Scratch::default, |i, scratch| {
            let size = count("n", n[i])?;
            Ok(match kind {
                Kind::Kuiper => kuiper::tail(size, statistic[i], scratch),
                Kind::Cramer => (cramer::tail(size, statistic[i]), size == 1),
                Kind::Anderson => (anderson::tail(size, statistic[i]), size == 1),
            })
        })
    })?;
    let p: Vec<f64> = out.iter().map(|o| o.0).collect();
    let is_exact: Vec<bool> = out.iter().map(|o| o.1).collect();
    Ok((p.to_pyarray(py), is_exact.to_pyarray(py)))
}

/// Test every row against its truth by labelings: statistics, p-values, whether all were seen.
#[pyfunction]
pub(super) fn edf_2samp<'py>(
    py: Python<'py>,
    x: PyRows<'py>,
    y: PyTruths<'py>,
    kind: &str,
    first_row: u64,
    n_resamples: u64,
    seed: u64,
    workers: Option<usize>,
) -> Reply<(Column<'py, f64>, Column<'py, f64>, Column<'py, bool>)> {
    let (kind, rows, truths) = (self::kind(kind)?, x.view()?, y.view()?);
    let mut out = vec![Outcome { statistic: 0.0, pvalue: 1.0, is_exact: true }; rows.len()];
    detached(py, |interrupt| {
        map_rows(
            &mut out,
            workers,
            interrupt,
            || (),
            |i, ()| {
                let truth = truths.of(i)?;
                let y = truth.as_ref().map_or(&[][..], |truth| truth.sorted());
                let ranks = Midranks::new(rows.row(i), y);
                Ok(ranks.test(kind, n_resamples, seed, first_row + i as u64))
            },
        )
    })?;
    let statistic: Vec<f64> = out.iter().map(|o| o.statistic).collect();
    let p: Vec<f64> = out.iter().map(|o| o.pvalue).collect();
    let is_exact: Vec<bool> = out.iter().map(|o| o.is_exact).collect();
    Ok((statistic.to_pyarray(py), p.to_pyarray(py), is_exact.to_pyarray(py)))
}
