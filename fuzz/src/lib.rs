//! Bytes to nasty samples, and the definitions of the statistics written out: slow, obvious, and
//! sharing no code with the kernels they are compared with.

pub mod definitions;
pub mod input;

/// Assert that a number is another one to a relative or an absolute tolerance.
pub fn assert_close(what: &str, got: f64, want: f64, (relative, absolute): (f64, f64)) {
    let tolerance = (relative * want.abs()).max(absolute);
    // A rounding beyond the largest double is infinite.
    let is_edge = got.abs() == f64::INFINITY && want.abs() > f64::MAX * (1.0 - 1e-12);
    let is_close = got == want || (got - want).abs() <= tolerance || is_edge;
    assert!(is_close, "{what} is {got:e}, by its definition {want:e}");
}
