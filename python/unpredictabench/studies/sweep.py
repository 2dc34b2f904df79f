"""KS@N of one model at every N, with a band."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from unpredictabench.errors import InputError
from unpredictabench.extract.observations import observe
from unpredictabench.records import Request
from unpredictabench.stats import RaggedArray, ks_at_n
from unpredictabench.stats import _options as options
from unpredictabench.streams import stream

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from unpredictabench.clients import Client
    from unpredictabench.extract.observations import Observed
    from unpredictabench.records import Completion, Task

    Floats: TypeAlias = NDArray[np.float64]

CLUSTERS_AT_A_TIME = 500
"""Replicates whose counts are held at once."""


@dataclass(frozen=True, slots=True, eq=False)
class Sweep:
    """Pass rates of one model at many N.

    Parameters
    ----------
    n : numpy.ndarray, shape (sizes,)
        Answers.
    rates, errors : numpy.ndarray, shape (tasks, sizes)
        Pass rate of each task, and its jackknife standard error (NaN where there is none).
    clusters : tuple of str
        Cluster of each task.
    mean, low, high : numpy.ndarray, shape (sizes,)
        KS@N, and a pointwise percentile interval over clusters ("tasks like these").
    """

    n: NDArray[np.int64]
    rates: Floats
    errors: Floats
    clusters: tuple[str, ...]
    mean: Floats
    low: Floats
    high: Floats

    def at(self, n: int) -> tuple[Floats, Floats]:
        """Return pass rates and standard errors of the tasks at one N."""
        where = np.flatnonzero(self.n == n)
        if not where.size:
            raise InputError("n", "be one of the sizes of the sweep", n)
        return self.rates[:, where[0]], self.errors[:, where[0]]


def answers_of(client: Client, tasks: Sequence[Task], n: int) -> list[Observed]:
    """Ask a model that answers at once, such as a simulated one, and read its answers.

    Parameters
    ----------
    client : Client
        The model; nothing is stored, so use `generate` for one that costs time or money.
    tasks : sequence of Task
        What is asked.
    n : int
        Answers for each task.

    Returns
    -------
    list of Observed
        One a task.
    """

    async def ask() -> list[Completion]:
        return [await client.ask(Request(task, i, ())) for task in tasks for i in range(n)]

    return observe(tasks, asyncio.run(ask()), mode="lenient")[0]


def sweep(
    observed: Sequence[Observed],
    n: ArrayLike,
    *,
    alpha: float = 1e-4,
    n_resamples: int = 2000,
    confidence_level: float = 0.95,
) -> Sweep:
    """Compute KS@N over tasks at every N asked for.

    Parameters
    ----------
    observed : sequence of Observed
        Answers to tasks on the line, each to as many as the largest N.
    n : array_like of int
        Sizes, at least 1.
    alpha : float, default 1e-4
        Level of the tests.
    n_resamples : int, default 2000
        Bootstrap replicates of the band.
    confidence_level : float, default 0.95
        Pointwise coverage aimed at.

    Returns
    -------
    Sweep
        Rates, band and standard errors.

    Raises
    ------
    InputError
        If a task is nominal or has fewer answers than the largest N.

    Notes
    -----
    Each task's rate is the share of all subsets of N of its answers that pass (`stats.ks_at_n`).
    The band resamples families of tasks with their rates; it is wide and jagged for few families,
    and pointwise: the curve as a whole leaves it more often than 1 - confidence_level.
    """
    sizes = _sizes(n)
    options.level("alpha", alpha)
    options.level("confidence_level", confidence_level)
    options.resamples(n_resamples)
    if not observed:
        raise InputError("observed", "hold a task", observed)
    for one in observed:
        if one.task.support == "nominal":
            raise InputError("observed", "hold tasks on the line", one.task.id)
        if one.n_slots < sizes.max():
            raise InputError("observed", f"hold {sizes.max()} answers a task", one.n_slots)
    pools = RaggedArray.from_rows([one.valid for one in observed])
    invalid = np.array([one.n_slots - one.valid.size for one in observed])
    laws = [one.task.target for one in observed]
    found = ks_at_n(cast("Any", pools), laws, sizes, alpha=alpha, n_invalid=invalid)
    rates = np.asarray(found.pass_rate, dtype=np.float64).reshape(len(observed), sizes.size)
    errors = np.asarray(found.standard_error, dtype=np.float64).reshape(rates.shape)
    clusters = tuple(one.task.family for one in observed)
    low, high = _bands(rates, clusters, n_resamples, confidence_level)
    return Sweep(sizes, rates, errors, clusters, rates.mean(axis=0), low, high)


def _sizes(n: ArrayLike) -> NDArray[np.int64]:
    """Accept a size or a list of sizes."""
    sizes = np.atleast_1d(options.counted("n", n))
    if sizes.ndim != 1 or not sizes.size or sizes.min() < 1:
        raise InputError("n", "be one size or a list of sizes, each at least 1", n)
    return sizes


def _bands(
    rates: Floats, clusters: tuple[str, ...], n_resamples: int, confidence_level: float
) -> tuple[Floats, Floats]:
    _, index = np.unique(clusters, return_inverse=True)
    k = int(index.max()) + 1
    totals = np.zeros((k, rates.shape[1]))
    np.add.at(totals, index, rates)
    members = np.bincount(index).astype(np.float64)
    rng = stream("studies", "sweep", n_resamples)
    parts = []
    for start in range(0, n_resamples, CLUSTERS_AT_A_TIME):
        rows = min(CLUSTERS_AT_A_TIME, n_resamples - start)
        counts = rng.multinomial(k, np.full(k, 1 / k), size=rows)
        parts.append((counts @ totals) / (counts @ members)[:, None])
    tail = (1 - confidence_level) / 2
    low, high = np.quantile(np.concatenate(parts), (tail, 1 - tail), axis=0)
    return low, high
