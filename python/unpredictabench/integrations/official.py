"""The published results tree: rows in folders of task, model, temperature and run."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from unpredictabench.integrations.filing import MOST_SLOTS, Given, RunKey
from unpredictabench.integrations.questions import task_id, uid_in
from unpredictabench.integrations.rows import finite, rows
from unpredictabench.records import Completion

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from unpredictabench.integrations.rows import Row
    from unpredictabench.integrations.tally import Tally
    from unpredictabench.records import Task
    from unpredictabench.tasks import Suite

WHOLE = "all_results.json"
_RUN = re.compile(r"run_(\d{1,9})")
_TEMPERATURE = re.compile(r"temp_(\d+(?:\.\d+)?)(?:_(.+))?")
MOST_ASKED = 10_000
MOST_COUNT = 2**31
"""Larger counts of tokens or attempts are damage."""


@dataclass(frozen=True, slots=True)
class Place:
    """What the path of a results file says.

    Parameters
    ----------
    model : str
        Folder of provider and model.
    temperature : float
        Temperature of the folder.
    suffix : str
        What stands behind the temperature.
    run : int
        Number of the run.
    """

    model: str
    temperature: float
    suffix: str
    run: int


def place_of(path: Path) -> Place | None:
    """Return what the path of a results file says; None when it is not one."""
    parts = path.parts
    if len(parts) < 4:
        return None
    run, temperature = _RUN.fullmatch(parts[-2]), _TEMPERATURE.fullmatch(parts[-3])
    if run is None or temperature is None or int(run[1]) > MOST_SLOTS:
        return None
    return Place(parts[-4], float(temperature[1]), temperature[2] or "", int(run[1]))


def answers(paths: Iterable[Path], suite: Suite, tally: Tally) -> Iterator[Given]:
    """Yield the answers of a results tree.

    Parameters
    ----------
    paths : iterable of pathlib.Path
        Its files.
    suite : Suite
        Holds the tasks.
    tally : Tally
        Where rows that are left out are counted.

    Yields
    ------
    Given
        Answers; number ``run_i`` fills slot i - 1 (slot i in a tree that begins with run_0), so
        that the order of the paths as text can be made again from the slots.
    """
    placed = [(place, path) for path in paths if (place := place_of(path)) is not None]
    first = min((place.run for place, _ in placed), default=1)
    placed.sort(key=lambda each: (each[0].model, each[0].temperature, each[0].suffix))
    placed.sort(key=lambda each: each[1].name != WHOLE)  # the whole file of a run before its parts
    for place, path in placed:
        for where, row in rows(path, tally):
            given = _given(row, place, where, tally)
            if given is None:
                continue
            if given.completion.task not in suite:
                tally.refuse("answer to a task whose law and truth are unknown", row["uid"])
                continue
            if not _is_asked(row, suite[given.completion.task]):
                tally.refuse("answer to another wording than the suite's", where)
                continue
            slot = place.run - min(first, 1)
            tally.take(kind_of(row))
            yield replace(given, completion=replace(given.completion, index=slot))


def kind_of(row: Row) -> str:
    """Name the kind of a row."""
    if "mapping_available" in row or row.get("extraction_profile") == "realworld_human":
        return "real-world rows"
    if row.get("extraction_profile") == "shuffling_list":
        return "shuffling rows"
    if _n_asked(row) != 1:
        return "multi-sample rows"
    is_older = "extract_value_enabled" not in row and "extraction_profile" not in row
    return "older rows" if is_older else "number rows"


def _given(row: Row, place: Place, where: str, tally: Tally) -> Given | None:
    """Return the answer of a row, or None after counting why there is none."""
    uid, text = uid_in(row), row.get("model_output")
    said = row.get("temperature")
    temperature = place.temperature if said is None else finite(said)
    n_asked = _n_asked(row)
    if "model_output" not in row:
        tally.refuse("row without model_output", where)
    elif uid is None:
        tally.refuse("row without a uid", where)
    elif not isinstance(text, str | None):
        tally.refuse("row whose model_output is not a text", where)
    elif temperature is None or temperature < 0:
        tally.refuse("row whose temperature is not a number of at least 0", where)
    elif n_asked is None:
        tally.refuse("row whose expected_number_outputs is not a count", where)
    else:
        _remark(row, place, where, tally)
        model = _text(row, "model_used") or place.model
        completion = Completion(
            task=task_id(uid),
            index=0,
            text=text,
            status="empty_content" if text is None else "ok",
            finish_reason=_text(row, "finish_reason"),
            model=_text(row, "model_used"),
            attempts=_count(row, "generation_attempts_used") or 1,
            n_asked=n_asked,
        )
        return Given(
            key=RunKey(_label(model, place), temperature, n_asked),
            model=model,
            completion=completion,
            where=where,
            max_tokens=_count(row, "max_tokens"),
            published=_published(row),
        )
    return None


def _is_asked(row: Row, task: Task) -> bool:
    """Tell whether a row's question is the task's, blanks apart; a row without one is believed."""
    prompt = row.get("prompt_text")
    return not isinstance(prompt, str) or prompt.split() == task.prompt.split()


def _remark(row: Row, place: Place, where: str, tally: Tally) -> None:
    """Note what an answer is that came otherwise than its folder says, or after re-asking."""
    if finite(row.get("temperature")) not in {None, place.temperature}:
        tally.note("temperature that differs from the folder's (a run of its own)", where)
    if row.get("reinforced_prompt_used") is True:
        tally.note("answer to the reinforced prompt, not to the question as stored", where)
    if (_count(row, "generation_attempts_used") or 1) > 1:
        tally.note("answer kept after earlier ones were thrown away", where)


def _label(model: str, place: Place) -> str:
    """Return the folder's name, or the model's where the row says another."""
    flat = re.sub(r"[/.]", "_", model)
    name = place.model if place.model.endswith(flat) else flat
    return f"{name}_{place.suffix}" if place.suffix else name


def _published(row: Row) -> Any:
    """Return what the published code read: a number, a list, a label or a code."""
    if row.get("mapping_valid") is True:
        label = row.get("mapping_label")
        return label if isinstance(label, str) else row.get("mapped_value")
    number = row.get("extracted_number")
    return row.get("extracted_value") if number is None else number


def _n_asked(row: Row) -> int | None:
    value = row.get("expected_number_outputs")
    if value is None:
        return 1
    count = _count(row, "expected_number_outputs")
    return count if count is not None and count <= MOST_ASKED else None


def _count(row: Row, name: str) -> int | None:
    value = row.get(name)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 < value <= MOST_COUNT else None


def _text(row: Row, name: str) -> str | None:
    value = row.get(name)
    return value if isinstance(value, str) and value else None
