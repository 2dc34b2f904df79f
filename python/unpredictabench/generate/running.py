"""Run a suite against a model: from arguments to a stored run, once or again until complete."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import signal
import threading
from typing import TYPE_CHECKING, TypeVar

from unpredictabench.errors import InputError, StoreError
from unpredictabench.extract.ledger import readings
from unpredictabench.generate import alarms
from unpredictabench.generate.budget import Budget, Meter
from unpredictabench.generate.planning import Design, work
from unpredictabench.generate.session import Session
from unpredictabench.generate.stopping import NEVER
from unpredictabench.store import keep_readings, open_run, open_writer

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Collection, Coroutine, Mapping

    from unpredictabench.clients import Client
    from unpredictabench.generate.planning import Sampling, Work
    from unpredictabench.generate.session import Progress
    from unpredictabench.generate.stopping import StopRule
    from unpredictabench.records import Task
    from unpredictabench.store import Run, Writer
    from unpredictabench.store.writing import Synchronous
    from unpredictabench.tasks import Suite

T = TypeVar("T")
CONCURRENCY = 64
"""Requests under way when nobody says how many."""


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
    writer = await asyncio.to_thread(
        open_writer, out, to_do.settings, to_do.plan, synchronous=synchronous
    )
    try:
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
    """Run a coroutine to its end in a new event loop; SIGTERM interrupts it as Ctrl-C does.

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
        After the coroutine was cancelled by Ctrl-C or SIGTERM and has cleaned up.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        pass
    else:
        raise InputError("generate", "be awaited as generate_async inside an event loop", "a call")
    terminated: list[bool] = []
    before = signal.getsignal(signal.SIGTERM)
    try:
        return asyncio.run(_terminable(start(), terminated))
    except asyncio.CancelledError:
        if not terminated:
            raise
        raise KeyboardInterrupt from None
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)


async def closing(client: Client, asking: Coroutine[object, object, T]) -> T:
    """Await a coroutine, then close the client in the loop its connections live in."""
    try:
        return await asking
    finally:
        await client.aclose()


async def _terminable(asking: Coroutine[object, object, T], terminated: list[bool]) -> T:
    """Await a coroutine, and cancel it on SIGTERM: not through SIGINT, which nohup ignores."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()

    def end() -> None:
        terminated.append(True)
        if task is not None:
            task.cancel()

    if threading.current_thread() is threading.main_thread():  # only there may handlers be set
        loop.add_signal_handler(signal.SIGTERM, end)
    return await asking


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
        await asyncio.to_thread(_log_end, writer, session, run, reason=session.reason, tasks=tasks)
    except BaseException as error:
        with contextlib.suppress(StoreError):
            await asyncio.to_thread(_log_end, writer, session, run, reason=_why(error))
        raise


def _log_start(writer: Writer, to_do: Work, *, n_stored: int) -> None:
    data = {"n_tasks": len(to_do.tasks), "n_slots": to_do.n_slots, "n_stored": n_stored}
    writer.log("resumed" if writer.is_resumed else "started", data)


def _log_end(
    writer: Writer,
    session: Session,
    run: Run,
    *,
    reason: str,
    tasks: Mapping[str, Task] | None = None,
) -> None:
    """Write how the session ended; with the tasks given, also what their answers are read as."""
    writer.flush()
    completions = list(run.completions())
    found = list(readings(completions, tasks)) if tasks is not None else []
    data = {
        "reason": reason,
        "n_new": session.n_new,
        "n_duplicates": writer.n_duplicates,
        "failures": dict(session.failures),
        "marks": alarms.marks(completions, found),
        "served": alarms.served(completions),
        "usage": dataclasses.asdict(session.usage),
    }
    writer.log("stopped", data)
    writer.flush()
    if tasks is not None:
        keep_readings(run.path, found)


def _why(error: BaseException) -> str:
    if isinstance(error, asyncio.CancelledError | KeyboardInterrupt):
        return "interrupted"
    return f"failed: {error}"


def _max_tokens(to_do: Work) -> int | None:
    parameters = to_do.settings.parameters
    value = parameters.get("max_tokens", parameters.get("max_completion_tokens"))
    return value if isinstance(value, int) else None
