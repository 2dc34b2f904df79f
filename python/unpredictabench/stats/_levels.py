"""The levels that a cdf takes, found once: all of [0, 1] but the insides of its jumps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
LevelsOf: TypeAlias = Callable[[Floats], tuple[Floats, Floats]]
Jumps: TypeAlias = tuple[Floats, Floats]

SAME: Final = 8 * float(np.finfo(np.float64).eps)
"""Values of a statistic, or levels, closer than this are one value."""
LEAST_JUMP: Final = 1 / 256
"""Jumps of a mixed law that are found wherever they are; at the ends of the support all are."""
MOST_JUMPS: Final = 50_000
"""Jumps in a table; a law with more is asked each time."""
MOST_REMEMBERED: Final = 4_000_000
"""Jumps kept in memory at most, of all laws together: 64 MB."""


@dataclass(slots=True)
class _Tables:
    """The tables of this process by the keys of their laws."""

    found: dict[str, Jumps | None] = field(default_factory=dict)
    n_jumps: int = 0

    def keep(self, key: str, jumps: Jumps | None) -> None:
        """Keep a table; all others are dropped when there is no room."""
        # A law without a table takes room too: its key.
        size = 1 if jumps is None else 1 + jumps[0].size
        if self.n_jumps + size > MOST_REMEMBERED:
            self.found.clear()
            self.n_jumps = 0
        self.found[key] = jumps
        self.n_jumps += size


_TABLES: Final = _Tables()


def tabulate(levels: LevelsOf, *, is_discrete: bool, key: str | None) -> LevelsOf:
    """Replace a law's answers on its levels by a table of its jumps.

    Parameters
    ----------
    levels : callable
        The nearest values that the cdf takes or approaches, below and above.
    is_discrete : bool
        Whether the cdf only rises in jumps.
    key : str or None
        What identifies the law; its table is remembered by it.

    Returns
    -------
    callable
        The same answers, from a table. Jumps of a mixed law inside of its support and smaller
        than 1/256 may be missed: the law then counts as continuous there, which makes p-values
        larger by about as much.

    Notes
    -----
    Quantiles are slow to compute for some laws, and each law is asked for thousands.
    """
    if key is None:
        jumps = _find(levels, is_discrete=is_discrete)
    else:
        if key not in _TABLES.found:
            _TABLES.keep(key, _find(levels, is_discrete=is_discrete))
        jumps = _TABLES.found[key]
    return levels if jumps is None else partial(nearest_outside, jumps)


def nearest_outside(jumps: Jumps, u: Floats) -> tuple[Floats, Floats]:
    """Return the ends of the jump that `u` lies in, or `u` itself where it lies in none."""
    lows, highs = jumps
    if not lows.size:
        return u.copy(), u.copy()
    place = np.searchsorted(lows, u, side="right") - 1
    is_inside = (place >= 0) & (lows[place] < u) & (u < highs[place])
    return np.where(is_inside, lows[place], u), np.where(is_inside, highs[place], u)


def _find(levels: LevelsOf, *, is_discrete: bool) -> Jumps | None:
    """Ask between the jumps already known, until nothing wide enough to hold one is left."""
    width = SAME if is_discrete else LEAST_JUMP
    asked = np.array([SAME, 0.5, 1 - SAME])
    starts, ends = np.array([0.0, SAME, 1 - SAME]), np.array([SAME, 1 - SAME, 1.0])
    found: list[tuple[Floats, Floats]] = []
    n_jumps = 0
    while asked.size:
        below, above = levels(asked)
        is_jump = above - below > SAME
        found.append((below[is_jump], above[is_jump]))
        n_jumps += int(is_jump.sum())
        if n_jumps + asked.size > MOST_JUMPS:
            return None
        # What is left of each piece lies to the left and to the right of the jump, or the point.
        starts, ends = np.concatenate([starts, above]), np.concatenate([below, ends])
        is_open = ends - starts > width
        starts, ends = _apart(starts[is_open], ends[is_open], found)
        is_open = ends - starts > width
        starts, ends = starts[is_open], ends[is_open]
        asked = (starts + ends) / 2
    return _joined(found)


def _apart(starts: Floats, ends: Floats, found: list[tuple[Floats, Floats]]) -> Jumps:
    """Cut away from pieces the jumps that reach into them from another piece."""
    lows, highs = _joined(found)
    if not lows.size:
        return starts, ends
    before = np.maximum(np.searchsorted(lows, starts, side="right") - 1, 0)
    starts = np.where(lows[before] <= starts, np.maximum(starts, highs[before]), starts)
    after = np.minimum(np.searchsorted(highs, ends, side="left"), highs.size - 1)
    ends = np.where(highs[after] >= ends, np.minimum(ends, lows[after]), ends)
    return starts, ends


def _joined(found: list[tuple[Floats, Floats]]) -> Jumps:
    lows = np.concatenate([low for low, _ in found])
    highs = np.concatenate([high for _, high in found])
    lows, first = np.unique(lows, return_index=True)
    return lows, highs[first]
