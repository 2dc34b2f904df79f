"""Tests of pools at every N: the columns that all kinds of tasks share."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from unpredictabench.score.pools import Pool, Sample

Floats: TypeAlias = "NDArray[np.float64]"
Integers: TypeAlias = "NDArray[np.int64]"


@dataclass(frozen=True, slots=True, eq=False)
class Verdicts:
    """Tests of some tasks; NaN where there is nothing to test.

    Parameters
    ----------
    method : numpy.ndarray of object, shape (tasks,)
        Name of the null, or None.
    statistic, location, sign, pvalue, log_pvalue : numpy.ndarray, shape (tasks,)
        The test of all answers.
    passes : numpy.ndarray, shape (tasks, n)
        1 where the first N answers pass, 0 where they fail.
    rates, errors : numpy.ndarray, shape (tasks, n)
        Pass rates at the sizes asked for, and their standard errors.
    sizes : numpy.ndarray, shape (tasks, n)
        Attainable size: largest probability up to alpha with which a faithful sampler fails.
    curve : numpy.ndarray, shape (tasks, curve)
        Pass rates at the sizes of the curve.
    """

    method: NDArray[np.object_]
    statistic: Floats
    location: Floats
    sign: Floats
    pvalue: Floats
    log_pvalue: Floats
    passes: Floats
    rates: Floats
    errors: Floats
    sizes: Floats
    curve: Floats

    @classmethod
    def empty(cls, n_tasks: int, n_sizes: int, n_curve: int) -> Verdicts:
        """Return verdicts about nothing, to be filled in."""
        column = (n_tasks,)
        wide, long = (n_tasks, n_sizes), (n_tasks, n_curve)
        shapes = [column] * 5 + [wide] * 4 + [long]
        return cls(np.full(column, None), *(np.full(shape, np.nan) for shape in shapes))

    def put(self, rows: Sequence[int] | NDArray[np.intp], part: Verdicts) -> None:
        """Take over the verdicts of some tasks."""
        for each in fields(self):
            getattr(self, each.name)[rows] = getattr(part, each.name)


def block_rates(
    pools: Sequence[Pool],
    n: Sequence[int],
    verdict: Callable[[list[Sample], Integers, int], NDArray[np.bool_]],
) -> tuple[Floats, Floats, Floats]:
    """Judge samples that share no answer.

    Parameters
    ----------
    pools : sequence of Pool
        Pools of answers.
    n : sequence of int
        Sizes N.
    verdict : callable
        From samples, the row of the pool each came from, and N, to whether each passes.

    Returns
    -------
    first, rate, error : numpy.ndarray, shape (pools, n)
        Verdict of the first N answers; for batch sampling the share of samples that pass and its
        error over replies, else NaN.
    """
    first, rate, error = (np.full((len(pools), len(n)), np.nan) for _ in range(3))
    for column, size in enumerate(n):
        samples: list[Sample] = []
        rows: list[int] = []
        for row, pool in enumerate(pools):
            found = [pool.first(size)] if pool.is_exchangeable else list(pool.blocks(size))
            kept = [sample for sample in found if sample is not None]
            samples += kept
            rows += [row] * len(kept)
        if not samples:
            continue
        origin = np.array(rows, dtype=np.int64)
        passed = verdict(samples, origin, size).astype(np.float64)
        places, starts, counts = np.unique(origin, return_index=True, return_counts=True)
        first[places, column] = passed[starts]
        rate[places, column] = np.add.reduceat(passed, starts) / counts
        share = rate[places, column]
        spread = np.sqrt(share * (1 - share) / np.maximum(counts - 1, 1))
        error[places, column] = np.where(counts > 1, spread, np.nan)
    return first, rate, error


def curve_sizes(n_slots: int, asked: Sequence[int]) -> Integers:
    """Return the sizes at which the whole curve is computed: every N to 200, then 5 % steps."""
    every = np.arange(1, min(n_slots, 200) + 1)
    beyond = 200 * 1.05 ** np.arange(1, 200)
    some = np.append(beyond[beyond < n_slots].astype(np.int64), n_slots)
    wanted = [size for size in asked if size <= n_slots]
    sizes = np.unique(np.concatenate([every, some, np.array(wanted, dtype=np.int64)]))
    return sizes[sizes >= 1].astype(np.int64)
