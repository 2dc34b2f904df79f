"""A suite: tasks by id, loaded at once and built when they are looked at."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from unpredictabench.errors import SuiteError, nearest
from unpredictabench.records import CATEGORIES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from unpredictabench.records import Task
    from unpredictabench.tasks.entry import Entry

SUPPORTS = ("continuous", "discrete", "mixed", "nominal")


class Suite:
    """An ordered, unchangeable collection of tasks.

    Iterating gives the tasks, ``suite[id]`` one of them, ``len(suite)`` their number.

    Parameters
    ----------
    name : str
        Name of the suite, e.g. ``"v1"``.
    version : str
        Version of its content.
    entries : iterable of Entry
        The tasks, with different ids.

    Examples
    --------
    >>> from unpredictabench.tasks import load_suite
    >>> suite = load_suite("v1")
    >>> len(suite), len(suite.select(category="shuffling"))
    (448, 20)
    """

    def __init__(self, name: str, version: str, entries: Iterable[Entry]) -> None:
        self._name, self._version = name, version
        self._entries = {entry.id: entry for entry in entries}
        self._tasks: dict[str, Task] = {}
        self._origin: Suite = self

    def __repr__(self) -> str:
        return f"<Suite {self.name} {self.version}: {len(self)} tasks>"

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Task]:
        return (self[name] for name in self._entries)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._entries

    def __getitem__(self, name: str) -> Task:
        if name not in self:
            raise SuiteError(
                f"suite {self.name} has no task {name!r}; the nearest ids are "
                f"{nearest(name, self._entries)}"
            )
        if name not in self._tasks:
            self._tasks[name] = self._entries[name].task()
        return self._tasks[name]

    @property
    def name(self) -> str:
        """Name of the suite."""
        return self._name

    @property
    def version(self) -> str:
        """Version of its content."""
        return self._version

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of the tasks, in order."""
        return tuple(self._entries)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The tasks as plain data, in order, without building any law."""
        return tuple(self._entries.values())

    @property
    def origin(self) -> Suite:
        """The suite that a selection was taken from; any other suite itself."""
        return self._origin

    @property
    def hash(self) -> str:
        """SHA-256 of everything that is asked and of every law.

        A selection has the hash of the suite it was taken from: its tasks are the same ones.
        """
        return self.origin._content_hash  # noqa: SLF001 - another object of this class

    @cached_property
    def _content_hash(self) -> str:
        digest = hashlib.sha256()
        for entry in self._entries.values():
            data = entry.to_json()
            del data["rationale"]
            text = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
            digest.update(text.encode())
        return digest.hexdigest()

    def select(
        self,
        *,
        category: str | Sequence[str] | None = None,
        family: str | Sequence[str] | None = None,
        support: str | Sequence[str] | None = None,
        ids: Sequence[str] | None = None,
    ) -> Suite:
        """Return the tasks that fit every filter given, as a suite.

        Parameters
        ----------
        category, family, support : str or sequence of str, optional
            Values to keep.
        ids : sequence of str, optional
            Ids to keep.

        Returns
        -------
        Suite
            Of the same name, version and hash; its tasks are shared with this suite.

        Raises
        ------
        SuiteError
            When a value names nothing that exists; the nearest names are shown.
        """
        families = {entry.family for entry in self._entries.values()}
        kept = list(self._entries.values())
        for field, wanted, known in (
            ("category", category, CATEGORIES),
            ("family", family, sorted(families)),
            ("support", support, SUPPORTS),
            ("id", ids, self.ids),
        ):
            if wanted is not None:
                values = self._known(field, wanted, known)
                kept = [entry for entry in kept if getattr(entry, field) in values]
        selection = Suite(self.name, self.version, kept)
        selection._tasks, selection._origin = self._tasks, self._origin
        return selection

    def _known(self, field: str, wanted: str | Sequence[str], known: Iterable[str]) -> set[str]:
        values = [wanted] if isinstance(wanted, str) or not isinstance(wanted, Iterable) else wanted
        names = dict.fromkeys(known)
        for value in values:
            if not isinstance(value, str) or value not in names:
                raise SuiteError(
                    f"suite {self.name} has no {field} {value!r}; the nearest are "
                    f"{nearest(value, names)}"
                )
        return set(values)
