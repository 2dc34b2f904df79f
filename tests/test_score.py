"""Scoring: the laws a strict score obeys, and what it does with bad input."""

from __future__ import annotations

import dataclasses
import json
import random

import numpy as np
import pytest

from answering import Draws, simulated, task_of, written
from unpredictabench.diagnose import diagnose
from unpredictabench.errors import InputError
from unpredictabench.score import RunScore, document, score_records
from unpredictabench.score.rules import Rules
from unpredictabench.score.samplers import baselines
from unpredictabench.stats import ks_1samp
from unpredictabench.tasks import load_suite

NAMES = (
    "text-explicit/normal/concentrated",
    "text-explicit/poisson/spread_out",
    "text-explicit/rectified-gaussian/spread_out",
    "code-explicit/bernoulli/spread_out",
    "multimodal/gamma/concentrated",
    "shuffling/three-animals",
    "real-world/reservoir",
    "real-world/two-choices",
)
COIN = {"family": "bernoulli", "params": {"probability": 0.5}}
QUICK = {"n_resamples": 99}
TEST_OF_ALL = {"method", "statistic", "sign", "location", "log_pvalue"}
"""Missing where the p-value is, and for its reason."""

pytestmark = pytest.mark.usefixtures("own_cache")


@pytest.fixture(scope="module")
def tasks():
    """Return a few tasks of every kind."""
    suite = load_suite("v1")
    return [suite[name] for name in NAMES]


def same(a, b):
    """Compare scores, NaN being equal to itself."""
    return json.dumps(document([(a, ())])) == json.dumps(document([(b, ())]))


def test_a_perfect_sampler_scores_one_within_its_interval(tasks):
    """A perfect simulated model passes every task, and every interval reaches 1."""
    found = score_records(tasks, simulated("perfect", tasks, 100), **QUICK)
    assert found.ks_at_n[100].estimate == 1.0
    assert all(rate.high == 1.0 and rate.low < 1.0 for rate in found.ks_at_n.values())
    assert found.validity == 1.0
    assert found.n_star.median is None
    assert found.n_star.n_censored == len(tasks)


def test_the_constant_median_fails(tasks):
    """A model that always gives the median passes next to nothing at N = 100."""
    found = score_records(tasks, simulated("median", tasks, 100), **QUICK)
    assert found.ks_at_n[100].estimate <= 0.25


@pytest.mark.parametrize(("size", "passes"), [(18, True), (19, False)])
def test_a_constant_at_the_median_last_passes_at_18(size, passes):
    """D = 1/2 is the distance of a constant at the median; it passes 18 answers and not 19."""
    task = task_of()
    found = score_records([task], written(task, [0.5] * 30), n=(size,), **QUICK)
    assert found.tasks[0].passes[size] is passes
    assert found.tasks[0].pass_rates[size] == float(passes)
    assert found.tasks[0].n_star == 18


@pytest.mark.parametrize(("size", "passes"), [(175, True), (176, False)])
def test_a_distance_of_a_sixth_last_passes_at_175(size, passes):
    """Answers whose distance is 1/6 exactly pass 175 of them and not 176."""
    u = np.minimum(np.arange(size) / size + 1 / 6, 1.0)
    result = ks_1samp(u, lambda x: x)
    task = task_of()
    found = score_records([task], written(task, u.tolist()), n=(size,), **QUICK)
    assert result.statistic == pytest.approx(1 / 6, abs=1e-12)
    assert found.tasks[0].passes[size] is passes


def test_stats_coin_always_heads():
    """Always heads cannot fail a fair coin at alpha 1e-4 before 15 answers; N says so."""
    task = task_of(COIN, "text-explicit/bernoulli/concentrated", is_integer=True)
    found = score_records([task], written(task, ["1"] * 20), n=(5, 10, 13, 15, 20), **QUICK)
    assert list(found.tasks[0].passes.values()) == [True, True, True, False, False]
    assert found.tasks[0].attainable_sizes[5] == 0.0
    assert 0 < found.tasks[0].attainable_sizes[20] <= 1e-4


def test_stats_integer_answers_continuous_reference():
    """Even whole numbers fail a continuous law that spans them, pass the discrete one, and warn."""
    law = {"family": "uniform", "params": {"low": 0.0, "high": 10.0}}
    task = task_of(law)
    answers = [str(i % 11) for i in range(1100)]
    wrong = score_records([task], written(task, answers), n=(1100,), **QUICK).tasks[0]
    assert wrong.statistic == pytest.approx(1 / 11, abs=1e-12)
    assert wrong.passes[1100] is False
    assert "whole numbers" in wrong.reasons["values"]
    law = {"family": "discrete-uniform", "params": {"low": 0, "high": 10}}
    even = task_of(law, "text-explicit/discrete-uniform/concentrated", is_integer=True)
    right = score_records([even], written(even, answers), n=(1100,), **QUICK).tasks[0]
    assert right.statistic == pytest.approx(0.0, abs=1e-12)
    assert right.pvalue == pytest.approx(1.0)


