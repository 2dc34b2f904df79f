"""A file is written whole or stays as it was, whatever happens while it is written."""

from __future__ import annotations

import contextlib
import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from unpredictabench._whole import whole
from unpredictabench.errors import OutputError


def names(folder):
    """Return what is in a folder."""
    return sorted(file.name for file in folder.iterdir())


def test_a_file_is_whole_or_as_it_was(tmp_path):
    """Until the end the old content stands, after an error it stays, and no draft is left."""
    file = tmp_path / "a" / "b.txt"
    with whole(file) as draft:
        draft.write_text("first")
        assert not file.exists()
    with contextlib.suppress(ZeroDivisionError), whole(file) as draft:
        draft.write_text("half")
        assert file.read_text() == "first"
        raise ZeroDivisionError
    assert (file.read_text(), names(file.parent)) == ("first", ["b.txt"])
    with whole(file) as draft:
        draft.write_text("second")
    assert (file.read_text(), names(file.parent)) == ("second", ["b.txt"])
    assert stat.S_IMODE(file.stat().st_mode) == 0o666 & ~_umask()


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


KILLED = """
import os, signal, sys
from unpredictabench._whole import whole
with whole(sys.argv[1]) as draft:
    draft.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_writer_leaves_the_old_file(tmp_path):
    """SIGKILL between the draft and the file leaves the file, and at most a hidden draft."""
    file = tmp_path / "b.txt"
    file.write_text("old")
    done = subprocess.run([sys.executable, "-c", KILLED, file], check=False)
    assert done.returncode == -signal.SIGKILL
    assert file.read_text() == "old"
    assert all(name.startswith(".") and name.endswith(".part") for name in names(tmp_path)[:-1])


def test_the_content_reaches_the_disk_before_the_name(tmp_path, monkeypatch):
    """The draft is synchronised before it takes the name, and the folder after it."""
    done = []
    replace = Path.replace
    monkeypatch.setattr(os, "fsync", lambda _: done.append("sync"))
    monkeypatch.setattr(Path, "replace", lambda a, b: (done.append("name"), replace(a, b)))
    with whole(tmp_path / "x") as draft:
        draft.write_text("x")
    assert done == ["sync", "name", "sync"]
    with whole(tmp_path / "y", is_synced=False) as draft:
        draft.write_text("y")
    assert done[3:] == ["name"]


def test_links_are_followed_and_devices_written_as_they_are(tmp_path):
    """A link keeps pointing at its file; a device stays one."""
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    with whole(tmp_path / "link") as draft:
        draft.write_text("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"
    with whole("/dev/null") as draft:
        draft.write_text("nothing")
    assert Path("/dev/null").is_char_device()


def test_threads_may_write_one_file_at_once(tmp_path):
    """Each has a draft of its own; the file is that of one of them, whole."""
    start = threading.Barrier(8)

    def write(letter):
        start.wait()
        for _ in range(20):
            with whole(tmp_path / "x", is_synced=False) as draft:
                draft.write_text(letter * 10_000)

    threads = [threading.Thread(target=write, args=(letter,)) for letter in "abcdefgh"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set((tmp_path / "x").read_text())) == 1
    assert names(tmp_path) == ["x"]


@pytest.mark.parametrize("name", ["file/x", ".", "a" * 300])
def test_what_cannot_be_written_is_named_with_what_to_do(tmp_path, name):
    """A file in place of a folder, a folder in place of a file, and a name too long."""
    (tmp_path / "file").touch()
    said = "cannot be written .*: make room, make the folder"
    with pytest.raises(OutputError, match=said), whole(tmp_path / name) as draft:
        draft.write_text("x")
    assert names(tmp_path) == ["file"]
