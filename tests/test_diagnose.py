"""Every word of the diagnosis is earned by a model made for it, and none by the perfect one."""

from __future__ import annotations

import asyncio
import json
import math
from collections import Counter

import numpy as np
import pytest
from click.testing import CliRunner

from unpredictabench.cli import group
from unpredictabench.clients import SimulatedClient
from unpredictabench.diagnose import WORDS, diagnose
from unpredictabench.diagnose.occupancy import lattice_step, occupancy, own_cells, rounded_cells
from unpredictabench.errors import InputError
from unpredictabench.generate import generate
from unpredictabench.records import Completion, Request
from unpredictabench.streams import stream
from unpredictabench.targets import target_from_spec
from unpredictabench.tasks import load_suite

NORMAL = "text-explicit/normal/spread_out"
LOGISTIC = "text-explicit/logistic/spread_out"
POISSON = "text-explicit/poisson/spread_out"
EXPONENTIAL = "text-explicit/exponential/spread_out"


@pytest.fixture(scope="module")
def suite():
    """Load the suite once."""
    return load_suite("v1")


def asked(name, tasks, n=100, seed=0, n_asked=1):
    """Ask a simulated model."""
    client = SimulatedClient(name, seed=seed)

    async def ask():
        return [
            await client.ask(Request(task, i, (), n_asked))
            for task in tasks
            for i in range(n // n_asked)
        ]

    return asyncio.run(ask())


def words(name, tasks, **how):
    """Return the word of each task."""
    return [one.word for one in diagnose(tasks, asked(name, tasks, **how)).tasks]


@pytest.mark.parametrize(
    ("name", "task", "word"),
    [
        ("refusing:0.3", NORMAL, "format"),
        ("outside:0.3", EXPONENTIAL, "off-support"),
        ("outside:0.3", POISSON, "off-support"),
        ("cycling", NORMAL, "order"),
        ("cycling:7", POISSON, "order"),
        ("median", NORMAL, "collapse"),
        ("median", POISSON, "collapse"),
        ("kpoint:3", NORMAL, "collapse"),
        ("kpoint:2", POISSON, "collapse"),
        ("rounded:0", NORMAL, "rounding"),
        ("rounded:0", LOGISTIC, "rounding"),
        ("shifted:0.6", NORMAL, "shift"),
        ("shifted:-0.6", LOGISTIC, "shift"),
        ("shifted:1", POISSON, "shift"),
        ("scaled:2", NORMAL, "scale"),
        ("scaled:0.5", LOGISTIC, "scale"),
        ("tempered:4", POISSON, "scale"),
        ("heavy:1", NORMAL, "tails"),
        ("heavy:1", LOGISTIC, "tails"),
        ("lumpy:2", NORMAL, "shape"),
        ("lumpy:2", EXPONENTIAL, "shape"),
    ],
)
def test_each_model_earns_its_word(suite, name, task, word):
    """In nine of ten seeds or more a model with one fault is given the word for it."""
    counted = Counter(words(name, [suite[task]], seed=seed)[0] for seed in range(10))
    assert counted[word] >= 9, counted


def test_every_word_has_a_model():
    """The models above earn every word but those for nothing found and too little given."""
    (mark,) = test_each_model_earns_its_word.pytestmark
    assert {word for _, _, word in mark.args[1]} | {"none", "too few"} == set(WORDS)


def test_the_perfect_model_earns_no_word(suite):
    """Over tasks of every kind the perfect model is given nothing."""
    tasks = list(suite)[::9]
    assert set(words("perfect", tasks)) == {"none"}
    assert set(words("perfect", tasks, n_asked=20)) == {"none"}


@pytest.mark.slow
def test_error_rate_is_as_stated(suite):
    """Faithful samplers are given a word at the stated rate or less, over the whole suite."""
    level, n_seeds = 0.02, 4
    tasks = list(suite)
    wrong = 0
    for seed in range(n_seeds):
        found = diagnose(tasks, asked("perfect", tasks, seed=seed), level=level)
        wrong += sum(one.word != "none" for one in found.tasks)
    n = n_seeds * len(tasks)
    assert wrong / n <= level + 3 * math.sqrt(level * (1 - level) / n)


def test_nominal_tasks_have_words_too(suite):
    """Labels and orders collapse, follow another law, fail in form and depend on each other."""
    tasks = [task for task in suite if task.support == "nominal"]
    assert set(words("median", tasks)) == {"collapse"}
    assert set(words("refusing:0.5", tasks)) == {"format"}
    assert set(words("cycling:2", tasks)) == {"order"}
    assert "shape" in words("uniform", tasks)


def test_evidence_names_the_size_of_the_fault(suite):
    """Shift, ratio and step are near the ones that were put in."""
    task = [suite[NORMAL]]
    shift = diagnose(task, asked("shifted:0.8", task)).tasks[0]
    assert shift.evidence["shift / IQR"] == pytest.approx(0.8, abs=0.3)
    scale = diagnose(task, asked("scaled:3", task)).tasks[0]
    assert scale.evidence["ratio"] == pytest.approx(3, rel=0.3)
    rounding = diagnose(task, asked("rounded:0", task)).tasks[0]
    assert rounding.evidence["step"] == 1.0
    assert "step 1" in rounding.sentence


def test_run_summary_counts(suite):
    """The summary counts each word, and tells whether the answers are independent."""
    tasks = [suite[NORMAL], suite[POISSON]]
    found = diagnose(tasks, asked("cycling", tasks))
    assert found.counts == {"order": 2}
    assert not found.is_independent
    assert "not independent (2 tasks whose answers depend on" in found.summary
    assert diagnose(tasks, asked("perfect", tasks)).is_independent


def replies(task, texts, n_asked=1):
    """Make completions of texts."""
    return [Completion(task.id, i, text, n_asked=n_asked) for i, text in enumerate(texts)]


def test_bad_answers_have_an_outcome(suite):
    """No answer, one answer, infinite ones and short replies of a batch have a word each."""
    task = suite[NORMAL]
    assert diagnose([task], []).tasks[0].word == "too few"
    assert diagnose([task], replies(task, ["1.5"])).tasks[0].word == "too few"
    assert diagnose([task], replies(task, ["7"] * 100)).tasks[0].word == "collapse"
    uneven = replies(task, ["[1.5, 2.5, 3.1]", "[4.25]", "[]", "[2.125, 9.5]"], n_asked=3)
    assert diagnose([task], uneven).tasks[0].word == "format"


def test_level_is_checked(suite):
    """A level outside of (0, 1) is refused."""
    with pytest.raises(InputError, match="level must lie strictly between 0 and 1, got 0"):
        diagnose([suite[NORMAL]], [], level=0)


@pytest.mark.parametrize(
    ("values", "step"),
    [
        ([1.5, 2.5, 7.0], 0.5),
        ([10, 30, 20], 10),
        ([100, 250, 50], 50),
        ([0.3, 0.12, 0.9], 0.01),
        ([5, 5, 5], None),
        ([math.pi, math.e, 1.0], None),
        ([0, 0], None),
    ],
)
def test_lattices_are_found(values, step):
    """The largest step of a decimal lattice is found, none for constants and free numbers."""
    found = lattice_step(np.array(values, dtype=float))
    assert found == (None if step is None else pytest.approx(step))


def test_occupancy_bound_holds():
    """The bound is at least the simulated probability of so few different values."""
    law = target_from_spec({"family": "poisson", "params": {"rate": 4}})
    cells, rng = own_cells(law), stream("test", "occupancy")
    counts = [np.unique(law.sample(30, rng)).size for _ in range(2000)]
    expected = occupancy(law.sample(30, rng), cells).expected
    assert np.mean(counts) == pytest.approx(expected, abs=0.1)
    for k in range(1, 8):
        bound = occupancy(np.arange(30.0) % k, cells).pvalue
        assert bound >= np.mean(np.array(counts) <= k) - 0.01


def test_cells_of_a_rounded_law_sum_to_one():
    """The cells of a law rounded to a lattice hold all of it."""
    law = target_from_spec({"family": "normal", "params": {"mean": 0, "sd": 1}})
    assert rounded_cells(law, 0.5).sum() == pytest.approx(1, abs=1e-5)
    assert rounded_cells(law, 1e-7) is None


def test_command_prints_words_and_json(suite, tmp_path):
    """The command prints a line a finding and a summary, or all of it as JSON."""
    generate(suite, SimulatedClient("median"), tmp_path / "r", n_samples=30, limit_tasks=1)
    result = CliRunner().invoke(group, ["diagnose", str(tmp_path / "r")], catch_exceptions=False)
    assert result.exit_code == 0
    assert "7 tasks: collapse 7" in result.stdout.splitlines()[-1]
    result = CliRunner().invoke(group, ["diagnose", str(tmp_path / "r"), "--json"])
    (run,) = json.loads(result.stdout)["runs"]
    assert run["counts"] == {"collapse": 7}
    assert {one["word"] for one in run["tasks"]} == {"collapse"}
