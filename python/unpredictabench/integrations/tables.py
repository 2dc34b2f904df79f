"""Plain tables of answers: task or prompt, model, answer or value, index, temperature."""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from unpredictabench.errors import nearest
from unpredictabench.integrations.filing import MOST_SLOTS, Given, RunKey
from unpredictabench.integrations.rows import rows
from unpredictabench.records import Completion

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from unpredictabench.integrations.rows import Row
    from unpredictabench.integrations.tally import Tally
    from unpredictabench.tasks import Suite

TASK_COLUMNS, ANSWER_COLUMNS = ("task", "prompt"), ("answer", "value")


def is_table(row: Row) -> bool:
    """Tell whether a row has the columns of a table of answers."""
    return any(name in row for name in TASK_COLUMNS) and any(n in row for n in ANSWER_COLUMNS)


def answers(
    paths: Iterable[Path], suite: Suite, tally: Tally, *, model: str | None = None
) -> Iterator[Given]:
    """Yield the answers of plain tables.

    Parameters
    ----------
    paths : iterable of pathlib.Path
        The files.
    suite : Suite
        The tasks; a row names one by its id, or by its whole prompt.
    tally : Tally
        Where rows that are left out are counted.
    model : str, optional
        The model of rows that name none.

    Yields
    ------
    Given
        Answers. A row without an index takes the slot after the last one of its task and run.
    """
    prompts = {" ".join(task.prompt.split()): task.id for task in suite}
    last: Counter[tuple[RunKey, str]] = Counter()
    for path in paths:
        for where, row in rows(path, tally):
            task = _task(row, suite, prompts)
            name = _cell(row, "model") or model
            answer_column = next((name for name in ANSWER_COLUMNS if name in row), None)
            if answer_column is None:
                tally.refuse("row without answer or value", where)
            elif task is None:
                tally.refuse(_unknown(row, suite), where)
            elif not name:
                tally.refuse("row without a model (name one with --model)", where)
            else:
                given = _given(row, name, task, where, tally, text=written(row[answer_column]))
                if given is None:
                    continue
                slot = (given.key, task)
                index = last[slot] if given.completion.index < 0 else given.completion.index
                last[slot] = max(last[slot], index + 1)
                tally.take("answers")
                yield replace(given, completion=replace(given.completion, index=index))


def _given(
    row: Row, model: str, task: str, where: str, tally: Tally, *, text: str | None
) -> Given | None:
    """Return the answer of a row, with index -1 where it has none."""
    try:
        temperature = _number(row, "temperature")
        index = _number(row, "index")
    except ValueError as error:
        tally.refuse(f"row whose {error} is not a number", where)
        return None
    if temperature is not None and temperature < 0:
        tally.refuse("row whose temperature is below 0", where)
        return None
    if index is not None and not (index.is_integer() and 0 <= index <= MOST_SLOTS):
        tally.refuse(f"row whose index is not a whole number from 0 to {MOST_SLOTS:,}", where)
        return None
    completion = Completion(
        task=task,
        index=-1 if index is None else int(index),
        text=text,
        status="empty_content" if text is None else "ok",
        finish_reason=_cell(row, "finish_reason"),
        model=model,
    )
    return Given(RunKey(model, temperature), model, completion, where)


def _task(row: Row, suite: Suite, prompts: dict[str, str]) -> str | None:
    name = _cell(row, "task")
    if name is not None:
        return name if name in suite else None
    return prompts.get(" ".join((_cell(row, "prompt") or "").split()))


def _unknown(row: Row, suite: Suite) -> str:
    name = _cell(row, "task")
    if name is None:
        return "row whose prompt is none of the suite's"
    return f"row of the unknown task {name[:80]!r}; the nearest are {nearest(name, suite.ids)}"


def written(value: object) -> str | None:
    """Return a cell as the text an answer would have; None where it is empty.

    Examples
    --------
    >>> written(3.0), written(0.5), written("7 "), written(["b", "a"]), written(None)
    ('3', '0.5', '7 ', '["b", "a"]', None)
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < 2.0**53:
        return str(int(value))
    if isinstance(value, float):
        return repr(value)
    return json.dumps(value, ensure_ascii=False, default=str)


def _cell(row: Row, name: str) -> str | None:
    value = row.get(name)
    return None if value in (None, "") else str(value)


def _number(row: Row, name: str) -> float | None:
    """Return a number, None where there is none; raise ValueError(name) for anything else."""
    value = row.get(name)
    if value in (None, ""):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(name) from None
    if isinstance(value, bool) or not math.isfinite(number):
        raise ValueError(name)
    return number
