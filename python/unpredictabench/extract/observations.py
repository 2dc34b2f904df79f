"""From completions to observations: what each slot of each task holds."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
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
    known = {task.id for task in tasks}
    if len(known) < len(tasks):
        raise InputError("tasks", "have different ids", [task.id for task in tasks])
    by_task: defaultdict[str, list[Completion]] = defaultdict(list)
    n_foreign = 0
    for completion in completions:
        if completion.task in known:
            by_task[completion.task].append(completion)
        else:
            n_foreign += 1
    return [_observed(task, by_task[task.id], mode) for task in tasks], n_foreign


def _observed(task: Task, completions: list[Completion], mode: Reading) -> Observed:
    completions.sort(key=lambda completion: completion.index)
    code = coder(task)
    values: list[float] = []
    numbers: list[int] = []
    replies: list[int] = []
    statuses: Counter[str] = Counter()
    for completion in completions:
        for extraction in extract(completion, task, mode=mode):
            value = code(extraction)
            is_lost = extraction.is_valid and math.isnan(value)
            statuses[UNLISTED if is_lost else extraction.status] += 1
            values.append(value)
            numbers.append(completion.index * completion.n_asked + extraction.position)
            replies.append(completion.index)
    if len(set(numbers)) < len(numbers):
        repeated = sorted(number for number, times in Counter(numbers).items() if times > 1)
        shown = f"several for {len(repeated)} slots, first slot {repeated[0]}"
        raise InputError("completions", f"hold one reply a slot of {task.id}", shown)
    array = np.array(values, dtype=np.float64)
    return Observed(
        task=task,
        values=array,
        numbers=np.array(numbers, dtype=np.int64),
        replies=np.array(replies, dtype=np.int64),
        statuses=dict(statuses),
        n_asked=max((completion.n_asked for completion in completions), default=1),
        n_off_support=_off_support(task, array),
    )


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
