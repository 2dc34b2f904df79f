"""The two-sample KS kernels against SciPy and numba: n = 100, one truth of m = 10,000."""

from __future__ import annotations

import itertools
import statistics
import time

import numpy as np
import pytest
from scipy import stats

import rivals_ks
from unpredictabench import _native
from unpredictabench.stats import PreparedTruth, ks_2samp

N, M, BATCH, FEW = 100, 10_000, 20_000, 30
RNG = np.random.default_rng(20260)
X = RNG.normal(size=(BATCH, N))
Y = RNG.normal(size=M)
Y_SORTED = np.sort(Y)
TRUTH = PreparedTruth(Y)


def scipy_pvalues(x, y, method):
    """Return SciPy's results for each row."""
    return [stats.ks_2samp(row, y, method=method) for row in x]


@pytest.mark.benchmark(group="KS statistic")
def test_statistic(race):
    """The statistic of 20,000 pairs (with the limit law's p-value, which costs next to nothing)."""
    ours = ks_2samp(X, TRUTH, method="asymp", workers=1).statistic
    np.testing.assert_allclose(ours, rivals_ks.statistics(X, Y_SORTED), rtol=1e-12)
    theirs = [r.statistic for r in scipy_pvalues(X[:FEW], Y, "asymp")]
    np.testing.assert_allclose(ours[:FEW], theirs, rtol=1e-12)
    race.run(
        lambda: ks_2samp(X, TRUTH, method="asymp", workers=1),
        BATCH,
        {
            "SciPy": (lambda: scipy_pvalues(X[:FEW], Y, "asymp"), FEW, 1000),
            "numba": (lambda: rivals_ks.statistics(X[:2000], Y_SORTED), 2000, 4),
        },
    )


@pytest.mark.benchmark(group="KS p, no ties, remembered by h")
def test_pvalue_remembered(race):
    """Exact p-values of 20,000 pairs whose statistics have been met before."""
    ours = ks_2samp(X, TRUTH, workers=1).pvalue
    np.testing.assert_allclose(ours[:FEW], rivals_ks.pvalues(X[:FEW], Y_SORTED), rtol=1e-11)
    theirs = [r.pvalue for r in scipy_pvalues(X[:FEW], Y, "exact")]
    np.testing.assert_allclose(ours[:FEW], theirs, rtol=1e-11)
    race.run(
        lambda: ks_2samp(X, TRUTH, workers=1),
        BATCH,
        {
            "SciPy": (lambda: scipy_pvalues(X[:FEW], Y, "exact"), FEW, 350),
            "numba": (lambda: rivals_ks.pvalues(X[:FEW], Y_SORTED), FEW, 100),
            "statistic alone": (
                lambda: ks_2samp(X, TRUTH, method="asymp", workers=1),
                BATCH,
                1 / 2.5,
            ),
        },
    )


@pytest.mark.benchmark(group="KS p, no ties, every pair new")
def test_pvalue_new(race):
    """Exact p-values where no two pairs share a statistic and no round repeats a size."""
    sizes = itertools.count(M, -1)

    def fresh():
        y = Y[: next(sizes)]
        found = ks_2samp(X[:3000], y, method="asymp", workers=1).statistic
        rows = np.unique(found, return_index=True)[1]
        rows = rows[np.linspace(0, rows.size - 1, 400).astype(int)]
        return np.ascontiguousarray(X[rows]), PreparedTruth(y)

    x, truth = fresh()
    ours = ks_2samp(x, truth, workers=1).pvalue
    np.testing.assert_allclose(ours[:5], rivals_ks.pvalues(x[:5], Y_SORTED), rtol=1e-11)
    inputs = iter([fresh() for _ in range(12)])
    race.run(
        lambda: ks_2samp(*next(inputs), workers=1),
        x.shape[0],
        {
            "SciPy": (lambda: scipy_pvalues(X[:FEW], Y, "exact"), FEW, 40),
            "numba": (lambda: rivals_ks.pvalues(X[:FEW], Y_SORTED), FEW, 15),
        },
    )


