"""A run keeps every answer once, as it came, whatever happens to the process and the disk."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unpredictabench.errors import StoreError
from unpredictabench.records import Completion, Message, Settings
from unpredictabench.store import lock, open_run, open_writer, schema, writing
from unpredictabench.store.rows import Planned, from_row, to_row

SETTINGS = Settings("m", "v1", "hash", parameters={"temperature": 1.0, "max_tokens": 32})
PLAN = {
    "a/b": Planned(100, (Message("user", "Draw a number."),)),
    "a/c": Planned(100, (Message("user", "Draw another."),)),
}


def answer(index: int, text: str | None = "7", task: str = "a/b") -> Completion:
    """Return a completion with every field set."""
    return Completion(
        task, index, text, "ok", "thought", "stop", "m-1", "fp", f"id-{index}", 10, 2,
        1e9 + index / 3, 0.1 + index, 2, index * 7, 1,
    )  # fmt: skip


ANY_TEXT = st.none() | st.text(st.characters(exclude_categories=()), max_size=30)


@given(text=ANY_TEXT, reason=ANY_TEXT, count=st.none() | st.integers(-(2**63), 2**63 - 1))
def test_a_row_is_read_back_equal(text, reason, count):
    """Every text, lone surrogates and NUL included, comes back equal through SQLite."""
    before = dataclasses.replace(answer(0, text), finish_reason=reason, prompt_tokens=count)
    connection = sqlite3.connect(":memory:", isolation_level=None)
    schema.migrate(connection, Path())
    connection.execute(f"INSERT INTO completions VALUES ({','.join('?' * 16)})", to_row(before))
    (row,) = connection.execute("SELECT * FROM completions")
    connection.close()
    assert from_row(row) == before


@pytest.mark.parametrize("text", ["x\ud83d", "a\u2028b\u2029c", "nul\x00in", "", None])
def test_sto_lone_surrogate(tmp_path, text):
    """Half an emoji, line separators, NUL, the empty and the missing text survive the file."""
    with open_writer(tmp_path, SETTINGS, PLAN) as writer:
        writer.append(answer(0, text))
    assert [c.text for c in open_run(tmp_path).completions()] == [text]


def test_a_new_run_tells_what_was_planned_and_stored(tmp_path):
    """Settings, plan, counts and log are read back as they were written."""
    with open_writer(tmp_path / "deep" / "run", SETTINGS, PLAN) as writer:
        assert not writer.is_resumed
        writer.log("started", {"n": 1})
        writer.append(answer(3))
    run = open_run(tmp_path / "deep" / "run")
    assert (run.settings, run.plan) == (SETTINGS, PLAN)
    assert (run.n_stored, run.n_missing, run.is_complete) == (1, 199, False)
    assert [(e.kind, e.data) for e in run.events] == [("started", {"n": 1})]
    assert list(run.completions("a/b")) == [answer(3)]
    assert list(run.completions("a/c")) == []
    assert open_run(run.path / "run.sqlite").path == run.path


def test_the_first_answer_of_a_slot_stays(tmp_path):
    """A late duplicate is counted and changes nothing, in the same session and in the next."""
    for text in ("first", "second"):
        with open_writer(tmp_path, SETTINGS, PLAN) as writer:
            writer.append(answer(0, text))
            writer.append(answer(0, "late"))
            writer.append(answer(int(text == "second"), text))
            writer.flush()
        assert (writer.n_written, writer.n_duplicates) == ((1, 2), (1, 2))[text == "second"]
    assert [c.text for c in open_run(tmp_path).completions()] == ["first", "second"]


@pytest.mark.parametrize("table", ["settings", "plan", "events", "completions"])
@pytest.mark.parametrize("sql", ["DELETE FROM {}", "UPDATE {} SET rowid = rowid + 9"])
def test_nothing_stored_can_be_changed(tmp_path, table, sql):
    """The file itself refuses to update or delete, whoever asks."""
    with open_writer(tmp_path, SETTINGS, PLAN) as writer:
        writer.append(answer(0))
        writer.log("started")
    connection = sqlite3.connect(tmp_path / "run.sqlite")
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        connection.execute(sql.format(table))
    connection.close()


def test_replacing_a_completion_keeps_the_first(tmp_path):
    """INSERT OR REPLACE, which runs no delete trigger, keeps the first answer too."""
    with open_writer(tmp_path, SETTINGS, PLAN) as writer:
        writer.append(answer(0, "first"))
    connection = sqlite3.connect(tmp_path / "run.sqlite", isolation_level=None)
    values = to_row(answer(0, "second"))
    connection.execute(f"INSERT OR REPLACE INTO completions VALUES ({','.join('?' * 16)})", values)
    connection.close()
    assert [c.text for c in open_run(tmp_path).completions()] == ["first"]


def test_sto_two_writers(tmp_path):
    """A second writer is refused and told which process holds the run; readers are not."""
    with open_writer(tmp_path, SETTINGS, PLAN) as writer:
        with pytest.raises(StoreError, match=f"written by process {os.getpid()}"):
            open_writer(tmp_path, SETTINGS, PLAN)
        writer.append(answer(0))
        writer.flush()
        assert open_run(tmp_path).n_stored == 1
    with open_writer(tmp_path, SETTINGS, PLAN) as writer:
        assert writer.is_resumed


def test_sto_two_writers_in_two_processes(tmp_path):
    """The lock holds between processes and dies with its holder, however that ends."""
    script = f"""
        import sys, time
        sys.path.insert(0, {str(Path(__file__).parent)!r})
        from test_store import PLAN, SETTINGS
        from unpredictabench.store import open_writer
        writer = open_writer({str(tmp_path)!r}, SETTINGS, PLAN)
        print("ready", flush=True)
        time.sleep(60)
    """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE
    ) as child:
        assert child.stdout.readline() == b"ready\n"
        with pytest.raises(StoreError, match=f"written by process {child.pid}"):
            open_writer(tmp_path, SETTINGS, PLAN)
        child.send_signal(signal.SIGKILL)
        child.wait()
    with open_writer(tmp_path, SETTINGS, PLAN) as writer:
        assert writer.is_resumed


CHANGES = {
    "model": ("other", '"m" -> "other"'),
    "suite_hash": ("B", '"hash" -> "B"'),
    "prompt_style": ("cot", '"direct" -> "cot"'),
    "sampling": ("batch", '"independent" -> "batch"'),
    "base_url": ("http://x", 'null -> "http://x"'),
    "stop": ("rule", '"never" -> "rule"'),
}


@pytest.mark.parametrize("name", CHANGES)
def test_sto_resume_changed_settings(tmp_path, name):
    """Resuming with another setting is refused; the message holds its name and both values."""
    value, shown = CHANGES[name]
    open_writer(tmp_path, SETTINGS, PLAN).close()
    with pytest.raises(StoreError) as caught:
        open_writer(tmp_path, dataclasses.replace(SETTINGS, **{name: value}), PLAN)
    assert f"other settings: {name} ({shown});" in str(caught.value)
    open_writer(tmp_path, SETTINGS, PLAN).close()


def test_sto_mixed_temperatures(tmp_path):
    """Another temperature is another run: the message names that parameter and no other."""
    open_writer(tmp_path, SETTINGS, PLAN).close()
    hot = dataclasses.replace(SETTINGS, parameters={"max_tokens": 32, "temperature": 0.2})
    with pytest.raises(StoreError, match=r"settings: parameters.temperature \(1.0 -> 0.2\);"):
        open_writer(tmp_path, hot, PLAN)


def test_a_task_asked_in_other_words_is_refused(tmp_path):
    """Changed wording is found for each task, whatever the settings say."""
    open_writer(tmp_path, SETTINGS, PLAN).close()
    reworded = PLAN | {"a/c": Planned(100, (Message("user", "Draw, please."),))}
    with pytest.raises(StoreError, match="1 of these tasks in other words, first 'a/c'"):
        open_writer(tmp_path, SETTINGS, reworded)
    assert open_run(tmp_path).plan == PLAN


def test_a_plan_only_grows(tmp_path):
    """More slots and more tasks may be asked later; asking fewer forgets nothing."""
    open_writer(tmp_path, SETTINGS, {"a/b": dataclasses.replace(PLAN["a/b"], n_slots=5)}).close()
    open_writer(tmp_path, SETTINGS, PLAN).close()
    open_writer(tmp_path, SETTINGS, {"a/b": dataclasses.replace(PLAN["a/b"], n_slots=7)}).close()
    assert open_run(tmp_path).plan == PLAN


def test_older_schemas_are_migrated_and_newer_ones_refused(tmp_path, monkeypatch):
    """An older file is read through a copy and moved forward by a writer; a newer is refused."""
    with open_writer(tmp_path, SETTINGS, PLAN) as writer:
        writer.append(answer(0))
    step = ("CREATE TABLE notes (text TEXT)",)
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, step))
    before = (tmp_path / "run.sqlite").read_bytes()
    assert open_run(tmp_path).n_stored == 1
    assert (tmp_path / "run.sqlite").read_bytes() == before
    open_writer(tmp_path, SETTINGS, PLAN).close()
    assert open_run(tmp_path).n_stored == 1
    monkeypatch.undo()
    for opening in (open_run, lambda path: open_writer(path, SETTINGS, PLAN)):
        with pytest.raises(StoreError, match=r"newer unpredictabench \(schema 2.* upgrade"):
            opening(tmp_path)


def test_foreign_and_broken_files_are_refused(tmp_path):
    """A folder without a run, another program's database and noise are told apart."""
    with pytest.raises(StoreError, match=r"holds no run \(there is no run.sqlite\)"):
        open_run(tmp_path)
    connection = sqlite3.connect(tmp_path / "run.sqlite")
    connection.execute("CREATE TABLE other (x)")
    connection.close()
    with pytest.raises(StoreError, match="an SQLite file but not a run"):
        open_run(tmp_path)
    (tmp_path / "run.sqlite").write_bytes(b"not a database at all, but long enough" * 99)
    with pytest.raises(StoreError, match="cannot be read: file is not a database"):
        open_run(tmp_path)
    (tmp_path / "run.sqlite").write_bytes(b"")
    with pytest.raises(StoreError, match="never started"):
        open_run(tmp_path)


