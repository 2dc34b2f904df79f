"""Means over tasks with intervals that resample what was sampled: clusters of tasks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from unpredictabench.score.results import HalfLife, Rate
from unpredictabench.stats import bootstrap, wilson_interval
from unpredictabench.streams import stream

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from unpredictabench.records import Interval, Task
    from unpredictabench.score.results import Estimand
    from unpredictabench.score.rules import Rules

Floats: TypeAlias = "NDArray[np.float64]"

PUBLISHED_WEIGHTS: Final = {"code": 160, "text": 238, "real-world": 30, "shuffling": 20}
"""Tasks of each published category (arXiv 2606.06622)."""
_PUBLISHED_CATEGORY: Final = {
    "code-explicit": "code",
    "code-implicit": "code",
    "text-explicit": "text",
    "text-implicit": "text",
    "multimodal": "text",
    "real-world": "real-world",
    "shuffling": "shuffling",
}
AT_THE_END: Final = 0.01
"""Pass rates this close to 0 or 1 on every task count as 0 % or 100 %."""
NEAR_THE_END: Final = 0.1
"""Pass rates this close to 0 or 1 on every task show no task that fails (or passes)."""
FIRST_OF_AREA: Final = 5
"""Smallest N of the area under KS@N: below it hardly anything can fail."""


def cluster_of(task: Task) -> str:
    """Return the group of tasks that a task is resampled with.

    Returns
    -------
    str
        The family for distribution tasks, the length of the list for shuffles, the task itself
        for real-world tasks.
    """
    if task.category == "shuffling":
        return f"shuffling of {len(task.answer.items)}"
    if task.category == "real-world":
        return task.id
    return task.family


def rate(values: Floats, clusters: Sequence[str], rules: Rules, *, quickly: bool = False) -> Rate:
    """Estimate a mean pass rate over tasks like these.

    Parameters
    ----------
    values : numpy.ndarray
        Pass rate or verdict of each task; NaN where there are too few answers, which counts as
        not passed (and leaves the denominator under the protocol "paper").
    clusters : sequence of str
        Cluster of each task.
    rules : Rules
        Resamples and confidence level.
    quickly : bool
        Take the interval of verdicts for averages too, instead of the bootstrap.

    Returns
    -------
    Rate
        Estimate and interval; all None where no task has enough answers.
    """
    is_covered, n_tasks = ~np.isnan(values), values.size
    if rules.protocol == "paper" and is_covered.any():
        values, clusters = values[is_covered], np.asarray(clusters)[is_covered].tolist()
        is_covered, n_tasks = is_covered[is_covered], values.size
    n_covered = int(is_covered.sum())
    if n_covered == 0:
        reason = "no tasks" if n_tasks == 0 else "no task has enough answers"
        return _missing("tasks like these", reason, n_tasks)
    counted = np.where(is_covered, values, 0.0)
    interval, error, method = _cluster_interval(counted, clusters, rules, quickly=quickly)
    lacking = n_tasks - n_covered
    return Rate(
        estimate=float(counted.mean()),
        low=interval.low,
        high=interval.high,
        standard_error=error,
        interval_method=method,
        estimand="tasks like these",
        reason=f"{lacking} tasks lack answers and count as not passed" if lacking else None,
        n_tasks=n_tasks,
        n_covered=n_covered,
    )


def benchmark_rate(
    values: Floats, errors: Floats, n: int, n_slots: NDArray[np.int64], rules: Rules
) -> Rate:
    """Estimate the mean pass rate on exactly these tasks, from the errors of each.

    Parameters
    ----------
    values, errors : numpy.ndarray
        Pass rate of each task and its jackknife error.
    n : int
        The size N.
    n_slots : numpy.ndarray
        Answers of each task.
    rules : Rules
        Confidence level.

    Returns
    -------
    Rate
        Without an interval where N is more than half of the answers, because the jackknife does
        not see that far.
    """
    estimand: Estimand = "this benchmark"
    is_covered = ~np.isnan(values)
    if not is_covered.any():
        return _missing(estimand, "no task has enough answers", values.size)
    counted = np.where(is_covered, values, 0.0)
    estimate, n_covered = float(counted.mean()), int(is_covered.sum())
    known = is_covered & (n_slots >= 2 * n) & ~np.isnan(errors)
    if known.sum() < n_covered:
        reason = "needs twice as many answers as N"
        return Rate(estimate, None, None, None, None, estimand, reason, values.size, n_covered)
    variance = float((errors[known] ** 2).sum()) / values.size**2
    # A pool of M answers holds M // N samples of N that share none: more cannot be known.
    most = float((n_slots[known] // n).sum())
    interval = _effective_wilson(estimate, variance, most, most, rules)
    return Rate(
        estimate,
        interval.low,
        interval.high,
        math.sqrt(variance),
        "wilson (effective n from the jackknife)",
        estimand,
        None,
        values.size,
        n_covered,
    )


def published_mean(values: Floats, tasks: Sequence[Task], *, fixed: bool) -> float | None:
    """Weight the means of the published categories by their published numbers of tasks.

    Parameters
    ----------
    values : numpy.ndarray
        Pass rate of each task, NaN where there is none.
    tasks : sequence of Task
        The tasks.
    fixed : bool
        Whether a task without a value counts as not passed, or leaves the denominator as it was
        published.

    Returns
    -------
    float or None
        The weighted mean; None where a category has no value.
    """
    category = np.array([_PUBLISHED_CATEGORY[task.category] for task in tasks])
    counted = np.nan_to_num(values) if fixed and not np.isnan(values).all() else values
    total = 0.0
    for name, weight in PUBLISHED_WEIGHTS.items():
        part = counted[category == name]
        part = part[~np.isnan(part)]
        if not part.size:
            return None
        total += weight * float(part.mean())
    return total / sum(PUBLISHED_WEIGHTS.values())


def median_half_life(
    n_star: Floats, is_censored: NDArray[np.bool_], n_slots: NDArray[np.int64],
    clusters: Sequence[str], rules: Rules,
) -> HalfLife:  # fmt: skip
    """Take the median of N* over tasks, with a percentile interval over clusters."""
    n_censored = int(is_censored.sum())
    if not n_star.size or np.isnan(n_star).any():
        return HalfLife(None, None, None, n_censored, "a task has no answers")
    if np.unique(n_slots).size > 1:
        return HalfLife(None, None, None, n_censored, "the number of answers differs between tasks")
    values = np.where(is_censored, np.inf, n_star)
    labels, cluster = np.unique(np.asarray(clusters), return_inverse=True)
    weights = _draws(labels.size, rules.n_resamples, "n-star")
    order = np.argsort(values, kind="stable")
    heaps = np.cumsum(weights[:, cluster[order]], axis=1)
    places = (heaps * 2 >= heaps[:, -1:]).argmax(axis=1)
    tail = (1 - rules.confidence_level) / 2
    low, high = np.quantile(values[order][places], [tail, 1 - tail], method="inverted_cdf")
    median = float(np.quantile(values, 0.5, method="inverted_cdf"))
    reason = None if math.isfinite(median) else "more than half of the tasks never fail"
    return HalfLife(_finite(median), _finite(float(low)), _finite(float(high)), n_censored, reason)


def log_area(n: NDArray[np.int64], curve: Floats) -> float | None:
    """Average a curve over log N from 5 to its end, by trapezoids.

    Parameters
    ----------
    n : numpy.ndarray of int64
        Sizes, rising.
    curve : numpy.ndarray
        The value at each.

    Returns
    -------
    float or None
        Between the smallest and the largest value; None where the curve ends at 5 or before.
    """
    chosen = (n >= FIRST_OF_AREA) & ~np.isnan(curve)
    if chosen.sum() < 2:
        return None
    x, y = np.log(n[chosen]), curve[chosen]
    return float(np.sum((y[1:] + y[:-1]) / 2 * np.diff(x)) / (x[-1] - x[0]))


def _cluster_interval(
    values: Floats, clusters: Sequence[str], rules: Rules, *, quickly: bool
) -> tuple[Interval, float, str]:
    labels, cluster = np.unique(np.asarray(clusters), return_inverse=True)
    p, n, k = float(values.mean()), values.size, labels.size
    excess = np.bincount(cluster, weights=values - p)
    sizes = np.bincount(cluster)
    variance = float((excess**2).sum()) / n**2 * (k / (k - 1) if k > 1 else 1.0)
    is_verdict = bool(np.isin(values, (0.0, 1.0)).all())
    agree = bool(np.allclose(excess / sizes, 0.0, atol=1e-12))
    farthest = float(np.abs(values - round(p)).max())
    if farthest <= NEAR_THE_END:
        # Nothing failed (or passed): resampling what is there cannot show what may be elsewhere.
        seen = round(p) if farthest <= AT_THE_END else p
        found_at_end = wilson_interval(seen * k, k, confidence_level=rules.confidence_level)
        return found_at_end, math.sqrt(variance), "wilson (n = clusters)"
    if is_verdict or agree or quickly:
        interval = _effective_wilson(p, 0.0 if agree else variance, n, k, rules)
        return interval, math.sqrt(variance), "wilson (effective n over clusters)"
    found = bootstrap(
        values,
        clusters=cluster,
        n_resamples=rules.n_resamples,
        confidence_level=rules.confidence_level,
        rng=stream("score.rate", n, k),
    )
    return found.confidence_interval, found.standard_error, f"{found.method} over clusters"


def _effective_wilson(
    p: float, variance: float, most: float, at_ends: float, rules: Rules
) -> Interval:
    """Wilson's interval with the n that would give a share this variance.

    Without any variance (0 %, 100 %, all clusters alike) the number of independent units counts.
    """
    n = at_ends if variance <= 0.0 or p in (0.0, 1.0) else min(p * (1 - p) / variance, most)
    return wilson_interval(p * n, n, confidence_level=rules.confidence_level)


def _missing(estimand: Estimand, reason: str, n_tasks: int) -> Rate:
    return Rate(None, None, None, None, None, estimand, reason, n_tasks, 0)


def _draws(k: int, n_resamples: int, name: str) -> NDArray[np.int64]:
    """Count how often each of k clusters is drawn, replicate by replicate."""
    chosen = stream("score", name, k).integers(k, size=(n_resamples, k))
    flat = chosen + k * np.arange(n_resamples)[:, None]
    return np.bincount(flat.ravel(), minlength=n_resamples * k).reshape(n_resamples, k)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
