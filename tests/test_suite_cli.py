"""The command ``unpredictabench tasks``."""

from __future__ import annotations

import json
import uuid

import pytest
from click.testing import CliRunner

from unpredictabench.cli.tasks import command
from unpredictabench.errors import OutputError, SuiteError
from unpredictabench.tasks import load_suite
from unpredictabench.tasks.export import published_rows, rows


def run(*arguments):
    """Run the command and return what it printed."""
    result = CliRunner().invoke(command, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_list():
    """One line a task, then the count; JSON has the hash."""
    lines = run("list", "--category", "multimodal", "--support", "mixed").splitlines()
    assert lines[-1] == "4 tasks of v1 1.0.0"
    assert lines[0].split() == ["multimodal/compound-poisson/concentrated", "number", "mixed"]
    data = json.loads(run("list", "--family", "poisson", "--json"))
    assert data["hash"] == load_suite().hash
    assert len(data["tasks"]) == 10


def test_show():
    """The prompt, the law and the reason are shown; JSON has them too."""
    name = "text-explicit/poisson/spread_out"
    task = load_suite()[name]
    text = run("show", name)
    assert task.prompt in text
    assert task.rationale in text
    assert '"rate": 18' in text
    (shown,) = json.loads(run("show", name, "--json"))
    assert shown["prompt"] == task.prompt
    assert shown["law"] == task.target.spec


def test_show_of_a_variant():
    """A variant is shown by its seed."""
    name = "text-explicit/poisson/spread_out"
    assert load_suite(variant=4)[name].prompt in run("show", name, "--variant", "4")


def test_export_to_json_loads_again(tmp_path):
    """The JSON export is a suite file."""
    path = tmp_path / "some.json"
    assert "wrote 20 tasks" in run("export", str(path), "--category", "shuffling")
    assert load_suite(path).ids == load_suite().select(category="shuffling").ids


def test_export_to_parquet(tmp_path):
    """The Parquet export holds the flat rows."""
    import pyarrow.parquet as pq

    path = tmp_path / "some.parquet"
    run("export", str(path))
    assert pq.read_table(path).to_pylist() == rows(load_suite())


def test_export_in_the_published_layout(tmp_path):
    """Rows have the published fields, unique uids made by the published rule, and the prompts."""
    path = tmp_path / "questions.json"
    run("export", str(path), "--format", "published")
    data = json.loads(path.read_text(encoding="utf-8"))
    assert data == published_rows(load_suite())
    assert len({row["uid"] for row in data}) == 448
    assert set(data[0]) == {
        "task", "uid", "id", "category", "subcategory", "prompt_title", "prompt_text",
    }  # fmt: skip
    folders = {row["task"] for row in data}
    assert len(folders) == 12
    assert "textual_multimodal_explicit_spread_out" in folders
    assert all(uuid.UUID(row["uid"]).version == 5 for row in data)
    assert [row["prompt_text"] for row in data] == [task.prompt for task in load_suite()]


@pytest.mark.parametrize("words", [("export",), ("build", "-o")])
def test_a_path_that_cannot_be_written_is_named(tmp_path, words):
    """A file where a folder must be is an error that names the path, for building too."""
    (tmp_path / "none").touch()
    with pytest.raises(OutputError, match="none/x.json cannot be written"):
        run(*words, str(tmp_path / "none" / "x.json"))


def test_an_audit_of_nothing_is_no_success():
    """Filters that leave no task to check end in an error."""
    with pytest.raises(SuiteError, match="nothing was checked"):
        run("audit", "--category", "shuffling", "--family", "poisson")


def test_build(tmp_path):
    """Building writes the frozen bytes again."""
    path = tmp_path / "v1.json"
    assert run("build", "-o", str(path)) == "v1 built again, byte for byte\n"
    assert load_suite(path).hash == load_suite().hash


def test_audit():
    """The audit prints a line a check, and fails when something is wrong."""
    text = run("audit", "--family", "poisson", "--check", "quantiles", "--check", "moments")
    assert text == "quantiles: 10 of 10 right\nmoments: 10 of 10 right\n"
    findings = json.loads(run("audit", "--category", "shuffling", "--check", "truths", "--json"))
    assert len(findings) == 20
    assert all(finding["is_right"] for finding in findings)


def test_audit_of_a_wrong_suite(tmp_path):
    """A program that does not follow its law is printed, and the exit says so."""
    path = tmp_path / "own.json"
    law = {"family": "uniform", "params": {"low": 0, "high": 1}}
    task = {"id": "t", "question": "?", "law": law, "program": "print(2)"}
    path.write_text(json.dumps({"tasks": [task]}))
    with pytest.raises(SuiteError, match="1 of 1 checks failed"):
        run("audit", "--suite", str(path), "--check", "programs", "--runs", "50")
