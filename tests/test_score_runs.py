"""Several runs at a time, what is told meanwhile, and suites found beside runs."""

from __future__ import annotations

import io
import json
import os
import pickle
import subprocess
import sys
import textwrap
import threading

import pytest
from click.testing import CliRunner

from unpredictabench import SimulatedClient, generate, load_suite
from unpredictabench.cli import group, progress
from unpredictabench.errors import InputError, StoreError, SuiteError, UnpredictabenchError
from unpredictabench.report import report
from unpredictabench.score import document, score, score_runs, side_by_side, working

TASKS = ("text-explicit/normal/concentrated", "text-explicit/poisson/concentrated")
DIE = {
    "id": "dice/fair",
    "question": "Roll a fair die.",
    "law": {"family": "discrete-uniform", "params": {"low": 1, "high": 6}},
}


@pytest.fixture(autouse=True, scope="module")
def _cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("UNPREDICTABENCH_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Return the folders of three small stored runs."""
    folder = tmp_path_factory.mktemp("runs")
    suite = load_suite("v1").select(ids=TASKS)
    for name in ("perfect", "median", "uniform"):
        generate(suite, SimulatedClient(name), folder / name, n_samples=12)
    return [folder / name for name in ("perfect", "median", "uniform")]


def text(scores):
    """Write scores as JSON."""
    return json.dumps(document([(one, ()) for one in scores]))


def test_workers_change_nothing(runs):
    """Two processes give the scores of one, in the order of the runs."""
    found = score_runs(runs, workers=2)
    assert [one.model for one in found] == ["sim:perfect", "sim:median", "sim:uniform"]
    assert text(found) == text(score_runs(runs, workers=1)) == text(map(score, runs))


def test_what_is_done_is_told(runs):
    """The caller hears of every run scored, and with one worker of what is read."""
    told = []
    score_runs(runs[:2], workers=2, tell=told.append)
    assert told == ["scoring 2 runs, 2 at a time", "1 of 2 runs scored", "2 of 2 runs scored"]
    told.clear()
    score_runs(runs[:1], tell=told.append)
    assert told == [f"scoring 24 answers to 2 tasks in {runs[0]}"]


def test_errors_of_a_process_are_raised_here(runs, tmp_path):
    """What goes wrong in another process is raised as if it were this one."""
    with pytest.raises(StoreError, match="holds no run"):
        score_runs([runs[0], tmp_path / "nothing"], workers=2)
    with pytest.raises(InputError, match="alpha must lie"):
        score_runs(runs[:2], alpha=2.0, workers=2)


@pytest.mark.parametrize("workers", [1, 2])
def test_any_iterable_of_sizes_will_do(runs, workers):
    """Sizes that can be read once only, or not be sent to a process, are read before."""
    for sizes in ({5: 1, 2: 1}.keys(), (n for n in (2, 5))):
        found = score_runs(runs[:2], n=sizes, workers=workers)
        assert [one.n for one in found] == [(2, 5)] * 2


def test_one_path_is_no_list_of_runs(runs):
    """A path in place of a list is refused, and not read letter by letter."""
    for one in (runs[0], str(runs[0])):
        with pytest.raises(InputError, match="runs must be a list of"):
            score_runs(one)
        with pytest.raises(InputError, match="runs must be a list of"):
            report(one)


def test_an_interrupt_does_not_reach_the_processes():
    """Ctrl-C ends the parent alone, which ends the rest: they are in sessions of their own."""
    found = side_by_side.each(os.getsid, [0, 0], {}, workers=2)
    assert os.getsid(0) not in found


def test_a_process_that_dies_is_told():
    """When a process ends before its answer the caller is told what to do, and nothing hangs."""
    with pytest.raises(UnpredictabenchError, match="ended early: free memory"):
        side_by_side.each(os._exit, [3, 3], {}, workers=2)


@pytest.mark.parametrize("workers", [0, -1, True, 1.5, "two"])
def test_workers_are_counted_in_whole_numbers(workers, runs):
    """Whatever is no number of processes is an `InputError` that names workers."""
    with pytest.raises(InputError, match="workers must be a whole number of at least 1"):
        score_runs(runs, workers=workers)


@pytest.mark.parametrize(
    ("limit", "n_workers"), [("1", 1), ("2", 2), ("", 4), ("many", 4), ("0", 4)]
)
def test_workers_are_the_cores_that_are_allowed(limit, n_workers, monkeypatch):
    """By default there are as many processes as allowed cores, or as threads are allowed."""
    monkeypatch.setattr(side_by_side, "allowed_cores", lambda: 4)
    monkeypatch.setenv(side_by_side.THREADS, limit)
    assert side_by_side.usable_workers(None) == n_workers
    assert side_by_side.usable_workers(3) == 3


def test_a_script_needs_no_guard(runs, tmp_path):
    """A script that scores runs at its top level is run once."""
    file = tmp_path / "script.py"
    file.write_text(
        textwrap.dedent(f"""
            from unpredictabench.score import score_runs
            print([one.model for one in score_runs({[str(run) for run in runs[:2]]}, workers=2)])
        """),
        encoding="utf-8",
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, str(file)], capture_output=True, text=True, check=True, env=env
    )
    assert done.stdout == "['sim:perfect', 'sim:median']\n"
    assert done.stderr == ""


