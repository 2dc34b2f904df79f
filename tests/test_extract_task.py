"""Reading completions as their tasks ask: kinds, batches, ledgers and the command."""

from __future__ import annotations

import json
from dataclasses import dataclass
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from unpredictabench.cli import extract as command
from unpredictabench.errors import StoreError
from unpredictabench.extract import extract, ledger
from unpredictabench.records import Answer, Completion, Task


@dataclass(frozen=True)
class Law:
    """A target that is never drawn from."""

    support: str = "discrete"


def task(kind, items=(), **how):
    """Return a task whose answer is of a kind."""
    answer = Answer(kind, "Answer.", tuple(items), **how)
    return Task("t", "text-explicit", "x", None, "?", answer, Law())


NUMBER = task("number")


def values(text, n_asked, of=NUMBER, **how):
    """Return the values of a batch."""
    found = extract(Completion("t", 0, text, n_asked=n_asked, **how), of)
    assert [one.position for one in found] == list(range(n_asked))
    assert all(text[slice(*one.span)] for one in found if one.span)
    return [one.value for one in found]


@pytest.mark.parametrize(
    ("of", "text", "value"),
    [
        (NUMBER, "7.5", 7.5),
        (task("permutation", ["a", "b"]), '["b", "a"]', (1, 0)),
        (task("choice", ["red", "blue"]), "Blue.", "blue"),
        (task("lines", ["x", "y"]), "x\ny\n", "x\ny"),
    ],
)
def test_the_answer_decides_what_is_read(of, text, value):
    """Each kind of answer is read by its own rules."""
    (found,) = extract(Completion("t", 0, text), of)
    assert found.value == value


def test_a_reply_without_choice_is_an_error():
    """No choice at all is "error"; a choice without text is "empty"."""
    none = extract(Completion("t", 0, None, status="no_choice", n_asked=2), NUMBER)
    assert [(one.status, one.position) for one in none] == [("error", 0), ("error", 1)]
    (empty,) = extract(Completion("t", 0, None, status="empty_content"), NUMBER)
    assert empty.status == "empty"


@pytest.mark.parametrize(
    "text",
    [
        "[1.5, 2, 3]",
        "```json\n[1.5, 2, 3]\n```",
        "1.5\n2\n3",
        "1. 1.5\n2. 2\n3. 3",
        "Here are three numbers:\n1) 1.5\n2) 2\n3) 3\nEnjoy!",
        "1.5, 2, 3",
        "1.5 2 3",
        "Let me think [about it].\nAnswer: [1.5, 2, 3]",
    ],
)
def test_batches_of_numbers_keep_their_order(text):
    """Several numbers are read in order from every usual layout."""
    assert values(text, 3) == [1.5, 2, 3]


def test_batches_of_other_kinds_are_read():
    """Arrays of orders, labels and printed lines are read element by element."""
    order = task("permutation", ["a", "b"])
    assert values('[["b", "a"], ["a", "b"]]', 2, order) == [(1, 0), (0, 1)]
    assert values('["red", "blue"]', 2, task("choice", ["red", "blue"])) == ["red", "blue"]
    lines = task("lines", ["x", "y"])
    found = extract(Completion("t", 0, '["x\\ny", "", "y"]', n_asked=3), lines)
    assert [one.value for one in found] == ["x\ny", "", "y"]


def test_missing_and_further_positions_are_accounted_for():
    """A short batch is filled with "empty", a cut one with "truncated", a long one is cut."""
    short = extract(Completion("t", 0, "[1, 2]", n_asked=4), NUMBER)
    assert [one.status for one in short] == ["valid", "valid", "empty", "empty"]
    cut = extract(Completion("t", 0, "[1, 2, 3", n_asked=4, finish_reason="length"), NUMBER)
    assert [one.status for one in cut] == ["valid", "valid", "truncated", "truncated"]
    long = extract(Completion("t", 0, "[1, 2, 3]", n_asked=2), NUMBER)
    assert [one.value for one in long] == [1, 2]
    assert all("first 2 of 3" in one.reason for one in long)


