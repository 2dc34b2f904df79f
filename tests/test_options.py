"""Options of the statistics: whatever is wrong with one, the error names it."""

from __future__ import annotations

import numpy as np
import pytest

from unpredictabench import stats
from unpredictabench.errors import InputError
from unpredictabench.targets import target_from_spec

X, Y = [0.1, 0.4, 0.7], [0.0, 0.2, 0.5, 0.9]
ORDERS = [[0, 1, 2], [2, 1, 0]]
NORMAL = target_from_spec({"family": "normal", "params": {"mean": 0, "sd": 1}})


def uniform(u):
    """Return the cdf of the uniform law."""
    return np.clip(u, 0, 1)


CALLS = {
    "ks_2samp": lambda **o: stats.ks_2samp(X, Y, **o),
    "ks_1samp": lambda **o: stats.ks_1samp(X, uniform, **o),
    "ks_confidence_band": lambda **o: stats.ks_confidence_band(X, uniform, **o),
    "ks_at_n": lambda **o: stats.ks_at_n(X, uniform, **({"n": 2} | o)),
    "half_life": lambda **o: stats.half_life(X, uniform, **o),
    "kuiper_1samp": lambda **o: stats.kuiper_1samp(X, uniform, **o),
    "anderson_1samp": lambda **o: stats.anderson_1samp(X, uniform, **o),
    "kuiper_2samp": lambda **o: stats.kuiper_2samp(X, Y, **o),
    "cramervonmises_2samp": lambda **o: stats.cramervonmises_2samp(X, Y, **o),
    "wasserstein_distance": lambda **o: stats.wasserstein_distance(X, Y, **o),
    "energy_distance": lambda **o: stats.energy_distance(X, Y, **o),
    "jensenshannon": lambda **o: stats.jensenshannon(X, Y, **o),
    "wasserstein_test": lambda **o: stats.wasserstein_test(X, Y, **o),
    "energy_test": lambda **o: stats.energy_test(X, Y, **o),
    "bootstrap": lambda **o: stats.bootstrap(X, **o),
    "bootstrap_2samp": lambda **o: stats.bootstrap_2samp(X, Y, "ks_2samp", **o),
    "multinomial_test": lambda **o: stats.multinomial_test([3, 4], [0.5, 0.5], **o),
    "multinomial_at_n": lambda **o: stats.multinomial_at_n([3, 4], [0.5, 0.5], 2, **o),
    "permutation_test_uniform": lambda **o: stats.permutation_test_uniform(ORDERS, **o),
    "permutation_at_n": lambda **o: stats.permutation_at_n(ORDERS, 2, **o),
    "wilson_interval": lambda **o: stats.wilson_interval(**({"successes": 3, "n": 5} | o)),
    "mcnemar_test": lambda **o: stats.mcnemar_test(**({"b": 3, "c": 5} | o)),
    "power": lambda **o: stats.power(NORMAL, **({"n": 10} | o)),
}
HOSTILE = [float("nan"), float("inf"), -1, "a", [1, 2], 1.5, True, 10**30, 1e-320, np.int64(0)]
COUNTS = {
    "workers": "ks_2samp ks_1samp ks_at_n half_life kuiper_1samp kuiper_2samp wasserstein_distance "
    "energy_distance jensenshannon wasserstein_test energy_test bootstrap_2samp multinomial_test "
    "permutation_test_uniform",
    "n_resamples": "kuiper_1samp anderson_1samp kuiper_2samp cramervonmises_2samp wasserstein_test "
    "energy_test bootstrap bootstrap_2samp multinomial_test multinomial_at_n",
    "n_subsets": "multinomial_at_n permutation_at_n",
    "n": "ks_at_n power",
    "n_grid": "jensenshannon",
    "n_items": "permutation_test_uniform permutation_at_n",
}
LEVELS = {
    "alpha": "ks_at_n half_life multinomial_test multinomial_at_n permutation_at_n power",
    "confidence_level": "ks_confidence_band half_life bootstrap bootstrap_2samp wilson_interval",
    "level": "half_life",
    "least_power": "power",
}
NAMES = {
    "alternative": "ks_2samp ks_1samp power",
    "method": "ks_2samp kuiper_1samp kuiper_2samp jensenshannon wasserstein_test bootstrap "
    "bootstrap_2samp multinomial_test mcnemar_test",
    "empty": "ks_2samp ks_1samp wasserstein_distance energy_distance jensenshannon energy_test",
    "estimator": "ks_at_n",
    "resample": "bootstrap_2samp",
}
SEEDS = {
    "rng": "kuiper_2samp wasserstein_test bootstrap bootstrap_2samp multinomial_test "
    "multinomial_at_n permutation_at_n"
}
TALLIES = {
    "n_invalid": "ks_2samp ks_1samp ks_at_n half_life multinomial_test multinomial_at_n "
    "permutation_test_uniform permutation_at_n",
    "b": "mcnemar_test",
}


