//! Ragged batches and the only parallelism there is: over rows.
//!
//! A row's result depends on the row alone, so the number of threads and the order of rows change
//! nothing. The pool belongs to one process: a forked child makes its own, because the threads of
//! its parent did not come along.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::{Error, Result};

/// How often the calling thread looks at `interrupt`.
const PATIENCE: Duration = Duration::from_millis(100);
/// Tasks a thread gets, so that uneven rows do not leave the others idle.
const TASKS_A_THREAD: usize = 16;
/// Rows that share buffers, at the most.
const MOST_ROWS_A_TASK: usize = 4096;

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

/// Hold the pool's lock, so that a fork meanwhile leaves it open in the child.
pub fn hold() -> impl Sized + 'static {
    POOL.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

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
/// `scratch` makes the buffers of one task, which its rows share. `interrupt` is asked on the
/// calling thread, a few times a second while the workers work; when it answers true the call ends
/// after the rows at hand with [`Error::Interrupted`]. A single row is computed where it is asked
/// for.
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
    if let [only] = out {
        *only = row(0, &mut scratch())?;
        return Ok(());
    }
    let n_threads = resolve_workers(workers);
    let task = (out.len() / (n_threads * TASKS_A_THREAD)).clamp(1, MOST_ROWS_A_TASK);
    let stop = AtomicBool::new(false);
    let run = |(k, rows): (usize, &mut [T])| -> Result<()> {
        let mut buffers = scratch();
        for (i, slot) in rows.iter_mut().enumerate() {
            if stop.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            *slot = row(k * task + i, &mut buffers)?;
        }
        Ok(())
    };
    let mut work = || out.par_chunks_mut(task).enumerate().map(run).collect::<Vec<Result<()>>>();
    let (sender, receiver) = mpsc::channel();
    pool(n_threads)?.in_place_scope(|scope| {
        scope.spawn(move |_| {
            // The receiver waits for this message for as long as it lives.
            let _ = sender.send(work());
        });
        loop {
            match receiver.recv_timeout(PATIENCE) {
                Ok(done) => return done.into_iter().collect(),
                Err(RecvTimeoutError::Timeout) => {
                    if interrupt() {
                        stop.store(true, Ordering::Relaxed);
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return Err(Error::Interrupted),
            }
        }
    })
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
        let slow = |i, (): &mut ()| {
            std::thread::sleep(Duration::from_millis(1));
            Ok(i)
        };
        let result = map_rows(&mut out, Some(1), &mut || true, || (), slow);
        assert_eq!(result, Err(Error::Interrupted));
    }

    #[test]
    fn the_first_error_in_row_order_is_given() {
        let mut out = vec![0usize; 1000];
        let odd = |i: usize, (): &mut ()| match i {
            400.. => Err(Error::argument("x", "be small", i)),
            _ => Ok(i),
        };
        let result = map_rows(&mut out, Some(2), &mut || false, || (), odd);
        assert_eq!(result, Err(Error::argument("x", "be small", 400)));
    }

    #[test]
    fn bad_offsets_are_refused() {
        assert!(Ragged::new(&[1.0, 2.0], &[0, 2, 1]).is_err());
        assert!(Ragged::new(&[1.0, 2.0], &[0, 3]).is_err());
        assert!(Ragged::new(&[1.0, 2.0], &[]).is_err());
        assert!(Ragged::new(&[1.0, 2.0], &[1, 1, 2]).is_ok());
    }
}
