"""Distances and their null moments, against exact values, SciPy and the published functions."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

import reference_distances as reference
from unpredictabench.errors import InputError
from unpredictabench.stats import (
    PreparedTruth,
    RaggedArray,
    energy_distance,
    energy_test,
    jensenshannon,
    wasserstein_distance,
    wasserstein_test,
)

GOLDEN = Path(__file__).parent / "golden"
VECTORS = json.loads((GOLDEN / "vectors.json").read_text())
ORACLE = [json.loads(line) for line in (GOLDEN / "oracle.jsonl").read_text().splitlines()]

nasty = st.one_of(
    st.integers(-3, 3).map(float),
    st.floats(-1e6, 1e6),
    st.sampled_from([-0.0, 0.0, 5e-324, 1e15, 1e15 + 0.25, -1e300, 1e300]),
)
samples = st.lists(nasty, min_size=1, max_size=12)
small = st.lists(st.integers(-4, 4).map(float), min_size=1, max_size=4)


def close(got, want, scale=0.0, rtol=1e-12):
    """Agree within a relative tolerance, or within one part in 10^15 of a scale."""
    return abs(got - want) <= max(rtol * abs(want), 1e-15 * scale)


@pytest.mark.parametrize("case", VECTORS["w1_energy"])
def test_golden_distances(case):
    """Distances, null moments and z agree with exact rationals to twelve digits."""
    x, y = case["x"], case["y"]
    assert close(wasserstein_distance(x, y), float(case["w1"]))
    assert close(energy_distance(x, y), float(case["energy_scipy"]))
    transport, energy = wasserstein_test(x, y), energy_test(x, y)
    assert close(transport.null_mean, float(case["w1_null_mean"]))
    assert close(transport.null_std, float(case["w1_null_sd"]))
    assert close(transport.debiased, float(case["w1_debiased"]), rtol=1e-11)
    assert close(transport.zscore, float(case["w1_z"]), rtol=1e-11)
    assert close(energy.statistic, float(case["energy_sq"]))
    assert close(energy.null_mean, float(case["energy_sq_null_mean"]))
    assert close(energy.null_std, float(case["energy_sq_null_sd"]))


@pytest.mark.parametrize("case", VECTORS["js_kde"])
def test_golden_jensenshannon(case):
    """The divergence is that of SciPy's functions within 1e-12."""
    assert abs(jensenshannon(case["x"], case["y"]) - float(case["js_scipy"])) < 1e-12


@pytest.mark.parametrize("case", VECTORS["js_cat"])
def test_golden_jensenshannon_of_counts(case):
    """The divergence of counted samples is exact to rounding."""
    labels = np.arange(len(case["x_counts"]))
    x, y = np.repeat(labels, case["x_counts"]), np.repeat(labels, case["y_counts"])
    assert abs(jensenshannon(x, y, method="counts") - float(case["js_nats"])) < 1e-15


@pytest.mark.parametrize("case", ORACLE, ids=[case["id"] for case in ORACLE])
def test_published_functions(case):
    """The published divergence to 1e-9, and debiased distances within their Monte Carlo spread.

    The published values are means over 999 permutations; five standard errors of such a mean, or
    of a standard deviation, cover every seed recorded. Its Wasserstein z divides by the deviation
    of the permutations, whose relative error is about 1/sqrt(2 * 999) for a normal null and
    larger for heavy tails.
    """
    x, y = case["sample"], case["gt"]
    if case["js_divergence"] is not None:
        assert abs(jensenshannon(x, y) - case["js_divergence"]) < 1e-9
    if case["wasserstein_debiased"] is not None:
        exact = wasserstein_test(x, y)
        error = exact.null_std / math.sqrt(999)
        assert abs(exact.debiased - case["wasserstein_debiased"]) <= 5 * error + 1e-12
        if case["wasserstein_z"] is not None and exact.null_std > 0:
            assert exact.zscore == pytest.approx(case["wasserstein_z"], rel=0.25, abs=0.2)


