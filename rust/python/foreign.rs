//! Machine code that the user compiled: the one place that calls through an address.
//!
//! # Proof
//!
//! `stats/_compiled.py` alone makes a [`Function`]. It checks that the object is a numba `CFunc`,
//! that its signature is one of the two below, and hands over that object with its address.
//!
//! * The address is that of code with this signature: numba names both, and has checked the code
//!   against its types. `intp` is `isize`, `float64` is `f64`, a `CPointer` is a pointer, and a
//!   `cfunc` has the C calling convention.
//! * The code outlives every call: [`Function`] holds the `CFunc`, which holds the code.
//! * It may be called from any thread without the interpreter: numba compiles no `cfunc` that uses
//!   Python objects, and takes the GIL itself to print an exception. Nothing unwinds through it.
//! * Pointers and lengths are those of slices that live through the call.
//!
//! What no compiler checks is left to the user, as for any native code, and documented at
//! `stats.from_cfunc`: that the function reads `x[0..n]` and `y[0..m]` only, and writes to neither.
#![allow(unsafe_code)]

use pyo3::prelude::*;

use unpredictabench::error::{Error, Result};

use crate::Reply;

type OfOne = unsafe extern "C" fn(*const f64, isize) -> f64;
type OfTwo = unsafe extern "C" fn(*const f64, isize, *const f64, isize) -> f64;

/// A compiled function and the object that keeps its code alive.
#[pyclass(frozen, module = "unpredictabench._native")]
pub(super) struct Function {
    address: usize,
    n_samples: usize,
    _owner: Py<PyAny>,
}

#[pymethods]
impl Function {
    /// Take over code at `address` (proof above) of one or two samples, that `owner` keeps alive.
    #[new]
    fn new(owner: Py<PyAny>, address: usize, n_samples: usize) -> Reply<Self> {
        if address == 0 || !(1..=2).contains(&n_samples) {
            return Err(Error::argument("address", "be that of a compiled function", address))?;
        }
        Ok(Self { address, n_samples, _owner: owner })
    }
}

impl Function {
    /// The function as one of a single sample.
    pub(super) fn of_one(&self) -> Result<impl Fn(&[f64]) -> f64 + Sync + Send + '_> {
        self.expect(1)?;
        let code = std::ptr::with_exposed_provenance::<()>(self.address);
        // SAFETY: proof above; the signature is that of `n_samples` = 1.
        let call = unsafe { std::mem::transmute::<*const (), OfOne>(code) };
        // SAFETY: proof above.
        Ok(move |x: &[f64]| unsafe { call(x.as_ptr(), x.len().cast_signed()) })
    }

    /// The function as one of two samples.
    pub(super) fn of_two(&self) -> Result<impl Fn(&[f64], &[f64]) -> f64 + Sync + Send + '_> {
        self.expect(2)?;
        let code = std::ptr::with_exposed_provenance::<()>(self.address);
        // SAFETY: proof above; the signature is that of `n_samples` = 2.
        let call = unsafe { std::mem::transmute::<*const (), OfTwo>(code) };
        Ok(move |x: &[f64], y: &[f64]| {
            let (n, m) = (x.len().cast_signed(), y.len().cast_signed());
            // SAFETY: proof above.
            unsafe { call(x.as_ptr(), n, y.as_ptr(), m) }
        })
    }

    fn expect(&self, n_samples: usize) -> Result<()> {
        if self.n_samples == n_samples {
            return Ok(());
        }
        let rule = format!("be a function of {n_samples} samples");
        Err(Error::argument("function", &rule, self.n_samples))
    }
}
