"""Results trees in the published layout become runs, and nothing in them disappears."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path

import pytest

import published_tree as tree
from unpredictabench.errors import InputError
from unpredictabench.extract import extract
from unpredictabench.integrations import import_official
from unpredictabench.store import open_run
from unpredictabench.tasks import load_suite

POISSON, SHUFFLE, CHOICE = (
    "text-explicit/poisson/spread_out",
    "shuffling/list-00",
    "real-world/case-14",
)


@pytest.fixture
def root(tmp_path):
    """Return an empty folder for a tree."""
    path = tmp_path / "tree"
    path.mkdir()
    return path


def numbers(root, answers, *, first=1, **where):
    """Write one number answer a run."""
    temperature = float(where.get("temperature", "temp_1.0").split("_")[1])
    for run, answer in enumerate(answers, start=first):
        rows = [tree.number(f"{{{answer}}}", answer, temperature=temperature)]
        tree.write(tree.run_folder(root, run, **where), rows, singles=False)


def texts(run, task=POISSON):
    """Return the stored texts of a task by slot."""
    return {each.index: each.text for each in open_run(run.path).completions(task)}


def test_every_row_kind_becomes_one_run(root, tmp_path):
    """Numbers, shuffles and real-world rows of one model are one run; samples in bulk another."""
    tree.truths(root)
    tree.mapping(root)
    numbers(root, [18, 20, 15])
    extra = {"group": "number_extracted_shuffling", "folder": "shuffling_human"}
    tree.write(tree.run_folder(root, 1, **extra), [tree.shuffle([2, 1, 3])])
    extra = {"group": "number_extracted_realworld", "folder": "realworld_human"}
    tree.write(tree.run_folder(root, 1, **extra), [tree.choice("B", "B", 1)])
    older = tree.run_folder(root, 4)
    tree.write(older, [tree.older("{21}", 21)])
    many = tree.number("[1.5, 2.5]", None, uid=tree.NORMAL, expected_number_outputs=2)
    tree.write(tree.run_folder(root, 5), [many | {"extracted_value": [1.5, 2.5]}])
    done = import_official(root, tmp_path / "out")
    assert done.is_complete, done.tally
    assert done.tally["read"] == {
        "truths": 4, "number rows": 3, "shuffling rows": 2, "real-world rows": 2,
        "older rows": 2, "multi-sample rows": 2,
    }  # fmt: skip
    assert done.tally["skipped"] == {"the same answer again": 4}
    alone, bulk = sorted(done.runs, key=lambda run: run.path.name.count("batch"))
    assert {run.model for run in done.runs} == {tree.NAME}
    assert texts(alone) == {0: "{18}", 1: "{20}", 2: "{15}", 3: "{21}"}
    assert texts(alone, SHUFFLE) == {0: "[2, 1, 3]"}
    assert texts(alone, CHOICE) == {0: "B"}
    assert open_run(bulk.path).settings.n_asked == 2
    assert done.comparison["counts"] == {"same": 8}


def test_imported_runs_are_ordinary_runs(root, tmp_path):
    """Settings hold model, temperature, token limit and the suite's hash; the suite loads again."""
    numbers(root, [18, 20])
    done = import_official(root, tmp_path / "out")
    run = open_run(done.runs[0].path)
    suite = load_suite(tmp_path / "out" / "suite.json")
    assert run.is_complete
    assert run.stop_reason == "complete"
    assert run.settings.model == tree.NAME
    assert run.settings.parameters == {"temperature": 1.0, "max_tokens": 64}
    assert (run.settings.suite, run.settings.suite_hash) == (suite.name, suite.hash)
    assert run.plan[POISSON].messages[0].content == tree.PROMPTS[tree.NUMBER]
    assert suite[POISSON].prompt == tree.PROMPTS[tree.NUMBER]
    assert suite[POISSON].target.spec == load_suite("v1")[POISSON].target.spec
    found = [extract(each, suite[POISSON])[0].value for each in run.completions()]
    assert found == [18, 20]


def test_runs_are_in_numeric_order(root, tmp_path):
    """Slot i - 1 holds run_i, so that the order of the paths as text can be made again."""
    numbers(root, range(1, 13))
    done = import_official(root, tmp_path / "out")
    assert texts(done.runs[0]) == {i: f"{{{i + 1}}}" for i in range(12)}


def test_gaps_between_runs_are_missing_slots(root, tmp_path):
    """A run number that is not there leaves its slot open and is counted."""
    numbers(root, [18, 20])
    numbers(root, [22], first=5)
    run = import_official(root, tmp_path / "out").runs[0]
    assert (run.n_stored, run.n_missing) == (3, 2)
    assert open_run(run.path).stop_reason == "incomplete"