@pytest.mark.parametrize("name", ["poisson", "uniform", "choice", "shuffle"])
def test_invalid_answers_never_raise_a_strict_score(name, tasks):
    """Replacing answers by invalid ones, one at a time, never raises p or any pass rate."""
    by_name = {
        "poisson": tasks[1],
        "uniform": task_of(),
        "choice": tasks[7],
        "shuffle": tasks[5],
    }
    task = by_name[name]
    completions = simulated("perfect", [task], 24)
    order = random.Random(5).sample(range(24), 24)
    n = (3, 8, 14, 24)
    before = score_records([task], completions, n=n, **QUICK).tasks[0]
    for place in order:
        completions[place] = dataclasses.replace(completions[place], text="I refuse.")
        after = score_records([task], completions, n=n, **QUICK).tasks[0]
        assert after.pvalue <= before.pvalue + 1e-12
        assert after.n_invalid == before.n_invalid + 1
        for size in n:
            assert after.passes[size] <= before.passes[size]
            if name != "shuffle" or size == 24:  # else averages over drawn subsets
                assert after.pass_rates[size] <= before.pass_rates[size] + 1e-12
        before = after


def test_the_order_of_tasks_and_answers_changes_nothing(tasks):
    """Scores do not depend on the order in which replies or tasks come."""
    completions = simulated("kpoint:4", tasks, 20)
    found = score_records(tasks, completions, n=(5, 20), **QUICK)
    mixed = random.Random(1).sample(completions, len(completions))
    assert same(found, score_records(tasks, mixed, n=(5, 20), **QUICK))
    turned = score_records(tasks[::-1], mixed, n=(5, 20), **QUICK)
    assert turned.ks_at_n[20].estimate == pytest.approx(found.ks_at_n[20].estimate)
    assert [t.pvalue for t in turned.tasks[::-1]] == [t.pvalue for t in found.tasks]


def test_fewer_answers_than_n_are_not_available():
    """The column of N = 50 is never filled from 37 answers (rep-first-n-short)."""
    task = task_of()
    found = score_records(
        [task], written(task, [i / 37 for i in range(37)]), n=(20, 50, 100), **QUICK
    )
    assert found.ks_at_n[20].estimate is not None
    for size in (50, 100):
        assert found.ks_at_n[size].estimate is None
        assert found.ks_at_n[size].reason == "no task has enough answers"
        assert found.tasks[0].passes[size] is None
        assert found.tasks[0].reasons[f"pass_rate.{size}"] == "fewer than N answers"
    assert found.coverage == {20: 1.0, 50: 0.0, 100: 0.0}


def test_denominators_are_fixed():
    """A task without answers stays in the denominator and is marked (rep-nan-raises-score)."""
    tasks = [task_of(name=f"text-explicit/family-{i}/concentrated") for i in range(4)]
    found = score_records(tasks, simulated("perfect", tasks[:3], 20), n=(20,), **QUICK)
    rate = found.ks_at_n[20]
    assert (rate.estimate, rate.n_tasks, rate.n_covered) == (0.75, 4, 3)
    assert "1 tasks lack answers" in rate.reason
    assert found.coverage[20] == 0.75


def test_valid_demands_n_valid_answers():
    """The protocol "valid" drops invalid answers, and never fills N from fewer."""
    task = task_of()
    texts = [repr((i + 0.5) / 30) for i in range(30)] + ["no"] * 30
    by_protocol = {
        protocol: score_records(
            [task], written(task, texts), n=(20, 40), protocol=protocol, **QUICK
        ).tasks[0]
        for protocol in ("strict", "valid")
    }
    assert by_protocol["valid"].passes == {20: True, 40: None}
    assert by_protocol["strict"].passes == {20: True, 40: True}
    assert by_protocol["valid"].pvalue > 0.99
    assert by_protocol["strict"].pvalue < 1e-9


BAD_RUNS = {
    "nothing": [],
    "one answer": [0.4],
    "all invalid": ["no"] * 12,
    "constant": [0.25] * 12,
    "infinite": ["inf"] * 6 + ["-inf"] * 6,
    "huge": [1e300, -1e300] * 6,
    "empty replies": [None] * 12,
}


