"""The shared limit of requests in flight."""

from __future__ import annotations

import asyncio

import pytest

from unpredictabench.clients.limiter import Limiter
from unruly import FastClock


def run(main):
    """Run a coroutine function on a fast clock."""
    clock = FastClock()
    return asyncio.run(main(clock))


@pytest.mark.parametrize("most", [1, 3, 8])
def test_never_more_than_the_limit(most):
    """However many want in, at most the limit are inside, and all get their turn in order."""

    async def main(clock):
        limiter, seen, order = Limiter(most, clock.clock), [], []

        async def visit(i):
            async with limiter:
                order.append(i)
                seen.append(limiter.in_flight)
                await asyncio.sleep(0)

        await asyncio.gather(*(visit(i) for i in range(50)))
        return max(seen), order, limiter.in_flight

    assert run(main) == (most, list(range(50)), 0)


def test_overload_halves_once_for_requests_under_way_together():
    """Ten complaints about one burst halve the limit once; one about a later request again."""

    async def main(clock):
        limiter = Limiter(64, clock.clock)
        began = clock.now()
        await clock.sleep(1.0)
        for _ in range(10):
            limiter.overloaded(began_at=began, wait_s=0.0)
        first = limiter.limit
        await clock.sleep(1.0)
        limiter.overloaded(began_at=clock.now(), wait_s=0.0)
        return first, limiter.limit

    assert run(main) == (32, 16)


def test_limit_stays_within_its_bounds():
    """The limit never falls below 1 and never rises above its start."""

    async def main(clock):
        limiter = Limiter(4, clock.clock)
        for _ in range(20):
            await clock.sleep(1.0)
            limiter.overloaded(began_at=clock.now(), wait_s=0.0)
        lowest = limiter.limit
        for _ in range(100):
            limiter.succeeded()
        return lowest, limiter.limit

    assert run(main) == (1, 4)


def test_increase_is_additive():
    """As many successes as the limit raise it by about one."""

    async def main(clock):
        limiter = Limiter(64, clock.clock)
        limiter.overloaded(began_at=clock.now(), wait_s=0.0)
        for _ in range(33):
            limiter.succeeded()
        return limiter.limit

    assert run(main) == 33


def test_asked_wait_holds_back_new_requests():
    """After an overload with a wait nobody enters before it is over."""

    async def main(clock):
        limiter = Limiter(4, clock.clock)
        start = clock.now()
        limiter.overloaded(began_at=start, wait_s=30.0)
        async with limiter:
            return clock.now() - start

    assert run(main) >= 30.0


def test_cancelled_waiters_leave_no_hole():
    """Cancelling those who wait or were just let in loses no place."""

    async def main(clock):
        limiter = Limiter(2, clock.clock)

        async def visit():
            async with limiter:
                await asyncio.sleep(0)

        visits = [asyncio.ensure_future(visit()) for _ in range(20)]
        await asyncio.sleep(0)
        for visit_ in visits[::3]:
            visit_.cancel()
        await asyncio.gather(*visits, return_exceptions=True)
        async with limiter, limiter:
            return limiter.in_flight

    assert run(main) == 2