def test_trees_that_begin_at_zero_keep_their_first_run(root, tmp_path):
    """Where there is a run_0, slot i holds run_i."""
    numbers(root, [18, 20], first=0)
    assert texts(import_official(root, tmp_path / "out").runs[0]) == {0: "{18}", 1: "{20}"}


def test_temperatures_and_suffixes_are_runs_of_their_own(root, tmp_path):
    """Folders of other temperatures or suffixes, and rows that contradict theirs, are apart."""
    numbers(root, [18])
    numbers(root, [20], temperature="temp_0.7")
    numbers(root, [22], temperature="temp_1.0_think")
    odd = tree.number("{24}", 24, temperature=0.2)
    tree.write(tree.run_folder(root, 2), [odd])
    done = import_official(root, tmp_path / "out")
    assert sorted(run.temperature for run in done.runs) == [0.2, 0.7, 1.0, 1.0]
    assert sum(run.n_stored for run in done.runs) == 4
    assert len({run.path for run in done.runs}) == 4
    (note,) = done.tally["notes"]
    assert "differs from the folder's" in note


def test_importing_again_changes_nothing(root, tmp_path):
    """A second import adds no answer and the run keeps its bytes of content."""
    numbers(root, [18, 20])
    first = import_official(root, tmp_path / "out")
    again = import_official(root, tmp_path / "out")
    assert [run.n_new for run in first.runs] == [2]
    assert [run.n_new for run in again.runs] == [0]
    assert again.is_complete
    assert texts(again.runs[0]) == {0: "{18}", 1: "{20}"}


def test_damage_costs_only_what_is_damaged(root, tmp_path):
    """A cut file gives its whole rows, and its single files give the rest."""
    folder = tree.run_folder(root, 1)
    rows = [tree.number("{18}", 18), tree.number("0.5", 0.5, uid=tree.NORMAL)]
    tree.write(folder, rows)
    whole = (folder / "all_results.json").read_text()
    (folder / "all_results.json").write_text(whole[: len(whole) - 200])
    done = import_official(root, tmp_path / "out")
    assert done.runs[0].n_stored == 2
    assert not done.is_complete
    (why,) = done.tally["refused"]
    assert "cut short" in why


REFUSED = {
    "without model_output": {"model_output": ...},
    "without a uid": {"uid": "../../etc/passwd"},
    "not a text": {"model_output": [1]},
    "temperature": {"temperature": math.nan},
    "expected_number_outputs": {"expected_number_outputs": -3},
    "unknown": {"uid": "00000000-0000-4000-8000-000000000000"},
    "another wording": {"prompt_text": "Something else?"},
}


@pytest.mark.parametrize(("why", "change"), REFUSED.items())
def test_rows_that_cannot_be_used_are_refused_with_a_reason(root, tmp_path, why, change):
    """Each kind of bad row is counted under its reason, and the good row beside it is kept."""
    odd = tree.number("{18}", 18) | change
    rows = [tree.number("{19}", 19), {k: v for k, v in odd.items() if v is not ...}]
    tree.write(tree.run_folder(root, 1), rows, singles=False)
    tree.questions(root, (tree.NUMBER,))
    done = import_official(root, tmp_path / "out")
    (reason,) = done.tally["refused"]
    assert why in reason
    assert done.tally["refused"][reason] == 1
    assert done.runs[0].n_stored == 1


def test_another_answer_to_a_slot_is_refused(root, tmp_path):
    """Two different answers to one slot leave the first, and the second is counted."""
    folder = tree.run_folder(root, 1)
    tree.write(folder, [tree.number("{18}", 18), tree.number("{19}", 19)], singles=False)
    done = import_official(root, tmp_path / "out")
    assert done.tally["refused"] == {"another answer to a slot that has one": 1}
    assert texts(done.runs[0]) == {0: "{18}"}


def test_readings_that_differ_are_counted(root, tmp_path):
    """NaN, a wrong number and a missed number of the published code are told apart."""
    outputs = [("{18}", 18), ("{19}", 20), ("{20}", math.nan), ("none", 3), ("none", None)]
    for run, (output, value) in enumerate(outputs, start=1):
        rows = [tree.number(output, value)]
        tree.write(tree.run_folder(root, run), rows, singles=False)
    done = import_official(root, tmp_path / "out")
    assert done.comparison["counts"] == {
        "same": 1, "different": 1, "only ours": 1, "only theirs": 1, "neither": 1
    }  # fmt: skip
    assert len(done.comparison["examples"]) == 3