@given(samples, samples)
def test_wasserstein_is_its_definition(x, y):
    """The distance, prepared or not, is the area between the cdfs on nasty input."""
    want = float(reference.wasserstein(x, y))
    scale = float(np.mean(np.abs(np.asarray(y) - np.median(y))))
    assert close(wasserstein_distance(x, y), want, scale)
    assert close(wasserstein_distance(x, PreparedTruth(y)), want, scale)


@given(samples, samples)
def test_energy_is_its_definition(x, y):
    """The squared distance is twice the squared area between the cdfs on nasty input."""
    want = float(reference.energy_squared(x, y))
    scale = float(max(map(abs, [*x, *y])))
    assert close(energy_test(x, y).statistic, want, scale, rtol=2e-12)


@settings(max_examples=60)
@given(small, small)
def test_null_moments_are_their_definition(x, y):
    """Mean and deviation are those over all labelings, enumerated in fractions."""
    for test, distance in (
        (wasserstein_test, reference.wasserstein),
        (energy_test, reference.energy_squared),
    ):
        mean, variance = reference.null_moments(x, y, distance)
        got = test(x, y)
        assert close(got.null_mean, float(mean), scale=8.0)
        # A variance near 0 is what is left of larger squares: compare it as a variance.
        assert got.null_std**2 == pytest.approx(float(variance), rel=1e-11, abs=1e-14)


def test_null_moments_at_full_size():
    """At n = 100, m = 10,000 both methods agree: moments within the permutations' error."""
    rng = np.random.default_rng(8)
    x, y = rng.standard_t(3, 100), rng.standard_t(3, 10_000)
    for test in (wasserstein_test, energy_test):
        exact, sampled = test(x, y), test(x, y, method="permutation", n_resamples=4000, rng=1)
        error = exact.null_std / math.sqrt(4000)
        assert abs(exact.null_mean - sampled.null_mean) < 5 * error
        assert exact.null_std == pytest.approx(sampled.null_std, rel=0.2)
        assert exact.statistic == sampled.statistic


@given(samples, samples, st.floats(0.1, 10), st.floats(-100, 100))
def test_wasserstein_laws(x, y, factor, shift):
    """The distance is symmetric, scales with the unit, and ignores the origin."""
    x = np.clip(x, -1e9, 1e9)
    y = np.clip(y, -1e9, 1e9)
    base = wasserstein_distance(x, y)
    scale = float(np.max(np.abs([*x, *y, shift])))
    assert close(wasserstein_distance(y, x), base, scale)
    assert wasserstein_distance(x * factor, y * factor) == pytest.approx(
        base * factor, rel=1e-9, abs=1e-13 * scale
    )
    assert wasserstein_distance(x + shift, y + shift) == pytest.approx(
        base, rel=1e-9, abs=1e-13 * scale
    )


@given(samples)
def test_same_sample_is_at_distance_zero(x):
    """A sample and its permutation are at distance exactly 0 by every measure."""
    y = x[::-1]
    assert wasserstein_distance(x, y) == 0.0
    assert energy_distance(x, y) == 0.0
    assert jensenshannon(x, y) == pytest.approx(0.0, abs=1e-15)
    assert jensenshannon(x, y, method="counts") == 0.0


@settings(max_examples=60)
@given(
    st.lists(st.floats(-50, 50), min_size=2, max_size=40),
    st.lists(st.floats(-50, 50), min_size=2, max_size=40),
)
def test_jensenshannon_is_scipys(x, y):
    """Wherever SciPy's estimate is not all but singular on the grid, ours is the same."""
    spread = min(np.std(x, ddof=1) * len(x) ** -0.2, np.std(y, ddof=1) * len(y) ** -0.2)
    step = 1.2 * (max(*x, *y) - min(*x, *y)) / 511
    if spread > 0.25 * step > 1e-100:
        assert abs(jensenshannon(x, y) - reference.jensenshannon_kde(x, y)) < 1e-12


@given(samples, samples)
def test_jensenshannon_is_bounded(x, y):
    """The divergence lies in [0, ln 2] and is symmetric, at any scale."""
    for method in ("kde", "counts"):
        js = jensenshannon(x, y, method=method)
        assert 0.0 <= js <= math.log(2)
        assert jensenshannon(y, x, method=method) == pytest.approx(js, abs=1e-12)


