"""The published data set becomes a suite: laws by uid, ground truth, marks."""

from __future__ import annotations

import json

import numpy as np
import pytest

import published_tree as tree
from unpredictabench.errors import InputError, SuiteError
from unpredictabench.integrations import import_official
from unpredictabench.integrations.published import facts, uid_of
from unpredictabench.tasks import load_suite

POISSON = "text-explicit/poisson/spread_out"
ROWS = [{"task": "t", "uid": uid, "prompt_text": text} for uid, text in tree.PROMPTS.items()]


def as_json(folder):
    """Write the questions as a JSON list."""
    (folder / "train.json").write_text(json.dumps(ROWS))


def as_lines(folder):
    """Write the questions as JSON lines under the name of a JSON file."""
    (folder / "train.json").write_text("\n".join(map(json.dumps, ROWS)))


def as_parquet(folder):
    """Write the questions as Parquet."""
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(pa.Table.from_pylist(ROWS), folder / "train-00000-of-00001.parquet")


def as_cache(folder):
    """Write the questions as a hub cache, whose snapshot is links to blobs."""
    cache = folder / "datasets--UnpredictaBench--UnpredictaBench"
    (cache / "blobs").mkdir(parents=True)
    snapshot = cache / "snapshots" / "0123" / "data"
    snapshot.mkdir(parents=True)
    as_parquet(cache / "blobs")
    blob = next((cache / "blobs").iterdir())
    blob.rename(blob.with_name("abcdef"))
    (snapshot / "train.parquet").symlink_to("../../../blobs/abcdef")


@pytest.mark.parametrize("form", [as_json, as_lines, as_parquet, as_cache])
def test_every_form_of_the_data_set_gives_the_same_suite(tmp_path, form):
    """JSON, JSON lines, Parquet and a hub cache hold the same tasks."""
    source = tmp_path / "source"
    source.mkdir()
    form(source)
    tree.truths(source)
    done = import_official(source, tmp_path / "out")
    suite = load_suite(done.suite)
    assert done.tally["read"] == {"questions": 5, "truths": 4}
    assert suite.ids == (
        "text-explicit/normal/spread_out",
        POISSON,
        "shuffling/list-00",
        "real-world/case-13",
        "real-world/case-14",
    )
    assert {task.prompt for task in suite} == set(tree.PROMPTS.values())


def test_a_snapshot_of_a_hub_cache_can_be_named_itself(tmp_path):
    """The links of a snapshot may lead to the blobs beside it."""
    as_cache(tmp_path)
    (snapshot,) = tmp_path.glob("datasets--*/snapshots/*")
    done = import_official(snapshot, tmp_path / "out")
    assert done.tally["read"] == {"questions": 5}


def test_published_values_are_the_truth_of_a_known_law(tmp_path):
    """The law stays exact, and the truth is the published values in their order."""
    tree.questions(tmp_path)
    tree.truths(tmp_path)
    suite = load_suite(import_official(tmp_path, tmp_path / "out").suite)
    task = suite[POISSON]
    assert np.array_equal(task.truth(), [*range(7, 27)] * 5)
    law = load_suite("v1")[POISSON].target
    assert task.target.is_exact
    assert np.array_equal(task.target.cdf(range(40)), law.cdf(range(40)))
    shuffle = suite["shuffling/list-00"]
    orders = [shuffle.target.outcomes[int(place)] for place in shuffle.truth()[:2]]
    assert [[shuffle.answer.items[i] for i in order] for order in orders] == [
        ["3", "1", "2"],
        ["1", "2", "3"],
    ]


def test_real_world_labels_come_from_the_truth(tmp_path):
    """Equal chances are an exact law where every outcome occurs, else the values are the law."""
    tree.questions(tmp_path)
    tree.truths(tmp_path)
    suite = load_suite(import_official(tmp_path, tmp_path / "out").suite)
    equal, given = suite["real-world/case-14"], suite["real-world/case-13"]
    assert equal.answer.items == ("A", "B")
    assert equal.target.spec["drawn"]["law"]["nominal"]["probabilities"] == [0.5, 0.5]
    assert equal.target.is_exact
    assert given.answer.items == ("A", "B", "C", "D", "E")
    assert not given.target.is_exact  # 2 of the 120 orders occur
    assert given.target.outcomes == ("A\nB\nC\nD\nE", "E\nD\nC\nB\nA")


def test_without_truth_only_real_world_tasks_are_refused(tmp_path):
    """Questions whose law no table holds need their ground truth; the account says so."""
    tree.questions(tmp_path)
    done = import_official(tmp_path, tmp_path / "out")
    assert len(load_suite(done.suite)) == 3
    assert sum(done.tally["refused"].values()) == 2
    assert not done.is_complete


