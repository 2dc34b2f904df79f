"""Check a suite against itself: draws, programs, quantiles and moments against every law."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from unpredictabench.errors import InputError, SuiteError
from unpredictabench.streams import stream
from unpredictabench.targets import NominalLaw, NumericLaw
from unpredictabench.tasks.execution import run_many, run_once

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from unpredictabench.records import Task

Check: TypeAlias = Literal["truths", "programs", "samplers", "quantiles", "moments"]
CHECKS: tuple[Check, ...] = ("truths", "programs", "samplers", "quantiles", "moments")
LEVEL = 1e-4
"""Family-wise probability that one check raises a false alarm somewhere in the suite."""
WHOLE = re.compile(r"-?\d+")
N_RUNS = 2000
N_DRAWS = 10_000
ROUNDING = 1e-11
"""How far a quantile may miss its level where the law is continuous: SciPy's own inverses."""
N_SIGMAS = 6.0
"""How many standard errors a mean of draws may be off; two-sided normal tail 2e-9."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found about one task.

    Parameters
    ----------
    task : str
        Id of the task.
    check : str
        One of `CHECKS`.
    is_right : bool
        Whether the check passed; for tests of significance, after Holm over all tasks.
    statistic : float or None
        The Kolmogorov-Smirnov distance, Pearson's chi-squared, or the largest deviation.
    pvalue : float or None
        Before Holm; None for checks that are not tests of significance.
    note : str
        What went wrong where nothing could be computed.
    """

    task: str
    check: Check
    is_right: bool
    statistic: float | None = None
    pvalue: float | None = None
    note: str = ""


def audit(
    tasks: Iterable[Task],
    *,
    checks: Sequence[Check] = CHECKS,
    n_runs: int = N_RUNS,
    n_draws: int = N_DRAWS,
    level: float = LEVEL,
) -> tuple[Finding, ...]:
    """Check tasks against their laws.

    Parameters
    ----------
    tasks : iterable of Task
        What to check, e.g. a suite.
    checks : sequence of str
        "truths" (the drawn truths follow the law), "programs" (the program of a code task, executed
        `n_runs` times in one process and once on its own, follows the law), "samplers" (fresh
        draws do), "quantiles" (cdf and ppf are inverse to each other) or "moments" (the mean of
        draws is as far from the mean as the standard deviation lets expect).
    n_runs : int
        Executions of each program.
    n_draws : int
        Draws of each truth and sampler.
    level : float
        Probability of a false alarm in each of the first three checks, over all tasks together.

    Returns
    -------
    tuple of Finding
        One a task and check that applies to it.
    """
    listed = tuple(tasks)
    findings: list[Finding] = []
    for check in checks:
        if check not in CHECKS:
            raise InputError("checks", f"hold only {', '.join(CHECKS)}", check)
        if check in {"quantiles", "moments"}:
            look = _quantiles if check == "quantiles" else _moments
            found = (look(task) for task in listed)
            findings += [finding for finding in found if finding is not None]
        else:
            findings += _against_laws(listed, check, n_runs=n_runs, n_draws=n_draws, level=level)
    return tuple(findings)


def _against_laws(
    tasks: Sequence[Task], check: Check, *, n_runs: int, n_draws: int, level: float
) -> list[Finding]:
    """Test observations of every task against its law, Holm over tasks."""
    from unpredictabench.stats import holm  # noqa: PLC0415 - loads the native module

    makers: dict[str, Callable[[Task], NDArray[np.generic] | None]] = {
        "truths": lambda task: task.truth(n_draws),
        "samplers": lambda task: task.truth(n_draws, rng=stream("audit", task.id)),
        "programs": lambda task: _executed(task, n_runs),
    }
    raw: list[Finding] = []
    for task in tasks:
        try:
            observations = makers[check](task)
        except SuiteError as error:
            raw.append(Finding(task.id, check, is_right=False, note=str(error)))
            continue
        if observations is not None:
            statistic, pvalue = fit(task, observations)
            raw.append(Finding(task.id, check, is_right=True, statistic=statistic, pvalue=pvalue))
    tested = [finding for finding in raw if finding.pvalue is not None]
    adjusted = holm([finding.pvalue or 0.0 for finding in tested])
    rejected = {f.task for f, p in zip(tested, adjusted, strict=True) if p <= level}
    note = "does not follow its law"
    return [replace(f, is_right=False, note=note) if f.task in rejected else f for f in raw]


