"""One session of asking: bounded concurrency, failures counted, budget and rule obeyed."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from unpredictabench.errors import SlotError
from unpredictabench.generate.stopping import NEVER, Prefix, by_task

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from unpredictabench.clients import Client
    from unpredictabench.generate.budget import Meter, Usage
    from unpredictabench.generate.planning import Work
    from unpredictabench.generate.stopping import StopRule
    from unpredictabench.records import Completion, Request
    from unpredictabench.store import Writer

GRACE_S = 5.0
"""How long answers under way may still arrive after a fatal error."""
MOST_KINDS = 20  # of failures told apart in the log


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a session is.

    Parameters
    ----------
    n_done : int
        Slots that hold an answer, those of earlier sessions included.
    n_failed : int
        Slots that failed in this session.
    n_total : int
        Slots the session set out to fill, those filled before included.
    n_before : int
        Slots filled before this session.
    usage : Usage
        What the run used.
    """

    n_done: int
    n_failed: int
    n_total: int
    n_before: int
    usage: Usage


class Session:
    """Asks the open slots of a run.

    Parameters
    ----------
    client : Client
        Who is asked.
    writer : Writer
        Where answers go.
    meter : Meter
        What may be used; earlier sessions are counted already.
    concurrency : int
        Most requests under way.
    stop : StopRule
        When a task has been asked enough.
    to_do : Work
        What is asked.
    earlier : sequence of Completion
        Answers of earlier sessions.
    closed : iterable of str
        Tasks the rule closed in earlier sessions.
    progress : callable, optional
        Called after each slot.

    Attributes
    ----------
    failures : Counter
        Slots that failed, by kind.
    limit : str or None
        The limit of the budget that ended the session.
    n_new : int
        Slots filled.
    """

    def __init__(
        self,
        client: Client,
        *,
        writer: Writer,
        meter: Meter,
        concurrency: int,
        stop: StopRule,
        to_do: Work,
        earlier: Sequence[Completion],
        closed: Iterable[str],
        progress: Callable[[Progress], None] | None = None,
    ) -> None:
        self.failures: Counter[str] = Counter()
        self.limit: str | None = None
        self._client, self._writer, self._meter = client, writer, meter
        self._concurrency, self._stop, self._progress = concurrency, stop, progress
        self._to_do, self._earlier = to_do, earlier
        self.n_new, self._n_before = 0, sum(map(to_do.holds, earlier))
        self._n_total = to_do.n_slots
        self._is_ending = False
        self._closed = set(closed)
        self._prefixes = by_task(earlier) if stop is not NEVER else {}
        for task, prefix in self._prefixes.items():
            self._ask_rule(task, prefix)

    @property
    def usage(self) -> Usage:
        """What the run used."""
        return self._meter.usage

    @property
    def reason(self) -> str:
        """Why the session ended: "complete", "incomplete" or "budget: LIMIT"."""
        if self.limit is not None:
            return f"budget: {self.limit}"
        return "incomplete" if self.failures else "complete"

    async def run(self) -> None:
        """Ask until all is asked, a limit is met, or a client gives up.

        Raises
        ------
        FatalClientError
            The client says that every further request would fail.
        """
        self._report()
        queue = self._admitted()
        workers = [asyncio.create_task(self._work(queue)) for _ in range(self._concurrency)]
        try:
            _, busy = await asyncio.wait(workers, return_when=asyncio.FIRST_EXCEPTION)
            self._is_ending = True
            if busy:
                await asyncio.wait(busy, timeout=GRACE_S)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
        for worker in workers:
            if not worker.cancelled():
                worker.result()
        self._report()

    def _admitted(self) -> Iterator[Request]:
        for request in self._to_do.open_requests(self._earlier):
            if request.task.id in self._closed:
                self._n_total -= 1
                continue
            self.limit = self._meter.start(request.messages)
            if self.limit is not None:
                return
            yield request

    async def _work(self, queue: Iterator[Request]) -> None:
        for request in queue:
            self._settle(request, await self._answer(request))
            if self._is_ending:
                return
            await asyncio.sleep(0)  # a client that answers at once must not hold the loop

    async def _answer(self, request: Request) -> Completion | None:
        try:
            completion = await self._client.ask(request)
        except SlotError as error:
            kind = _kind(error)
            is_known = kind in self.failures or len(self.failures) < MOST_KINDS
            self.failures[kind if is_known else "other"] += 1
            return None
        self._writer.append(completion)
        self.n_new += 1
        return completion

    def _settle(self, request: Request, completion: Completion | None) -> None:
        self._meter.finish(request.messages, completion)
        if self._stop is not NEVER:
            prefix = self._prefixes.setdefault(request.task.id, Prefix())
            if prefix.settle(request.index, completion):
                self._ask_rule(request.task.id, prefix)
        self._report()

    def _ask_rule(self, task: str, prefix: Prefix) -> None:
        if task not in self._closed and self._stop.done(task, prefix.answers):
            self._closed.add(task)
            data = {"task": task, "rule": self._stop.name, "n_answers": len(prefix.answers)}
            self._writer.log("task-stopped", data)

    def _report(self) -> None:
        if self._progress is not None:
            n_done, n_failed = self._n_before + self.n_new, self.failures.total()
            usage = self._meter.usage
            self._progress(Progress(n_done, n_failed, self._n_total, self._n_before, usage))


def _kind(error: SlotError) -> str:
    """Return what a failure has in common with others: its message without the slot's name."""
    return str(error).partition(": ")[2] or str(error)
