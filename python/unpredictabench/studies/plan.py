"""How many tasks and answers it takes to see a difference, from a pilot."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from unpredictabench.errors import InputError
from unpredictabench.stats import _options as options

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Plan:
    """What a comparison of two models needs.

    Parameters
    ----------
    difference : float
        The difference to be seen.
    n_answers : int
        Answers to each task.
    n_clusters, n_tasks : int
        Families, and tasks with as many of each as in the pilot.
    between : float
        Variance of the families' mean differences that more answers do not remove.
    noise : float
        Variance of a family's mean difference from the answers, at `n_answers`.
    least_power : float
        Power reached.
    """

    difference: float
    n_answers: int
    n_clusters: int
    n_tasks: int
    between: float
    noise: float
    least_power: float


def plan(
    gaps: Mapping[str, float],
    errors: Mapping[str, float],
    clusters: Mapping[str, str],
    *,
    pilot_answers: int,
    difference: float,
    n_answers: int,
    least_power: float = 0.8,
    confidence_level: float = 0.95,
) -> Plan:
    """Plan a comparison that sees a difference between two models' KS@N.

    Parameters
    ----------
    gaps : mapping of str to float
        Pilot: difference of the two models' rates on each task.
    errors : mapping of str to float
        Standard error of each.
    clusters : mapping of str to str
        Family of each task; at least two.
    pilot_answers : int
        Answers to each task in the pilot.
    difference : float
        The difference to be seen, not 0.
    n_answers : int
        Answers to each task in the plan.
    least_power : float, default 0.8
        Probability to see it, in (0, 1).
    confidence_level : float, default 0.95
        Of the interval that must leave out 0.

    Returns
    -------
    Plan
        Families and tasks needed.

    Raises
    ------
    InputError
        If there are fewer than two families, or an argument breaks a rule above.

    Notes
    -----
    The mean over k families has the variance (S + e M0 / M) / k: S, what families differ by (the
    variance of the pilot's family means less what the answers' errors explain, at least 0), and e,
    what the answers add, taken to fall as 1 / M. Then
    ``k = (z_conf + z_power)^2 (S + e M0 / M) / d^2``. An approximation: normal, and only as good
    as the pilot; S from few families is imprecise by a factor of two easily. More answers help
    only as long as e M0 / M is not small beside S.

    References
    ----------
    .. [1] E. Miller, "Adding error bars to evals", 2024, arXiv:2411.00640

    Examples
    --------
    >>> gaps = {"a": 0.0, "b": 0.1, "c": 0.2}
    >>> found = plan(gaps, dict.fromkeys(gaps, 0.05), {"a": "x", "b": "y", "c": "z"},
    ...              pilot_answers=100, difference=0.05, n_answers=200)
    >>> found.n_clusters
    28
    """
    if options.real("difference", difference, "be finite and not 0") == 0:
        raise InputError("difference", "be finite and not 0", difference)
    for name, value in (("pilot_answers", pilot_answers), ("n_answers", n_answers)):
        options.whole(name, value, 1, options.MOST_ANSWERS)
    options.level("least_power", least_power)
    options.level("confidence_level", confidence_level)
    tasks = list(gaps)
    _check_pilot(gaps, errors, clusters)
    _, index = np.unique([clusters[task] for task in tasks], return_inverse=True)
    members = np.bincount(index) if tasks else np.zeros(0)
    if members.size < 2:
        raise InputError("clusters", "name at least two families", sorted(set(clusters.values())))
    means = np.bincount(index, weights=[gaps[task] for task in tasks]) / members
    squares = np.array([errors[task] ** 2 for task in tasks])
    pilot_noise = float((np.bincount(index, weights=squares) / members**2).mean())
    between = max(0.0, float(means.var(ddof=1)) - pilot_noise)
    noise = pilot_noise * pilot_answers / n_answers
    normal = NormalDist()
    z = normal.inv_cdf((1 + confidence_level) / 2) + normal.inv_cdf(least_power)
    n_clusters = max(2, math.ceil(z * z * (between + noise) / difference**2))
    n_tasks = math.ceil(n_clusters * len(tasks) / members.size)
    return Plan(difference, n_answers, n_clusters, n_tasks, between, noise, least_power)


def _check_pilot(
    gaps: Mapping[str, float], errors: Mapping[str, float], clusters: Mapping[str, str]
) -> None:
    """Refuse tasks that lack an error or a family, and numbers that are none."""
    for name, given in (("errors", errors), ("clusters", clusters)):
        if lacking := [task for task in gaps if task not in given]:
            raise InputError(name, "hold every task of gaps", lacking[:3])
    if wrong := {task: gap for task, gap in gaps.items() if not -1 <= gap <= 1}:
        raise InputError("gaps", "be differences of rates, in [-1, 1]", wrong)
    finite = [errors[task] for task in gaps]
    if not all(0 <= error < math.inf for error in finite):
        raise InputError("errors", "be finite (N at most half of the answers), from 0", finite)
