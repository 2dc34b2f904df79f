"""What an import read, skipped and refused, and why: nothing disappears without a line here."""

from __future__ import annotations

from collections import Counter
from typing import Any

MOST_EXAMPLES = 5
"""Places kept for each line; the counts are always whole."""


class Tally:
    """Counts of an import, with examples of where.

    Attributes
    ----------
    read : collections.Counter
        What was taken, by kind.
    skipped : collections.Counter
        What was passed over without loss, by reason: repetitions, other files.
    refused : collections.Counter
        What could not be taken, by reason; an import with any of these is not complete.
    notes : collections.Counter
        What was taken and is worth knowing.
    examples : dict of str to list of str
        The first places of each line.
    """

    def __init__(self) -> None:
        self.read: Counter[str] = Counter()
        self.skipped: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.notes: Counter[str] = Counter()
        self.examples: dict[str, list[str]] = {}

    def take(self, kind: str) -> None:
        """Count something taken."""
        self.read[kind] += 1

    def skip(self, why: str, where: object) -> None:
        """Count something passed over without loss."""
        self._count(self.skipped, why, where)

    def refuse(self, why: str, where: object) -> None:
        """Count something that could not be taken."""
        self._count(self.refused, why, where)

    def note(self, what: str, where: object) -> None:
        """Count something taken that is worth knowing."""
        self._count(self.notes, what, where)

    @property
    def is_complete(self) -> bool:
        """Whether nothing was refused."""
        return not self.refused

    def to_json(self) -> dict[str, Any]:
        """Return the counts and examples as plain data."""
        counts = ("read", "skipped", "refused", "notes")
        return {name: dict(getattr(self, name)) for name in counts} | {"examples": self.examples}

    def _count(self, counter: Counter[str], line: str, where: object) -> None:
        counter[line] += 1
        places = self.examples.setdefault(line, [])
        if len(places) < MOST_EXAMPLES and str(where) not in places:
            places.append(str(where))
