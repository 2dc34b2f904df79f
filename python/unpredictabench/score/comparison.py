"""Compare runs: paired on the tasks they share, corrected for how many there are."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import PurePath
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from unpredictabench.errors import InputError
from unpredictabench.records import Interval
from unpredictabench.stats import (
    benjamini_hochberg,
    bootstrap,
    holm,
    mcnemar_test,
    wilson_interval,
)
from unpredictabench.streams import stream

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from unpredictabench.score.results import Estimand, RunScore, TaskScore

Floats: TypeAlias = "NDArray[np.float64]"

N_RESAMPLES: Final = 9999
LEVEL: Final = 0.05
"""Level at which ranks are told apart, after Holm's correction."""
_MUST_AGREE: Final = ("suite_hash", "alpha", "protocol", "mode")


@dataclass(frozen=True, slots=True)
class TaskDifference:
    """Two runs on one task.

    Parameters
    ----------
    task : str
        The task.
    first, second : float
        Pass rates.
    difference : float
        The first less the second.
    pvalue : float or None
        That the difference is none, from the jackknife errors; None where there are none.
    adjusted : float or None
        The same after Benjamini and Hochberg's correction over tasks.
    """

    task: str
    first: float
    second: float
    difference: float
    pvalue: float | None
    adjusted: float | None


