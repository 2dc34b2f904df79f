"""The answers of one run to one task: values slot by slot, and texts with their counts."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unpredictabench.extract import extract
from unpredictabench.extract.coding import coder
from unpredictabench.extract.observations import UNLISTED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from unpredictabench.records import Completion, Extraction, Observation, Reading, Task


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
    code = coder(task)
    known: dict[tuple[object, ...], list[tuple[float, tuple[str | None, str, str, str]]]] = {}
    counts: Counter[tuple[str | None, str, str, str]] = Counter()
    values: list[float] = []
    for each in completions:
        key = (each.text, each.status, each.finish_reason, each.n_asked)
        if key not in known:
            known[key] = [_read(each, found, code) for found in extract(each, task, mode=mode)]
        for value, shown in known[key]:
            values.append(value)
            counts[shown] += 1
    array = np.array(values, dtype=np.float64)
    ordered = sorted(counts.items(), key=lambda item: -item[1])
    written = tuple(Written(*shown, count=count) for shown, count in ordered)
    return Sample(array[~np.isnan(array)], len(values), written)


def _read(
    completion: Completion, found: Extraction, code: Callable[[Extraction], float]
) -> tuple[float, tuple[str | None, str, str, str]]:
    text, number = completion.text, code(found)
    if completion.n_asked > 1 and text is not None and found.span:
        text = text[slice(*found.span)]
    status = UNLISTED if found.is_valid and math.isnan(number) else found.status
    return number, (text, status, _value_text(found.value), found.reason)


def _value_text(value: Observation | None) -> str:
    if value is None:
        return ""
    return f"{value:.10g}" if isinstance(value, float | int) else outcome_text(value)


def outcome_text(outcome: object, items: tuple[str, ...] = ()) -> str:
    """Write an outcome: a label as it is, a permutation by its items or their places from 1."""
    if isinstance(outcome, tuple):
        return " ".join(items[i] if items else str(i + 1) for i in outcome)
    return str(outcome)
