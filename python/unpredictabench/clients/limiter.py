"""How many requests may be in flight: as many as allowed, fewer while the server complains."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from types import TracebackType

    from unpredictabench.clients.waiting import Clock


class Limiter:
    """Bounded concurrency with additive increase and multiplicative decrease.

    Shared by all requests of a client. Every success raises the limit by the reciprocal of
    itself (one more after as many successes as are in flight), an overload halves it, at most
    once for the requests that were under way together, and holds back new requests for as long
    as the server asked.

    Parameters
    ----------
    most : int
        Upper bound and start of the limit, at least 1.
    clock : Clock
        Source of time.

    References
    ----------
    Chiu and Jain (1989), "Analysis of the increase and decrease algorithms for congestion
    avoidance in computer networks", doi:10.1016/0169-7552(89)90019-6.
    """

    def __init__(self, most: int, clock: Clock) -> None:
        self.most, self._clock = most, clock
        self._limit = float(most)
        self._in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._last_cut = self._resume_at = -float("inf")

    @property
    def limit(self) -> int:
        """Requests allowed in flight at present, at least 1."""
        return int(self._limit)

    @property
    def in_flight(self) -> int:
        """Requests in flight at present."""
        return self._in_flight

    async def __aenter__(self) -> Self:
        if self._in_flight < self.limit and not self._waiting:
            self._in_flight += 1
        else:
            await self._turn()
        try:
            while (wait := self._resume_at - self._clock.monotonic()) > 0.0:
                await self._clock.sleep(wait)
        except BaseException:
            self._release()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._release()

    def succeeded(self) -> None:
        """Note a request that went well."""
        self._limit = min(float(self.most), self._limit + 1.0 / self._limit)

    def overloaded(self, *, began_at: float, wait_s: float) -> None:
        """Note an answer that says the server has too much to do.

        Parameters
        ----------
        began_at : float
            When that request began, on the monotonic clock.
        wait_s : float
            How long the server asked to be left alone, in seconds; 0 if it did not.
        """
        now = self._clock.monotonic()
        if began_at >= self._last_cut:
            self._limit = max(1.0, self._limit / 2.0)
            self._last_cut = now
        self._resume_at = max(self._resume_at, now + wait_s)

    async def _turn(self) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._release()  # the place was handed over in the moment of cancelling
            raise

    def _release(self) -> None:
        self._in_flight -= 1
        while self._waiting and self._in_flight < self.limit:
            turn = self._waiting.popleft()
            if not turn.done():
                self._in_flight += 1
                turn.set_result(None)
