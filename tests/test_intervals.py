"""Intervals for shares, McNemar's test and corrections, against values computed elsewhere."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from unpredictabench.errors import InputError
from unpredictabench.stats import (
    benjamini_hochberg,
    bootstrap,
    holm,
    mcnemar_test,
    wilson_interval,
)
from unpredictabench.stats._bootstrap import _share_below


def test_wilson_all_pass__boot_all_pass() -> None:
    """Thirty passes of thirty give the interval of statsmodels, and no zero width."""
    interval = wilson_interval(30, 30)
    assert interval.low == pytest.approx(0.8864866068260311, rel=1e-12)
    assert interval.high == 1.0
    assert wilson_interval(0, 30).high == pytest.approx(1 - 0.8864866068260311, rel=1e-12)


def test_wilson_five_of_five__rep_ci_zero_width() -> None:
    """Five passes of five do not look certain."""
    assert wilson_interval(5, 5).low == pytest.approx(0.5655175352168252, rel=1e-12)


@given(st.integers(1, 200), st.data())
def test_wilson_agrees_with_scipy(n: int, data: st.DataObject) -> None:
    """Every share has the interval that SciPy's binomial test gives it."""
    k = data.draw(st.integers(0, n))
    want = scipy.stats.binomtest(k, n).proportion_ci(0.9, method="wilson")
    got = wilson_interval(k, n, confidence_level=0.9)
    assert (got.low, got.high) == pytest.approx((want.low, want.high), abs=1e-12)


@pytest.mark.parametrize(
    ("successes", "n", "level", "name"),
    [
        (1, 0, 0.95, "n"),
        (-1, 5, 0.95, "successes"),
        (6, 5, 0.95, "successes"),
        (1, float("nan"), 0.95, "n"),
        (1, 5, 1.0, "confidence_level"),
    ],
)
def test_wilson_refuses(successes: float, n: float, level: float, name: str) -> None:
    """Arguments outside of their range are named."""
    with pytest.raises(InputError, match=f"^{name} must"):
        wilson_interval(successes, n, confidence_level=level)


def test_mcnemar__stats_paired_models() -> None:
    """Twelve against two is a real difference when pairs are kept together."""
    assert mcnemar_test(2, 12, method="exact").pvalue == 0.012939453125
    want = 2 * scipy.stats.binom.cdf(2, 14, 0.5) - scipy.stats.binom.pmf(2, 14, 0.5)
    assert mcnemar_test(12, 2).pvalue == pytest.approx(want, rel=1e-12)


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_laws(b: int, c: int) -> None:
    """The exact p is SciPy's binomial test, mid-p is smaller, and sides do not matter."""
    exact, mid = mcnemar_test(b, c, method="exact").pvalue, mcnemar_test(b, c).pvalue
    want = scipy.stats.binomtest(b, b + c).pvalue if b + c else 1.0
    assert exact == pytest.approx(want, rel=1e-9)
    assert mid <= exact <= 1.0
    assert mcnemar_test(c, b).pvalue == mid


def test_mcnemar_refuses() -> None:
    """Negative counts and unknown methods are named."""
    with pytest.raises(InputError, match="^b must be an integer from 0"):
        mcnemar_test(-1, 2)
    with pytest.raises(InputError, match="^method must be 'mid-p' or 'exact'"):
        mcnemar_test(1, 2, method="chi2")  # type: ignore[arg-type]


def test_corrections__stats_correction_row_by_row() -> None:
    """All p-values are corrected together, in the order given."""
    p = [0.04, 0.001, 0.03, 0.02]
    assert holm(p).tolist() == pytest.approx([0.06, 0.004, 0.06, 0.06])
    assert benjamini_hochberg(p).tolist() == pytest.approx([0.04, 0.004, 0.04, 0.04])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_benjamini_hochberg_is_scipys(p: list[float]) -> None:
    """The adjusted values are those of SciPy."""
    want = scipy.stats.false_discovery_control(p)
    np.testing.assert_allclose(benjamini_hochberg(p), want, rtol=1e-12)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_holm_keeps_order_and_bounds(p: list[float]) -> None:
    """Holm's values are at least the p-values, at most k times them, and keep their order."""
    adjusted = holm(p)
    assert np.all(adjusted >= p)
    assert np.all(adjusted <= np.minimum(1.0, np.array(p) * len(p)) + 1e-15)
    assert np.all(np.diff(adjusted[np.argsort(p)]) >= 0)


def test_corrections_refuse() -> None:
    """A value that is no p-value is named with its place."""
    with pytest.raises(InputError, match=r"^pvalues\[1\] must lie in \[0, 1\], got 1.5"):
        holm([0.5, 1.5])
    with pytest.raises(InputError, match=r"^pvalues\[0\]"):
        benjamini_hochberg([float("nan")])


def test_bootstrap_median__boot_median_jackknife_zero() -> None:
    """A median whose jackknife does not move falls back to percentiles, and says so."""
    data = [1, 2, 3, 3, 3, 3, 4, 5] * 2
    result = bootstrap([1, 2, 3, 3, 3, 3, 4, 5], "median")
    assert (result.confidence_interval.low, result.confidence_interval.high) == (2.0, 4.0)
    assert result.method.startswith("percentile (")
    assert bootstrap(data, "median").method == "percentile (acceleration undefined)"


def test_bootstrap_refuses_nan__boot_nan_in_data() -> None:
    """A NaN is an error that says what to do, and never makes the limits NaN."""
    with pytest.raises(InputError, match="data must hold no NaN"):
        bootstrap([1, 2, float("nan"), 4])


