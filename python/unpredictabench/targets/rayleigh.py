"""Laws whose parameter is itself drawn from a Rayleigh law."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from unpredictabench.targets.law import NumericLaw, smallest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

LEAST_NODES = 100
NODES_PER_SHAPE = 90.0
"""Nodes of the quadrature over R: the step must resolve a gamma of relative width 1/sqrt(shape)."""


class RayleighNormalLaw(NumericLaw):
    """The law of offset + slope R + sd Z, with R Rayleigh and Z standard normal.

    Parameters
    ----------
    spec : mapping
        The law's spec.
    scale : float
        Scale of R.
    offset, slope, sd : float
        Slope other than 0, sd above 0.

    Notes
    -----
    With s = scale |slope| and t^2 = s^2 + sd^2, and y counted from the offset in the direction of
    the slope, P(Y <= y) = Phi(y / sd) - (s / t) exp(-y^2 / (2 t^2)) Phi(y s / (sd t)); absolute
    error 1e-16.
    """

    def __init__(
        self,
        spec: Mapping[str, object],
        scale: float,
        *,
        offset: float,
        slope: float,
        sd: float,
    ) -> None:
        super().__init__(spec, "continuous")
        self._scale, self._offset, self._slope, self._sd = scale, offset, slope, sd
        self._s = scale * abs(slope)
        self._t = math.hypot(self._s, sd)

    @property
    def ends(self) -> tuple[float, float]:
        """Lower and upper end of the support."""
        return -math.inf, math.inf

    @cached_property
    def _moments(self) -> tuple[float | None, float | None]:
        mean = self._offset + self._slope * self._scale * math.sqrt(math.pi / 2.0)
        return mean, math.sqrt((2.0 - math.pi / 2.0) * self._s**2 + self._sd**2)

    def _upward(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the cdf of |slope| R + sd Z."""
        from scipy.special import ndtr  # noqa: PLC0415 - needed only for numbers

        bell = self._s / self._t * np.exp(-0.5 * (y / self._t) ** 2)
        below = ndtr(y / self._sd) - bell * ndtr(y * self._s / (self._sd * self._t))
        return np.asarray(np.clip(below, 0.0, 1.0))

    def _cdf(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        y = x - self._offset
        return self._upward(y) if self._slope > 0 else 1.0 - self._upward(-y)

    def _pdf(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        from scipy.special import ndtr  # noqa: PLC0415 - needed only for numbers

        y = math.copysign(1.0, self._slope) * (x - self._offset)
        narrow = np.exp(-0.5 * (y / self._sd) ** 2) / math.sqrt(2.0 * math.pi)
        wide = np.exp(-0.5 * (y / self._t) ** 2) * ndtr(y * self._s / (self._sd * self._t))
        density = self._sd * narrow / self._t**2 + self._s * y * wide / self._t**3
        return np.asarray(np.maximum(density, 0.0))

    def _ppf(self, q: NDArray[np.float64]) -> NDArray[np.float64]:
        reach = 40.0 * self._t
        low = np.full_like(q, self._offset - reach)
        return smallest(self._cdf, q, low=low, high=np.full_like(q, self._offset + reach))

    def _sample(self, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
        radius = rng.rayleigh(self._scale, size)
        return self._offset + self._slope * radius + self._sd * rng.standard_normal(size)


class RayleighGammaLaw(NumericLaw):
    """The law of a gamma of given shape whose scale is R / divisor, with R Rayleigh.

    Parameters
    ----------
    spec : mapping
        The law's spec.
    scale : float
        Scale of R.
    shape, divisor : float
        Of the gamma given R.

    Notes
    -----
    R = scale sqrt(2 E) with E a standard exponential, so the cdf is the integral of
    exp(-e) P(shape, x divisor / (scale sqrt(2 e))) over e > 0, done by the double exponential rule
    e = exp(v - exp(-v)) [1]_; absolute error 1e-14.

    References
    ----------
    .. [1] H. Takahasi and M. Mori, "Double exponential formulas for numerical integration",
       Publ. RIMS 9, 721-741, 1974. doi:10.2977/prims/1195192451
    """

    def __init__(
        self, spec: Mapping[str, object], scale: float, *, shape: float, divisor: float
    ) -> None:
        super().__init__(spec, "continuous")
        self._scale, self._shape, self._divisor = scale, shape, divisor

    @property
    def ends(self) -> tuple[float, float]:
        """Lower and upper end of the support."""
        return 0.0, math.inf

    @cached_property
    def _moments(self) -> tuple[float | None, float | None]:
        mean = self._shape * self._scale * math.sqrt(math.pi / 2.0) / self._divisor
        square = 2.0 * self._shape * (self._shape + 1.0) * (self._scale / self._divisor) ** 2
        return mean, math.sqrt(square - mean * mean)

    @cached_property
    def _rule(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Scales of the gamma and their weights, normalised to sum 1."""
        n_nodes = LEAST_NODES + round(NODES_PER_SHAPE * math.sqrt(self._shape))
        v, step = np.linspace(-4.7, 4.3, n_nodes, retstep=True)
        e = np.exp(v - np.exp(-v))
        weights = step * np.exp(-e) * e * (1.0 + np.exp(-v))
        return self._scale * np.sqrt(2.0 * e) / self._divisor, weights / weights.sum()

    def _cdf(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        from scipy.special import gammainc  # noqa: PLC0415 - needed only for numbers

        scales, weights = self._rule
        below = gammainc(self._shape, np.maximum(x, 0.0)[:, None] / scales) @ weights
        return np.asarray(np.clip(below, 0.0, 1.0))

    def _pdf(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        from scipy.special import gammaln, xlogy  # noqa: PLC0415 - needed only for numbers

        scales, weights = self._rule
        is_inside = x > 0
        z = np.where(is_inside, x, 1.0)[:, None] / scales
        density = np.exp(xlogy(self._shape - 1.0, z) - z - gammaln(self._shape)) / scales
        return np.where(is_inside, density @ weights, 0.0)

    def _ppf(self, q: NDArray[np.float64]) -> NDArray[np.float64]:
        high = np.full_like(q, self._shape * self._scale / self._divisor)
        while (is_short := self._cdf(high) < q).any():
            high = np.where(is_short, 2.0 * high, high)
        return smallest(self._cdf, q, low=np.zeros_like(q), high=high)

    def _sample(self, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
        radius = rng.rayleigh(self._scale, size)
        return rng.standard_gamma(self._shape, size) * radius / self._divisor
