"""Kuiper, Anderson-Darling and Cramer-von Mises: values from SciPy, papers and enumeration."""

import itertools
import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference_onesample import AtomAtZero, StepLaw
from unpredictabench.errors import InputError
from unpredictabench.stats import (
    PreparedTruth,
    RaggedArray,
    anderson_1samp,
    anderson_2samp,
    cramervonmises_1samp,
    cramervonmises_2samp,
    kuiper_1samp,
    kuiper_2samp,
)

ONE_SAMPLE = (kuiper_1samp, anderson_1samp, cramervonmises_1samp)
TWO_SAMPLE = (kuiper_2samp, anderson_2samp, cramervonmises_2samp)
samples = st.lists(st.integers(0, 6), min_size=2, max_size=5)


def uniform(u):
    """Return the cdf of the uniform law on [0, 1]."""
    return np.clip(u, 0.0, 1.0)


def test_cramer_von_mises_equals_scipy():
    """Against a continuous law statistic and p are SciPy's; p to its first-order accuracy."""
    from scipy.stats import cramervonmises

    rng = np.random.default_rng(1)
    for n in (20, 100, 500):
        for power in (1.0, 1.3, 1.6):
            x = rng.random(n) ** power
            got, want = cramervonmises_1samp(x, uniform), cramervonmises(x, "uniform")
            assert got.statistic == pytest.approx(want.statistic, rel=1e-10)
            assert got.pvalue == pytest.approx(want.pvalue, rel=0.15, abs=2e-3)


def test_anderson_equals_its_classical_formula():
    """Against a continuous law A2 is -n - sum (2i - 1) (ln u_i + ln(1 - u_(n+1-i))) / n."""
    rng = np.random.default_rng(2)
    for n in (1, 2, 17, 300):
        u = np.sort(rng.random(n))
        i = np.arange(1, n + 1)
        want = -n - np.sum((2 * i - 1) * (np.log(u) + np.log1p(-u[::-1]))) / n
        assert anderson_1samp(u, uniform).statistic == pytest.approx(want, rel=1e-9)


@pytest.mark.parametrize(("n", "tolerance"), [(10, 0.1), (40, 0.04), (200, 0.04)])
def test_kuiper_equals_the_published_table(n, tolerance):
    """The upper 10 %, 5 % and 1 % points of Stephens (1970) hold to the accuracy of his formula."""
    for point, p in ((1.620, 0.10), (1.747, 0.05), (2.001, 0.01)):
        v = point / (math.sqrt(n) + 0.155 + 0.24 / math.sqrt(n))
        # Spread evenly from 0 to 1 - v: D- is 0, and D+ is reached at the last observation.
        result = kuiper_1samp(np.linspace(0, 1 - v, n), uniform)
        assert result.method == "exact"
        assert result.statistic == pytest.approx(v, abs=1e-12)
        assert result.pvalue == pytest.approx(p, rel=tolerance)


@pytest.mark.parametrize("test", ONE_SAMPLE)
@pytest.mark.parametrize("n", [2, 7, 30])
def test_p_is_uniform_under_a_continuous_null(test, n):
    """A share of about alpha of all samples has p below alpha, for every size and method."""
    rows = test(np.random.default_rng(n).random((4_000, n)), uniform)
    for alpha in (0.01, 0.1, 0.5):
        error = math.sqrt(alpha * (1 - alpha) / 4_000)
        assert abs(np.mean(rows.pvalue <= alpha) - alpha) < 4.5 * error + 0.05 * alpha


@pytest.mark.parametrize("test", ONE_SAMPLE)
@pytest.mark.parametrize("law", [StepLaw(2, 3, 1), AtomAtZero()])
def test_p_is_valid_under_a_null_with_atoms(test, law):
    """Against a law with atoms p is drawn, and below alpha at most as often as alpha."""
    x = law.sample(12 * 1_000, np.random.default_rng(3)).reshape(1_000, 12)
    rows = test(x, law, n_resamples=1999)
    assert set(rows.method) == {"montecarlo"}
    for alpha in (0.05, 0.3):
        error = math.sqrt(alpha * (1 - alpha) / 1_000)
        assert np.mean(rows.pvalue <= alpha) < alpha + 4 * error