@dataclass(frozen=True, slots=True)
class Pair:
    """Two runs on the tasks they share.

    Parameters
    ----------
    first, second : int
        Places of the runs in the comparison.
    difference : float
        KS@N of the first less that of the second.
    interval : Interval
        Its paired interval over clusters of tasks.
    interval_method : str
        How it was made.
    n_first_only, n_second_only : int
        Tasks that the first N answers of only one of the two pass.
    mcnemar : float
        P-value of McNemar's test of those verdicts (mid-p).
    sign_flip : float
        P-value of the difference for tasks like these: signs flipped by cluster.
    sign_flip_tasks : float
        The same for this benchmark: signs flipped by task.
    adjusted : float
        `sign_flip` after Holm's correction over all pairs.
    tasks : tuple of TaskDifference
        Task by task, the largest difference first.
    """

    first: int
    second: int
    difference: float
    interval: Interval
    interval_method: str
    n_first_only: int
    n_second_only: int
    mcnemar: float
    sign_flip: float
    sign_flip_tasks: float
    adjusted: float
    tasks: tuple[TaskDifference, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Runs ranked on the tasks they share.

    Parameters
    ----------
    n : int
        The N of the comparison.
    runs : tuple of str
        The runs, in the order given.
    models : tuple of str
        Their models.
    n_tasks : int
        Tasks that all of them hold N answers for.
    n_left_out : int
        Tasks that only some of them do.
    scores : tuple of float
        KS@N on the shared tasks.
    ranks : tuple of (int, int)
        Best and worst rank each can have at 5 %, Holm-corrected.
    pairs : tuple of Pair
        Every pair.
    estimand : str
        What the intervals are for.
    """

    n: int
    runs: tuple[str, ...]
    models: tuple[str, ...]
    n_tasks: int
    n_left_out: int
    scores: tuple[float, ...]
    ranks: tuple[tuple[int, int], ...]
    pairs: tuple[Pair, ...]
    estimand: Estimand = "tasks like these"


def compare(runs: Sequence[RunScore], *, n: int | None = None) -> Comparison:
    """Compare scored runs on the tasks they share.

    The null hypothesis for a pair is that both pass tasks like these at the same rate.

    Parameters
    ----------
    runs : sequence of RunScore
        At least two, scored by the same rules on the same suite.
    n : int, optional
        The N to compare at; by default the largest for which every run has answers.

    Returns
    -------
    Comparison
        Differences with paired intervals, tests, and intervals of ranks.

    Raises
    ------
    InputError
        If runs differ in suite, alpha, protocol or reading, which the message names; or share no
        task at this N.

    Notes
    -----
    Clusters are families, lengths of lists, and real-world tasks; intervals resample them in
    pairs (BCa where there are ten or more), and the sign-flip test flips the sign of each
    cluster's difference together, p = (b + 1) / (9999 + 1). Holm's correction is over all pairs of
    runs, that of Benjamini and Hochberg over the tasks of a pair.

    References
    ----------
    Holm (1979); Benjamini & Hochberg (1995), doi:10.1111/j.2517-6161.1995.tb02031.x;
    Fagerland et al. (2013), doi:10.1186/1471-2288-13-91.
    """
    if len(runs) < 2:
        raise InputError("runs", "be at least two", len(runs))
    _check_same(runs)
    size = _common_n(runs) if n is None else n
    by_task = [{task.task: task for task in run.tasks} for run in runs]
    has_rate = [
        {name for name, task in tasks.items() if task.pass_rates.get(size) is not None}
        for tasks in by_task
    ]
    shared = [task.task for task in runs[0].tasks if all(task.task in each for each in has_rate)]
    if not shared:
        known = [f"{run.name}: at most {_most_answers(run)}" for run in runs]
        raise InputError("runs", f"share a task with {size} answers", known)
    columns = [[tasks[name] for name in shared] for tasks in by_task]
    rates = np.array([[task.pass_rates[size] for task in column] for column in columns])
    found = [
        _pair((i, j), columns[i], columns[j], size) for i, j in combinations(range(len(runs)), 2)
    ]
    adjusted = holm([pair.sign_flip for pair in found]).tolist()
    pairs = tuple(replace(pair, adjusted=p) for pair, p in zip(found, adjusted, strict=True))
    return Comparison(
        n=size,
        runs=tuple(run.name for run in runs),
        models=tuple(run.model for run in runs),
        n_tasks=len(shared),
        n_left_out=len(set().union(*map(set, by_task))) - len(shared),
        scores=tuple(rates.astype(np.float64).mean(axis=1).tolist()),
        ranks=_ranks(len(runs), pairs),
        pairs=pairs,
    )


def _check_same(runs: Sequence[RunScore]) -> None:
    for name in _MUST_AGREE:
        values = {getattr(run, name) for run in runs}
        if len(values) > 1:
            shown = sorted(str(value)[:12] for value in values)
            raise InputError("runs", f"have the same {name}", ", ".join(shown))


def _most_answers(run: RunScore) -> int:
    return max((task.n_slots for task in run.tasks), default=0)


def _common_n(runs: Sequence[RunScore]) -> int:
    sizes = [n for n in runs[0].n if all(n in run.n and run.has_score(n) for run in runs)]
    if not sizes:
        rule = f"all have answers that count under {runs[0].protocol!r} for one N"
        reach = [max(filter(run.has_score, run.n), default=0) for run in runs]
        shown = (f"{PurePath(run.name).name} up to {n}" for run, n in zip(runs, reach, strict=True))
        raise InputError("runs", rule, "; ".join(shown))
    return max(sizes)


def _pair(places: tuple[int, int], first: list[TaskScore], second: list[TaskScore], n: int) -> Pair:
    rates = [np.array([task.pass_rates[n] for task in side], float) for side in (first, second)]
    passes = [np.array([task.passes[n] for task in side], bool) for side in (first, second)]
    clusters = np.unique([task.cluster for task in first], return_inverse=True)[1]
    name = stream("score.compare", len(first), n)
    found = bootstrap(rates, clusters=clusters, paired=True, n_resamples=N_RESAMPLES, rng=name)
    only = int((passes[0] & ~passes[1]).sum()), int((~passes[0] & passes[1]).sum())
    gaps = rates[0] - rates[1]
    interval, method = _honest(found.confidence_interval, int(clusters.max()) + 1, found.method)
    return Pair(
        *places,
        difference=float(gaps.mean()),
        interval=interval,
        interval_method=method,
        n_first_only=only[0],
        n_second_only=only[1],
        mcnemar=mcnemar_test(*only).pvalue,
        sign_flip=sign_flip(np.bincount(clusters, weights=gaps).astype(np.float64)),
        sign_flip_tasks=sign_flip(gaps),
        adjusted=1.0,
        tasks=_task_differences(first, second, n),
    )


def _honest(interval: Interval, n_clusters: int, method: str) -> tuple[Interval, str]:
    """Widen an interval of no width by what as many clusters that agree can leave unseen."""
    if interval.high > interval.low:
        return interval, f"{method} over clusters, paired"
    unseen = 1.0 - wilson_interval(n_clusters, n_clusters).low
    low, high = max(-1.0, interval.low - unseen), min(1.0, interval.high + unseen)
    return Interval(low, high), "wilson (n = clusters), for no cluster differs from another"


def sign_flip(gaps: Floats) -> float:
    """Test whether differences are symmetric about 0.

    Parameters
    ----------
    gaps : numpy.ndarray
        Independent differences.

    Returns
    -------
    float
        Two-sided p-value of their sum: exact for up to 13 differences that are not 0, else from
        9,999 random flips, (b + 1) / (B + 1).

    Examples
    --------
    >>> sign_flip(np.array([1.0, 2.0, 3.0]))
    0.25
    """
    moved = gaps[gaps != 0]
    if not moved.size:
        return 1.0
    observed = abs(float(moved.sum())) - 1e-12 * float(np.abs(moved).sum())
    if 2**moved.size <= N_RESAMPLES:
        bits = np.arange(2**moved.size)[:, None] >> np.arange(moved.size) & 1
        return float((np.abs((2 * bits - 1) @ moved) >= observed).mean())
    flips = stream("score.sign-flip", moved.size).integers(2, size=(N_RESAMPLES, moved.size))
    hits = int((np.abs((2 * flips - 1) @ moved) >= observed).sum())
    return (hits + 1) / (N_RESAMPLES + 1)


def _task_differences(
    first: list[TaskScore], second: list[TaskScore], n: int
) -> tuple[TaskDifference, ...]:
    found = []
    for one, other in zip(first, second, strict=True):
        a, b = one.pass_rates[n], other.pass_rates[n]
        errors = one.pass_rate_errors[n], other.pass_rate_errors[n]
        assert a is not None
        assert b is not None
        p = None if None in errors else _normal_tail(a - b, _error(one, n), _error(other, n))
        found.append((one.task, a, b, p))
    tested = [p for *_, p in found if p is not None]
    adjusted = iter(benjamini_hochberg(tested).tolist()) if tested else iter(())
    rows = [
        TaskDifference(name, a, b, a - b, p, None if p is None else next(adjusted))
        for name, a, b, p in found
    ]
    return tuple(sorted(rows, key=lambda row: -abs(row.difference)))


def _error(task: TaskScore, n: int) -> float:
    """Return the error of a pass rate, at least that of as many samples of N as share no answer.

    With two successes and failures added up (Agresti & Coull 1998), it is not 0 at 0 % and 100 %.
    """
    rate, error, k = task.pass_rates[n] or 0.0, task.pass_rate_errors[n] or 0.0, task.n_slots // n
    share = (rate * k + 1) / (k + 2)
    return max(error, math.sqrt(share * (1 - share) / (k + 2)))


def _normal_tail(gap: float, first: float, second: float) -> float:
    error = math.hypot(first, second)
    return math.erfc(abs(gap) / error / math.sqrt(2))


def _ranks(n_runs: int, pairs: tuple[Pair, ...]) -> tuple[tuple[int, int], ...]:
    """Return the ranks each run can have: between the surely better and the surely worse."""
    better, worse = [0] * n_runs, [0] * n_runs
    for pair in pairs:
        if pair.adjusted < LEVEL and pair.difference != 0:
            winner, loser = pair.first, pair.second
            if pair.difference < 0:
                winner, loser = loser, winner
            better[loser] += 1
            worse[winner] += 1
    return tuple((1 + up, n_runs - down) for up, down in zip(better, worse, strict=True))
