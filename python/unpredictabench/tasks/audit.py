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
ROUNDING = 1e-12
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
        Statistic and p. Numbers: the exact one-sample Kolmogorov-Smirnov test, and p = 0 where one
        lies outside the support; labels: Pearson's chi-squared.
    """
    from unpredictabench.stats import ks_1samp  # noqa: PLC0415 - loads the native module

    law = task.target
    if isinstance(law, NominalLaw):
        return _fit_labels(observations.astype(np.int64), law.probabilities)
    assert isinstance(law, NumericLaw)
    values = observations.astype(np.float64)
    # Draws without ties are called continuous, yet their cdf has a step at every one of them.
    given = law.cdf_left if not law.is_exact else None
    result = ks_1samp(values, law if law.is_exact else law.cdf, cdf_left=given)
    is_inside = bool(law.contains(values).all())
    return float(result.statistic), float(result.pvalue) if is_inside else 0.0


def _fit_labels(
    indices: NDArray[np.int64], probabilities: NDArray[np.float64]
) -> tuple[float, float]:
    from scipy.stats import chisquare  # noqa: PLC0415 - a second to import

    counts = np.bincount(indices, minlength=probabilities.size)
    possible = probabilities > 0
    if counts[~possible].any():
        return float("inf"), 0.0
    if possible.sum() == 1:
        return 0.0, 1.0
    result = chisquare(counts[possible], indices.size * probabilities[possible])
    return float(result.statistic), float(result.pvalue)


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
    step = np.spacing(np.abs(x))
    # The quantile itself is a float, and the law may be steep there.
    before, after = (x, x) if law.support == "discrete" else (x - 4 * step, x + 4 * step)
    miss = np.maximum(law.cdf_left(before) - q, q - law.cdf(after)).max()
    allowed = 0.0 if law.support == "discrete" else ROUNDING
    is_right = bool(miss <= allowed and (np.diff(law.cdf(np.sort(x))) >= -ROUNDING).all())
    return Finding(task.id, "quantiles", is_right, float(max(miss, 0.0)))


def _moments(task: Task) -> Finding | None:
    """Check the mean of draws against the mean, in standard errors made of the law's own std."""
    law = task.target
    if not isinstance(law, NumericLaw) or law.mean is None or law.std is None or law.std == 0:
        return None
    draws = law.sample(N_DRAWS, stream("audit-moments", task.id)).astype(np.float64)
    off = abs(float(draws.mean()) - law.mean) / (law.std / N_DRAWS**0.5)
    return Finding(task.id, "moments", off <= N_SIGMAS, off)
