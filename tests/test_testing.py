"""The assertion for samplers: right ones pass as often as said, wrong ones fail with a picture."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from laws import Exponential
from unpredictabench import load_suite
from unpredictabench.errors import InputError
from unpredictabench.stats import PreparedTruth, RaggedArray, ks_1samp, ks_2samp
from unpredictabench.targets import target_from_spec
from unpredictabench.testing import assert_same_distribution

PAGE = Path(__file__).parents[1] / "docs" / "testing.md"
RNG = np.random.default_rng(77)
POISSON = target_from_spec({"family": "poisson", "params": {"rate": 4.0}})


def fails(*arguments, **options):
    """Tell whether the assertion fails."""
    try:
        assert_same_distribution(*arguments, **options)
    except AssertionError:
        return True
    return False


def message(*arguments, **options):
    """Return what a failing assertion says."""
    with pytest.raises(AssertionError) as caught:
        assert_same_distribution(*arguments, **options)
    return str(caught.value)


@pytest.mark.parametrize(
    ("draw", "reference", "n_runs"),
    [
        (lambda: RNG.normal(size=20), stats.norm(), 1500),
        (lambda: RNG.random(1), stats.uniform(), 1500),
        (lambda: RNG.poisson(4.0, 20), POISSON, 1500),
        (lambda: RNG.poisson(4.0, 20), stats.poisson(4.0), 100),
    ],
)
def test_right_samplers_fail_no_more_often_than_alpha(draw, reference, n_runs):
    """At alpha = 0.05 a right sampler fails in at most 5 % of runs, continuous ones in just 5 %."""
    n_failures = sum(fails(draw(), reference, alpha=0.05) for _ in range(n_runs))
    assert n_failures <= stats.binom.isf(1e-4, n_runs, 0.05)
    if hasattr(reference, "pdf"):
        assert n_failures >= stats.binom.ppf(1e-4, n_runs, 0.05)


def test_right_samplers_with_ties_pass_against_samples():
    """Two samples of one discrete law fail in at most the share alpha of runs."""
    n_failures = sum(
        fails(RNG.integers(5, size=30), RNG.integers(5, size=70), alpha=0.05) for _ in range(1500)
    )
    assert n_failures <= stats.binom.isf(1e-4, 1500, 0.05)


@pytest.mark.parametrize(
    ("x", "right", "wrong"),
    [
        (RNG.normal(size=1000), stats.norm(0, 1), stats.norm(0.5, 1)),
        (RNG.normal(size=1000), stats.norm.cdf, stats.cauchy.cdf),
        (RNG.poisson(4.0, 1000), stats.poisson(4), stats.poisson(5)),
        (RNG.poisson(4.0, 1000), POISSON, stats.norm(4, 2)),
        (RNG.binomial(5, 0.3, 1000), stats.Binomial(n=5, p=0.3), stats.Binomial(n=5, p=0.4)),
        (RNG.normal(size=1000), stats.Normal(mu=0, sigma=1), stats.Normal(mu=0, sigma=2)),
        (RNG.exponential(2.0, 1000), Exponential(2.0), Exponential(1.5)),
        (RNG.normal(size=1000), RNG.normal(size=5000), RNG.normal(0.3, 1, 5000)),
        (RNG.normal(size=1000), PreparedTruth(RNG.normal(size=500)), PreparedTruth([1.0] * 500)),
        (
            RNG.choice([0.5, 2.25], 1000),
            stats.rv_discrete(values=([0.5, 2.25], [0.5, 0.5]))(),
            stats.rv_discrete(values=([0.5, 2.25], [0.7, 0.3]))(),
        ),
    ],
)
def test_wrong_samplers_are_caught(x, right, wrong):
    """Laws, cdfs, SciPy's old and new distributions and samples all tell right from wrong."""
    found = assert_same_distribution(x, right)
    assert found.pvalue > 1e-6
    assert found.method == "exact"
    assert fails(x, wrong)


def test_tasks_of_a_suite_are_laws():
    """A task stands for its target, known by its law or by draws from it."""
    task = load_suite("v1")["text-explicit/poisson/spread_out"]
    x = task.truth(300, rng=1)
    assert assert_same_distribution(x, task) == assert_same_distribution(x, task.target)
    assert "x does not follow text-explicit/poisson/spread_out: p = " in message(x + 9, task)
    drawn = target_from_spec({"samples": {"values": [1.0, 2.0, 2.5, 7.0]}})
    assert assert_same_distribution([1.0, 7.0], drawn) == ks_2samp([1.0, 7.0], [1, 2, 2.5, 7])


