"""Compound Poisson laws: the sum of a Poisson number of independent jumps."""

from __future__ import annotations

import math
from abc import abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from unpredictabench.targets.law import NumericLaw, smallest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

NEGLIGIBLE = 1e-18
"""Poisson weight that is left out, in sum, of every series over the number of jumps."""


class CompoundLaw(NumericLaw):
    """A sum of Poisson many positive continuous jumps, with an atom at 0.

    Parameters
    ----------
    spec : mapping
        The law's spec.
    rate : float
        Expected number of jumps.

    Notes
    -----
    The cdf is the Poisson-weighted sum over the number of jumps of the cdf of that many jumps; all
    terms are positive and increasing, and the series stops at a weight of 1e-18.
    """

    def __init__(self, spec: Mapping[str, object], rate: float) -> None:
        super().__init__(spec, "mixed")
        self._rate = rate

    @property
    def ends(self) -> tuple[float, float]:
        """Lower and upper end of the support."""
        return 0.0, math.inf

    @cached_property
    def _moments(self) -> tuple[float | None, float | None]:
        mean, variance = self._jump_moments
        return self._rate * mean, math.sqrt(self._rate * (variance + mean * mean))

    @cached_property
    def _weights(self) -> NDArray[np.float64]:
        """Probabilities of 0, 1, 2, ... jumps."""
        weights = [math.exp(-self._rate)]
        while len(weights) <= self._rate or weights[-1] > NEGLIGIBLE:
            weights.append(weights[-1] * self._rate / len(weights))
        return np.array(weights)

    def _atoms(self) -> NDArray[np.float64]:
        return np.zeros(1)

    def _cdf(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        total = np.where(x < 0, 0.0, self._weights[0])
        inside = np.maximum(x, 0.0)
        for weight, part in zip(self._weights[1:], self._sums(inside), strict=False):
            total += weight * np.where(x > 0, part, 0.0)
        return np.minimum(total, 1.0)

    def _cdf_left(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.where(x == 0, 0.0, self._cdf(x))

    def _pmf(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.where(x == 0, self._weights[0], 0.0)

    def _pdf(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        inside = np.where(x > 0, x, 1.0)
        density = np.zeros_like(x)
        for weight, part in zip(self._weights[1:], self._densities(inside), strict=False):
            density += weight * part
        return np.where(x > 0, density, 0.0)

    def _ppf(self, q: NDArray[np.float64]) -> NDArray[np.float64]:
        high = np.full_like(q, self._rate * self._jump_moments[0] + 1.0)
        while (is_short := self._cdf(high) < q).any():
            high = np.where(is_short, 2.0 * high, high)
        found = smallest(self._cdf, q, low=np.zeros_like(q), high=high)
        return np.where(q <= self._weights[0], 0.0, found)

    @property
    @abstractmethod
    def _jump_moments(self) -> tuple[float, float]:
        """Mean and variance of one jump."""

    @abstractmethod
    def _sums(self, x: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
        """Yield the cdf of 1, 2, ... jumps without end."""

    @abstractmethod
    def _densities(self, x: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
        """Yield the density of 1, 2, ... jumps without end."""


class GammaJumps(CompoundLaw):
    """Jumps with a gamma law; n of them sum to a gamma of n times the shape.

    Parameters
    ----------
    spec : mapping
        The law's spec.
    rate, shape, scale : float
        Expected number of jumps; shape and scale of one.
    """

    def __init__(
        self, spec: Mapping[str, object], rate: float, *, shape: float, scale: float
    ) -> None:
        super().__init__(spec, rate)
        self._shape, self._scale = shape, scale

    @property
    def _jump_moments(self) -> tuple[float, float]:
        return self._shape * self._scale, self._shape * self._scale**2

    def _sums(self, x: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
        from scipy.special import gammainc  # noqa: PLC0415 - needed only for numbers

        for n in range(1, self._weights.size):
            yield gammainc(n * self._shape, x / self._scale)

    def _densities(self, x: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
        from scipy.special import gammaln, xlogy  # noqa: PLC0415 - needed only for numbers

        z = x / self._scale
        for n in range(1, self._weights.size):
            shape = n * self._shape
            yield np.exp(xlogy(shape - 1.0, z) - z - gammaln(shape)) / self._scale

    def _sample(self, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
        counts = rng.poisson(self._rate, size)
        return rng.standard_gamma(counts * self._shape) * self._scale


class UniformJumps(CompoundLaw):
    """Jumps uniform between two positive numbers.

    Parameters
    ----------
    spec : mapping
        The law's spec.
    rate, low, high : float
        Expected number of jumps; ends of one.

    Notes
    -----
    n standard uniforms have F_n(y) = (y F_{n-1}(y) + (n - y) F_{n-1}(y - 1)) / n on [0, n]: a
    convex combination at every step, where the textbook's alternating sum loses all digits.
    """

    def __init__(self, spec: Mapping[str, object], rate: float, *, low: float, high: float) -> None:
        super().__init__(spec, rate)
        self._low, self._width = low, high - low

    @property
    def _jump_moments(self) -> tuple[float, float]:
        return self._low + 0.5 * self._width, self._width**2 / 12.0

    def _sums(self, x: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
        for n in range(1, self._weights.size):
            yield irwin_hall(n, (x - n * self._low) / self._width)

    def _densities(self, x: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
        for n in range(1, self._weights.size):
            y = (x - n * self._low) / self._width
            if n == 1:
                yield np.where((y >= 0) & (y <= 1), 1.0, 0.0) / self._width
            else:
                yield (irwin_hall(n - 1, y) - irwin_hall(n - 1, y - 1.0)) / self._width

    def _sample(self, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
        counts = rng.poisson(self._rate, size)
        owner = np.repeat(np.arange(size), counts)
        jumps = self._low + self._width * rng.random(owner.size)
        sums = np.bincount(owner, weights=jumps, minlength=size)
        return np.asarray(sums, dtype=np.float64)


def irwin_hall(n: int, y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the cdf of the sum of n standard uniforms."""
    inside = np.clip(y, 0.0, float(n))
    cell = np.minimum(np.floor(inside), n - 1.0)
    # Row j holds F_m at (fraction + j); F_0 is the step at 0.
    points = (inside - cell)[None, :] + np.arange(n)[:, None]
    values = np.ones_like(points)
    for m in range(1, n + 1):
        shifted = np.concatenate((np.zeros((1, y.size)), values[:-1]))
        mixed = (points * values + (m - points) * shifted) / m
        values = np.where(points < m, mixed, 1.0)
    found: NDArray[np.float64] = values[cell.astype(np.int64), np.arange(y.size)]
    return found


def finite_jumps(
    rate: float, values: Sequence[int], probabilities: Sequence[float]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the atoms of a compound Poisson law whose jumps are whole numbers of at least 0.

    Notes
    -----
    Panjer's recursion p_s = (rate / s) sum_j j f_j p_{s-j}: positive terms only. It stops where
    what is left weighs less than 1e-18 by the bound on the number of jumps.
    """
    jumps = np.bincount(np.asarray(values), weights=np.asarray(probabilities))
    top = jumps.size - 1
    weighted = rate * np.arange(top + 1) * jumps
    # Bernstein on the number of jumps, as for the table of a Poisson law.
    length = top * int(rate + 12.0 * math.sqrt(rate) + 51.0) + 1
    weights = np.zeros(length)
    weights[0] = math.exp(-rate * (1.0 - jumps[0]))
    for s in range(1, length):
        reach = min(top, s)
        weights[s] = weighted[1 : reach + 1] @ weights[s - reach : s][::-1] / s
    return np.flatnonzero(weights).astype(np.float64), weights[weights > 0]
