"""From an extraction to one number, so that every kind of answer can be counted and ranked."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Callable

    from unpredictabench.records import Extraction, NominalTarget, Outcome, Task


def coder(task: Task) -> Callable[[Extraction], float]:
    """Return what turns an extraction of a task into a number.

    Parameters
    ----------
    task : Task
        The task.

    Returns
    -------
    callable
        From an `Extraction` to the number it holds, or to the index of its outcome among those of
        a nominal target; NaN for an invalid answer and for an outcome that is not listed.
    """
    if task.support != "nominal":
        return _number
    places = {outcome: i for i, outcome in enumerate(cast("NominalTarget", task.target).outcomes)}

    def place(extraction: Extraction) -> float:
        return float(places.get(cast("Outcome", extraction.value), math.nan))

    return place


def _number(extraction: Extraction) -> float:
    return float(cast("float", extraction.value)) if extraction.is_valid else math.nan
