"""Kernels against their definitions and SciPy on nasty input, and on what the fuzzer found."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
import reference_distances
from reference_onesample import multinomial_tail, total_variation
from unpredictabench.stats import (
    PreparedTruth,
    anderson_2samp,
    cramervonmises_2samp,
    energy_test,
    jensenshannon,
    ks_2samp,
    kuiper_2samp,
    multinomial_test,
    wasserstein_distance,
)

FOUND = [
    json.loads(line)
    for line in (Path(__file__).parent / "golden" / "fuzzed.jsonl").read_text().splitlines()
]
"""Inputs of the coverage-guided fuzzer (fuzz/README.md): those that broke something first, then a
share of those that reach every branch it found."""

LARGEST = 1.7976931348623157e308
nasty = st.one_of(
    st.sampled_from(
        [0.0, -0.0, 1.0, 0.5, 5e-324, -5e-324, 2.5e-310, 1e16, 1e16 + 2, 1e300, -1e300]
    ),
    st.sampled_from([LARGEST, -LARGEST, 1 + 2.0**-52, 1 - 2.0**-53]),
    st.integers(-3, 3).map(float),
    st.floats(allow_nan=False, allow_infinity=False),
)
samples = st.lists(nasty, min_size=1, max_size=9)
with_ends = st.lists(nasty | st.sampled_from([math.inf, -math.inf]), min_size=1, max_size=9)


def close(got, want, *, rtol=1e-12, atol=0.0):
    """Tell whether a number is another; a rounding beyond the largest double is infinite."""
    is_edge = math.isinf(got) and abs(want) > LARGEST * (1 - 1e-12)
    return got == want or is_edge or abs(got - want) <= max(rtol * abs(want), atol)


def rounded(value):
    """Return an exact number as a double; infinity where it is beyond."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def check_ks(x, y, n_invalid):
    """Statistic, place, sign and p are those of the definition, prepared or not."""
    for alternative in ("two-sided", "greater", "less"):
        h, location, sign, blocks = reference.ks_integer(x, y, alternative, n_invalid)
        right = float(reference.ks_pvalue(blocks, h, alternative))
        for truth in (y, PreparedTruth(y)):
            found = ks_2samp(x, truth, alternative=alternative, n_invalid=n_invalid)
            assert found.statistic == h / ((len(x) + n_invalid) * len(y))
            assert (found.statistic_location, found.statistic_sign) == (location, sign)
            assert found.pvalue == pytest.approx(right, rel=1e-12)


def check_distances(x, y):
    """W1 and energy are areas between the cdfs; nothing is NaN, negative or above its bound."""
    scale = max(map(abs, [*x, *y]))
    noise = max(1e-15 * scale, 1e-322)
    transport = rounded(reference_distances.wasserstein(x, y))
    energy = rounded(reference_distances.energy_squared(x, y))
    for truth in (y, PreparedTruth(y)):
        assert close(wasserstein_distance(x, truth), transport, atol=noise)
        found = energy_test(x, truth)
        assert close(found.statistic, energy, rtol=4e-12, atol=noise)
        assert found.null_mean >= 0
        assert found.null_std >= 0
        for method in ("kde", "counts"):
            assert 0 <= jensenshannon(x, truth, method=method) <= math.log(2)


def check_edf(x, y):
    """Statistics of ranks: SciPy's, and the same after a map to ranks."""
    rank = {value: float(i) for i, value in enumerate(sorted({*x, *y}))}
    a, b = [rank[v] for v in x], [rank[v] for v in y]
    for test in (kuiper_2samp, cramervonmises_2samp, anderson_2samp):
        found, by_rank = test(x, y), test(a, b)
        assert found.statistic == by_rank.statistic or math.isnan(by_rank.statistic)
        assert found.pvalue == by_rank.pvalue
        assert 0 <= found.pvalue <= 1
    above, below = (ks_2samp(x, y, alternative=side).statistic for side in ("greater", "less"))
    both = max(above, 0.0) + max(below, 0.0)
    assert kuiper_2samp(x, y).statistic == pytest.approx(both, abs=1e-14)


