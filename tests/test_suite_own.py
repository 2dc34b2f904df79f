"""Users' own suites: the schema, laws by samples and programs, and every way to get them wrong."""

from __future__ import annotations

import json

import numpy as np
import pytest

from unpredictabench.errors import SuiteError
from unpredictabench.targets import cache
from unpredictabench.tasks import load_suite
from unpredictabench.tasks.execution import Limits, run_many, run_once

DIE = {
    "id": "dice/fair",
    "question": "Roll a fair die.",
    "law": {"family": "discrete-uniform", "params": {"low": 1, "high": 6}},
}


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """Keep the cache inside the test."""
    monkeypatch.setenv(cache.FOLDER_VARIABLE, str(tmp_path / "cache"))


def write(tmp_path, *tasks, **fields):
    """Write a suite file and return its path."""
    path = tmp_path / "own.json"
    path.write_text(json.dumps({**fields, "tasks": list(tasks)}), encoding="utf-8")
    return path


def program(source, **fields):
    """Return a task whose law is what a program prints."""
    return {"id": "p", "question": "?", "law": {"program": {"source": source, **fields}}}


def test_defaults(tmp_path):
    """Id, question and law are enough."""
    suite = load_suite(write(tmp_path, DIE))
    (task,) = suite
    assert (suite.name, suite.version) == ("own", "1")
    assert (task.category, task.family, task.spread) == ("text-explicit", "discrete-uniform", None)
    assert task.prompt == "Roll a fair die.\n\nAnswer with the number alone and nothing else."
    assert task.target.ppf(0.5) == 3


def test_yaml_and_all_answer_kinds(tmp_path):
    """YAML reads like JSON; choices, orders and lines have nominal laws."""
    path = tmp_path / "own.yaml"
    path.write_text(
        """
name: three
version: 2
tasks:
  - id: coin
    question: Toss it.
    answer: {kind: choice, items: [heads, tails]}
    law: {nominal: {outcomes: [heads, tails], probabilities: [0.5, 0.5]}}
  - id: order
    question: Shuffle.
    category: shuffling
    answer: {kind: permutation, items: [a, b, c], instruction: Answer with a JSON array.}
    law: {permutation: {items: [a, b, c]}}
  - id: output
    question: Run it.
    answer: {kind: lines, items: [x, y]}
    law: {nominal: {outcomes: ["", "x\\ny"], probabilities: [0.25, 0.75]}}
""",
        encoding="utf-8",
    )
    suite = load_suite(path)
    assert (suite.name, suite.version) == ("three", "2")
    assert [task.category for task in suite] == ["real-world", "shuffling", "real-world"]
    assert suite["order"].target.outcomes[0] == (0, 1, 2)
    assert suite["output"].target.outcomes == ("", "x\ny")


@pytest.mark.parametrize("kind", ["json", "csv", "npy"])
def test_laws_by_samples(tmp_path, kind):
    """Samples come from JSON, CSV or NPY beside the suite, and are what the truth draws."""
    values = [0.5, 1.25, -3.0]
    path = tmp_path / f"draws.{kind}"
    if kind == "npy":
        np.save(path, np.array(values))
    elif kind == "csv":
        path.write_text("name,x\na,0.5\nb,1.25\nc,-3\n")
    else:
        path.write_text(json.dumps(values))
    given = {"file": path.name, **({"column": "x"} if kind == "csv" else {})}
    task = load_suite(write(tmp_path, {**DIE, "law": {"samples": given}}))["dice/fair"]
    assert task.truth(3).tolist() == values
    assert not task.target.is_exact


def test_laws_by_a_program(tmp_path):
    """A program is run once a draw; loading again reads the draws of the first time."""
    path = write(tmp_path, program("import random\nprint(random.gauss(0, 1))", runs=200))
    first, second = load_suite(path), load_suite(path)
    assert first["p"].truth(200).std() > 0.5
    assert (first["p"].truth(200) == second["p"].truth(200)).all()
    assert first.hash == second.hash


def test_programs_that_print_labels(tmp_path):
    """What a program prints may be labels, for a choice."""
    task = program("import random\nprint(random.choice(['on', 'off']))", runs=100)
    task["answer"] = {"kind": "choice", "items": ["on", "off"]}
    law = load_suite(write(tmp_path, task))["p"].target
    assert law.outcomes == ("off", "on")
    assert law.probabilities.sum() == pytest.approx(1)


def test_program_in_a_file(tmp_path):
    """A program may stand in a file beside the suite."""
    (tmp_path / "roll.py").write_text("import random\nprint(random.randint(1, 6))")
    task = {**DIE, "law": {"program": {"file": "roll.py", "runs": 100}}}
    law = load_suite(write(tmp_path, task))["dice/fair"].target
    assert law.contains(np.arange(1, 7)).all()


