"""Finite mixtures of laws."""

from __future__ import annotations

import math
from functools import cached_property, reduce
from typing import TYPE_CHECKING

import numpy as np

from unpredictabench.targets.law import NumericLaw, smallest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from unpredictabench.records import Support


class MixtureLaw(NumericLaw):
    """A law that first chooses one of several laws, then draws from it.

    Parameters
    ----------
    spec : mapping
        The law's spec.
    weights : sequence of float
        Probability of each component; positive, with sum 1.
    components : sequence of NumericLaw
        What is mixed; any of them may have atoms.

    Notes
    -----
    The cdf is the weighted sum, as accurate and as monotone as the components' own. The quantile
    lies between the components' quantiles; bisection over the floats finds the smallest one.
    """

    def __init__(
        self,
        spec: Mapping[str, object],
        weights: Sequence[float],
        components: Sequence[NumericLaw],
    ) -> None:
        kinds = {component.support for component in components}
        support: Support = kinds.pop() if len(kinds) == 1 else "mixed"
        super().__init__(spec, support)
        self._weights, self._components = tuple(weights), tuple(components)

    @cached_property
    def ends(self) -> tuple[float, float]:
        """Lower and upper end of the support, which may be infinite."""
        ends = [component.ends for component in self._components]
        return min(low for low, _ in ends), max(high for _, high in ends)

    @cached_property
    def _moments(self) -> tuple[float | None, float | None]:
        means = [component.mean for component in self._components]
        known = [mean for mean in means if mean is not None]
        if len(known) < len(means):
            return None, None
        mean = math.fsum(w * m for w, m in zip(self._weights, known, strict=True))
        variance = 0.0
        for weight, centre, part in zip(self._weights, known, self._components, strict=True):
            if part.std is None:
                return mean, None
            variance += weight * (part.std**2 + (centre - mean) ** 2)
        return mean, math.sqrt(variance)

    def _summed(
        self,
        function: Callable[[NumericLaw], NDArray[np.float64]],
    ) -> NDArray[np.float64]:
        parts = (w * function(c) for w, c in zip(self._weights, self._components, strict=True))
        return reduce(np.add, parts)

    def _atoms(self) -> NDArray[np.float64] | None:
        lists = [part._atoms() for part in self._components]  # noqa: SLF001 - the same class
        known = [atoms for atoms in lists if atoms is not None]
        return np.unique(np.concatenate(known)) if len(known) == len(lists) else None

    def _cdf(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.minimum(self._summed(lambda part: part.cdf(x)), 1.0)

    def _cdf_left(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.minimum(self._summed(lambda part: part.cdf_left(x)), 1.0)

    def _pmf(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._summed(lambda part: part.pmf(x))

    def _pdf(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        densities = ((part, part.pdf(x)) for part in self._components)
        known = {id(part): density for part, density in densities if density is not None}
        return self._summed(lambda part: known.get(id(part), np.zeros_like(x)))

    def _ppf(self, q: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.support == "discrete" and self._jumps is not None:
            atoms, _, sums = self._jumps
            return atoms[np.minimum(np.searchsorted(sums, q, side="left"), atoms.size - 1)]
        quantiles = np.stack([part.ppf(q) for part in self._components])
        low, high = quantiles.min(axis=0), quantiles.max(axis=0)
        # Rounding may leave the weighted sum just under q at the upper bracket.
        while (is_short := self._cdf(high) < q).any():
            high = np.where(is_short, np.nextafter(high, np.inf), high)
            high = np.where(is_short, high + np.abs(high) * 1e-12, high)
        return smallest(self._cdf, q, low=low, high=high)

    def _contains(self, x: NDArray[np.float64]) -> NDArray[np.bool_]:
        return np.asarray(np.any([part.contains(x) for part in self._components], axis=0))

    def _sample(self, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
        chosen = rng.choice(len(self._components), size, p=self._weights)
        out = np.empty(size)
        for index, part in enumerate(self._components):
            mine = chosen == index
            out[mine] = part.sample(int(mine.sum()), rng)
        return out
