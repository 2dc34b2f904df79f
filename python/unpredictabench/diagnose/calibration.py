"""Do faithful samplers fail at the rate the level says? Simulated on demand, task by task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from unpredictabench.errors import InputError
from unpredictabench.stats import ks_1samp, multinomial_test, wilson_interval
from unpredictabench.streams import stream

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from unpredictabench.records import Interval, NominalTarget, NumericTarget, Task

    Floats: TypeAlias = NDArray[np.float64]

LEVELS = (0.05, 0.01, 1e-3, 1e-4)
"""Levels at which rejections are counted."""


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """P-values of faithful samplers over tasks.

    Parameters
    ----------
    n : int
        Answers in a sample.
    pvalues : numpy.ndarray, shape (tasks, replicates)
        P-values of the test of each task.
    tasks : tuple of str
        The tasks.
    levels : tuple of float
        Levels.
    rejected : tuple of int
        P-values at or below each level.
    intervals : tuple of Interval
        Wilson's 99.9 % interval for the rate at each level.
    """

    n: int
    pvalues: Floats
    tasks: tuple[str, ...]
    levels: tuple[float, ...]
    rejected: tuple[int, ...]
    intervals: tuple[Interval, ...]

    @property
    def is_valid(self) -> bool:
        """Whether no rate is above its level beyond chance."""
        return all(i.low <= level for i, level in zip(self.intervals, self.levels, strict=True))

    def quantiles(self, n_points: int = 50) -> tuple[Floats, Floats]:
        """Return uniform quantiles and those of the p-values, for a QQ plot."""
        at = (np.arange(n_points) + 0.5) / n_points
        return at, np.quantile(self.pvalues.ravel(), at)


def calibrate(
    tasks: Sequence[Task], *, n: int = 100, n_replicates: int = 20, seed: int = 0
) -> Calibration:
    """Test samples drawn from the laws themselves.

    Parameters
    ----------
    tasks : sequence of Task
        The tasks; those known by draws only are left out.
    n : int
        Answers in a sample, at least 1.
    n_replicates : int
        Samples a task, at least 1.
    seed : int
        Another seed gives other samples.

    Returns
    -------
    Calibration
        The p-values and what they come to.

    Notes
    -----
    Laws on the line: the exact KS test. Labels and orders: total variation. P-values of laws with
    atoms are larger than uniform: they reject less often than the level says, never more.
    """
    for name, value in (("n", n), ("n_replicates", n_replicates)):
        if value < 1:
            raise InputError(name, "be at least 1", value)
    known = [task for task in tasks if getattr(task.target, "is_exact", True)]
    if not known:
        raise InputError("tasks", "hold a task whose law is known", [task.id for task in tasks])
    p = np.array([_pvalues(task, n, n_replicates, seed) for task in known])
    rejected = tuple(int((p <= level).sum()) for level in LEVELS)
    intervals = tuple(wilson_interval(r, p.size, confidence_level=0.999) for r in rejected)
    return Calibration(n, p, tuple(task.id for task in known), LEVELS, rejected, intervals)


def _pvalues(task: Task, n: int, n_replicates: int, seed: int) -> Floats:
    rng = stream("calibration", task.id, seed)
    x = task.target.sample(n * n_replicates, rng).reshape(n_replicates, n)
    if task.support != "nominal":
        found = ks_1samp(x, cast("NumericTarget", task.target))
        return np.asarray(found.pvalue)
    p = np.asarray(cast("NominalTarget", task.target).probabilities)
    counts = np.array([np.bincount(row.astype(np.int64), minlength=p.size) for row in x])
    return np.asarray(multinomial_test(counts, p, alpha=0.01, n_resamples=99_999).pvalue)
