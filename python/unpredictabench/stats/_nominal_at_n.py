"""Pass rates at N for nominal answers and permutations: the share of subsets that pass."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from math import factorial
from typing import TYPE_CHECKING, Final

import numpy as np

from unpredictabench import _native
from unpredictabench.errors import InputError
from unpredictabench.stats import _options as options
from unpredictabench.stats._ks_at_n import (
    NEEDS_MORE,
    TOO_FEW,
    UNRELIABLE,
    KsAtNResult,
    subset_sizes,
)
from unpredictabench.stats._nominal import Floats, Integers, LabelLaw, law_of_labels
from unpredictabench.stats._permutations import (
    MOST_ORDERS,
    MOST_PATTERN,
    checked_permutations,
    lehmer_digits,
    patterns,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from unpredictabench.stats._options import Seed

N_SUBSETS: Final = 2_000
CHUNK_SUBSETS: Final = 200
"""Subsets counted at a time, so that their tables stay small."""


def multinomial_at_n(
    counts: ArrayLike,
    p: ArrayLike,
    n: int | ArrayLike,
    *,
    alpha: float = 1e-4,
    n_invalid: int = 0,
    n_resamples: int = 10_000_000,
    n_subsets: int = N_SUBSETS,
    rng: Seed = None,
    workers: int | None = None,
) -> KsAtNResult:
    """Estimate the probability that N answers pass `multinomial_test`.

    Parameters
    ----------
    counts : array_like of int, shape (labels,)
        Answers of the pool with each label.
    p : array_like, shape (labels,)
        Probabilities of the labels; they sum to 1.
    n : int or array_like of int
        Sizes N, at least 1.
    alpha : float, default 1e-4
        Level: a subset passes when its p-value is above it.
    n_invalid : int, default 0
        Invalid and unlisted answers of the pool.
    n_resamples : int, default 10,000,000
        Draws of the null, where it is not exact.
    n_subsets : int, default 2,000
        Random subsets, where the null is not exact.
    rng : int or numpy.random.Generator, optional
        Seed of all draws; a fixed named stream by default.
    workers : int, optional
        Threads to use; all allowed cores by default. The result does not depend on it.

    Returns
    -------
    KsAtNResult
        As of `ks_at_n`; `method` is ``"exact"`` or ``"montecarlo"``.

    Raises
    ------
    InputError
        When an argument breaks a rule above.

    Notes
    -----
    Exact: all subsets, by the programme of the test with the pool's counts in place of the
    probabilities; the error is the delete-one jackknife. Otherwise random subsets, whose own error
    is added.

    Examples
    --------
    >>> multinomial_at_n([30, 10], [0.5, 0.5], [10, 40]).pass_rate.round(4).tolist()
    [1.0, 1.0]
    """
    sizes, is_scalar = subset_sizes(n)
    alpha, n_subsets = options.level("alpha", alpha), options.resamples(n_subsets, "n_subsets")
    table = options.counted("counts", counts)
    if table.ndim != 1:
        raise InputError("counts", "be 1-d integers of at least 0", counts)
    law = law_of_labels(p, method="auto", n_resamples=n_resamples, rng=rng, workers=workers)
    if table.size != law.p.size:
        raise InputError("counts", f"have one entry a label ({law.p.size})", table.size)
    slots = int(table.sum()) + options.whole("n_invalid", n_invalid, 0, MOST_ORDERS)
    there = sizes[sizes <= slots]
    critical = np.array([law.critical(int(size), alpha) for size in sizes])
    rate, error = np.full(sizes.size, np.nan), np.full(sizes.size, np.nan)
    is_exact = np.array([law.is_exact(int(size)) for size in sizes], dtype=np.bool_)
    some = is_exact & (sizes <= slots)
    if some.any():
        rate[some], error[some] = _exact_shares(
            law, table, n_invalid, (sizes[some], critical[some])
        )
    if not is_exact[sizes <= slots].all():
        labels = np.repeat(np.arange(table.size + 1), [*table, n_invalid])
        passes = partial(_labels_pass, law, labels, there, critical[sizes <= slots])
        subsets = _Subsets(slots, n_subsets, options.resampling_seed(rng, "stats.multinomial_at_n"))
        drawn = subsets.shares(passes, there)
        rest = ~is_exact & (sizes <= slots)
        rate[rest], error[rest] = (part[~is_exact[sizes <= slots]] for part in drawn)
    method = "exact" if is_exact.all() else "montecarlo"
    return _result(sizes, slots, _Rates(rate, error, critical, method), is_scalar=is_scalar)


def permutation_at_n(
    perms: ArrayLike,
    n: int | ArrayLike,
    *,
    n_items: int | None = None,
    alpha: float = 1e-4,
    n_invalid: int = 0,
    n_subsets: int = N_SUBSETS,
    rng: Seed = None,
    workers: int | None = None,
) -> KsAtNResult:
    """Estimate the probability that N answers pass `permutation_test_uniform`.

    Parameters
    ----------
    perms : array_like of int, shape (answers, n_items)
        The pool: one permutation of 0..n_items-1 a row.
    n : int or array_like of int
        Sizes N, at least 1.
    n_items : int, optional
        Number of items, at least 2; needed only when there is no row.
    alpha : float, default 1e-4
        Level: a subset passes when its corrected p-value is above it.
    n_invalid : int, default 0
        Invalid answers of the pool.
    n_subsets : int, default 2,000
        Random subsets; one serves all N.
    rng : int or numpy.random.Generator, optional
        Seed of the subsets; a fixed named stream by default.
    workers : int, optional
        Threads to use; all allowed cores by default. The result does not depend on it.

    Returns
    -------
    KsAtNResult
        As of `ks_at_n`. `critical_value` is that of the number of pairs of equal permutations;
        `method` is ``"montecarlo"``, and ``"exact"`` where every N is the whole pool.

    Raises
    ------
    InputError
        When an argument breaks a rule above.

    Notes
    -----
    Several statistics decide together, so that subsets are drawn. The error is the delete-one
    jackknife, freed of the noise of the draws, with the error of the draws added.

    Examples
    --------
    >>> permutation_at_n([[0, 1]] * 20, [5, 20]).pass_rate.tolist()
    [1.0, 0.0]
    """
    sizes, is_scalar = subset_sizes(n)
    alpha, n_subsets = options.level("alpha", alpha), options.resamples(n_subsets, "n_subsets")
    orders = checked_permutations(perms, n_items)
    slots = len(orders) + options.whole("n_invalid", n_invalid, 0, MOST_ORDERS)
    there = sizes[sizes <= slots]
    rules = _rules_at(tuple(sizes.tolist()), orders.shape[1], alpha, workers)
    passes = partial(_orders_pass, _slots_of(orders, n_invalid), there, rules.keep(sizes <= slots))
    subsets = _Subsets(slots, n_subsets, options.resampling_seed(rng, "stats.permutation_at_n"))
    rate, error = np.full(sizes.size, np.nan), np.full(sizes.size, np.nan)
    rate[sizes <= slots], error[sizes <= slots] = subsets.shares(passes, there)
    method = "exact" if bool((there == slots).all()) else "montecarlo"
    found = _Rates(rate, error, rules.pairs + 0.5, method)
    return _result(sizes, slots, found, is_scalar=is_scalar)


@dataclass(frozen=True, slots=True)
class _Rates:
    rate: Floats
    error: Floats
    critical: Floats
    method: str


@dataclass(frozen=True, slots=True)
class _Rules:
    """The largest statistics that pass at each N: pairs of equal permutations, and each digit."""

    pairs: Floats
    digits: Floats
    """Critical distances of shape (n, digits)."""

    def keep(self, which: NDArray[np.bool_]) -> _Rules:
        return _Rules(self.pairs[which], self.digits[which])


@lru_cache(maxsize=256)
def _rules_at(n: tuple[int, ...], items: int, alpha: float, workers: int | None) -> _Rules:
    """Return the critical statistics; remembered, because many lists have the same length."""
    level, sizes = alpha / items, np.array(n, dtype=np.int64)
    n_cells = factorial(min(items, MOST_PATTERN))
    found = _native.pair_largest_passing(n_cells, sizes, level, workers)
    pairs = [-np.inf if largest is None else float(largest) for largest in found]
    laws = [
        law_of_labels(
            np.full(k, 1 / k), method="auto", n_resamples=10_000_000, rng=None, workers=workers
        )
        for k in range(items, 1, -1)
    ]
    digits = [[law.critical(size, level) for law in laws] for size in n]
    return _Rules(np.array(pairs), np.array(digits).reshape(sizes.size, items - 1))


@dataclass(frozen=True, slots=True)
class _Subsets:
    """Random subsets of a pool: the first N slots of shuffled pools, one shuffle for all N."""

    n_slots: int
    n_subsets: int
    seed: int

    def shares(
        self, passes: Callable[[Integers], NDArray[np.bool_]], sizes: Integers
    ) -> tuple[Floats, Floats]:
        """Return the share that passes at each N, and its standard error."""
        rng = np.random.default_rng(self.seed)
        m, total = self.n_slots, self.n_subsets
        rate, holding = np.zeros(sizes.size), np.zeros((sizes.size, m))
        for first in range(0, total, CHUNK_SUBSETS):
            count = min(CHUNK_SUBSETS, total - first)
            shuffled = rng.permuted(np.tile(np.arange(m), (count, 1)), axis=1)
            verdicts = passes(shuffled)
            place = np.argsort(shuffled, axis=1)
            rate += verdicts.sum(axis=0)
            for column, size in enumerate(sizes):
                holding[column] += verdicts[:, column].astype(np.float64) @ (place < size)
        rate, holding = rate / total, holding / total
        # The draws alone would spread the jackknife's terms by as much as is taken off here.
        spread = ((sizes * rate)[:, None] - m * holding) ** 2
        noise = (rate * m * sizes * (m - sizes) - spread.sum(axis=1)) / total
        kept = np.maximum(spread.sum(axis=1) - np.maximum(noise, 0.0), 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            variance = (m - 1) / m * kept / (m - sizes) ** 2 + rate * (1 - rate) / total
        return rate, np.where(sizes < m, np.sqrt(variance), np.nan)


def _exact_shares(
    law: LabelLaw, table: Integers, n_invalid: int, at: tuple[Integers, Floats]
) -> tuple[Floats, Floats]:
    assert law.numerators is not None
    sizes, critical = at
    largest = np.floor(critical * sizes * int(law.numerators.sum())).astype(np.int64)
    return _native.tv_pool_shares(law.numerators, table, n_invalid, sizes, largest, law.workers)


def _counts_along(labels: Integers, n_labels: int, sizes: Integers) -> Integers:
    """Count each label among the first N of each row, without those of -1: (rows, n, labels)."""
    steps, back = np.unique(sizes, return_inverse=True)
    if not steps.size:
        return np.zeros((len(labels), 0, n_labels), dtype=np.int64)
    step = np.searchsorted(steps, np.arange(steps[-1]), side="right")
    groups = np.arange(len(labels))[:, None] * steps.size + step
    places = groups * (n_labels + 1) + labels[:, : steps[-1]] + 1
    shape = (len(labels), steps.size, n_labels + 1)
    counts = np.bincount(places.reshape(-1), minlength=int(np.prod(shape))).reshape(shape)
    return np.asarray(np.cumsum(counts[:, :, 1:], axis=1)[:, back])


def _labels_pass(
    law: LabelLaw, labels: Integers, sizes: Integers, critical: Floats, shuffled: Integers
) -> NDArray[np.bool_]:
    """Decide for the first N of shuffled pools; the last label is that of invalid answers."""
    counts = _counts_along(labels[shuffled], law.p.size + 1, sizes)
    gaps = np.abs(counts / sizes[:, None] - np.append(law.p, 0.0)).sum(axis=2) / 2
    return np.asarray(gaps < critical)


def _slots_of(orders: Integers, n_invalid: int) -> tuple[Integers, Integers]:
    """Return cell and digits of every slot; those of invalid ones are -1."""
    cells = np.unique(patterns(orders), return_inverse=True)[1]
    digits = lehmer_digits(orders)
    return (
        np.append(cells, np.full(n_invalid, -1)).astype(np.int64),
        np.vstack([digits, np.full((n_invalid, digits.shape[1]), -1)]).astype(np.int64),
    )


def _orders_pass(
    slots: tuple[Integers, Integers], sizes: Integers, rules: _Rules, shuffled: Integers
) -> NDArray[np.bool_]:
    """Decide for the first N of shuffled pools: every one of the tests must pass."""
    cells, digits = slots
    counts = _counts_along(cells[shuffled], int(cells.max(initial=0)) + 1, sizes)
    lost = sizes - counts.sum(axis=2)
    most = counts.max(axis=2)
    pairs = (counts * (counts - 1) // 2).sum(axis=2) + lost * most + lost * (lost - 1) // 2
    verdict = pairs <= rules.pairs
    for column in range(digits.shape[1]):
        options = digits.shape[1] + 1 - column
        table = _counts_along(digits[:, column][shuffled], options, sizes)
        over = np.abs(table / sizes[:, None] - 1 / options).sum(axis=2) + lost / sizes
        verdict &= over / 2 < rules.digits[:, column]
    return np.asarray(verdict)


def _result(sizes: Integers, slots: int, found: _Rates, *, is_scalar: bool) -> KsAtNResult:
    reason = np.full(sizes.size, None, dtype=np.object_)
    reason[2 * sizes > slots] = UNRELIABLE
    reason[sizes == slots] = NEEDS_MORE
    reason[sizes > slots] = TOO_FEW
    if not is_scalar:
        return KsAtNResult(sizes, found.rate, found.error, found.critical, found.method, reason)
    error = None if np.isnan(found.error[0]) else float(found.error[0])
    rate, critical = float(found.rate[0]), float(found.critical[0])
    return KsAtNResult(int(sizes[0]), rate, error, critical, found.method, reason[0])
