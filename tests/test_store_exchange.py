"""An exported run comes back as it was; broken files are told apart, nothing is counted twice."""

from __future__ import annotations

import dataclasses
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unpredictabench.errors import InputError, StoreError
from unpredictabench.records import Completion, Message, Settings
from unpredictabench.store import export_run, import_run, open_run, open_writer
from unpredictabench.store.rows import Planned

SETTINGS = Settings("m", "v1", "hash", parameters={"temperature": 1.0})
PLAN = {"t": Planned(100, (Message("user", "Draw \u2028 \ud83d."),)), "u": Planned(2, ())}
FORMS = ("jsonl", "parquet")


def stored(path, texts, *, task="t"):
    """Make a run that holds these answers and a line of log, and open it."""
    with open_writer(path, SETTINGS, PLAN) as writer:
        writer.log("started", {"note": "\ud83d"}, at=12.25)
        for index, text in enumerate(texts):
            writer.append(Completion(task, index, text, model="m-\udc00", created_at=index / 3))
    return open_run(path)


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=25, deadline=None)
@given(texts=st.lists(st.none() | st.text(st.characters(exclude_categories=())), max_size=5))
def test_a_run_comes_back_equal(form, texts):
    """Settings, plan, log and every text, lone surrogates included, survive both formats."""
    with tempfile.TemporaryDirectory() as folder:
        before = stored(Path(folder, "a"), texts)
        file = export_run(before, Path(folder, f"run.{form}"))
        after = import_run(file, Path(folder, "b"))
        assert (after.settings, after.plan) == (before.settings, before.plan)
        assert list(after.completions()) == list(before.completions())
        assert after.events[: len(before.events)] == before.events
        assert [event.kind for event in after.events[len(before.events) :]] == ["imported"]


@pytest.mark.parametrize("form", FORMS)
def test_every_field_survives(tmp_path, form):
    """A completion with all fields set comes back equal."""
    full = Completion(
        "t", 5, "7", "ok", "r", "stop", "m", "f", "id", 2**40, 3, 1.1, 0.3, 4, 2**31, 1
    )
    with open_writer(tmp_path / "a", SETTINGS, PLAN) as writer:
        writer.append(full)
    export_run(open_run(tmp_path / "a"), tmp_path / f"x.{form}")
    assert list(import_run(tmp_path / f"x.{form}", tmp_path / "b").completions()) == [full]


def test_sto_lone_surrogate_exported_lines_are_ascii(tmp_path):
    """A half emoji and U+2028 are escapes in the file, so line readers and encoders agree."""
    export_run(stored(tmp_path / "a", ["x\ud83d\u2028y"]), tmp_path / "run.jsonl")
    data = (tmp_path / "run.jsonl").read_bytes()
    assert data.isascii()
    assert len(data.decode().splitlines()) == 2
    assert rb"x\ud83d\u2028y" in data


@pytest.mark.parametrize("form", FORMS)
def test_sto_summary_and_items(tmp_path, form):
    """An export inside the run folder, imported again and again, counts no answer twice."""
    run = stored(tmp_path, ["a", "b"])
    file = export_run(run, tmp_path / f"all_results.{form}")
    assert open_run(tmp_path).n_stored == 2
    for _ in range(2):
        assert import_run(file, tmp_path).n_stored == 2


def test_sto_mixed_temperatures_are_not_imported(tmp_path):
    """Answers of another temperature are refused, and the run keeps only its own."""
    file = export_run(stored(tmp_path / "warm", ["5"]), tmp_path / "warm.jsonl")
    cold = dataclasses.replace(SETTINGS, parameters={"temperature": 0})
    open_writer(tmp_path / "cold", cold, PLAN).close()
    with pytest.raises(StoreError, match=r"parameters.temperature \(0 -> 1.0\)"):
        import_run(file, tmp_path / "cold")
    assert open_run(tmp_path / "cold").n_stored == 0


def test_sto_partial_last_line(tmp_path):
    """Half a last line is dropped and counted, its slot is missing, nothing is glued to it."""
    file = export_run(stored(tmp_path / "a", ["a", "b"]), tmp_path / "a.jsonl")
    whole = file.read_bytes()
    file.write_bytes(whole[:-20])
    run = import_run(file, tmp_path / "b")
    assert [c.index for c in run.completions()] == [0]
    assert run.events[-1].data == {"file": "a.jsonl", "n_partial": 1}
    with open_writer(tmp_path / "b", SETTINGS, PLAN) as writer:
        writer.append(Completion("t", 1, "again"))
    lines = export_run(open_run(tmp_path / "b"), file).read_text().splitlines()
    assert [json.loads(line).get("text") for line in lines] == [None, "a", "again"]


def test_a_last_line_without_its_newline_is_whole(tmp_path):
    """A missing final newline alone loses nothing."""
    file = export_run(stored(tmp_path / "a", ["a", "b"]), tmp_path / "a.jsonl")
    file.write_bytes(file.read_bytes().rstrip(b"\n"))
    run = import_run(file, tmp_path / "b")
    assert (run.n_stored, run.events[-1].data["n_partial"]) == (2, 0)


