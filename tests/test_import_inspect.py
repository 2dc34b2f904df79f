"""Logs of the Inspect task as runs, read without Inspect AI: whole, unfinished, hostile."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile

import pytest
from click.testing import CliRunner

from inspect_logs import OTHER, TASK, header, sample, write
from unpredictabench.cli import group
from unpredictabench.errors import MissingExtraError
from unpredictabench.extract.observations import observe
from unpredictabench.integrations import import_path
from unpredictabench.integrations.filing import IN_THE_WAY
from unpredictabench.integrations.inspect.logs import MOST_MEMBER
from unpredictabench.integrations.inspect.slots import (
    completion_of,
    observed_json,
    observed_of,
    slot_of,
)
from unpredictabench.records import Completion, Message
from unpredictabench.store import open_run
from unpredictabench.tasks import load_suite
from unpredictabench.tasks.styles import messages


def texts(done, task=TASK):
    """Return the stored texts of a task by slot, of the only run of an import."""
    [run] = done.runs
    return {each.index: each.text for each in open_run(run.path).completions(task)}


@pytest.mark.parametrize("ending", [".eval", ".json"])
def test_log_becomes_a_run_with_its_settings_and_words(tmp_path, ending):
    """A log gives one run that knows model, endpoint, parameters and the words asked."""
    path = write(tmp_path / f"a{ending}", header(), [sample(), sample(OTHER, ["0.5", "", None])])
    done = import_path(path, tmp_path / "runs")
    [filed] = done.runs
    run = open_run(filed.path)
    assert (done.kind, done.suite, done.is_complete) == ("inspect", "v1", True)
    assert run.settings.model == "openai/gpt-x"
    assert run.settings.base_url == "https://host/v1"
    assert run.settings.parameters == {"temperature": 0.7, "max_tokens": 32}
    assert run.plan[TASK].messages == messages(load_suite("v1")[TASK], "direct")
    assert texts(done) == {0: "17", 1: "18", 2: "19"}
    assert run.is_complete
    assert run.stop_reason == "complete"
    assert done.tally["read"] == {"logs": 1, "samples": 2, "answers": 6}
    again = import_path(path, tmp_path / "runs")
    assert again.is_complete
    assert [run.n_new for run in again.runs] == [0]


def test_system_message_and_style_are_part_of_the_words(tmp_path):
    """A system message given to Inspect stands before the words of the style in the plan."""
    head = header(model_generate_config={"system_message": "Be brief."})
    head["eval"]["metadata"]["unpredictabench"]["prompt_style"] = "cot"
    done = import_path(write(tmp_path / "a.eval", head, [sample()]), tmp_path / "runs")
    run = open_run(done.runs[0].path)
    words = (Message("system", "Be brief."), *messages(load_suite("v1")[TASK], "cot"))
    assert run.plan[TASK].messages == words
    assert run.settings.prompt_style == "cot"


def test_unfinished_log_gives_what_is_there(tmp_path):
    """Failed draws, an error, a limit and a missing sample leave counted holes in the run."""
    failure = {"index": 2, "error": "APIError: 503"}
    samples = [
        sample(answers=["17", "18"], failures=[failure], limit={"type": "token", "limit": 5}),
        sample(OTHER, ["0.5"], error={"message": "it broke"}),
    ]
    third = "text-explicit/beta/spread_out"
    head = header(ids=(TASK, OTHER, third), status="error")
    path = write(tmp_path / "a.eval", head, samples, name="_journal/start.json")
    done = import_path(path, tmp_path / "runs")
    run = open_run(done.runs[0].path)
    assert (run.n_stored, run.n_missing) == (3, 6)
    assert run.stop_reason == "incomplete"
    assert run.failures == {"APIError: 503": 1}
    assert done.tally["notes"] == {
        "log with the status error": 1,
        "draw that failed": 1,
        "sample that a limit ended: token": 1,
        "sample that ended in an error: it broke": 1,
        "sample that no log holds": 1,
    }
    assert done.is_complete


def test_retry_of_an_evaluation_is_the_same_run(tmp_path):
    """Of a sample in several logs of one evaluation the fullest counts; others are other runs."""
    broken = sample(OTHER, ["9.9"], error={"message": "it broke"})
    write(tmp_path / "a.eval", header(status="error"), [sample(), broken])
    late = header(created="2026-01-02T00:00:00+00:00")
    write(tmp_path / "b.eval", late, [sample(), sample(OTHER, ["1", "2", "3"])])
    write(tmp_path / "c.eval", header(task_id="T2"), [sample(answers=["5"])])
    done = import_path(tmp_path, tmp_path / "runs")
    assert done.is_complete
    first, second = done.runs
    whole = {each.text for each in open_run(first.path).completions(OTHER)}
    assert whole == {"1", "2", "3"}
    assert (first.n_stored, second.n_stored) == (6, 1)
    assert done.tally["skipped"]["sample that another log of the evaluation holds"] == 2


def test_retry_imported_later_adds_what_is_new_and_says_what_differs(tmp_path):
    """Into the run of a failed log its retry brings new draws; slots keep what they had."""
    broken = sample(OTHER, ["9.9", "2"], error={"message": "it broke"})
    first = write(tmp_path / "a.eval", header(status="error"), [sample(), broken])
    late = header(created="2026-01-02T00:00:00+00:00")
    second = write(tmp_path / "b.eval", late, [sample(), sample(OTHER, ["1", "2", "3"])])
    assert import_path(first, tmp_path / "runs").is_complete
    done = import_path(second, tmp_path / "runs")
    assert texts(done, OTHER) == {0: "9.9", 1: "2", 2: "3"}
    assert done.tally["read"]["answers"] == 1
    assert done.tally["skipped"] == {"the same answer again": 4}
    assert done.tally["refused"] == {IN_THE_WAY: 1}
    assert open_run(done.runs[0].path).is_complete
    again = import_path(tmp_path, tmp_path / "new")
    assert again.is_complete
    assert texts(again, OTHER) == {0: "1", 1: "2", 2: "3"}


@pytest.mark.parametrize("store", [None, [], {}, {"unpredictabench:slots": {"index": 0}}])
def test_sample_without_its_store_leaves_counted_holes(tmp_path, store):
    """A sample whose store is missing or of another shape has no draws; its slots are missing."""
    bare = {"id": TASK, "epoch": 1, "store": store}
    done = import_path(write(tmp_path / "a.eval", header(), [bare, sample(OTHER)]), tmp_path / "r")
    assert texts(done) == {}
    assert (done.runs[0].n_stored, done.runs[0].n_missing) == (3, 3)


def test_sample_twice_in_one_log_counts_once(tmp_path):
    """A second epoch or an edited copy of a sample is left out and counted."""
    path = write(tmp_path / "a.eval", header(), [sample()])
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(f"samples/{TASK}_epoch_2.json", json.dumps(sample(answers=["1"] * 3)))
    done = import_path(path, tmp_path / "runs")
    assert texts(done) == {0: "17", 1: "18", 2: "19"}
    assert done.tally["skipped"] == {"sample that the log holds already": 1}


def test_log_of_another_task_is_refused_in_a_sentence(tmp_path):
    """A log of some other Inspect task is named, and nothing is written."""
    path = write(tmp_path / "a.eval", header(task="arc/easy", metadata=None), [sample()])
    result = CliRunner().invoke(group, ["import", str(path), "-o", str(tmp_path / "runs")])
    assert result.exit_code == 1
    assert "of another Inspect task, arc/easy" in result.output
    assert str(path) in result.output
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"format": 9}, "has the format 9"),
        ({"suite_hash": "0" * 64}, "was made with another suite"),
        ({"suite": "no such suite"}, "there is no suite"),
        ({"samples": "many"}, "does not say which samples"),
        ({"prompt_style": "rude"}, "style must be one of"),
    ],
)
def test_log_that_does_not_fit_is_refused(tmp_path, change, why):
    """A log of a newer format, another suite or nonsense is refused and says why."""
    head = header()
    head["eval"]["metadata"]["unpredictabench"] |= change
    done = import_path(write(tmp_path / "a.eval", head, [sample()]), tmp_path / "runs")
    assert not done.runs
    [reason] = done.tally["refused"]
    assert why in reason


def test_hostile_draws_are_refused_one_by_one(tmp_path):
    """Draws of wrong types or places are refused and counted; the good ones beside them stay."""
    bad = sample()
    bad["store"]["unpredictabench:slots"] += [
        "text",
        {"index": 3, "text": "beyond"},
        {"index": -1, "text": "before"},
        {"index": 1, "text": "again"},
        {"index": 1, "text": 7},
        {"index": 1, "text": "x", "task": "../../etc"},
        {"index": 1, "text": "x", "prompt_tokens": 1e400},
        {"index": 1, "text": "x", "new": 1},
    ]
    done = import_path(
        write(tmp_path / "a.eval", header(), [bad, sample("../../x")]), tmp_path / "runs"
    )
    assert texts(done) == {0: "17", 1: "18", 2: "19"}
    assert not done.is_complete
    assert sum(done.tally["refused"].values()) == 9


def test_log_cut_anywhere_is_refused_and_costs_no_other(tmp_path):
    """Whatever the length a log was cut to, it is refused by name and the whole one is kept."""
    whole = write(tmp_path / "a.eval", header(), [sample(), sample(OTHER)])
    data = whole.read_bytes()
    for length in range(0, len(data), 97):
        (tmp_path / "b.eval").write_bytes(data[:length])
        done = import_path(tmp_path, tmp_path / "runs")
        assert done.runs[0].n_stored == 6
        assert [str(tmp_path / "b.eval")] in done.tally["examples"].values()
        assert not done.is_complete


def test_flipped_bytes_lose_at_most_their_sample(tmp_path):
    """A byte changed inside a sample is found by its checksum; the other sample is read."""
    whole = write(tmp_path / "a.eval", header(), [sample(), sample(OTHER)])
    data = bytearray(whole.read_bytes())
    data[120] ^= 0xFF
    whole.write_bytes(data)
    done = import_path(whole, tmp_path / "runs")
    assert len(texts(done, OTHER)) == 3
    assert any("sample that cannot be unpacked" in why for why in done.tally["refused"])


def test_json_log_that_is_cut_is_refused_by_name(tmp_path):
    """Half a JSON log is no log; the file is named."""
    path = write(tmp_path / "a.json", header(), [sample()])
    path.write_text(path.read_text()[:900])
    done = import_path(path, tmp_path / "runs")
    assert done.tally["refused"] == {"log that is not whole JSON": 1}
    assert done.tally["examples"]["log that is not whole JSON"] == [str(path)]


def test_member_that_unpacks_to_too_much_is_not_unpacked(tmp_path):
    """A sample that says it is larger than any is refused; one that lies about it ends there."""
    path = write(tmp_path / "a.eval", header(), [sample(OTHER)])
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"samples/{TASK}_epoch_1.json", b" " * (MOST_MEMBER + 1))
    honest = import_path(path, tmp_path / "runs")
    assert any("unpacks to more than" in why for why in honest.tally["refused"])
    data = bytearray(path.read_bytes())
    size = (MOST_MEMBER + 1).to_bytes(4, "little")
    while (at := data.find(size)) >= 0:
        data[at : at + 4] = (10).to_bytes(4, "little")
    path.write_bytes(data)
    lying = import_path(path, tmp_path / "runs")
    assert any("cannot be unpacked" in why for why in lying.tally["refused"])
    assert len(texts(lying, OTHER)) == 3


def test_missing_extra_is_one_sentence_with_the_pip_line(tmp_path, monkeypatch):
    """Without the extra a log packed with Zstandard, and the task itself, name the pip line."""
    path = write(tmp_path / "a.eval", header(), [], packing=zipfile.ZIP_STORED)
    data = bytearray(path.read_bytes())
    local, central = data.find(b"PK\x03\x04"), data.find(b"PK\x01\x02")
    data[local + 8], data[central + 10] = 93, 93
    path.write_bytes(data)
    monkeypatch.delattr(zipfile, "ZIP_ZSTANDARD", raising=False)
    monkeypatch.setitem(sys.modules, "zipfile_zstd", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'unpredictabench\[inspect\]'"):
        import_path(path, tmp_path / "runs")
    monkeypatch.setitem(sys.modules, "inspect_ai", None)
    monkeypatch.delitem(sys.modules, "unpredictabench.integrations.inspect.task", raising=False)
    with pytest.raises(MissingExtraError, match=r"pip install 'unpredictabench\[inspect\]'"):
        __import__("unpredictabench.integrations.inspect.task")


def test_ordinary_paths_never_import_inspect(tmp_path):
    """Importing a log, and the package, loads nothing of Inspect AI."""
    path = write(tmp_path / "a.eval", header(), [sample()])
    code = (
        "import sys, unpredictabench; from unpredictabench.integrations import import_path; "
        f"import_path({str(path)!r}, {str(tmp_path / 'runs')!r}); "
        "print([name for name in sys.modules if name.startswith('inspect_ai')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_slot_holds_every_field_of_a_completion():
    """A completion is the same after it was a slot, whatever its fields hold."""
    full = Completion(
        "t", 3, None, "empty_content", "thought", "length", "m", "f", "id", 5, 6, 7.5, 0.25, 2, 9, 1
    )
    for completion in (full, Completion("t", 0, "x\ud800")):
        slot = json.loads(json.dumps(slot_of(completion, {"total_tokens": 1})))
        assert completion_of("t", slot) == completion


def test_what_was_read_is_the_same_after_json():
    """Values, infinities, invalid ones and counts survive JSON."""
    task = load_suite("v1")["text-explicit/normal/spread_out"]
    answers = ["0.1", "x", "-2", "1e308", "3"]
    [observed], _ = observe(
        [task], [Completion(task.id, i, text) for i, text in enumerate(answers)], mode="lenient"
    )
    again = observed_of(task, json.loads(json.dumps(observed_json(observed), allow_nan=False)))
    assert again.values.tobytes() == observed.values.tobytes()
    for name in ("statuses", "n_asked", "n_off_support"):
        assert getattr(again, name) == getattr(observed, name)
    assert again.numbers.tolist() == observed.numbers.tolist()