def test_bootstrap_clusters__boot_cluster_by_prompt() -> None:
    """Ten prompts of a hundred equal answers have the spread of ten prompts, not of a thousand."""
    prompts = [0, 1, 0, 1, 1, 0, 1, 0, 1, 1]
    answers = np.repeat(prompts, 100)
    result = bootstrap(answers, clusters=np.repeat(np.arange(10), 100))
    # The plug-in value is the prompt-level one of the case, 0.1632..., times sqrt(9/10).
    assert result.standard_error == pytest.approx(0.16329931618554522 * 0.9**0.5, rel=0.03)


def test_bootstrap_bca_agrees_with_scipy() -> None:
    """BCa of a mean has SciPy's ends within the resampling error of both."""
    data = np.random.default_rng(3).exponential(size=40)
    got = bootstrap(data, n_resamples=20_000, rng=1)
    want = scipy.stats.bootstrap(
        (data,), np.mean, n_resamples=20_000, method="BCa", rng=np.random.default_rng(2)
    ).confidence_interval
    ends = (got.confidence_interval.low, got.confidence_interval.high)
    assert got.method == "bca"
    assert ends == pytest.approx((want.low, want.high), abs=0.02)


def test_bootstrap_of_a_callable_is_the_named_one() -> None:
    """The mean by name and by function have the same interval within the resampling error."""
    data = np.random.default_rng(4).normal(size=30)
    named = bootstrap(data, n_resamples=4000).confidence_interval
    called = bootstrap(data, lambda v: float(np.mean(v)), n_resamples=4000).confidence_interval
    assert (named.low, named.high) == pytest.approx((called.low, called.high), abs=0.05)


def test_bootstrap_paired_identical_runs_differ_by_exactly_zero() -> None:
    """A run less itself is 0 with the interval [0, 0]."""
    data = np.arange(12.0)
    result = bootstrap([data, data], paired=True, n_resamples=200)
    assert (result.statistic, result.standard_error) == (0.0, 0.0)
    assert (result.confidence_interval.low, result.confidence_interval.high) == (0.0, 0.0)


def test_bootstrap_is_reproducible() -> None:
    """Without a seed the draws come from a named stream: the same every time."""
    first, second = bootstrap([1.0, 2.0, 4.0]), bootstrap([1.0, 2.0, 4.0])
    np.testing.assert_array_equal(first.bootstrap_distribution, second.bootstrap_distribution)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"data": []}, "data must be one-dimensional and not empty"),
        ({"data": [[1.0, 2.0]]}, "data must be one-dimensional"),
        ({"data": [1.0], "clusters": [1, 2]}, "clusters must hold one label an observation"),
        ({"data": [1.0], "n_resamples": 0}, "n_resamples must be an integer from 1"),
        ({"data": [1.0], "method": "magic"}, "method must be"),
        ({"data": [1.0], "statistic": "mode"}, "statistic must be"),
        ({"data": [[1.0], [1.0, 2.0]], "paired": True}, "data must be of one length"),
        ({"data": [[1.0]], "paired": True}, "data must be two arrays"),
    ],
)
def test_bootstrap_refuses(arguments: dict[str, object], message: str) -> None:
    """Each broken rule is named with the argument."""
    with pytest.raises(InputError, match=f"^{message}"):
        bootstrap(**arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("statistic", ["mean", "median"])
def test_bootstrap_of_extreme_values_is_the_scaled_one(statistic: str) -> None:
    """Values near the end of the range change neither the method nor the relative results."""
    x, scale = np.linspace(-0.9, 0.8, 12), 2.0**1023
    want, got = bootstrap(x, statistic), bootstrap(x * scale, statistic)
    assert got.method == want.method == "bca"
    assert got.standard_error / scale == pytest.approx(want.standard_error)
    assert got.confidence_interval.low / scale == pytest.approx(want.confidence_interval.low)


@pytest.mark.parametrize("value", [float("nan"), None, "0.5", 1j, np.array([1.0])])
def test_bootstrap_refuses_what_is_no_number(value: object) -> None:
    """A statistic that returns NaN or no number is refused by name."""
    with pytest.raises(InputError, match="statistic must return a real number that is not NaN"):
        bootstrap([1, 2, 3], lambda _: value, n_resamples=5)


@pytest.mark.parametrize("value", [True, np.float32(1), np.array(1.0), Fraction(1)])
def test_bootstrap_accepts_any_real_number(value: object) -> None:
    """A statistic may return a number of any real type."""
    assert bootstrap([1, 2, 3], lambda _: value, n_resamples=5).statistic == 1.0


def test_bootstrap_of_an_infinite_statistic_is_infinite() -> None:
    """Infinite replicates reach the interval without a warning; the deviation is undefined."""

    def odds(x: np.ndarray) -> float:
        share = float(x.mean())
        return np.inf if share == 1.0 else share / (1.0 - share)

    found = bootstrap([1.0] * 11 + [0.0], odds, n_resamples=500)
    assert found.confidence_interval.high == np.inf
    assert found.method == "percentile (acceleration undefined)"
    assert np.isnan(found.standard_error)
    assert bootstrap([1.0] * 12, odds, n_resamples=50).confidence_interval.low == np.inf


def test_bootstrap_bias_counts_rounded_ties() -> None:
    """The bias of a mean does not depend on the unit, though sums of tenths are rounded."""
    x = np.repeat([0, 1], [6, 6])
    assert bootstrap(x).method == "bca"
    whole, tenths = bootstrap(x + 1), bootstrap((x + 1) * 0.1)
    assert tenths.confidence_interval.low * 10 == pytest.approx(whole.confidence_interval.low)
    assert tenths.confidence_interval.high * 10 == pytest.approx(whole.confidence_interval.high)
    share_below = _share_below(0.3, np.array([0.1 + 0.2, 0.3, 0.2, 0.4]))
    assert share_below == 0.5
