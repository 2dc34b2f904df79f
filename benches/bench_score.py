"""Scoring a whole run against the KS step alone of the published way of scoring one.

The published permutation test takes 10^6 tables for each task and N; here its NumPy form draws
500, or 200 for the whole suite, and its time is scaled.
"""

from __future__ import annotations

import asyncio

import numpy as np
import pytest
from scipy import stats

from unpredictabench import SimulatedClient, load_suite
from unpredictabench.records import Request
from unpredictabench.score import SIZES, score_records
from unpredictabench.score.paper import has_ties, published_codes

N_ANSWERS = 100
TABLES, FEW_TABLES, PUBLISHED_TABLES = 500, 200, 1_000_000
TASKS = list(load_suite("v1"))
CONTINUOUS = [task for task in TASKS if task.support == "continuous"][:4]
DISCRETE = [task for task in TASKS if task.family in {"poisson", "binomial"}][:4]

TIED = [task for task in TASKS if has_ties(task)]


async def _answers() -> list:
    client = SimulatedClient("kpoint:5")
    return [await client.ask(Request(task, i, ())) for task in TASKS for i in range(N_ANSWERS)]


def _exact(task) -> list[float]:
    """Test the first N answers of one task at every N, ties ignored."""
    truth, answers = task.truth(), task.truth(N_ANSWERS, rng=1)
    return [stats.ks_2samp(answers[:n], truth, method="exact").pvalue for n in SIZES]


def _permuted(task, n_tables=TABLES) -> list[float]:
    """Do the same by random tables of the pooled values."""
    rng, truth, answers = np.random.default_rng(1), task.truth(), task.truth(N_ANSWERS, rng=1)
    codes = published_codes(task) if task.support == "nominal" else None
    if codes is not None:
        truth, answers = codes[truth], codes[answers]
    pvalues = []
    for n in SIZES:
        values, place = np.unique(np.concatenate([answers[:n], truth]), return_inverse=True)
        pooled = np.bincount(place)
        tables = rng.multivariate_hypergeometric(pooled, n, size=n_tables, method="marginals")
        tables = np.vstack([np.bincount(place[:n], minlength=values.size), tables])
        gaps = np.cumsum(tables / n - (pooled - tables) / truth.size, axis=1)
        statistic = np.abs(gaps).max(axis=1)
        pvalues.append((1 + int((statistic[1:] >= statistic[0]).sum())) / (n_tables + 1))
    return pvalues


@pytest.mark.benchmark(group="scoring a run of 448 tasks x 100 answers, a task")
def test_score(race):
    """All metrics and intervals of a run, against the KS step alone."""
    completions = asyncio.run(_answers())
    found = score_records(TASKS, completions)
    assert found.n_tasks == len(TASKS)
    race.run(
        lambda: score_records(TASKS, completions),
        len(TASKS),
        {
            "SciPy, exact, continuous tasks": (
                lambda: [_exact(task) for task in CONTINUOUS],
                len(CONTINUOUS),
                None,
            ),
            "NumPy, 10^6 permutations, small supports": (
                lambda: [_permuted(task) for task in DISCRETE],
                len(DISCRETE) * TABLES / PUBLISHED_TABLES,
                1000,
            ),
            # The time of all tied tasks, spread over the whole suite: all else the published way
            # does is left out.
            "NumPy, 10^6 permutations, every tied task": (
                lambda: [_permuted(task, FEW_TABLES) for task in TIED],
                len(TASKS) * FEW_TABLES / PUBLISHED_TABLES,
                None,
            ),
        },
        rounds=3,
    )
