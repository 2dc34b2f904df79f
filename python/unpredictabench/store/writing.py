"""The one writer of a run: appends from any thread, commits on a thread of its own."""

from __future__ import annotations

import contextlib
import queue
import sqlite3
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self, TypeAlias

from unpredictabench.errors import StoreError
from unpredictabench.records import Completion
from unpredictabench.store import damage, lock, rows, schema

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping, Sequence
    from types import TracebackType

    from unpredictabench.records import Settings
    from unpredictabench.store.rows import Planned

Synchronous: TypeAlias = Literal["normal", "full"]
LINGER_S = 0.05
"""How long a row may wait for company before its transaction: what a SIGKILL can cost."""


@dataclass(frozen=True, slots=True)
class _Note:
    """One line of the log on its way to the file."""

    at: float
    kind: str
    data: str


_Item: TypeAlias = Completion | _Note | threading.Event | None
"""What a writer's thread is handed: a row, a line of the log, a flush to answer, or the end."""


class Writer:
    """Append completions and log lines to a run; made by `open_writer`.

    Notes
    -----
    `append` and `log` only put the record on a queue, so an event loop is never blocked by the
    disk. A thread commits whatever has come together every `LINGER_S` seconds; with WAL and
    ``synchronous=NORMAL`` a committed row survives the death of the process at any instant
    (``"full"`` also survives a power cut). After the first failed write every call raises the
    same `StoreError`; what was committed before stays.
    """

    def __init__(
        self, path: Path, *, connection: sqlite3.Connection, descriptor: int, is_resumed: bool
    ) -> None:
        self.path = path
        self.is_resumed = is_resumed
        self.n_written = 0
        self.n_duplicates = 0
        self._connection = connection
        self._descriptor = descriptor
        self._queue: queue.SimpleQueue[_Item] = queue.SimpleQueue()
        self._hurry = threading.Event()
        self._failure: StoreError | None = None
        self._is_closed = False
        self._thread = threading.Thread(target=self._work, name="run-writer", daemon=True)
        self._thread.start()

    def append(self, completion: Completion) -> None:
        """Store a completion soon; a slot that already has one keeps its first."""
        self._check()
        self._queue.put(completion)

    def log(
        self, kind: str, data: Mapping[str, object] | None = None, *, at: float | None = None
    ) -> None:
        """Add a line to the run's log: what happened, JSON data about it, and when (now)."""
        self._check()
        moment = time.time() if at is None else at
        self._queue.put(_Note(moment, kind, rows.dumps(dict(data or {}))))

    def flush(self) -> None:
        """Return when everything appended before is committed; raise if it cannot be."""
        self._check()
        committed = threading.Event()
        self._queue.put(committed)
        self._hurry.set()
        committed.wait()
        self._check()

    def close(self) -> None:
        """Commit what is left, leave one plain file behind and let the next writer in."""
        if self._is_closed:
            return
        self._is_closed = True
        self._queue.put(None)
        self._hurry.set()
        self._thread.join()
        # Not possible while a reader is there, or on a full disk: the WAL then stays, complete.
        with contextlib.suppress(sqlite3.Error):
            self._connection.execute("PRAGMA busy_timeout = 100")
            self._connection.execute("PRAGMA journal_mode = DELETE")
        self._connection.close()
        lock.release(self._descriptor)
        if self._failure is not None:
            raise self._failure

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with contextlib.suppress(StoreError) if error else contextlib.nullcontext():
            self.close()

    def _check(self) -> None:
        if self._failure is not None:
            raise self._failure
        if self._is_closed:
            raise StoreError(f"{self.path} is closed; open the run again to write to it")

    def _work(self) -> None:
        batch: list[_Item] = []
        while None not in batch:
            batch = [self._queue.get()]
            self._hurry.wait(LINGER_S)
            self._hurry.clear()
            with contextlib.suppress(queue.Empty):
                while True:
                    batch.append(self._queue.get_nowait())
            if self._failure is None:
                self._failure = self._commit(batch)
            for item in batch:
                if isinstance(item, threading.Event):
                    item.set()

    def _commit(self, batch: Sequence[_Item]) -> StoreError | None:
        completions = [rows.to_row(item) for item in batch if isinstance(item, Completion)]
        notes = [(item.at, item.kind, item.data) for item in batch if isinstance(item, _Note)]
        try:
            with transaction(self._connection):
                n_new = self._connection.executemany(rows.INSERT, completions).rowcount
                self._connection.executemany("INSERT INTO events VALUES (?, ?, ?)", notes)
        except (sqlite3.Error, OverflowError, UnicodeDecodeError) as error:
            return cannot_write(self.path, error)
        self.n_written += max(n_new, 0)
        self.n_duplicates += len(completions) - max(n_new, 0)
        return None


