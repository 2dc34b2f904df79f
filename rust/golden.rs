//! Right values from elsewhere, read by the tests of the kernels.

#![allow(clippy::unwrap_used)] // tests panic on purpose

use serde_json::Value;

/// The golden vectors: exact rationals or forty digits, written as decimal text.
pub(crate) fn vectors(kind: &str) -> Vec<Value> {
    let all: Value = serde_json::from_str(include_str!("../tests/golden/vectors.json")).unwrap();
    all[kind].as_array().unwrap().clone()
}

/// A list of numbers, sorted.
pub(crate) fn sorted(value: &Value) -> Vec<f64> {
    let mut out: Vec<f64> = value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
    out.sort_unstable_by(f64::total_cmp);
    out
}

/// A number written as text.
pub(crate) fn number(value: &Value) -> f64 {
    value.as_str().unwrap().parse().unwrap()
}

/// Assert that two numbers agree within a relative tolerance.
pub(crate) fn assert_close(got: f64, want: f64, tolerance: f64, what: &str) {
    let error = ((got - want) / want).abs();
    assert!(got == want || error <= tolerance, "{what}: {got:e}, not {want:e} ({error:.1e} off)");
}
