"""Tests of nominal tasks and of shuffles, which no order of the labels can change."""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import numpy as np

from unpredictabench.score.shipped import law_name, shipped
from unpredictabench.stats import multinomial_at_n, permutation_at_n, permutation_test_uniform
from unpredictabench.stats._nominal import law_of_labels
from unpredictabench.targets.cache import remembered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from unpredictabench.records import NominalTarget, Task
    from unpredictabench.score.pools import Pool, Sample
    from unpredictabench.score.rules import Rules
    from unpredictabench.score.verdicts import Verdicts
    from unpredictabench.stats._ks_at_n import KsAtNResult
    from unpredictabench.stats._nominal import LabelLaw

Floats: TypeAlias = "NDArray[np.float64]"
Integers: TypeAlias = "NDArray[np.int64]"

N_DRAWS: Final = 10_000_000
"""Draws of a null that cannot be computed."""
DIGITS: Final = 10
"""Decimals to which drawn distances are told apart."""
COARSE: Final = (1, 2, 5, 10, 14, 20, 30, 50, 70, 100, 140, 200, 300, 500, 700, 1000)
"""Sizes at which pass rates of labels are computed; in between they are interpolated."""


def is_shuffle(task: Task) -> bool:
    """Whether all orders of a task's items are equally likely."""
    if task.answer.kind != "permutation" or task.support != "nominal":
        return False
    probabilities = _target(task).probabilities
    n_orders = int(np.prod(np.arange(2, len(task.answer.items) + 1)))
    return probabilities.size == n_orders and bool(np.ptp(probabilities) < 1e-12)


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """Pools of labels compared with the probabilities of their tasks by total variation.

    Parameters
    ----------
    pools : sequence of Pool
        The pools, none of them empty.
    """

    pools: Sequence[Pool]

    @property
    def method(self) -> str:
        """Name of the null."""
        return "total-variation"

    @property
    def has_exact_shares(self) -> bool:
        """Whether a share of 0 or 1 speaks for every subset."""
        return False

    def whole(self, verdicts: Verdicts) -> None:
        """Fill in the test of all answers; drawn p-values are remembered on disk."""
        for row, pool in enumerate(self.pools):
            law, n = label_law(pool.observed.task), pool.slots.size
            counts, lost = _counts(law, pool.whole)
            distance = float(law.distances(counts, lost)[0])
            verdicts.statistic[row] = distance
            if law.is_exact(n):
                _fill(verdicts, row, float(law.pvalues(n, counts, lost)[0]))
            else:
                _fill(verdicts, row, drawn_pvalue(pool.observed.task, n, distance))

    def passes(self, samples: Sequence[Sample], rows: Integers, alpha: float) -> NDArray[np.bool_]:
        """Tell which samples pass."""
        passed = np.zeros(len(samples), dtype=np.bool_)
        for place, (row, sample) in enumerate(zip(rows, samples, strict=True)):
            law = label_law(self.pools[row].observed.task)
            counts, lost = _counts(law, sample)
            critical = law.critical(int(counts.sum() + lost.sum()), alpha)
            passed[place] = law.distances(counts, lost)[0] < critical
        return passed

    def shares(self, n: Integers, rules: Rules) -> tuple[Floats, Floats]:
        """Return the share of subsets of some sizes that pass; in between it is interpolated."""
        rates, errors = np.empty((2, len(self.pools), n.size))
        some = coarse_sizes(n, rules)
        for row, pool in enumerate(self.pools):
            law = label_law(pool.observed.task)
            counts, lost = _counts(law, pool.whole)
            found = multinomial_at_n(
                counts[0], law.p, some, alpha=rules.alpha, n_invalid=int(lost[0])
            )
            rates[row], errors[row] = _between(n, some, found)
        return rates, errors

    def sizes(self, n: Integers, alpha: float) -> Floats:
        """Return alpha, an upper bound of the attainable size."""
        return np.full((len(self.pools), n.size), alpha)


