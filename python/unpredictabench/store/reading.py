"""Read a run without changing it: while a writer is active, and on read-only media."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unpredictabench.errors import StoreError, listed
from unpredictabench.store import damage, rows, schema

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping

    from unpredictabench.records import Completion, Settings
    from unpredictabench.store.rows import Planned


@dataclass(frozen=True, slots=True)
class Event:
    """One line of a run's log.

    Parameters
    ----------
    at : float
        Seconds since the epoch.
    kind : str
        "started", "resumed", "stopped", "task-stopped", "imported", ...
    data : mapping
        What belongs to it.
    """

    at: float
    kind: str
    data: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Run:
    """A stored run as it was when it was opened; its answers are read when asked for.

    Parameters
    ----------
    path : Path
        The run folder.
    settings : Settings
        How the model was asked.
    plan : mapping
        What was asked of each task, in order: ``run.plan[task].n_slots`` and ``.messages``.
    n_stored : int
        Slots that hold an answer.
    n_missing : int
        Slots of the plan without one, where no stopping rule closed the task.
    n_spared : int
        Slots of the plan without one, because a stopping rule closed the task.
    events : tuple of Event
        The log.
    """

    path: Path
    settings: Settings
    plan: Mapping[str, Planned]
    n_stored: int
    n_missing: int
    n_spared: int
    events: tuple[Event, ...]

    @property
    def is_complete(self) -> bool:
        """Whether every slot that had to be asked holds an answer."""
        return self.n_missing == 0

    @property
    def ending(self) -> Mapping[str, Any]:
        """What the last session wrote when it ended; empty when it runs still or was killed."""
        sessions = [e for e in self.events if e.kind in {"started", "resumed", "stopped"}]
        return sessions[-1].data if sessions and sessions[-1].kind == "stopped" else {}

    @property
    def stop_reason(self) -> str | None:
        """Why it ended: "complete", "incomplete", "budget: ...", "interrupted", "failed: ..."."""
        return self.ending.get("reason")

    @property
    def failures(self) -> Mapping[str, int]:
        """Number of slots left without an answer in the last session, by kind of failure."""
        failures: dict[str, int] = self.ending.get("failures", {})
        return failures

    @property
    def marks(self) -> tuple[str, ...]:
        """What any session found suspicious: duplicates, a model that changed; the last wording."""
        marks: dict[str, str] = {}
        for event in self.events:
            found: Any = event.data.get("marks", {}) if event.kind == "stopped" else {}
            # Earlier versions kept the sentences alone.
            marks |= found if isinstance(found, dict) else {text: text for text in found}
        return tuple(marks.values())

    @property
    def stopped_tasks(self) -> frozenset[str]:
        """Tasks that a stopping rule closed before all their slots were asked."""
        return _stopped_tasks(self.events)

    def completions(self, task: str | None = None) -> Iterator[Completion]:
        """Yield the stored completions, of one task or of all, in the order of their slots."""
        where, values = ("WHERE task = ?", (rows.to_cell(task),)) if task is not None else ("", ())
        query = f'SELECT {rows.COLUMNS} FROM completions {where} ORDER BY task, "index"'  # noqa: S608 - names of a dataclass
        with reading(self.path) as connection:
            yield from map(rows.from_row, connection.execute(query, values))


def open_run(path: str | os.PathLike[str]) -> Run:
    """Open a stored run for reading.

    Parameters
    ----------
    path : path
        The run folder, or the ``run.sqlite`` in it. Other files in the folder, such as exports,
        are never read.

    Returns
    -------
    Run
        A snapshot; a run that is being written can be opened again to see more.

    Raises
    ------
    StoreError
        There is no run, or it is damaged or cannot be read.
    """
    folder = Path(path)
    folder = folder.parent if folder.name == schema.FILE_NAME and folder.is_file() else folder
    with reading(folder) as connection:
        connection.execute("BEGIN")  # one snapshot for all that follows
        damage.check(connection, folder / schema.FILE_NAME)
        return _snapshot(connection, folder)


def _snapshot(connection: sqlite3.Connection, folder: Path) -> Run:
    items = dict(connection.execute("SELECT name, value FROM settings"))
    planned = connection.execute("SELECT task, n_slots, messages FROM plan ORDER BY rowid")
    plan = rows.plan_from_rows(planned)
    log = connection.execute("SELECT at, kind, data FROM events ORDER BY rowid")
    events = tuple(Event(at, kind, rows.mapping_from_json(data)) for at, kind, data in log)
    n_answers = dict(connection.execute("SELECT task, count(*) FROM completions GROUP BY task"))
    if not items:
        raise StoreError(f"{folder} holds a run that never started; start it again")
    stopped = _stopped_tasks(events)
    n_open = {
        task: max(planned.n_slots - n_answers.get(rows.to_cell(task), 0), 0)
        for task, planned in plan.items()
    }
    n_spared = sum(n for task, n in n_open.items() if task in stopped)
    return Run(
        path=folder,
        settings=rows.settings_from_items(items),
        plan=plan,
        n_stored=sum(n_answers.values()),
        n_missing=sum(n_open.values()) - n_spared,
        n_spared=n_spared,
        events=events,
    )


@contextlib.contextmanager
def reading(folder: Path) -> Iterator[sqlite3.Connection]:
    """Open a run's file for reading and close it at the end."""
    file = folder / schema.FILE_NAME
    if not file.is_file():
        raise StoreError(_no_run(folder))
    with contextlib.ExitStack() as stack, damage.named(file):
        try:
            connection = _in_place(file) or _copied(file, stack)
            stack.callback(connection.close)
            yield connection
        except sqlite3.Error as error:
            raise StoreError(f"{file} cannot be read: {error}") from error


def _no_run(folder: Path) -> str:
    """Say that a folder is no run, and which of the folders in it are."""
    found = sorted(file.parent for file in folder.glob(f"*/{schema.FILE_NAME}"))
    advice = f"the runs in it are {listed(map(str, found))}" if found else "check the path"
    return f"{folder} holds no run (there is no {schema.FILE_NAME}); {advice}"


def _in_place(file: Path) -> sqlite3.Connection | None:
    """Open a file where it lies; None where that would need writing."""
    uri = f"{file.absolute().as_uri()}?mode=ro"
    connection = sqlite3.connect(uri, uri=True, check_same_thread=False, timeout=30)
    try:
        version = schema.version_of(connection, file)
    except sqlite3.OperationalError:
        # A WAL that a killed writer left on a medium where SQLite cannot rebuild its index.
        connection.close()
        return None
    except BaseException:
        connection.close()
        raise
    if version == len(schema.MIGRATIONS):
        return connection
    connection.close()
    return None


def _copied(file: Path, stack: contextlib.ExitStack) -> sqlite3.Connection:
    """Open a copy, brought to the present version; it goes when `stack` closes."""
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="unpredictabench-")))
    for source in (file, file.with_name(f"{file.name}-wal")):
        if source.is_file():
            shutil.copyfile(source, folder / source.name)
    connection = sqlite3.connect(
        folder / file.name, isolation_level=None, check_same_thread=False, timeout=30
    )
    try:
        schema.migrate(connection, file)
    except BaseException:
        connection.close()
        raise
    return connection


def _stopped_tasks(events: tuple[Event, ...]) -> frozenset[str]:
    return frozenset(str(event.data["task"]) for event in events if event.kind == "task-stopped")
