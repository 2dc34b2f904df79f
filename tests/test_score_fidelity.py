"""Fidelity beside non-rejection: equivalence within a margin, levels, and what is interpolated."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from answering import Draws, simulated, task_of, written
from unpredictabench.errors import InputError
from unpredictabench.extract.observations import observe
from unpredictabench.score import document, score_records
from unpredictabench.score.equivalence import equivalence
from unpredictabench.score.pools import pool_of
from unpredictabench.score.rules import Rules
from unpredictabench.stats import ks_confidence_band
from unpredictabench.targets import target_from_spec
from unpredictabench.tasks import load_suite

QUICK = {"n_resamples": 99}


def faithful(n):
    """Return n answers as near to the uniform law as n answers can be."""
    return ((np.arange(n) + 0.5) / n).tolist()


def verdict_of(task, answers, **how):
    """Return the equivalence of answers to one task."""
    return (
        score_records([task], written(task, answers), n=(1,), **QUICK, **how).tasks[0].equivalence
    )


@pytest.mark.parametrize("margin", [1e-7, 1e-300, 5e-324])
def test_a_margin_of_next_to_nothing_is_refused(margin):
    """A margin for which no run is large enough is an `InputError`, and no division by zero."""
    with pytest.raises(InputError, match="margin must be at least 1e-06"):
        verdict_of(task_of(), faithful(5), margin=margin)
    assert verdict_of(task_of(), faithful(5), margin=1e-6).n_needed > 10**12


def test_the_bounds_are_those_of_dvoretzky_kiefer_and_wolfowitz():
    """Low and high are those of the confidence band of the Kolmogorov-Smirnov distance."""
    answers = np.random.default_rng(4).beta(2, 3, 80)
    band = ks_confidence_band(answers, lambda u: u)
    found = verdict_of(task_of(), answers.tolist())
    assert (found.low, found.high) == pytest.approx((band.low, band.high), abs=1e-12)


@pytest.mark.parametrize(
    ("answers", "margin", "verdict"),
    [
        (faithful(100), 0.25, "equivalent"),
        (faithful(100), 0.1, "undecided"),
        (faithful(400), 0.1, "equivalent"),
        ([0.5] * 100, 0.25, "different"),
        ([0.5] * 20, 0.25, "undecided"),
    ],
)
def test_verdicts_say_within_beyond_or_open(answers, margin, verdict):
    """A verdict is definite where the whole 95 % interval lies on one side of the margin."""
    found = verdict_of(task_of(), answers, margin=margin)
    assert found.verdict == verdict
    assert (found.high <= margin) is (verdict == "equivalent")
    assert (found.low > margin) is (verdict == "different")


@pytest.mark.parametrize(("margin", "n_needed"), [(0.25, 30), (0.1, 185), (0.05, 738)])
def test_the_answers_needed_are_told(margin, n_needed):
    """A margin needs ln(2 / .05) / (2 margin^2) answers, with fewer it says so."""
    found = verdict_of(task_of(), faithful(n_needed - 1), margin=margin)
    assert found.n_needed == n_needed
    assert found.verdict == "undecided"
    assert str(n_needed) in found.reason
    assert verdict_of(task_of(), faithful(n_needed), margin=margin).reason is None


@pytest.mark.parametrize("name", ["text-explicit/normal/concentrated", "real-world/two-choices"])
def test_invalid_answers_never_make_an_equivalence(name):
    """Replacing answers by invalid ones, one at a time, never lowers a bound of the distance."""
    task = load_suite("v1")[name]
    texts = [each.text for each in simulated("perfect", [task], 60)]
    highs = []
    for n_lost in range(0, 61, 6):
        found = verdict_of(task, ["I refuse"] * n_lost + texts[n_lost:])
        highs.append((found.low, found.high))
    assert highs == sorted(highs)
    assert found.verdict == "different"


def test_labels_and_shuffles_are_bounded_in_total_variation():
    """Labels and whole permutations have verdicts too; long lists need more answers and say so."""
    suite = load_suite("v1")
    tasks = [suite[f"{name}"] for name in ("real-world/two-choices", "shuffling/three-animals")]
    found = score_records(tasks, simulated("perfect", tasks, 300), n=(1,), **QUICK)
    assert [task.equivalence.verdict for task in found.tasks] == ["equivalent"] * 2
    found = score_records(tasks, simulated("median", tasks, 300), n=(1,), **QUICK)
    assert [task.equivalence.verdict for task in found.tasks] == ["different"] * 2
    long = max(suite.select(category="shuffling"), key=lambda task: len(task.answer.items))
    found = score_records([long], simulated("perfect", [long], 20), n=(1,), **QUICK)
    assert "answers or more" in found.tasks[0].equivalence.reason


@pytest.mark.parametrize("n_outcomes", [2, 6])
def test_bounds_of_labels_hold_as_often_as_told(n_outcomes):
    """The distance of the law that answered lies within the bounds in at least 95 % of samples."""
    p = [1 / n_outcomes] * n_outcomes
    labels = [f"label {i}" for i in range(n_outcomes)]
    task = load_suite("v1")["real-world/two-choices"]
    target = target_from_spec({"nominal": {"outcomes": labels, "probabilities": p}})
    answer = dataclasses.replace(task.answer, items=tuple(labels))
    task = dataclasses.replace(task, target=target, answer=answer)
    rng, truth = np.random.default_rng(8), np.linspace(1, 2, n_outcomes)
    truth /= truth.sum()
    distance = float(np.abs(truth - p).sum() / 2)
    inside = 0
    for _ in range(60):
        texts = [labels[i] for i in rng.choice(n_outcomes, 80, p=truth)]
        observed, _ = observe([task], written(task, texts), mode="lenient")
        found = equivalence(pool_of(observed[0], "strict"), 0.0, Rules())
        inside += found.low <= distance <= found.high
    assert inside >= 57


def test_what_has_no_bound_says_why():
    """Draws in place of a law, batches and the published protocol have no verdict, but a reason."""
    task = task_of()
    drawn = dataclasses.replace(task, target=Draws(faithful(500)))
    assert "draws" in verdict_of(drawn, faithful(50)).reason
    assert "strict" in verdict_of(task, faithful(50), protocol="paper").reason
    batch = written(task, ["\n".join(map(str, faithful(10)))] * 5, n_asked=10)
    found = score_records([task], batch, n=(1,), **QUICK).tasks[0].equivalence
    assert (found.verdict, found.low) == (None, None)
    assert "independent" in found.reason
    assert score_records([task], [], **QUICK).tasks[0].equivalence.reason == "no answer"


def test_verdicts_are_counted_and_printed():
    """Run and JSON count the tasks with each verdict, beside the margin."""
    task = task_of()
    found = score_records([task], written(task, faithful(100)), **QUICK)
    assert found.equivalence == {"equivalent": 1}
    run = document([(found, ())])["runs"][0]
    assert run["equivalence"] == {"margin": 0.25, "n_tasks": {"equivalent": 1}}
    assert run["tasks"][0]["equivalence"]["verdict"] == "equivalent"


@pytest.mark.parametrize("margin", [0, 1, -0.1, float("nan"), "wide"])
def test_margins_that_are_no_distance_are_refused(margin):
    """Whatever is not a number between 0 and 1 is an `InputError` that names the margin."""
    with pytest.raises(InputError, match="margin must lie strictly between 0 and 1"):
        score_records([], [], margin=margin)


def test_levels_have_intervals():
    """KS@M at every level is a rate with an interval around it that has some width."""
    tasks = [
        load_suite("v1")[n]
        for n in ("text-explicit/normal/concentrated", "text-explicit/poisson/spread_out")
    ]
    found = score_records(tasks, simulated("perfect", tasks, 30), **QUICK)
    for rate in (*found.ks_at_alpha.values(), found.alpha_area):
        assert rate.low <= rate.estimate <= rate.high
        assert rate.low < rate.high
        assert rate.interval_method


@pytest.mark.parametrize(("answers", "area"), [(faithful(100), 1.0), ([0.5] * 100, 0.0)])
def test_the_area_over_alpha_is_one_where_nothing_is_rejected(answers, area):
    """P above .05 counts 1 and p below 1e-4 counts 0."""
    found = score_records([task_of()], written(task_of(), answers), **QUICK)
    assert found.alpha_area.estimate == area


def test_the_area_over_alpha_is_the_mean_of_the_shares():
    """The area equals the share that passes, averaged over levels even in log alpha."""
    tasks = [
        load_suite("v1")[f"text-explicit/{n}/concentrated"]
        for n in ("normal", "gamma", "beta", "uniform")
    ]
    found = score_records(tasks, simulated("scaled:0.6", tasks, 60), **QUICK)
    p = np.array([task.pvalue for task in found.tasks])
    levels = np.exp(np.linspace(np.log(1e-4), np.log(0.05), 20_001))
    mean = np.mean([(p > level).mean() for level in levels])
    assert found.alpha_area.estimate == pytest.approx(mean, abs=1e-3)


def test_interpolated_sizes_are_marked():
    """Curves of shuffles are computed at the sizes asked for and marked in between."""
    suite = load_suite("v1")
    tasks = [suite["shuffling/three-animals"], suite["text-explicit/normal/concentrated"]]
    found = score_records(tasks, simulated("perfect", tasks, 12), n=(3, 7), **QUICK)
    assert found.tasks[0].interpolated == (4, 6, 8, 9, 11)
    assert found.tasks[1].interpolated == ()
    assert "1 tasks" in found.area_method
    curve = document([(found, ())])["runs"][0]["curve"]
    assert curve["interpolated"] == {"n": [4, 6, 8, 9, 11], "n_tasks": 1}
