"""Batches of Arrow lists against many truths: what the way in and out costs beside the kernel."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

from unpredictabench.stats import PreparedTruth, ks_2samp, score_batch

N, M, BATCH, TRUTHS, FEW = 100, 10_000, 40_000, 448, 30
RNG = np.random.default_rng(20261)
DRAWS = {f"task-{i}": RNG.normal(size=M) for i in range(TRUTHS)}
PREPARED = {key: PreparedTruth(draws) for key, draws in DRAWS.items()}
X = RNG.normal(size=(BATCH, N))
IDS = [f"task-{i % TRUTHS}" for i in range(BATCH)]
LISTS = pa.ListArray.from_arrays(np.arange(BATCH + 1, dtype=np.int32) * N, X.ravel())
PAIRS = pa.record_batch({"truth_id": IDS, "x": LISTS})


@pytest.mark.benchmark(group="score_batch, 448 truths in any order")
def test_pairs_by_truth_id(race):
    """Exact p-values of 40,000 pairs whose truths are named by id, ninety pairs a truth."""
    ours = score_batch(PAIRS, PREPARED, workers=1)["pvalue"].to_numpy()
    theirs = [stats.ks_2samp(x, DRAWS[key]) for x, key in zip(X[:FEW], IDS[:FEW], strict=True)]
    np.testing.assert_allclose(ours[:FEW], [one.pvalue for one in theirs], rtol=1e-9)
    rows = list(zip(X[:2000], IDS[:2000], strict=True))
    race.run(
        lambda: score_batch(PAIRS, PREPARED, workers=1),
        BATCH,
        {
            "SciPy": (
                lambda: [stats.ks_2samp(x, DRAWS[key]) for x, key in rows[:FEW]],
                FEW,
                200,
            ),
            "a call a row": (lambda: [ks_2samp(x, PREPARED[key]) for x, key in rows], 2000, 1),
            "one truth, NumPy": (lambda: ks_2samp(X, PREPARED["task-0"], workers=1), BATCH, 0.25),
        },
    )
