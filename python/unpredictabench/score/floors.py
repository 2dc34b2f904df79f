"""The Jensen-Shannon divergence of a perfect sampler: what no model can go below."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import numpy as np

from unpredictabench.score.shipped import shipped, task_name
from unpredictabench.stats import PreparedTruth, jensenshannon
from unpredictabench.streams import stream
from unpredictabench.targets import content_hash
from unpredictabench.targets.cache import remembered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from unpredictabench.records import NominalTarget, Task

Floats: TypeAlias = "NDArray[np.float64]"

GRID: Final = (2, 5, 10, 20, 50, 100, 200, 500, 1000)
"""Numbers of answers at which the floor is simulated; in between it is interpolated."""
N_TRUTH: Final = 1000
"""Truth draws the published divergence uses, except for real-world tasks (arXiv 2606.06622)."""
N_SAMPLES: Final = 16
"""Perfect samples whose divergences are averaged."""
VERSION: Final = 2
"""Part of the key on disk: raised when floors change without the suite."""


def divergence_floors(tasks: Sequence[Task], n_valid: NDArray[np.int64]) -> Floats:
    """Return the mean divergence of a perfect sampler with as many answers.

    Parameters
    ----------
    tasks : sequence of Task
        The tasks.
    n_valid : numpy.ndarray of int64
        Valid answers of each.

    Returns
    -------
    numpy.ndarray
        In nats; NaN where there are fewer than two answers.
    """
    largest = int(n_valid.max(initial=0))
    if largest < GRID[0]:
        return np.full(len(tasks), np.nan)
    size = next((i + 1 for i, n in enumerate(GRID) if n >= largest), len(GRID))
    grid = GRID[:size]
    table = _table(tasks, grid)
    # Bias falls like a power of n: a straight line between logarithms.
    floors = [
        np.exp(np.interp(np.log(n), np.log(grid), np.log(np.maximum(row, 1e-12))))
        for n, row in zip(np.maximum(n_valid, 1), table, strict=True)
    ]
    return np.where(n_valid >= GRID[0], floors, np.nan)


def _table(tasks: Sequence[Task], grid: Sequence[int]) -> Floats:
    tables = shipped()
    if tables is not None:
        found = tables.known(tables.floors, [task_name(task) for task in tasks])
        if found is not None:
            return found[:, : len(grid)]
    names = content_hash([[task.id, dict(task.target.spec)] for task in tasks])
    table = remembered(
        ("floors", VERSION, N_SAMPLES, names, *grid),
        lambda: np.array([simulated(task, grid) for task in tasks]),
    )
    return table.astype(np.float64)


def divergence_truth(task: Task) -> Floats:
    """Return the truth draws that a divergence is taken from."""
    draws = np.asarray(task.truth(), dtype=np.float64)
    return draws if task.category == "real-world" else draws[:N_TRUTH]


def simulated(task: Task, grid: Sequence[int]) -> list[float]:
    """Simulate the floor of a task at some numbers of answers, which rise."""
    rng = stream("score.floors", task.id)
    # As many whatever the grid, so that a floor does not depend on the largest run.
    draws = task.target.sample(N_SAMPLES * GRID[-1], rng).reshape(N_SAMPLES, GRID[-1])
    if task.support == "nominal":
        return [_label_floor(task, draws[:, :n]) for n in grid]
    truth = PreparedTruth(divergence_truth(task))
    method: Any = "counts" if task.support == "discrete" else "kde"
    return [
        float(np.mean(jensenshannon(np.ascontiguousarray(draws[:, :n]), truth, method=method)))
        for n in grid
    ]


def _label_floor(task: Task, draws: NDArray[np.generic]) -> float:
    p = cast("NominalTarget", task.target).probabilities
    return float(np.mean([plug_in(np.bincount(row, minlength=p.size), p) for row in draws]))


def plug_in(counts: NDArray[np.int64], p: Floats) -> float:
    """Return the Jensen-Shannon divergence in nats between shares and probabilities.

    Parameters
    ----------
    counts : numpy.ndarray of int64
        Answers with each label, at least one in all.
    p : numpy.ndarray
        Probability of each label.

    Returns
    -------
    float
        In [0, ln 2].

    Examples
    --------
    >>> plug_in(np.array([5, 5]), np.array([0.5, 0.5]))
    0.0
    """
    shares = counts / counts.sum()
    middle = (p + shares) / 2
    terms = [part[part > 0] * np.log(part[part > 0] / middle[part > 0]) for part in (p, shares)]
    return float(max(sum(term.sum() for term in terms) / 2, 0.0))
