"""Stopping early: no verdict changes under curtailment, no false alarm beyond alpha by evidence."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from unpredictabench.cli.summary import summary
from unpredictabench.clients import SimulatedClient
from unpredictabench.errors import InputError
from unpredictabench.extract import extract
from unpredictabench.extract.coding import coder
from unpredictabench.generate import NEVER, Curtailment, Evidence, generate, stop_rule
from unpredictabench.generate.study import Job
from unpredictabench.records import CATEGORIES, Completion
from unpredictabench.score import score
from unpredictabench.stats import ks_1samp, multinomial_test
from unpredictabench.stats.sequential import (
    critical_distance,
    critical_variation,
    is_certain_failure,
    is_certain_label_failure,
    log_e_process,
)
from unpredictabench.streams import stream
from unpredictabench.targets import target_from_spec
from unpredictabench.tasks import load_suite

ALPHA = 1e-4
UPPER = np.array([0.1, 0.35, 0.5, 0.8, 1.0])
LOWER = np.array([0.0, 0.1, 0.35, 0.5, 0.8])


@pytest.fixture(scope="module")
def suite():
    """Load the suite once."""
    return load_suite("v1")


def test_first_steps_by_hand():
    """The evidence after two equal answers in four cells is a product a reader can check."""
    # Five cells with the invalid one: invalid 1/5 then 1/7, cell 1/4 then (3/2)/(1 + 2) = 1/2.
    expected = [(4 / 5) * (1 / 4) / (0.98 / 4), (4 / 5) * (1 / 4) * (6 / 7) * (1 / 2) / (0.245**2)]
    assert np.exp(log_e_process([2, 2], [0.25] * 4)) == pytest.approx(expected, rel=1e-14)


def test_evidence_averages_to_at_most_one():
    """Over all sequences the evidence has mean at most 1 under any allowed share of failures."""
    p, n = np.array([0.2, 0.5, 0.3]), 5
    for lost in (0.0, 0.01, 0.02):
        masses = np.append((1 - lost) * p, lost)  # the last entry is cell -1
        mean = 0.0
        for cells in itertools.product((0, 1, 2, -1), repeat=n):
            mean += np.prod(masses[list(cells)]) * math.exp(log_e_process(cells, p)[-1])
        assert mean <= 1 + 1e-12
        assert lost < 0.02 or mean == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(("n_cells", "n"), [(8, 8), (12, 8), (16, 7)])
def test_constant_answers_are_caught_at_once(n_cells, n):
    """A constant answer reaches 1 / alpha after seven or eight answers."""
    evidence = log_e_process([1] * 20, np.full(n_cells, 1 / n_cells))
    assert np.argmax(evidence >= -math.log(ALPHA)) + 1 == n


def test_many_valid_answers_are_no_evidence():
    """Fewer invalid answers than allowed never speak against a model, however many there are."""
    cells = np.tile(np.arange(8), 2000)
    assert log_e_process(cells, np.full(8, 1 / 8)).max() < 0.5


def test_impossible_cell_decides():
    """An answer in a cell of probability 0 is infinite evidence."""
    assert log_e_process([0, 1], [1.0, 0.0])[-1] == np.inf


@pytest.mark.parametrize(
    ("cells", "p", "share", "match"),
    [
        ([0, 3], [0.5, 0.5], 0.02, r"cells\[1\] must be -1 or below 2, got 3"),
        ([0.5], [1.0], 0.02, "cells must be 1-d integers"),
        ([0], [0.5, 0.4], 0.02, "probabilities must be 1-d, of at least 0, and sum to 1"),
        ([0], [1.0], 0.0, "invalid_share must lie strictly between 0 and 1"),
    ],
)
def test_wrong_arguments_are_named(cells, p, share, match):
    """Wrong cells, probabilities and shares are refused by name."""
    with pytest.raises(InputError, match=match):
        log_e_process(cells, p, invalid_share=share)


def test_no_answers_no_evidence():
    """Without answers there is no evidence, not an error."""
    assert log_e_process([], [1.0]).size == 0


def passes(counts, lost, n, critical):
    """Tell from the definition whether counts on the five atoms pass."""
    k = np.cumsum(counts)
    distance = max(lost / n, ((k + lost) / n - UPPER).max(), (UPPER - k / n).max())
    return distance < critical


def test_curtailment_agrees_with_every_continuation():
    """Certain failures are those that no continuation, enumerated, can save."""
    rng = stream("test", "curtail")
    n_certain = n_missed = 0
    for _ in range(1500):
        n = int(rng.integers(3, 9))
        asked = int(rng.integers(0, n + 1))
        lost = int(rng.integers(0, 2)) if asked else 0
        places = rng.integers(0, 5, asked - lost)
        critical = float(rng.choice([0.25, 0.31, 0.4, 0.47, 0.55, 0.7]))
        base = np.bincount(places, minlength=5)
        can_pass = any(
            passes(base + np.bincount(np.array(more, int), minlength=5), lost, n, critical)
            for more in itertools.combinations_with_replacement(range(5), n - asked)
        )
        found = is_certain_failure(UPPER[places], LOWER[places], n, critical, n_invalid=lost)
        assert not (found and can_pass)
        n_certain += not can_pass
        n_missed += not found and not can_pass
        assert found or can_pass or 2 * critical * n <= 1 + lost
    assert n_certain > 100
    assert n_missed < 0.05 * n_certain


def test_at_the_last_answer_the_verdict_is_that_of_the_test():
    """With nothing to come a failure is certain just when the test fails."""
    rng = stream("test", "curtail", "last")
    critical = critical_distance(lambda x: x, 60, alpha=0.05)
    verdicts = []
    for _ in range(200):
        x = rng.random(60) ** rng.uniform(0.6, 1.6)
        verdicts.append(float(ks_1samp(x, lambda u: u).pvalue) <= 0.05)
        assert is_certain_failure(x, x, 60, critical) == verdicts[-1]
    assert 20 < sum(verdicts) < 180


def test_too_many_answers_are_refused():
    """More answers than the test will be made with are an error."""
    with pytest.raises(InputError, match="n must be at least the 3 answers so far, got 2"):
        is_certain_failure([0.5, 0.5], [0.5, 0.5], 2, 0.5, n_invalid=1)
    with pytest.raises(InputError, match="n must be at least the 3 answers so far, got 2"):
        is_certain_label_failure([2, 1], [0.5, 0.5], 2, 0.5)


def test_labels_agree_with_every_continuation():
    """A certain label failure is never saved by a continuation, and all are found for equal p."""
    p, n, critical = np.array([0.25, 0.25, 0.5]), 8, 0.4
    for counts in itertools.product(range(9), repeat=3):
        if sum(counts) > n:
            continue
        finals = (
            np.array(counts) + np.bincount(np.array(more, int), minlength=3)
            for more in itertools.combinations_with_replacement(range(3), n - sum(counts))
        )
        can_pass = any(np.abs(final / n - p).sum() / 2 < critical for final in finals)
        assert is_certain_label_failure(counts, p, n, critical) == (not can_pass)


def test_bound_for_large_nulls_is_larger_than_the_exact_value():
    """Where a null is exact it is used; the bound for others lies above the drawn value."""
    fair = [0.25] * 4
    exact = multinomial_test([50, 50, 0, 0], fair, alpha=ALPHA).critical_value
    assert critical_variation(fair, 100, alpha=ALPHA) == exact
    odd = np.array([0.25, 0.25, 0.25 + 1e-7, 0.25 - 1e-7])
    assert exact < critical_variation(odd, 100, alpha=ALPHA) < exact + 0.05


def run_with(suite, name, rule, folder):
    """Run a simulated model over a few tasks of each category whose nulls are exact."""
    chosen = [category for category in CATEGORIES if category != "real-world"]
    client = SimulatedClient(name)
    return generate(suite, client, folder, stop=rule, limit_tasks=3, categories=chosen)


def test_curtailed_tasks_fail_when_asked_to_the_end(suite, tmp_path):
    """Every task stopped by curtailment fails the test on all 100 answers of the same model."""
    run = run_with(suite, "median", stop_rule("curtail", suite), tmp_path / "stopped")
    whole = run_with(suite, "median", NEVER, tmp_path / "whole")
    stopped = [suite[task] for task in run.stopped_tasks]
    assert len(stopped) > 10
    assert run.n_spared > 500
    assert run.n_missing == 0
    assert run.n_stored + run.n_spared == whole.n_stored
    for task in stopped:
        if task.support != "nominal":
            code = coder(task)
            values = [code(e) for c in whole.completions(task.id) for e in extract(c, task)]
            assert ks_1samp(values, task.target).pvalue <= ALPHA


@pytest.mark.parametrize("word", ["curtail", "evalue"])
def test_perfect_answers_are_asked_to_the_end(suite, tmp_path, word):
    """Neither rule stops a task of the perfect model."""
    run = run_with(suite, "perfect", stop_rule(word, suite), tmp_path)
    assert not run.stopped_tasks
    assert run.n_spared == 0


def test_evidence_stops_constant_answers_after_seven(suite, tmp_path):
    """Constant answers to continuous questions are stopped at seven, and the saving is told."""
    run = run_with(suite, "median", stop_rule("evalue", suite), tmp_path)
    stops = {e.data["task"]: e.data["n_answers"] for e in run.events if e.kind == "task-stopped"}
    continuous = [n for task, n in stops.items() if suite[task].support == "continuous"]
    assert continuous
    assert set(continuous) == {7}
    assert run.settings.stop == "evalue(alpha=0.0001, cells=16)"
    told = "\n".join(summary(run))
    assert f"{len(stops)} tasks, {run.n_spared:,} requests saved" in told


def completions(task, texts):
    """Make completions of texts."""
    return [Completion(task.id, i, text) for i, text in enumerate(texts)]


def test_rules_read_each_prefix_anew_after_another_run(suite):
    """A rule used on a second run does not remember the answers of the first."""
    task = suite["text-explicit/normal/spread_out"]
    rule = Evidence([task])
    constant = completions(task, ["5"] * 10)
    refusing = completions(task, ["no"] * 2)
    assert rule.done(task.id, constant)
    assert not rule.done(task.id, refusing)
    assert rule.done(task.id, constant)
    assert not rule.done("another task", constant)


def test_invalid_answers_are_evidence_and_curtailed(suite):
    """A model that never answers is stopped by both rules, on every kind of task."""
    for kind in ("number", "permutation", "choice", "lines"):
        task = next(task for task in suite if task.answer.kind == kind)
        silent = completions(task, [""] * 60)
        assert Evidence([task]).done(task.id, silent)
        assert Curtailment([task], n_samples=100).done(task.id, silent)
        assert not Curtailment([task], n_samples=100).done(task.id, silent[:3])


def test_words_of_a_job_reach_the_settings():
    """The word of a job becomes the rule's name in the settings; unknown words are refused."""
    job = Job(model="sim:perfect", stop="curtail", samples=50, limit_tasks=1)
    assert job.work().settings.stop == "curtail(n=50, alpha=0.0001)"
    assert "stop-curtail" in job.folder().name
    with pytest.raises(InputError, match="stop must be one of never, curtail, evalue, got 'soon'"):
        stop_rule("soon", ())
    assert stop_rule("never", ()) is NEVER


