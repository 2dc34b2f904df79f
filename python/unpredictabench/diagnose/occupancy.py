"""How many different values there should be, and the lattice that answers lie on."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unpredictabench.records import NumericTarget

    Floats: TypeAlias = NDArray[np.float64]

FEWEST_POINTS: Final = 2
"""Different values from which on a lattice can be told from a coincidence."""
MOST_CELLS: Final = 100_000
"""Cells looked at one by one; with more, equal answers are as unlikely as without a lattice."""
_OUTSIDE: Final = 1e-6
_MULTIPLES: Final = (5.0, 1.0)
_MOST_DIGITS: Final = 9
_SMALLEST: Final = float(np.finfo(np.float64).tiny) * 10.0**_MOST_DIGITS  # else steps reach 0
_SLACK: Final = 1e-6  # ratios up to 1e9 are rounded by less
_SLOPES: Final = np.concatenate([[0.0], np.geomspace(0.01, 20.0, 40)])


@dataclass(frozen=True, slots=True)
class Occupancy:
    """Different values among answers.

    Parameters
    ----------
    n_distinct : int
        How many there are.
    expected : float
        How many a faithful sampler gives on average.
    top_share : float
        Share of the most frequent value.
    pvalue : float
        Bound for the probability that a faithful sampler gives so few.
    """

    n_distinct: int
    expected: float
    top_share: float
    pvalue: float


def occupancy(x: Floats, probabilities: Floats | None) -> Occupancy:
    """Compare the number of different values with that under given probabilities.

    Parameters
    ----------
    x : numpy.ndarray, shape (n,)
        Answers.
    probabilities : numpy.ndarray or None
        Of the cells answers can fall into; None where no two answers should be equal.

    Returns
    -------
    Occupancy
        Counts and the bound.

    Notes
    -----
    The indicators that a cell is met are negatively associated [1]_, so Chernoff's bound for
    independent ones holds for their sum. Where no two answers should be equal, a single pair is
    impossible already; the bound is then that of a Poisson variable of mean n, which tells a few
    coincidences of rounded numbers from a collapse.

    References
    ----------
    .. [1] K. Joag-Dev, F. Proschan, "Negative association of random variables", 1983,
       doi:10.1214/aos/1176346079
    """
    _, counts = np.unique(x, return_counts=True)
    k, n = counts.size, x.size
    top = float(counts.max()) / n
    if probabilities is None:
        bound = math.exp(k - n - k * math.log(k / n))
        return Occupancy(k, float(n), top, min(1.0, bound))
    met = -np.expm1(n * np.log1p(-np.minimum(probabilities, 1 - 1e-15)))
    expected = float(met.sum())
    if k >= expected:
        return Occupancy(k, expected, top, 1.0)
    logs = np.array([s * k + np.log1p(met * np.expm1(-s)).sum() for s in _SLOPES.tolist()])
    return Occupancy(k, expected, top, float(np.exp(min(0.0, logs.min()))))


def own_cells(target: NumericTarget) -> Floats | None:
    """Return the probabilities of a discrete law's atoms; None where equal answers are no rule."""
    if target.support != "discrete":
        return None
    values = target.ppf(np.linspace(_OUTSIDE, 1 - _OUTSIDE, 4001))
    if bool((values == np.rint(values)).all()):
        return rounded_cells(target, 1.0)
    atoms = np.unique(values)
    return np.asarray(target.cdf(atoms) - target.cdf_left(atoms))


def rounded_cells(target: NumericTarget, step: float) -> Floats | None:
    """Return the probabilities of a law rounded to a lattice; None where there are too many."""
    low, high = target.ppf([_OUTSIDE, 1 - _OUTSIDE]).tolist()
    first, last = np.rint(low / step), np.rint(high / step)
    if not np.isfinite(first) or not np.isfinite(last) or last - first > MOST_CELLS:
        return None
    points = np.arange(first, last + 1) * step
    lower, upper = target.cdf_left(points - step / 2), target.cdf_left(points + step / 2)
    return np.asarray(np.maximum(upper - lower, 0.0))


def lattice_step(x: Floats) -> float | None:
    """Return the largest of 1, 5, 10, 50, ... and .5, .1, .05, ... that divides all answers.

    Parameters
    ----------
    x : numpy.ndarray
        Answers.

    Returns
    -------
    float or None
        None for constant answers, and where no step of at least 1e-9 of the
        largest divides them.
    """
    largest = float(np.abs(x).max(initial=0.0))
    if np.unique(x).size < FEWEST_POINTS or not _SMALLEST < largest < math.inf:
        return None
    top = math.floor(math.log10(largest))
    for exponent in range(top, top - _MOST_DIGITS, -1):
        for multiple in _MULTIPLES:
            step = multiple * 10.0**exponent
            ratio = x / step
            if bool((np.abs(ratio - np.rint(ratio)) <= _SLACK).all()):
                return step
    return None


def is_finer(target: NumericTarget, step: float) -> bool:
    """Tell whether a law takes values between the points of a lattice."""
    return target.support != "discrete" or step > 1.0
