"""From completions to observations: what each slot of each task holds."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import numpy as np

from unpredictabench.errors import InputError
from unpredictabench.extract.coding import coder
from unpredictabench.extract.dispatch import extract

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from unpredictabench.records import (
        Completion,
        NumericTarget,
        Reading,
        Task,
    )

Floats: TypeAlias = "NDArray[np.float64]"

MOST_DECIMALS: Final = 6
"""Rounding to more decimals than this cannot be told from not rounding."""
UNLISTED = "unlisted"
"""Class of an answer of the right form that is none of the legal outcomes."""


@dataclass(frozen=True, slots=True, eq=False)
class Observed:
    """The slots of one task, in the order of their numbers.

    Parameters
    ----------
    task : Task
        The task.
    values : numpy.ndarray of float64, shape (n_slots,)
        The number each slot holds, or the index of its outcome; NaN where it is invalid.
    numbers : numpy.ndarray of int64, shape (n_slots,)
        Number of each slot within the task.
    replies : numpy.ndarray of int64, shape (n_slots,)
        Number of the reply each slot came in.
    statuses : mapping
        Number of slots of each class; "valid" is one of them.
    n_asked : int
        Answers asked for in one reply.
    n_off_support : int
        Valid numbers outside the support of the target.
    """

    task: Task
    values: Floats
    numbers: NDArray[np.int64]
    replies: NDArray[np.int64]
    statuses: Mapping[str, int]
    n_asked: int
    n_off_support: int

    @property
    def n_slots(self) -> int:
        """Slots answered or classified."""
        return self.values.size

    @property
    def is_valid(self) -> NDArray[np.bool_]:
        """Which slots hold a value."""
        return ~np.isnan(self.values)

    @property
    def valid(self) -> Floats:
        """The values of the valid slots, in order."""
        return self.values[self.is_valid]


def observe(
    tasks: Sequence[Task], completions: Iterable[Completion], *, mode: Reading
) -> tuple[list[Observed], int]:
    """Read the answers to each task.

    Parameters
    ----------
    tasks : sequence of Task
        The tasks, with different ids.
    completions : iterable of Completion
        Replies, one a slot, in any order.
    mode : {"lenient", "strict"}
        Which reading.

    Returns
    -------
    observed : list of Observed
        One a task, in their order, also for tasks without any reply.
    n_foreign : int
        Replies to other tasks.

    Raises
    ------
    InputError
        If two replies fill one slot.
    """
    known = {task.id: task for task in tasks}
    if len(known) < len(tasks):
        raise InputError("tasks", "have different ids", [task.id for task in tasks])
    slots: dict[str, _Slots] = {}
    n_foreign = 0
    for completion in completions:
        if completion.task not in known:
            n_foreign += 1
            continue
        if completion.task not in slots:
            slots[completion.task] = _Slots(known[completion.task], mode)
        slots[completion.task].add(completion)
    return [
        (slots.pop(task.id, None) or _Slots(task, mode)).observed() for task in tasks
    ], n_foreign


class _Slots:
    """What the replies to one task hold, read as they come: columns, and no reply is kept."""

    def __init__(self, task: Task, mode: Reading) -> None:
        self._task, self._mode, self._code = task, mode, coder(task)
        self._values, self._numbers, self._replies = array("d"), array("q"), array("q")
        self._statuses: list[str] = []
        self._n_asked = 1

    def add(self, completion: Completion) -> None:
        """Read one reply."""
        self._n_asked = max(self._n_asked, completion.n_asked)
        for extraction in extract(completion, self._task, mode=self._mode):
            value = self._code(extraction)
            is_lost = extraction.is_valid and math.isnan(value)
            self._statuses.append(UNLISTED if is_lost else extraction.status)
            self._values.append(value)
            self._numbers.append(completion.index * completion.n_asked + extraction.position)
            self._replies.append(completion.index)

    def observed(self) -> Observed:
        """Return the slots in the order of their replies."""
        replies = np.array(self._replies, dtype=np.int64)
        order = np.argsort(replies, kind="stable")
        numbers = np.array(self._numbers, dtype=np.int64)[order]
        values = np.array(self._values, dtype=np.float64)[order]
        _refuse_repeated(numbers, self._task)
        return Observed(
            task=self._task,
            values=values,
            numbers=numbers,
            replies=replies[order],
            statuses=dict(Counter(self._statuses[place] for place in order.tolist())),
            n_asked=self._n_asked,
            n_off_support=_off_support(self._task, values),
        )


def _refuse_repeated(numbers: NDArray[np.int64], task: Task) -> None:
    found, times = np.unique(numbers, return_counts=True)
    repeated = found[times > 1]
    if repeated.size:
        shown = f"several for {repeated.size} slots, first slot {repeated[0]}"
        raise InputError("completions", f"hold one reply a slot of {task.id}", shown)


def _off_support(task: Task, values: Floats) -> int:
    valid = values[~np.isnan(values)]
    if task.support == "nominal" or not valid.size:
        return 0
    is_inside = cast("NumericTarget", task.target).contains(valid)
    return int(valid.size - np.count_nonzero(is_inside))


def decimals_of(observed: Sequence[Observed]) -> int | None:
    """Return the decimals a model gives: the median over tasks that ask for real numbers.

    Returns
    -------
    int or None
        None where no task shows any, or more than can matter.
    """
    found = [
        max(map(_decimals, each.valid[np.isfinite(each.valid)].tolist()))
        for each in observed
        if each.task.support in {"continuous", "mixed"} and np.isfinite(each.valid).any()
    ]
    typical = int(np.median(found)) if found else MOST_DECIMALS + 1
    return typical if typical <= MOST_DECIMALS else None


def _decimals(value: float) -> int:
    _, _, fraction = repr(value).partition(".")
    return 0 if fraction in {"", "0"} else MOST_DECIMALS + 1 if "e" in fraction else len(fraction)
