"""The difference between two models on common tasks, under both estimands."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from unpredictabench.errors import InputError
from unpredictabench.records import Interval
from unpredictabench.stats import bootstrap, wilson_interval
from unpredictabench.stats._sign_flip import sign_flip

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Difference:
    """Mean difference of two models, first less second.

    Parameters
    ----------
    estimate : float
        The difference of the means over the common tasks.
    n_tasks, n_clusters : int
        Common tasks and their clusters.
    tasks_like_these : Interval
        For further tasks of this kind: clusters are resampled, in pairs.
    this_benchmark : Interval or None
        For these tasks with further answers: from the standard errors; None without them.
    replicates : numpy.ndarray
        The bootstrap distribution behind `tasks_like_these`.
    pvalue : float
        Sign-flip test over clusters that the difference is symmetric about 0.
    method : str
        How `tasks_like_these` was made.
    reason : str or None
        Why `this_benchmark` is missing.
    """

    estimate: float
    n_tasks: int
    n_clusters: int
    tasks_like_these: Interval
    this_benchmark: Interval | None
    replicates: Floats
    pvalue: float
    method: str
    reason: str | None = None


def difference(
    first: Mapping[str, float],
    second: Mapping[str, float],
    clusters: Mapping[str, str],
    *,
    errors: tuple[Mapping[str, float], Mapping[str, float]] | None = None,
    n_resamples: int = 9999,
    confidence_level: float = 0.95,
) -> Difference:
    """Compare the pass rates (or verdicts) of two models on the tasks both have.

    Parameters
    ----------
    first, second : mapping of str to float
        Rate of each task, by id.
    clusters : mapping of str to str
        Cluster of each task: its family.
    errors : pair of mappings, optional
        Standard error of each rate, for "this benchmark"; NaN where it does not exist.
    n_resamples : int, default 9999
        Bootstrap replicates.
    confidence_level : float, default 0.95
        Coverage aimed at.

    Returns
    -------
    Difference
        Both intervals and a test.

    Raises
    ------
    InputError
        If the models have no task in common, a rate is not finite, or a task has no cluster.

    Notes
    -----
    "tasks like these" resamples whole clusters with both models' rates (BCa; percentiles for fewer
    than ten clusters). Where all clusters differ by the same the bootstrap knows no spread: the
    interval is then widened by Wilson's upper bound for the share of clusters that would differ
    from it, given that none of k does.
    "this benchmark" is ``d ± z sqrt(sum e1^2 + e2^2) / T``, for answers drawn anew and the tasks
    as they are. The p-value is (b + 1) / (B + 1) over 9,999 sign flips of the clusters' sums, or
    exact over all of them for up to 13 clusters.

    References
    ----------
    .. [1] C. Field, A. Welsh, "Bootstrapping clustered data", 2007,
       doi:10.1111/j.1467-9868.2007.00593.x

    Examples
    --------
    >>> families = {"a": "x", "b": "y"}
    >>> found = difference({"a": 0.5, "b": 1.0}, {"a": 0.5, "b": 1.0}, families)
    >>> found.estimate, found.tasks_like_these.low < 0 < found.tasks_like_these.high
    (0.0, True)
    """
    tasks = [task for task in first if task in second]
    if not tasks:
        raise InputError("second", "have a task in common with first", sorted(second)[:3])
    x = np.array([first[task] for task in tasks])
    y = np.array([second[task] for task in tasks])
    if not np.isfinite(x - y).all():
        raise InputError("first and second", "hold finite rates", [x.tolist(), y.tolist()])
    if not 0 < confidence_level < 1:
        raise InputError("confidence_level", "lie strictly between 0 and 1", confidence_level)
    missing = [task for task in tasks if task not in clusters]
    if missing:
        raise InputError("clusters", "name the cluster of every common task", missing[:3])
    labels = [clusters[task] for task in tasks]
    n_clusters = len(set(labels))
    estimate = float((x - y).mean())
    found = bootstrap(
        [x, y],
        clusters=labels,
        paired=True,
        n_resamples=n_resamples,
        confidence_level=confidence_level,
    )
    interval, replicates, method = (
        found.confidence_interval,
        found.bootstrap_distribution,
        found.method,
    )
    if interval.low == interval.high:
        half = wilson_interval(0, n_clusters, confidence_level=confidence_level).high
        interval = Interval(max(-1.0, interval.low - half), min(1.0, interval.high + half))
        method = "wilson (no cluster differs from another)"
    here, reason = _this_benchmark(estimate, tasks, errors, confidence_level)
    _, index = np.unique(labels, return_inverse=True)
    pvalue = sign_flip(np.bincount(index, weights=x - y))
    return Difference(
        estimate, len(tasks), n_clusters, interval, here, replicates, pvalue, method, reason
    )


def paired_sweep(
    rates: Mapping[Any, Mapping[str, float]],
    clusters: Mapping[str, str],
    *,
    reference: Any,
    n_resamples: int = 9999,
) -> Mapping[Any, Difference]:
    """Compare every setting of a sweep (temperatures, say) with one of them, in pairs.

    Parameters
    ----------
    rates : mapping
        By setting, the rate of each task.
    clusters : mapping of str to str
        Cluster of each task.
    reference : object
        The setting that the others are compared with.
    n_resamples : int, default 9999
        Bootstrap replicates.

    Returns
    -------
    mapping
        By setting, its difference from the reference; not corrected for their number.

    Raises
    ------
    InputError
        If there is no such setting.
    """
    if reference not in rates:
        raise InputError("reference", f"be one of {list(rates)}", reference)
    return {
        setting: difference(of, rates[reference], clusters, n_resamples=n_resamples)
        for setting, of in rates.items()
        if setting != reference
    }


def _this_benchmark(
    estimate: float,
    tasks: Sequence[str],
    errors: tuple[Mapping[str, float], Mapping[str, float]] | None,
    confidence_level: float,
) -> tuple[Interval | None, str | None]:
    if errors is None:
        return None, "no standard errors were given"
    square = sum(errors[0][task] ** 2 + errors[1][task] ** 2 for task in tasks)
    if not np.isfinite(square):
        return None, "a rate has no standard error (it needs N at most half of the answers)"
    half = NormalDist().inv_cdf((1 + confidence_level) / 2) * float(np.sqrt(square)) / len(tasks)
    if half == 0.0:
        return None, "no answer makes a difference here: all rates are 0 or 1 without error"
    return Interval(estimate - half, estimate + half), None
