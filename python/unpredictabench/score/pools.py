"""The answers that a protocol looks at: the pool of a task, and its samples of N."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from unpredictabench.extract.observations import Observed
    from unpredictabench.score.rules import Protocol

Floats: TypeAlias = "NDArray[np.float64]"
Sample: TypeAlias = "tuple[Floats, int]"
"""Valid values, and the number of invalid answers beside them."""


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """The slots of one task that count.

    Parameters
    ----------
    observed : Observed
        The task and what its slots hold.
    slots : numpy.ndarray of float64
        Values in the order of the slots, NaN where invalid; only the valid ones under "valid".
    n_asked : int
        Answers in one reply; more than 1 only for batch sampling under "strict".
    is_shrinking : bool
        Whether fewer than N answers stand for N, as published.
    """

    observed: Observed
    slots: Floats
    n_asked: int
    is_shrinking: bool = False

    @property
    def whole(self) -> Sample:
        """All of it."""
        return _sample(self.slots)

    @property
    def is_exchangeable(self) -> bool:
        """Whether any subset of the answers is as good as any other."""
        return self.observed.n_asked == 1

    def blocks(self, n: int) -> Iterator[Sample]:
        """Yield the samples of `n` answers that share none, the first `n` answers first.

        Answers of one reply are not independent of each other: a sample starts with a reply.
        """
        if self.is_shrinking and 0 < self.slots.size < n:
            yield self.whole
        stride = -(-n // self.n_asked) * self.n_asked
        for start in range(0, self.slots.size - n + 1, stride):
            yield _sample(self.slots[start : start + n])


def pool_of(observed: Observed, protocol: Protocol) -> Pool:
    """Choose the slots of a task that a protocol looks at.

    Parameters
    ----------
    observed : Observed
        What the slots hold.
    protocol : {"strict", "valid", "paper"}
        "strict" takes all slots; "valid" the valid ones; "paper" the valid ones in the order of
        the published result folders, which are sorted as text: run_1, run_10, run_100, run_11.

    Returns
    -------
    Pool
        The pool.
    """
    if protocol == "strict":
        return Pool(observed, observed.values, observed.n_asked)
    if protocol == "valid":
        return Pool(observed, observed.valid, 1)
    order = np.argsort([str(number + 1) for number in observed.numbers.tolist()], kind="stable")
    values = observed.values[order]
    return Pool(observed, values[np.isfinite(values)], 1, is_shrinking=True)


def _sample(slots: Floats) -> Sample:
    is_valid = ~np.isnan(slots)
    return slots[is_valid], int(slots.size - np.count_nonzero(is_valid))
