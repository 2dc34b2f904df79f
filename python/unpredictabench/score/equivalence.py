"""Fidelity, not only non-rejection: whether the distance to a law is within a margin."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from unpredictabench.score.numbers import is_known
from unpredictabench.score.results import Equivalence

if TYPE_CHECKING:
    from unpredictabench.records import NominalTarget
    from unpredictabench.score.pools import Pool
    from unpredictabench.score.rules import Rules

BATCHED: Final = "answers of one reply depend on each other, and the bound needs independent ones"
ONLY_DRAWS: Final = "the law is known by draws alone"
PUBLISHED: Final = "given under the protocols 'strict' and 'valid'"
NO_ANSWER: Final = "no answer"
STOPPED: Final = "stopped early: the number of answers depended on them"
UNATTAINABLE: Final = "only {n_needed} answers or more can show a distance within the margin"


def equivalence(pool: Pool, statistic: float, rules: Rules) -> Equivalence:
    """Tell whether the answers to a task are within a margin of its law.

    The distance is that between the law of the answers and the law asked for: of Kolmogorov and
    Smirnov for numbers, the total variation for labels and whole permutations.

    Parameters
    ----------
    pool : Pool
        The answers; invalid ones count against the model.
    statistic : float
        Distance of numbers from their law.
    rules : Rules
        Margin, confidence level, protocol.

    Returns
    -------
    Equivalence
        "equivalent" where the upper bound of the distance is at most the margin, "different" where
        the lower bound is above it, else "undecided"; None with a reason where there is no bound.

    Notes
    -----
    P(|D_n - D| > t) <= 2 exp(-2 n t^2) for numbers, with or without invalid answers [1]_, and
    (2^k - 2) exp(-2 n t^2) for k outcomes, of which invalid ones are one [2]_. Each of the two
    definite verdicts is wrong with at most one minus the confidence level. At 95 % a margin of
    0.25 needs at least 30 answers and of 0.1 at least 185; a faithful sampler of numbers is found
    equivalent with probability 0.85 at N = 99 for 0.25, and at N = 620 for 0.1.

    References
    ----------
    .. [1] Massart (1990), doi:10.1214/aop/1176990746.
    .. [2] Weissman, Ordentlich, Seroussi, Verdu, Weinberger (2003), "Inequalities for the L1
       deviation of the empirical distribution", HPL-2003-97.
    """
    task, n = pool.observed.task, pool.slots.size
    is_nominal = task.support == "nominal"
    reason = _reason(pool, rules)
    if reason is not None:
        return Equivalence(None, None, None, None, reason)
    if is_nominal:
        statistic, n_outcomes = _variation(pool)
        log_factor = n_outcomes * math.log(2) + math.log1p(-(2.0 ** (1 - n_outcomes)))
    else:
        log_factor = math.log(2)
    exponent = log_factor - math.log(1 - rules.confidence_level)
    n_needed = math.ceil(exponent / (2 * rules.margin**2) * (1 - 1e-12))
    width = math.sqrt(exponent / (2 * n))
    low, high = max(statistic - width, 0.0), min(statistic + width, 1.0)
    if low > rules.margin:
        return Equivalence("different", low, high, n_needed, None)
    if high <= rules.margin:
        return Equivalence("equivalent", low, high, n_needed, None)
    why = UNATTAINABLE.format(n_needed=n_needed) if n < n_needed else None
    return Equivalence("undecided", low, high, n_needed, why)


def _reason(pool: Pool, rules: Rules) -> str | None:
    task = pool.observed.task
    if rules.protocol == "paper":
        return PUBLISHED
    if not pool.slots.size:
        return NO_ANSWER
    if not pool.is_exchangeable:
        return BATCHED
    return None if task.support == "nominal" or is_known(task) else ONLY_DRAWS


def _variation(pool: Pool) -> tuple[float, int]:
    """Return the distance of all outcomes, and the number of them with that of being invalid."""
    p = cast("NominalTarget", pool.observed.task.target).probabilities
    values, lost = pool.whole
    shares = np.bincount(values.astype(np.int64), minlength=p.size) / pool.slots.size
    distance = float((np.abs(shares - p).sum() + lost / pool.slots.size) / 2)
    return distance, p.size + 1