@pytest.mark.parametrize("text", ["1,2,3", "1, 2, 3", "[1,2,3]", "1\n2\n3"])
def test_ext_list_is_not_thousands(text):
    """Where three numbers were asked for, a list gives three (ext-list-is-not-thousands)."""
    assert values(text, 3) == [1, 2, 3]


def test_an_invalid_position_does_not_shift_the_others():
    """An element without a value keeps its place."""
    assert values('[1, true, "x", 4]', 4) == [1, None, None, 4]


def test_thoughts_are_never_read():
    """What stands between thinking tags is skipped, and an open thought is no answer."""
    text = "<think>\nThe number could be 5.\n</think>\n\n7"
    (found,) = extract(Completion("t", 0, text), NUMBER)
    assert found.value == 7
    assert text[slice(*found.span)] == "7"
    (found,) = extract(Completion("t", 0, "so 5</think>7"), NUMBER)
    assert found.value == 7
    (found,) = extract(Completion("t", 0, "<think>It is 5.", finish_reason="length"), NUMBER)
    assert (found.value, found.status) == (None, "truncated")


def stored(*texts):
    """Return completions with these texts."""
    return [Completion("t", at, text) for at, text in enumerate(texts)]


def test_a_ledger_tells_what_changed():
    """Only observations that both ledgers hold and read differently are changes."""
    rows = [ledger.to_line(*one) for one in ledger.readings(stored("7", "no", "8"), {"t": NUMBER})]
    old = [row.replace("7.0", "6.0").replace('"version": "1"', '"version": "0"') for row in rows]
    found = ledger.changes(old[:-2], rows)
    assert {(one.index, one.reading, one.before, one.after) for one in found} == {
        (0, "strict", "6.0", "7.0"),
        (0, "lenient", "6.0", "7.0"),
    }
    assert ledger.version_of(old) == "0"
    assert ledger.version_of([]) is None


def test_a_task_outside_the_suite_is_refused():
    """An answer to a task that the suite does not hold is an error that names it."""
    with pytest.raises(StoreError, match="'t'"):
        list(ledger.readings(stored("7"), {}))


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Stand in for a stored run: the store and the suite have tests of their own."""
    opened = SimpleNamespace(
        path=tmp_path,
        settings=SimpleNamespace(suite="v1"),
        completions=lambda: iter(stored("7", "It is 8.", "I cannot.", "[1, 2]")),
    )
    monkeypatch.setattr("unpredictabench.store.open_run", lambda _: opened)
    monkeypatch.setattr("unpredictabench.score.suites.suite_of", lambda _: [NUMBER])
    return tmp_path


def test_the_command_counts_and_compares(run):
    """The command prints counts by class, keeps the readings, and prints what changed since."""
    first = CliRunner().invoke(command.command, [str(run)], catch_exceptions=False)
    assert "lenient: 1 refusal, 1 several, 2 valid" in first.output
    assert "strict: 1 off-form, 1 refusal, 1 several, 1 valid" in first.output
    file = run / ledger.FILE_NAME
    file.write_text(file.read_text().replace("8.0", "9.0"))
    second = CliRunner().invoke(command.command, [str(run), "--json"], catch_exceptions=False)
    report = json.loads(second.output)
    assert report["previous_version"] == report["version"]
    (change,) = report["changes"]
    assert (change["index"], change["before"], change["after"]) == (1, "9.0", "8.0")
    third = CliRunner().invoke(command.command, [str(run)], catch_exceptions=False)
    assert "0 changes since" in third.output


def test_damaged_or_unwritable_readings_are_one_sentence(run):
    """A broken ledger and a folder that cannot be written are errors that say what to do."""
    file = run / ledger.FILE_NAME
    file.write_text('{"task": "t"')
    with pytest.raises(StoreError, match=r"extractions\.jsonl is damaged: remove it"):
        command.reread(run)
    file.unlink()
    file.mkdir()
    with pytest.raises(StoreError, match=r"extractions\.jsonl cannot be (read|written)"):
        command.reread(run)
    assert [path.name for path in run.iterdir()] == [file.name]
