//! Ragged batches and the only parallelism there is: over rows.
//!
//! A row's result depends on the row alone, so the number of threads and the order of rows change
//! nothing. The pool belongs to one process: a forked child makes its own, because the threads of
//! its parent did not come along.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::{Error, Result};

/// How long the rows between two looks at `interrupt` should take.
const CHUNK_TARGET: Duration = Duration::from_millis(100);
/// Rows handed to a thread at a time, at the least: below that the hand-over costs more than it
/// gains for kernels of a microsecond.
const MIN_ROWS_A_TASK: usize = 16;

/// Rows of any length in one buffer (Arrow's list layout).
#[derive(Debug, Clone, Copy)]
pub struct Ragged<'a> {
    values: &'a [f64],
    offsets: &'a [i64],
}

impl<'a> Ragged<'a> {
    /// View `values` cut at `offsets` (one more than there are rows, not decreasing).
    ///
    /// # Errors
    /// When an offset is out of order or outside of `values`.
    pub fn new(values: &'a [f64], offsets: &'a [i64]) -> Result<Self> {
        let fits = offsets.first().is_some_and(|&o| o >= 0)
            && offsets.windows(2).all(|w| w[0] <= w[1])
            && offsets.last().is_some_and(|&o| usize::try_from(o).is_ok_and(|o| o <= values.len()));
        if fits {
            Ok(Self { values, offsets })
        } else {
            Err(Error::argument("offsets", "not decrease and end within values", "other offsets"))
        }
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// View other values cut at the same offsets.
    ///
    /// # Errors
    /// When `values` has not the length of the values here.
    pub fn beside<'b>(&self, name: &str, values: &'b [f64]) -> Result<Ragged<'b>>
    where
        'a: 'b,
    {
        if values.len() != self.values.len() {
            let rule = format!("have {} entries", self.values.len());
            return Err(Error::argument(name, &rule, values.len()));
        }
        Ok(Ragged { values, offsets: self.offsets })
    }

    /// The observations of a row.
    #[must_use]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // checked in `new`
    pub fn row(&self, i: usize) -> &'a [f64] {
        &self.values[self.offsets[i] as usize..self.offsets[i + 1] as usize]
    }
}

/// Number of threads to use: what is asked for, else `RAYON_NUM_THREADS`, else the cores that this
/// process may use (affinity and cgroup quota).
#[must_use]
pub fn resolve_workers(workers: Option<usize>) -> usize {
    let from_environment =
        || std::env::var("RAYON_NUM_THREADS").ok()?.parse().ok().filter(|&n: &usize| n > 0);
    let allowed = || std::thread::available_parallelism().map_or(1, usize::from);
    workers.filter(|&n| n > 0).or_else(from_environment).unwrap_or_else(allowed)
}

/// The pool of this process and its size; made anew after a fork or when another size is asked for.
static POOL: Mutex<Option<(u32, usize, Arc<ThreadPool>)>> = Mutex::new(None);

fn pool(n_threads: usize) -> Result<Arc<ThreadPool>> {
    let mut slot = POOL.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let process = std::process::id();
    if let Some((owner, size, pool)) = slot.take() {
        if owner == process && size == n_threads {
            *slot = Some((owner, size, Arc::clone(&pool)));
            return Ok(pool);
        }
        if owner != process {
            // Its threads live in the parent only: waiting for them would never end.
            std::mem::forget(pool);
        }
    }
    let made = ThreadPoolBuilder::new()
        .num_threads(n_threads)
        .thread_name(|i| format!("unpredictabench-{i}"))
        .build()
        .map_err(|e| Error::Threads(e.to_string()))?;
    let made = Arc::new(made);
    *slot = Some((process, n_threads, Arc::clone(&made)));
    Ok(made)
}

/// Compute one result a row, in order, on `workers` threads.
///
/// `scratch` makes the buffers of one task, which its rows share. `interrupt` is asked about every
/// tenth of a second on the calling thread; when it answers true the call ends with
/// [`Error::Interrupted`].
///
/// # Errors
/// The first error in row order, or [`Error::Interrupted`].
pub fn map_rows<T, S>(
    out: &mut [T],
    workers: Option<usize>,
    interrupt: &mut dyn FnMut() -> bool,
    scratch: impl Fn() -> S + Sync + Send,
    row: impl Fn(usize, &mut S) -> Result<T> + Sync + Send,
) -> Result<()>
where
    T: Send,
    S: Send,
{
    let n_threads = resolve_workers(workers).min(out.len().div_ceil(MIN_ROWS_A_TASK)).max(1);
    let shared = if n_threads > 1 { Some(pool(resolve_workers(workers))?) } else { None };
    let run = |first: usize, part: &mut [T]| -> Result<()> {
        let mut buffers = scratch();
        for (i, slot) in part.iter_mut().enumerate() {
            *slot = row(first + i, &mut buffers)?;
        }
        Ok(())
    };
    let (mut done, mut chunk) = (0, MIN_ROWS_A_TASK * n_threads);
    while done < out.len() {
        let end = out.len().min(done + chunk);
        let started = Instant::now();
        let part = &mut out[done..end];
        if let Some(pool) = &shared {
            let per_task = part.len().div_ceil(n_threads * 8).max(MIN_ROWS_A_TASK);
            let tasks = || -> Vec<Result<()>> {
                part.par_chunks_mut(per_task)
                    .enumerate()
                    .map(|(k, rows)| run(done + k * per_task, rows))
                    .collect()
            };
            pool.install(tasks).into_iter().collect::<Result<()>>()?;
        } else {
            run(done, part)?;
        }
        if interrupt() {
            return Err(Error::Interrupted);
        }
        chunk = next_chunk(end - done, started.elapsed());
        done = end;
    }
    Ok(())
}

/// The number of rows that should take [`CHUNK_TARGET`], at most 8 times the last one.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // clamped to a small range
fn next_chunk(rows: usize, took: Duration) -> usize {
    let wanted = CHUNK_TARGET.as_secs_f64() / took.as_secs_f64().max(1e-9) * rows as f64;
    (wanted.min(rows as f64 * 8.0) as usize).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_do_not_depend_on_threads() {
        let square = |workers| {
            let mut out = vec![0usize; 10_001];
            map_rows(&mut out, Some(workers), &mut || false, || (), |i, ()| Ok(i * i)).map(|()| out)
        };
        assert_eq!(square(1), square(2));
        assert_eq!(square(1), square(7));
    }

    #[test]
    fn an_interrupt_ends_the_call() {
        let mut out = vec![0usize; 10_000];
        let result = map_rows(&mut out, Some(1), &mut || true, || (), |i, ()| Ok(i));
        assert_eq!(result, Err(Error::Interrupted));
    }

    #[test]
    fn bad_offsets_are_refused() {
        assert!(Ragged::new(&[1.0, 2.0], &[0, 2, 1]).is_err());
        assert!(Ragged::new(&[1.0, 2.0], &[0, 3]).is_err());
        assert!(Ragged::new(&[1.0, 2.0], &[]).is_err());
        assert!(Ragged::new(&[1.0, 2.0], &[1, 1, 2]).is_ok());
    }
}
