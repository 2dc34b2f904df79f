"""Plain tables of answers, and the command that imports them."""

from __future__ import annotations

import csv
import json

import pytest
from click.testing import CliRunner

from unpredictabench.cli import group
from unpredictabench.clients import SimulatedClient
from unpredictabench.errors import InputError
from unpredictabench.generate import generate
from unpredictabench.integrations import import_path
from unpredictabench.integrations.filing import RunKey
from unpredictabench.integrations.tables import written
from unpredictabench.store import export_run, open_run
from unpredictabench.tasks import load_suite

TASK, OTHER = "text-explicit/poisson/spread_out", "text-explicit/normal/spread_out"
ROWS = [
    {"task": TASK, "model": "a/b", "answer": "18", "temperature": 1.0},
    {"task": TASK, "model": "a/b", "answer": "I say 20.", "temperature": 1.0},
    {"task": OTHER, "model": "a/b", "answer": "0.5\n", "temperature": 1.0},
]


def as_csv(path, rows):
    """Write rows as CSV."""
    with path.with_suffix(".csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def as_json(path, rows):
    """Write rows as a JSON list."""
    path.with_suffix(".json").write_text(json.dumps(rows))


def as_lines(path, rows):
    """Write rows as JSON lines."""
    path.with_suffix(".jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def as_parquet(path, rows):
    """Write rows as Parquet."""
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(pa.Table.from_pylist(rows), path.with_suffix(".parquet"))


def texts(run, task=TASK):
    """Return the stored texts of a task by slot."""
    return {each.index: each.text for each in open_run(run.path).completions(task)}


def imported(tmp_path, rows, form=as_lines, **how):
    """Write rows as a table and import it."""
    source = tmp_path / "source"
    source.mkdir()
    form(source / "table", rows)
    return import_path(source, tmp_path / "out", **how)


@pytest.mark.parametrize("form", [as_csv, as_json, as_lines, as_parquet])
def test_every_form_of_a_table_gives_the_same_run(tmp_path, form):
    """CSV, JSON, JSON lines and Parquet are filed alike, each answer verbatim."""
    done = imported(tmp_path, ROWS, form)
    (run,) = done.runs
    assert texts(run) == {0: "18", 1: "I say 20."}
    assert texts(run, OTHER) == {0: "0.5\n"}
    settings = open_run(run.path).settings
    assert (settings.model, settings.parameters) == ("a/b", {"temperature": 1.0})
    assert settings.suite_hash == load_suite("v1").hash
    assert done.tally["read"] == {"answers": 3}


def test_models_and_temperatures_are_runs_of_their_own(tmp_path):
    """Each model at each temperature has a folder; none at all is a run too."""
    rows = [
        {"task": TASK, "model": model, "value": 7, "temperature": temperature}
        for model in ("a", "A", "b")
        for temperature in (1, 0.5, None)
    ]
    done = imported(tmp_path, rows)
    assert len({run.path.name.lower() for run in done.runs}) == 9
    assert {texts(run)[0] for run in done.runs} == {"7"}


def test_prompts_stand_for_tasks(tmp_path):
    """A row may hold the whole prompt in place of the id; blanks do not matter."""
    prompt = load_suite("v1")[TASK].prompt.replace("\n\n", "\n")
    done = imported(tmp_path, [{"prompt": prompt, "value": 7.0}], model="m")
    assert texts(done.runs[0]) == {0: "7"}


def test_indices_are_slots_and_the_rest_follows(tmp_path):
    """Given numbers are kept; rows without one take the next slot."""
    rows = [{"task": TASK, "value": value, "index": index} for value, index in
            [(1, 4), (2, None), (3, 0), (4, None)]]  # fmt: skip
    done = imported(tmp_path, rows, model="m")
    assert texts(done.runs[0]) == {4: "1", 5: "2", 0: "3", 6: "4"}
    assert done.runs[0].n_missing == 3


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({"task": "text-explicit/poisson/spread", "value": 1}, f"the nearest are {TASK}"),
        ({"prompt": "Who are you?", "value": 1}, "whose prompt is none of the suite's"),
        ({"task": TASK}, "without answer or value"),
        ({"task": TASK, "value": 1, "model": None}, "without a model"),
        ({"task": TASK, "value": 1, "temperature": "hot"}, "temperature is not a number"),
        ({"task": TASK, "value": 1, "temperature": -1}, "temperature is below 0"),
        ({"task": TASK, "value": 1, "index": 0.5}, "index is not a whole number"),
        ({"task": TASK, "value": 1, "index": 10**12}, "index is not a whole number"),
        ({"task": TASK, "value": 2, "index": 0}, "another answer to a slot"),
        ([1], "not an object"),
    ],
)
def test_bad_rows_are_refused_with_a_reason(tmp_path, row, why):
    """Each bad row is counted under its reason, and the good row stays."""
    named = {"model": "m"} | row if isinstance(row, dict) else row
    done = imported(tmp_path, [{"task": TASK, "model": "m", "value": 1, "index": 0}, named])
    (reason,) = done.tally["refused"]
    assert why in reason
    assert [run.n_stored for run in done.runs] == [1]


