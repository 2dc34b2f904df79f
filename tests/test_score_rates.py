"""Intervals of scores: never NaN, never of no width, and they cover."""

from __future__ import annotations

import math

import numpy as np
import pytest

from unpredictabench.score.rates import (
    benchmark_rate,
    log_area,
    median_half_life,
    rate,
)
from unpredictabench.score.rules import Rules
from unpredictabench.score.tasks import largest_n
from unpredictabench.stats import wilson_interval

RULES = Rules(n=(10,), n_resamples=999)


def one_each(n):
    """Return a cluster of its own for each of n tasks."""
    return [f"c{i}" for i in range(n)]


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_the_ends_have_wilsons_interval_over_clusters(share):
    """At 0 % and 100 % the interval is Wilson's with the number of clusters (boot-all-pass)."""
    values = np.full(90, share)
    found = rate(values, [f"c{i % 30}" for i in range(90)], RULES)
    expected = wilson_interval(30 * share, 30)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert found.high - found.low > 0.1
    assert found.standard_error == 0.0


@pytest.mark.parametrize("lowest", [1.0, 0.995, 0.98, 0.95, 0.91])
@pytest.mark.parametrize("is_quick", [False, True])
def test_near_the_ends_no_interval_collapses(lowest, is_quick):
    """One task that fails now and then does not make the score of all others certain."""
    values = np.ones(300)
    values[7] = lowest
    clusters = [f"c{i % 30}" for i in range(300)]
    high = rate(values, clusters, RULES, quickly=is_quick)
    low = rate(1 - values, clusters, RULES, quickly=is_quick)
    # Thirty clusters without a failure are possible where up to 11 % of all clusters fail.
    assert high.low == pytest.approx(0.886, abs=2e-3)
    assert high.low < high.estimate <= high.high
    assert (1 - low.high, 1 - low.low) == pytest.approx((high.low, high.high))


def test_independent_verdicts_have_wilsons_interval():
    """Verdicts in clusters of one task have about Wilson's interval for that many tasks."""
    values = np.repeat([0.0, 1.0], [30, 70])
    found = rate(values, one_each(100), RULES)
    expected = wilson_interval(70, 100)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=2e-3)


def test_clusters_that_agree_within_widen_the_interval():
    """Ten verdicts that are always alike count as one (boot-cluster-by-prompt)."""
    values = np.repeat([0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0], 100)
    clusters = np.repeat(np.arange(10), 100).astype(str).tolist()
    clustered, alone = rate(values, clusters, RULES), rate(values, one_each(1000), RULES)
    assert alone.standard_error == pytest.approx(0.0155, abs=2e-4)
    assert clustered.standard_error == pytest.approx(0.16329931618554522, abs=1e-9)
    assert clustered.high - clustered.low > 5 * (alone.high - alone.low)


def test_averages_have_the_bootstraps_interval():
    """Fractional pass rates get BCa over clusters, and percentiles where clusters are few."""
    values = np.random.default_rng(0).random(60)
    assert rate(values, one_each(60), RULES).interval_method == "bca over clusters"
    few = rate(values, [f"c{i % 4}" for i in range(60)], RULES)
    assert few.interval_method.startswith("percentile")


def test_clusters_all_alike_have_an_interval_of_some_width():
    """When every cluster has the same mean the interval is Wilson's, not a point."""
    found = rate(np.tile([0.2, 0.8], 12), [f"c{i // 2}" for i in range(24)], RULES)
    assert found.interval_method.startswith("wilson")
    assert found.high - found.low > 0.2


def test_a_missing_task_counts_as_not_passed():
    """NaN stays in the denominator, and the rate says so."""
    found = rate(np.array([1.0, np.nan, 1.0, 1.0]), one_each(4), RULES)
    assert (found.estimate, found.n_covered, found.n_tasks) == (0.75, 3, 4)
    assert found.reason == "1 tasks lack answers and count as not passed"


def test_the_published_rule_drops_missing_tasks():
    """Under "paper" a task without answers leaves the denominator, as published."""
    rules = Rules(n=(10,), protocol="paper")
    found = rate(np.array([1.0, np.nan, 0.0, 1.0]), one_each(4), rules)
    assert (found.estimate, found.n_tasks) == (pytest.approx(2 / 3), 3)


def test_this_benchmark_needs_twice_the_answers():
    """The interval for these very tasks exists for N up to half of the answers only."""
    values, errors = np.array([0.5, 1.0, 0.2]), np.array([0.1, 0.0, 0.05])
    slots = np.array([40, 40, 40])
    found = benchmark_rate(values, errors, 20, slots, RULES)
    assert found.standard_error == pytest.approx(math.hypot(0.1, 0.05) / 3)
    assert found.low < found.estimate < found.high
    late = benchmark_rate(values, errors, 30, slots, RULES)
    assert (late.low, late.reason) == (None, "needs twice as many answers as N")


def test_this_benchmark_is_never_certain():
    """When every subset passes, the interval still has a width: 2 samples of N a task."""
    found = benchmark_rate(np.ones(3), np.zeros(3), 20, np.array([40, 40, 40]), RULES)
    assert found.low == pytest.approx(wilson_interval(6, 6).low)


def test_median_half_life_is_missing_where_most_are_censored():
    """N* of a task that never fails is beyond its answers; so is the median of most such."""
    stars, slots = np.array([5.0, 20.0, 20.0]), np.array([20, 20, 20])
    censored = np.array([False, True, True])
    found = median_half_life(stars, censored, slots, one_each(3), RULES)
    assert (found.median, found.n_censored) == (None, 2)
    assert found.reason == "more than half of the tasks never fail"
    found = median_half_life(stars, np.array([False] * 3), slots, one_each(3), RULES)
    assert (found.median, found.low, found.high) == (20.0, 5.0, 20.0)
    found = median_half_life(stars, censored, np.array([20, 20, 30]), one_each(3), RULES)
    assert found.reason == "the number of answers differs between tasks"


def test_area_is_a_mean_over_log_n():
    """The area under a constant is the constant, and needs a curve beyond N = 5."""
    n = np.arange(1, 101)
    assert log_area(n, np.full(100, 0.3)) == pytest.approx(0.3)
    assert log_area(n[:5], np.ones(5)) is None
    step = np.where(n <= 50, 1.0, 0.0)
    assert log_area(n, step) == pytest.approx(math.log(50.5 / 5) / math.log(20), abs=0.01)


def test_largest_n_of_a_curve():
    """N* is the largest N that reaches the level, 0 where none does."""
    n = np.array([1, 5, 10])
    assert largest_n(n, np.array([1.0, 0.5, 0.4]), 0.5) == 5
    assert largest_n(n, np.zeros(3), 0.5) == 0
    assert largest_n(n, np.full(3, np.nan), 0.5) is None


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["verdicts", "averages"])
def test_intervals_cover(kind):
    """Intervals for tasks like these cover the truth in about 95 % of simulated benchmarks."""
    rng = np.random.default_rng(12)
    rules = Rules(n=(10,), n_resamples=999)
    hits, n_runs, clusters = 0, 400, np.repeat(np.arange(40), 10).astype(str).tolist()
    for _ in range(n_runs):
        chance = np.repeat(rng.beta(2.0, 1.0, size=40), 10)
        values = (
            (rng.random(400) < chance).astype(float)
            if kind == "verdicts"
            else rng.binomial(30, chance) / 30
        )
        found = rate(values, clusters, rules)
        hits += found.low <= 2 / 3 <= found.high
    assert 0.92 <= hits / n_runs <= 0.98
