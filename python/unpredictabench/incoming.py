"""Check what a file holds before it becomes a record."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, get_args

from unpredictabench.errors import InputError
from unpredictabench.records import Completion, CompletionStatus

if TYPE_CHECKING:
    from collections.abc import Mapping

_FIELDS = {field.name: str(field.type) for field in dataclasses.fields(Completion)}
_KINDS = {"str": (str,), "int": (int,), "float": (int, float), "None": (type(None),)}
_LEAST = {"index": 0, "attempts": 0, "n_asked": 1}
_LARGEST_WHOLE = 2**63 - 1  # what stores hold


def completion_from(values: Mapping[str, object]) -> Completion:
    """Make a completion of what a file holds, after a look at each field.

    Parameters
    ----------
    values : mapping
        Fields of `Completion` by name.

    Returns
    -------
    Completion
        The record.

    Raises
    ------
    InputError
        If a field is missing, unknown, of another type or out of its range.

    Examples
    --------
    >>> completion_from({"task": "t", "index": 0, "text": "7"}).text
    '7'
    """
    for name, value in values.items():
        if name not in _FIELDS:
            raise InputError("a field", f"be one of {', '.join(_FIELDS)}", name)
        is_status = _FIELDS[name] == "CompletionStatus"
        words = ["str"] if is_status else _FIELDS[name].split(" | ")
        if type(value) not in {kind for word in words for kind in _KINDS[word]}:
            raise InputError(name, f"be {' or '.join(words)}", value)
        if is_status and value not in get_args(CompletionStatus):
            raise InputError(name, f"be one of {', '.join(get_args(CompletionStatus))}", value)
        least = _LEAST.get(name, -_LARGEST_WHOLE)
        if isinstance(value, int) and not least <= value <= _LARGEST_WHOLE:
            raise InputError(name, f"lie in [{least}, {_LARGEST_WHOLE}]", value)
    for name in ("task", "index", "text"):
        if name not in values:
            raise InputError(name, "be given", None)
    return Completion(**values)  # type: ignore[arg-type]  # checked above
