"""Draws remembered on disk."""

from __future__ import annotations

import numpy as np
import pytest

from unpredictabench.targets import cache, target_from_spec

SPEC = {"family": "normal", "params": {"mean": 0, "sd": 1}}


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Point the cache at a folder of the test."""
    monkeypatch.setenv(cache.FOLDER_VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache" / "draws"


def files(place):
    """Return the stored files."""
    return sorted(place.iterdir())


def test_draws_are_stored_once_and_read_again(place, monkeypatch):
    """The second call reads what the first stored and draws nothing."""
    law = target_from_spec(SPEC)
    first = law.draws(50, "name")
    assert len(files(place)) == 1
    monkeypatch.setattr(type(law), "_sample", lambda *_: pytest.fail("drew again"))
    assert np.array_equal(law.draws(50, "name"), first)


def test_name_size_and_law_all_matter(place):
    """Another name, size or law gives other draws, each with its own file."""
    law, other = target_from_spec(SPEC), target_from_spec({**SPEC, "params": {"mean": 0, "sd": 2}})
    drawn = [law.draws(5, "a"), law.draws(5, "b"), law.draws(6, "a"), other.draws(5, "a")]
    assert len(files(place)) == 4
    assert len({float(x[0]) for x in drawn}) == 4


@pytest.mark.parametrize("damage", [b"", b"junk", "flip", "cut"])
def test_damaged_files_are_drawn_again(place, damage):
    """An empty, foreign, altered or shortened file is replaced by the same draws."""
    law = target_from_spec(SPEC)
    first = law.draws(50, "name")
    (path,) = files(place)
    whole = path.read_bytes()
    altered = whole[:-3] + bytes([whole[-3] ^ 1]) + whole[-2:]
    path.write_bytes({"flip": altered, "cut": whole[:-1]}.get(damage, damage))
    assert np.array_equal(law.draws(50, "name"), first)
    assert path.read_bytes() == whole


def test_a_folder_that_cannot_be_written_is_no_cache(tmp_path, monkeypatch):
    """Where the folder's place is taken by a file, draws are made and nothing is said."""
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    monkeypatch.setenv(cache.FOLDER_VARIABLE, str(blocked))
    law = target_from_spec(SPEC)
    assert np.array_equal(law.draws(5, "a"), law.draws(5, "a"))
    assert blocked.read_text() == "in the way"


def test_a_write_that_fails_leaves_nothing(place, monkeypatch):
    """A full disk leaves no partial file behind."""
    from pathlib import Path

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    target_from_spec(SPEC).draws(5, "a")
    assert files(place) == []


def test_empty_variable_means_no_cache(tmp_path, monkeypatch):
    """An empty variable turns the cache off; an unset one means the user's cache folder."""
    monkeypatch.setenv(cache.FOLDER_VARIABLE, "")
    assert cache.folder() is None
    assert target_from_spec(SPEC).draws(3, "a").shape == (3,)
    monkeypatch.delenv(cache.FOLDER_VARIABLE)
    assert cache.folder().name == "unpredictabench"
