"""Records to and from the values SQLite and JSON can hold, without loss."""

from __future__ import annotations

import dataclasses
import json
import sys
from typing import TYPE_CHECKING, TypeAlias

from unpredictabench.records import Completion, Message, Settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Cell: TypeAlias = str | bytes | int | float | None
FIELDS: tuple[str, ...] = tuple(field.name for field in dataclasses.fields(Completion))
KINDS: dict[str, str] = {
    field.name: next((kind for kind in ("int", "float") if str(field.type).startswith(kind)), "str")
    for field in dataclasses.fields(Completion)
}
"""What each field holds: "str", "int" or "float"; the annotations are text in that module."""
_REPEATED = [
    FIELDS.index(name) for name in ("task", "status", "finish_reason", "model", "fingerprint")
]
COLUMNS = ", ".join(f'"{name}"' for name in FIELDS)
INSERT = f"INSERT INTO completions ({COLUMNS}) VALUES ({', '.join('?' * len(FIELDS))})"  # noqa: S608 - names of a dataclass


@dataclasses.dataclass(frozen=True, slots=True)
class Planned:
    """What a run asks of one task.

    Parameters
    ----------
    n_slots : int
        Number of requests.
    messages : tuple of Message
        The conversation, the same for every slot.
    """

    n_slots: int
    messages: tuple[Message, ...]


def to_cell(value: Cell) -> Cell:
    """Keep a value as it is; a string with lone surrogates becomes bytes."""
    if not isinstance(value, str) or value.isascii():
        return value
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode(errors="surrogatepass")
    return value


def from_cell(cell: Cell) -> Cell:
    """Return the value that `to_cell` was given."""
    return cell.decode(errors="surrogatepass") if isinstance(cell, bytes) else cell


def to_row(completion: Completion) -> tuple[Cell, ...]:
    """Return the cells of a completion in the order of `FIELDS`."""
    return tuple(to_cell(getattr(completion, name)) for name in FIELDS)


def from_row(row: Iterable[Cell]) -> Completion:
    """Return the completion of a row whose cells are in the order of `FIELDS`."""
    cells = [from_cell(cell) for cell in row]
    for place in _REPEATED:  # one string for all rows, where a reader keeps many
        if type(name := cells[place]) is str:
            cells[place] = sys.intern(name)
    return Completion(*cells)  # type: ignore[arg-type]  # as written by to_row


def dumps(value: object) -> str:
    """Write JSON in ASCII, so that lone surrogates and line separators survive any file."""
    return json.dumps(value, ensure_ascii=True, allow_nan=False)


def settings_to_items(settings: Settings) -> dict[str, str]:
    """Return one JSON text a field."""
    values = {field.name: getattr(settings, field.name) for field in dataclasses.fields(settings)}
    values["parameters"] = dict(settings.parameters)
    return {name: dumps(value) for name, value in values.items()}


def settings_from_items(items: Mapping[str, str]) -> Settings:
    """Return the settings written by `settings_to_items`; fields they lack keep their default.

    Raises
    ------
    ValueError, TypeError
        When a field is unknown or holds another kind of value.
    """
    settings = Settings(**{name: json.loads(value) for name, value in items.items()})
    texts = ("model", "suite", "suite_hash", "prompt_style", "stop")
    is_right = (
        all(isinstance(getattr(settings, name), str) for name in texts)
        and isinstance(settings.base_url, str | None)
        and isinstance(settings.parameters, dict)
        and settings.sampling in {"independent", "batch"}
        and type(settings.n_asked) is int
        and settings.n_asked > 0
    )
    if not is_right:
        raise ValueError(f"settings of another kind: {settings}")
    return settings


def differences(stored: Settings, now: Settings) -> list[str]:
    """Name every setting that differs, as "name (old -> new)"; parameters one by one."""
    old, new = _flat(stored), _flat(now)
    return [
        f"{name} ({dumps(old.get(name))} -> {dumps(new.get(name))})"
        for name in {**old, **new}
        if dumps(old.get(name)) != dumps(new.get(name))
    ]


def _flat(settings: Settings) -> dict[str, object]:
    values = {name: json.loads(text) for name, text in settings_to_items(settings).items()}
    parameters = values.pop("parameters")
    return values | {f"parameters.{name}": value for name, value in sorted(parameters.items())}


def messages_to_json(messages: Sequence[Message]) -> str:
    """Return a conversation as JSON text."""
    return dumps([{"role": message.role, "content": message.content} for message in messages])


def messages_from_json(text: str) -> tuple[Message, ...]:
    """Return the conversation written by `messages_to_json`."""
    messages = tuple(Message(item["role"], item["content"]) for item in json.loads(text))
    if not all(isinstance(part, str) for one in messages for part in (one.role, one.content)):
        raise ValueError("a message that is no text")
    return messages


def mapping_from_json(text: str) -> dict[str, object]:
    """Return a JSON object as a dict; anything else is refused with a `ValueError`."""
    value = json.loads(text)
    if not isinstance(value, dict):
        raise ValueError(f"a JSON object is expected: {text[:40]}")  # noqa: TRY004 - content, not type
    return value


def plan_from_rows(planned: Iterable[tuple[Cell, int, str]]) -> dict[str, Planned]:
    """Return what was planned for each task: the most slots any session asked for."""
    plan: dict[str, Planned] = {}
    for cell, n_slots, messages in planned:
        task = str(from_cell(cell))
        if type(n_slots) is not int or n_slots < 0:
            raise ValueError(f"a number of slots: {n_slots!r}")
        if task not in plan or plan[task].n_slots < n_slots:
            plan[task] = Planned(n_slots, messages_from_json(messages))
    return plan
