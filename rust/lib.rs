//! Exact, batched statistics for judging whether samples follow a law.
//!
//! Each kernel is a pure function on slices and knows nothing of Python; the bindings live in
//! `python` behind the feature of that name.