BROKEN = {
    b"": "line 1 is not JSON",
    b'{"half': "line 1 is not JSON",
    b"{}\n": "is not an exported run",
    b"[1]\n": "line 1 must be a JSON object",
    b'{"format": "unpredictabench-run", "version": 99}\n': "format version 99.*upgrade",
    b'{"format": "unpredictabench-run", "version": 1}\n': "is not an exported run.*settings",
}


@pytest.mark.parametrize("content", BROKEN)
def test_files_that_are_no_export_are_refused(tmp_path, content):
    """Each kind of wrong file gets a sentence that names it, and no run appears."""
    (tmp_path / "x.jsonl").write_bytes(content)
    with pytest.raises(StoreError, match=f"x.jsonl .*{BROKEN[content]}"):
        import_run(tmp_path / "x.jsonl", tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_broken_line_in_the_middle_is_named(tmp_path):
    """Damage before the last line is an error with the line's number, not a silent loss."""
    file = export_run(stored(tmp_path / "a", ["a", "b"]), tmp_path / "a.jsonl")
    lines = file.read_bytes().split(b"\n")
    file.write_bytes(b"\n".join([lines[0], lines[1][:-5], lines[2], b""]))
    with pytest.raises(StoreError, match=r"a.jsonl line 2 is not JSON"):
        import_run(file, tmp_path / "b")


def test_names_and_places_are_checked(tmp_path):
    """An unknown suffix, a missing file, a file in place of a folder and noise are refused."""
    run = stored(tmp_path / "a", ["a"])
    with pytest.raises(InputError, match=r"file must end in .jsonl or .parquet, got 'x.csv'"):
        export_run(run, tmp_path / "x.csv")
    (tmp_path / "no").touch()
    with pytest.raises(StoreError, match=r"no/x.jsonl cannot be written"):
        export_run(run, tmp_path / "no" / "x.jsonl")
    with pytest.raises(StoreError, match=r"no.jsonl cannot be read"):
        import_run(tmp_path / "no.jsonl", tmp_path / "b")
    (tmp_path / "x.parquet").write_bytes(b"noise")
    with pytest.raises(StoreError, match="is not a Parquet file"):
        import_run(tmp_path / "x.parquet", tmp_path / "b")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a", "no", "x.parquet"]


WRONG_FIELDS = {
    '"index": "zero"': "index must be int, got 'zero'",
    '"index": -1': r"index must lie in \[0, ",
    '"index": 99999999999999999999': r"index must lie in \[0, ",
    '"index": true': "index must be int, got True",
    '"text": {"a": 1}': "text must be str or None, got {'a': 1}",
    '"status": "fine"': "status must be one of ok, empty_content, no_choice, got 'fine'",
    '"n_asked": 0': r"n_asked must lie in \[1, ",
    '"txt": "7"': "a field must be one of task, .*, got 'txt'",
    '"text": ' + "[" * 100_000: "JSON: maximum recursion",
}


@pytest.mark.parametrize("field", WRONG_FIELDS, ids=range(len(WRONG_FIELDS)))
def test_fields_of_another_kind_are_named_and_nothing_is_stored(tmp_path, field):
    """What could never be an answer does not reach the append-only store."""
    file = export_run(stored(tmp_path / "a", ["a"]), tmp_path / "a.jsonl")
    header = file.read_text().splitlines()[0]
    line = '{"task": "t", "index": 0, "text": "7", ' + field + "}"
    file.write_text(f"{header}\n{line}\n{line}\n")
    with pytest.raises(StoreError, match=f"a.jsonl line 2 is n.*{WRONG_FIELDS[field]}"):
        import_run(file, tmp_path / "b")
    assert not (tmp_path / "b").exists()


def test_a_missing_field_is_named(tmp_path):
    """A line without its slot is no completion."""
    file = export_run(stored(tmp_path / "a", ["a"]), tmp_path / "a.jsonl")
    header = file.read_text().splitlines()[0]
    file.write_text(f'{header}\n{{"task": "t", "text": "7"}}\n')
    with pytest.raises(StoreError, match="line 2 is no completion: index must be given"):
        import_run(file, tmp_path / "b")


@pytest.mark.parametrize("change", [{"settings": []}, {"events": [5]}, {"plan": [5]}])
def test_headers_of_another_shape_are_refused(tmp_path, change):
    """Whatever is wrong in the header, the file is named and no run appears."""
    file = export_run(stored(tmp_path / "a", ["a"]), tmp_path / "a.jsonl")
    header, *lines = file.read_text().splitlines()
    file.write_text("\n".join([json.dumps(json.loads(header) | change), *lines, ""]))
    with pytest.raises(StoreError, match=r"a.jsonl is not an exported run"):
        import_run(file, tmp_path / "b")
    assert not (tmp_path / "b").exists()
