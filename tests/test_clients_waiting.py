"""Waits that servers ask for, and the backoff where they ask for none."""

from __future__ import annotations

from email.utils import formatdate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unpredictabench.clients.waiting import RetryPolicy, asked_wait_s

NOW = 1_800_000_000.0


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.25"}, 0.25),
        ({"retry-after": " 3 "}, 3.0),
        ({"retry-after": "1m30s"}, 90.0),
        ({"retry-after": formatdate(NOW + 30, usegmt=True)}, 30.0),
        ({"retry-after": formatdate(NOW - 30, usegmt=True)}, 0.0),
        ({"retry-after": "Fri, 15-Jan-27 08:00:30 GMT"}, 30.0),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5),
        ({"x-ratelimit-reset": "12"}, 12.0),
        ({"x-ratelimit-reset": "12.5s"}, 12.5),
        ({"x-ratelimit-reset": str(NOW + 40)}, 40.0),
        ({"x-ratelimit-reset": str(int((NOW + 40) * 1000))}, 40.0),
        ({"ratelimit-reset": "9"}, 9.0),
        ({"x-ratelimit-reset-requests": "6m0s", "x-ratelimit-remaining-requests": "0"}, 360.0),
        ({"x-ratelimit-reset-tokens": "120ms"}, 0.12),
        ({"x-ratelimit-reset-tokens": "1h2m3.5s", "x-ratelimit-reset-requests": "1s"}, 3723.5),
        ({"x-ratelimit-reset-tokens": "9s", "x-ratelimit-remaining-tokens": "12"}, None),
        ({}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "soon", "x-ratelimit-reset": "4"}, 4.0),
    ],
)
def test_every_form_is_read(headers, seconds):
    """Seconds, decimals, durations, dates, milliseconds and Unix times become one number."""
    assert asked_wait_s(headers, NOW) == pytest.approx(seconds, abs=1e-3)


@given(st.text(max_size=30))
def test_no_header_breaks_the_reader(text):
    """Whatever a header holds, the wait is None or a finite number from 0."""
    for name in ("retry-after", "retry-after-ms", "x-ratelimit-reset"):
        wait = asked_wait_s({name: text}, NOW)
        assert wait is None or 0.0 <= wait < float("inf")


@given(st.integers(1, 10_000), st.integers(0, 2**32))
def test_backoff_is_jittered_and_bounded(attempt, seed):
    """A backoff lies between half and the whole of its step, whatever the attempt."""
    policy = RetryPolicy()
    wait = policy.wait_s(attempt, asked_s=None, rng=np.random.default_rng(seed))
    step = min(policy.longest_wait_s, policy.first_wait_s * 2.0 ** min(attempt - 1, 100))
    assert step / 2 <= wait <= step


@given(st.floats(1e-3, 1e6), st.integers(1, 100))
def test_asked_wait_is_kept(asked, attempt):
    """A wait the server asks for is never shortened, and lengthened by a tenth at most."""
    wait = RetryPolicy().wait_s(attempt, asked_s=asked, rng=np.random.default_rng(attempt))
    assert asked <= wait <= 1.1 * asked


def test_asked_wait_of_zero_backs_off():
    """A moment that has passed already does not lead to an attack."""
    assert RetryPolicy().wait_s(3, asked_s=0.0, rng=np.random.default_rng(1)) >= 1.0
