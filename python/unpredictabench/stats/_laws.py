"""What a test needs of a law: its cdf from both sides and the levels that the cdf takes."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray

from unpredictabench.errors import InputError
from unpredictabench.records import NumericTarget
from unpredictabench.stats._distributions import HasCdf, is_distribution, opened
from unpredictabench.stats._levels import SAME, LevelsOf, nearest_outside, tabulate

if TYPE_CHECKING:
    from collections.abc import Sequence

Floats: TypeAlias = NDArray[np.float64]
Cdf: TypeAlias = Callable[[Floats], Any]
LawLike: TypeAlias = NumericTarget | HasCdf | Cdf

CDF_ERROR: Final = 1e-7
"""How far a user's cdf may fall: numerical integrals are off by 1.5e-8 by SciPy's default, and
special functions by tens of units in the last place."""


@dataclass(frozen=True, slots=True, eq=False)
class Law:
    """A law on the line.

    Attributes
    ----------
    cdf, cdf_left : callable
        P(X <= x) and P(X < x) of a float64 array.
    levels : callable or None
        The nearest values that the cdf takes or approaches, below and above; None where it takes
        all of [0, 1].
    key : str or None
        What identifies the law, if that is known.
    """

    cdf: Cdf
    cdf_left: Cdf
    levels: LevelsOf | None
    key: str | None

    def values(self, x: Floats) -> tuple[Floats, Floats]:
        """Return the cdf and its left limit at `x`, checked to be probabilities."""
        upper = _probabilities(self.cdf, x)
        lower = upper if self.levels is None else _probabilities(self.cdf_left, x)
        if self.key is None:
            _refuse_lawless(x, upper, lower)
        return upper, lower

    def deciding_levels(self, n: NDArray[np.int64], d: Floats) -> tuple[Floats, Floats]:
        """Return for pairs (n, d) the levels at which a count is `d` or more away from the law.

        Returns
        -------
        tuple of numpy.ndarray
            The largest level at or below ``j/n - d`` for j = 1..n, and the smallest at or above
            ``j/n + d`` for j = 0..n-1, pair after pair; NaN where there is none.
        """
        sizes = np.repeat(n, n)
        starts = np.repeat(np.cumsum(n) - n, n)
        j = np.arange(sizes.size) - starts
        distances = np.repeat(d, n)
        below = self._nearest((j + 1) / sizes - distances, is_below=True)
        above = self._nearest(j / sizes + distances, is_below=False)
        return below, above

    def _nearest(self, u: Floats, *, is_below: bool) -> Floats:
        """Find the nearest level on one side; levels within `SAME` count as reached."""
        assert self.levels is not None
        which, reach = (0, SAME) if is_below else (1, -SAME)
        is_inside = (u > -SAME) & (u < 1 + SAME)
        exact = np.clip(np.where(is_inside, u, 0.5), 0, 1)
        found = self.levels(exact)[which]
        # A level that is missed by rounding alone: ask once more from just beyond it.
        missed = found != exact
        if missed.any():
            found[missed] = self.levels(np.clip(exact[missed] + reach, 0, 1))[which]
        return np.where(is_inside, found, np.nan)


def law_of(target: object, *, cdf_left: Cdf | None = None, name: str = "target") -> Law:
    """Open a target or a cdf.

    Parameters
    ----------
    target : NumericTarget, HasCdf or callable
        The law, a distribution such as SciPy's, or a cdf.
    cdf_left : callable, optional
        P(X < x), where `target` is a cdf with jumps.
    name : str
        What the caller calls it.

    Raises
    ------
    InputError
        When it is neither.
    """
    if cdf_left is not None and not callable(cdf_left):
        raise InputError("cdf_left", "be a function, P(X < x)", cdf_left)
    if is_distribution(target) and not _is_target(target):
        target = target.cdf if cdf_left is not None else opened(target, name)
    if _is_target(target):
        # A law that cannot be named is not remembered.
        spec = getattr(target, "spec", None)
        key = json.dumps(spec, sort_keys=True, default=str) if spec else None
        if target.support == "continuous":
            return Law(target.cdf, target.cdf, None, key)
        levels = getattr(target, "levels", None)
        if levels is None:
            levels = partial(_levels, target.ppf, target.cdf, target.cdf_left)
        tabulated = tabulate(levels, is_discrete=target.support == "discrete", key=key)
        return Law(target.cdf, target.cdf_left, tabulated, key)
    if not callable(target) or hasattr(target, "cdf"):
        raise InputError(
            name, "be a law on the line (a target, a frozen distribution) or a cdf", target
        )
    if cdf_left is None:
        return Law(target, target, None, None)
    levels = partial(_levels, partial(_ppf, target), target, cdf_left)
    return Law(target, cdf_left, tabulate(levels, is_discrete=False, key=None), None)


def _is_target(target: object) -> TypeGuard[NumericTarget]:
    """Whether it has what a test needs of a law."""
    return all(hasattr(target, name) for name in ("cdf", "cdf_left", "ppf", "support"))


def laws_of(
    target: object, n_rows: int, *, is_single: bool, cdf_left: Cdf | None = None
) -> Law | list[Law]:
    """Open one law for all rows, or a sequence of one a row."""
    if isinstance(target, list | tuple):
        rows: Sequence[object] = target
        if is_single or len(rows) != n_rows:
            rule = "be one law" if is_single else f"be one law, or one a row ({n_rows})"
            raise InputError("target", rule, f"{len(rows)} of them")
        return [law_of(each, cdf_left=cdf_left, name=f"target[{i}]") for i, each in enumerate(rows)]
    return law_of(target, cdf_left=cdf_left)


def step_law(levels: Floats) -> Law:
    """Return a law known by its levels alone, which rise from 0 to 1."""

    def unknown(x: Floats) -> Floats:
        raise NotImplementedError(x.size)

    return Law(unknown, unknown, partial(nearest_outside, (levels[:-1], levels[1:])), None)


def _probabilities(cdf: Cdf, x: Floats) -> Floats:
    values = np.ascontiguousarray(cdf(x), dtype=np.float64)
    if values.shape != x.shape:
        raise InputError("target", f"return an array of shape {x.shape} from its cdf", values.shape)
    bad = ~((values >= 0) & (values <= 1))
    if bad.any():
        i = int(bad.argmax())
        raise InputError("target", "have a cdf within [0, 1]", f"{values[i]} at {x[i]}")
    return values


def _refuse_lawless(x: Floats, upper: Floats, lower: Floats) -> None:
    """Raise when a user's functions are no cdf and left limit at some observations."""
    order = np.argsort(x)
    _refuse_decreasing("target", x[order], upper[order])
    if lower is upper:
        return
    _refuse_decreasing("cdf_left", x[order], lower[order])
    is_above = lower > upper + CDF_ERROR
    if is_above.any():
        i = int(is_above.argmax())
        raise InputError("cdf_left", "be at most the cdf", f"{lower[i]} above {upper[i]} at {x[i]}")