def test_results_are_those_of_the_tests():
    """What is returned is the result of the test that was made, with invalid draws counted."""
    x, y = RNG.normal(size=50), RNG.normal(size=80)
    assert assert_same_distribution(x, stats.norm()) == ks_1samp(x, stats.norm.cdf)
    assert assert_same_distribution(x, y, n_invalid=2) == ks_2samp(x, y, n_invalid=2)
    k = RNG.poisson(4.0, 60)
    for law in (stats.poisson(4.0), POISSON):
        mine, want = (
            assert_same_distribution(k, law, n_invalid=1),
            ks_1samp(k, POISSON, n_invalid=1),
        )
        assert mine.pvalue == pytest.approx(want.pvalue, rel=1e-9)
        assert mine.statistic == pytest.approx(want.statistic, rel=1e-12)


def test_cdfs_with_jumps():
    """A cdf with its left limit is a law with atoms: tied draws of it pass."""
    k = RNG.integers(1, 7, 5000)
    die = lambda x: np.clip(np.floor(x), 0, 6) / 6  # noqa: E731 - one line reads best
    left = lambda x: np.clip(np.ceil(x) - 1, 0, 6) / 6  # noqa: E731 - the same
    assert assert_same_distribution(k, die, cdf_left=left).pvalue > 1e-3
    assert fails(k, die)

    @dataclass
    class Die:
        cdf: object

    assert assert_same_distribution(k, Die(die), cdf_left=left).pvalue > 1e-3


def test_one_observation():
    """One observation fails where the law all but excludes it, and passes elsewhere."""
    assert assert_same_distribution([0.3], stats.norm()).pvalue > 0.1
    assert fails([50.0], stats.norm())
    assert assert_same_distribution([1.0], [2.0]).pvalue == 1.0


def test_the_message_shows_the_numbers_and_both_histograms():
    """The message holds p, D, where, the side, n, and percentages with bars, in plain ASCII."""
    # All 94 of 104 at or below 2: binom.sf(93, 104, binom.cdf(2, 3, 0.9)) = 5.758e-42.
    text = message([0, 0, 1, 1, 1, 1, 2, 2, 2, 3] * 10, stats.binom(3, 0.9), n_invalid=4)
    assert text.isascii()
    assert text.splitlines() == [
        "x does not follow binom(3, 0.9): p = 5.8e-42, alpha = 1e-06",
        "D = 0.6328 at 2, where the cdf of x is above that of the other",
        "n = 104, 4 of them invalid; p is exact",
        "",
        "            % of x                      % of the other",
        "(-inf, 0]   20.0 #####                   0.1",
        "   (0, 1]   40.0 ###########             2.7 #",
        "   (1, 2]   30.0 ########               24.3 #######",
        "   (2, 3]   10.0 ###                    72.9 ####################",
        " (3, inf]    0.0                         0.0",
    ]


def test_messages_name_every_kind_of_reference():
    """Laws are named by family and parameters, functions by name, samples by size; no addresses."""
    x = np.full(200, 2.0)
    names = {
        "norm(0, scale=2)": stats.norm(0, scale=2),
        "poisson(rate=4)": POISSON,
        "cdf": stats.norm.cdf,
        "the law of the other 300": np.arange(300),
        "Nameless": type("Nameless", (), {"cdf": staticmethod(stats.norm.cdf)})(),
    }
    for name, reference in names.items():
        assert message(x, reference).startswith(f"x does not follow {name}: p = ")
    long = target_from_spec({"samples": {"values": list(range(100))}})
    assert len(message(x, long).splitlines()[0]) < 140


def test_messages_for_extreme_values():
    """Infinities, huge values, constants and vanishing p are shown without a warning."""
    assert "p = 0, alpha" in message([50.5], stats.norm())
    assert "p = 1e-" in message(np.full(3000, 4.0), stats.norm())
    assert "(no finite values to draw)" in message([np.inf] * 40, [-np.inf] * 40)
    assert "(2, inf]  100.0" in message([np.inf] * 40, [2.0] * 40)
    huge = message(1e308 * np.linspace(-1.7, 1.7, 100), stats.norm())
    assert "(-1.666e+308, " in huge
    close = message(1e9 + np.arange(100) / 7, stats.norm(1e9 + 100))
    assert len({line.split("]")[0] for line in close.splitlines()[5:]}) == 10
    assert "at an end: too many draws are invalid or infinite" in message(
        [0.1], stats.uniform(), n_invalid=60
    )
    assert "(-5, 39]   44.0" in message(np.arange(-5, 95) * 1.0, stats.poisson(300))


