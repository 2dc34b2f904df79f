"""Statistics compiled by numba beside built-in kernels of one complexity, O(n + m) a call."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

from unpredictabench.stats import (
    PreparedTruth,
    bootstrap_2samp,
    from_cfunc,
    jensenshannon,
    permutation_test_2samp,
    wasserstein_distance,
    wasserstein_test,
)

EXAMPLE = runpy.run_path(str(Path(__file__).parents[1] / "examples" / "own_statistic.py"))
CRAMER = from_cfunc(EXAMPLE["cramervonmises"])
WHOLE = from_cfunc(EXAMPLE["trimmed_wasserstein"](0.0))
TRIMMED = from_cfunc(EXAMPLE["trimmed_wasserstein"](0.1))
N, M, BATCH = 100, 10_000, 2000
RNG = np.random.default_rng(20262)
X, Y = RNG.normal(size=(BATCH, N)), RNG.normal(size=M)
TRUTH = PreparedTruth(Y)
FEW = RNG.normal(size=(100, N))
ONE_A_ROW = RNG.normal(size=(100, N))
REPLICATES = 999
ONE_PASS = {
    "built-in W2": (lambda: wasserstein_distance(X, TRUTH, p=2.0, workers=1), BATCH, 0.5),
    "built-in JS by counts": (
        lambda: jensenshannon(X, TRUTH, method="counts", workers=1),
        BATCH,
        0.5,
    ),
}
"""Kernels that walk through the pooled values once."""


@pytest.mark.benchmark(group="own statistic: trimmed W1")
def test_trimmed_wasserstein(race):
    """One pass through both samples, beside two built-in kernels that do the same."""
    np.testing.assert_allclose(WHOLE(X[:50], TRUTH), wasserstein_distance(X[:50], TRUTH))
    race.run(lambda: TRIMMED(X, TRUTH, workers=1), BATCH, ONE_PASS)


@pytest.mark.benchmark(group="own statistic: Cramer-von Mises")
def test_cramer_von_mises(race):
    """Midranks of both samples, beside two built-in kernels that do the same."""
    race.run(lambda: CRAMER(X, TRUTH, workers=1), BATCH, ONE_PASS)


@pytest.mark.benchmark(group="own statistic: bootstrap replicate, n = m = 100")
def test_bootstrap(race):
    """Replicates of both samples, beside the built-in distances."""

    def replicates(statistic):
        return bootstrap_2samp(
            FEW, ONE_A_ROW, statistic, resample="both", n_resamples=REPLICATES, workers=1
        )

    np.testing.assert_allclose(
        replicates(WHOLE).bootstrap_distribution,
        replicates("wasserstein_distance").bootstrap_distribution,
    )
    rivals = {
        "built-in W1": (lambda: replicates("wasserstein_distance"), FEW.shape[0] * REPLICATES, 0.5)
    }
    race.run(lambda: replicates(TRIMMED), FEW.shape[0] * REPLICATES, rivals)


@pytest.mark.benchmark(group="own statistic: permutation, n = m = 100")
def test_permutation(race):
    """Permutations of the labels, beside the built-in test by permutation."""

    def ours():
        return permutation_test_2samp(FEW, ONE_A_ROW, TRIMMED, n_resamples=REPLICATES, workers=1)

    def built_in():
        return wasserstein_test(
            FEW, ONE_A_ROW, method="permutation", n_resamples=REPLICATES, workers=1
        )

    rivals = {"built-in W1": (built_in, FEW.shape[0] * REPLICATES, 0.5)}
    race.run(ours, FEW.shape[0] * REPLICATES, rivals)