def test_atoms_spread_their_mass():
    """A sample in the very shares of a discrete law has distance 0 from it by every statistic."""
    law = StepLaw(2, 1, 1)
    x = [0.0, 0.0, 1.0, 2.0]
    for test in ONE_SAMPLE:
        assert test(x, law, n_resamples=99).statistic == pytest.approx(0.0, abs=1e-15)
        assert test(x, law, n_resamples=99).pvalue == 1.0


def test_kuiper_sees_a_narrow_spread_that_ks_does_not():
    """At sd x 0.5 and n = 100 Kuiper rejects at 1e-4 where Kolmogorov and Smirnov hardly do."""
    from scipy.special import ndtr

    from unpredictabench.stats import ks_1samp

    x = np.random.default_rng(4).normal(0, 0.5, (300, 100))
    assert np.mean(kuiper_1samp(x, ndtr).pvalue <= 1e-4) > 0.95
    assert np.mean(ks_1samp(x, ndtr).pvalue <= 1e-4) < 0.3


def test_an_impossible_observation_is_infinite_evidence():
    """An observation outside the support makes A2 infinite and its p zero."""
    result = anderson_1samp([0.1, 0.5, 2.0] * 4, uniform)
    assert (result.statistic, result.pvalue) == (math.inf, 0.0)


def test_the_drawn_null_agrees_with_the_exact_one():
    """Kuiper's exact p lies within the error of the drawn one, which its seed fixes."""
    x = [0.1, 0.2, 0.25, 0.3, 0.8]
    exact = kuiper_1samp(x, uniform)
    drawn = kuiper_1samp(x, uniform, method="montecarlo", n_resamples=20_000, rng=5)
    assert drawn == kuiper_1samp(x, uniform, method="montecarlo", n_resamples=20_000, rng=5)
    error = math.sqrt(exact.pvalue * (1 - exact.pvalue) / 20_000)
    assert abs(drawn.pvalue - exact.pvalue) < 4 * error


@given(samples, samples)
@settings(max_examples=40, deadline=None)
def test_two_sample_statistics_equal_scipy(x, y):
    """With ties of any sort T and the midrank A2 are SciPy's."""
    from scipy.stats import anderson_ksamp
    from scipy.stats import cramervonmises_2samp as scipy_cramer

    got = cramervonmises_2samp(x, y, n_resamples=1).statistic
    assert got == pytest.approx(scipy_cramer(x, y).statistic, abs=1e-12)
    if len(set(x) | set(y)) > 1 and len(x) + len(y) > 3:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            want = anderson_ksamp([x, y]).statistic
        assert anderson_2samp(x, y, n_resamples=1).statistic == pytest.approx(want, abs=1e-9)


@given(samples, samples)
@settings(max_examples=25, deadline=None)
def test_exact_p_is_the_share_of_all_labelings(x, y):
    """Every labeling of the pooled sample is compared with the observed one."""
    pool = [*x, *y]
    for test in TWO_SAMPLE:
        observed = test(x, y)
        assert observed.method == "exact"
        values = []
        for chosen in itertools.combinations(range(len(pool)), len(x)):
            rest = [pool[i] for i in range(len(pool)) if i not in chosen]
            values.append(test([pool[i] for i in chosen], rest, n_resamples=1).statistic)
        hits = np.sum(np.array(values) >= observed.statistic - 1e-9)
        assert observed.pvalue == pytest.approx(hits / len(values))


@pytest.mark.parametrize("test", TWO_SAMPLE)
def test_random_labelings_have_their_own_streams(test):
    """Threads and the shared truth change nothing; p is at least 1 / (n_resamples + 1)."""
    rng = np.random.default_rng(6)
    x, y = rng.random((40, 15)), rng.random(60)
    one = test(x, y, n_resamples=199, rng=1, workers=1)
    two = test(x, PreparedTruth(y), n_resamples=199, rng=1, workers=2)
    assert np.array_equal(one.pvalue, two.pvalue)
    assert set(one.method) == {"permutation"}
    assert test(x[0] + 9, y, n_resamples=199).pvalue >= 1 / 200


