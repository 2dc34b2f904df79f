"""Tests of nominal answers and permutations against enumeration, all subsets and simulation."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference_onesample import jackknife, lehmer, multinomial_tail, pass_share, total_variation
from unpredictabench import _native
from unpredictabench.errors import InputError
from unpredictabench.stats import (
    multinomial_at_n,
    multinomial_test,
    permutation_at_n,
    permutation_test_uniform,
)

LAW = (Fraction(1, 2), Fraction(3, 10), Fraction(1, 5))


@given(st.lists(st.integers(0, 5), min_size=3, max_size=3), st.integers(0, 3))
@settings(max_examples=30, deadline=None)
def test_exact_tails_equal_the_enumeration(counts, n_invalid):
    """The tail is the sum over all counts with a distance as large, compared as fractions."""
    n = sum(counts) + n_invalid
    if n == 0:
        return
    result = multinomial_test(counts, [0.5, 0.3, 0.2], n_invalid=n_invalid)
    distance = total_variation(counts, LAW, n_invalid)
    want = multinomial_tail(LAW, n, lambda c: total_variation(c, LAW) >= distance)
    assert result.statistic == pytest.approx(float(distance), abs=1e-15)
    assert result.pvalue == pytest.approx(float(want), rel=1e-12)
    assert result.method == "exact"


def test_two_labels_are_a_binomial_test():
    """For a fair coin the test is the two-sided binomial test."""
    from scipy.stats import binomtest

    for heads in range(21):
        want = binomtest(heads, 20, 0.5).pvalue
        assert multinomial_test([heads, 20 - heads], [0.5, 0.5]).pvalue == pytest.approx(want)


def test_critical_values_are_the_published_ones():
    """At N = 100 the critical distances of K equal labels are .200, .203, .220, .223."""
    for k, want in ((2, 0.200), (3, 0.203), (4, 0.220), (6, 0.223)):
        counts = np.full(k, 100 // k)
        counts[0] += 100 - counts.sum()
        result = multinomial_test(counts, np.full(k, 1 / k))
        attained = math.ceil(result.critical_value * 100 * k) / (100 * k)
        assert attained == pytest.approx(want, abs=6e-3)


def test_nothing_passes_a_level_above_every_tail():
    """At a level of 2 no statistic passes, and the kernels say so by none, not by a number."""
    sizes = np.array([5], dtype=np.int64)
    assert _native.tv_largest_passing(np.array([1, 2]), sizes, 2.0, None) == [None]
    assert _native.pair_largest_passing(6, sizes, 2.0, None) == [None]
    assert _native.pair_largest_passing(6, sizes, 0.5, None) != [None]


def test_the_order_of_labels_changes_nothing():
    """Permuted labels give the same statistic and p-value."""
    counts, p = np.array([9, 4, 7, 1]), np.array([0.4, 0.3, 0.2, 0.1])
    results = {
        (round(r.statistic, 14), round(r.pvalue, 12))
        for order in itertools.permutations(range(4))
        for r in [multinomial_test(counts[list(order)], p[list(order)])]
    }
    assert len(results) == 1


def test_verdicts_agree_with_critical_values():
    """A batch of counts fails exactly where the distance reaches the critical one."""
    counts = np.random.default_rng(1).multinomial(30, [0.4, 0.3, 0.3], size=500)
    result = multinomial_test(counts, [0.6, 0.3, 0.1], alpha=0.02)
    assert np.array_equal(result.pvalue <= 0.02, result.statistic >= result.critical_value)
    assert 0 < np.mean(result.pvalue <= 0.02) < 1


def test_the_drawn_null_agrees_with_the_exact_one():
    """Monte Carlo tails and critical values are those of the exact null within their error."""
    counts = [14, 5, 1]
    exact = multinomial_test(counts, [0.5, 0.3, 0.2], alpha=0.02)
    drawn = multinomial_test(
        counts, [0.5, 0.3, 0.2], alpha=0.02, method="montecarlo", n_resamples=200_000, rng=3
    )
    error = math.sqrt(exact.pvalue * (1 - exact.pvalue) / 200_000)
    assert abs(drawn.pvalue - exact.pvalue) < 4 * error
    assert drawn.critical_value == pytest.approx(exact.critical_value, abs=0.03)
    assert (exact.method, drawn.method) == ("exact", "montecarlo")


def test_probabilities_without_a_common_denominator_are_drawn():
    """Irrational probabilities are tested by draws, the same on any number of threads."""
    p = [1 / math.pi, 1 - 1 / math.pi]
    one, two = (
        multinomial_test([9, 11], p, n_resamples=20_000, alpha=0.01, workers=w) for w in (1, 2)
    )
    assert one.method == "montecarlo"
    assert one.pvalue == two.pvalue


def test_an_impossible_label_costs_its_share():
    """A label of probability 0 is an invalid answer: both add their share to the distance."""
    listed = multinomial_test([5, 5, 1], [0.5, 0.5, 0.0])
    invalid = multinomial_test([5, 5], [0.5, 0.5], n_invalid=1)
    assert listed.statistic == invalid.statistic == pytest.approx(1 / 11)
    assert listed.pvalue == pytest.approx(invalid.pvalue)


@given(st.lists(st.integers(0, 2), min_size=3, max_size=8), st.integers(0, 2))
@settings(max_examples=20, deadline=None)
def test_the_rate_is_that_of_all_subsets(labels, n_invalid):
    """Each subset is tested; rate and jackknife error agree with the programme over labels."""
    slots = [*labels, *[3] * n_invalid]

    def passes(subset):
        counts = np.bincount(subset, minlength=4)
        result = multinomial_test(counts[:3], [0.5, 0.3, 0.2], n_invalid=counts[3])
        return result.pvalue > 0.3

    sizes = [1, 2, len(slots) - 1, len(slots)]
    counts = np.bincount(labels, minlength=3)
    got = multinomial_at_n(counts, [0.5, 0.3, 0.2], sizes, alpha=0.3, n_invalid=n_invalid)
    for n, rate, error in zip(sizes, got.pass_rate, got.standard_error, strict=True):
        assert rate == pytest.approx(pass_share(slots, n, passes), abs=1e-12)
        if n < len(slots):
            assert error == pytest.approx(jackknife(slots, n, passes), abs=1e-9)
    assert got.method == "exact"


def test_random_subsets_agree_with_all_subsets():
    """Where the null is drawn the rate over random subsets is near that of all subsets."""
    counts, exact_p = np.array([24, 10, 6]), np.array([0.4, 0.4, 0.2])
    near_p = exact_p + np.array([1e-7, -1e-7, 0.0]) / math.pi
    exact = multinomial_at_n(counts, exact_p, [10, 20], alpha=0.1)
    drawn = multinomial_at_n(counts, near_p, [10, 20], alpha=0.1, n_resamples=100_000)
    assert drawn.method == "montecarlo"
    assert np.abs(drawn.pass_rate - exact.pass_rate).max() < 4 * math.sqrt(0.25 / 2_000)
    assert drawn.standard_error == pytest.approx(exact.standard_error, rel=0.25, abs=0.012)


def test_digits_and_whole_permutations_are_tested():
    """Statistics and p-values are those of the single tests, the least one corrected."""
    rng = np.random.default_rng(7)
    perms = np.array([rng.permutation(3) for _ in range(12)])
    result = permutation_test_uniform(perms)
    digits = np.array([lehmer(order) for order in perms.tolist()])
    first = multinomial_test(np.bincount(digits[:, 0], minlength=3), [1 / 3] * 3)
    second = multinomial_test(np.bincount(digits[:, 1], minlength=2), [1 / 2] * 2)
    counts = [list(map(tuple, perms)).count(order) for order in itertools.permutations(range(3))]
    squares = sum(c * c for c in counts)
    want = multinomial_tail([Fraction(1, 6)] * 6, 12, lambda c: sum(k * k for k in c) >= squares)
    assert result.pvalues == pytest.approx([float(want), first.pvalue, second.pvalue], rel=1e-12)
    assert result.statistics[0] == squares
    assert result.pvalue == pytest.approx(min(1.0, 3 * result.pvalues.min()))


def test_first_items_alone_do_not_pass():
    """A model that shuffles only the first of five items fails, and so do 11 orders out of 120."""
    rng = np.random.default_rng(1)
    first = [[i, *[j for j in range(5) if j != i]] for i in rng.integers(0, 5, 100)]
    assert permutation_test_uniform(first).pvalue < 1e-4
    few = np.array(list(itertools.permutations(range(5))))[:: 120 // 11][:11]
    result = permutation_test_uniform(few[np.arange(99) % 11])
    assert result.pvalues[0] < 1e-10
    assert result.pvalue < 1e-4


def test_p_is_valid_under_the_null():
    """Uniform permutations have p below alpha at most as often as alpha."""
    rng = np.random.default_rng(2)
    p = [
        permutation_test_uniform(rng.permuted(np.tile(np.arange(4), (25, 1)), axis=1)).pvalue
        for _ in range(400)
    ]
    assert np.mean(np.array(p) <= 0.1) < 0.1 + 4 * math.sqrt(0.09 / 400)


def test_invalid_permutations_count_against_the_model():
    """Invalid answers join the largest cell and make a digit of their own."""
    perms = [[0, 1], [1, 0]] * 10
    assert permutation_test_uniform(perms).pvalue == 1.0
    lost = permutation_test_uniform(perms, n_invalid=10)
    assert lost.statistics.tolist() == [20**2 + 10**2, pytest.approx(1 / 3)]
    assert permutation_test_uniform([], n_items=3, n_invalid=20).pvalue < 1e-6


def test_long_permutations_use_the_order_of_the_first_items():
    """Ten items have cells of the first seven; repeating one order is caught, many are not."""
    rng = np.random.default_rng(3)
    perms = rng.permuted(np.tile(np.arange(10), (60, 1)), axis=1)
    assert permutation_test_uniform(perms).pvalue > 1e-4
    assert permutation_test_uniform(np.tile(perms[0], (60, 1))).pvalues[0] < 1e-50


def test_the_rate_of_permutations_is_near_that_of_all_subsets():
    """Random subsets estimate the share of all subsets, and the whole pool has the verdict."""
    rng = np.random.default_rng(5)
    perms = [rng.permutation(3).tolist() if i % 2 else [0, 1, 2] for i in range(12)]

    def passes(subset):
        return permutation_test_uniform(subset).pvalue > 0.2

    got = permutation_at_n(perms, [4, 8, 12], alpha=0.2)
    for n, rate in zip([4, 8], got.pass_rate[:2], strict=True):
        want = pass_share(perms, n, passes)
        assert abs(rate - want) < 4 * math.sqrt(0.25 / 2_000)
    assert got.pass_rate[2] == float(passes(perms))
    assert got.reason[2] == "needs n < the number of answers"
    assert got.standard_error[0] > 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: multinomial_test([1, 2], [0.5, 0.6]), "p must be 1-d probabilities"),
        (lambda: multinomial_test([1, 2, 3], [0.5, 0.5]), "counts must have one entry a label"),
        (lambda: multinomial_test([0, 0], [0.5, 0.5]), "counts must hold at least one answer"),
        (lambda: multinomial_test([1.5, 2], [0.5, 0.5]), "counts must be integers"),
        (lambda: permutation_test_uniform([[0, 0]]), "perms must hold permutations"),
        (lambda: permutation_test_uniform([]), "perms must be integers of shape"),
        (lambda: permutation_test_uniform([], n_items=3), "perms must hold at least one answer"),
        (lambda: permutation_at_n([[0, 1]], 1, n_invalid=-1), "n_invalid must be an integer"),
    ],
)
def test_bad_input_is_refused(call, message):
    """The message names the argument, the rule and the value."""
    with pytest.raises(InputError, match=message):
        call()
