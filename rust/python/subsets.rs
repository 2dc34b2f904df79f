//! Bindings of the subset averages.

use numpy::{PyReadonlyArray1, ToPyArray};
use pyo3::prelude::*;

use crate::onesample::{Column, count, same_length};
use crate::{PyCounts, PyRows, PyTruths, Reply, detached};
use unpredictabench::batch::map_rows;
use unpredictabench::error::Result;
use unpredictabench::onesample::sort_order;
use unpredictabench::order::sort_into;
use unpredictabench::subsets::{AroundLaw, AroundTruth, Pool, Scratch, Share, pass_share};

#[derive(Default)]
struct Buffers<L> {
    scratch: Scratch,
    order: Vec<u32>,
    ends: Vec<usize>,
    before: Vec<L>,
    after: Vec<L>,
}

impl<L> Buffers<L> {
    fn clear(&mut self) {
        self.ends.clear();
        self.before.clear();
        self.after.clear();
    }
}

type Shares<'py> = (Column<'py, f64>, Column<'py, f64>);

/// Flatten rows of shares into two columns, row after row.
fn columns<'py>(py: Python<'py>, out: &[Vec<Share>]) -> Shares<'py> {
    let rate: Vec<f64> = out.iter().flatten().map(|s| s.rate).collect();
    let error: Vec<f64> = out.iter().flatten().map(|s| s.standard_error).collect();
    (rate.to_pyarray(py), error.to_pyarray(py))
}

/// Shares of passing subsets around a law, for every row and every n; `distances` holds a band for
/// each of them, row after row.
#[pyfunction]
pub(super) fn subset_shares_law<'py>(
    py: Python<'py>,
    x: PyRows<'py>,
    cdf: PyReadonlyArray1<'py, f64>,
    cdf_left: PyReadonlyArray1<'py, f64>,
    n_invalid: PyCounts<'py>,
    n: PyReadonlyArray1<'py, i64>,
    distances: PyReadonlyArray1<'py, f64>,
    workers: Option<usize>,
) -> Reply<Shares<'py>> {
    let (rows, n_invalid, n) = (x.view()?, n_invalid.view()?, n.as_slice()?);
    let cdf = rows.beside("cdf", cdf.as_slice()?)?;
    let cdf_left = rows.beside("cdf_left", cdf_left.as_slice()?)?;
    let distances = distances.as_slice()?;
    same_length("distances", distances.len(), rows.len() * n.len())?;
    let mut out = vec![Vec::new(); rows.len()];
    detached(py, |interrupt| {
        map_rows(&mut out, workers, interrupt, Buffers::<f64>::default, |i, b| {
            let x = rows.row(i);
            sort_order(x, &mut b.order);
            b.clear();
            for (seen, &at) in (1..).zip(&b.order) {
                let at = at as usize;
                if seen > 1 && x[b.order[seen - 2] as usize] == x[at] {
                    b.ends.pop();
                } else {
                    b.before.push(cdf_left.row(i)[at]);
                    b.after.push(cdf.row(i)[at]);
                }
                b.ends.push(seen);
            }
            let n_invalid = count("n_invalid", n_invalid(i))?;
            let pool = Pool { ends: &b.ends, before: &b.before, after: &b.after, n_invalid };
            n.iter()
                .zip(&distances[i * n.len()..])
                .map(|(&n, &distance)| {
                    let band = AroundLaw { distance };
                    Ok(pass_share(&pool, count("n", n)?, &band, 0.0, &mut b.scratch))
                })
                .collect::<Result<Vec<Share>>>()
        })
    })?;
    Ok(columns(py, &out))
}

/// Shares of passing subsets around a truth sample; `heights` holds an integer band for every row
/// and every n, row after row.
#[pyfunction]
pub(super) fn subset_shares_truth<'py>(
    py: Python<'py>,
    x: PyRows<'py>,
    y: PyTruths<'py>,
    n_invalid: PyCounts<'py>,
    n: PyReadonlyArray1<'py, i64>,
    heights: PyReadonlyArray1<'py, i64>,
    workers: Option<usize>,
) -> Reply<Shares<'py>> {
    let (rows, truths) = (x.view()?, y.view()?);
    let (n_invalid, n, heights) = (n_invalid.view()?, n.as_slice()?, heights.as_slice()?);
    same_length("heights", heights.len(), rows.len() * n.len())?;
    let mut out = vec![Vec::new(); rows.len()];
    detached(py, |interrupt| {
        map_rows(&mut out, workers, interrupt, Buffers::<u64>::default, |i, b| {
            let Some(truth) = truths.of(i)? else {
                return Ok(vec![Share::default(); n.len()]);
            };
            let mut sorted = Vec::new();
            sort_into(rows.row(i), &mut sorted);
            b.clear();
            for (at, &value) in sorted.iter().enumerate() {
                let rank = truth.ranks(value);
                if at > 0 && sorted[at - 1] == sorted[at] {
                    b.ends.pop();
                } else {
                    b.before.push(u64::from(rank.lower));
                    b.after.push(u64::from(rank.upper));
                }
                b.ends.push(at + 1);
            }
            let n_invalid = count("n_invalid", n_invalid(i))?;
            let pool = Pool { ends: &b.ends, before: &b.before, after: &b.after, n_invalid };
            n.iter()
                .zip(&heights[i * n.len()..])
                .map(|(&n, &height)| {
                    let height = count("heights", height)? as u64;
                    let band = AroundTruth { size: truth.len() as u64, height };
                    Ok(pass_share(&pool, count("n", n)?, &band, 0, &mut b.scratch))
                })
                .collect::<Result<Vec<Share>>>()
        })
    })?;
    Ok(columns(py, &out))
}
