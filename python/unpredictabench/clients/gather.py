"""Gather questions of one task into one request with several choices."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from unpredictabench.records import Completion, Request

Exchange: TypeAlias = "Callable[[Sequence[Request]], Awaitable[Sequence[Completion]]]"
_Waiting: TypeAlias = "list[tuple[Request, asyncio.Future[Completion]]]"


class Gatherer:
    """Bundles questions that are asked in the same words at the same time.

    Parameters
    ----------
    exchange : callable
        Sends one request for several slots that share their words; returns the completions of
        the first slots, at least one. Slots beyond are asked for again.
    most : int
        Most slots of one request.
    """

    def __init__(self, exchange: Exchange, most: int) -> None:
        self._exchange, self._most = exchange, most
        self._gathered: dict[object, _Waiting] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def ask(self, request: Request) -> Completion:
        """Put a question together with others of the same words that arrive in this moment."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Completion] = loop.create_future()
        key = (request.task.id, request.messages, request.n_asked)
        waiting = self._gathered.setdefault(key, [])
        waiting.append((request, future))
        if len(waiting) == self._most:
            self._send(key, waiting)
        elif len(waiting) == 1:
            loop.call_soon(self._send, key, waiting)
        return await future

    async def aclose(self) -> None:
        """Give up what is under way."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _send(self, key: object, waiting: _Waiting) -> None:
        if self._gathered.get(key) is waiting:
            del self._gathered[key]
            task = asyncio.ensure_future(self._serve(waiting))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _serve(self, waiting: _Waiting) -> None:
        while waiting := [(request, future) for request, future in waiting if not future.done()]:
            try:
                completions = await self._exchange([request for request, _ in waiting])
            except Exception as error:  # noqa: BLE001 - handed on to everyone who waits
                for _, future in waiting:
                    if not future.done():
                        future.set_exception(error)
                return
            except asyncio.CancelledError:
                for _, future in waiting:
                    future.cancel()
                raise
            for (_, future), completion in zip(waiting, completions, strict=False):
                if not future.done():
                    future.set_result(completion)