def test_score_of_a_curtailed_run_is_that_of_the_whole_run(suite, tmp_path):
    """KS@100 is the same whether certain failures were stopped or asked to the end."""
    rule = stop_rule("curtail", suite)
    run = run_with(suite, "kpoint:3", rule, tmp_path / "stopped")
    found = score(run, n=[20, 100])
    whole = score(run_with(suite, "kpoint:3", NEVER, tmp_path / "whole"), n=[20, 100])
    assert run.stopped_tasks
    assert found.ks_at_n[100].estimate == whole.ks_at_n[100].estimate
    assert found.ks_at_n[100].n_covered == found.n_tasks
    assert any("only KS@100 is a score of this run" in note for note in found.notes)
    stopped = [task for task in found.tasks if task.stopped]
    assert {task.task for task in stopped} == run.stopped_tasks
    for task in stopped:
        assert task.stopped == "fail (certain)"
        assert task.passes[100] is False
        assert (task.pass_rates[100], task.pass_rates[20]) == (0.0, None)
        assert (task.n_star, task.pvalue) == (None, None)
    other = score(run, n=[100], alpha=0.01)
    assert {task.stopped for task in other.tasks} == {None, "stopped early"}


def test_tasks_stopped_by_evidence_have_no_verdict(suite, tmp_path):
    """A task stopped by the e-process is in a column of its own, without rates or p-value."""
    run = run_with(suite, "median", stop_rule("evalue", suite), tmp_path)
    stopped = [task for task in score(run, n=[100]).tasks if task.stopped]
    assert {task.task for task in stopped} == run.stopped_tasks
    assert {task.stopped for task in stopped} == {"stopped by evidence"}
    assert all(task.pass_rates[100] is None and task.pvalue is None for task in stopped)


