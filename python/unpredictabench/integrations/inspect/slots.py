"""A draw, and what the scorer read from draws, as plain data in an Inspect log and back."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from unpredictabench.errors import InputError
from unpredictabench.extract.observations import Observed
from unpredictabench.incoming import completion_from
from unpredictabench.records import Completion

if TYPE_CHECKING:
    from collections.abc import Mapping

    from unpredictabench.records import Task

Slot: TypeAlias = dict[str, Any]

TASK_NAME: Final = "unpredictabench/ks_at_n"
FORMAT: Final = 1
"""Version of what a log holds: raised when slots or metadata change."""
METADATA: Final = "unpredictabench"
"""Key of the log's metadata under which the task says what it asks."""
SLOTS: Final = "unpredictabench:slots"
FAILURES: Final = "unpredictabench:failures"
"""Keys of a sample's store: its draws, and the draws that failed."""
USAGE: Final = "usage"
"""What a slot holds besides the fields of a completion: usage that those have no place for."""
_DEFAULTS: Final = {field.name: field.default for field in dataclasses.fields(Completion)}


def slot_of(completion: Completion, usage: Mapping[str, Any] | None = None) -> Slot:
    """Return a draw as JSON data: the fields that are not at their default, and the usage.

    Parameters
    ----------
    completion : Completion
        The draw.
    usage : mapping, optional
        Counts that a completion has no fields for.

    Examples
    --------
    >>> slot_of(Completion("t", 0, "7"), {"total_cost": 0.5})
    {'index': 0, 'text': '7', 'usage': {'total_cost': 0.5}}
    """
    values = {name: getattr(completion, name) for name in _DEFAULTS if name != "task"}
    slot = {
        name: value
        for name, value in values.items()
        if name in {"index", "text"} or value != _DEFAULTS[name]
    }
    return slot | ({USAGE: dict(usage)} if usage else {})


def completion_of(task: str, slot: object) -> Completion:
    """Return the completion that a slot holds.

    Parameters
    ----------
    task : str
        Id of the task.
    slot : object
        What stands in the log.

    Returns
    -------
    Completion
        The draw.

    Raises
    ------
    InputError
        If it is no draw.

    Examples
    --------
    >>> completion_of("t", {"index": 0, "text": "7", "usage": {"total_cost": 0.5}}).text
    '7'
    """
    if not isinstance(slot, dict):
        raise InputError("a draw", "be an object", slot)
    return completion_from({k: v for k, v in slot.items() if k != USAGE} | {"task": task})


def observed_json(observed: Observed) -> dict[str, Any]:
    """Return what was read from the draws of one task as JSON data; see `observed_of`."""
    return {
        "values": [_number(value) for value in observed.values.tolist()],
        "slots": observed.numbers.tolist(),
        "statuses": dict(observed.statuses),
        "n_off_support": observed.n_off_support,
    }


def observed_of(task: Task, data: Mapping[str, Any]) -> Observed:
    """Return what `observed_json` was given.

    Parameters
    ----------
    task : Task
        The task.
    data : mapping
        Values (null where invalid), numbers of the slots, counts of the classes.

    Returns
    -------
    Observed
        One answer a reply.
    """
    slots = np.array(data["slots"], dtype=np.int64)
    values = [math.nan if value is None else float(value) for value in data["values"]]
    return Observed(
        task=task,
        values=np.array(values, dtype=np.float64),
        numbers=slots,
        replies=slots,
        statuses=dict(data["statuses"]),
        n_asked=1,
        n_off_support=int(data["n_off_support"]),
    )


def _number(value: float) -> float | str | None:
    """Return a value as JSON can hold it; infinities as words."""
    if math.isnan(value):
        return None
    return value if math.isfinite(value) else repr(value)
