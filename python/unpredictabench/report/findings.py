"""What the numbers say in words: who is better, by how much, how sure, on which kind of task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from unpredictabench.report.contents import doubts
from unpredictabench.report.tables import MISSING, interval, percent
from unpredictabench.stats import bootstrap
from unpredictabench.streams import stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from unpredictabench.records import Interval
    from unpredictabench.report.contents import Contents, Entry
    from unpredictabench.score.results import TaskScore

N_RESAMPLES: Final = 1999
_AGREEING: Final = 6
"""Clusters that by chance all agree in sign with probability below .05: 2 / 2^6."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """How much more often one run passes than another, on the tasks both were asked.

    Parameters
    ----------
    estimate : float
        Difference of the mean pass rates, in [-1, 1].
    interval : Interval or None
        95 % interval over clusters of tasks; None where all tasks differ alike.
    n_tasks, n_clusters : int
        Tasks in common, and the groups they are resampled in.
    """

    estimate: float
    interval: Interval | None
    n_tasks: int
    n_clusters: int

    @property
    def is_clear(self) -> bool:
        """Whether the interval excludes 0; without one, whether enough clusters agree."""
        found = self.interval
        if found is None:
            return self.estimate != 0 and self.n_clusters >= _AGREEING
        return found.low > 0 or found.high < 0


def contrast(
    a: Entry, b: Entry, n: int, where: Callable[[TaskScore], bool] = lambda _: True
) -> Contrast | None:
    """Compare two runs on their common tasks.

    Parameters
    ----------
    a, b : Entry
        The runs; a positive difference means that `a` passes more often.
    n : int
        The size N.
    where : callable
        Which tasks to look at.

    Returns
    -------
    Contrast or None
        None without common tasks. A task without enough answers counts as not passed.
    """
    other = {score.task: score for score in b.score.tasks}
    pairs = [(s, other[s.task]) for s in a.score.tasks if s.task in other and where(s)]
    if not pairs:
        return None
    differences = np.array([_rate(x, n) - _rate(y, n) for x, y in pairs])
    _, clusters = np.unique([x.cluster for x, _ in pairs], return_inverse=True)
    found = None
    if np.ptp(differences) > 0 and clusters.max() > 0:
        found = bootstrap(
            differences, clusters=clusters, n_resamples=N_RESAMPLES, method="percentile",
            rng=stream("report.contrast", n, len(pairs)),
        ).confidence_interval  # fmt: skip
    return Contrast(float(differences.mean()), found, len(pairs), int(clusters.max()) + 1)


def findings(contents: Contents) -> list[str]:
    """Say in a few sentences what a reader should take away.

    Parameters
    ----------
    contents : Contents
        The report.

    Returns
    -------
    list of str
        Sentences.
    """
    n, entries = contents.headline, contents.entries
    complete = [entry for entry in entries if not doubts(entry, entries, n)]
    sentences = [_level(entry, n) for entry in (complete or entries)[:1]]
    if len(complete) > 1:
        sentences += _lead(complete[0], complete[1], n)
    for entry in entries:
        why = doubts(entry, entries, n)
        if why:
            sentences.append(f"{entry.label} is incomplete and not ranked: {'; '.join(why)}.")
    sentences += _measure(contents)
    return sentences


def example(contents: Contents) -> str | None:
    """Choose the task that shows best why runs differ, or why the only run fails.

    Returns
    -------
    str or None
        Id of the task whose pass rates differ most between the first two runs; for one run, of
        the failed task with the most valid answers and the largest distance.
    """
    n, entries = contents.headline, contents.entries
    shown = {task.id for task in contents.tasks}
    first = [score for score in entries[0].score.tasks if score.task in shown]
    if len(entries) > 1:
        other = {score.task: score for score in entries[1].score.tasks}
        gaps = {
            s.task: abs(_rate(s, n) - _rate(other[s.task], n)) for s in first if s.task in other
        }
        if gaps and max(gaps.values()) > 0:
            return max(gaps, key=gaps.__getitem__)
    worst = max(first, key=lambda s: (s.n_valid, s.statistic or 0.0), default=None)
    return None if worst is None else worst.task


def _rate(score: TaskScore, n: int) -> float:
    return score.pass_rates.get(n) or 0.0


def _level(entry: Entry, n: int) -> str:
    rate = entry.rate(n)
    if rate is None or rate.estimate is None:
        why = (rate.reason if rate else None) or MISSING
        return f"{entry.label} cannot be judged at N = {n}: {why}."
    ends = interval(rate)
    sure = f" (95 % interval {ends})" if ends else ""
    return (
        f"{n} answers of {entry.label} cannot be told from the true law on {percent(rate)}\u00a0% "
        f"of {rate.n_tasks:,} tasks{sure}."
    )


def _lead(a: Entry, b: Entry, n: int) -> Iterator[str]:
    whole = contrast(a, b, n)
    if whole is None:
        return
    sure = "the difference is clear" if whole.is_clear else "the difference may be chance"
    yield (
        f"{a.label} passes {100 * whole.estimate:.1f} points more often than {b.label}"
        f"{_ends(whole)} on {whole.n_tasks:,} common tasks: {sure}."
    )
    better: list[str] = []
    worse: list[str] = []
    for name in a.score.categories:
        part = contrast(a, b, n, lambda score, name=name: score.category == name)  # type: ignore[misc]
        if part is not None and part.is_clear:
            (better if part.estimate > 0 else worse).append(
                f"{name} by {100 * abs(part.estimate):.1f} points"
            )
    if better:
        yield f"{a.label} is clearly ahead on {', '.join(better)}."
    if worse:
        yield f"{b.label} is clearly ahead on {', '.join(worse)}."
    if not better and not worse:
        yield "In no single category is the difference clear."


def _ends(found: Contrast) -> str:
    if found.interval is None:
        return " (the same on every task)"
    return f" ({100 * found.interval.low:.1f} to {100 * found.interval.high:.1f})"


def _measure(contents: Contents) -> Iterator[str]:
    rows = [(b.name, b.ks_at_n.get(contents.headline)) for b in contents.baselines]
    told = [
        f"sim:{name} {percent(rate)}\u00a0%"
        for name, rate in rows
        if rate and rate.estimate is not None
    ]
    if told:
        yield f"For scale, simple samplers on the same tasks: {', '.join(told)}."
