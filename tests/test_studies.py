"""Studies give the estimates and intervals that they say, also where nothing differs."""

from __future__ import annotations

import math
import runpy
from pathlib import Path

import numpy as np
import pytest

from unpredictabench.clients import SimulatedClient
from unpredictabench.errors import InputError
from unpredictabench.stats import ks_at_n
from unpredictabench.streams import stream
from unpredictabench.studies import answers_of, difference, figures, paired_sweep, plan, sweep
from unpredictabench.tasks import load_suite

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.fixture(scope="module")
def tasks():
    """Take a few continuous tasks of different families."""
    suite = load_suite("v1")
    return [task for task in suite if task.support == "continuous"][::21]


def rates(values, clusters=None):
    """Name tasks and families by number."""
    names = [f"t{i}" for i in range(len(values))]
    families = names if clusters is None else clusters
    return dict(zip(names, values, strict=True)), dict(zip(names, map(str, families), strict=True))


def test_sweep_is_ks_at_n_of_each_task(tasks):
    """A sweep holds the pass rates of the single tasks, and its band holds their mean."""
    observed = answers_of(SimulatedClient("shifted:0.4"), tasks, 60)
    found = sweep(observed, [10, 30, 60])
    one = ks_at_n(observed[1].values, tasks[1].target, [10, 30, 60])
    assert found.rates[1] == pytest.approx(one.pass_rate)
    assert ((found.low <= found.mean) & (found.mean <= found.high)).all()
    assert found.at(30)[0] == pytest.approx(found.rates[:, 1])
    with pytest.raises(InputError, match="n must be one of the sizes of the sweep, got 7"):
        found.at(7)


def test_invalid_answers_count_in_a_sweep(tasks):
    """A model that refuses often passes less."""
    good, bad = (
        sweep(answers_of(SimulatedClient(name), tasks[:3], 60), [60]).mean
        for name in ("perfect", "refusing:0.9")
    )
    assert bad < good


def test_sweep_refuses_what_it_cannot_do(tasks):
    """Nominal tasks and too few answers are refused by name."""
    nominal = next(task for task in load_suite("v1") if task.support == "nominal")
    with pytest.raises(InputError, match="observed must hold tasks on the line"):
        sweep(answers_of(SimulatedClient("perfect"), [nominal], 5), [5])
    with pytest.raises(InputError, match="observed must hold 9 answers a task, got 5"):
        sweep(answers_of(SimulatedClient("perfect"), tasks[:1], 5), [9])


@pytest.mark.parametrize(
    ("n", "words", "match"),
    [
        (2.7, {}, "n must be integers"),
        (0, {}, "n must be one size or a list of sizes, each at least 1"),
        ([], {}, "n must be one size or a list of sizes, each at least 1"),
        ([[1]], {}, "n must be one size or a list of sizes, each at least 1"),
        (1, {"alpha": 1.0}, "alpha must lie strictly between 0 and 1"),
        (1, {"confidence_level": 0.0}, "confidence_level must lie strictly between 0 and 1"),
        (1, {"n_resamples": 0}, "n_resamples must be an integer from 1"),
    ],
)
def test_arguments_of_a_sweep_are_checked(tasks, n, words, match):
    """Sizes, levels and resamples outside of their range are refused by name, and so is nothing."""
    observed = answers_of(SimulatedClient("perfect"), tasks[:1], 3)
    with pytest.raises(InputError, match=match):
        sweep(observed, n, **words)
    with pytest.raises(InputError, match="observed must hold a task"):
        sweep([], 1)


