"""Run a suite against a model: from arguments to a stored run, once or again until complete."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from unpredictabench.errors import InputError, StoreError
from unpredictabench.extract.ledger import readings
from unpredictabench.generate import alarms
from unpredictabench.generate.budget import Budget, Meter
from unpredictabench.generate.planning import Design, work
from unpredictabench.generate.session import Session
from unpredictabench.generate.stopping import NEVER
from unpredictabench.store import keep_readings, open_run, open_writer
from unpredictabench.tasks.kept import keep_suite

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Collection, Coroutine, Iterable, Iterator, Mapping

    from unpredictabench.clients import Client
    from unpredictabench.generate.planning import Sampling, Work
    from unpredictabench.generate.session import Progress
    from unpredictabench.generate.stopping import StopRule
    from unpredictabench.records import Completion, Task
    from unpredictabench.store import Run, Writer
    from unpredictabench.store.writing import Synchronous
    from unpredictabench.tasks import Suite

T = TypeVar("T")
CONCURRENCY = 64
"""Requests under way when nobody says how many."""
_ENDING = (signal.SIGINT, signal.SIGTERM)


def generate(
    suite: Suite,
    client: Client,
    out: str | os.PathLike[str],
    *,
    n_samples: int = 100,
    sampling: Sampling = "independent",
    batch_size: int = 20,
    prompt_style: str = "direct",
    concurrency: int = CONCURRENCY,
    budget: Budget | None = None,
    stop: StopRule = NEVER,
    limit_tasks: int | None = None,
    categories: Collection[str] = (),
    force: bool = False,
    synchronous: Synchronous = "normal",
    progress: Callable[[Progress], None] | None = None,
) -> Run:
    """Ask a model every question of a suite and store the answers.

    Parameters
    ----------
    suite : Suite
        The tasks.
    client : Client
        The model; closed at the end, because its connections live in the loop made here.
    out : path
        The run folder. One that holds a run with the same settings is resumed: only slots
        without an answer are asked.
    n_samples, sampling, batch_size, prompt_style, limit_tasks, categories, force
        What is asked: see `Design`.
    concurrency : int
        Most requests under way, at least 1.
    budget : Budget, optional
        Most money, tokens and requests of the run.
    stop : StopRule
        Asked after each answer whether its task has been asked enough; the default never stops.
    synchronous : {"normal", "full"}
        Whether stored answers survive the death of the process, or also a power cut.
    progress : callable, optional
        Called after each slot with a `Progress`.

    Returns
    -------
    Run
        The stored run; ``run.stop_reason`` is "complete" when all that was asked for was done.

    Raises
    ------
    InputError
        An argument breaks its rule.
    StoreError
        The folder cannot be written, or holds a run with other settings.
    FatalClientError
        The model cannot be asked at all; answers stored before stay.
    KeyboardInterrupt
        After Ctrl-C or SIGTERM; the run can be resumed.

    Notes
    -----
    Where an event loop runs already, as in a notebook, await `generate_async`.
    """
    design = Design(
        n_samples, sampling, batch_size, prompt_style, limit_tasks, tuple(categories), force
    )

    return in_own_loop(
        lambda: closing(
            client,
            generate_async(
                suite,
                client,
                out,
                design,
                concurrency=concurrency,
                budget=budget,
                stop=stop,
                synchronous=synchronous,
                progress=progress,
            ),
        )
    )


async def generate_async(
    suite: Suite,
    client: Client,
    out: str | os.PathLike[str],
    design: Design = Design(),  # noqa: B008 - immutable
    *,
    concurrency: int = CONCURRENCY,
    budget: Budget | None = None,
    stop: StopRule = NEVER,
    synchronous: Synchronous = "normal",
    progress: Callable[[Progress], None] | None = None,
) -> Run:
    """Ask a model inside a running event loop, which is never held for long; see `generate`.

    Parameters
    ----------
    suite, client, out
        As for `generate`; the client stays open.
    design : Design
        What is asked.
    concurrency, budget, stop, synchronous, progress
        As for `generate`.

    Returns
    -------
    Run
        The stored run. A cancelled call leaves one that can be resumed.
    """
    if concurrency < 1:
        raise InputError("concurrency", "be at least 1", concurrency)
    to_do = work(suite, client, design, stop=stop)
    writer = await _opened(out, to_do, synchronous)
    try:
        await asyncio.to_thread(keep_suite, suite, out)
        await _ask(
            to_do,
            client,
            writer,
            tasks={task.id: task for task in suite},
            concurrency=concurrency,
            budget=budget or Budget(),
            stop=stop,
            progress=progress,
        )
    finally:
        await asyncio.to_thread(writer.close)
    return await asyncio.to_thread(open_run, out)


def in_own_loop(start: Callable[[], Coroutine[object, object, T]]) -> T:
    """Run a coroutine to its end in a new event loop; Ctrl-C and SIGTERM interrupt it.

    Parameters
    ----------
    start : callable
        Makes the coroutine.

    Returns
    -------
    object
        What the coroutine returns.

    Raises
    ------
    KeyboardInterrupt
        After the coroutine was cancelled by Ctrl-C or SIGTERM and has cleaned up. A second signal
        does not wait for that.

    Notes
    -----
    A signal that the process ignores, as under nohup, stays ignored.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        pass
    else:
        raise InputError("generate", "be awaited as generate_async inside an event loop", "a call")
    ended: list[int] = []
    is_main = threading.current_thread() is threading.main_thread()  # only there are signals met
    heard = [number for number in _ENDING if is_main and signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.getsignal(number) for number in heard}
    try:
        return asyncio.run(_interruptible(start(), heard, ended))
    except asyncio.CancelledError:
        if not ended:
            raise
        raise KeyboardInterrupt from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


