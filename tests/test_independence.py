"""Tests of order keep their level whatever the law, and see cycles, drift and dealt-out answers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from unpredictabench.errors import InputError
from unpredictabench.stats import independence_test
from unpredictabench.stats._independence import exact_cycle
from unpredictabench.streams import stream


def test_increasing_maps_change_nothing():
    """The tests of order see ranks only, so an increasing map changes no p-value."""
    x = stream("test", "independence").random(60)
    assert independence_test(np.exp(9 * x)).pvalues == independence_test(x).pvalues


def test_constant_answers_have_no_order():
    """Constant answers pass and are no cycle."""
    found = independence_test([2.5] * 50)
    assert (found.verdict, found.period) == ("independent", None)


def test_too_few_answers_are_said_to_be():
    """Nine answers decide nothing, and none at all neither."""
    for n in (0, 1, 9):
        found = independence_test(np.arange(float(n)))
        assert found.verdict == "too few"
        assert math.isnan(found.pvalue)


@pytest.mark.parametrize("period", [2, 3, 7, 20])
def test_exact_cycles_are_found(period):
    """A cycle is found with its period, also when the last round is cut short."""
    x = np.resize(np.arange(period), 3 * period + 11)
    found, pvalue = exact_cycle(x)
    assert found == period
    assert pvalue < 1e-3


def test_cycle_bound_holds_by_enumeration():
    """The bound is at least the share of all orders that are cycles, counted by brute force."""
    import itertools

    x = [0, 0, 0, 1, 1, 1]
    orders = set(itertools.permutations(x))
    shares = sum(exact_cycle(order)[0] is not None for order in orders) / len(orders)
    assert exact_cycle([0, 1] * 3)[0] == 2
    assert exact_cycle([0, 1] * 3)[1] >= shares / 2 > 0


def test_a_trend_and_a_wave_are_dependent():
    """Answers that drift, and answers that swing slowly, are dependent."""
    noise = stream("test", "drift").standard_normal(100)
    for x in (noise + np.linspace(-2, 2, 100), noise + 2 * np.sin(np.arange(100) / 8)):
        assert independence_test(x).verdict == "dependent"


def test_dealt_out_answers_are_too_uniform():
    """Replies that each cover the law evenly are caught by the left tail of the KS test."""
    rng = stream("test", "dealt")
    u = np.concatenate([(rng.permutation(20) + rng.random(20)) / 20 for _ in range(5)])
    found = independence_test(u, pit=u)
    assert found.pvalues["too-uniform"] < 1e-4
    assert found.verdict == "dependent"


def test_arguments_are_checked():
    """NaN, other shapes and levels outside of (0, 1) are refused by name."""
    with pytest.raises(InputError, match="x must be one-dimensional, without NaN"):
        independence_test([1.0, math.nan])
    with pytest.raises(InputError, match="pit must have one value an answer"):
        independence_test(np.arange(20.0), pit=[0.5])
    with pytest.raises(InputError, match="level must lie strictly between 0 and 1, got 1"):
        independence_test(np.arange(20.0), level=1)


@pytest.mark.parametrize("law", ["continuous", "coin", "rounded"])
def test_level_is_kept_for_every_law(law):
    """Independent answers, tied or not, are called dependent at the level at most."""
    rng, n_runs, level = stream("test", "order", law), 400, 0.05
    draw = {
        "continuous": lambda: rng.random(60),
        "coin": lambda: rng.integers(0, 2, 60).astype(float),
        "rounded": lambda: np.round(rng.standard_normal(60)),
    }[law]
    n_wrong = sum(
        independence_test(draw(), level=level).verdict == "dependent" for _ in range(n_runs)
    )
    assert n_wrong / n_runs <= level + 3 * math.sqrt(level * (1 - level) / n_runs)


@pytest.mark.parametrize("n", range(10, 60))
def test_constant_answers_pass_at_any_size(n):
    """Equal answers have no order, whatever lots are drawn for their ranks."""
    assert independence_test([1.0] * n, level=0.5).pvalue == 1.0


def test_words_are_not_answers():
    """Answers that are no numbers, and a level that is none, are errors with their name."""
    with pytest.raises(InputError, match="x must"):
        independence_test(["a"] * 20)
    with pytest.raises(InputError, match="level must"):
        independence_test([1.0] * 20, level="a")