def fit(task: Task, observations: NDArray[np.generic]) -> tuple[float, float]:
    """Test observations against the law of a task.

    Parameters
    ----------
    task : Task
        The null hypothesis is that the observations are independent draws from its target.
    observations : numpy.ndarray
        Values, or indices into the outcomes.

    Returns
    -------
    tuple of float
        Statistic and p. Numbers: Kolmogorov-Smirnov, with the continuous null law, which is
        conservative where the law has atoms; labels: Pearson's chi-squared.
    """
    from scipy import stats  # noqa: PLC0415 - a second to import

    law, n = task.target, observations.size
    if isinstance(law, NominalLaw):
        counts = np.bincount(observations.astype(np.int64), minlength=len(law.outcomes))
        expected = n * law.probabilities
        if (counts[expected == 0] > 0).any():
            return float("inf"), 0.0
        kept = expected > 0
        if kept.sum() == 1:
            return 0.0, 1.0
        result = stats.chisquare(counts[kept], expected[kept])
        return float(result.statistic), float(result.pvalue)
    assert isinstance(law, NumericLaw)
    values = np.unique(np.asarray(observations, dtype=np.float64), return_counts=True)
    below = np.concatenate(([0], np.cumsum(values[1]))) / n
    gap = np.maximum(
        np.abs(law.cdf(values[0]) - below[1:]), np.abs(law.cdf_left(values[0]) - below[:-1])
    )
    statistic = float(gap.max())
    if not law.contains(values[0]).all():
        return statistic, 0.0
    return statistic, float(stats.kstwo.sf(statistic, n))


def _executed(task: Task, n_runs: int) -> NDArray[np.float64] | None:
    """Run the program of a task many times, and once on its own; None when it has none."""
    if task.program is None:
        return None
    outputs = (*run_many(task.program, n_runs), run_once(task.program))
    try:
        values = np.array([float(output) for output in outputs])
    except ValueError:
        raise SuiteError("the program printed something that is not one number") from None
    if task.answer.is_integer and not all(WHOLE.fullmatch(output.strip()) for output in outputs):
        raise SuiteError("the program printed something that is not a whole number")
    return values


def _quantiles(task: Task) -> Finding | None:
    """Check that cdf and ppf are inverse to each other, on a grid and at the atoms."""
    law = task.target
    if not isinstance(law, NumericLaw):
        return None
    q = np.concatenate((np.linspace(0.001, 0.999, 199), [1e-6, 1.0 - 1e-6]))
    x = law.ppf(q)
    miss = np.maximum(law.cdf_left(x) - q, q - law.cdf(x)).max()
    allowed = 0.0 if law.support == "discrete" else ROUNDING
    is_right = bool(miss <= allowed and (np.diff(law.cdf(np.sort(x))) >= 0).all())
    return Finding(task.id, "quantiles", is_right, float(max(miss, 0.0)))


def _moments(task: Task) -> Finding | None:
    """Check the mean of draws against the mean, in standard errors made of the law's own std."""
    law = task.target
    if not isinstance(law, NumericLaw) or law.mean is None or law.std is None or law.std == 0:
        return None
    draws = law.sample(N_DRAWS, stream("audit-moments", task.id)).astype(np.float64)
    off = abs(float(draws.mean()) - law.mean) / (law.std / N_DRAWS**0.5)
    return Finding(task.id, "moments", off <= N_SIGMAS, off)