async def closing(client: Client, asking: Coroutine[object, object, T]) -> T:
    """Await a coroutine, then close the client in the loop its connections live in."""
    try:
        return await asking
    finally:
        await client.aclose()


async def _interruptible(
    asking: Coroutine[object, object, T], heard: Iterable[int], ended: list[int]
) -> T:
    """Await a coroutine; the first signal cancels it, a later one ends the clearing up too."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None

    def end(number: int) -> None:
        ended.append(number)
        if len(ended) == 1:
            task.cancel()
            return
        # A loop that closes waits for the threads of its executor: give it one without any.
        loop.set_default_executor(ThreadPoolExecutor(1))
        raise KeyboardInterrupt

    for number in heard:
        loop.add_signal_handler(number, end, number)
    return await asking


async def _opened(out: str | os.PathLike[str], to_do: Work, synchronous: Synchronous) -> Writer:
    """Open the run off the loop; a call cancelled meanwhile leaves no lock behind."""
    opening = asyncio.ensure_future(
        asyncio.to_thread(open_writer, out, to_do.settings, to_do.plan, synchronous=synchronous)
    )
    try:
        return await asyncio.shield(opening)
    except asyncio.CancelledError:
        (await opening).close()
        raise


async def _ask(
    to_do: Work,
    client: Client,
    writer: Writer,
    *,
    tasks: Mapping[str, Task],
    concurrency: int,
    budget: Budget,
    stop: StopRule,
    progress: Callable[[Progress], None] | None,
) -> None:
    """Ask what is open, and write to the log how it began and how it ended."""
    run = await asyncio.to_thread(open_run, writer.path)
    earlier = await asyncio.to_thread(lambda: list(run.completions()))
    meter = Meter(budget, max_tokens=_max_tokens(to_do))
    for completion in earlier:
        meter.count(run.plan[completion.task].messages, completion)
    session = Session(
        client,
        writer=writer,
        meter=meter,
        concurrency=concurrency,
        stop=stop,
        to_do=to_do,
        earlier=earlier,
        closed=run.stopped_tasks,
        progress=progress,
    )
    _log_start(writer, to_do, n_stored=len(earlier))
    try:
        await session.run()
        await _stoppable(lambda is_over: _read(writer, session, run, tasks=tasks, is_over=is_over))
    except BaseException as error:
        with contextlib.suppress(StoreError):
            await asyncio.to_thread(_log_failure, writer, session, run, error)
        raise


async def _stoppable(work_off: Callable[[threading.Event], None]) -> None:
    """Run something long in a thread; when the call is cancelled, tell it so and see it end."""
    is_over = threading.Event()
    working = asyncio.ensure_future(asyncio.to_thread(work_off, is_over))
    try:
        await asyncio.shield(working)
    except asyncio.CancelledError:
        is_over.set()
        with contextlib.suppress(_OverError):
            await working
        raise


class _OverError(Exception):
    """Nobody waits for what a thread does any more."""


def _while_wanted(items: Iterable[T], is_over: threading.Event) -> Iterator[T]:
    for item in items:
        if is_over.is_set():
            raise _OverError
        yield item


def _log_start(writer: Writer, to_do: Work, *, n_stored: int) -> None:
    data = {"n_tasks": len(to_do.tasks), "n_slots": to_do.n_slots, "n_stored": n_stored}
    writer.log("resumed" if writer.is_resumed else "started", data)


def _read(
    writer: Writer,
    session: Session,
    run: Run,
    *,
    tasks: Mapping[str, Task],
    is_over: threading.Event,
) -> None:
    """Read all answers once everything is asked, look for doubts, and write both down."""
    writer.flush()
    # Kept first: what a log calls complete has been read.
    values: dict[str, alarms.TimedValues] = {}
    found = _while_wanted(readings(run.completions(), tasks), is_over)
    keep_readings(run.path, alarms.noting(found, values))
    completions = list(_while_wanted(run.completions(), is_over))
    marks = alarms.marks(completions, values)
    writer.log("stopped", _ending(writer, session, session.reason) | _doubts(completions, marks))
    writer.flush()


def _log_failure(writer: Writer, session: Session, run: Run, error: BaseException) -> None:
    """Write why a session broke off; an interrupted one has no time to look for doubts."""
    writer.flush()
    if isinstance(error, asyncio.CancelledError | KeyboardInterrupt):
        writer.log("stopped", _ending(writer, session, "interrupted"))
    else:
        completions = list(run.completions())
        doubts = _doubts(completions, alarms.marks(completions))
        writer.log("stopped", _ending(writer, session, f"failed: {error}") | doubts)
    writer.flush()


def _ending(writer: Writer, session: Session, reason: str) -> dict[str, object]:
    return {
        "reason": reason,
        "n_new": session.n_new,
        "n_duplicates": writer.n_duplicates,
        "failures": dict(session.failures),
        "usage": dataclasses.asdict(session.usage),
    }


def _doubts(completions: Collection[Completion], marks: Mapping[str, str]) -> dict[str, object]:
    return {"marks": dict(marks), "served": alarms.served(completions)}


def _max_tokens(to_do: Work) -> int | None:
    parameters = to_do.settings.parameters
    value = parameters.get("max_tokens", parameters.get("max_completion_tokens"))
    return value if isinstance(value, int) else None
