"""Do numbers fit a law, as they are or after one correction? Tests of their normal scores."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from unpredictabench.stats import anderson_1samp, ks_1samp
from unpredictabench.streams import stream

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from unpredictabench.records import NumericTarget

    Floats: TypeAlias = NDArray[np.float64]

TESTS: Final = ("location", "spread", "kurtosis", "ks", "anderson")
N_DRAWS: Final = 49_999
"""Normal samples drawn for the null of the kurtosis."""
ENOUGH: Final = 0.01
"""A correction explains the answers when no test of what is left is below this, jointly."""
CENTRE: Final = (0.1, 0.9)
"""Levels between which answers are the centre; what lies outside are tails."""
_EDGE: Final = 1e-12
_RATIOS: Final = np.geomspace(0.8, 1.25, 9)


@dataclass(frozen=True, slots=True)
class Correction:
    """A shift and a stretch that bring answers to their law.

    Parameters
    ----------
    shift : float
        Median of the answers less that of the law, in interquartile ranges of the law.
    ratio : float
        Spread of the answers about their median over that of the law.
    fits : bool
        Whether the corrected answers fit the law.
    corrected : numpy.ndarray
        The answers so corrected.
    """

    shift: float
    ratio: float
    fits: bool
    corrected: Floats


def pit(target: NumericTarget, x: Floats, v: Floats, *, step: float = 0.0) -> Floats:
    """Return the transform that is uniform under the law, or under the law rounded to a lattice.

    Parameters
    ----------
    target : NumericTarget
        The law.
    x : numpy.ndarray
        Answers.
    v : numpy.ndarray
        Uniforms that place an answer within its atom, or within its cell of the lattice.
    step : float
        Distance of the lattice's points; 0 for no rounding.
    """
    if step > 0:
        lower, upper = target.cdf_left(x - step / 2), target.cdf_left(x + step / 2)
    else:
        lower, upper = target.cdf_left(x), target.cdf(x)
    return np.asarray(lower + v * (upper - lower))


def tested(u: Floats) -> Mapping[str, float]:
    """Test that values are independent uniforms, in five ways.

    Parameters
    ----------
    u : numpy.ndarray, shape (n,)
        Transformed answers.

    Returns
    -------
    mapping
        P-values by name. With z the normal scores of u: "location", sqrt(n) mean(z) against the
        normal law; "spread", (n - 1) var(z) against chi-square; "kurtosis", against 49,999 normal
        samples; "ks" and "anderson" of u itself.
    """
    from scipy.special import chdtr, chdtrc, ndtr, ndtri  # noqa: PLC0415 - a light import of the package

    clipped = np.clip(u, _EDGE, 1.0 - _EDGE)
    z = ndtri(clipped)
    n = z.size
    location = 2.0 * float(ndtr(-abs(math.sqrt(n) * z.mean())))
    square = (n - 1) * float(z.var(ddof=1))
    spread = min(1.0, 2.0 * float(min(chdtr(n - 1, square), chdtrc(n - 1, square))))
    ks = float(ks_1samp(clipped, _identity).pvalue)
    anderson = float(anderson_1samp(clipped, _identity).pvalue)
    return dict(zip(TESTS, (location, spread, _kurtosis_p(z), ks, anderson), strict=True))


def joint(pvalues: Mapping[str, float]) -> float:
    """Return the smallest p-value times their number, at most 1."""
    return min(1.0, len(pvalues) * min(pvalues.values()))


def fits(target: NumericTarget, x: Floats, v: Floats, *, step: float = 0.0) -> bool:
    """Tell whether answers fit a law well enough that nothing else need be said of them."""
    return joint(tested(pit(target, x, v, step=step))) > ENOUGH


def shifted(target: NumericTarget, x: Floats, v: Floats) -> Correction:
    """Move the median of the answers to that of the law."""
    moved = float(np.median(x)) - float(target.ppf(0.5))
    if _is_whole(target, x):
        moved = float(np.rint(moved))
    corrected = x - moved
    return Correction(moved / width(target), 1.0, fits(target, corrected, v), corrected)


def stretched(target: NumericTarget, x: Floats, v: Floats) -> Correction:
    """Bring median and quartiles of the answers to those of the law.

    Notes
    -----
    Around the ratio of the interquartile ranges nine ratios are tried and the best is kept, as
    quartiles of few answers are imprecise.
    """
    middle, median = float(np.median(x)), float(target.ppf(0.5))
    first, third = np.quantile(x, (0.25, 0.75)).tolist()
    rough = (third - first) / width(target) or 1.0
    best, ratio, corrected = -1.0, rough, x
    for trial in (rough * _RATIOS).tolist():
        tried = median + (x - middle) / trial
        if _is_whole(target, x):
            # Cells of width 1 / ratio fall into one atom: spread them before rounding.
            tried = np.rint(tried + (v - 0.5) / trial)
        found = joint(tested(pit(target, tried, v)))
        if found > best:
            best, ratio, corrected = found, trial, tried
    return Correction((middle - median) / width(target), ratio, best > ENOUGH, corrected)


def has_wrong_tails(u: Floats) -> bool:
    """Tell whether the centre of transformed answers is uniform, so that the fault is outside."""
    low, high = CENTRE
    centre = u[(u > low) & (u < high)]
    if centre.size < 10:
        return False
    inside = (centre - low) / (high - low)
    ks = float(ks_1samp(inside, _identity).pvalue)
    return min(ks, float(anderson_1samp(inside, _identity).pvalue)) * 2 > ENOUGH


def width(target: NumericTarget) -> float:
    """Return the interquartile range of a law; where it is 0 that from .01 to .99, or 1."""
    low, first, third, high = target.ppf([0.01, 0.25, 0.75, 0.99]).tolist()
    return float((third - first) or (high - low) or 1.0)


def _is_whole(target: NumericTarget, x: Floats) -> bool:
    return target.support == "discrete" and bool((x == np.rint(x)).all())


def _identity(u: Floats) -> Floats:
    return u


def _kurtosis(z: Floats) -> Floats:
    centred = z - z.mean(axis=-1, keepdims=True)
    squares = (centred**2).mean(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((centred**4).mean(axis=-1) / squares**2)


def _kurtosis_p(z: Floats) -> float:
    null, found = _kurtosis_null(z.size), float(_kurtosis(z))
    if math.isnan(found):
        return 1.0  # constant scores have no tails
    above = int((null >= found).sum())
    tail = min(above, null.size - above)
    return min(1.0, 2.0 * (tail + 1) / (null.size + 1))


@lru_cache(maxsize=256)
def _kurtosis_null(n: int) -> Floats:
    rng = stream("diagnose", "kurtosis", n)
    rows = max(1, 2_000_000 // n)
    parts = [
        _kurtosis(rng.standard_normal((min(rows, N_DRAWS - start), n)))
        for start in range(0, N_DRAWS, rows)
    ]
    return np.concatenate(parts)