@given(st.lists(samples, min_size=1, max_size=6), samples)
def test_batches_are_single_calls(rows, y):
    """A row of a batch has the value of the call of its own, for any number of threads."""
    batch = RaggedArray.from_rows(rows)
    for function in (wasserstein_distance, energy_distance, jensenshannon):
        want = [function(row, y) for row in rows]
        for workers in (1, 2):
            np.testing.assert_array_equal(function(batch, y, workers=workers), want)
    want = [wasserstein_test(row, y).null_std for row in rows]
    np.testing.assert_array_equal(wasserstein_test(batch, y).null_std, want)


def test_threads_and_order_change_nothing():
    """Permutation tests of a batch are the same for 1, 2 and 7 threads."""
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(300, 20)), rng.normal(size=500)
    results = [
        wasserstein_test(x, y, method="permutation", n_resamples=50, workers=workers)
        for workers in (1, 2, 7)
    ]
    for result in results[1:]:
        np.testing.assert_array_equal(result.pvalue, results[0].pvalue)
        np.testing.assert_array_equal(result.null_mean, results[0].null_mean)


def test_permutation_p__stats_permutation_zero():
    """With no permutation as extreme the p is 1/(B+1), not 0."""
    result = wasserstein_test(
        np.arange(1000, 1050), np.arange(100), method="permutation", n_resamples=999
    )
    assert result.pvalue == 0.001


def test_offset_of_a_million_changes_nothing():
    """Moments of values around a million keep ten digits."""
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=50), rng.normal(size=2000)
    for test in (wasserstein_test, energy_test):
        base, moved = test(x, y), test(x + 1e6, y + 1e6)
        assert moved.null_mean == pytest.approx(base.null_mean, rel=1e-9)
        assert moved.null_std == pytest.approx(base.null_std, rel=1e-8)


def test_large_offset__w_large_offset_zero():
    """At 1e15 equal samples are at 0 exactly and a shift of a half is a half."""
    x = 1e15 + np.arange(5) * 0.25
    assert wasserstein_distance(x, x[::-1]) == 0.0
    assert wasserstein_distance(x, x + 0.5) == pytest.approx(0.5, abs=1e-15)


def test_integers_beyond_float__w_int64_beyond_2to53():
    """Integers that float64 cannot tell apart are refused and never rounded in silence."""
    with pytest.raises(InputError, match="x must hold integers up to 2"):
        wasserstein_distance(np.array([2**53, 2**53 + 1]), np.array([2**53 + 2, 2**53 + 3]))


def test_bad_weights__w_bad_weights():
    """All-zero, negative, NaN and too few weights are four distinct errors."""
    messages = []
    for weights, values in (
        ([0, 0], [1, 2]),
        ([-1, 2], [1, 2]),
        ([math.nan, 1], [1, 2]),
        ([1], [1, 2]),
    ):
        with pytest.raises(InputError, match="^x_weights must") as caught:
            wasserstein_distance(values, [1.0, 2.0], weights)
        messages.append(str(caught.value))
    assert len(set(messages)) == 4


def test_energy_never_nan__energy_nan_from_negative():
    """A permuted copy is at energy distance exactly 0, never the root of a negative."""
    g = np.random.default_rng(7)
    x = g.normal(size=50) * 10 + 1000
    assert energy_distance(x, g.permutation(x)) == 0.0


def test_histograms_are_weights__w_prob_vector_as_sample():
    """Probability vectors are values unless they are given as weights of a support."""
    p, q, support = [0.5, 0.2, 0.3], [0.5, 0.3, 0.2], [0, 1, 2]
    assert wasserstein_distance(p, q) == pytest.approx(0.0, abs=1e-17)
    assert wasserstein_distance(support, support, p, q) == pytest.approx(0.1, rel=1e-12)


def test_two_dimensions__w_2d_input():
    """Rows of a matrix are samples; other numbers of rows are refused with both."""
    assert wasserstein_distance(np.zeros((3, 4)), np.zeros((3, 5))).tolist() == [0.0] * 3
    with pytest.raises(InputError, match=r"y must have as many rows as x \(3\)"):
        wasserstein_distance(np.zeros((3, 4)), np.zeros((2, 5)))


