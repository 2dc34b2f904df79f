"""Call a function on several runs at once, each in a process of its own that asks no model."""

from __future__ import annotations

import os
import pickle
import queue
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TYPE_CHECKING, Any, TypeVar

from unpredictabench.clients.child import allowed_cores
from unpredictabench.errors import InputError, UnpredictabenchError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

Found = TypeVar("Found")
Given = TypeVar("Given")

THREADS = "RAYON_NUM_THREADS"
"""The environment variable that says how many threads a batch may use."""


def each(
    function: Callable[..., Found],
    given: Sequence[Given],
    how: Mapping[str, Any],
    *,
    workers: int | None = None,
    tell: Callable[[str], None] | None = None,
) -> list[Found]:
    """Call ``function(one, **how)`` for each of `given`, on all cores.

    Parameters
    ----------
    function : callable
        A function of a module, such as `unpredictabench.score.scoring.score`. Where all happens in
        this process it gets `tell` as a further keyword.
    given : sequence
        What it is called on; it, `how` and the results are pickled.
    how : mapping
        Keywords, the same for all.
    workers : int, optional
        Processes, at least 1; all allowed cores by default. With 1, or one call, everything
        happens in this process.
    tell : callable, optional
        Told in a few words what has been done; called in this process.

    Returns
    -------
    list
        In the order of `given`. It does not depend on `workers`.

    Raises
    ------
    InputError
        If `workers` is not a whole number of at least 1.
    UnpredictabenchError
        As the function raises it, or when a process ends before its answer.

    Notes
    -----
    The processes are fresh interpreters, so a script needs no ``if __name__ == "__main__"``.
    """
    n_processes = min(usable_workers(workers), len(given))
    if n_processes <= 1:
        telling = {} if tell is None else {"tell": tell}
        return [function(one, **how, **telling) for one in given]
    if tell is not None:
        tell(f"scoring {len(given)} runs, {n_processes} at a time")
    idle: queue.SimpleQueue[_Process] = queue.SimpleQueue()
    started = [_Process(n_processes) for _ in range(n_processes)]
    for process in started:
        idle.put(process)
    threads = ThreadPoolExecutor(n_processes)
    try:
        tasks = [threads.submit(_asked, idle, (function, one, how)) for one in given]
        for n_done, task in enumerate(as_completed(tasks), 1):
            task.result()  # the first error ends it all
            if tell is not None:
                tell(f"{n_done} of {len(given)} runs scored")
        return [task.result() for task in tasks]
    finally:
        threads.shutdown(wait=False, cancel_futures=True)
        for process in started:
            process.close()


def usable_workers(workers: int | None) -> int:
    """Return how many processes to use: as many as asked for, else all allowed cores.

    Parameters
    ----------
    workers : int or None
        At least 1. None takes the cores this process may use, and no more than
        ``RAYON_NUM_THREADS`` where that is set.
    """
    if workers is None:
        limit, n_cores = os.environ.get(THREADS, ""), allowed_cores()
        return min(n_cores, int(limit)) if limit.isdigit() and int(limit) else n_cores
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise InputError("workers", "be a whole number of at least 1", workers)
    return workers


class _Process:
    """A process that answers calls one after the other."""

    def __init__(self, n_processes: int) -> None:
        threads = str(max(1, allowed_cores() // n_processes))
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "unpredictabench.score.working"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is the parent's to handle, from the first moment
            env={**os.environ, THREADS: threads, "PYTHONPATH": os.pathsep.join(sys.path)},
        )

    def ask(self, call: object) -> Any:
        """Have a call made; return what it gives, or raise what it raised."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            pickle.dump(call, self._process.stdin)
            self._process.stdin.flush()
            is_done, found = pickle.load(self._process.stdout)  # noqa: S301 - our own process
        except (OSError, EOFError) as error:
            raise UnpredictabenchError(
                "a process that scored a run ended early: free memory, or use one worker"
            ) from error
        if not is_done:
            raise found
        return found

    def close(self) -> None:
        """End the process, whatever it does, and wait for it."""
        self._process.kill()
        self._process.communicate()


def _asked(idle: queue.SimpleQueue[_Process], call: object) -> Any:
    process = idle.get()
    try:
        return process.ask(call)
    finally:
        idle.put(process)
