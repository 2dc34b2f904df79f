"""When to ask again: what servers say about waiting, and what to do when they say nothing."""

from __future__ import annotations

import asyncio
import math
import re
import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    import numpy as np

_UNIT_S = {"ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION = re.compile(r"(?:\d+(?:\.\d+)?(?:ms|[smhd]))+", re.ASCII)
_DURATION_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|[smhd])", re.ASCII)

# A bare number in x-ratelimit-reset is a delay, a Unix time or a Unix time in milliseconds,
# depending on the vendor; no delay reaches 30 years and no Unix time in seconds year 5138.
_SMALLEST_UNIX_TIME_S = 1e9
_SMALLEST_UNIX_TIME_MS = 1e11


@dataclass(frozen=True, slots=True)
class Clock:
    """The three things a client does with time, so that a test can run a minute in a moment.

    Parameters
    ----------
    now : callable
        Seconds since the epoch.
    monotonic : callable
        Seconds on a clock that never goes back.
    sleep : callable
        Waits that many seconds of `monotonic`.
    """

    now: Callable[[], float] = time.time
    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and after which wait a request is repeated.

    Attempts are counted, never elapsed time: however long a server asks to wait, the attempt
    after the wait is made.

    Parameters
    ----------
    max_attempts : int
        Requests made for one slot at most, at least 1.
    first_wait_s, longest_wait_s : float
        Bounds of the exponential backoff used when the server names no wait, in seconds.
    longest_asked_wait_s : float
        A server that asks for a longer wait than this stops the run, which can be resumed.
    """

    max_attempts: int = 8
    first_wait_s: float = 0.5
    longest_wait_s: float = 60.0
    longest_asked_wait_s: float = 3600.0

    def wait_s(self, attempt: int, *, asked_s: float | None, rng: np.random.Generator) -> float:
        """Return the wait after failed attempt number `attempt`, in seconds.

        Parameters
        ----------
        attempt : int
            Number of the attempt that failed, from 1.
        asked_s : float or None
            The wait the server named.
        rng : numpy.random.Generator
            Source of the jitter, which keeps clients from coming back all at once.

        Returns
        -------
        float
            `asked_s` lengthened by up to a tenth, or a backoff between half and the whole of
            ``first_wait_s * 2 ** (attempt - 1)``, bounded by `longest_wait_s`.
        """
        backoff = min(self.longest_wait_s, self.first_wait_s * 2.0 ** min(attempt - 1, 60))
        if asked_s is None or asked_s <= 0.0:
            return float(backoff * rng.uniform(0.5, 1.0))
        return float(asked_s * rng.uniform(1.0, 1.1))


def asked_wait_s(headers: Mapping[str, str], now: float) -> float | None:
    """Return the wait a server asks for, in seconds, or None if it names none that can be read.

    Parameters
    ----------
    headers : mapping
        Response headers; the mapping ignores case or holds lower-case names.
    now : float
        Seconds since the epoch, for headers that name a moment.

    Returns
    -------
    float or None
        At least 0; a moment in the past gives 0.

    Notes
    -----
    In this order: ``retry-after-ms``; ``retry-after`` as seconds, decimal, duration or HTTP
    date (RFC 9110, section 10.2.3); ``x-ratelimit-reset`` and ``ratelimit-reset`` as delay,
    duration or Unix time; ``x-ratelimit-reset-requests`` and ``-tokens`` where the matching
    ``x-ratelimit-remaining-...`` is exhausted. Moments are compared with the server's own ``date``
    where it sends one: the two clocks need not agree.

    Examples
    --------
    >>> asked_wait_s({"retry-after": "1.5"}, now=0.0)
    1.5
    >>> asked_wait_s({"retry-after": "Thu, 01 Jan 1970 00:01:00 GMT"}, now=50.0)
    10.0
    >>> asked_wait_s({"x-ratelimit-reset-tokens": "6m0s", "x-ratelimit-remaining-tokens": "0"}, 0)
    360.0
    """
    now = _moment(headers.get("date", ""), now)
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000.0
    for name in ("retry-after", "x-ratelimit-reset", "ratelimit-reset"):
        wait = _delay(headers.get(name), now)
        if wait is not None:
            return wait
    waits = [
        wait
        for what in ("requests", "tokens")
        if (_number(headers.get(f"x-ratelimit-remaining-{what}")) or 0.0) == 0.0
        and (wait := _delay(headers.get(f"x-ratelimit-reset-{what}"), now)) is not None
    ]
    return max(waits, default=None)


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0.0 else None


def _delay(text: str | None, now: float) -> float | None:
    text = (text or "").strip()
    value = _number(text)
    if value is not None:
        if value >= _SMALLEST_UNIX_TIME_MS:
            return max(0.0, value / 1000.0 - now)
        return max(0.0, value - now) if value >= _SMALLEST_UNIX_TIME_S else value
    if _DURATION.fullmatch(text):
        return sum(float(n) * _UNIT_S[unit] for n, unit in _DURATION_PART.findall(text))
    moment = _moment(text, math.nan)
    return None if math.isnan(moment) else max(0.0, moment - now)


def _moment(text: str, default: float) -> float:
    """Read an HTTP date as seconds since the epoch."""
    try:
        return parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return default
