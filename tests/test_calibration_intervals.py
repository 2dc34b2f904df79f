"""Intervals cover at their level, rates are unbiased and their errors right, in simulation."""

import numpy as np
import pytest
from scipy.stats import binom

from answering import task_of, written
from calibration import assert_covers, least, most, uniform
from unpredictabench.score import score_records
from unpredictabench.score.comparison import _pair
from unpredictabench.score.rates import benchmark_rate, median_half_life
from unpredictabench.score.rules import Rules
from unpredictabench.stats import (
    bootstrap,
    bootstrap_2samp,
    half_life,
    ks_at_n,
    ks_confidence_band,
    multinomial_at_n,
    multinomial_test,
    power,
    wilson_interval,
)
from unpredictabench.streams import stream
from unpredictabench.targets import target_from_spec

pytestmark = pytest.mark.slow

RUNS = 2000
"""Simulated data sets an interval is made for."""
UNIFORM = target_from_spec({"family": "uniform", "params": {"low": 0, "high": 1}})
DIE = target_from_spec({"family": "discrete-uniform", "params": {"low": 1, "high": 10}})
WEIGHTS = np.arange(1, 11) ** 0.7 / (np.arange(1, 11) ** 0.7).sum()
"""A loaded die of ten faces."""


def bent(power_of):
    """Return how to draw powers of uniform numbers, and the cdf of these."""
    return (
        lambda shape, rng: rng.random(shape) ** power_of,
        lambda x: uniform(x) ** (1 / power_of),
    )


def loaded(shape, rng):
    """Throw the loaded die."""
    return rng.choice(np.arange(1.0, 11.0), p=WEIGHTS, size=shape)


def loaded_cdf(x):
    """Return its cdf."""
    return np.concatenate([[0.0], np.cumsum(WEIGHTS)])[np.clip(np.floor(x), 0, 10).astype(int)]


MODELS = {
    "continuous": (UNIFORM, *bent(1.5)),
    "near": (UNIFORM, *bent(1.2)),
    "discrete": (DIE, loaded, loaded_cdf),
}


@pytest.mark.parametrize("n", [20, 50, 100, 448])
@pytest.mark.parametrize("confidence_level", [0.9, 0.95, 0.99])
def test_wilson_intervals_cover(n, confidence_level):
    """Enumerated over shares from .1 to .9 the mean coverage is the level to .004.

    Single shares lie below it by up to .066 (.9), .024 (.95), .012 (.99) at n = 20.
    """
    found = [wilson_interval(k, n, confidence_level=confidence_level) for k in range(n + 1)]
    low, high = np.array([(each.low, each.high) for each in found]).T
    shares = np.linspace(0.1, 0.9, 1601)
    covered = np.array([
        binom.pmf(np.arange(n + 1), n, p)[(low <= p) & (p <= high)].sum() for p in shares
    ])  # fmt: skip
    assert abs(covered.mean() - confidence_level) <= 0.004
    lacking = {0.9: 0.067, 0.95: 0.024, 0.99: 0.013}[confidence_level]
    assert covered.min() >= confidence_level - lacking


