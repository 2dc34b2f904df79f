"""The distances against SciPy and numba: n = 100, one truth of m = 10,000."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import rivals_distances as rivals
from unpredictabench.stats import (
    PreparedTruth,
    energy_test,
    jensenshannon,
    ks_2samp,
    wasserstein_distance,
    wasserstein_test,
)

N, M, BATCH, FEW = 100, 10_000, 20_000, 30
RNG = np.random.default_rng(20261)
X = RNG.normal(size=(BATCH, N))
Y = RNG.normal(size=M)
Y_SORTED = np.sort(Y)
TRUTH = PreparedTruth(Y)
PERMUTATIONS = 999


@pytest.mark.benchmark(group="W1")
def test_wasserstein(race):
    """The first Wasserstein distance of 20,000 pairs."""
    ours = wasserstein_distance(X, TRUTH, workers=1)
    np.testing.assert_allclose(ours[:2000], rivals.wasserstein(X[:2000], Y_SORTED), rtol=1e-10)
    theirs = [stats.wasserstein_distance(row, Y) for row in X[:FEW]]
    np.testing.assert_allclose(ours[:FEW], theirs, rtol=1e-10)
    race.run(
        lambda: wasserstein_distance(X, TRUTH, workers=1),
        BATCH,
        {
            "SciPy": (lambda: [stats.wasserstein_distance(row, Y) for row in X[:FEW]], FEW, 400),
            "numba": (lambda: rivals.wasserstein(X[:500], Y_SORTED), 500, 15),
            "the KS statistic": (
                lambda: ks_2samp(X, TRUTH, method="asymp", workers=1),
                BATCH,
                1 / 2,
            ),
        },
    )


@pytest.mark.benchmark(group="exact mean and sd of W1's null")
def test_wasserstein_null(race):
    """Exact moments against 999 permutations; SciPy's are timed on 9 and scaled."""
    exact = wasserstein_test(X[:50], TRUTH, workers=1)
    pooled = np.sort(np.concatenate([X[0], Y]))
    mean, deviation = rivals.wasserstein_null(pooled, N, PERMUTATIONS, 1)
    assert abs(mean - exact.null_mean[0]) < 5 * deviation / np.sqrt(PERMUTATIONS)
    assert abs(deviation / exact.null_std[0] - 1) < 0.2
    race.run(
        lambda: wasserstein_test(X[:50], TRUTH, workers=1),
        50,
        {
            "SciPy, 999 permutations": (
                lambda: rivals.permuted(stats.wasserstein_distance, X[0], Y, 9, RNG),
                9 / PERMUTATIONS,
                500,
            ),
            "numba, 999 permutations": (
                lambda: rivals.wasserstein_null(pooled, N, PERMUTATIONS, 1),
                1,
                12,
            ),
        },
        rounds=5,
    )


@pytest.mark.benchmark(group="energy null moments")
def test_energy_null(race):
    """Exact moments against 999 permutations, timed on 9 and scaled."""
    exact = energy_test(X[:500], TRUTH, workers=1)
    squares = rivals.permuted(stats.energy_distance, X[0], Y, 99, RNG) ** 2
    assert abs(squares.mean() - exact.null_mean[0]) < 5 * exact.null_std[0] / np.sqrt(99)
    race.run(
        lambda: energy_test(X[:500], TRUTH, workers=1),
        500,
        {
            "SciPy, 999 permutations": (
                lambda: rivals.permuted(stats.energy_distance, X[0], Y, 9, RNG),
                9 / PERMUTATIONS,
                800,
            )
        },
        rounds=5,
    )


@pytest.mark.benchmark(group="JS (KDE), truth prepared")
def test_jensenshannon(race):
    """The divergence of density estimates on the joint grid."""
    x = X[:2000]
    ours = jensenshannon(x, TRUTH, workers=1)
    theirs = [rivals.jensenshannon_scipy(row, Y) for row in x[:3]]
    np.testing.assert_allclose(ours[:3], theirs, atol=1e-12)
    np.testing.assert_allclose(ours[:3], rivals.jensenshannon(x[:3], Y), atol=1e-12)
    inside = x[(x.min(axis=1) > Y.min()) & (x.max(axis=1) < Y.max())][:FEW]
    np.testing.assert_allclose(
        jensenshannon(inside, TRUTH), rivals.jensenshannon_remembered(inside, Y), atol=1e-12
    )
    race.run(
        lambda: jensenshannon(x, TRUTH, workers=1),
        2000,
        {
            "SciPy": (lambda: [rivals.jensenshannon_scipy(row, Y) for row in x[:3]], 3, 350),
            "numba": (lambda: rivals.jensenshannon(x[:3], Y), 3, 100),
            "numba, truth remembered": (
                lambda: rivals.jensenshannon_remembered(inside, Y),
                FEW,
                None,
            ),
        },
        rounds=5,
    )
