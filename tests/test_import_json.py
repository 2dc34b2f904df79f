"""Long JSON lists are read element by element, whatever the size of the pieces and the damage."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from unpredictabench.errors import InputError
from unpredictabench.integrations import jsonstream
from unpredictabench.integrations.files import natural
from unpredictabench.integrations.jsonstream import DamagedError, elements
from unpredictabench.targets import target_from_spec

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)
CALM = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def prefix(path):
    """Return what can be read of a file, and whether it ended well."""
    found = []
    try:
        found.extend(elements(path))
    except DamagedError:
        return found, False
    return found, True


@CALM
@given(values=st.lists(VALUES, max_size=6), chunk=st.integers(1, 9), indent=st.none() | st.just(1))
def test_any_pieces_give_the_list(tmp_path, monkeypatch, values, chunk, indent):
    """However small the pieces read, the elements are those of the whole file."""
    monkeypatch.setattr(jsonstream, "CHUNK", chunk)
    file = tmp_path / "x.json"
    file.write_text(json.dumps(values, indent=indent, ensure_ascii=False), encoding="utf-8")
    assert prefix(file) == (values, True)


@CALM
@given(values=st.lists(VALUES, min_size=1, max_size=5), chunk=st.integers(1, 9), data=st.data())
def test_a_cut_file_gives_a_beginning(tmp_path, monkeypatch, values, chunk, data):
    """A list cut anywhere gives whole elements from its beginning, and says that it is cut."""
    monkeypatch.setattr(jsonstream, "CHUNK", chunk)
    text = json.dumps([[value] for value in values])
    file = tmp_path / "x.json"
    file.write_text(text[: data.draw(st.integers(0, len(text) - 1))])
    found, is_whole = prefix(file)
    assert not is_whole
    assert found == [[value] for value in values][: len(found)]


def test_values_one_after_the_other_are_read(tmp_path):
    """A file of JSON lines under the name of a JSON file gives its lines."""
    file = tmp_path / "x.json"
    file.write_text('{"a": 1}\n{"a": 2}\n')
    assert prefix(file) == ([{"a": 1}, {"a": 2}], True)


def test_marks_nan_and_broken_bytes_are_read(tmp_path):
    """A byte order mark is passed, NaN is a number, bytes that are no UTF-8 survive."""
    file = tmp_path / "x.json"
    file.write_bytes(b'\xef\xbb\xbf[NaN, "\xff"]')
    (number, text), is_whole = prefix(file)
    assert is_whole
    assert math.isnan(number)
    assert text.encode("utf-8", "surrogateescape") == b"\xff"


@pytest.mark.parametrize("text", ["[1 2]", "[1, 2] 3", "[1,]", "{", "[tru]", "", " ", "[1"])
def test_damage_is_said(tmp_path, text):
    """What is no JSON raises after the good elements."""
    file = tmp_path / "x.json"
    file.write_text(text)
    assert not prefix(file)[1]


def test_long_elements_are_refused(tmp_path, monkeypatch):
    """An element beyond the limit ends the reading without being held whole."""
    monkeypatch.setattr(jsonstream, "CHUNK", 16)
    monkeypatch.setattr(jsonstream, "MOST_CHARACTERS", 100)
    file = tmp_path / "x.json"
    file.write_text(json.dumps(["a", "b" * 10_000]))
    with pytest.raises(DamagedError, match="too long"):
        list(elements(file))


def test_numbers_in_names_sort_as_numbers():
    """run_2 comes before run_10, whatever stands around them."""
    paths = [Path(f"a/run_{n}/x.json") for n in (1, 10, 100, 2)]
    assert [path.parent.name for path in sorted(paths, key=natural)] == [
        "run_1", "run_2", "run_10", "run_100",
    ]  # fmt: skip


def test_a_law_keeps_draws_made_elsewhere():
    """The draws are given back in their order, and the law behind them is unchanged."""
    spec = {"family": "poisson", "params": {"rate": 3}}
    values = [5, 1, 4]
    drawn = target_from_spec({"drawn": {"law": spec, "values": values}})
    assert drawn.draws(10, "any name").tolist() == values
    assert drawn.draws(2, "any name").tolist() == values[:2]
    assert np.array_equal(drawn.cdf(range(9)), target_from_spec(spec).cdf(range(9)))
    assert target_from_spec(drawn.spec).hash == drawn.hash != target_from_spec(spec).hash


@pytest.mark.parametrize("values", [[0, 2], [0, 0.5], [-1, 0], [1]])
def test_draws_of_labels_are_indices(values):
    """Draws of a nominal law must be numbers of its outcomes."""
    law = {"nominal": {"outcomes": ["a", "b"], "probabilities": [0.5, 0.5]}}
    with pytest.raises(InputError, match="drawn.values"):
        target_from_spec({"drawn": {"law": law, "values": values}})