@pytest.mark.parametrize(
    ("task", "message"),
    [
        ({**DIE, "questions": "?"}, "task dice/fair: field 'questions' must be one of question"),
        ({"id": "x", "law": {}}, "task x: question must be given"),
        ({"question": "x", "law": {}}, "task 1: id must be given"),
        ({**DIE, "id": 7}, "task 1: id must be a text, got 7"),
        ("dice", "task 1: it must be a mapping"),
        ({**DIE, "category": "texts"}, "category must be one of text-"),
        ({**DIE, "spread": "spread"}, "spread must be one of spread_out"),
        ({**DIE, "answer": {"kind": "numbers"}}, "answer.kind must be one of number"),
        ({**DIE, "answer": {"knd": "number"}}, "field 'knd' must be one of kind"),
        ({**DIE, "answer": {"is_integer": 1}}, "answer.is_integer must be true or false"),
        ({**DIE, "answer": {"instruction": 7}}, "answer.instruction must be a sentence, or empty"),
        ({**DIE, "answer": {"kind": "choice"}}, "answer.items must be a list of different texts"),
        (
            {**DIE, "answer": {"kind": "choice", "items": ["a"]}},
            "law must be a law of labels where answer.kind is choice",
        ),
        (
            {**DIE, "law": {"permutation": {"items": ["a", "b"]}}},
            "law must be a law of numbers where answer.kind is number",
        ),
        (
            {
                **DIE,
                "answer": {"kind": "choice", "items": ["a"]},
                "law": {"nominal": {"outcomes": ["b"], "probabilities": [1]}},
            },
            "law must have outcomes among the items a, got 'b'",
        ),
        (
            {
                **DIE,
                "answer": {"kind": "permutation", "items": ["a", "b", "c"]},
                "law": {"permutation": {"items": ["a", "b"]}},
            },
            "law must have outcomes that are orders of the 3 items",
        ),
        (
            {**DIE, "law": {"family": "discreet-uniform", "params": {}}},
            "law.family must be the name of one, such as discrete-uniform",
        ),
        (
            {**DIE, "law": {"family": "poisson", "params": {"rate": -2}}},
            "law.poisson.rate must be a finite number above 0",
        ),
        (
            {**DIE, "law": {"samples": {"file": "none.csv"}}},
            "samples.file must be an existing file",
        ),
        ({**DIE, "law": {"samples": {"files": "x"}}}, "law.samples.files must be one of file"),
        (
            {**DIE, "law": {"samples": {"values": [1]}}},
            "samples.values must be a list of at least 2",
        ),
        ({**DIE, "law": {"program": {}}}, "program must hold either file or source"),
        ({**DIE, "law": {"program": {"source": " "}}}, "program.source must be the text"),
        ({**DIE, "law": {"program": {"source": "1", "runs": 3}}}, "program.runs must lie in"),
        (
            {**DIE, "law": {"program": {"source": "1", "runs": 200.5}}},
            "program.runs must be a whole number, got 200.5",
        ),
        ({**DIE, "id": "a\nb"}, "id must be one line"),
        ({**DIE, "id": " "}, "id must be one line"),
        ({**DIE, "support": "continuous"}, "support must be discrete, as the law is"),
        (
            {**DIE, "law": {"samples": {"values": [1, 2], "file": "x.csv"}}},
            "samples must hold either file or values",
        ),
        (
            {**DIE, "law": {"family": "normal", "params": {"mean": 10**400, "sd": 1}}},
            "law.normal.mean must be a finite number",
        ),
        (
            {
                **DIE,
                "answer": {"kind": "permutation", "items": ["a", "b"]},
                "law": {"permutation": {"items": ["b", "a"]}},
            },
            "law.permutation.items must be those of the answer, in order",
        ),
    ],
)
def test_errors_name_file_task_and_field(tmp_path, task, message):
    """The message starts with the file and holds task, field, rule and value."""
    path = write(tmp_path, task)
    with pytest.raises(SuiteError) as caught:
        load_suite(path)
    assert str(caught.value).startswith(str(path))
    assert message in str(caught.value)


def test_errors_of_whole_files(tmp_path):
    """A broken, empty or double suite is named too."""
    with pytest.raises(SuiteError, match="tasks must be a list of at least one task"):
        load_suite(write(tmp_path))
    with pytest.raises(SuiteError, match="id must differ from all others, got 'dice/fair'"):
        load_suite(write(tmp_path, DIE, DIE))
    broken = tmp_path / "broken.yaml"
    broken.write_text("tasks: [")
    with pytest.raises(SuiteError, match="is not JSON or YAML"):
        load_suite(broken)
    with pytest.raises(SuiteError, match=r"no suite and no file .*nearest names are.* broken.yaml"):
        load_suite(tmp_path / "brken.yaml")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("d.csv", "a,b\n1,2\n", "several columns: samples.column must name one"),
        ("d.csv", "1\ninf\n", "not finite"),
        ("d.json", "{}", "it must hold a JSON list"),
        ("d.json", "[", "cannot be read"),
        ("d.npy", "junk", "cannot be read"),
        ("d.npy", "", "cannot be read"),
        ("d.json", "[" * 100_000, "cannot be read"),
        ("d.csv", "1" * 200_000, "cannot be read"),
        ("d.txt", "1", "must end in .json, .csv or .npy"),
    ],
)
def test_errors_of_sample_files(tmp_path, name, text, message):
    """A sample file that cannot be used says why."""
    (tmp_path / name).write_text(text)
    with pytest.raises(SuiteError, match=message):
        load_suite(write(tmp_path, {**DIE, "law": {"samples": {"file": name}}}))


