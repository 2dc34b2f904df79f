"""Readings as lines of JSON, so that two versions of the extractor can be compared."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from unpredictabench.errors import StoreError
from unpredictabench.extract.dispatch import EXTRACTOR_VERSION, extract

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from unpredictabench.records import Completion, Extraction, Reading, Task

READINGS: tuple[Reading, ...] = ("strict", "lenient")
FILE_NAME = "extractions.jsonl"
"""Where a run folder keeps its last readings; made anew from the answers at any time."""


@dataclass(frozen=True, slots=True)
class Change:
    """An observation that two versions read differently.

    Parameters
    ----------
    task : str
        Id of the task.
    index, position : int
        Slot, and place in its reply.
    reading : {"strict", "lenient"}
        Which reading differs.
    before, after : str
        The value, or the class, as text.
    """

    task: str
    index: int
    position: int
    reading: Reading
    before: str
    after: str


def readings(
    completions: Iterable[Completion], tasks: Mapping[str, Task]
) -> Iterator[tuple[Completion, Extraction]]:
    """Yield both readings of every observation of the completions.

    Parameters
    ----------
    completions : iterable of Completion
        The stored answers.
    tasks : mapping of str to Task
        The tasks by id.

    Yields
    ------
    (Completion, Extraction)
        A completion with one of its readings, strict ones first.

    Raises
    ------
    StoreError
        If a completion names a task that is not there.
    """
    for completion in completions:
        if completion.task not in tasks:
            raise StoreError(
                f"the run answers the task {completion.task!r}, which its suite does not hold; "
                "pass the suite it was made with"
            )
        for mode in READINGS:
            for found in extract(completion, tasks[completion.task], mode=mode):
                yield completion, found


def to_line(completion: Completion, found: Extraction) -> str:
    """Write one reading as a line of JSON.

    Parameters
    ----------
    completion : Completion
        What was read.
    found : Extraction
        What came of it.

    Returns
    -------
    str
        The line, without its end.
    """
    return json.dumps(
        {
            "task": completion.task,
            "index": completion.index,
            "position": found.position,
            "reading": found.reading,
            "status": found.status,
            "value": found.value,
            "reason": found.reason,
            "span": found.span,
            "version": EXTRACTOR_VERSION,
        }
    )


def counts(found: Iterable[Extraction]) -> dict[str, dict[str, int]]:
    """Count the observations by reading and class.

    Parameters
    ----------
    found : iterable of Extraction
        The readings.

    Returns
    -------
    dict of str to dict of str to int
        For each reading, how many observations fell in each class; classes without any are left
        out.
    """
    counter = Counter((one.reading, one.status) for one in found)
    return {
        mode: {status: n for (reading, status), n in sorted(counter.items()) if reading == mode}
        for mode in READINGS
    }


def changes(before: Iterable[str], after: Iterable[str]) -> list[Change]:
    """Compare two ledgers line by line.

    Parameters
    ----------
    before, after : iterable of str
        Lines as `to_line` writes them.

    Returns
    -------
    list of Change
        The observations of both that differ in value or class; those that only one holds are
        no changes.
    """
    old = {_key(row): _shown(row) for row in map(json.loads, before)}
    found = []
    for row in map(json.loads, after):
        key, shown = _key(row), _shown(row)
        if key in old and old[key] != shown:
            found.append(Change(*key, before=old[key], after=shown))
    return found


def version_of(ledger: Iterable[str]) -> str | None:
    """Return the version of the extractor that wrote a ledger; None for an empty one.

    Parameters
    ----------
    ledger : iterable of str
        Lines as `to_line` writes them.

    Returns
    -------
    str or None
        The version on its first line.
    """
    return next((str(json.loads(line)["version"]) for line in ledger), None)


def _key(row: Mapping[str, object]) -> tuple[str, int, int, Reading]:
    return row["task"], row["index"], row["position"], row["reading"]  # type: ignore[return-value] # JSON of our own


def _shown(row: Mapping[str, object]) -> str:
    return str(row["status"]) if row["status"] != "valid" else json.dumps(row["value"])