@pytest.mark.parametrize(
    ("arguments", "options", "rule"),
    [
        (([], stats.norm()), {}, "x must hold observations, got 'none'"),
        (([np.nan], stats.norm()), {}, "x must hold no NaN"),
        ((["a"], stats.norm()), {}, "x must hold real numbers"),
        ((np.zeros((4, 2)), stats.norm()), {}, "x must be one 1-d sample .*shape \\(4, 2\\)"),
        ((RaggedArray([1.0], [0, 1]), [1.0]), {}, "x must be one 1-d sample .*1 rows"),
        (([1.0], stats.norm), {}, "target_or_sample must be an object, not a class or family"),
        (([1.0], stats.Normal), {}, "target_or_sample must be an object, not a class or family"),
        (([1.0], [np.nan]), {}, "target_or_sample must hold no NaN"),
        (([1.0], []), {}, "target_or_sample must hold observations"),
        (([1.0], [[1.0], [2.0]]), {}, "target_or_sample must be one 1-d sample, a law or a cdf"),
        (([1.0], "norm"), {}, "target_or_sample must hold real numbers"),
        (([1.0], RNG.normal), {"alpha": 0.0}, "alpha must lie strictly between 0 and 1"),
        (([1.0], lambda: 0.5), {}, "target_or_sample must have a cdf of one array"),
        (([2.0], lambda x: x), {}, r"target_or_sample must have a cdf within \[0, 1\]"),
        (([1.0], [1.0]), {"cdf_left": stats.norm.cdf}, "cdf_left must be None where a sample"),
        (([1.0], POISSON), {"cdf_left": stats.norm.cdf}, "cdf_left must be None where a target"),
        (([1.0], [1.0]), {"n_invalid": -1}, "n_invalid must be an integer from 0"),
    ],
)
def test_bad_input_is_no_failed_assertion(arguments, options, rule):
    """Bad input is an InputError that names the argument, never an AssertionError."""
    with pytest.raises(InputError, match=f"^{rule}"):
        assert_same_distribution(*arguments, **options)


def test_labels_and_permutations_are_sent_elsewhere():
    """What has no order is refused with the tests that are made for it."""
    task = next(task for task in load_suite("v1") if task.support == "nominal")
    for reference in (task, task.target):
        with pytest.raises(InputError, match="stats.multinomial_test.*permutation_test_uniform"):
            assert_same_distribution([1.0, 2.0], reference)


def test_failures_point_at_the_caller():
    """The helper's frame is hidden from pytest, and pytest is not needed."""
    program = (
        "import sys, unpredictabench\n"
        "assert 'unpredictabench.testing' not in sys.modules\n"
        "check = unpredictabench.testing.assert_same_distribution\n"
        "assert check([0.2, 0.7], lambda x: x).pvalue > 0.1\n"
        "assert not {'pytest', 'scipy.stats', 'numba'} & set(sys.modules)\n"
        "try:\n    check([0.5] * 99, [0.6] * 99)\n"
        "except AssertionError as error:\n"
        "    frame = error.__traceback__.tb_next.tb_frame\n"
        "    assert frame.f_code is check.__code__\n"
        "    assert frame.f_locals['__tracebackhide__'] is True\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_page_is_true():
    """The example of the docs runs, and the message shown there is the one of a wrong law."""
    text = PAGE.read_text(encoding="utf-8")
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(block, {})
    shown = re.search(r"```\n(x does not.*?)\n```", text, re.DOTALL)
    x = np.random.default_rng(5).poisson(5.0, 1000)
    assert message(x, stats.poisson(4.0)) == shown[1]


def test_a_strangers_cdf_of_another_shape_is_bad_input():
    """A frozen distribution with parameters in arrays is several laws."""
    with pytest.raises(InputError, match="target_or_sample must have a cdf of one array"):
        assert_same_distribution([0.1, 0.2, 0.3], stats.norm([0.0, 1.0]))
