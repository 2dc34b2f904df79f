"""Discrete laws: SciPy's on the whole numbers, and laws with a table of atoms."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from unpredictabench.targets.law import NumericLaw, existing, smallest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from unpredictabench.records import Support

    Atoms = tuple[NDArray[np.float64], NDArray[np.float64]]


LARGEST_WHOLE = 2.0**53
_FARTHEST = 1e300
NEGLIGIBLE = 1e-30
"""Weight of an upper tail whose atoms are not listed."""
MOST_LISTED = 100_000


class LatticeLaw(NumericLaw):
    """A law on whole numbers that scipy.stats has.

    Parameters
    ----------
    spec : mapping
        The law's spec.
    name : str
        Name of the family in scipy.stats.
    shapes : tuple of float
        SciPy's shape parameters.
    loc : int
        SciPy's location.
    """

    def __init__(self, spec: Mapping[str, object], name: str, *shapes: float, loc: int = 0) -> None:
        super().__init__(spec, "discrete")
        self._name, self._shapes, self._loc = name, shapes, loc

    @cached_property
    def _law(self) -> Any:
        import scipy.stats  # noqa: PLC0415 - a second to import; needed only for numbers

        return getattr(scipy.stats, self._name)(*self._shapes, loc=self._loc)

    @cached_property
    def ends(self) -> tuple[float, float]:
        """Lower and upper end of the support, which may be infinite."""
        low, high = self._law.support()
        return float(low), float(high)

    @cached_property
    def _moments(self) -> tuple[float | None, float | None]:
        return existing(self._law.mean(), self._law.std())

    def _atoms(self) -> NDArray[np.float64] | None:
        low, end = self.ends
        reach = 16.0
        while reach <= MOST_LISTED:
            if low + reach >= end or self._law.sf(low + reach) < NEGLIGIBLE:
                return np.arange(low, min(low + reach, end) + 1)
            reach *= 2
        return None

    def _cdf(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        # SciPy subtracts the location first, which moves -5e-324 up to a whole number.
        # Its incomplete gamma function is NaN near the largest float, far beyond any atom.
        whole = np.clip(np.floor(x), -_FARTHEST, _FARTHEST)
        return np.where(np.isinf(x), x > 0, np.asarray(self._law.cdf(whole), dtype=np.float64))

    def _cdf_left(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._cdf(np.ceil(x) - 1)

    def _pmf(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        # Beyond 2^53 every float is whole and SciPy's logarithms overflow; nothing is left there.
        is_whole = (np.abs(x) < LARGEST_WHOLE) & (x == np.floor(x))
        return np.where(is_whole, self._law.pmf(np.where(is_whole, x, 0.0)), 0.0)

    def _ppf(self, q: NDArray[np.float64]) -> NDArray[np.float64]:
        x = np.maximum(np.asarray(self._law.ppf(q), dtype=np.float64), self.ends[0])
        # SciPy's inverse may be off where q lies within rounding of a value of the cdf.
        is_wrong = (self._cdf(x) < q) | ((self._cdf(x - 1) >= q) & (x > self.ends[0]))
        if is_wrong.any():
            x[is_wrong] = self._searched(q[is_wrong], x[is_wrong])
        return x

    def _searched(self, q: NDArray[np.float64], near: NDArray[np.float64]) -> NDArray[np.float64]:
        """Find quantiles from places near them, by doubling a bracket and halving it."""
        reach = np.ones_like(q)
        low, high = near - 1, near + 1
        while (is_open := (self._cdf(high) < q) | ((self._cdf(low) >= q) & (low > -np.inf))).any():
            reach = np.where(is_open, 2 * reach, reach)
            low, high = np.maximum(near - reach, self.ends[0] - 1), near + reach
        return smallest(self._cdf, q, low=low, high=high)

    def _contains(self, x: NDArray[np.float64]) -> NDArray[np.bool_]:
        return np.asarray(super()._contains(x) & (x == np.floor(x)))

    def _sample(self, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
        return np.asarray(self._law.rvs(size=size, random_state=rng), dtype=np.float64)


class AtomLaw(NumericLaw):
    """A law with finitely many atoms, given as a table made when it is first needed.

    Parameters
    ----------
    spec : mapping
        The law's spec.
    table : callable
        Returns the atoms, strictly increasing, and their probabilities, which are normalised.
    ends : tuple of float, optional
        Ends of the support where the table stops short of them, because what lies beyond weighs
        less than 1e-30.
    """

    def __init__(
        self,
        spec: Mapping[str, object],
        table: Callable[[], Atoms],
        *,
        ends: tuple[float, float] | None = None,
        support: Support = "discrete",
    ) -> None:
        super().__init__(spec, support)
        self._make, self._ends = table, ends

    @cached_property
    def _table(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Atoms, probabilities, and their running sums with a 0 in front."""
        atoms, weights = self._make()
        sums = np.concatenate(([0.0], np.cumsum(weights)))
        sums /= sums[-1]
        return np.asarray(atoms, dtype=np.float64), weights / weights.sum(), sums

    @property
    def ends(self) -> tuple[float, float]:
        """Lower and upper end of the support, which may be infinite."""
        if self._ends is not None:
            return self._ends
        atoms = self._table[0]
        return float(atoms[0]), float(atoms[-1])

    @cached_property
    def _moments(self) -> tuple[float | None, float | None]:
        atoms, weights, _ = self._table
        mean = float(weights @ atoms)
        return mean, float(np.sqrt(weights @ (atoms - mean) ** 2))

    def _atoms(self) -> NDArray[np.float64]:
        return self._table[0]

    def _cdf(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        atoms, _, sums = self._table
        return sums[np.searchsorted(atoms, x, side="right")]

    def _cdf_left(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        atoms, _, sums = self._table
        return sums[np.searchsorted(atoms, x, side="left")]

    def _pmf(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        atoms, weights, _ = self._table
        place = np.minimum(np.searchsorted(atoms, x), atoms.size - 1)
        return np.where(atoms[place] == x, weights[place], 0.0)

    def _ppf(self, q: NDArray[np.float64]) -> NDArray[np.float64]:
        atoms, _, sums = self._table
        return atoms[np.searchsorted(sums[1:], q, side="left")]

    def _contains(self, x: NDArray[np.float64]) -> NDArray[np.bool_]:
        if self._ends is not None:
            return np.asarray(super()._contains(x) & (x == np.floor(x)))
        atoms = self._table[0]
        return np.asarray(atoms[np.minimum(np.searchsorted(atoms, x), atoms.size - 1)] == x)

    def _sample(self, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
        atoms, _, sums = self._table
        # 1 - random() lies in (0, 1], which the table inverts without a special case.
        return atoms[np.searchsorted(sums[1:], 1.0 - rng.random(size), side="left")]


def finite(values: list[float], probabilities: list[float]) -> Atoms:
    """Return sorted atoms and their probabilities; equal values are put together."""
    atoms, place = np.unique(np.asarray(values, dtype=np.float64), return_inverse=True)
    weights = np.zeros(atoms.size)
    np.add.at(weights, place, probabilities)
    return atoms[weights > 0], weights[weights > 0]


def scipy_pmf(name: str, *shapes: float) -> Atoms:
    """Return the atoms of a law of scipy.stats that has finitely many."""
    import scipy.stats  # noqa: PLC0415 - a second to import; needed only for numbers

    law = getattr(scipy.stats, name)(*shapes)
    low, high = law.support()
    atoms = np.arange(low, high + 1, dtype=np.float64)
    return atoms, np.asarray(law.pmf(atoms), dtype=np.float64)


def poisson_binomial(probabilities: list[float]) -> Atoms:
    """Return the law of the number of successes in independent trials, one convolution a trial."""
    weights = np.ones(1)
    for probability in probabilities:
        weights = np.convolve(weights, (1.0 - probability, probability))
    return np.arange(weights.size, dtype=np.float64), weights


def weighted_multinomial(trials: int, probabilities: list[float], weights: list[int]) -> Atoms:
    """Return the law of a sum of whole weights times multinomial counts, by repeated squaring."""
    low = min(weights)
    step = np.bincount([weight - low for weight in weights], weights=probabilities)
    total, power, remaining = np.ones(1), step, trials
    while remaining:
        if remaining & 1:
            total = np.convolve(total, power)
        remaining >>= 1
        if remaining:
            power = np.convolve(power, power)
    atoms = low * trials + np.arange(total.size, dtype=np.float64)
    return atoms[total > 0], total[total > 0]


def skellam(rate1: float, rate2: float) -> Atoms:
    """Return the law of the difference of two Poisson counts, by convolving their tables.

    Notes
    -----
    All terms are positive, so the tails keep their relative accuracy, which SciPy's detour by
    the noncentral chi-squared law does not.
    """
    low1, weights1 = _poisson_window(rate1)
    low2, weights2 = _poisson_window(rate2)
    weights = np.convolve(weights1, weights2[::-1])
    first = low1 - (low2 + weights2.size - 1)
    return first + np.arange(weights.size, dtype=np.float64), weights


def _poisson_window(rate: float) -> tuple[int, NDArray[np.float64]]:
    """Return Poisson probabilities and their first index; what is left out weighs below 1e-30."""
    # Bernstein: P(|X - rate| >= t) <= 2 exp(-t^2 / (2 rate + 2 t / 3)), below 1e-30 at this t.
    reach = 12.0 * rate**0.5 + 50.0
    low, mode, high = max(0, int(rate - reach)), int(rate), int(rate + reach) + 1
    # Ratios outward from the mode, normalised, lose no digits to large logarithms.
    above = np.cumprod(rate / np.arange(mode + 1, high + 1))
    below = np.cumprod(np.arange(mode, low, -1) / rate)
    weights = np.concatenate((below[::-1], [1.0], above))
    return low, weights / weights.sum()