def test_differences_turn_with_the_models():
    """Swapping the models turns estimate and intervals round."""
    rng = stream("test", "difference")
    first, families = rates(rng.random(40), np.arange(40) // 2)
    second, _ = rates(rng.random(40))
    errors = (dict.fromkeys(first, 0.1), dict.fromkeys(first, 0.1))
    one = difference(first, second, families, errors=errors)
    two = difference(second, first, families, errors=errors)
    assert one.estimate == pytest.approx(-two.estimate)
    assert one.this_benchmark.low == pytest.approx(-two.this_benchmark.high)
    assert one.tasks_like_these.low == pytest.approx(-two.tasks_like_these.high, abs=0.01)
    assert one.pvalue == two.pvalue
    half = 1.959964 * math.sqrt(40 * 0.02) / 40
    assert one.this_benchmark.high - one.estimate == pytest.approx(half, rel=1e-6)


def test_identical_runs_differ_by_nothing_with_an_honest_interval():
    """Two equal runs differ by exactly 0, and the interval has a width on both sides."""
    values, families = rates(np.linspace(0, 1, 30))
    found = difference(values, values, families)
    assert found.estimate == 0.0
    assert found.tasks_like_these.low == -found.tasks_like_these.high < 0
    assert found.pvalue == 1.0
    # Wilson's upper bound for 0 of 30: z^2 / (30 + z^2).
    assert found.tasks_like_these.high == pytest.approx(1.959964**2 / (30 + 1.959964**2), rel=1e-6)


def test_one_task_and_ties_have_an_interval():
    """One common task, and ties everywhere but once, give finite ends."""
    one, families = rates([0.5])
    found = difference(one, {"t0": 0.25, "other": 1.0}, families)
    assert (found.n_tasks, found.estimate, found.pvalue) == (1, 0.25, 1.0)
    first, families = rates([1.0] * 19 + [0.0])
    second, _ = rates([1.0] * 20)
    found = difference(first, second, families)
    assert found.tasks_like_these.low < found.estimate == pytest.approx(-0.05)
    assert found.reason == "no standard errors were given"


def test_disjoint_runs_are_refused():
    """Runs without a common task are refused."""
    with pytest.raises(InputError, match="second must have a task in common with first"):
        difference({"a": 1.0}, {"b": 1.0}, {"a": "x"})


def test_missing_errors_are_said():
    """A rate without a standard error leaves this benchmark without an interval, and says why."""
    values, families = rates([0.2, 0.4])
    errors = ({"t0": math.nan, "t1": 0.1}, {"t0": 0.1, "t1": 0.1})
    found = difference(values, {"t0": 0.1, "t1": 0.1}, families, errors=errors)
    assert found.this_benchmark is None
    assert "at most half of the answers" in found.reason


def test_sign_flips_by_hand():
    """Three clusters that all favour one model have p = 2 / 8."""
    first, families = rates([0.3, 0.2, 0.1])
    found = difference(first, dict.fromkeys(first, 0.0), families)
    assert found.pvalue == 0.25


def test_tasks_of_one_cluster_change_their_sign_together():
    """Six tasks in three clusters have the p-value of three differences, not of six."""
    first, _ = rates([0.3, 0.2, 0.1, 0.3, 0.2, 0.1])
    clusters = {task: str(i % 3) for i, task in enumerate(first)}
    assert difference(first, dict.fromkeys(first, 0.0), clusters).pvalue == 0.25


def test_sweep_over_settings_is_paired():
    """Each setting is compared with the reference, which itself is left out."""
    base, families = rates(np.linspace(0.1, 0.9, 20))
    better = {task: rate + 0.05 for task, rate in base.items()}
    found = paired_sweep({1.0: base, 2.0: better}, families, reference=1.0)
    assert list(found) == [2.0]
    interval = found[2.0].tasks_like_these
    assert interval.low == pytest.approx(0.05)
    with pytest.raises(InputError, match="reference must be one of"):
        paired_sweep({1.0: base}, families, reference=3.0)


def pilot(rng, n_clusters=40, between=0.1, noise=0.1):
    """Draw a pilot with one task a family."""
    gaps = 0.1 + between * rng.standard_normal(n_clusters) + noise * rng.standard_normal(n_clusters)
    values, families = rates(gaps)
    return values, dict.fromkeys(values, noise), families


def test_plan_scales_as_it_should():
    """Half the difference takes four times the families; answers remove only their own noise."""
    gaps, errors, families = pilot(stream("test", "plan"))
    base = {"pilot_answers": 100, "least_power": 0.9}
    one = plan(gaps, errors, families, difference=0.02, n_answers=100, **base)
    half = plan(gaps, errors, families, difference=0.01, n_answers=100, **base)
    more = plan(gaps, errors, families, difference=0.02, n_answers=10**9, **base)
    assert half.n_clusters == pytest.approx(4 * one.n_clusters, rel=0.02)
    share = one.between / (one.between + one.noise)
    assert more.n_clusters == pytest.approx(share * one.n_clusters, rel=0.02)
    assert more.n_tasks == more.n_clusters


@pytest.mark.parametrize(
    ("words", "match"),
    [
        ({"difference": 0.0}, "difference must be finite and not 0"),
        ({"n_answers": 0}, "n_answers must be an integer from 1"),
        ({"n_answers": 100.5}, "n_answers must be an integer from 1"),
        ({"pilot_answers": float("nan")}, "pilot_answers must be an integer from 1"),
        ({"difference": float("nan")}, "difference must be finite and not 0"),
        ({"difference": "much"}, "difference must be finite and not 0"),
        ({"confidence_level": 1.5}, "confidence_level must lie strictly between 0 and 1"),
        ({"least_power": 1.0}, "least_power must lie strictly between 0 and 1"),
    ],
)
def test_plan_arguments_are_checked(words, match):
    """Arguments outside of their range are refused by name."""
    gaps, errors, families = pilot(stream("test", "plan"))
    given = {"pilot_answers": 100, "difference": 0.1, "n_answers": 100} | words
    with pytest.raises(InputError, match=match):
        plan(gaps, errors, families, **given)


@pytest.mark.parametrize(
    ("name", "value", "match"),
    [
        ("errors", None, "errors must hold every task of gaps"),
        ("clusters", None, "clusters must hold every task of gaps"),
        ("errors", -0.1, "errors must be finite .*, from 0"),
        ("errors", float("nan"), "errors must be finite"),
        ("gaps", float("nan"), "gaps must be differences of rates, in"),
        ("gaps", 2.0, "gaps must be differences of rates, in"),
    ],
)
def test_a_pilot_that_lacks_something_is_named(name, value, match):
    """A task without error or family, and a number that is none, are told by their argument."""
    gaps, errors, families = pilot(stream("test", "plan"))
    given = {"gaps": dict(gaps), "errors": dict(errors), "clusters": dict(families)}
    first = next(iter(gaps))
    given[name] = {task: each for task, each in given[name].items() if task != first or value}
    if value is not None:
        given[name][first] = value
    with pytest.raises(InputError, match=match):
        plan(**given, pilot_answers=100, difference=0.1, n_answers=100)


def test_plan_needs_two_families():
    """One family tells nothing about how families differ."""
    with pytest.raises(InputError, match="clusters must name at least two families"):
        plan({"a": 0.1}, {"a": 0.1}, {"a": "x"}, pilot_answers=9, difference=0.1, n_answers=9)


def test_figures_are_drawn(tasks, tmp_path):
    """Every figure is written as a picture, also where one model has no spread."""
    sweeps = {
        name: sweep(answers_of(SimulatedClient(name), tasks[:3], 30), np.arange(1, 31))
        for name in ("perfect", "median")
    }
    figures.draw_sweeps(sweeps, tmp_path / "sweep.png")
    first, families = rates([0.1, 0.5, 0.9, 0.4])
    second, _ = rates([0.2, 0.5, 0.7, 0.6])
    compared = {
        "one": difference(first, second, families),
        "same": difference(first, first, families),
    }
    figures.draw_differences(compared, tmp_path / "difference.png")
    settings = {0.5: compared["one"], 2.0: compared["same"]}
    figures.draw_settings(
        {0.5: 0.2, 1.0: 0.4, 2.0: 0.4}, settings, tmp_path / "settings.png",
        score="KS@100", setting="temperature", reference=1.0,
    )  # fmt: skip
    gaps, errors, names = pilot(stream("test", "plan"))
    plans = [
        plan(gaps, errors, names, pilot_answers=100, difference=d, n_answers=m)
        for d in (0.01, 0.05)
        for m in (100, 1000)
    ]
    figures.draw_plans(plans, tmp_path / "plan.png")
    assert all(path.read_bytes()[:4] == b"\x89PNG" for path in tmp_path.iterdir())
    assert len(list(tmp_path.iterdir())) == 4


@pytest.mark.slow
@pytest.mark.parametrize("example", sorted(path.stem for path in EXAMPLES.glob("*.py")))
def test_examples_run(example, tmp_path, capsys):
    """Each example prints its numbers, and draws its figure where it is asked for one."""
    main = runpy.run_path(str(EXAMPLES / f"{example}.py"))["main"]
    figures_asked = [tmp_path / "figure.png"][: main.__code__.co_argcount]
    main(*map(str, figures_asked))
    assert all(figure.stat().st_size > 10_000 for figure in figures_asked)
    assert capsys.readouterr().out


@pytest.mark.slow
def test_intervals_for_tasks_like_these_cover():
    """Over simulated families the paired interval covers the true difference about as often."""
    rng, n_runs, covered = stream("test", "coverage"), 300, 0
    for _ in range(n_runs):
        family = np.repeat(rng.standard_normal(30), 3) * 0.1
        first, families = rates(0.5 + family + 0.05 * rng.standard_normal(90), np.arange(90) // 3)
        second, _ = rates(0.45 + 0.05 * rng.standard_normal(90))
        ends = difference(first, second, families, n_resamples=999).tasks_like_these
        covered += ends.low <= 0.05 <= ends.high
    assert 0.89 <= covered / n_runs <= 0.99


@pytest.mark.slow
def test_planned_comparisons_have_their_power():
    """With as many families as planned the difference is seen about as often as asked for."""
    rng = stream("test", "planned")
    gaps, errors, families = pilot(rng, n_clusters=2000)
    needed = plan(gaps, errors, families, pilot_answers=100, difference=0.05, n_answers=100)
    seen = 0
    for _ in range(400):
        sample = 0.05 + math.sqrt(0.02) * rng.standard_normal(needed.n_clusters)
        z = sample.mean() / (sample.std(ddof=1) / math.sqrt(sample.size))
        seen += abs(z) > 1.96
    assert seen / 400 == pytest.approx(0.8, abs=0.08)


@pytest.mark.parametrize(
    ("argument", "rates", "clusters", "level"),
    [
        ("first", {"a": float("nan")}, {"a": "x"}, 0.95),
        ("clusters", {"a": 1.0}, {}, 0.95),
        ("confidence_level", {"a": 1.0}, {"a": "x"}, 1.0),
    ],
)
def test_a_difference_names_what_is_wrong(argument, rates, clusters, level):
    """A rate that is NaN, a task without a cluster and a level of 1 are errors with their name."""
    with pytest.raises(InputError, match=argument):
        difference(rates, {"a": 0.0}, clusters, confidence_level=level)


def test_one_cluster_is_not_certain():
    """A difference seen in one cluster, or the same in all, has an interval around it."""
    one = difference({"a": 1.0}, {"a": 0.5}, {"a": "x"})
    assert one.tasks_like_these.low < 0.0 < one.estimate < one.tasks_like_these.high <= 1.0
    rates = {str(i): 0.75 for i in range(20)}
    same = difference(rates, dict.fromkeys(rates, 0.5), {task: task for task in rates})
    assert 0.0 < same.tasks_like_these.low < same.estimate == 0.25 < same.tasks_like_these.high