def test_the_eight_wrong_truths_are_marked(tmp_path):
    """The rationale of exactly eight tasks says that the published truth is wrong."""
    rows = [{"uid": uid, "prompt_text": f"Question {uid}?"} for uid in facts()]
    (tmp_path / "all.json").write_text(json.dumps(rows))
    done = import_official(tmp_path, tmp_path / "out")
    suite = load_suite(done.suite)
    assert len(suite) == 418
    assert sum("is wrong" in entry.rationale for entry in suite.entries) == 8
    assert sum(done.tally["notes"].values()) == 8


def test_uids_follow_the_published_rule():
    """The rule gives the 448 uids; two of them are checked against the published data."""
    assert len(facts()) == 448
    assert uid_of("code_explicit_concentrated_gpt-5.4", 0) == "b168750c-1ba4-5b02-b75f-c1ab171d223e"
    assert facts()["bf34e215-c929-532a-8b68-ad9c72c0f6c7"].id == "real-world/case-00"


@pytest.mark.parametrize(
    ("uid", "values", "why"),
    [
        (tree.NUMBER, [1.0, float("nan")], "not a finite number"),
        (tree.NUMBER, [1, "2"], "not a finite number"),
        (tree.NUMBER, [[1, 2], [3, 4]], "not a finite number"),
        (tree.NUMBER, 7, "not a list"),
        (tree.SHUFFLE, [[1, 2], [2, 1]], "not an order"),
        (tree.SHUFFLE, ["[" * 100_000, "x"], "not an order"),
        (tree.CHOICE, [["A"], ["B"]], "not all values are texts"),
    ],
)
def test_truths_of_the_wrong_form_are_refused(tmp_path, uid, values, why):
    """A truth that does not fit its task is counted, and the law alone is used."""
    tree.questions(tmp_path, (tree.NUMBER, tree.SHUFFLE))
    (tmp_path / "gt.json").write_text(json.dumps([{"uid": uid, "ground_truth_values": values}]))
    done = import_official(tmp_path, tmp_path / "out")
    (reason,) = done.tally["refused"]
    assert why in reason
    assert len(load_suite(done.suite)) == 2


def test_tasks_that_were_never_published_are_given_by_their_values(tmp_path):
    """A task of one's own in the published form has the law of its values, as a sample."""
    own = "00000000-0000-4000-8000-000000000001"
    (tmp_path / "q.json").write_text(json.dumps([{"uid": own, "prompt_text": "A number?"}]))
    (tmp_path / "t.json").write_text(
        json.dumps([{"uid": own, "ground_truth_values": [1.5, 2.5, 2.5]}])
    )
    (task,) = load_suite(import_official(tmp_path, tmp_path / "out").suite)
    assert task.id == f"own/{own}"
    assert task.truth().tolist() == [1.5, 2.5, 2.5]
    assert not task.target.is_exact


def test_another_suite_in_the_folder_is_not_overwritten(tmp_path):
    """Runs already in a folder keep the suite they were filed under."""
    source = tmp_path / "source"
    tree.questions(source)
    import_official(source, tmp_path / "out")
    import_official(source, tmp_path / "out")
    tree.questions(source, (tree.NUMBER,))
    with pytest.raises(InputError, match="without another suite.json"):
        import_official(source, tmp_path / "out")


def test_changed_truth_files_are_noticed(tmp_path):
    """A suite refuses values that are not the ones it was made with."""
    tree.questions(tmp_path)
    tree.truths(tmp_path)
    done = import_official(tmp_path, tmp_path / "out")
    np.save(tmp_path / "out" / "truths" / f"{tree.NUMBER}.npy", np.arange(9.0))
    with pytest.raises(SuiteError, match="has changed"):
        load_suite(done.suite)


def test_questions_that_repeat_or_contradict_are_counted(tmp_path):
    """The same question twice is skipped, another wording refused."""
    rows = [ROWS[0], ROWS[0], ROWS[0] | {"prompt_text": "Other words?"}, {"prompt_text": "x"}]
    (tmp_path / "q.json").write_text(json.dumps([*rows, ROWS[1] | {"prompt_text": " "}]))
    done = import_official(tmp_path, tmp_path / "out")
    assert done.tally["skipped"] == {"the same question again": 1}
    assert done.tally["refused"] == {
        "another wording of a question": 1,
        "question without a uid": 1,
        "question without a prompt": 1,
    }