@pytest.mark.parametrize("method", ["bca", "percentile"])
@pytest.mark.parametrize("layout", ["alone", "clusters", "paired"])
def test_bootstrap_intervals_of_means_cover(method, layout):
    """Over a hundred normal units, clusters or pairs the interval covers at its level."""
    rng, hits = stream("calibration", "bootstrap", method, layout), 0
    how = {"n_resamples": 999, "method": method, "rng": rng}
    for _ in range(RUNS):
        if layout == "clusters":
            x = np.repeat(rng.normal(size=100), 3) + rng.normal(size=300) / 2
            found = bootstrap(x, clusters=np.arange(300) // 3, **how)
        elif layout == "paired":
            shared = rng.normal(size=100)
            pair = shared + rng.normal(size=100), shared + rng.normal(size=100)
            found = bootstrap(pair, paired=True, **how)
        else:
            found = bootstrap(rng.normal(size=100), **how)
        hits += found.confidence_interval.low <= 0 <= found.confidence_interval.high
    assert_covers(hits, RUNS, 0.95, at_most=0.95)


def test_bootstrap_intervals_of_medians_cover():
    """The percentile interval of a median covers at its level or above."""
    rng, hits, n_runs = stream("calibration", "medians"), 0, 300
    for _ in range(n_runs):
        data = rng.normal(size=51)
        ends = bootstrap(
            data, "median", n_resamples=499, method="percentile", rng=rng
        ).confidence_interval
        hits += ends.low <= 0 <= ends.high
    assert_covers(hits, n_runs, 0.95)


@pytest.mark.parametrize("method", ["percentile", "basic"])
def test_bootstrap_intervals_of_far_distances_cover(method):
    """Where samples are far apart the interval of their first Wasserstein distance covers."""
    rng = stream("calibration", "distances", method)
    x, y = rng.normal(size=(RUNS, 100)), 3 + rng.normal(size=(RUNS, 100))
    ends = bootstrap_2samp(
        x, y, "wasserstein_distance", resample="both", n_resamples=999, method=method, rng=rng
    ).confidence_interval
    assert_covers(int(((ends.low <= 3) & (ends.high >= 3)).sum()), RUNS, 0.95, at_most=0.95)


@pytest.mark.parametrize("model", MODELS)
def test_ks_bands_hold_the_true_distance(model):
    """The interval for the distance of a wrong law from the target covers it, at any size."""
    target, draw, cdf = MODELS[model]
    grid = np.arange(0.0, 11.0) if target is DIE else np.linspace(0, 1, 100_001)
    distance = np.abs(cdf(grid) - target.cdf(grid)).max()
    rng = stream("calibration", "band", model)
    for n in (1, 5, 20, 100):
        band = ks_confidence_band(draw((100_000, n), rng), target)
        hits = (band.low <= distance + 1e-9) & (distance - 1e-9 <= band.high)
        assert_covers(int(hits.sum()), hits.size, 0.95)


@pytest.mark.parametrize("model", MODELS)
def test_subset_averages_are_unbiased_and_their_errors_right(model):
    """The mean rate is the exact power's complement; the jackknife's variance is that or larger.

    Efron and Stein (1981, doi:10.1214/aos/1176345462): it is too large on average, here by up to a
    third at N = M/2.
    """
    target, draw, cdf = MODELS[model]
    pools = draw((20_000, 100), stream("calibration", "pools", model))
    sizes = [5, 10, 20, 33, 50]
    found = ks_at_n(pools, target, sizes, alpha=0.05)
    for n, rate, error in zip(sizes, found.pass_rate.T, found.standard_error.T, strict=True):
        right = 1 - power(target, n, cdf, alpha=0.05).power
        assert abs(rate.mean() - right) <= 5 * rate.std() / rate.size**0.5
        ratio = (error**2).mean() / rate.var()
        noise = 5 * (2 / rate.size) ** 0.5 + 5 * (error**2).std() / (error**2).mean() / 141
        assert 1 - noise <= ratio <= 1.4 + noise


def test_subset_averages_of_labels_are_unbiased():
    """The mean rate of label pools is the enumerated chance that fresh answers pass."""
    rng, p, q, n = stream("calibration", "labels"), [0.5, 0.3, 0.2], [0.4, 0.3, 0.3], 20
    pools = rng.multinomial(60, q, size=RUNS)
    rates = np.array([multinomial_at_n(pool, p, n, alpha=0.05).pass_rate for pool in pools])
    fresh = rng.multinomial(n, q, size=400_000)
    right = (multinomial_test(fresh, p).pvalue > 0.05).mean()
    error = (rates.var() / rates.size + right * (1 - right) / len(fresh)) ** 0.5
    assert abs(rates.mean() - right) <= 5 * error


@pytest.mark.parametrize(("bend", "n_answers"), [(1.5, 100), (1.5, 200), (2.0, 100), (3.0, 50)])
def test_half_life_intervals_cover(bend, n_answers):
    """The interval holds the largest N whose exact pass rate is at least a half."""
    draw, cdf = bent(bend)
    rates = [1 - power(UNIFORM, n, cdf, alpha=0.01).power for n in range(1, n_answers + 1)]
    right = 1 + int(np.flatnonzero(np.array(rates) >= 0.5)[-1])
    assert right < n_answers
    pools = draw((RUNS, n_answers), stream("calibration", "half-life", bend, n_answers))
    ends = half_life(pools, UNIFORM, alpha=0.01).confidence_interval
    assert_covers(int(((ends.low <= right) & (right <= ends.high)).sum()), RUNS, 0.95)


def test_intervals_for_this_benchmark_cover():
    """Over fresh answers to the same tasks the jackknife's interval covers their mean rate."""
    rules, n, sizes = Rules(n=(20,)), 20, np.full(12, 100)
    rng, bends, hits = stream("calibration", "benchmark"), np.linspace(1.1, 2.2, 12), 0
    right = np.mean([1 - power(UNIFORM, n, bent(b)[1], alpha=0.05).power for b in bends])
    pools = rng.random((RUNS, 12, 100)) ** bends[:, None]
    found = ks_at_n(pools.reshape(-1, 100), UNIFORM, n, alpha=0.05)
    values, errors = found.pass_rate.reshape(RUNS, 12), found.standard_error.reshape(RUNS, 12)
    for row, error in zip(values, errors, strict=True):
        ends = benchmark_rate(row, error, n, sizes, rules)
        hits += ends.low <= right <= ends.high
    assert_covers(hits, RUNS, 0.95)


def test_intervals_of_compared_runs_cover():
    """Over tasks of new families the paired interval of `compare` covers the true difference."""
    rng, n_runs, hits = stream("calibration", "compare"), 500, 0
    task = task_of()
    [one] = score_records([task], written(task, [0.5] * 4), n=(2,), n_resamples=9).tasks
    columns = [
        [replaced(one, cluster=str(i // 2)) for i in range(100)] for _ in range(2)
    ]  # fmt: skip
    for _ in range(n_runs):
        family = 0.1 * np.repeat(rng.normal(size=50), 2)
        rates = 0.5 + family + 0.05 * rng.normal(size=100), 0.45 + 0.05 * rng.normal(size=100)
        for column, of_run in zip(columns, rates, strict=True):
            column[:] = [
                replaced(each, pass_rates={2: rate})
                for each, rate in zip(column, of_run.tolist(), strict=True)
            ]
        ends = _pair((0, 1), *columns, 2).interval
        hits += ends.low <= 0.05 <= ends.high
    assert_covers(hits, n_runs, 0.95, at_most=0.95)


def replaced(task, **fields):
    """Return a scored task with other fields."""
    import dataclasses

    return dataclasses.replace(task, **fields)


def test_intervals_of_the_median_half_life_cover():
    """Over tasks of new families the interval of the median N* covers the true median."""
    rng, hits, rules = stream("calibration", "median"), 0, Rules(n_resamples=999)
    clusters = [str(i // 3) for i in range(120)]
    for _ in range(RUNS):
        n_star = np.round(20 * np.exp(np.repeat(rng.normal(size=40), 3) / 2))
        found = median_half_life(
            n_star, np.zeros(120, dtype=bool), np.full(120, 10_000), clusters, rules
        )
        hits += found.low <= 20 <= found.high
    assert least(RUNS, 0.95) <= hits <= most(RUNS, 0.98)
