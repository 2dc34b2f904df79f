"""What the numbers say in words: who is better, by how much, how sure, on which kind of task."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from unpredictabench.report.contents import doubts
from unpredictabench.report.tables import MISSING, interval, percent
from unpredictabench.score import compare
from unpredictabench.score.comparison import LEVEL
from unpredictabench.stats import holm

if TYPE_CHECKING:
    from collections.abc import Iterator

    from unpredictabench.report.contents import Contents, Entry
    from unpredictabench.score.comparison import Pair
    from unpredictabench.score.results import RunScore, TaskScore


def contrast(a: RunScore, b: RunScore, n: int, category: str | None = None) -> Pair | None:
    """Compare two runs on the tasks they share.

    Parameters
    ----------
    a, b : RunScore
        The runs; a positive difference means that `a` passes more often.
    n : int
        The size N.
    category : str, optional
        Only tasks of this category.

    Returns
    -------
    Pair or None
        As `compare` gives it; None where they share no task with N answers.
    """
    if category is not None:
        a, b = (
            replace(run, tasks=tuple(task for task in run.tasks if task.category == category))
            for run in (a, b)
        )
    known = {task.task for task in b.tasks if task.pass_rates.get(n) is not None}
    if not any(t.task in known and t.pass_rates.get(n) is not None for t in a.tasks):
        return None
    return compare([a, b], n=n).pairs[0]


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
    whole = contrast(a.score, b.score, n)
    if whole is None:
        return
    sure = "the difference is clear" if whole.sign_flip < LEVEL else "the difference may be chance"
    low, high = 100 * whole.interval.low, 100 * whole.interval.high
    # Where every task differs alike no resample varies: an interval would pretend to know.
    ends = f"95 % interval {low:.1f} to {high:.1f}, " if low < high else ""
    yield (
        f"{a.label} passes {100 * whole.difference:.1f} points more often than {b.label} "
        f"({ends}p = {whole.sign_flip:.2g}, {len(whole.tasks):,} common tasks): "
        f"{sure}."
    )
    found = {name: contrast(a.score, b.score, n, name) for name in a.score.categories}
    pairs = {name: pair for name, pair in found.items() if pair is not None}
    adjusted = holm([pair.sign_flip for pair in pairs.values()])
    clear = [name for name, p in zip(pairs, adjusted, strict=True) if p < LEVEL]
    for entry, sign in ((a, 1), (b, -1)):
        gaps = {name: 100 * sign * pairs[name].difference for name in clear}
        parts = [f"{name} by {gap:.1f} points" for name, gap in gaps.items() if gap > 0]
        if parts:
            yield f"{entry.label} is clearly ahead on {', '.join(parts)}."
    if not clear:
        yield "In no single category is the difference clear (Holm's correction over categories)."


def _measure(contents: Contents) -> Iterator[str]:
    rows = [(b.name, b.ks_at_n.get(contents.headline)) for b in contents.baselines]
    told = [
        f"sim:{name} {percent(rate)}\u00a0%"
        for name, rate in rows
        if rate and rate.estimate is not None
    ]
    if told:
        yield f"For scale, simple samplers on the same tasks: {', '.join(told)}."
