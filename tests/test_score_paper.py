"""The published rule: the verdicts of the published notebooks on the same inputs."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from answering import Draws, task_of, written
from unpredictabench.extract.observations import observe
from unpredictabench.score import score_records
from unpredictabench.score.paper import has_ties, published_codes
from unpredictabench.score.pools import pool_of
from unpredictabench.tasks import load_suite

ORACLE = [
    json.loads(line)
    for line in (Path(__file__).parent / "golden" / "oracle.jsonl").read_text().splitlines()
]
ALPHA = 1e-4


def published(case):
    """Return the task and the answers of an oracle case."""
    family = "poisson" if case["discrete"] else "normal"
    task = task_of(name=f"text-explicit/{family}/concentrated")
    return dataclasses.replace(task, target=Draws(case["gt"])), case["sample"]


@pytest.mark.parametrize("case", ORACLE, ids=[case["id"] for case in ORACLE])
def test_verdicts_agree_with_the_published_notebooks(case, monkeypatch):
    """Statistic and p-value are the published ones, exact where those were drawn at random."""
    monkeypatch.setenv("UNPREDICTABENCH_CACHE", "")
    task, sample = published(case)
    found = score_records(
        [task], written(task, [repr(float(v)) for v in sample]), n=(len(sample),),
        protocol="paper", n_resamples=9,
    ).tasks[0]  # fmt: skip
    assert found.statistic == pytest.approx(case["ks_statistic_integer_check"], abs=1e-12)
    if case["discrete"]:
        assert found.pvalue == pytest.approx(case["ks_p_exact_tied"], rel=1e-7)
        drawn = case["ks_p_permutation"]
        if abs(drawn - ALPHA) > 3e-5 and not case.get("permutation_float_tie_defect"):
            assert found.passes[len(sample)] == (drawn > ALPHA)
    else:
        assert found.pvalue == pytest.approx(case["ks_p_exact_continuous"], rel=1e-9)
        assert found.passes[len(sample)] == (case["ks_p_exact_continuous"] > ALPHA)


def test_the_first_answers_are_those_of_folders_sorted_as_text():
    """The published order of run folders is 1, 10, 11, 12, 2, 3, ..."""
    task = task_of()
    (observed,), _ = observe([task], written(task, [i / 100 for i in range(12)]), mode="lenient")
    pool = pool_of(observed, "paper")
    assert [round(v * 100) + 1 for v in pool.slots] == [1, 10, 11, 12, 2, 3, 4, 5, 6, 7, 8, 9]


def test_invalid_answers_are_dropped_and_n_shrinks():
    """Three valid answers of a hundred fill the published KS@100; "strict" stands beside it."""
    task = task_of()
    texts = ["0.2", "0.5", "0.8"] + ["no"] * 97
    found = score_records([task], written(task, texts), n=(100,), protocol="paper", n_resamples=9)
    assert found.tasks[0].passes[100] is True
    assert found.strict.tasks[0].passes[100] is False
    assert (found.protocol, found.strict.protocol) == ("paper", "strict")


def test_eleven_families_are_tested_with_ties():
    """Of the suite's number tasks 110 follow the published discrete rule, as published."""
    suite = load_suite("v1")
    tied = [t for t in suite if has_ties(t) and t.category not in {"shuffling", "real-world"}]
    assert len(tied) == 110
    assert len({task.family for task in tied}) == 11


def test_shuffles_are_scored_by_their_first_lehmer_digit():
    """Randomising only the first item passes the published rule, and fails ours."""
    task = load_suite("v1")["shuffling/four-tools"]
    codes = published_codes(task)
    assert sorted(set(codes)) == [0, 1, 2, 3]
    rng = np.random.default_rng(2)
    orders = [[first, *[i for i in range(4) if i != first]] for first in rng.integers(4, size=100)]
    texts = [json.dumps([task.answer.items[i] for i in order]) for order in orders]
    found = score_records([task], written(task, texts), n=(100,), protocol="paper", n_resamples=9)
    assert found.tasks[0].passes[100] is True
    assert found.strict.tasks[0].passes[100] is False
