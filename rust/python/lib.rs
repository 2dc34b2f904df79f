//! The bindings: convert, detach from the interpreter, call the kernel, map the error.

// PyO3 hands arguments over by value.
#![allow(clippy::needless_pass_by_value)]
// A binding has the arguments of the Python function that it serves.
#![allow(clippy::too_many_arguments)]

use numpy::{AsSliceError, BorrowError, PyArray1, PyReadonlyArray1, ToPyArray};
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use unpredictabench::batch::Ragged;
use unpredictabench::error::{Error, Result};
use unpredictabench::truth::{Truth, Truths};

mod distances;
mod edf;
mod foreign;
mod ks;
mod nominal;
mod onesample;
mod own_statistic;
mod subsets;

/// What a binding returns.
pub(crate) type Reply<T> = std::result::Result<T, Refusal>;

/// An exception of Python, also made of a kernel's error.
#[derive(Debug)]
pub(crate) struct Refusal(PyErr);

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self(match error {
            Error::Argument { .. } => PyValueError::new_err(error.to_string()),
            Error::Interrupted => PyKeyboardInterrupt::new_err(()),
            Error::Threads(_) => PyRuntimeError::new_err(error.to_string()),
        })
    }
}

impl From<PyErr> for Refusal {
    fn from(error: PyErr) -> Self {
        Self(error)
    }
}

impl From<AsSliceError> for Refusal {
    fn from(error: AsSliceError) -> Self {
        Self(error.into())
    }
}

impl From<BorrowError> for Refusal {
    fn from(error: BorrowError) -> Self {
        Self(error.into())
    }
}

impl From<Refusal> for PyErr {
    fn from(refusal: Refusal) -> Self {
        refusal.0
    }
}

/// Run a kernel detached from the interpreter. It is given a way to ask whether a signal's handler
/// wants to end the call (Ctrl-C); what the handler raised is what the call raises.
pub(crate) fn detached<T: Send>(
    py: Python<'_>,
    kernel: impl FnOnce(&mut dyn FnMut() -> bool) -> Result<T> + Send,
) -> Reply<T> {
    let mut raised = None;
    let result = py.detach(|| {
        #[allow(clippy::redundant_closure_for_method_calls)] // the method fits one lifetime only
        kernel(&mut || match Python::attach(|py| py.check_signals()) {
            Ok(()) => raised.is_some(),
            Err(error) => {
                raised.get_or_insert(error);
                true
            }
        })
    });
    match raised {
        Some(error) => Err(error.into()),
        None => Ok(result?),
    }
}

/// A truth prepared once and shared by calls and threads.
#[pyclass(frozen, name = "Truth", module = "unpredictabench._native")]
pub(crate) struct PyTruth {
    pub(crate) inner: Truth,
}

#[pymethods]
impl PyTruth {
    #[new]
    fn new(py: Python<'_>, draws: PyReadonlyArray1<'_, f64>) -> Reply<Self> {
        let draws = draws.as_slice()?;
        let prepared = || {
            let truth = Truth::new(draws)?;
            let _ = truth.levels();
            Ok(truth)
        };
        detached(py, |_| prepared()).map(|inner| Self { inner })
    }

    fn __len__(&self) -> usize {
        self.inner.len()
    }

    #[getter]
    fn sorted<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.inner.sorted().to_pyarray(py)
    }

    #[getter]
    fn is_finite(&self) -> bool {
        self.inner.is_finite()
    }
}

/// Rows of any length: the tuple `(values, offsets)` of the array door.
#[derive(FromPyObject)]
pub(crate) struct PyRows<'py>(PyReadonlyArray1<'py, f64>, PyReadonlyArray1<'py, i64>);

impl PyRows<'_> {
    pub(crate) fn view(&self) -> Reply<Ragged<'_>> {
        Ok(Ragged::new(self.0.as_slice()?, self.1.as_slice()?)?)
    }
}

/// The second argument of two-sample functions: one truth for all rows, or one a row.
#[derive(FromPyObject)]
pub(crate) enum PyTruths<'py> {
    Shared(PyRef<'py, PyTruth>),
    Rows(PyRows<'py>),
}

impl PyTruths<'_> {
    pub(crate) fn view(&self) -> Reply<Truths<'_>> {
        Ok(match self {
            Self::Shared(truth) => Truths::Shared(&truth.inner),
            Self::Rows(rows) => Truths::Rows(rows.view()?),
        })
    }
}

/// One integer for all rows, or one a row.
#[derive(FromPyObject)]
pub(crate) enum PyCounts<'py> {
    Shared(i64),
    Rows(PyReadonlyArray1<'py, i64>),
}

impl PyCounts<'_> {
    pub(crate) fn view(&self) -> Reply<impl Fn(usize) -> i64 + Sync + Send + '_> {
        let (one, each) = match self {
            Self::Shared(one) => (*one, None),
            Self::Rows(each) => (0, Some(each.as_slice()?)),
        };
        Ok(move |i: usize| each.map_or(one, |each| each[i]))
    }
}

/// Position of the first NaN, or of the first value that is not finite, if there is one.
#[pyfunction]
fn first_invalid(values: PyReadonlyArray1<'_, f64>, allow_infinite: bool) -> Reply<Option<usize>> {
    let values = values.as_slice()?;
    Ok(if allow_infinite {
        values.iter().position(|v| v.is_nan())
    } else {
        values.iter().position(|v| !v.is_finite())
    })
}

/// The compiled kernels; only `unpredictabench.stats` imports them.
#[pymodule(gil_used = true)]
mod _native {
    #[pymodule_export]
    use super::PyTruth;
    #[pymodule_export]
    use super::distances::{
        distance, distance_bootstrap, energy_weighted, null_moments, permutation,
        wasserstein_weighted,
    };
    #[pymodule_export]
    use super::edf::{edf_2samp, edf_statistics, edf_tails};
    #[pymodule_export]
    use super::first_invalid;
    #[pymodule_export]
    use super::foreign::Function;
    #[pymodule_export]
    use super::ks::{ks_2samp, ks_2samp_one, ks_2samp_untied, ks_bootstrap, ks_critical_h};
    #[pymodule_export]
    use super::nominal::{
        pair_largest_passing, pair_tails, tv_count_draws, tv_largest_draws, tv_largest_passing,
        tv_pool_shares, tv_tails,
    };
    #[pymodule_export]
    use super::onesample::{
        ks_1samp_continuous, ks_1samp_critical, ks_1samp_statistic, ks_1samp_stepped,
        ks_2samp_critical,
    };
    #[pymodule_export]
    use super::own_statistic::{own_1samp, own_2samp, own_bootstrap, own_resamples};
    #[pymodule_export]
    use super::subsets::{subset_shares_law, subset_shares_truth};
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("is_debug_build", cfg!(debug_assertions))?;
        // The stub names what there is; a second list would only fall behind.
        module.delattr("__all__")
    }
}