def check_multinomial(numerators, counts, n_invalid):
    """Statistic and p are those of every way to put the answers into cells."""
    total = sum(numerators)
    chances = [Fraction(a, total) for a in numerators]
    n = sum(counts) + n_invalid
    right = total_variation(counts, chances, n_invalid)
    found = multinomial_test(counts, [float(p) for p in chances], n_invalid=n_invalid)
    assert found.statistic == pytest.approx(float(right), abs=1e-14)
    tail = multinomial_tail(chances, n, lambda cells: total_variation(cells, chances) >= right)
    assert found.pvalue == pytest.approx(float(tail), rel=1e-11, abs=1e-14)


def draw_ks(data):
    """Draw samples with infinities, and invalid answers."""
    check_ks(data.draw(with_ends), data.draw(with_ends), data.draw(st.integers(0, 3)))


def draw_distances(data):
    """Draw finite samples."""
    check_distances(data.draw(samples), data.draw(samples))


def draw_edf(data):
    """Draw samples with infinities."""
    check_edf(data.draw(with_ends), data.draw(with_ends))


def draw_multinomial(data):
    """Draw a law on up to four labels and up to six answers."""
    cells = data.draw(st.integers(2, 4))
    numerators = data.draw(st.lists(st.integers(1, 9), min_size=cells, max_size=cells))
    counts = data.draw(st.lists(st.integers(0, 2), min_size=cells, max_size=cells))
    n_invalid = data.draw(st.integers(0 if sum(counts) else 1, 2))
    check_multinomial(numerators, counts, n_invalid)


DRAWS = {"ks": draw_ks, "distances": draw_distances, "edf": draw_edf, "cells": draw_multinomial}


@pytest.mark.parametrize("name", DRAWS)
@settings(max_examples=50, deadline=None)
@given(data=st.data())
def test_kernels_are_their_definitions(name, data):
    """Every kernel agrees with its definition on ties, signed zeros, subnormals and extremes."""
    DRAWS[name](data)


@pytest.mark.slow
@pytest.mark.parametrize("name", DRAWS)
@settings(max_examples=4000, deadline=None)
@given(data=st.data())
def test_kernels_are_their_definitions_for_long(name, data):
    """The same over thousands of inputs."""
    DRAWS[name](data)


@pytest.mark.parametrize("line", range(len(FOUND)))
def test_what_the_fuzzer_found_stays_right(line):
    """Inputs that broke a kernel once, or that reach its rare branches, have their right values."""
    found = FOUND[line]
    x, y = ([float.fromhex(v) for v in found[name]] for name in ("x", "y"))
    check_ks(x, y, found["n_invalid"])
    if np.isfinite([*x, *y]).all():
        check_distances(x, y)


@settings(max_examples=20, deadline=None)
@given(x=with_ends, seed=st.integers(0, 2**31))
def test_a_long_truth_is_scipys(x, seed):
    """Against 20,000 draws the statistics are SciPy's, and p is where SciPy can compute it."""
    y = np.random.default_rng(seed).standard_cauchy(20_000).round(3)
    found = ks_2samp(x, PreparedTruth(y))
    want = scipy.stats.ks_2samp(x, y, method="asymp")
    assert found.statistic == pytest.approx(want.statistic, abs=1e-15)
    assert 0 <= found.pvalue <= 1
    if np.isfinite(x).all() and max(map(abs, x)) < 1e100:
        right = scipy.stats.wasserstein_distance(x, y)
        assert wasserstein_distance(x, y) == pytest.approx(right, rel=1e-9)


def test_a_distance_beyond_the_doubles_has_no_z():
    """Where the distance or its null is infinite, z is NaN and nothing warns."""
    x, y = [LARGEST], [LARGEST, -7.446288774449769e307]
    assert math.isnan(energy_test(x, y).zscore)
    check_distances(x, y)
