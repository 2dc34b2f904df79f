"""Tests of pools at every N: the columns that all kinds of tasks share."""

from __future__ import annotations

from dataclasses import dataclass, fields
from itertools import islice
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from unpredictabench.score.pools import Pool, Sample
    from unpredictabench.score.rules import Rules

Floats: TypeAlias = "NDArray[np.float64]"
Integers: TypeAlias = "NDArray[np.int64]"


SETTLED: Final = 1e-12
"""Shares of subsets this close to 0 or 1 are all or nothing but for rounding."""


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


class Comparison(Protocol):
    """Pools beside what they are compared with; all of them of one kind."""

    @property
    def pools(self) -> Sequence[Pool]:
        """The pools, none of them empty."""
        ...

    @property
    def method(self) -> str:
        """Name of the null."""
        ...

    @property
    def has_exact_shares(self) -> bool:
        """Whether a share of 0 or 1 speaks for every subset."""
        ...

    def whole(self, verdicts: Verdicts) -> None:
        """Fill in the test of all answers."""
        ...

    def passes(self, samples: Sequence[Sample], rows: Integers, alpha: float) -> NDArray[np.bool_]:
        """Tell which samples pass, each compared with what the pool of its row is."""
        ...

    def shares(self, n: Integers, rules: Rules) -> tuple[Floats, Floats]:
        """Return the share of subsets of each size that pass, and its standard error."""
        ...

    def sizes(self, n: Integers, alpha: float) -> Floats:
        """Return the attainable size at each N."""
        ...


def judge(
    comparison: Comparison, rules: Rules, curve_n: Integers, *, only_rates: bool = False
) -> Verdicts:
    """Test pools at every size.

    Parameters
    ----------
    comparison : Comparison
        The pools, all exchangeable or all not.
    rules : Rules
        Sizes and level.
    curve_n : numpy.ndarray of int64
        Sizes of the curve, among them those asked for.
    only_rates : bool
        Whether pass rates of exchangeable answers are all that is wanted.

    Returns
    -------
    Verdicts
        One row a pool.
    """
    pools = comparison.pools
    verdicts = Verdicts.empty(len(pools), len(rules.n), curve_n.size)
    verdicts.method[:] = comparison.method
    asked = np.array(rules.n, dtype=np.int64)
    if not only_rates:
        comparison.whole(verdicts)
        verdicts.sizes[:] = comparison.sizes(asked, rules.alpha)
    places, is_there = np.searchsorted(curve_n, asked), np.isin(asked, curve_n)
    only_rates &= rules.protocol != "paper"  # there fewer than N answers have a rate too
    if not curve_n.size and only_rates:  # no pool is large enough for any
        return verdicts
    if pools[0].is_exchangeable:
        verdicts.curve[:], errors = comparison.shares(curve_n, rules)
        verdicts.rates[:, is_there] = verdicts.curve[:, places[is_there]]
        verdicts.errors[:, is_there] = errors[:, places[is_there]]
        if only_rates:
            return verdicts
        known = verdicts.rates if comparison.has_exact_shares else np.full_like(verdicts.rates, 0.5)
        first, shrunk, _ = _block_rates(comparison, rules, known)
        verdicts.passes[:] = first
        verdicts.rates[:, ~is_there] = shrunk[:, ~is_there]
    else:
        first, rates, errors = _block_rates(comparison, rules, np.full_like(verdicts.rates, 0.5))
        verdicts.passes[:], verdicts.rates[:], verdicts.errors[:] = first, rates, errors
        verdicts.curve[:, places[is_there]] = rates[:, is_there]
    return verdicts


def _block_rates(
    comparison: Comparison, rules: Rules, known: Floats
) -> tuple[Floats, Floats, Floats]:
    """Judge samples that share no answer: the first N, and in batches all that follow.

    Where the `known` share of subsets that pass is all or nothing, so is every sample's verdict,
    and nothing is tested. Returns the verdict of the first N answers, the share of samples that
    pass, and its error over replies; NaN where there are fewer than N answers.
    """
    pools = comparison.pools
    first, rate, error = (np.full((len(pools), len(rules.n)), np.nan) for _ in range(3))
    for column, size in enumerate(rules.n):
        share = known[:, column]
        is_settled = (share <= SETTLED) | (share >= 1 - SETTLED)
        first[is_settled, column] = rate[is_settled, column] = np.round(share[is_settled])
        samples: list[Sample] = []
        rows: list[int] = []
        for row in np.flatnonzero(~is_settled).tolist():
            blocks = pools[row].blocks(size)
            kept = list(islice(blocks, 1) if pools[row].is_exchangeable else blocks)
            samples += kept
            rows += [row] * len(kept)
        if not samples:
            continue
        origin = np.array(rows, dtype=np.int64)
        passed = comparison.passes(samples, origin, rules.alpha).astype(np.float64)
        places, starts, counts = np.unique(origin, return_index=True, return_counts=True)
        first[places, column] = passed[starts]
        shares = np.add.reduceat(passed, starts) / counts
        spread = np.sqrt(shares * (1 - shares) / np.maximum(counts - 1, 1))
        rate[places, column] = shares
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
