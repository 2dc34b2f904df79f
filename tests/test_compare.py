"""Comparing runs: paired, corrected, and only where they can be compared."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from answering import simulated, task_of, written
from unpredictabench.errors import InputError
from unpredictabench.score import compare, score_records
from unpredictabench.score.comparison import sign_flip

TASKS = [task_of(name=f"text-explicit/family-{i // 2}/{'ab'[i % 2]}") for i in range(24)]
MODELS = ("perfect", "rounded:0", "median")


@pytest.fixture(autouse=True, scope="module")
def _cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("UNPREDICTABENCH_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="module")
def runs():
    """Return scores of three models on the same tasks."""
    found = [
        score_records(TASKS, simulated(name, TASKS, 40), n=(10, 20, 40), n_resamples=99)
        for name in MODELS
    ]
    return [
        dataclasses.replace(run, name=name, model=name)
        for name, run in zip(MODELS, found, strict=True)
    ]


def test_a_run_equals_itself(runs):
    """Compared with itself a run differs by nothing, at p = 1."""
    pair = compare([runs[0], runs[0]]).pairs[0]
    assert (pair.difference, pair.sign_flip, pair.mcnemar) == (0.0, 1.0, 1.0)
    assert (pair.n_first_only, pair.n_second_only) == (0, 0)
    assert pair.interval.low < 0.0 < pair.interval.high
    assert pair.interval_method.startswith("wilson")


def test_better_models_rank_first(runs):
    """A perfect sampler ranks surely above models that fail everything."""
    found = compare(runs)
    assert found.n == 40
    assert found.ranks == ((1, 1), (2, 3), (2, 3))
    assert found.scores[0] == 1.0
    assert found.pairs[0].adjusted >= found.pairs[0].sign_flip
    assert found.estimand == "tasks like these"


def test_swapping_runs_swaps_signs(runs):
    """The comparison of b with a is that of a with b, turned round."""
    one, other = compare(runs[:2], n=20).pairs[0], compare(runs[1::-1], n=20).pairs[0]
    assert one.difference == pytest.approx(-other.difference)
    assert one.sign_flip == other.sign_flip
    assert (one.n_first_only, one.n_second_only) == (other.n_second_only, other.n_first_only)


def test_only_shared_tasks_are_compared(runs):
    """Tasks that one run has no answers to are left out and counted (rep-missing-tasks)."""
    half = TASKS[:10]
    part = score_records(half, simulated("perfect", half, 40), n=(10, 20, 40), n_resamples=99)
    found = compare([runs[0], part])
    assert (found.n_tasks, found.n_left_out) == (10, 14)
    assert found.pairs[0].difference == 0.0


@pytest.mark.parametrize(
    ("field", "value"),
    [("suite_hash", "f00"), ("alpha", 0.01), ("protocol", "valid"), ("mode", "strict")],
)
def test_runs_under_other_rules_are_refused(runs, field, value):
    """Runs on other suites or by other rules are refused with what differs."""
    other = dataclasses.replace(runs[1], **{field: value})
    with pytest.raises(InputError, match=f"runs must have the same {field}"):
        compare([runs[0], other])


def test_one_run_cannot_be_compared(runs):
    """A comparison needs two runs, and a task they share."""
    with pytest.raises(InputError, match="be at least two"):
        compare(runs[:1])
    other = [task_of(name="text-explicit/elsewhere/a")]
    far = score_records(other, written(other[0], [0.5] * 40), n=(40,), n_resamples=99)
    with pytest.raises(InputError, match="share a task with 40 answers"):
        compare([runs[0], far], n=40)
    with pytest.raises(InputError, match=r"with 100 answers, got \['perfect: at most 40', "):
        compare(runs[:2], n=100)


def test_task_lists_are_corrected(runs):
    """Adjusted p-values of tasks are never below the raw ones, the largest gap comes first."""
    rows = compare([runs[0], runs[2]], n=20).pairs[0].tasks
    gaps = [abs(row.difference) for row in rows]
    assert gaps == sorted(gaps, reverse=True)
    assert all(row.adjusted >= row.pvalue > 0 for row in rows)


def test_sign_flip_is_exact_for_few_differences():
    """Of eight sign patterns two are as extreme as three equal signs."""
    assert sign_flip(np.array([1.0, 1.0, 1.0])) == 0.25
    assert sign_flip(np.zeros(5)) == 1.0


def test_sign_flip_never_gives_zero():
    """A drawn p-value is (b + 1) / (B + 1), never 0 (stats-permutation-zero)."""
    assert sign_flip(np.ones(40)) == pytest.approx(1e-4)