def test_a_server_answers_until_its_input_ends():
    """Results and exceptions are written back one after the other."""
    calls, answers = io.BytesIO(), io.BytesIO()
    pickle.dump((max, [1, 2], {}), calls)
    pickle.dump((max, [], {}), calls)
    calls.seek(0)
    working.serve(calls, answers)
    answers.seek(0)
    assert pickle.load(answers) == (True, 2)
    is_done, error = pickle.load(answers)
    assert (is_done, type(error)) == (False, ValueError)


@pytest.mark.parametrize("command", ["score", "compare", "report"])
def test_commands_take_workers_and_a_reading(command, runs, tmp_path):
    """`score`, `compare` and `report` give the same with one worker and two, under any reading."""
    form = {"report": "--csv"}.get(command, "--json")
    words = [command, *map(str, runs), "--reading", "strict"]
    words += [form, "-", "--no-published"] if command == "report" else [form]
    found = []
    for workers in ("1", "2"):
        done = CliRunner().invoke(group, [*words, "--workers", workers])
        assert done.exit_code == 0, done.output
        found.append(done.stdout)
    assert found[0] == found[1]


def test_quick_work_is_not_told(capsys, monkeypatch):
    """Off a terminal nothing is said of what is done within two seconds."""
    monkeypatch.setattr(progress, "is_terminal", lambda: False)
    monkeypatch.setattr(progress, "PATIENCE_S", 3600)
    with progress.teller() as tell:
        tell("reading")
    assert capsys.readouterr().err == ""


class Expired:
    """A timer that is over when it starts."""

    def __init__(self, _seconds, call):
        self.call, self.finished = call, threading.Event()

    def start(self):
        """Be over."""
        self.finished.set()
        self.call()

    def cancel(self):
        """Do nothing."""


def test_slow_work_is_told_in_lines(capsys, monkeypatch):
    """Off a terminal what takes longer is told in lines on standard error."""
    monkeypatch.setattr(progress, "is_terminal", lambda: False)
    monkeypatch.setattr(progress.threading, "Timer", Expired)
    with progress.teller() as tell:
        tell("reading")
        tell("scoring")
    assert capsys.readouterr() == ("", "reading\nscoring\n")


def test_a_terminal_shows_what_is_done(capsys, monkeypatch):
    """On a terminal words go to standard error, brackets and all, and none to standard output."""
    monkeypatch.setattr(progress, "is_terminal", lambda: True)
    with progress.teller() as tell:
        tell("scoring runs/[bold]")
    assert capsys.readouterr().out == ""


@pytest.fixture
def own(tmp_path):
    """Return a run on a suite of one's own, and the file of that suite."""
    file = tmp_path / "suite.json"
    file.write_text(json.dumps({"tasks": [DIE]}), encoding="utf-8")
    run = generate(load_suite(file), SimulatedClient("perfect"), tmp_path / "runs/die", n_samples=9)
    (run.path / "suite.json").unlink()  # as in a run that was imported
    return run.path, file


def test_a_suite_beside_the_run_is_found(own):
    """A run on a suite of one's own is scored and read by the ``suite.json`` above it."""
    path, file = own
    assert score(path).n_tasks == 1
    file.rename(path / "suite.json")
    assert score(path).n_tasks == 1
    for command in ("score", "extract", "diagnose"):
        done = CliRunner().invoke(group, [command, str(path)])
        assert done.exit_code == 0, done.output


@pytest.mark.parametrize(
    "other",
    [
        "no JSON",
        json.dumps({"tasks": [{**DIE, "question": "Roll another die."}]}),
        json.dumps(
            {"tasks": [DIE, {"id": "p", "question": "?", "law": {"program": {"source": ""}}}]}
        ),
        json.dumps({"tasks": [3]}),
        json.dumps([]),
    ],
)
def test_another_suite_beside_the_run_is_not_taken(own, other):
    """A file of another hash, or one that names a program, is left alone."""
    path, file = own
    file.write_text(other, encoding="utf-8")
    with pytest.raises(SuiteError, match="there is no suite"):
        score(path)


def test_programs_of_a_found_suite_are_not_run(own, tmp_path):
    """A ``suite.json`` that nobody named never runs a program."""
    path, file = own
    source = f"open({str(tmp_path / 'ran')!r}, 'w')\nprint(1)"
    task = {"id": "p", "question": "?", "law": {"program": {"source": source}}}
    file.write_text(json.dumps({"tasks": [task]}), encoding="utf-8")
    with pytest.raises(SuiteError):
        score(path)
    assert not (tmp_path / "ran").exists()
