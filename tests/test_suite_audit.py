"""The audit finds nothing wrong in the suite, and finds what is wrong elsewhere."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats as scipy_stats

from unpredictabench.errors import InputError
from unpredictabench.records import Task
from unpredictabench.stats import ks_1samp, multinomial_test, permutation_test_uniform
from unpredictabench.streams import stream
from unpredictabench.targets import target_from_spec
from unpredictabench.tasks import load_suite
from unpredictabench.tasks.audit import audit
from unpredictabench.tasks.execution import run_once

ALPHA = 1e-4
N_SEEDS = 60


@pytest.fixture(scope="module")
def suite():
    """Return v1."""
    return load_suite("v1")


def wrong(findings):
    """Return what the audit found wrong."""
    return [(f.task, f.check, f.note, f.statistic) for f in findings if not f.is_right]


def test_truths_and_samplers_follow_their_laws(suite):
    """2,000 draws of every truth and of every sampler follow the law, Holm over 448 tasks."""
    findings = audit(suite, checks=("truths", "samplers"), n_draws=2000)
    assert len(findings) == 2 * 448
    assert wrong(findings) == []


@pytest.mark.slow
def test_full_truths_follow_their_laws(suite):
    """10,000 draws of every truth and sampler follow the law, Holm over 448 tasks."""
    assert wrong(audit(suite, checks=("truths", "samplers"))) == []


def test_quantiles_and_moments(suite):
    """Cdf and ppf are inverse, and the mean of draws is near the mean, for all tasks."""
    assert wrong(audit(suite, checks=("quantiles", "moments"))) == []


def test_programs_of_some_tasks_follow_their_laws(suite):
    """Every tenth program, executed 200 times in one process and once alone, follows its law."""
    coded = [task for task in suite if task.program][::10]
    findings = audit(coded, checks=("programs",), n_runs=200, level=1e-6)
    assert len(findings) == 16
    assert wrong(findings) == []


@pytest.mark.slow
def test_all_programs_follow_their_laws(suite):
    """Every program, executed 2,000 times in one process and once alone, follows its law."""
    findings = audit(suite, checks=("programs",), level=1e-6)
    assert len(findings) == 160
    assert wrong(findings) == []


def test_programs_run_as_shown(suite):
    """The text between the fences of a question is the program, and prints one value."""
    task = suite["code-implicit/poisson/spread_out"]
    shown = task.question.split("```python\n")[1].split("\n```")[0]
    assert shown.strip() == task.program.strip()
    assert float(run_once(shown)) >= 0


def with_law(task, spec):
    """Return a task with another law."""
    return replace(task, target=target_from_spec(spec))


def test_wrong_programs_and_draws_are_found(suite):
    """A law that is off, a program that fails or one that prints words is a finding."""
    task = suite["code-explicit/normal/spread_out"]
    off = with_law(task, {"family": "normal", "params": {"mean": 25, "sd": 24}})
    fails = replace(task, id="fails", program="1 / 0")
    talks = replace(task, id="talks", program="print('one')")
    halves = replace(suite["code-explicit/poisson/spread_out"], id="halves", program="print(0.5)")
    findings = audit([off, fails, talks, halves], checks=("programs",), n_runs=500)
    assert [f.task for f in findings if not f.is_right] == [off.id, "fails", "talks", "halves"]
    notes = {f.task: f.note for f in findings}
    assert notes[off.id] == "does not follow its law"
    assert "ZeroDivisionError" in notes["fails"]
    assert "not one number" in notes["talks"]
    assert "not a whole number" in notes["halves"]


def test_a_wrong_sampler_is_found(suite, monkeypatch):
    """Draws that stray from the cdf are found, for numbers and for labels."""
    number, label = suite["text-explicit/normal/spread_out"], suite["shuffling/three-kinds"]
    monkeypatch.setattr(Task, "truth", lambda task, m, **_: _stray(task, m))
    findings = audit([number, label], checks=("samplers",))
    assert all(not f.is_right for f in findings)


def _stray(task, m):
    """Return draws from another law than the task's."""
    draws = task.target.sample(m, stream("stray"))
    return np.minimum(draws, 3) if task.support == "nominal" else draws * 1.2


def test_unknown_checks_are_refused(suite):
    """A check that does not exist is an error that lists those that do."""
    with pytest.raises(InputError, match="checks must hold only truths, programs"):
        audit(suite, checks=("truth",))


def passes(task, seed):
    """Tell whether 100 perfect answers pass the task's own test."""
    draws = task.truth(100, rng=stream("perfect", seed, task.id))
    law = task.target
    if task.support != "nominal":
        return ks_1samp(draws, law).pvalue > ALPHA
    if task.answer.kind == "permutation" and len(set(law.probabilities)) == 1:
        orders = [list(law.outcomes[i]) for i in draws]
        return permutation_test_uniform(orders).pvalue > ALPHA
    counts = np.bincount(draws, minlength=len(law.outcomes))
    return multinomial_test(counts, law.probabilities, n_resamples=200_000).pvalue > ALPHA


def test_a_perfect_sampler_passes_nearly_everything(suite):
    """One perfect run fails at most three tasks: more has probability below 1e-6."""
    failed = [task.id for task in suite if not passes(task, "one")]
    assert len(failed) <= 3


@pytest.mark.slow
def test_passes_of_perfect_samplers_are_binomial(suite):
    """Over many seeds the share of perfect runs that pass all 448 tasks is at least .956.

    The tests are exact and of level 1e-4, so a task fails with probability at most 1e-4 and all
    pass with at least (1 - 1e-4)^448 = .956; the failures are compared with their Poisson law.
    """
    failures = sum(not passes(task, seed) for seed in range(N_SEEDS) for task in suite)
    expected = N_SEEDS * 448 * ALPHA
    assert scipy_stats.poisson.sf(failures - 1, expected) > 1e-3
    # Atoms make attainable sizes smaller than 1e-4, but not all of them zero.
    assert scipy_stats.poisson.cdf(failures, expected / 4) > 1e-6
