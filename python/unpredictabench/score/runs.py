"""From the scores of tasks to the scores of a run."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from unpredictabench.extract.observations import decimals_of
from unpredictabench.records import CATEGORIES
from unpredictabench.score.rates import (
    benchmark_rate,
    cluster_of,
    log_area,
    median_half_life,
    published_mean,
    rate,
)
from unpredictabench.score.results import GroupScore, RunScore
from unpredictabench.score.rules import LEVELS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from unpredictabench.records import Task
    from unpredictabench.score.results import HalfLife, Rate, TaskScore
    from unpredictabench.score.rules import Rules
    from unpredictabench.score.tasks import Judged

NOT_AVAILABLE: Final = "not available"
"""What an equivalence that no bound is known for is counted as."""
Floats: TypeAlias = "NDArray[np.float64]"
Flags: TypeAlias = "NDArray[np.bool_]"


def run_score(
    judged: Judged,
    scores: tuple[TaskScore, ...],
    rules: Rules,
    *,
    measures: Mapping[str, Floats],
    notes: tuple[str, ...],
) -> RunScore:
    """Sum up the tasks of a run.

    Parameters
    ----------
    judged : Judged
        Tests as columns.
    scores : tuple of TaskScore
        The same, task by task.
    rules : Rules
        Sizes, level, protocol, resamples.
    measures : mapping
        Distances and effect sizes, one array a name.
    notes : tuple of str
        What is to be known about the numbers.

    Returns
    -------
    RunScore
        Without the names of run, model and suite, which the caller knows.
    """
    tasks = [pool.observed.task for pool in judged.pools]
    table = _Table(judged, scores, rules, measures)
    everything = np.ones(len(tasks), dtype=np.bool_)
    mean_curve = _column_means(np.nan_to_num(judged.verdicts.curve), judged.verdicts.curve)
    statuses: Counter[str] = Counter()
    for score in scores:
        statuses.update(score.statuses)
    p = judged.verdicts.pvalue
    return RunScore(
        name="",
        model="",
        suite="",
        suite_hash="",
        alpha=rules.alpha,
        protocol=rules.protocol,
        mode=rules.mode,
        n=rules.n,
        decimals=decimals_of([pool.observed for pool in judged.pools]),
        n_tasks=len(tasks),
        n_slots=sum(score.n_slots for score in scores),
        validity=table.validity(everything),
        statuses=dict(statuses),
        coverage={n: _share(judged.n_slots >= n) for n in rules.n},
        ks_at_n=table.rates(everything),
        this_benchmark={
            n: benchmark_rate(
                judged.verdicts.rates[:, i], judged.verdicts.errors[:, i], n, judged.n_slots, rules
            )
            for i, n in enumerate(rules.n)
        },
        as_published={
            n: published_mean(judged.verdicts.rates[:, i], tasks, fixed=rules.protocol != "paper")
            for i, n in enumerate(rules.n)
        },
        ks_at_alpha={level: table.rate_of(_passing(p, level)) for level in LEVELS},
        alpha_area=table.rate_of(_log_share(p)),
        margin=rules.margin,
        equivalence=dict(Counter(s.equivalence.verdict or NOT_AVAILABLE for s in scores)),
        categories=table.groups("category", CATEGORIES),
        families=table.groups("family", sorted({task.family for task in tasks})),
        n_star=_half_life(judged, scores, tasks, rules),
        curve_n=judged.curve_n,
        curve=mean_curve,
        area=log_area(judged.curve_n, mean_curve),
        area_method=_area_method(judged, mean_curve, scores),
        measures=table.means(everything),
        tasks=scores,
        notes=notes,
    )


class _Table:
    """Columns over tasks, cut into groups."""

    def __init__(
        self,
        judged: Judged,
        scores: Sequence[TaskScore],
        rules: Rules,
        measures: Mapping[str, Floats],
    ) -> None:
        self._judged, self._scores, self._rules, self._measures = judged, scores, rules, measures
        self._clusters = np.array([score.cluster for score in scores], dtype=object)

    def groups(self, field: str, names: Sequence[str]) -> dict[str, GroupScore]:
        """Score each group of tasks that has any."""
        label = np.array([getattr(score, field) for score in self._scores], dtype=object)
        found = {}
        for name in names:
            where = np.asarray(label == name, dtype=np.bool_)
            if where.any():
                found[name] = GroupScore(
                    name=name,
                    n_tasks=int(where.sum()),
                    validity=self.validity(where),
                    ks_at_n=self.rates(where, by_task=field == "family"),
                    measures=self.means(where),
                )
        return found

    def rates(self, where: Flags, *, by_task: bool = False) -> dict[int, Rate]:
        """Score at every N; within one family the tasks themselves are the clusters."""
        labels = self._clusters[where].tolist()
        clusters = [str(i) for i in range(len(labels))] if by_task else labels
        columns = self._judged.verdicts.rates[where]
        return {
            n: rate(columns[:, i], clusters, self._rules, quickly=by_task)
            for i, n in enumerate(self._rules.n)
        }

    def rate_of(self, values: Floats) -> Rate:
        """Score one value a task, over all of them."""
        return rate(values, self._clusters.tolist(), self._rules)

    def validity(self, where: Flags) -> float | None:
        """Share of answers that could be read."""
        chosen = [score for score, is_in in zip(self._scores, where, strict=True) if is_in]
        n_slots = sum(score.n_slots for score in chosen)
        return sum(score.n_valid for score in chosen) / n_slots if n_slots else None

    def means(self, where: Flags) -> dict[str, float | None]:
        """Mean of each measure over the tasks that have it."""
        found: dict[str, float | None] = {}
        for name, values in self._measures.items():
            there = values[where][np.isfinite(values[where])]
            found[name] = float(there.mean()) if there.size else None
        return found


def _half_life(
    judged: Judged, scores: Sequence[TaskScore], tasks: Sequence[Task], rules: Rules
) -> HalfLife:
    stars = np.array([np.nan if s.n_star is None else s.n_star for s in scores], dtype=np.float64)
    censored = np.array([score.is_censored for score in scores], dtype=np.bool_)
    return median_half_life(
        stars, censored, judged.n_slots, [cluster_of(task) for task in tasks], rules
    )


def _column_means(counted: Floats, curve: Floats) -> Floats:
    """Mean over all tasks of each column that any task has."""
    missing = np.isnan(curve).all(axis=0) if len(curve) else np.ones(curve.shape[1], np.bool_)
    means = counted.mean(axis=0) if len(curve) else np.zeros(curve.shape[1])
    return np.where(missing, np.nan, means)


def _passing(p: Floats, level: float) -> Floats:
    """Tell which tasks pass at a level: 1 or 0, NaN without a p-value."""
    return np.where(np.isnan(p), np.nan, p > level)


def _log_share(p: Floats) -> Floats:
    """Return for each task the share of levels, even over log alpha, at which it passes."""
    low, high = np.log([min(LEVELS), max(LEVELS)])
    logs = np.log(np.clip(p, min(LEVELS), max(LEVELS)))
    return np.asarray((logs - low) / (high - low))


def _area_method(judged: Judged, curve: Floats, scores: Sequence[TaskScore]) -> str | None:
    if log_area(judged.curve_n, curve) is None:
        return None
    n_drawn = sum(bool(score.interpolated) for score in scores)
    lines = f"; on {n_drawn} tasks with straight lines between some N" if n_drawn else ""
    return f"trapezoids over log N{lines}"


def _share(flags: Flags) -> float:
    return float(flags.mean()) if flags.size else 0.0