def test_codes_of_labels_are_compared_through_their_table(root, tmp_path):
    """A mapped value without its label is compared by the published table of codes."""
    tree.truths(root)
    tree.mapping(root)
    extra = {"group": "realworld_extracted", "folder": "realworld_human"}
    rows = [tree.choice("A", "A", 0) | {"mapping_label": None}]
    tree.write(tree.run_folder(root, 1, **extra), rows)
    rows = [tree.choice("A", "A", 1) | {"mapping_label": None}]
    tree.write(tree.run_folder(root, 2, **extra), rows)
    done = import_official(root, tmp_path / "out")
    assert done.comparison["counts"] == {"same": 1, "different": 1}


def test_re_asked_answers_are_noted(root, tmp_path):
    """Answers after re-asking and to the reinforced prompt are kept and said to be such."""
    row = tree.number("{18}", 18, reinforced_prompt_used=True, generation_attempts_used=6)
    tree.write(tree.run_folder(root, 1), [row], singles=False)
    done = import_official(root, tmp_path / "out")
    assert len(done.tally["notes"]) == 2
    (completion,) = open_run(done.runs[0].path).completions()
    assert completion.attempts == 6


def test_answers_without_text_keep_their_slot(root, tmp_path):
    """A null output is an empty answer, not a missing one."""
    tree.write(tree.run_folder(root, 1), [tree.number(None, None)], singles=False)
    run = import_official(root, tmp_path / "out").runs[0]
    (completion,) = open_run(run.path).completions()
    assert (completion.text, completion.status) == (None, "empty_content")


def test_nothing_outside_the_folders_is_read_or_written(root, tmp_path):
    """Links that lead out and hostile model names stay within source and target."""
    secret = tmp_path / "all_results.json"
    secret.write_text(json.dumps([tree.number("{99}", 99)]))
    numbers(root, [18])
    (tree.run_folder(root, 2) / "all_results.json").symlink_to(secret)
    odd = tree.number("{20}", 20, model_used="../../../up")
    tree.write(tree.run_folder(root, 3), [odd], singles=False)
    before = set(tmp_path.rglob("*"))
    done = import_official(root, tmp_path / "out")
    assert "link that leads out of the folder" in done.tally["refused"]
    made = set(tmp_path.rglob("*")) - before
    assert all(path.is_relative_to(tmp_path / "out") for path in made)
    assert "{99}" not in {text for run in done.runs for text in texts(run).values()}


def test_deep_nesting_archives_and_strange_files_are_refused(root, tmp_path):
    """Hostile files cost a line of the account and nothing else."""
    numbers(root, [18])
    folder = tree.run_folder(root, 2)
    (folder / "all_results.json").write_text("[" * 200_000)
    (folder / "1.json").write_text('[{"uid": ' + "9" * 5000 + "}]")
    (folder / "2.json").write_text("")
    (folder / "3.json").write_text('[1, "x"]')
    (root / "all.zip").write_bytes(b"PK")
    (root / "notes.txt").write_text("hello")
    os.mkfifo(root / "pipe.json")
    done = import_official(root, tmp_path / "out")
    assert set(done.tally["refused"]) == {
        "file that is nested too deeply",
        "file that holds a number that is too long",
        "file that is empty",
        "row that is not an object",
        "archive, which is never opened: unpack it first",
        "not a regular file",
    }
    assert done.tally["skipped"] == {"file that ends in .txt": 1}
    assert texts(done.runs[0]) == {0: "{18}"}


def test_parts_of_a_tree_can_be_imported(root, tmp_path):
    """The folder of one run is enough, because its path says the rest."""
    numbers(root, [18, 20])
    done = import_official(tree.run_folder(root, 2), tmp_path / "out")
    assert texts(done.runs[0]) == {1: "{20}"}


def test_a_given_suite_is_used(root, tmp_path):
    """Answers are filed under the suite of an earlier import, whose hash they carry."""
    data = tmp_path / "data"
    tree.questions(data)
    tree.truths(data)
    import_official(data, tmp_path / "suite")
    file = str(tmp_path / "suite" / "suite.json")
    numbers(root, [18])
    done = import_official(root, tmp_path / "out", suite=file)
    assert open_run(done.runs[0].path).settings.suite_hash == load_suite(file).hash
    assert not (tmp_path / "out" / "suite.json").exists()


def test_the_words_of_v1_are_not_taken_for_the_published_ones(root, tmp_path):
    """Tasks of the same id but other wording refuse the answers."""
    numbers(root, [18])
    done = import_official(root, tmp_path / "out", suite="v1")
    assert done.runs == ()
    assert done.tally["refused"] == {"answer to another wording than the suite's": 1}


def test_nothing_published_is_an_error(tmp_path):
    """A folder without questions or results is refused with what was looked for."""
    with pytest.raises(InputError, match="questions or a results tree"):
        import_official(tmp_path, tmp_path / "out")
    with pytest.raises(InputError, match="path must exist"):
        import_official(Path("no-such-folder"), tmp_path / "out")