@dataclass(frozen=True, slots=True, eq=False)
class Shuffles:
    """Pools of permutations that should be uniform: the whole ones, and each Lehmer digit.

    Parameters
    ----------
    pools : sequence of Pool
        The pools, none of them empty.
    """

    pools: Sequence[Pool]

    @property
    def method(self) -> str:
        """Name of the null."""
        return "holm"

    @property
    def has_exact_shares(self) -> bool:
        """Whether a share of 0 or 1 speaks for every subset."""
        return False

    def whole(self, verdicts: Verdicts) -> None:
        """Fill in the test of all answers; the statistic is the distance of the worst digit."""
        for row, pool in enumerate(self.pools):
            task, (values, n_invalid) = pool.observed.task, pool.whole
            found = permutation_test_uniform(
                _orders(task, values), n_items=len(task.answer.items), n_invalid=n_invalid
            )
            verdicts.statistic[row] = found.statistics[1:].max()
            _fill(verdicts, row, found.pvalue)

    def passes(self, samples: Sequence[Sample], rows: Integers, alpha: float) -> NDArray[np.bool_]:
        """Tell which samples pass."""
        passed = np.zeros(len(samples), dtype=np.bool_)
        for place, (row, (values, n_invalid)) in enumerate(zip(rows, samples, strict=True)):
            task = self.pools[row].observed.task
            found = permutation_test_uniform(
                _orders(task, values), n_items=len(task.answer.items), n_invalid=n_invalid
            )
            passed[place] = found.pvalue > alpha
        return passed

    def shares(self, n: Integers, rules: Rules) -> tuple[Floats, Floats]:
        """Return the share of subsets of some sizes that pass; in between it is interpolated."""
        rates, errors = np.empty((2, len(self.pools), n.size))
        some = coarse_sizes(n, rules)
        for row, pool in enumerate(self.pools):
            task, (values, n_invalid) = pool.observed.task, pool.whole
            found = permutation_at_n(
                _orders(task, values),
                some,
                n_items=len(task.answer.items),
                alpha=rules.alpha,
                n_invalid=n_invalid,
            )
            rates[row], errors[row] = _between(n, some, found)
        return rates, errors

    def sizes(self, n: Integers, alpha: float) -> Floats:
        """Return alpha, an upper bound of the attainable size."""
        return np.full((len(self.pools), n.size), alpha)


def _target(task: Task) -> NominalTarget:
    return cast("NominalTarget", task.target)


def label_law(task: Task) -> LabelLaw:
    """Return the probabilities of a task's outcomes, ready for tests."""
    return law_of_labels(
        _target(task).probabilities, method="auto", n_resamples=N_DRAWS, rng=None, workers=None
    )


def drawn_tail(task: Task, n: int) -> Floats:
    """Draw the null of `n` answers to a task.

    Parameters
    ----------
    task : Task
        A task of labels.
    n : int
        Number of answers.

    Returns
    -------
    numpy.ndarray, shape (2, distances)
        The distinct distances of `N_DRAWS` draws, rising; the number of draws at least as large.
    """
    law = label_law(task)
    draws = law.drawn_null(n)
    # Sums of floats: distances that are one value differ in the last digits.
    distances, counts = np.unique(np.round(draws, DIGITS), return_counts=True)
    return np.array([distances, np.cumsum(counts[::-1])[::-1]], dtype=np.float64)


def drawn_pvalue(task: Task, n: int, distance: float) -> float:
    """Return (b + 1) / (B + 1), b being the draws of the null at least as far from the law.

    Parameters
    ----------
    task : Task
        A task of labels whose null is drawn.
    n : int
        Number of answers.
    distance : float
        Their distance from the law.

    Returns
    -------
    float
        In (0, 1].
    """
    tables, name = shipped(), f"{law_name(task.target)}/{n}"
    if tables is not None and name in tables.tails:
        tail = tables.tails[name]
    else:
        key = ("tv null", label_law(task).p.tobytes().hex(), n, N_DRAWS)
        tail = remembered(key, lambda: drawn_tail(task, n)).astype(np.float64)
    place = np.searchsorted(tail[0], distance - 10.0**-DIGITS)
    n_above = tail[1, place] if place < tail.shape[1] else 0.0
    return float((n_above + 1) / (N_DRAWS + 1))


def coarse_sizes(n: Integers, rules: Rules) -> Integers:
    """Return the sizes at which pass rates of labels are computed: those asked for and more."""
    wanted = {*rules.n, *COARSE, *n[-1:].tolist()}
    return np.array([size for size in n.tolist() if size in wanted], dtype=np.int64)


def _between(n: Integers, some: Integers, found: KsAtNResult) -> tuple[Floats, Floats]:
    rate = np.asarray(found.pass_rate)
    there = ~np.isnan(rate)
    rates = np.interp(n, some[there], rate[there], right=np.nan)
    errors = np.full(n.size, np.nan)
    errors[np.searchsorted(n, some)] = np.asarray(found.standard_error, dtype=np.float64)
    return rates, errors


def _counts(law: LabelLaw, sample: Sample) -> tuple[Integers, Integers]:
    values, n_invalid = sample
    counts = np.bincount(values.astype(np.int64), minlength=law.p.size)
    return counts[None, :].astype(np.int64), np.array([n_invalid], dtype=np.int64)


def _orders(task: Task, values: Floats) -> Integers:
    outcomes = _target(task).outcomes
    orders = [cast("tuple[int, ...]", outcomes[int(value)]) for value in values]
    return np.array(orders, dtype=np.int64).reshape(-1, len(task.answer.items))


def _fill(verdicts: Verdicts, row: int, pvalue: float) -> None:
    verdicts.pvalue[row] = pvalue
    verdicts.log_pvalue[row] = log(pvalue) if pvalue > 0 else np.nan
