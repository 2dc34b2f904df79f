"""Statistics compiled by numba: the same numbers as slow ones, in every loop, without surprises."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import numba
import numpy as np
import pytest
import scipy.stats

from compiled import OF_TWO, first_of_one, gap_of_means, mean_of_one
from unpredictabench.stats import (
    PreparedTruth,
    RaggedArray,
    bootstrap,
    bootstrap_2samp,
    cramervonmises_2samp,
    from_cfunc,
    permutation_test_2samp,
    wasserstein_distance,
    wasserstein_test,
)

EXAMPLE = Path(__file__).parents[1] / "examples" / "own_statistic.py"
PAGE = EXAMPLE.parents[1] / "docs" / "own_statistic.md"
RNG = np.random.default_rng(31)


@numba.cfunc(OF_TWO)
def _disorder(x, n, y, m):
    """Count what the contract excludes: steps down, and zeros with a sign."""
    a, b = numba.carray(x, n), numba.carray(y, m)
    bad = (a[1:] < a[:-1]).sum() + (b[1:] < b[:-1]).sum()
    return float(bad + np.signbit(a[a == 0]).sum() + np.signbit(b[b == 0]).sum())


@pytest.fixture(scope="module")
def example():
    """Run the example as a module."""
    return runpy.run_path(str(EXAMPLE))


@pytest.fixture(scope="module")
def gap():
    """Make the difference of means."""
    return from_cfunc(gap_of_means)


def tied(size):
    """Draw values with ties and zeros of both signs."""
    return RNG.integers(-3, 4, size) * RNG.choice([-1.0, 1.0], size)


@pytest.mark.parametrize("draw", [RNG.normal, tied])
def test_example_is_scipys_cramer_von_mises(example, draw):
    """The example's Cramer-von Mises statistic is SciPy's, with and without ties."""
    statistic = from_cfunc(example["cramervonmises"])
    for n, m in [(2, 2), (3, 8), (40, 40), (100, 17)]:
        x, y = draw(size=n), draw(size=m)
        want = scipy.stats.cramervonmises_2samp(x, y, method="asymptotic").statistic
        assert statistic(x, y) == pytest.approx(want, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("trim", [0.0, 0.1, 0.25])
def test_example_trims_wasserstein(example, trim):
    """The trimmed distance is the mean of |Qx - Qy| between its levels; untrimmed it is W1."""
    statistic = from_cfunc(example["trimmed_wasserstein"](trim))
    for n, m in [(1, 1), (4, 10), (37, 40), (100, 250)]:
        x, y = RNG.normal(size=n), tied(m)
        levels = np.concatenate([np.arange(n + 1) / n, np.arange(m + 1) / m, [trim, 1 - trim]])
        levels = np.unique(levels[(levels >= trim) & (levels <= 1 - trim)])
        middles = (levels[1:] + levels[:-1]) / 2
        quantiles = [np.quantile(v, middles, method="inverted_cdf") for v in (x, y)]
        want = np.diff(levels) @ np.abs(quantiles[0] - quantiles[1]) / (1 - 2 * trim)
        assert statistic(x, y) == pytest.approx(want, rel=1e-12)
        if trim == 0.0:
            assert statistic(x, y) == pytest.approx(wasserstein_distance(x, y), rel=1e-12)


def test_example_runs(example, capsys):
    """The example finds the shifted sample and not the others."""
    example["main"]()
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if not line.startswith(" ")] == ["cramervonmises", "trimmed W1"]
    assert all(float(lines[i].split()[2]) < 0.01 for i in (3, 7))
    assert all(float(lines[i].split()[2]) > 0.01 for i in (1, 2, 5, 6))


def test_batches_are_single_calls(gap):
    """A row of a batch, ragged or not, with one truth or its own, is a single call."""
    x, y = RNG.normal(size=(50, 7)), RNG.normal(size=90)
    want = [gap(row, y) for row in x]
    assert want[0] == pytest.approx(x[0].mean() - y.mean(), rel=1e-12)
    for truth in (y, PreparedTruth(y)):
        for workers in (1, 2, None):
            np.testing.assert_array_equal(gap(x, truth, workers=workers), want)
    ragged = RaggedArray.from_rows([x[0, :2], x[1], x[2, :5]])
    own = RaggedArray.from_rows([y[:3], y, y[4:9]])
    singles = [gap(x[0, :2], y[:3]), gap(x[1], y), gap(x[2, :5], y[4:9])]
    np.testing.assert_array_equal(gap(ragged, own), singles)
    assert gap(np.empty((0, 3)), y).shape == (0,)


def test_statistics_of_one_sample():
    """A statistic of one sample is called without a truth, on one sample or many."""
    first = from_cfunc(first_of_one, "smallest")
    assert first([3.0, 1.0, 2.0]) == 1.0
    np.testing.assert_array_equal(first([[3, 1], [5, 9]]), [1.0, 5.0])
    found = first(RaggedArray([1.0], [0, 0, 1]), empty="nan")
    assert np.isnan(found[0])
    assert found[1] == 1.0


def test_samples_come_in_order_everywhere():
    """In every loop the function gets ascending values, and zeros without a sign."""
    disorder = from_cfunc(_disorder)
    x, y = np.stack([tied(9), tied(9)]), tied(30)
    own = np.stack([y, y[::-1]])
    assert not np.any(disorder(x, y))
    assert not np.any(disorder(x, own))
    for truth in (y, own, y[:5]):
        for resample in ("x", "both"):
            found = bootstrap_2samp(x, truth, disorder, resample=resample, n_resamples=50)
            assert not found.bootstrap_distribution.any()
        assert not permutation_test_2samp(
            x, truth, disorder, n_resamples=50
        ).null_distribution.any()


@pytest.mark.parametrize("resample", ["x", "both"])
def test_native_and_python_bootstraps_agree(gap, resample):
    """The compiled loop and a Python function in the slow loop have one distribution."""
    x, y = RNG.normal(size=20), RNG.normal(size=60)
    fast = bootstrap_2samp(x, y, gap, resample=resample, n_resamples=4000)
    slow = bootstrap_2samp(x, y, lambda x, y: x.mean() - y.mean(), resample=resample,
                           n_resamples=4000)  # fmt: skip
    assert fast.statistic == pytest.approx(slow.statistic, rel=1e-12)
    both = (fast.bootstrap_distribution, slow.bootstrap_distribution)
    assert scipy.stats.ks_2samp(*both).pvalue > 1e-4


def test_compiled_wasserstein_has_the_replicates_of_the_named_one(example):
    """The same streams are drawn: replicates of a compiled W1 are those of the named distance."""
    x, y = RNG.normal(size=(2, 30)), RNG.normal(size=200)
    own = from_cfunc(example["trimmed_wasserstein"](0.0))
    for resample in ("x", "both"):
        mine, named = (
            bootstrap_2samp(x, y, statistic, resample=resample, n_resamples=40)
            for statistic in (own, "wasserstein_distance")
        )
        np.testing.assert_allclose(
            mine.bootstrap_distribution, named.bootstrap_distribution, rtol=1e-10
        )


def test_permutations_have_exact_moments(example):
    """Permuted values of a compiled W1 have the exact null mean and deviation."""
    x, y = RNG.normal(size=15), RNG.normal(size=40)
    own = from_cfunc(example["trimmed_wasserstein"](0.0))
    exact = wasserstein_test(x, y)
    for pair in ((x, y), (y, x)):
        null = permutation_test_2samp(*pair, own, n_resamples=4000).null_distribution
        assert abs(null.mean() - exact.null_mean) < 5 * exact.null_std / 4000**0.5
        assert null.std() == pytest.approx(exact.null_std, rel=0.1)


def test_permutation_pvalues_are_those_of_all_labelings(example):
    """The p-value estimates the share of all labelings, which the exact test counts."""
    x, y = tied(4), tied(7)
    exact = cramervonmises_2samp(x, y).pvalue
    own = from_cfunc(example["cramervonmises"])
    found = permutation_test_2samp(x, y, own, n_resamples=20_000)
    assert found.pvalue == pytest.approx(exact, abs=5 * (exact * (1 - exact) / 20_000) ** 0.5)
    slow = permutation_test_2samp(x, y, own.__call__, n_resamples=2_000)
    assert slow.pvalue == pytest.approx(exact, abs=5 * (exact * (1 - exact) / 2_000) ** 0.5)


def test_alternatives_of_the_permutation_test(gap):
    """Greater and less mirror each other, two-sided is twice the smaller, and no p is 0."""
    x, y = np.arange(10.0) + 50, np.arange(12.0)
    p = {
        alternative: permutation_test_2samp(
            x, y, gap, alternative=alternative, n_resamples=99
        ).pvalue
        for alternative in ("greater", "less", "two-sided")
    }
    assert p == {"greater": 0.01, "less": 1.0, "two-sided": 0.02}
    assert permutation_test_2samp(x[:1], x[:1], gap, n_resamples=9).pvalue == 1.0


def test_permutation_pvalues_are_calibrated(gap):
    """Under the null p is uniform on its steps."""
    x, y = RNG.normal(size=(2000, 6)), RNG.normal(size=(2000, 9))
    p = permutation_test_2samp(x, y, gap, n_resamples=19).pvalue
    counts = np.bincount(np.rint(20 * p).astype(int) - 1, minlength=20)
    assert scipy.stats.chisquare(counts).pvalue > 1e-4


def test_results_do_not_depend_on_threads_or_rows(gap):
    """A row has the same replicates and permutations alone, in a batch, on any threads."""
    x, y = RNG.normal(size=(3, 8)), RNG.normal(size=(3, 20))
    for call in (bootstrap_2samp, permutation_test_2samp):
        name = "bootstrap_distribution" if call is bootstrap_2samp else "null_distribution"
        all_ = [getattr(call(x, y, gap, n_resamples=70, workers=w), name) for w in (1, 2, 5)]
        np.testing.assert_array_equal(all_[0], all_[1])
        np.testing.assert_array_equal(all_[0], all_[2])
        alone = getattr(call(x[0], y[0], gap, n_resamples=70), name)
        np.testing.assert_array_equal(all_[0][0], alone)


def test_bootstrap_of_one_sample():
    """The compiled mean has the interval of the built-in mean, also in clusters."""
    data, clusters = RNG.normal(size=60), np.arange(60) % 20
    mean = from_cfunc(mean_of_one)
    for labels in (None, clusters, ["a"] * 60):
        mine, named = (
            bootstrap(data, statistic, clusters=labels, n_resamples=20_000)
            for statistic in (mean, "mean")
        )
        assert mine.statistic == pytest.approx(named.statistic)
        assert mine.method == named.method
        assert mine.standard_error == pytest.approx(named.standard_error, rel=0.05, abs=1e-12)
        ends = [(r.confidence_interval.low, r.confidence_interval.high) for r in (mine, named)]
        assert ends[0] == pytest.approx(ends[1], abs=0.03)
    again = bootstrap(data, mean, n_resamples=20_000, rng=3).bootstrap_distribution
    same = bootstrap(data, mean, n_resamples=20_000, rng=3).bootstrap_distribution
    np.testing.assert_array_equal(again, same)


def test_the_page_is_true(capsys):
    """The examples of the docs run and tell a narrow sample from its truth."""
    text, names = PAGE.read_text(encoding="utf-8"), {}
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(block, names)
    assert names["test"].pvalue == 0.002
    assert names["spread"].confidence_interval.high < 0
    assert capsys.readouterr().out.startswith("0.002 Interval(")