def test_damaged_lines_and_cut_files_cost_only_themselves(tmp_path):
    """A line that is no JSON, cells too many and half a Parquet file are counted."""
    as_lines(tmp_path / "a", ROWS[:1])
    with (tmp_path / "a.jsonl").open("a") as file:
        file.write("{broken\n" + "[" * 100_000 + "\n" + json.dumps(ROWS[1]))
    (tmp_path / "b.csv").write_text(f"task;model;answer\n{TASK};a/b;9;extra\n{TASK};a/b;10\n")
    as_parquet(tmp_path / "c", ROWS)
    content = (tmp_path / "c.parquet").read_bytes()
    (tmp_path / "c.parquet").write_bytes(content[: len(content) // 2])
    done = import_path(tmp_path, tmp_path / "out")
    assert sum(run.n_stored for run in done.runs) == 3
    reasons = " ".join(done.tally["refused"])
    for why in ("not JSON", "nested too deeply", "more cells", "not whole Parquet"):
        assert why in reasons


def test_cells_become_the_text_an_answer_would_have():
    """Whole floats lose their point, lists are JSON, texts stay as they are."""
    assert [written(value) for value in (3, 3.0, 0.25, 1e300, True, " x ", ["a"], None)] == [
        "3", "3", "0.25", "1e+300", "true", " x ", '["a"]', None,
    ]  # fmt: skip


def test_folder_names_are_safe():
    """No label leads out of the folder or is empty."""
    names = [RunKey(label, 1.0).folder for label in ("../../x", "a/b", "..", "é", "x" * 500)]
    assert names[:2] == ["x-temperature-1", "a_b-temperature-1"]
    assert all("/" not in name and not name.startswith(".") and name for name in names)
    assert max(map(len, names)) <= 120


def test_exported_runs_come_back(tmp_path):
    """A file written by export_run becomes the same run."""
    suite = load_suite("v1").select(ids=[TASK])
    run = generate(suite, SimulatedClient("perfect"), tmp_path / "run", n_samples=3)
    for name in ("run.jsonl", "run.parquet"):
        export_run(run, tmp_path / name)
        done = import_path(tmp_path / name, tmp_path / f"out-{name}")
        back = open_run(done.runs[0].path)
        assert list(back.completions()) == list(run.completions())
        assert done.kind == "export"


def test_nothing_that_can_be_imported_is_an_error(tmp_path):
    """The message names what was looked for and what was found."""
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(InputError, match="results tree.*ends in .txt'"):
        import_path(tmp_path, tmp_path / "out")


def test_the_command_prints_the_account(tmp_path):
    """Text names counts and reasons; JSON holds the same; refusals give exit code 1."""
    as_lines(tmp_path / "t", [*ROWS, ROWS[0] | {"task": "nothing/like/it"}])
    words = ["import", str(tmp_path / "t.jsonl"), "-o", str(tmp_path / "out")]
    told = CliRunner().invoke(group, words)
    assert told.exit_code == 1
    assert "3 answers (3 new)" in told.output
    assert "Refused: 1 x row of the unknown task" in told.output
    data = json.loads(CliRunner().invoke(group, [*words, "--json"]).output)
    assert data["read"] == {"answers": 3}
    assert data["runs"][0]["n_new"] == 0
    assert not data["is_complete"]


def test_the_command_succeeds_when_nothing_was_refused(tmp_path):
    """A clean table gives exit code 0."""
    as_lines(tmp_path / "t", ROWS)
    words = ["import", str(tmp_path / "t.jsonl"), "-o", str(tmp_path / "out")]
    assert CliRunner().invoke(group, words).exit_code == 0