def test_a_short_row_of_samples_is_named(tmp_path):
    """A row that ends before the column asked for is an error, not a missing value."""
    (tmp_path / "d.csv").write_text("x,y\n1,2\n3\n")
    task = {**DIE, "law": {"samples": {"file": "d.csv", "column": "y"}}}
    with pytest.raises(SuiteError, match="a row without a value in the column 'y'"):
        load_suite(write(tmp_path, task))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.json", '{"tasks": [], "tasks": []}', "field 'tasks' stands twice"),
        ("a.yaml", "tasks: []\ntasks: []", "field 'tasks' stands twice"),
        ("a.yaml", "tasks: &a [*a]", "is not JSON or YAML"),
        ("a.json", '{"tasks": ["\\ud800"]}', "is not JSON or YAML|cannot be read"),
        ("a.json", "[" * 100_000, "is not JSON or YAML"),
        ("a.json", '{"name": [1], "tasks": [1]}', "task 1|name must be a text"),
    ],
)
def test_files_that_are_no_plain_data(tmp_path, name, text, message):
    """What hides a field, holds itself or cannot be written as UTF-8 is an error of the file."""
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(SuiteError, match=message):
        load_suite(path)


def test_a_program_file_that_is_no_text_is_named(tmp_path):
    """Bytes that are not UTF-8 are an error that names the file."""
    (tmp_path / "p.py").write_bytes(b"\xff\xfe")
    with pytest.raises(SuiteError, match=r"p\.py cannot be read"):
        load_suite(write(tmp_path, {**DIE, "law": {"program": {"file": "p.py"}}}))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            """
import os
for n in range(3, 9):
    try:
        os.write(n, b"?")
    except OSError:
        pass
""",
            "disturbed",
        ),
        ("import json\njson.dumps = lambda x: '?'", "disturbed"),
        (
            """
import os, pathlib
flag = pathlib.Path(FLAG)
if not flag.exists():
    flag.touch()
    os.fork()
""",
            "second process",
        ),
    ],
)
def test_programs_that_meddle_with_their_runner(tmp_path, source, message):
    """A broken report, and one that two processes wrote, are errors and not results."""
    with pytest.raises(SuiteError, match=message):
        run_many(source.replace("FLAG", repr(str(tmp_path / "flag"))), 50)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("while True: pass", "took longer than 1 s"),
        ("import os, time\nos.close(1)\ntime.sleep(60)", "took longer than 1 s"),
        ("import subprocess\nsubprocess.run(['sleep', '60'])", "took longer than 1 s"),
        ("print('x' * 10**6)", "printed more than 10000"),
        ("while True: print('x')", "printed more than 10000"),
        ("1 / 0", "ZeroDivisionError"),
        ("import sys\nsys.exit(3)", "exit status 3"),
        ("a b", "SyntaxError"),
    ],
)
def test_unruly_programs_are_ended(source, message):
    """A program that fails, never ends or prints too much is ended and named, both ways to run."""
    limits = Limits(timeout_s=1)
    with pytest.raises(SuiteError, match=message):
        run_many(source, 3, limits=limits)
    with pytest.raises(SuiteError, match=message):
        run_once(source, limits=limits)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("import os\nos._exit(0)", "ended its process in run 1"),
        ("x = bytearray(10**9)", "MemoryError"),
    ],
)
def test_processes_that_end_or_swell(source, message):
    """A process that ends itself or takes too much memory is named."""
    with pytest.raises(SuiteError, match=message):
        run_many(source, 3, limits=Limits(memory_mb=512))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("", "program.source must be the text"),
        ("x = 1", "the program printed nothing"),
        ("print(float('nan'))", "printed a number that is not finite"),
        (
            "import random\nprint('ok' if random.random() < 0.1 else 1)",
            "printed 'ok' where other runs printed a number",
        ),
        ("print('word')", "law must be a law of numbers"),
    ],
)
def test_programs_that_print_garbage(tmp_path, source, message):
    """What cannot be read as observations is shown, and nothing is left in the cache."""
    with pytest.raises(SuiteError, match=message):
        load_suite(write(tmp_path, program(source, runs=300)))
    if "word" not in source:
        assert not list((tmp_path / "cache").rglob("*.npy"))


def test_runs_do_not_see_each_other():
    """Every run has a fresh namespace, and what it prints is its own."""
    source = "try:\n    seen += 1\nexcept NameError:\n    seen = 0\nprint(seen)"
    assert run_many(source, 3) == ("0\n", "0\n", "0\n")


def test_a_program_runs_as_main_without_input():
    """A program is `__main__`, and its standard input is empty."""
    source = "import sys\nprint(__name__, repr(sys.stdin.read()))"
    assert run_once(source) == "__main__ ''\n"
    assert run_many("print(__name__)", 1) == ("__main__\n",)