def test_a_full_disk_is_one_sentence_and_keeps_what_was_stored(tmp_path):
    """When the file cannot grow, every call says so, and the committed rows stay."""
    writer = open_writer(tmp_path, SETTINGS, PLAN)
    writer.append(answer(0, "kept"))
    writer.flush()
    writer._connection.execute("PRAGMA max_page_count = 1")
    writer.append(answer(1, "x" * 1_000_000))
    for call in (writer.flush, writer.flush, lambda: writer.append(answer(2)), writer.close):
        with pytest.raises(StoreError) as caught:
            call()
        assert str(caught.value) == (
            f"{tmp_path} cannot be written (database or disk is full); everything stored so far "
            "is kept: make room or choose another folder with -o, then run the same command again"
        )
    assert [c.text for c in open_run(tmp_path).completions()] == ["kept"]
    open_writer(tmp_path, SETTINGS, PLAN).close()


def test_a_file_size_limit_is_met_like_a_full_disk(tmp_path):
    """A limit of the operating system ends the writer with the same sentence, rows kept."""
    script = f"""
        import resource, sys
        sys.path.insert(0, {str(Path(__file__).parent)!r})
        from test_store import PLAN, SETTINGS, answer
        from unpredictabench.errors import StoreError
        from unpredictabench.store import open_run, open_writer
        writer = open_writer({str(tmp_path)!r}, SETTINGS, PLAN)
        writer.append(answer(0, "kept"))
        writer.flush()
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
        try:
            for index in range(1, 100):
                writer.append(answer(index, "x" * 10_000))
                writer.flush()
        except StoreError as error:
            print(error)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(f"{tmp_path} cannot be written (")
    texts = [c.text for c in open_run(tmp_path).completions()]
    assert texts[0] == "kept"
    assert 1 < len(texts) < 100


def test_a_path_that_cannot_be_a_folder_is_named(tmp_path):
    """A run folder below a plain file is refused in one sentence that names the path."""
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"file/run cannot be written \(.*Not a directory"):
        open_writer(tmp_path / "file" / "run", SETTINGS, PLAN)


@contextlib.contextmanager
def unprivileged():
    """Act as nobody when the tests run as root, to whom every folder is writable."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def read_only_folder():
    """Give a folder every user can reach, whose permissions a test can take away."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()


@pytest.mark.parametrize("was_killed", [False, True])
def test_a_run_on_read_only_media_can_be_read(read_only_folder, tmp_path, was_killed):
    """A finished run, and one whose writer was killed, are read where nothing can be written."""
    with open_writer(tmp_path, SETTINGS, PLAN) as writer:
        writer.append(answer(0))
        writer.flush()
        names = ["run.sqlite", "run.sqlite-wal"] if was_killed else []
        for name in names:
            (read_only_folder / name).write_bytes((tmp_path / name).read_bytes())
    if not was_killed:
        (read_only_folder / "run.sqlite").write_bytes((tmp_path / "run.sqlite").read_bytes())
    read_only_folder.chmod(0o555)
    with unprivileged():
        assert list(open_run(read_only_folder).completions()) == [answer(0)]
        with pytest.raises(StoreError, match=r"cannot be written .* choose another folder"):
            open_writer(read_only_folder, SETTINGS, PLAN)


def test_a_finished_run_is_one_plain_file(tmp_path):
    """Closing leaves no WAL behind; with a reader in the way the WAL stays and is complete."""
    with open_writer(tmp_path, SETTINGS, PLAN) as writer:
        writer.append(answer(0))
    assert sorted(file.name for file in tmp_path.iterdir()) == ["run.lock", "run.sqlite"]
    run = open_run(tmp_path)
    reader = run.completions()
    next(reader)
    with open_writer(tmp_path, SETTINGS, PLAN) as writer:
        writer.append(answer(1))
    reader.close()
    assert open_run(tmp_path).n_stored == 2


def test_a_writer_closed_twice_is_closed_and_says_so(tmp_path):
    """Closing again does nothing; appending after it is an error."""
    writer = open_writer(tmp_path, SETTINGS, PLAN)
    writer.close()
    writer.close()
    with pytest.raises(StoreError, match="is closed"):
        writer.append(answer(0))


@settings(max_examples=5, deadline=None)
@given(n_threads=st.integers(1, 4))
def test_threads_may_append_at_once(n_threads):
    """Rows from several threads all arrive, each once."""
    with tempfile.TemporaryDirectory() as folder:
        with open_writer(folder, SETTINGS, PLAN) as writer:
            threads = [
                threading.Thread(
                    target=lambda k=k: [writer.append(answer(i * n_threads + k)) for i in range(50)]
                )
                for k in range(n_threads)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert open_run(folder).n_stored == 50 * n_threads


def test_full_synchronisation_is_an_option(tmp_path):
    """The stronger mode reaches SQLite."""
    for mode, level in (("normal", 1), ("full", 2)):
        with open_writer(tmp_path, SETTINGS, PLAN, synchronous=mode) as writer:
            assert writer._connection.execute("PRAGMA synchronous").fetchone() == (level,)


def test_a_failed_body_keeps_its_own_error(tmp_path):
    """An error inside the with block is not replaced by one of closing."""
    writer = open_writer(tmp_path, SETTINGS, PLAN)
    writer._failure = writing.cannot_write(tmp_path, OSError("gone"))
    with pytest.raises(ZeroDivisionError), writer:
        raise ZeroDivisionError


def test_a_folder_of_runs_is_answered_with_the_runs_in_it(tmp_path):
    """Who names the folder above sees what could have been meant."""
    for name in "ab":
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.sqlite").touch()
    with pytest.raises(StoreError, match=r"the runs in it are \S+/a, \S+/b$"):
        open_run(tmp_path)


def test_a_lock_that_was_removed_is_not_held(tmp_path):
    """Who waits for a lock whose owner removes it gets a new one, seen by all."""
    first = lock.acquire(tmp_path)
    (tmp_path / "kept").touch()
    lock.remove(tmp_path)
    lock.release(first)
    second = lock.acquire(tmp_path)
    with pytest.raises(StoreError, match="is being written by process"):
        lock.acquire(tmp_path)
    lock.release(second)
