"""A law of which only draws are known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unpredictabench.targets.discrete import AtomLaw, finite

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray


class EmpiricalLaw(AtomLaw):
    """The law of a sample: what is tested against it must be tested as two samples.

    Parameters
    ----------
    spec : mapping
        The law's spec.
    values : sequence of float
        The sample, at least two numbers.

    Notes
    -----
    `is_exact` is False; `draws` gives the sample itself, in its own order, and never more than
    there is. The support is called discrete where a value occurs twice and continuous where none
    does, although the function returned by `cdf` is the step function of the sample.
    """

    is_exact = False

    def __init__(self, spec: Mapping[str, object], values: Sequence[float]) -> None:
        has_ties = len(set(values)) < len(values)
        super().__init__(
            spec,
            lambda: finite(list(values), [1.0 / len(values)] * len(values)),
            support="discrete" if has_ties else "continuous",
        )
        self._values = values

    def draws(self, m: int, stream_name: str) -> NDArray[np.generic]:  # noqa: ARG002 - no randomness
        """Return the first `m` values of the sample, or all of them when there are fewer."""
        return np.asarray(self._values[:m], dtype=np.float64)

    def _contains(self, x: NDArray[np.float64]) -> NDArray[np.bool_]:
        low, high = self.ends
        return np.asarray((low <= x) & (x <= high))