@pytest.mark.parametrize("test", TWO_SAMPLE)
def test_increasing_maps_and_swaps_change_nothing(test):
    """Statistics of ranks do not see an increasing map, nor which sample comes first."""
    x, y = [0.5, 1.0, 1.0, 3.0], [0.7, 1.0, 2.0, 4.0, 5.0]
    plain, mapped, swapped = test(x, y), test(np.exp(x), np.exp(y)), test(y, x)
    assert plain.pvalue == mapped.pvalue == swapped.pvalue
    assert plain.statistic == mapped.statistic == pytest.approx(swapped.statistic, abs=1e-12)


@pytest.mark.parametrize("test", TWO_SAMPLE)
def test_equal_pools_are_no_evidence(test):
    """When all pooled values are equal p is 1."""
    assert test([2.0, 2.0], [2.0, 2.0, 2.0]).pvalue == 1.0


def test_bad_input_is_refused():
    """The message names the argument, the rule and the value."""
    with pytest.raises(InputError, match="method must be 'auto' or 'montecarlo'"):
        kuiper_1samp([0.5], uniform, method="exact")
    with pytest.raises(InputError, match="method must be 'permutation' for more than"):
        kuiper_2samp(np.arange(30), np.arange(30), method="exact")
    with pytest.raises(InputError, match="n_resamples must be an integer"):
        anderson_2samp([1.0], [2.0], n_resamples=0)
    with pytest.raises(InputError, match="x must hold no NaN"):
        cramervonmises_1samp([math.nan], uniform)
    with pytest.raises(InputError, match="x must hold observations"):
        anderson_1samp([], uniform)


def test_impossible_observations_are_the_strongest_evidence():
    """Beyond the support the statistic is infinite and p the least that resampling can show."""
    found = anderson_1samp([2.0] * 3, uniform, n_resamples=99, rng=1)
    assert (found.statistic, found.pvalue) == (math.inf, 0.01)


@pytest.mark.parametrize("test", ONE_SAMPLE)
@pytest.mark.parametrize("method", ["auto", "montecarlo"])
def test_empty_samples_are_nan_on_request(test, method):
    """With empty="nan" an empty row is NaN, the others stand; else it is an error."""
    rows = RaggedArray([0.2, 0.5], [0, 1, 1, 2])
    found = test(rows, uniform, method=method, empty="nan")
    assert np.isnan(found.statistic).tolist() == [False, True, False]
    assert np.isnan(found.pvalue).tolist() == [False, True, False]
    assert found.pvalue[0] == test([0.2], uniform, method=method).pvalue
    assert math.isnan(test([], AtomAtZero(), empty="nan").pvalue)
    with pytest.raises(InputError, match="x must hold observations"):
        test(rows, uniform)
    with pytest.raises(InputError, match="empty must be"):
        test(rows, uniform, empty="skip")


@pytest.mark.parametrize("test", TWO_SAMPLE)
def test_empty_pairs_are_nan_on_request(test):
    """With empty="nan" a row without observations or draws is NaN; else it is an error."""
    x = RaggedArray([1.0, 2.0, 5.0, 6.0, 7.0], [0, 2, 2, 5])
    y = RaggedArray([3.0, 4.0, 8.0, 9.0], [0, 2, 4, 4])
    found = test(x, y, empty="nan")
    assert np.isnan(found.statistic).tolist() == [False, True, True]
    assert np.isnan(found.pvalue).tolist() == [False, True, True]
    assert found.pvalue[0] == test([1.0, 2.0], [3.0, 4.0]).pvalue
    assert math.isnan(test([], [], empty="nan").pvalue)
    assert test([math.inf], PreparedTruth([1.0, math.inf]), empty="nan").pvalue == 1.0
    with pytest.raises(InputError, match=r"x must hold observations .* 'none in row 1"):
        test(x, [1.0])
    with pytest.raises(InputError, match="y must hold observations"):
        test([1.0], [])