@pytest.mark.slow
def test_false_alarms_stay_below_alpha_over_a_long_horizon():
    """On faithful answers the evidence ever reaches 1 / alpha in at most a share alpha of runs."""
    rng, n_runs, n = stream("test", "ville"), 4000, 2000
    for alpha in (0.05, 0.01):
        for lost in (0.0, 0.02):
            n_alarms = 0
            for _ in range(n_runs // 2):
                cells = rng.integers(0, 12, n)
                cells[rng.random(n) < lost] = -1
                n_alarms += log_e_process(cells, np.full(12, 1 / 12)).max() >= -math.log(alpha)
            error = math.sqrt(alpha * (1 - alpha) / (n_runs / 2))
            assert n_alarms / (n_runs / 2) <= alpha + 3 * error


@pytest.mark.parametrize(
    ("argument", "n", "alpha"), [("n", 0, 0.1), ("alpha", 9, 1), ("alpha", 9, 0)]
)
def test_critical_values_need_answers_and_a_level(argument, n, alpha):
    """No answers, or a level of 0 or 1, have no critical value."""
    law = next(task.target for task in load_suite("v1") if task.support != "nominal")
    with pytest.raises(InputError, match=argument):
        critical_distance(law, n, alpha=alpha)
    with pytest.raises(InputError, match=argument):
        critical_variation([0.5, 0.5], n, alpha=alpha)
    with pytest.raises(InputError, match=argument):
        stop_rule("curtail", [], n_samples=n, alpha=alpha)


@pytest.mark.parametrize(
    ("cdf", "left", "words", "argument"),
    [
        ([np.nan], [0.1], {}, "cdf"),
        ([1.5], [0.1], {}, "cdf"),
        ([0.5], [-0.1], {}, "cdf_left"),
        ([0.5], [0.6], {}, "cdf_left"),
        ([0.5], [np.nan], {}, "cdf_left"),
        ([0.5], [0.5, 0.5], {}, "cdf_left"),
        ([0.5], [0.5], {"critical": np.nan}, "critical"),
        ([0.5], [0.5], {"critical": -1.0}, "critical"),
        ([0.5], [0.5], {"n_invalid": -1}, "n_invalid"),
        ([0.5], [0.5], {"n": 0}, "n"),
    ],
)
def test_levels_and_distances_that_are_none_are_refused(cdf, left, words, argument):
    """No NaN and nothing outside of its range decides that a task has failed."""
    given = {"n": 10, "critical": 0.3, "n_invalid": 0} | words
    n, critical = given.pop("n"), given.pop("critical")
    with pytest.raises(InputError, match=f"^{argument} must"):
        is_certain_failure(cdf, left, n, critical, **given)


@pytest.mark.parametrize(
    ("counts", "p", "critical", "argument"),
    [
        ([1, -1], [0.5, 0.5], 0.3, "counts"),
        ([1, np.nan], [0.5, 0.5], 0.3, "counts"),
        ([1, 1], [0.5, 0.9], 0.3, "probabilities"),
        ([1, 1, 1], [0.5, 0.5], 0.3, "probabilities"),
        ([1, 1], [0.5, 0.5], np.nan, "critical"),
    ],
)
def test_label_counts_that_are_none_are_refused(counts, p, critical, argument):
    """The same holds for labels."""
    with pytest.raises(InputError, match=f"^{argument} must"):
        is_certain_label_failure(counts, p, 10, critical)


@pytest.mark.parametrize("alpha", [1 - 1e-16, 1 - 1e-12, 0.999999, 0.99])
@pytest.mark.parametrize(
    "spec",
    [
        {"family": "normal", "params": {"mean": 0, "sd": 1}},
        {"family": "poisson", "params": {"rate": 18}},
    ],
)
def test_levels_near_one_have_a_critical_distance(spec, alpha):
    """A level at which nearly everything fails ends the search as any other does."""
    target = target_from_spec(spec)
    for n in (1, 2, 10, 100):
        distance = critical_distance(target, n, alpha=alpha)
        assert 0 < distance <= critical_distance(target, n, alpha=0.5)
