"""The answers of one run to one task: values slot by slot, and texts with their counts."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unpredictabench.extract import extract

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from unpredictabench.records import Completion, Extraction, Reading, Task

UNLISTED = "unlisted"
"""Class of an answer of the right form that is none of the legal outcomes."""


@dataclass(frozen=True, slots=True)
class Written:
    """What was written, how it was read, and how often.

    Parameters
    ----------
    text : str or None
        The reply, verbatim; of a reply with several answers the part that holds this one.
    status : str
        Class of the reading.
    value : str
        The value as text; empty where there is none.
    reason : str
        The rule that decided.
    count : int
        Slots with exactly this.
    """

    text: str | None
    status: str
    value: str
    reason: str
    count: int


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """The answers of one run to one task.

    Parameters
    ----------
    values : numpy.ndarray of float64
        The valid numbers, or indices of outcomes, in the order of the slots.
    n_slots : int
        Answers, valid or not.
    written : tuple of Written
        Different texts, the most frequent first.
    """

    values: NDArray[np.float64]
    n_slots: int
    written: tuple[Written, ...]

    @property
    def n_invalid(self) -> int:
        """Answers that could not be read."""
        return self.n_slots - self.values.size


def sample_of(
    task: Task, completions: Iterable[Completion], *, mode: Reading = "lenient"
) -> Sample:
    """Read the answers to a task.

    Parameters
    ----------
    task : Task
        The task.
    completions : iterable of Completion
        Replies to it, in the order of their slots.
    mode : {"lenient", "strict"}
        Which reading.

    Returns
    -------
    Sample
        Each different reply is read once.
    """
    index = _outcomes(task)
    known: dict[tuple[object, ...], list[tuple[float, tuple[str | None, str, str, str]]]] = {}
    counts: Counter[tuple[str | None, str, str, str]] = Counter()
    values: list[float] = []
    for each in completions:
        key = (each.text, each.status, each.finish_reason, each.n_asked)
        if key not in known:
            known[key] = [_read(each, found, index) for found in extract(each, task, mode=mode)]
        for value, shown in known[key]:
            values.append(value)
            counts[shown] += 1
    array = np.array(values, dtype=np.float64)
    ordered = sorted(counts.items(), key=lambda item: -item[1])
    written = tuple(Written(*shown, count=count) for shown, count in ordered)
    return Sample(array[~np.isnan(array)], len(values), written)


def _outcomes(task: Task) -> Mapping[object, float] | None:
    outcomes = getattr(task.target, "outcomes", None)
    return None if outcomes is None else {each: float(i) for i, each in enumerate(outcomes)}


def _read(
    completion: Completion, found: Extraction, index: Mapping[object, float] | None
) -> tuple[float, tuple[str | None, str, str, str]]:
    text = completion.text
    if completion.n_asked > 1 and text is not None and found.span:
        text = text[slice(*found.span)]
    if found.value is None:
        return math.nan, (text, found.status, "", found.reason)
    if index is None:
        number = found.value if isinstance(found.value, float | int) else math.nan
        return float(number), (text, found.status, f"{number:.10g}", found.reason)
    place = index.get(found.value, math.nan)
    status = UNLISTED if math.isnan(place) else found.status
    return place, (text, status, outcome_text(found.value), found.reason)


def outcome_text(outcome: object, items: tuple[str, ...] = ()) -> str:
    """Write an outcome: a label as it is, a permutation by its items or their places from 1."""
    if isinstance(outcome, tuple):
        return " ".join(items[i] if items else str(i + 1) for i in outcome)
    return str(outcome)
