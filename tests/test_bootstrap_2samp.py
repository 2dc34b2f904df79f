"""Bootstrap of two-sample statistics: native loops, user functions, streams."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from unpredictabench.errors import InputError
from unpredictabench.stats import PreparedTruth, RaggedArray, bootstrap_2samp, wasserstein_distance

RNG = np.random.default_rng(12)
X, Y = RNG.normal(size=40), RNG.normal(0.5, 1.0, size=300)
NAMES = ("wasserstein_distance", "energy_distance", "jensenshannon", "jensenshannon_counts")


@pytest.mark.parametrize("name", NAMES)
def test_replicates_do_not_depend_on_threads_or_rows(name):
    """A row's replicates are the same alone, in a batch, and for any number of threads."""
    batch = np.stack([X, X + 1.0, X[::-1]])
    results = [
        bootstrap_2samp(batch, Y, name, n_resamples=60, workers=workers).bootstrap_distribution
        for workers in (1, 2, 7)
    ]
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])
    alone = bootstrap_2samp(X, Y, name, n_resamples=60).bootstrap_distribution
    np.testing.assert_array_equal(results[0][0], alone)


def test_native_and_python_loops_agree():
    """The native distance and SciPy's in a Python loop have the same distribution."""
    for resample in ("x", "both"):
        native = bootstrap_2samp(X, Y, "wasserstein_distance", resample=resample, n_resamples=2000)
        python = bootstrap_2samp(
            X, Y, scipy.stats.wasserstein_distance, resample=resample, n_resamples=2000
        )
        assert native.statistic == pytest.approx(python.statistic, rel=1e-12)
        ks = scipy.stats.ks_2samp(native.bootstrap_distribution, python.bootstrap_distribution)
        assert ks.pvalue > 1e-4


def test_resampling_both_varies_more():
    """Resampling the truth too adds its variance."""
    y = Y[:40]
    one = bootstrap_2samp(X, y, "energy_distance", n_resamples=3000)
    both = bootstrap_2samp(X, y, "energy_distance", resample="both", n_resamples=3000)
    assert both.standard_error > 1.15 * one.standard_error


def test_intervals_are_quantiles_of_the_replicates():
    """Percentile ends are quantiles, and basic ends mirror them at the statistic."""
    percentile = bootstrap_2samp(X, Y, "wasserstein_distance", n_resamples=500)
    basic = bootstrap_2samp(X, Y, "wasserstein_distance", n_resamples=500, method="basic")
    low, high = np.quantile(percentile.bootstrap_distribution, [0.025, 0.975])
    assert (percentile.confidence_interval.low, percentile.confidence_interval.high) == (
        pytest.approx(low),
        pytest.approx(high),
    )
    assert basic.confidence_interval.low == pytest.approx(2 * basic.statistic - high)


def test_constant_sample_does_not_vary():
    """A constant sample resamples to itself: no spread, and the statistic in every replicate."""
    result = bootstrap_2samp([2.0] * 9, Y, "wasserstein_distance", n_resamples=50)
    assert result.standard_error == 0.0
    assert set(result.bootstrap_distribution) == {wasserstein_distance([2.0] * 9, Y)}


def test_one_truth_a_row_and_prepared_truths():
    """Ragged rows, their own truths and prepared truths all work, for names and functions."""
    x = RaggedArray.from_rows([X[:5], X[:9]])
    own = RaggedArray.from_rows([Y[:50], Y[:70]])
    for statistic in ("wasserstein_distance", scipy.stats.wasserstein_distance):
        shared = bootstrap_2samp(x, PreparedTruth(Y), statistic, n_resamples=20)
        each = bootstrap_2samp(x, own, statistic, n_resamples=20, resample="both")
        assert shared.statistic[1] == pytest.approx(wasserstein_distance(X[:9], Y))
        assert each.statistic[1] == pytest.approx(wasserstein_distance(X[:9], Y[:70]))
        assert each.bootstrap_distribution.shape == (2, 20)


def test_seeds_name_streams():
    """The same seed gives the same replicates and another seed others."""
    draw = lambda rng: bootstrap_2samp(X, Y, NAMES[0], n_resamples=9, rng=rng)  # noqa: E731
    first, again, other = draw(1), draw(1), draw(2)
    np.testing.assert_array_equal(first.bootstrap_distribution, again.bootstrap_distribution)
    assert not np.array_equal(first.bootstrap_distribution, other.bootstrap_distribution)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"statistic": "nope"}, "statistic must be callable or one of"),
        ({"resample": "y"}, "resample must be 'x' or 'both'"),
        ({"n_resamples": 0}, "n_resamples must be an integer from 1"),
        ({"method": "bca"}, "method must be 'percentile' or 'basic'"),
        ({"confidence_level": 0.0}, "confidence_level must lie"),
    ],
)
def test_refusals_name_the_argument(arguments, message):
    """Each broken rule is an error with argument, rule and value."""
    with pytest.raises(InputError, match=f"^{message}"):
        bootstrap_2samp(X, Y, **{"statistic": "wasserstein_distance", **arguments})


@pytest.mark.parametrize(
    "statistic", ["ks_2samp", "energy_distance", lambda x, y: x.mean() - y.mean()]
)
def test_empty_rows_are_nan_on_request(statistic):
    """With empty="nan" rows without observations or draws are NaN; else they are an error."""
    x = RaggedArray([1.0, 2.0, 5.0], [0, 2, 2, 3])
    y = RaggedArray([3.0, 4.0], [0, 1, 2, 2])
    found = bootstrap_2samp(x, y, statistic, n_resamples=20, empty="nan", resample="both")
    assert np.isnan(found.statistic).tolist() == [False, True, True]
    assert np.isnan(found.confidence_interval.high).tolist() == [False, True, True]
    assert np.isnan(found.bootstrap_distribution).all(axis=1).tolist() == [False, True, True]
    with pytest.raises(InputError, match="must hold observations"):
        bootstrap_2samp(x, y, statistic, n_resamples=20)


def test_extreme_values_have_finite_errors():
    """Replicates near the end of the range have the scaled interval and standard error."""
    x, y, scale = np.array([0.1, 0.25, 0.4]), np.array([0.0, 0.5]), 2.0**1023
    want = bootstrap_2samp(x, y, "wasserstein_distance", n_resamples=50)
    got = bootstrap_2samp(x * scale, y * scale, "wasserstein_distance", n_resamples=50)
    assert got.standard_error / scale == pytest.approx(want.standard_error)
    assert got.confidence_interval.high / scale == pytest.approx(want.confidence_interval.high)


def test_own_statistics_return_numbers():
    """A statistic that returns NaN or no number is refused by name; infinities are values."""
    for value in (float("nan"), None, "1"):
        with pytest.raises(InputError, match="statistic must return a real number"):
            bootstrap_2samp([1.0], [2.0], lambda _x, _y, value=value: value, n_resamples=5)
    for method in ("percentile", "basic"):
        found = bootstrap_2samp(
            [1.0, 2.0], [2.0], lambda x, _: np.inf if x.min() > 1 else x.min(), method=method
        )
        assert np.isnan(found.standard_error)
        assert np.isinf([found.confidence_interval.low, found.confidence_interval.high]).any()
