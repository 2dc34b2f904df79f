"""Continuous laws: SciPy's, and the rectified normal, which has an atom at 0."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from unpredictabench.targets.law import NumericLaw, existing, smallest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray


_NEAREST = 1e-300
_INVGAUSS = (1e-4, 100.0)
"""Ratios of mean and shape between which SciPy knows the inverse Gaussian law.

Beyond, its root finder gives up with a warning, or its cdf is infinite.
"""


class ScipyLaw(NumericLaw):
    """A continuous law that scipy.stats has.

    Parameters
    ----------
    spec : mapping
        The law's spec.
    name : str
        Name of the family in scipy.stats.
    shapes : tuple of float
        SciPy's shape parameters.
    loc, scale : float
        SciPy's location and scale.
    n_moments : float
        Moments of lower order than this exist.
    """

    def __init__(
        self,
        spec: Mapping[str, object],
        name: str,
        *shapes: float,
        loc: float = 0.0,
        scale: float = 1.0,
        n_moments: float = math.inf,
    ) -> None:
        super().__init__(spec, "continuous")
        self._name, self._shapes, self._loc, self._scale = name, shapes, loc, scale
        self._n_moments = n_moments

    @cached_property
    def _law(self) -> Any:
        import scipy.stats  # noqa: PLC0415 - a second to import; needed only for numbers

        return getattr(scipy.stats, self._name)(*self._shapes, loc=self._loc, scale=self._scale)

    @cached_property
    def ends(self) -> tuple[float, float]:
        """Lower and upper end of the support, which may be infinite."""
        low, high = self._law.support()
        return float(low), float(high)

    @cached_property
    def _moments(self) -> tuple[float | None, float | None]:
        has_mean, has_std = self._n_moments > 1, self._n_moments > 2
        mean = self._law.mean() if has_mean else math.inf
        return existing(mean, self._law.std() if has_std else math.inf)

    @property
    def _is_beyond_scipy(self) -> bool:
        return self._name == "invgauss" and not _INVGAUSS[0] <= self._shapes[0] <= _INVGAUSS[1]

    def _cdf(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        if self._name == "invgauss":
            # SciPy divides by x, which overflows; nothing of the law is this near to 0.
            x = np.where((x > 0) & (x < _NEAREST), 0.0, x)
            if self._is_beyond_scipy:
                return _wald(x / self._scale, self._shapes[0])
        return np.asarray(self._law.cdf(x), dtype=np.float64)

    def _pdf(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        try:
            density = self._law.pdf(x)
        except OverflowError:  # SciPy's beta raises it beside 0, where the density is huge
            density = np.exp(self._law.logpdf(x))
        return np.asarray(density, dtype=np.float64)

    def _ppf(self, q: NDArray[np.float64]) -> NDArray[np.float64]:
        if self._name == "beta":
            # SciPy's root finder gives up, with a warning, where a shape is small.
            return smallest(self._cdf, q, low=np.zeros_like(q), high=np.ones_like(q))
        if self._is_beyond_scipy:
            high = np.full_like(q, np.finfo(np.float64).max)
            return smallest(self._cdf, q, low=np.zeros_like(q), high=high)
        # Rounding leads out of narrow supports.
        return np.clip(np.asarray(self._law.ppf(q), dtype=np.float64), *self.ends)

    def _sample(self, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
        return np.asarray(self._law.rvs(size=size, random_state=rng), dtype=np.float64)


def _wald(z: NDArray[np.float64], mean: float) -> NDArray[np.float64]:
    """Return the cdf of the inverse Gaussian law of shape 1.

    With a and b as below, b^2 - a^2 = 4 / mean, so that the second term of the textbook's formula,
    exp(2 / mean) Phi(-b), is exp(-a^2 / 2) erfcx(b / sqrt 2) / 2, in which nothing overflows.
    """
    from scipy.special import erfcx, ndtr  # noqa: PLC0415 - needed only for numbers

    inside = np.maximum(z, _NEAREST)
    root = np.sqrt(1.0 / inside)
    with np.errstate(over="ignore"):
        a, b = root * (inside / mean - 1.0), root * (inside / mean + 1.0)
        second = np.exp(-0.5 * a * a) * erfcx(b / math.sqrt(2.0)) / 2.0
    return np.where(z > 0, np.minimum(ndtr(a) + second, 1.0), 0.0)


class RectifiedLaw(NumericLaw):
    """The law of max(0, Z) with Z normal: an atom at 0 and half a normal above it.

    Parameters
    ----------
    spec : mapping
        The law's spec.
    mean, sd : float
        Of Z.
    """

    def __init__(self, spec: Mapping[str, object], mean: float, sd: float) -> None:
        super().__init__(spec, "mixed")
        self._mean, self._sd = mean, sd

    @property
    def ends(self) -> tuple[float, float]:
        """Lower and upper end of the support."""
        return 0.0, math.inf

    @cached_property
    def _moments(self) -> tuple[float | None, float | None]:
        ratio = self._mean / self._sd
        density = math.exp(-0.5 * ratio * ratio) / math.sqrt(2.0 * math.pi)
        above = 0.5 * math.erfc(-ratio / math.sqrt(2.0))
        first = ratio * above + density
        second = (ratio * ratio + 1.0) * above + ratio * density
        variance = max(second - first * first, 0.0)
        return self._sd * first, self._sd * math.sqrt(variance)

    def _atoms(self) -> NDArray[np.float64]:
        return np.zeros(1)

    def _normal(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        from scipy.special import ndtr  # noqa: PLC0415 - needed only for numbers

        return np.asarray(ndtr((x - self._mean) / self._sd), dtype=np.float64)

    def _cdf(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.where(x < 0, 0.0, self._normal(x))

    def _cdf_left(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.where(x <= 0, 0.0, self._normal(x))

    def _pmf(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.where(x == 0, self._normal(x), 0.0)

    def _pdf(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        z = (x - self._mean) / self._sd
        density = np.exp(-0.5 * z * z) / (self._sd * math.sqrt(2.0 * math.pi))
        return np.where(x > 0, density, 0.0)

    def _ppf(self, q: NDArray[np.float64]) -> NDArray[np.float64]:
        from scipy.special import ndtri  # noqa: PLC0415 - needed only for numbers

        above = np.maximum(self._mean + self._sd * ndtri(q), 0.0)
        return np.where(q <= self._normal(np.zeros(1)), 0.0, above)

    def _sample(self, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
        return np.maximum(rng.normal(self._mean, self._sd, size), 0.0)