def _refuse_decreasing(name: str, x: Floats, p: Floats) -> None:
    """Raise when probabilities fall by more than `CDF_ERROR` along sorted observations."""
    falls = np.maximum.accumulate(p) - p > CDF_ERROR
    if falls.any():
        i = int(falls.argmax())
        raise InputError(name, "have a cdf that never decreases", f"a fall to {p[i]} at {x[i]}")


def _levels(ppf: Cdf, cdf: Cdf, cdf_left: Cdf, u: Floats) -> tuple[Floats, Floats]:
    """Return the ends of the jump that `u` lies in, or `u` itself where it lies in none."""
    x = np.asarray(ppf(u), dtype=np.float64)
    below, above = np.asarray(cdf_left(x)), np.asarray(cdf(x))
    is_inside = (below < u) & (u < above)
    return np.where(is_inside, below, u), np.where(is_inside, above, u)


def _ppf(cdf: Cdf, q: Floats) -> Floats:
    """Return the smallest floats at which a cdf reaches `q`, by halving the floats' bit patterns.

    Read as integers, floats keep their order, so that 64 steps reach the last bit anywhere.
    """
    largest = np.full(q.shape, np.finfo(np.float64).max).view(np.int64)
    low, high = -largest, largest
    for _ in range(65):
        middle = (low & high) + ((low ^ high) >> 1)
        reaches = np.asarray(cdf(_float_of(middle))) >= q
        high = np.where(reaches, middle, high)
        low = np.where(reaches, low, middle)
    return _float_of(high)


def _float_of(keys: NDArray[np.int64]) -> Floats:
    sizes = np.abs(keys).view(np.float64)
    return np.where(keys >= 0, sizes, -sizes)
