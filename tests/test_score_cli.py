"""The commands that print scores: tables a newcomer understands, and JSON without NaN."""

from __future__ import annotations

import inspect
import json

import pytest
from click.testing import CliRunner

import unpredictabench
from unpredictabench import SimulatedClient, generate, load_suite, score
from unpredictabench.cli import group
from unpredictabench.cli.compare import command as compare_command
from unpredictabench.cli.report import command as report_command
from unpredictabench.cli.score import command as score_command
from unpredictabench.errors import SuiteError
from unpredictabench.score import baselines_of, score_records

RULES = {"alpha", "protocol", "mode", "margin"}

pytestmark = pytest.mark.usefixtures("own_cache")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Return the folders of two small stored runs: a perfect model and a constant one."""
    folder, suite = tmp_path_factory.mktemp("runs"), load_suite("v1")
    for name in ("perfect", "median"):
        generate(suite, SimulatedClient(name), folder / name, n_samples=20, limit_tasks=3)
    return [folder / "perfect", folder / "median"]


def call(*words, columns="120"):
    """Call the command line and return what it printed."""
    result = CliRunner().invoke(group, [str(w) for w in words], env={"COLUMNS": columns})
    assert result.exit_code == 0, result.output
    return result.stdout


def test_score_is_a_function_and_a_module(runs):
    """`score(run)` scores a stored run, and `score.score_records` is in the same name."""
    found = score(runs[0])
    assert score.score_records is score_records
    assert found.model == "sim:perfect"
    assert found.suite_hash == load_suite("v1").hash
    assert unpredictabench.score is score


def test_json_has_the_shape_of_the_contract(runs):
    """The JSON holds suite, rules, runs, categories, tasks and baselines, and no NaN."""
    text = call("score", *runs, "--json")
    assert "NaN" not in text
    found = json.loads(text)
    assert (found["suite"], found["alpha"], found["protocol"]) == ("v1", 1e-4, "strict")
    run = found["runs"][0]
    assert run["n_tasks"] == 21
    rate = run["ks_at_n"]["20"]
    assert set(rate) >= {
        "estimate", "low", "high", "standard_error", "interval_method", "estimand", "reason",
        "n_tasks",
    }  # fmt: skip
    assert rate["estimate"] == 1.0
    assert run["ks_at_n"]["100"]["estimate"] is None
    assert run["ks_at_n"]["100"]["reason"]
    assert set(run["categories"]["text-explicit"]) >= {"ks_at_n", "jsd", "wdz"}
    assert set(run["n_star"]) >= {"median", "low", "high"}
    task = run["tasks"][0]
    assert set(task) >= {
        "task", "n_valid", "n_invalid", "method", "statistic", "pvalue", "pass", "pass_rate",
        "diagnosis",
    }  # fmt: skip
    names = {row["name"] for row in found["baselines"]}
    assert names >= {"perfect", "median", "kpoint:3", "kpoint:5", "uniform"}
    assert found["runs"][1]["is_below_median"]["20"] in {True, False}


def test_the_table_says_what_the_headline_means(runs):
    """The table ends with the headline in words beside its baselines."""
    text = " ".join(call("score", runs[0]).split())
    assert "KS@20 = 1.00 [" in text
    assert "on 100% of tasks 20 answers cannot be told from true draws at alpha 0.0001" in text
    assert "a perfect sampler scores 1.00, always the median scores" in text
    assert "shuffling" in text


def test_narrow_terminals_show_the_headline_alone(runs):
    """At 60 columns no line is longer than the terminal, and only the largest N is shown."""
    text = call("score", runs[0], columns="60")
    assert max(map(len, text.splitlines())) <= 60
    assert "KS@20" in text
    assert "KS@5 " not in text


def test_a_model_below_the_constant_median_is_marked(runs, monkeypatch):
    """A score below that of always giving the median is marked in the table and in words."""
    monkeypatch.setattr("unpredictabench.cli._tables.is_below_median", lambda *_: True)
    text = call("score", runs[1])
    assert "below median" in text
    assert "Below a model that always gives the median" in text


def test_sizes_protocol_and_baselines_are_options(runs):
    """N, protocol and baselines are chosen on the command line."""
    text = call("score", runs[1], "-n", 10, "--protocol", "paper", "--no-baselines")
    assert "KS@10" in text
    assert "strict KS@10" in text
    assert "perfect sampler" not in text


def test_compare_prints_ranks_and_differences(runs):
    """The comparison names the ranks, the paired interval and the corrected p-value."""
    text = call("compare", *runs)
    assert "KS@20 on 21 shared tasks" in text
    assert "Holm p" in text
    found = json.loads(call("compare", *runs, "--json"))
    assert found["pairs"][0]["difference"] > 0


def test_baselines_do_not_depend_on_the_run(runs):
    """Baselines of two runs on the same tasks are the same rows."""
    rows = [baselines_of(run, score(run)) for run in runs]
    shown = [{row.name: row.ks_at_n[20].estimate for row in each} for each in rows]
    shared = set(shown[0]) & set(shown[1])
    assert {name: shown[0][name] for name in shared} == {name: shown[1][name] for name in shared}


def test_a_run_of_another_suite_is_refused(runs):
    """A run is scored only on the suite it was made with."""
    with pytest.raises(SuiteError, match="was made with another v1"):
        score(runs[0], suite=load_suite("v1", variant=3))


def test_an_incomplete_run_says_so(tmp_path):
    """A run that a budget stopped is scored over all its tasks, and says what is missing."""
    suite = load_suite("v1")
    run = generate(
        suite, SimulatedClient("perfect"), tmp_path / "part", n_samples=10, limit_tasks=1,
        budget=unpredictabench.generate.Budget(max_requests=30),
    )  # fmt: skip
    found = score(run)
    assert found.n_tasks == 7
    assert any("are missing" in note for note in found.notes)
    assert found.ks_at_n[10].n_covered < 7


def test_numbers_stay_whole_on_narrow_terminals(runs):
    """At 40 columns names are folded and no number is cut."""
    for words in (
        ("score", runs[0]),
        ("score", runs[0], "--protocol", "valid"),
        ("compare", *runs),
    ):
        text = call(*words, columns="40")
        assert "\N{HORIZONTAL ELLIPSIS}" not in text
        assert max(map(len, text.splitlines())) <= 40


def test_sizes_beyond_the_answers_have_no_score(runs):
    """A size that no task has answers for is said to be beyond them, in words and in JSON."""
    text = " ".join(call("score", runs[0], "-n", 1000).split())
    assert "No task has 1,000 answers: there are at most 20 to a task." in text
    found = json.loads(call("score", runs[0], "-n", 1000, "--json"))
    assert found["runs"][0]["ks_at_n"]["1000"]["reason"] == "no task has enough answers"
    assert found["baselines"][0]["ks_at_n"]["1000"]["estimate"] is None


def test_invalid_answers_are_told_in_words(tmp_path):
    """The table says how many answers are invalid, of which kind, and what they count for."""
    generate(
        load_suite("v1"), SimulatedClient("refusing:1"), tmp_path / "run", n_samples=12,
        limit_tasks=1,
    )  # fmt: skip
    text = " ".join(call("score", tmp_path / "run").split())
    assert "84 of 84 answers are invalid and count against the model: refusal 84." in text
    assert "Half of the tasks fail with any number of answers (median N* = 0)." in text
    text = " ".join(call("score", tmp_path / "run", "--protocol", "valid").split())
    assert "No task has 1 valid answer. 84 of 84 answers are invalid and are left out" in text
    found = CliRunner().invoke(
        group, ["compare", *[str(tmp_path / "run")] * 2, "--protocol", "valid"]
    )
    assert found.exit_code != 0
    assert "up to 0" in str(found.exception or found.output)


def test_compare_reads_answers_as_told(runs):
    """Runs are compared under either reading; plain numbers are the same in both."""
    strict, lenient = (
        call("compare", *runs, "--json", "--reading", mode) for mode in ("strict", "lenient")
    )
    assert strict == lenient


@pytest.mark.parametrize(("stop", "shown"), [("curtail", "KS@50 = 0.00"), ("evalue", "stopped")])
def test_runs_of_which_every_task_was_stopped_are_printed(tmp_path, stop, shown):
    """Where every task was stopped the table has the certain failures, or says there is none."""
    call(
        "run", "sim:median", "--category", "text-explicit", "--limit-tasks", 1, "--samples", 50,
        "--stop", stop, "-o", tmp_path / "run",
    )  # fmt: skip
    for protocol in ("strict", "valid", "paper"):
        assert "tasks were stopped" in call("score", tmp_path / "run", "--protocol", protocol)
    text = call("score", tmp_path / "run")
    assert shown in text
    assert stop != "curtail" or "a perfect sampler scores 1.00" in " ".join(text.split())


@pytest.mark.parametrize("command", [score_command, report_command, compare_command])
def test_defaults_of_the_command_line_are_those_of_the_functions(command):
    """Rules of a score that nobody chose are the same in a shell and in a script."""
    parameters = inspect.signature(score_records).parameters
    by_command = {option.name: option.default for option in command.params if option.name in RULES}
    assert by_command == {name: parameters[name].default for name in by_command}
    assert len(by_command) >= 3
