//! The bindings: convert, detach from the interpreter, call the kernel, map the error.

// PyO3 hands arguments over by value.
#![allow(clippy::needless_pass_by_value)]

use numpy::PyReadonlyArray1;
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::error::{Error, Result};
use crate::truth::Truth;

impl From<Error> for PyErr {
    fn from(error: Error) -> Self {
        match error {
            Error::Argument { .. } => PyValueError::new_err(error.to_string()),
            Error::Interrupted => PyKeyboardInterrupt::new_err(()),
            Error::Threads(_) => PyRuntimeError::new_err(error.to_string()),
        }
    }
}

#[allow(dead_code)]
/// Ask the interpreter, from a thread that is detached from it, whether Ctrl-C was pressed.
///
/// The signal's own exception is dropped: [`Error::Interrupted`] becomes the same one.
pub(crate) fn interrupted() -> bool {
    Python::attach(|py| py.check_signals().is_err())
}

/// Run a kernel detached from the interpreter.
pub(crate) fn detached<T: Send>(
    py: Python<'_>,
    kernel: impl FnOnce() -> Result<T> + Send,
) -> PyResult<T> {
    py.detach(kernel).map_err(PyErr::from)
}

/// A truth prepared once and shared by calls and threads.
#[pyclass(frozen, name = "Truth", module = "unpredictabench._native")]
pub(crate) struct PyTruth {
    pub(crate) inner: Truth,
}

#[pymethods]
impl PyTruth {
    #[new]
    fn new(py: Python<'_>, draws: PyReadonlyArray1<'_, f64>) -> PyResult<Self> {
        let draws = draws.as_slice()?;
        detached(py, || Truth::new(draws)).map(|inner| Self { inner })
    }

    fn __len__(&self) -> usize {
        self.inner.len()
    }
}

/// Position of the first NaN, if there is one.
#[pyfunction]
fn first_nan(values: PyReadonlyArray1<'_, f64>) -> PyResult<Option<usize>> {
    Ok(values.as_slice()?.iter().position(|v| v.is_nan()))
}

/// The compiled kernels; only `unpredictabench.stats` imports them.
#[pymodule(gil_used = true)]
mod _native {
    #[pymodule_export]
    use super::PyTruth;
    #[pymodule_export]
    use super::first_nan;
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("is_debug_build", cfg!(debug_assertions))
    }
}