@pytest.mark.parametrize("name", BAD_RUNS)
def test_bad_runs_have_a_defined_result(name):
    """Every bad run is scored and counted, without a NaN in its JSON."""
    task = task_of()
    found = score_records([task], written(task, BAD_RUNS[name]), n=(1, 5, 12), **QUICK)
    one = found.tasks[0]
    assert one.n_slots == len(BAD_RUNS[name])
    assert one.n_valid + one.n_invalid == one.n_slots
    assert sum(one.statuses.values()) == one.n_slots
    text = json.dumps(document([(found, ())]), allow_nan=False)
    assert json.loads(text)["runs"][0]["n_tasks"] == 1
    if name == "all invalid":
        assert (one.statistic, one.passes[12]) == (1.0, False)
        assert one.measures["w1"] is None
    if name == "nothing":
        assert one.reasons["pvalue"] == "no answer"


def test_an_empty_suite_scores_nothing():
    """Without tasks every score is missing, with its reason."""
    found = score_records([], [], **QUICK)
    assert isinstance(found, RunScore)
    assert all(rate.reason == "no tasks" for rate in found.ks_at_n.values())
    json.dumps(document([(found, ())]), allow_nan=False)


def test_answers_to_other_tasks_are_counted():
    """Replies to tasks that are not scored are told, and change nothing."""
    task, other = task_of(), task_of(name="text-explicit/other/concentrated")
    completions = written(task, [0.1, 0.7]) + written(other, [0.5] * 3)
    found = score_records([task], completions, n=(1, 2), **QUICK)
    assert found.notes == ("3 answers belong to other tasks",)
    assert found.n_slots == 2


def test_two_replies_in_one_slot_are_refused():
    """A slot holds one reply."""
    task = task_of()
    with pytest.raises(InputError, match="hold one reply a slot"):
        score_records([task], written(task, [0.1]) * 2)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"alpha": 0.0}, "alpha must lie strictly between 0 and 1"),
        ({"n": ()}, "n must hold whole numbers of at least 1"),
        ({"n": (0,)}, "n must hold whole numbers of at least 1"),
        ({"protocol": "lax"}, "protocol must be 'strict', 'valid' or 'paper'"),
        ({"mode": "loose"}, "mode must be"),
    ],
)
def test_arguments_are_checked(how, message):
    """A wrong argument is named with its rule and its value."""
    task = task_of()
    with pytest.raises(InputError, match=message):
        score_records([task], written(task, [0.1]), **how)


def test_off_support_numbers_are_valid_and_counted():
    """A number outside of the support is valid, is seen by the test, and is counted."""
    task = task_of()
    found = score_records([task], written(task, [2.0, 0.5]), n=(2,), **QUICK).tasks[0]
    assert (found.n_valid, found.n_off_support) == (2, 1)


def test_unlisted_outcomes_are_invalid(tasks):
    """A label that is no outcome of the law is an invalid answer."""
    task = tasks[7]
    found = score_records([task], written(task, ["zebra"] * 4), n=(4,), **QUICK).tasks[0]
    assert found.n_valid == 0
    assert found.pvalue < 1e-9


def test_batches_are_scored_by_reply():
    """Answers of one reply are never averaged over subsets; the error is over replies."""
    task = task_of()
    rng = np.random.default_rng(3)
    replies = [str(rng.random(10).round(6).tolist()) for _ in range(6)]
    found = score_records([task], written(task, replies, n_asked=10), n=(10, 20), **QUICK).tasks[0]
    assert found.n_slots == 60
    assert found.pass_rates == {10: 1.0, 20: 1.0}
    assert "one reply" in found.reasons["pass_rate"]
    bad = [*replies[:3], *[str([0.5] * 10)] * 3]
    mixed = score_records([task], written(task, bad, n_asked=10), n=(20,), **QUICK).tasks[0]
    assert 0 < mixed.pass_rates[20] < 1
    assert mixed.pass_rate_errors[20] > 0


def test_draws_stand_in_for_an_unknown_law():
    """A task known only by draws is tested as two samples, and by a fixed band where they tie."""
    rng = np.random.default_rng(8)
    smooth = task_of(name="text-explicit/mine/concentrated")
    smooth = dataclasses.replace(smooth, target=Draws(rng.random(500)))
    tied = dataclasses.replace(
        smooth, id="text-explicit/tied/concentrated", target=Draws(rng.integers(6, size=500))
    )
    texts = rng.random(40).tolist()
    completions = written(smooth, texts) + written(tied, rng.integers(6, size=40).tolist())
    found = score_records([smooth, tied], completions, n=(10, 40), **QUICK)
    assert [one.method for one in found.tasks] == ["two-sample", "fixed_band"]
    assert found.ks_at_n[40].estimate == 1.0


def test_measures_of_a_perfect_sampler_are_near_their_null(tasks):
    """Debiased distances are about 0, and the divergence is about its floor."""
    numbers = [task for task in tasks if task.support != "nominal"]
    found = score_records(numbers, simulated("perfect", numbers, 100, seed=4), n=(100,), **QUICK)
    for one in found.tasks:
        assert abs(one.measures["wdz"]) < 5
        assert abs(one.measures["pit_mean"] - 0.5) < 0.15
        assert one.measures["jsd"] < 3 * one.measures["jsd_floor"] + 0.02
        assert one.measures["distance_low"] == 0.0