def test_root_of_the_whole_cost__w_p_root_precedence():
    """The root is taken of the mean cost."""
    assert wasserstein_distance([0, 0], [3, 3], p=2) == 3.0


@given(samples, samples, st.data())
def test_weighted_distances_are_scipys(x, y, data):
    """Weighted distances agree with SciPy's."""
    x, y = np.clip(x, -1e6, 1e6), np.clip(y, -1e6, 1e6)
    weights = st.floats(0.01, 10)
    u = data.draw(st.lists(weights, min_size=len(x), max_size=len(x)))
    v = data.draw(st.lists(weights, min_size=len(y), max_size=len(y)))
    scale = float(np.max(np.abs([*x, *y])))
    assert wasserstein_distance(x, y, u, v) == pytest.approx(
        scipy.stats.wasserstein_distance(x, y, u, v), rel=1e-9, abs=1e-13 * scale
    )
    assert energy_distance(x, y, u, v) == pytest.approx(
        scipy.stats.energy_distance(x, y, u, v), rel=1e-7, abs=1e-7 * math.sqrt(scale)
    )


@pytest.mark.parametrize("p", [1.5, 2.0, 3.0])
def test_higher_orders_are_quantile_costs(p):
    """For equal sizes the distance of order p pairs the sorted samples."""
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=30), rng.exponential(size=30)
    want = np.mean(np.abs(np.sort(x) - np.sort(y)) ** p) ** (1 / p)
    assert wasserstein_distance(x, y, p=p) == pytest.approx(want, rel=1e-12)


def test_constants__kde_both_constant():
    """Equal constants are at 0, different ones at ln 2."""
    assert jensenshannon([3, 3, 3], [3, 3, 3]) == 0.0
    assert jensenshannon([3, 3, 3], [4, 4, 4]) == pytest.approx(math.log(2), abs=1e-15)


def test_rounded_variance_is_no_spread__kde_fake_spread():
    """Copies of one value are a constant, whatever their computed variance."""
    truth = np.linspace(-1, 1, 101)
    for value in (0.1, 1 / 3):
        assert jensenshannon([value] * 7, truth) == jensenshannon([value], truth)


def test_constant_answers__kde_constant_answers():
    """A model that always says the same has a finite divergence, the limit of no width."""
    truth = scipy.stats.norm.ppf((np.arange(100) + 0.5) / 100)
    constant = jensenshannon([0.0] * 100, truth)
    nearly = jensenshannon(np.array([0.0] * 50 + [1e-9] * 50), truth)
    assert 0.5 < constant < math.log(2)
    assert constant == pytest.approx(nearly, abs=1e-6)


def test_spike_between_grid_points__kde_spike_between_grid_points():
    """A bandwidth far below the grid's step gives a finite value near ln 2."""
    js = jensenshannon([500.0] * 99 + [500.001], np.linspace(0, 1000, 101))
    assert 0.6 < js <= math.log(2)


def test_counts_are_normalised__js_unnormalised_counts():
    """Counts are normalised before they are compared."""
    x, y = [0] * 60 + [1] * 40, [0] * 6 + [1] * 4
    assert jensenshannon(x, y, method="counts") == 0.0
    swapped = jensenshannon(x, [0] * 40 + [1] * 60, method="counts")
    assert swapped == pytest.approx(0.02013551355068886, abs=1e-15)


def test_divergence_and_base__js_distance_or_divergence():
    """The value is the divergence and not its root; the base is a choice."""
    x, y = [0], [0, 1]
    assert jensenshannon(x, y, method="counts") == pytest.approx(0.2157615543388357, abs=1e-15)
    assert jensenshannon(x, y, method="counts", base=2) == pytest.approx(
        0.3112781244591329, abs=1e-15
    )


def test_disjoint__js_disjoint_bound():
    """Disjoint samples are at exactly one bit and not above."""
    js = jensenshannon(np.arange(10), np.arange(10, 20), method="counts", base=2)
    assert js == 1.0