@pytest.mark.benchmark(group="KS p, up to 50 distinct values")
def test_pvalue_tied(race):
    """Exact p-values of counts against counts, ties everywhere."""
    x = RNG.poisson(25, size=(1000, N)).astype(float)
    y = RNG.poisson(25, size=M).astype(float)
    y_sorted, truth = np.sort(y), PreparedTruth(y)
    assert np.unique(y).size <= 50
    ours = ks_2samp(x, truth, workers=1).pvalue
    np.testing.assert_allclose(ours[:5], rivals_ks.pvalues_tied(x[:5], y_sorted), rtol=1e-11)
    permuted = rivals_ks.permutation_statistics(x[0], y, 2000, RNG)
    observed = ks_2samp(x[0], truth).statistic
    share = np.mean(permuted > observed - 1e-9)
    assert abs(share - ours[0]) < 5 * np.sqrt(ours[0] * (1 - ours[0]) / 2000) + 1e-3
    race.run(
        lambda: ks_2samp(x, truth, workers=1),
        1000,
        {
            "numba": (lambda: rivals_ks.pvalues_tied(x[:FEW], y_sorted), FEW, 40),
            "10^6 permutations": (
                lambda: rivals_ks.permutation_statistics(x[0], y, 200, RNG),
                200 / 1e6,
                100_000,
            ),
        },
    )


@pytest.mark.benchmark(group="KS bootstrap replicate")
def test_bootstrap(race):
    """Replicates of the statistic, the sample resampled."""
    n_resamples = 2000
    rows = (X[:10].ravel(), np.arange(0, 10 * N + 1, N))
    x_sorted = np.sort(X[0])

    def ours():
        return _native.ks_bootstrap(
            rows, TRUTH.native, n_resamples, seed=1, first_row=0, resample_both=False, workers=1
        )

    def scipy_loop():
        for _ in range(FEW):
            stats.ks_2samp(RNG.choice(X[0], N), Y, method="asymp")

    mean = ours()[0].mean()
    numba = rivals_ks.bootstrap(x_sorted, Y_SORTED, n_resamples, 1)
    numpy = rivals_ks.bootstrap_numpy(x_sorted, Y_SORTED, n_resamples, RNG)
    for other in (numba, numpy):
        assert abs(mean - other.mean()) < 6 * other.std() / np.sqrt(n_resamples)
    race.run(
        ours,
        10 * n_resamples,
        {
            "SciPy": (scipy_loop, FEW, 5000),
            "numba": (
                lambda: rivals_ks.bootstrap(x_sorted, Y_SORTED, n_resamples, 1),
                n_resamples,
                15,
            ),
            "NumPy": (
                lambda: rivals_ks.bootstrap_numpy(x_sorted, Y_SORTED, n_resamples, RNG),
                n_resamples,
                25,
            ),
        },
    )


@pytest.mark.benchmark(group="one call")
@pytest.mark.parametrize("truth", ["prepared", "raw"])
def test_one_call(race, truth):
    """One sample of 100 and one truth, everything included; a raw truth is not indexed."""
    x, y = X[0].copy(), TRUTH if truth == "prepared" else Y
    repeats = 1000 if truth == "prepared" else 50

    def ours():
        for _ in range(repeats):
            ks_2samp(x, y)

    assert ks_2samp(x, y).pvalue == ks_2samp(x, TRUTH).pvalue
    race.name = f"one call, {truth} truth"
    race.run(ours, repeats, {"SciPy": (lambda: stats.ks_2samp(x, Y, method="exact"), 1, None)})


@pytest.mark.benchmark(group="two threads")
def test_two_threads(race):
    """Wall-clock time of one thread over that of two, on 100,000 pairs."""
    x = np.tile(X, (5, 1))

    def wall(workers):
        start = time.perf_counter()
        ks_2samp(x, TRUTH, workers=workers)
        return time.perf_counter() - start

    wall(2)
    ratio = statistics.median(wall(1) / wall(2) for _ in range(5))
    race.report("one thread", ratio, 1.8)
    race.benchmark.pedantic(lambda: wall(2), rounds=2)
    assert not race.shortfalls, race.shortfalls
