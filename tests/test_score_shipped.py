"""The tables that come with the package: whole, of this suite, and what would be computed."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest

from answering import simulated
from unpredictabench.score import document, floors, score_records, shipped, tabulate
from unpredictabench.score.labels import drawn_pvalue, drawn_tail, is_shuffle, label_law
from unpredictabench.score.numbers import is_known
from unpredictabench.score.rules import SIZES, Rules
from unpredictabench.score.samplers import baselines, simulated_rates
from unpredictabench.stats import _bands, _nominal
from unpredictabench.stats._laws import law_of
from unpredictabench.tasks import load_suite

NAMES = (
    "text-explicit/poisson/spread_out",
    "text-explicit/rectified-gaussian/spread_out",
    "text-implicit/normal/concentrated",
    "real-world/two-choices",
    "shuffling/three-animals",
)


@pytest.fixture(autouse=True)
def _cache(tmp_path, monkeypatch):
    """Look nothing up that an earlier test or run has kept."""
    monkeypatch.setenv("UNPREDICTABENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(_bands, "_REMEMBERED", {})
    monkeypatch.setattr(_nominal, "_REMEMBERED", {})


@pytest.fixture(scope="module")
def tables():
    """Return the tables of the package."""
    return shipped.shipped()


@pytest.fixture(scope="module")
def tasks():
    """Return a few tasks of every kind."""
    return [load_suite("v1")[name] for name in NAMES]


def test_the_tables_are_those_of_the_suite(tables):
    """File, suite and constants agree: else `python -m unpredictabench.score.tabulate` is due."""
    assert tables.suite_hash == load_suite("v1").hash
    assert tables.key == tabulate.key()


def test_every_task_of_the_suite_is_there(tables):
    """No law with atoms, no label and no floor of the suite is left to be computed."""
    tasks = list(load_suite("v1"))
    stepped = [t.target for t in tasks if t.support in {"discrete", "mixed"} and is_known(t)]
    labels = [t.target for t in tasks if t.support == "nominal" and not is_shuffle(t)]
    assert tables.known(tables.bands, [shipped.law_name(law) for law in stepped]) is not None
    assert tables.known(tables.criticals, [shipped.law_name(law) for law in labels]) is not None
    names = [shipped.task_name(task) for task in tasks]
    assert tables.known(tables.floors, names).shape == (448, len(floors.GRID))
    for sampler in tabulate.SAMPLERS:
        assert tables.known(tables.baselines, [f"{sampler}/{n}" for n in names]) is not None


def test_bands_and_critical_values_are_those_that_would_be_computed(tables, tasks):
    """A sample of the tables, computed anew, agrees to rounding."""
    for task in tasks[:2]:
        computed = _bands.law_bands(law_of(task.target), tables.n, 1e-4, None)
        assert tables.bands[shipped.law_name(task.target)] == pytest.approx(computed, abs=1e-10)
    computed = tabulate.criticals(tasks[3], tabulate.LABEL_SIZES)
    assert tables.criticals[shipped.law_name(tasks[3].target)] == pytest.approx(computed, abs=1e-12)


def test_floors_and_simple_samplers_are_those_that_would_be_computed(tables, tasks):
    """Floors and pass rates are draws from named streams, and the same when drawn again."""
    for task in (tasks[0], tasks[3]):
        computed = floors.simulated(task, floors.GRID[:6])
        assert tables.floors[shipped.task_name(task)][:6] == pytest.approx(computed, abs=1e-9)
    for sampler in ("kpoint:3", "rounded:1"):
        computed = simulated_rates(sampler, tasks, Rules(), 100)
        names = [f"{sampler}/{shipped.task_name(task)}" for task in tasks]
        assert tables.known(tables.baselines, names) == pytest.approx(computed, abs=1e-9)


def test_drawn_nulls_are_those_that_would_be_drawn(tables):
    """The tail of a drawn null, drawn again, is the same, and gives the p-value of the test."""
    task = load_suite("v1")["real-world/bloom-filter"]
    tail = drawn_tail(task, 100)
    assert np.array_equal(tables.tails[f"{shipped.law_name(task.target)}/100"], tail)
    law, counts = label_law(task), np.array([[45, 55]])
    distance = float(law.distances(counts, np.array([0]))[0])
    assert drawn_pvalue(task, 100, distance) == law.pvalues(100, counts, np.array([0]))[0]
    assert drawn_pvalue(task, 100, 1.0) == 1 / 10_000_001
    assert drawn_pvalue(task, 100, 0.0) == 1.0


def test_scores_do_not_depend_on_the_tables(tasks, monkeypatch, tmp_path):
    """Scores and baselines are the same where no tables come with the package."""
    completions = simulated("kpoint:5", tasks, 100)

    def everything():
        found = score_records(tasks, completions, n_resamples=99)
        rows = baselines(tasks, Rules(), n_slots=100, decimals=1)
        return json.loads(
            json.dumps(document([(found, rows)])), parse_float=lambda x: f"{float(x):.9g}"
        )

    with_tables = everything()
    monkeypatch.setattr(shipped, "opened", lambda _: None)
    shipped.shipped.cache_clear()
    monkeypatch.setattr(_bands, "_REMEMBERED", {})
    monkeypatch.setattr(_nominal, "_REMEMBERED", {})
    try:
        assert shipped.shipped() is None
        assert everything() == with_tables
    finally:
        shipped.shipped.cache_clear()
    assert any((tmp_path / "cache" / "draws").iterdir())


def test_other_levels_and_sizes_are_computed(tasks):
    """At another level, or beyond the sizes of the tables, nothing is taken from them."""
    tables = shipped.shipped()
    found = score_records(
        tasks[:1], simulated("kpoint:5", tasks[:1], 120), n=(110,), alpha=1e-3, n_resamples=9
    )
    assert tables.alpha == 1e-4
    assert 110 not in tables.n
    assert found.tasks[0].pass_rates[110] is not None
    assert 0 < found.tasks[0].attainable_sizes[110] <= 1e-3
    assert set(SIZES) <= set(tables.n.tolist())


@pytest.mark.parametrize("place", [0, 40, -1])
def test_damaged_tables_are_not_used(tables, place):
    """A file with one byte changed is no table; a whole one is read as it was written."""
    data = bytearray(shipped.closed(tables))
    again = shipped.opened(bytes(data))
    assert again.key == tables.key
    assert all(np.array_equal(again.bands[name], row) for name, row in tables.bands.items())
    data[place] ^= 1
    assert shipped.opened(bytes(data)) is None


@pytest.mark.parametrize("how", ["switched off", "unreadable", "missing"])
def test_tables_that_cannot_be_had_are_none(how, monkeypatch, tmp_path):
    """Switched off, unreadable or missing, the tables only cost time."""
    if how == "switched off":
        monkeypatch.setenv(shipped.SWITCH, "1")
    else:
        file = tmp_path / "data" / f"{shipped.SUITE}.npz"
        if how == "unreadable":
            file.mkdir(parents=True)
        monkeypatch.setattr(shipped, "files", lambda _: tmp_path)
    shipped.shipped.cache_clear()
    try:
        assert shipped.shipped() is None
    finally:
        shipped.shipped.cache_clear()


def test_tables_are_made_from_nothing(monkeypatch, tmp_path):
    """What is written takes nothing over from tables or caches, and stands there whole."""
    seen = []

    def watched(tasks, suite_hash):
        seen.append((len(tasks), shipped.shipped(), os.environ["UNPREDICTABENCH_CACHE"]))
        return tabulate_one(tasks[:1], suite_hash)

    tabulate_one = tabulate.tabulate
    monkeypatch.setenv(shipped.SWITCH, "")
    monkeypatch.setattr(tabulate, "tabulate", watched)
    shipped.shipped.cache_clear()
    try:
        tabulate.main([str(tmp_path / "deep" / "v1.npz")])
    finally:
        shipped.shipped.cache_clear()
    assert seen == [(448, None, "")]
    made = shipped.opened((tmp_path / "deep" / "v1.npz").read_bytes())
    assert (made.key, len(made.floors)) == (tabulate.key(), 1)
