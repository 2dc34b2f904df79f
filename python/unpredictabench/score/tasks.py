"""From slots to the scores of each task."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from unpredictabench.score.equivalence import equivalence
from unpredictabench.score.labels import Labels, Shuffles, coarse_sizes, is_shuffle
from unpredictabench.score.nulls import prepare
from unpredictabench.score.numbers import AgainstDraws, AgainstLaws, is_known
from unpredictabench.score.paper import AsPublished
from unpredictabench.score.pools import pool_of
from unpredictabench.score.rates import cluster_of
from unpredictabench.score.results import TaskScore
from unpredictabench.score.rules import VACUOUS
from unpredictabench.score.verdicts import Comparison, Verdicts, curve_sizes, judge

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from unpredictabench.extract.observations import Observed
    from unpredictabench.score.pools import Pool
    from unpredictabench.score.rules import Rules

Floats: TypeAlias = "NDArray[np.float64]"
Integers: TypeAlias = "NDArray[np.int64]"

TOO_FEW = "fewer than N answers"
NO_ANSWER = "no answer"
WHOLE = "all answers are whole numbers, and the law is continuous"
FEWEST_TO_WARN = 5
BATCHED = "answers of one reply depend on each other: first N by reply, error over replies"


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """Pools and their verdicts, row by row.

    Parameters
    ----------
    pools : list of Pool
        One a task.
    verdicts : Verdicts
        Their tests.
    curve_n : numpy.ndarray of int64
        Sizes of the curve.
    """

    pools: list[Pool]
    verdicts: Verdicts
    curve_n: Integers

    @property
    def n_slots(self) -> Integers:
        """Answers in each pool."""
        return np.array([pool.slots.size for pool in self.pools], dtype=np.int64)


def judge_all(observed: Sequence[Observed], rules: Rules, *, only_rates: bool = False) -> Judged:
    """Test every task by the test of its kind.

    Parameters
    ----------
    observed : sequence of Observed
        What the slots hold.
    rules : Rules
        Sizes, level, protocol.
    only_rates : bool
        Whether the pass rates at the sizes asked for are all that is wanted.

    Returns
    -------
    Judged
        One row a task.
    """
    pools = [pool_of(each, rules.protocol) for each in observed]
    largest = max((pool.slots.size for pool in pools), default=0)
    all_n = curve_sizes(largest, rules.n)
    curve_n = all_n[np.isin(all_n, rules.n)] if only_rates else all_n
    verdicts = Verdicts.empty(len(pools), len(rules.n), curve_n.size)
    if rules.protocol != "paper" and largest:
        prepare([each.task for each in observed], all_n, coarse_sizes(all_n, rules), rules.alpha)
    rows_by_kind: dict[tuple[Callable[[list[Pool]], Comparison], bool], list[int]] = {}
    for row, pool in enumerate(pools):
        if pool.slots.size:
            kind = AsPublished.of if rules.protocol == "paper" else _kind(pool)
            key = (kind, pool.is_exchangeable)
            rows_by_kind.setdefault(key, []).append(row)
    for (kind, _), rows in rows_by_kind.items():
        comparison = kind([pools[row] for row in rows])
        verdicts.put(rows, judge(comparison, rules, curve_n, only_rates=only_rates))
    return Judged(pools, verdicts, curve_n)


def _kind(pool: Pool) -> Callable[[list[Pool]], Comparison]:
    task = pool.observed.task
    if task.support != "nominal":
        return AgainstLaws if is_known(task) else AgainstDraws
    return Shuffles if is_shuffle(task) else Labels


def task_scores(
    judged: Judged, rules: Rules, measures: Mapping[str, Floats]
) -> tuple[TaskScore, ...]:
    """Write the score of each task.

    Parameters
    ----------
    judged : Judged
        The tests.
    rules : Rules
        Sizes and level.
    measures : mapping
        Distances and effect sizes, one array a name with one entry a task, NaN where there is
        none.

    Returns
    -------
    tuple of TaskScore
        In the order of the tasks.
    """
    return tuple(
        _task_score(judged, row, rules, {name: _or_none(v[row]) for name, v in measures.items()})
        for row in range(len(judged.pools))
    )


def _task_score(
    judged: Judged, row: int, rules: Rules, measures: Mapping[str, float | None]
) -> TaskScore:
    pool, v = judged.pools[row], judged.verdicts
    task, observed = pool.observed.task, pool.observed
    n_valid = int(observed.statuses.get("valid", 0))
    stars = [largest_n(judged.curve_n, v.curve[row], level) for level in (0.5, 0.9, 0.1)]
    return TaskScore(
        task=task.id,
        category=task.category,
        family=task.family,
        support=task.support,
        cluster=cluster_of(task),
        n_slots=observed.n_slots,
        n_valid=n_valid,
        n_invalid=observed.n_slots - n_valid,
        n_off_support=observed.n_off_support,
        statuses=observed.statuses,
        method=v.method[row],
        statistic=_or_none(v.statistic[row]),
        location=_or_none(v.location[row]),
        sign=None if math.isnan(v.sign[row]) else int(v.sign[row]),
        pvalue=_or_none(v.pvalue[row]),
        log_pvalue=_or_none(v.log_pvalue[row]),
        passes={
            n: None if math.isnan(value) else bool(value)
            for n, value in zip(rules.n, v.passes[row], strict=True)
        },
        pass_rates=_by_n(rules.n, v.rates[row]),
        pass_rate_errors=_by_n(rules.n, v.errors[row]),
        attainable_sizes=_by_n(rules.n, v.sizes[row]),
        curve_n=judged.curve_n,
        curve=v.curve[row],
        interpolated=_interpolated(judged, row, rules),
        n_star=stars[0],
        n_star_90=stars[1],
        n_star_10=stars[2],
        is_censored=stars[0] is not None and stars[0] == last_n(judged.curve_n, v.curve[row]),
        equivalence=equivalence(pool, float(v.statistic[row]), rules),
        measures=measures,
        reasons=_reasons(pool, rules),
    )


def _interpolated(judged: Judged, row: int, rules: Rules) -> tuple[int, ...]:
    """Return the sizes between those at which pass rates of labels and shuffles are computed."""
    pool = judged.pools[row]
    is_coarse = pool.observed.task.support == "nominal" and rules.protocol != "paper"
    if not is_coarse or not pool.is_exchangeable:
        return ()
    there = judged.curve_n[~np.isnan(judged.verdicts.curve[row])]
    return tuple(np.setdiff1d(there, coarse_sizes(judged.curve_n, rules)).tolist())


def largest_n(n: Integers, curve: Floats, level: float) -> int | None:
    """Return the largest N whose pass rate reaches a level; 0 if none does, None without a curve.

    Examples
    --------
    >>> largest_n(np.array([1, 2, 3]), np.array([1.0, 0.6, 0.2]), 0.5)
    2
    """
    if np.isnan(curve).all():
        return None
    reached = n[np.nan_to_num(curve) >= level]
    return int(reached.max()) if reached.size else 0


def last_n(n: Integers, curve: Floats) -> int | None:
    """Return the largest N that a curve has a value for; None without a curve.

    Examples
    --------
    >>> last_n(np.array([1, 2, 5]), np.array([1.0, 0.6, np.nan]))
    2
    """
    there = n[~np.isnan(curve)]
    return int(there.max()) if there.size else None


def _reasons(pool: Pool, rules: Rules) -> dict[str, str]:
    reasons: dict[str, str] = {}
    if pool.slots.size == 0:
        why = NO_ANSWER if pool.observed.n_slots == 0 else "no valid answer"
        reasons["pvalue"] = why
    for n in rules.n:
        if n > pool.slots.size:
            reasons[f"pass_rate.{n}"] = TOO_FEW
        elif n == VACUOUS:
            reasons[f"pass_rate.{n}"] = "vacuous: hardly anything can fail with one answer"
        elif n == pool.slots.size:
            reasons[f"pass_rate_error.{n}"] = "needs N < M"
        elif 2 * n > pool.slots.size:
            reasons[f"pass_rate_error.{n}"] = "unreliable: N is more than half of the answers"
    if not pool.is_exchangeable:
        reasons["pass_rate"] = BATCHED
    valid = pool.observed.valid
    is_real = pool.observed.task.support == "continuous" and valid.size >= FEWEST_TO_WARN
    if is_real and bool((np.isfinite(valid) & (valid == np.round(valid))).all()):
        reasons["values"] = WHOLE
    return reasons


def _by_n(sizes: Sequence[int], values: Floats) -> dict[int, float | None]:
    return {n: _or_none(value) for n, value in zip(sizes, values, strict=True)}


def _or_none(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