def test_alpha_levels_come_from_the_stored_p(tasks):
    """The share that passes falls with the level."""
    found = score_records(tasks, simulated("uniform", tasks, 40), n=(40,), **QUICK)
    shares = [found.ks_at_alpha[level].estimate for level in (0.05, 0.01, 1e-4)]
    assert shares == sorted(shares)


@pytest.mark.slow
def test_three_independent_values_pass_continuous_tasks_as_often_as_known():
    """Independent kpoint:3 passes KS@100 on continuous tasks at .54 within three errors."""
    tasks = [task for task in load_suite("v1") if task.support == "continuous"]
    found = score_records(tasks, simulated("kpoint:3", tasks, 100, seed=11), n=(100,), **QUICK)
    share = found.ks_at_n[100].estimate
    error = (0.54 * 0.46 / len(tasks)) ** 0.5
    assert abs(share - 0.54) < 3 * error


@pytest.mark.parametrize("protocol", ["strict", "valid", "paper"])
@pytest.mark.parametrize("answers", [[1.7e308, -1.7e308], [5e-324, 0.0], [1e16, 1e151], ["1e400"]])
def test_answers_at_the_ends_of_floats_are_scored(tasks, answers, protocol):
    """Tasks of every kind are scored and told about without overflow or division by zero."""
    completions = [c for task in tasks for c in written(task, answers * 6)]
    found = score_records(tasks, completions, n=(1, 5), protocol=protocol, **QUICK)
    json.dumps(document([(found, ())]), allow_nan=False)
    assert found.n_tasks == len(tasks)
    assert len(diagnose(tasks, completions).tasks) == len(tasks)


@pytest.mark.parametrize("n", [100, "100", (2.5,), ("x",), (float("nan"),), (True,), None])
def test_sizes_that_are_no_list_of_counts_are_refused(n):
    """Whatever is not a list of whole numbers is an `InputError` that names n."""
    with pytest.raises(InputError, match="n must hold whole numbers of at least 1"):
        score_records([task_of()], [], n=n)


@pytest.mark.parametrize("alpha", ["0.1", None, float("nan"), -1, 1])
def test_levels_that_are_no_probability_are_refused(alpha):
    """Whatever is not a number between 0 and 1 is an `InputError` that names alpha."""
    with pytest.raises(InputError, match="alpha must lie strictly between 0 and 1"):
        score_records([task_of()], [], alpha=alpha)


@pytest.mark.parametrize("protocol", ["strict", "valid", "paper"])
def test_a_half_life_is_censored_where_the_curve_ends(tasks, protocol):
    """Tasks that pass at the largest N there is a rate for never fail, by any protocol."""
    completions = simulated("perfect", tasks, 37)
    found = score_records(tasks, completions, n=(5, 20, 100), protocol=protocol, **QUICK)
    assert all(task.is_censored for task in found.tasks)
    assert found.n_star.median is None
    assert found.n_star.reason == "more than half of the tasks never fail"


@pytest.mark.parametrize("sampler", ["perfect", "refusing:1", "median"])
@pytest.mark.parametrize("protocol", ["strict", "valid", "paper"])
@pytest.mark.parametrize("n_slots", [0, 1, 12])
def test_whatever_is_missing_has_its_reason(tasks, sampler, protocol, n_slots):
    """Every null in the JSON is named in the reasons of the record that holds it."""
    completions = simulated(sampler, tasks, n_slots)
    found = score_records(tasks, completions, n=(1, 10), protocol=protocol, **QUICK)
    run = document([(found, ())])["runs"][0]
    groups = [*run["categories"].values(), *run["families"].values()]
    for record in [run, *groups, *run["tasks"]]:
        for name, value in {**record, **record.get("measures", {})}.items():
            if value is None and name not in {"diagnosis", "stopped", *TEST_OF_ALL}:
                assert record["reasons"][name]
    for task in run["tasks"]:
        assert task["pvalue"] is not None or task["reasons"]["pvalue"]


@pytest.mark.parametrize("n_slots", [1, 9])
def test_baselines_have_no_score_beyond_the_answers(tasks, n_slots):
    """Where every N is beyond the answers, only the published rule scores the baselines."""
    for protocol in ("strict", "valid", "paper"):
        rules = Rules((1000,), 1e-4, protocol, n_resamples=9)
        for row in baselines(tasks, rules, n_slots=n_slots):
            assert (row.ks_at_n[1000].estimate is None) == (protocol != "paper")
