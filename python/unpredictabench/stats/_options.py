"""The second door, for options: each is checked by its kind, so that no function has rules alone.

Samples come through `_arrays`. What a caller chooses beside them (a count, a level, a name, a seed)
comes through here, and a wrong one is an `InputError` with its name, whatever its type.
"""

from __future__ import annotations

import math
import numbers
import operator
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from unpredictabench.errors import InputError
from unpredictabench.stats._convert import plain_array
from unpredictabench.streams import seed_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

Seed: TypeAlias = "int | np.random.Generator | None"

MOST_RESAMPLES: Final = 10**9
"""Resamples or draws of one call; more would run for hours."""
MOST_WORKERS: Final = 1024
"""Threads of one call."""
MOST_ANSWERS: Final = 2**48
"""A count of answers: sums and products with sample sizes stay within 64 bits."""


def whole(name: str, value: Any, least: int, most: int) -> int:
    """Accept an integer of any integer type within its range; booleans and floats are none."""
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if isinstance(value, bool | np.bool_) or not least <= number <= most:
        raise InputError(name, f"be an integer from {least} to {most}", value)
    return number


def resamples(value: Any, name: str = "n_resamples") -> int:
    """Accept a number of resamples."""
    return whole(name, value, 1, MOST_RESAMPLES)


def threads(workers: Any) -> int | None:
    """Accept a number of threads; None for all allowed cores."""
    return None if workers is None else whole("workers", workers, 1, MOST_WORKERS)


def real(name: str, value: Any, rule: str) -> float:
    """Accept a finite real number; `rule` says what it must be besides."""
    if not isinstance(value, numbers.Real) or not math.isfinite(value):
        raise InputError(name, rule, value)
    return float(value)


def level(name: str, value: Any) -> float:
    """Accept a probability strictly between 0 and 1."""
    rule = "lie strictly between 0 and 1"
    if not 0 < real(name, value, rule) < 1:
        raise InputError(name, rule, value)
    return float(value)


def choice(name: str, value: Any, known: Sequence[str]) -> str:
    """Accept one of some names."""
    if not isinstance(value, str) or value not in known:
        *others, last = (repr(one) for one in known)
        raise InputError(name, f"be {', '.join(others)} or {last}", value)
    return value


def invalid_counts(n_invalid: Any, n_rows: int) -> NDArray[np.int64]:
    """Open a count of invalid answers: one a row, from one number or one a row."""
    counts = counted("n_invalid", n_invalid)
    if counts.shape not in {(), (n_rows,)}:
        raise InputError("n_invalid", f"be one number or one a row ({n_rows})", n_invalid)
    return np.ascontiguousarray(np.broadcast_to(counts, n_rows))


def counted(name: str, value: Any) -> NDArray[np.int64]:
    """Accept counts of answers, in an array of any shape."""
    counts = plain_array(value, name)
    if counts.dtype.kind not in "iu" and counts.size:
        raise InputError(name, "be integers of at least 0", value)
    bad = (counts < 0) | (counts > MOST_ANSWERS)
    if bool(bad.any()):
        raise InputError(name, f"be integers from 0 to {MOST_ANSWERS}", value)
    return counts.astype(np.int64)


def resampling_seed(rng: Seed, name: str) -> int:
    """Return the 64-bit seed of a call's streams: of the caller's `rng`, or of the name."""
    if rng is None:
        return seed_of(name, bits=64)
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(2**63))
    return seed_of(name, _seed(rng), bits=64)


def generator(rng: Seed, name: str) -> np.random.Generator:
    """Return the caller's generator, or one from the caller's seed or the named stream."""
    if isinstance(rng, np.random.Generator):
        return rng
    if rng is None:
        return np.random.Generator(np.random.PCG64DXSM(seed_of(name)))
    return np.random.default_rng(_seed(rng))


def _seed(rng: Any) -> int:
    try:
        seed = operator.index(rng)
    except TypeError:
        seed = -1
    if seed < 0 or isinstance(rng, bool | np.bool_):
        raise InputError("rng", "be an integer seed of at least 0, or a Generator", rng)
    return seed
