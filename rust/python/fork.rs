//! Forks of the process, at which no lock of the crate may be held by another thread.
//!
//! A child has the forking thread only. A lock that another thread held at that moment would stay
//! shut in the child for ever, so that all of them are taken just before a fork and given back just
//! after it, in the parent and in the child. The pool of threads is another matter: a child notices
//! that it is another process and makes its own.

use std::any::Any;
use std::cell::RefCell;

use pyo3::prelude::*;
use pyo3::types::PyDict;

use unpredictabench::extended::Factorials;
use unpredictabench::{batch, memory, truth};

thread_local! {
    static HELD: RefCell<Vec<Box<dyn Any>>> = const { RefCell::new(Vec::new()) };
}

/// Take every lock, waiting for threads at work: none needs the interpreter while it holds one.
#[pyfunction]
fn before_fork() {
    HELD.with_borrow_mut(|held| {
        held.push(Box::new(batch::hold()));
        held.push(Box::new(truth::hold()));
        held.push(Box::new(memory::hold()));
        held.push(Box::new(Factorials::hold()));
    });
}

/// Give every lock back.
#[pyfunction]
fn after_fork() {
    HELD.with_borrow_mut(Vec::clear);
}

/// Have the interpreter call the two around every fork, where the platform has any.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let os = py.import("os")?;
    if !os.hasattr("register_at_fork")? {
        return Ok(());
    }
    let after = wrap_pyfunction!(after_fork, module)?;
    let hooks = PyDict::new(py);
    hooks.set_item("before", wrap_pyfunction!(before_fork, module)?)?;
    hooks.set_item("after_in_parent", &after)?;
    hooks.set_item("after_in_child", &after)?;
    os.call_method("register_at_fork", (), Some(&hooks))?;
    Ok(())
}
