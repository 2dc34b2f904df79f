"""What the source of an answer read in it, beside our own reading."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from unpredictabench.extract import extract
from unpredictabench.integrations.questions import task_id, uid_in
from unpredictabench.integrations.rows import finite
from unpredictabench.integrations.truths import listed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from unpredictabench.integrations.filing import Given
    from unpredictabench.integrations.rows import Row
    from unpredictabench.records import Task
    from unpredictabench.tasks import Suite

MOST_EXAMPLES = 20
MAPPINGS = (
    "shuffling_separated_by_new_line",
    "selection_separated_by_new_line",
    "single_item_selection",
)
"""The groups of the published table of codes for real-world answers."""


class Comparison:
    """Counts of equal and different readings.

    Parameters
    ----------
    suite : Suite
        The tasks.

    Attributes
    ----------
    counts : collections.Counter
        "same", "different", "only ours", "only theirs", "neither", "a code without its table".
    examples : list of dict
        The first readings that differ.
    """

    def __init__(self, suite: Suite) -> None:
        self.counts: Counter[str] = Counter()
        self.examples: list[dict[str, Any]] = []
        self._suite = suite
        self._codes: dict[str, dict[str, int]] = {}

    def add_codes(self, row: Row) -> None:
        """Take the published table of codes for real-world answers."""
        for group in MAPPINGS:
            content = row.get(group)
            listing = content.get("uids:") if isinstance(content, dict) else None
            for entry in listing if isinstance(listing, list) else ():
                self._add_code(entry)

    def _add_code(self, entry: object) -> None:
        if not isinstance(entry, dict) or not isinstance(entry.get("metadata"), dict):
            return
        uid, codes = uid_in({"uid": entry.get("value")}), entry["metadata"].get("mapping")
        if uid is not None and isinstance(codes, dict):
            self._codes[task_id(uid)] = {_flat(label): code for label, code in codes.items()}

    def add(self, given: Given) -> None:
        """Compare the readings of one answer."""
        task = self._suite[given.completion.task]
        found = extract(given.completion, task)
        theirs = given.published if given.completion.n_asked > 1 else [given.published]
        values = theirs if isinstance(theirs, list) else []
        for place, extraction in enumerate(found):
            published = values[place] if place < len(values) else None
            self._compare(task, extraction.value, published, given)

    def _compare(self, task: Task, ours: object, published: object, given: Given) -> None:
        own = None if ours is None else self._form(task, ours, published)
        their = _theirs(task, published)
        outcome = _outcome(own, their)
        if task.answer.kind in {"choice", "lines"} and isinstance(their, int) and own == "":
            outcome = "a code without its table"
        self.counts[outcome] += 1
        if outcome not in {"same", "neither"} and len(self.examples) < MOST_EXAMPLES:
            text = given.completion.text or ""
            self.examples.append(
                {"outcome": outcome, "task": task.id, "index": given.completion.index}
                | {"theirs": _shown(published), "ours": _shown(ours), "text": text[:200]}
            )

    def _form(self, task: Task, ours: object, published: object) -> object:
        """Return our value in the form theirs has: labels without blanks, or their code."""
        if task.answer.kind in {"number", "permutation"}:
            return ours
        label = _flat(str(ours))
        if isinstance(published, int) and not isinstance(published, bool):
            return self._codes.get(task.id, {}).get(label, "")
        return label

    def to_json(self) -> dict[str, Any]:
        """Return counts and examples as plain data."""
        return {"counts": dict(self.counts), "examples": self.examples}


def _theirs(task: Task, published: object) -> object:
    """Return the published value in the form ours has; None where it is no value."""
    if isinstance(published, bool) or published is None:
        return None
    if task.answer.kind == "number":
        return finite(published)
    if task.answer.kind == "permutation":
        return _order(task, published)
    if isinstance(published, int):
        return published
    return _flat(published) if isinstance(published, str) else None


def _order(task: Task, published: object) -> tuple[int, ...] | None:
    places: Mapping[str, int] = {item: place for place, item in enumerate(task.answer.items)}
    try:
        return tuple(places[str(item)] for item in listed(published))
    except (KeyError, TypeError):
        return None


def _outcome(ours: object, theirs: object) -> str:
    if ours is None or theirs is None:
        by_missing = {(True, True): "neither", (True, False): "only theirs"}
        return by_missing.get((ours is None, theirs is None), "only ours")
    return "same" if ours == theirs else "different"


def _flat(label: str) -> str:
    """Remove blanks and case, as the published code does before it compares labels."""
    return "".join(str(label).split()).lower()


def _shown(value: object) -> str | None:
    return None if value is None else json.dumps(value, default=str)[:200]


def is_table_of_codes(row: Row) -> bool:
    """Tell whether a JSON object is the published table of codes."""
    return any(group in row for group in MAPPINGS)