def without(*shown):
    """Return the hostile values but those that are right for an option."""
    return [value for value in HOSTILE if repr(value) not in shown]


def each(table, values):
    """Pair the functions of a table with each value of the option."""
    return [
        pytest.param(function, option, value, id=f"{function}-{option}-{value!r}")
        for option, functions in table.items()
        for function in functions.split()
        for value in values
    ]


@pytest.mark.parametrize(
    ("function", "option", "value"),
    [
        *each(COUNTS, without("[1, 2]")),
        *each(LEVELS, [*without("1e-320"), 0, 1]),
        *each(NAMES, HOSTILE),
        *each(SEEDS, without(repr(10**30), "0", "np.int64(0)")),
        *each(TALLIES, without("0", "np.int64(0)")),
    ],
)
def test_a_wrong_option_is_named(function, option, value):
    """A wrong option of any type is refused by its name, never passed on or read as another."""
    if option == "n" and value is True:
        value = 0
    with pytest.raises(InputError, match=rf"^{option} must "):
        CALLS[function](**{option: value})


@pytest.mark.parametrize(
    "call",
    [
        stats.bootstrap,
        lambda a: stats.bootstrap(X, clusters=a),
        lambda a: stats.multinomial_test(a, [0.3, 0.3, 0.4]),
        lambda a: stats.multinomial_test([1, 2, 3], a / 6),
        lambda a: stats.holm(a / 10),
        lambda a: stats.ks_2samp([X, X, X], Y, n_invalid=a),
        lambda a: stats.ks_at_n(X, uniform, a),
        lambda a: stats.permutation_test_uniform(a[None, :] - 1),
        lambda a: stats.RaggedArray([1.0, 2.0, 3.0], a),
    ],
)
def test_masks_are_never_dropped(call):
    """No function reads the numbers under a mask."""
    with pytest.raises(InputError, match="not be masked"):
        call(np.ma.array([1, 2, 3], mask=[False, True, False]))


def test_large_counts_do_not_overflow():
    """Counts whose products pass 64 bits are refused, and so are tables that pass the memory."""
    with pytest.raises(InputError, match="counts must be integers from 0 to"):
        stats.multinomial_test([10**18, 10**18], [0.5, 0.5])
    with pytest.raises(InputError, match="counts must hold at most"):
        stats.multinomial_test([10**6, 10**6], [0.5, 0.5], n_resamples=10_000)


def test_mcnemar_of_many_pairs():
    """A hundred thousand discordant pairs have a p-value at once: equal counts are even."""
    assert stats.mcnemar_test(50_000, 50_000).pvalue == 1.0
    assert stats.mcnemar_test(0, 5000).pvalue == 0.0


@pytest.mark.parametrize("x", [[0.0, 0.5], [1.0, 0.5], [2.0] * 20])
def test_impossible_observations(x):
    """An observation where the law has no mass makes A2 infinite, and its p-value the smallest."""
    found = stats.anderson_1samp(x, uniform)
    assert found.statistic == np.inf
    assert found.pvalue == (0.0 if len(x) >= 10 else 1e-4)


def test_always_heads__stats_coin_always_heads():
    """Heads alone cannot be rejected at 1e-4 before 15 answers."""
    truth = [0] * 5000 + [1] * 5000
    expected = {
        5: 0.062437690422044785,
        10: 0.0019444435984201753,
        14: 0.00012098613780352386,
        15: 6.0411937948333884e-05,
        20: 1.8728750389486383e-06,
    }
    for n, p in expected.items():
        assert stats.ks_2samp([1] * n, truth).pvalue == pytest.approx(p, rel=1e-12)


def test_integers__stats_integer_answers_continuous_reference():
    """Even integers fail against even reals, and are at distance 0 from even integers."""
    answers = np.repeat(np.arange(11), 100)
    wrong = stats.ks_2samp(answers, (np.arange(10_000) + 0.5) / 1000)
    assert wrong.statistic == pytest.approx(1 / 11, rel=1e-12)
    # SciPy's exact p-value, which ignores the ties, is the upper bound of the one with ties.
    assert 0.95 < wrong.pvalue / 1.408725873017902e-07 <= 1.0
    right = stats.ks_2samp(answers, np.repeat(np.arange(11), 909))
    assert (right.statistic, right.pvalue) == (0.0, 1.0)


def test_rare_value__js_denormal_inf():
    """A value as rare as one in a million leaves the divergence finite and near 0."""
    found = stats.jensenshannon([1] * 9, [0] + [1] * 10**6, method="counts")
    assert 0.0 <= found < 1e-6
