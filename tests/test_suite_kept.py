"""Runs on a suite of one's own carry it with them."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from unpredictabench import SimulatedClient, generate, load_suite, score
from unpredictabench.cli import group

DICE = """
name: dice
tasks:
  - {id: dice/fair, question: Roll a fair die.,
     law: {family: discrete-uniform, params: {low: 1, high: 6}}}
  - {id: measured, question: How long is it, law: {samples: {values: [1.5, 2.0, 2.5, 4.0]}}}
"""


@pytest.fixture
def suite(tmp_path):
    """Return a suite in a file."""
    file = tmp_path / "dice.yaml"
    file.write_text(DICE)
    return file


def test_a_run_on_ones_own_suite_is_scored_without_its_file(suite, tmp_path):
    """The copy in the run's folder has the suite's hash, and stands in when the file is gone."""
    own = load_suite(suite)
    run = generate(own, SimulatedClient("perfect"), tmp_path / "run", n_samples=20)
    assert load_suite(tmp_path / "run" / "suite.json").hash == own.hash
    expected = score(run.path, suite=own)
    suite.unlink()
    assert score(run.path).ks_at_n == expected.ks_at_n


def test_a_selection_keeps_the_whole_suite(suite, tmp_path):
    """A run on some tasks keeps the suite they were taken from: that is whose hash it has."""
    some = load_suite(suite).select(ids=["dice/fair"])
    generate(some, SimulatedClient("perfect"), tmp_path / "run", n_samples=5)
    assert len(load_suite(tmp_path / "run" / "suite.json")) == 2
    assert score(tmp_path / "run", n=(5,)).n_tasks == 1


@pytest.mark.parametrize("variant", [None, 3])
def test_suites_of_the_package_are_not_copied(tmp_path, variant):
    """The name is enough for v1 and its variants."""
    some = load_suite("v1", variant=variant).select(category="shuffling")
    generate(some, SimulatedClient("perfect"), tmp_path / "run", n_samples=1)
    assert not (tmp_path / "run" / "suite.json").exists()


def test_programs_are_not_copied(tmp_path):
    """A law that is a program is named by its user each time: no copy is ever executed."""
    (tmp_path / "own.yaml").write_text(
        "tasks:\n- {id: p, question: Draw., law: {program: {source: 'print(3)', runs: 100}}}\n"
        "- {id: dice/fair, question: Roll., law: {family: discrete-uniform, "
        "params: {low: 1, high: 6}}}\n"
    )
    words = ["--suite", str(tmp_path / "own.yaml"), "--json"]
    run = ["run", "sim:perfect", "--samples", "5", "-o", str(tmp_path / "run"), *words]
    done = CliRunner().invoke(group, run)
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["runs"][0]["n_tasks"] == 2
    assert not (tmp_path / "run" / "suite.json").exists()


def test_the_commands_need_no_suite(suite, tmp_path, monkeypatch):
    """Asking ends in the scores, and scoring again finds the copy."""
    monkeypatch.chdir(tmp_path)
    run = ["run", "sim:median", "--suite", str(suite), "--samples", "10", "-o", "runs/m"]
    for words in (run, ["score", "runs/m"], ["extract", "runs/m"], ["diagnose", "runs/m"]):
        done = CliRunner().invoke(group, words)
        assert done.exit_code == 0, (words, done.output)
