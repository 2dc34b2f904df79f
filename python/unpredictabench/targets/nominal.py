"""Laws on labels and on permutations."""

from __future__ import annotations

from functools import cached_property
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from unpredictabench.targets.law import Law

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from unpredictabench.records import Outcome


class NominalLaw(Law):
    """A law on finitely many outcomes that have no order.

    Parameters
    ----------
    spec : mapping
        The law's spec.
    table : callable
        Returns the outcomes and their probabilities, which are normalised.
    """

    def __init__(
        self,
        spec: Mapping[str, object],
        table: Callable[[], tuple[tuple[Outcome, ...], NDArray[np.float64]]],
        *,
        is_exact: bool = True,
    ) -> None:
        super().__init__(spec, "nominal")
        self._make, self.is_exact = table, is_exact

    @cached_property
    def _table(self) -> tuple[tuple[Outcome, ...], NDArray[np.float64]]:
        outcomes, weights = self._make()
        probabilities = weights / weights.sum()
        probabilities.flags.writeable = False
        return outcomes, probabilities

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """The legal outcomes, in the order of `probabilities`."""
        return self._table[0]

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """Probability of each outcome; they sum to 1."""
        return self._table[1]

    def _sample(self, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        chosen = rng.choice(len(self.outcomes), size, p=self.probabilities)
        return np.asarray(chosen, dtype=np.int64)


def uniform_orders(n: int) -> tuple[tuple[Outcome, ...], NDArray[np.float64]]:
    """Return all orders of n items as tuples of indices, in lexicographic order, equally likely."""
    orders: tuple[Outcome, ...] = tuple(permutations(range(n)))
    return orders, np.ones(len(orders))