def open_writer(
    path: str | os.PathLike[str],
    settings: Settings,
    plan: Mapping[str, Planned],
    *,
    synchronous: Synchronous = "normal",
) -> Writer:
    """Open a run folder for writing; a new or empty folder becomes a run.

    Parameters
    ----------
    path : path
        The run folder, made if need be.
    settings : Settings
        How the model is asked; a run made with other settings is refused.
    plan : mapping
        What is asked of each task, in order; it is added to what the run planned before.
    synchronous : {"normal", "full"}
        Whether a commit survives the death of the process, or also a power cut.

    Returns
    -------
    Writer
        Use it as a context manager, or call its `close`.

    Raises
    ------
    StoreError
        The folder cannot be written, has another writer, is damaged, was made by a newer version,
        with other settings or in other words; the message says what differs.
    """
    folder = Path(path)
    with contextlib.ExitStack() as undo:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            descriptor = lock.acquire(folder)
            undo.callback(lock.release, descriptor)
            connection = _connect(folder / schema.FILE_NAME, synchronous)
            undo.callback(connection.close)
            schema.migrate(connection, folder)
            damage.check(connection, folder / schema.FILE_NAME)
            with transaction(connection):
                is_resumed = _settle(connection, settings, folder)
                _add_to_plan(connection, plan, folder)
        except (OSError, sqlite3.Error, UnicodeDecodeError) as error:
            # The last is what Python makes of SQLite's own message about damaged bytes.
            raise cannot_write(folder, error) from error
        undo.pop_all()
    return Writer(folder, connection=connection, descriptor=descriptor, is_resumed=is_resumed)


def forget_without_answers(path: str | os.PathLike[str]) -> None:
    """Remove a run that got no answer, so that it binds no later try and stands in no list of runs.

    Parameters
    ----------
    path : path
        The run folder. A run with an answer, or one that cannot be read or is being written, stays.
    """
    file = Path(path) / schema.FILE_NAME
    failures = (StoreError, OSError, sqlite3.Error, UnicodeDecodeError)
    with contextlib.suppress(*failures), contextlib.ExitStack() as undo:
        descriptor = lock.acquire(file.parent)
        undo.callback(lock.release, descriptor)
        connection = sqlite3.connect(file)
        undo.callback(connection.close)
        schema.version_of(connection, file)
        damage.check(connection, file)
        (has_answers,) = connection.execute("SELECT EXISTS (SELECT 1 FROM completions)").fetchone()
        if not has_answers:
            for name in (file, f"{file}-wal", f"{file}-shm"):
                Path(name).unlink(missing_ok=True)
            lock.remove(file.parent)


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Commit what is done inside at the end, or nothing of it."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):  # a full disk may have rolled back already
            connection.execute("ROLLBACK")
        raise


def cannot_write(path: Path, error: Exception) -> StoreError:
    """Say in one sentence that a run cannot be written, why, and what to do."""
    return StoreError(
        f"{path} cannot be written ({error}); everything stored so far is kept: make room or "
        "choose another folder with -o, then run the same command again"
    )


def _connect(file: Path, synchronous: Synchronous) -> sqlite3.Connection:
    connection = sqlite3.connect(file, isolation_level=None, check_same_thread=False, timeout=30)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(f"PRAGMA synchronous = {synchronous.upper()}")
    return connection


def _settle(connection: sqlite3.Connection, settings: Settings, folder: Path) -> bool:
    """Write the settings of a new run; compare them with those of an old one, and say which."""
    stored = dict(connection.execute("SELECT name, value FROM settings"))
    if not stored:
        items = rows.settings_to_items(settings).items()
        connection.executemany("INSERT INTO settings VALUES (?, ?)", items)
        return False
    with damage.named(folder / schema.FILE_NAME):
        earlier = rows.settings_from_items(stored)
    if differing := rows.differences(earlier, settings):
        raise StoreError(
            f"{folder} was made with other settings: {'; '.join(differing)}; use the old ones "
            "or choose another folder with -o"
        )
    return True


def _add_to_plan(connection: sqlite3.Connection, plan: Mapping[str, Planned], folder: Path) -> None:
    """Write down what is going to be asked; refuse a task that was asked in other words."""
    stored = dict(connection.execute("SELECT task, messages FROM plan"))
    wanted = [
        (rows.to_cell(task), planned.n_slots, rows.messages_to_json(planned.messages))
        for task, planned in plan.items()
    ]
    differing = [task for task, _, messages in wanted if stored.get(task, messages) != messages]
    if differing:
        raise StoreError(
            f"{folder} asked {len(differing)} of these tasks in other words, first "
            f"{differing[0]!r}; choose another folder with -o"
        )
    connection.executemany("INSERT OR IGNORE INTO plan VALUES (?, ?, ?)", wanted)