def test_memory_of_a_large_sample__kde_memory():
    """A million observations need no matrix of observations by grid points."""
    import tracemalloc

    x = np.random.default_rng(1).normal(size=1_000_000)
    truth = PreparedTruth(x[:1000])
    tracemalloc.start()
    jensenshannon(x, truth)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 64e6


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: wasserstein_distance([1.0], [2.0], p=0.5), "p must be finite and at least 1"),
        (lambda: wasserstein_distance([1.0, math.inf], [2.0]), "x must be finite: a mean is taken"),
        (lambda: wasserstein_distance([1.0], [math.nan]), "y must hold no NaN"),
        (lambda: wasserstein_distance([], [1.0]), "x must hold observations"),
        (lambda: energy_distance([[1.0], [2.0]], [1.0], [1.0]), "x must be one 1-d sample"),
        (lambda: jensenshannon([1.0], [2.0], method="fft"), "method must be 'kde' or 'counts'"),
        (lambda: jensenshannon([1.0], [2.0], n_grid=1), "n_grid must be an integer from 2"),
        (lambda: jensenshannon([1.0], [2.0], padding=-1), "padding must be finite"),
        (lambda: jensenshannon([1.0], [2.0], base=1), "base must be finite and above 1"),
        (lambda: wasserstein_test([1.0], [2.0], method="mc"), "method must be 'exact'"),
        (lambda: energy_test([1.0], [2.0], n_resamples=0), "n_resamples must be an integer from 1"),
        (lambda: energy_distance([1.0], [2.0], empty="skip"), "empty must be 'raise' or 'nan'"),
        (lambda: wasserstein_distance([1.0], PreparedTruth([math.inf])), "y must be finite"),
    ],
)
def test_refusals_name_the_argument(call, message):
    """Each broken rule is an error with argument, rule and value."""
    with pytest.raises(InputError, match=f"^{message}"):
        call()


def test_empty_rows_are_nan_on_request():
    """Empty rows of a batch give NaN where asked for, and the others their value."""
    batch = RaggedArray([1.0, 2.0], [0, 1, 1, 2])
    for function in (wasserstein_distance, energy_distance, jensenshannon):
        assert np.isnan(function(batch, [1.0, 3.0], empty="nan")).tolist() == [False, True, False]
    assert np.isnan(wasserstein_test(batch, [1.0, 3.0], empty="nan").zscore[1])


@pytest.mark.parametrize("power", [1023, 1000, -1000])
def test_extreme_values_scale_the_distances(power):
    """Distances and null moments of values near the ends of the range are the scaled ones."""
    rng = np.random.default_rng(5)
    x, y = rng.random(7) - 0.5, rng.random(11) - 0.5
    scale = 2.0**power
    for p in (1, 2, 3.5, 600):
        want = wasserstein_distance(x, y, p=p)
        assert wasserstein_distance(x * scale, y * scale, p=p) / scale == pytest.approx(want)
        weights = (np.ones(7), np.ones(11))
        got = wasserstein_distance(x * scale, y * scale, *weights, p=p)
        assert got / scale == pytest.approx(want)
    want = energy_distance(x, y)
    for weights in ((), (np.ones(7), np.ones(11))):
        got = energy_distance(x * scale, y * scale, *weights)
        assert got / math.sqrt(scale) == pytest.approx(want)
    for test in (wasserstein_test, energy_test):
        for method in ("exact", "permutation"):
            plain, extreme = test(x, y, method=method), test(x * scale, y * scale, method=method)
            assert extreme.zscore == pytest.approx(plain.zscore)
            for name in ("statistic", "null_mean", "null_std"):
                assert getattr(extreme, name) / scale == pytest.approx(getattr(plain, name))
            assert extreme.pvalue == pytest.approx(plain.pvalue, nan_ok=True)


def test_a_distance_beyond_the_range_is_infinite():
    """A distance larger than any float is infinite and not NaN; its energy root is finite."""
    assert wasserstein_distance([-1.7e308], [1.7e308]) == math.inf
    assert energy_distance([-1.7e308], [1.7e308]) == pytest.approx(math.sqrt(6.8) * 1e154)
