"""The frozen suite, selections of it, and fresh variants."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest

from unpredictabench.errors import InputError, SuiteError
from unpredictabench.records import CATEGORIES
from unpredictabench.targets import target_from_spec
from unpredictabench.tasks import load_suite
from unpredictabench.tasks.assemble import assemble, to_text
from unpredictabench.tasks.laws import published_laws
from unpredictabench.tasks.load import frozen_text
from unpredictabench.tasks.wording.phrasebook import page

QUARTILES = [0.25, 0.75]
COUNTS = {
    "text-explicit": 79,
    "text-implicit": 79,
    "code-explicit": 80,
    "code-implicit": 80,
    "multimodal": 80,
    "shuffling": 20,
    "real-world": 30,
}


@pytest.fixture(scope="module")
def suite():
    """Return v1."""
    return load_suite("v1")


def test_counts(suite):
    """The suite has 448 tasks in seven categories, 40 families and two spreads."""
    assert Counter(task.category for task in suite) == COUNTS
    assert len(suite) == 448
    drawn = [task for task in suite if task.spread is not None]
    assert len({task.family for task in drawn}) == 40
    spreads = Counter((task.category, task.spread) for task in drawn)
    assert spreads["text-explicit", "concentrated"] == 39
    assert spreads["text-implicit", "concentrated"] == 39
    assert {count for key, count in spreads.items() if key[1] == "spread_out"} == {40}


def test_laws_are_the_published_ones(suite):
    """Every distribution task has the published family and parameters."""
    for law in published_laws():
        assert suite[law.id].target.hash == target_from_spec(law.law).hash


def test_ids_are_paths(suite):
    """An id is category, family and spread, or category and slug."""
    for task in suite:
        parts = [task.category, task.family, task.spread]
        assert task.id == "/".join(part for part in parts if part)


def test_rebuilding_gives_the_frozen_file():
    """Laws, wording, programs and scenarios give v1 byte for byte."""
    assert to_text(assemble()) == frozen_text("v1")


def test_building_depends_on_names_alone():
    """A process with another hash seed builds the same bytes."""
    program = (
        "import hashlib; from unpredictabench.tasks.assemble import assemble, to_text;"
        "print(hashlib.sha256(to_text(assemble(variant=3)).encode()).hexdigest())"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert runs[0] == runs[1]


def test_loading_builds_no_law():
    """Loading v1, its ids and its hash need neither NumPy nor SciPy."""
    program = (
        "import sys; from unpredictabench.tasks import load_suite; s = load_suite(); s.ids; s.hash;"
        "print(sorted({'numpy', 'scipy', 'numba', 'yaml', 'openai'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_prompts_differ_and_end_with_one_instruction(suite):
    """No two prompts are alike, and each ends with an instruction that the question lacks."""
    assert len({task.prompt for task in suite}) == 448
    for task in suite:
        assert task.prompt.endswith(task.answer.instruction)
        assert task.answer.instruction not in task.question
        assert task.question.strip() == task.question
        assert task.rationale
        assert task.rationale not in task.prompt


def test_answers_fit_their_laws(suite):
    """Answer kind, items and whole numbers agree with the support of the law."""
    for task in suite:
        is_number = task.answer.kind == "number"
        assert is_number == (task.support != "nominal")
        if is_number:
            values = task.target.ppf([0.01, 0.3, 0.5, 0.7, 0.99])
            assert not task.answer.is_integer or (values == values.round()).all()
            assert task.answer.items == ()
        elif task.answer.kind == "choice":
            assert set(task.target.outcomes) <= set(task.answer.items)
        elif task.answer.kind == "permutation":
            n = len(task.answer.items)
            assert all(sorted(outcome) == list(range(n)) for outcome in task.target.outcomes)


def test_code_tasks_show_their_program(suite):
    """The program stands in the question as it is executed; other tasks have none."""
    for task in suite:
        assert (task.program is not None) == task.category.startswith("code")
        assert task.program is None or task.program.strip() in task.question


def test_all_kinds_of_answers_occur_in_real_world_tasks(suite):
    """Numbers, choices, orders and lines occur, and an empty output is a legal outcome."""
    tasks = list(suite.select(category="real-world"))
    assert {task.answer.kind for task in tasks} == {"number", "choice", "permutation", "lines"}
    lines = [task for task in tasks if task.answer.kind == "lines"]
    assert any("" in task.target.outcomes for task in lines)


def test_hash_is_of_the_content(suite):
    """Loading twice gives one hash; a variant and a selection of it have another."""
    assert load_suite("v1").hash == suite.hash
    variant = load_suite("v1", variant=1)
    assert variant.hash != suite.hash
    assert variant.select(category="shuffling").hash == variant.hash


def test_selection(suite):
    """Filters combine, keep the order, and share name, version and hash with the suite."""
    chosen = suite.select(category=["code-explicit", "multimodal"], family="poisson")
    assert chosen.ids == (
        "code-explicit/poisson/concentrated",
        "code-explicit/poisson/spread_out",
        "multimodal/poisson/concentrated",
        "multimodal/poisson/spread_out",
    )
    assert (chosen.name, chosen.version, chosen.hash) == (suite.name, suite.version, suite.hash)
    assert chosen["multimodal/poisson/spread_out"] is suite["multimodal/poisson/spread_out"]
    assert {task.support for task in suite.select(support="mixed")} == {"mixed"}
    assert len(suite.select(support="nominal", category="real-world")) > 0
    assert suite.select(ids=["shuffling/two-kinds"]).ids == ("shuffling/two-kinds",)


@pytest.mark.parametrize(
    ("filters", "message"),
    [
        ({"category": "text"}, "no category 'text'; the nearest are"),
        ({"family": "poison"}, "no family 'poison'; the nearest are poisson"),
        ({"support": "discretely"}, "no support 'discretely'; the nearest are discrete"),
        ({"ids": ["x/y"]}, "no id 'x/y'"),
    ],
)
def test_wrong_filters_name_the_nearest(suite, filters, message):
    """A filter that names nothing is an error that shows what exists."""
    with pytest.raises(SuiteError, match=message):
        suite.select(**filters)


def test_unknown_ids_name_the_nearest(suite):
    """Asking for a task that does not exist shows the nearest ids."""
    with pytest.raises(SuiteError, match="nearest ids are text-explicit/poisson/spread_out"):
        suite["text-explicit/poison/spread_out"]
    assert "text-explicit/poison/spread_out" not in suite


def test_unknown_suites_and_seeds(tmp_path):
    """A name that is neither suite nor file is an error, and so is a seed of a file."""
    with pytest.raises(SuiteError, match="no suite and no file 'v2'; the nearest names are v1"):
        load_suite("v2")
    with pytest.raises(SuiteError, match="none.yaml'; check the path"):
        load_suite(tmp_path / "none.yaml")
    with pytest.raises(InputError, match="variant must be left out unless the suite is v1"):
        load_suite(tmp_path / "x.json", variant=1)
    for seed in (-1, True, 1.5):
        with pytest.raises(InputError, match="variant must be a whole number of at least 0"):
            load_suite("v1", variant=seed)


def test_truths_have_their_own_streams(suite):
    """The default truth is the same on every call and unlike that of any other task."""
    one, two = suite["shuffling/two-kinds"], suite["shuffling/two-words"]
    assert one.target.hash != two.target.hash
    assert (one.truth(100) == one.truth(100)).all()
    assert (one.truth(100) != two.truth(100)).any()
    assert (one.truth(100, rng=5) == one.truth(100, rng=5)).all()
    assert (one.truth(100, rng=5) != one.truth(100)).any()


@pytest.fixture(scope="module")
def variants():
    """Return some variants."""
    return [load_suite("v1", variant=seed) for seed in range(6)]


def test_variants_share_no_prompt(suite, variants):
    """No prompt of one seed occurs under another, nor in v1."""
    prompts = [task.prompt for each in (suite, *variants) for task in each]
    assert len(set(prompts)) == len(prompts) == 448 * (1 + len(variants))


def test_variants_are_deterministic(variants):
    """A seed always gives the same suite, under a name that says so."""
    again = load_suite("v1", variant=2)
    assert again.hash == variants[2].hash
    assert again.name == "v1+2"
    assert to_text(again) == to_text(variants[2])


def test_variants_keep_the_intent(suite, variants):
    """Ids, supports and answer kinds stay, and concentrated laws stay the narrower ones."""
    for variant in variants:
        assert variant.ids == suite.ids
        for task in variant:
            old = suite[task.id]
            assert (task.support, task.answer.kind) == (old.support, old.answer.kind)
            if task.spread is not None:
                assert task.target.hash != old.target.hash
                assert is_alike(task.target.ppf(QUARTILES), old.target.ppf(QUARTILES))


def is_alike(new, old):
    """Tell whether the quartiles are about as far apart as before, or as many decades."""
    width, before = np.ptp(new), np.ptp(old)
    if before / 6 - 1 <= width <= before * 6 + 1:
        return True
    decades, decades_before = np.ptp(np.log10(new)), np.ptp(np.log10(old))
    return decades_before / 2 <= decades <= decades_before * 2


def test_variants_keep_categories(variants):
    """Each variant has the counts of v1."""
    for variant in variants:
        assert Counter(task.category for task in variant) == COUNTS
        assert [task.category for task in variant] == sorted(
            (task.category for task in variant), key=CATEGORIES.index
        )


def test_file_of_a_suite_is_a_suite_of_ones_own(suite, tmp_path):
    """What export writes loads again, with the same content."""
    path = tmp_path / "copy.json"
    path.write_text(to_text(suite), encoding="utf-8")
    again = load_suite(path)
    assert again.hash == suite.hash
    assert [task.prompt for task in again] == [task.prompt for task in suite]
    assert json.loads(path.read_text("utf-8"))["version"] == suite.version


@pytest.mark.parametrize("source", [None, 3, b"v1", ["v1"]])
def test_what_is_no_name_and_no_path_is_refused(source):
    """A source of another type is an error of the argument."""
    with pytest.raises(InputError, match="source must be the name of a suite or the path"):
        load_suite(source)


def test_a_name_too_long_for_a_file_is_no_suite():
    """A very long name is unknown like any other, and shown shortened."""
    with pytest.raises(SuiteError, match="there is no suite and no file"):
        load_suite("x" * 5000)


def test_a_seed_may_be_an_integer_of_numpy():
    """Seeds out of an array mean the same as plain ones."""
    assert load_suite("v1", variant=np.int64(3)).hash == load_suite("v1", variant=3).hash


@pytest.mark.parametrize("name", [["x"], {}, 5, None])
def test_ids_of_any_type_are_unknown_or_found(name):
    """What is no text is no id; it is not looked up by its hash."""
    suite = load_suite("v1")
    assert name not in suite
    with pytest.raises(SuiteError, match="the nearest ids are"):
        suite[name]
    with pytest.raises(SuiteError, match="has no family"):
        suite.select(family=[name])


def test_explicit_frames_name_no_variable():
    """A law may speak of P(X <= x), so the sentence around it gives its quantity no other name."""
    frames = page("frames")
    for text in [
        *frames["explicit"],
        *(part for each in frames["mixture"] for part in each.values()),
    ]:
        assert not re.search(r"\b[A-Z]\b", text.replace("A ", "a ", 1)), text
