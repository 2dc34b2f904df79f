"""Read a user's own suite from a JSON or YAML file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeGuard, get_args

import yaml

from unpredictabench.errors import InputError, SuiteError, nearest, shortened
from unpredictabench.records import CATEGORIES, Answer, AnswerKind, Spread
from unpredictabench.targets import target_from_spec
from unpredictabench.tasks.entry import Entry
from unpredictabench.tasks.given import law_given
from unpredictabench.tasks.suite import Suite

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

SUITE_FIELDS = ("name", "version", "tasks")
TASK_FIELDS = (
    "id", "category", "family", "spread", "question", "answer", "law", "rationale", "program",
    "support",
)  # fmt: skip
ANSWER_FIELDS = ("kind", "instruction", "items", "is_integer")
KINDS: tuple[str, ...] = get_args(AnswerKind)
SPREADS: tuple[str, ...] = get_args(Spread)
MOST_PARTS = 10_000_000
"""Texts and numbers in a file of a suite: 448 truths of 10,000 draws are 4.5 million."""
DEFAULT_CATEGORY = {
    "number": "text-explicit",
    "permutation": "shuffling",
    "choice": "real-world",
    "lines": "real-world",
}
INSTRUCTIONS = {
    "number": "Answer with the number alone and nothing else.",
    "permutation": "Answer with the items in their order, as a JSON array, and nothing else.",
    "choice": "Answer with one of the labels and nothing else.",
    "lines": "Answer with the lines alone, one per line, and nothing else.",
}


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a file something is, for messages.

    Parameters
    ----------
    file : str
        The file.
    task : str
        Id of the task, or its number when it has none.
    """

    file: str
    task: str = ""

    def error(self, field: str, rule: str, value: object) -> SuiteError:
        """Return the error that a field breaks a rule."""
        task = f" task {self.task}:" if self.task else ""
        return SuiteError(f"{self.file}:{task} {field} must {rule}, got {shortened(value)}")


def read_suite(path: Path) -> Suite:
    """Read a suite from a file.

    Parameters
    ----------
    path : pathlib.Path
        A JSON or YAML file in the form of docs/tasks.md.

    Returns
    -------
    Suite
        The tasks, every law checked; programs that laws come from have been run.

    Raises
    ------
    SuiteError
        When something is wrong; names the file, the task and the field.
    """
    place = Place(str(path))
    data = _parsed(path)
    fields = _mapping(place, "the file", data, SUITE_FIELDS, required=("tasks",))
    tasks = fields["tasks"]
    if not isinstance(tasks, list) or not tasks:
        raise place.error("tasks", "be a list of at least one task", tasks)
    entries: dict[str, Entry] = {}
    for number, task in enumerate(tasks, start=1):
        entry = _entry(path, number, task)
        if entry.id in entries:
            raise Place(str(path), str(number)).error("id", "differ from all others", entry.id)
        entries[entry.id] = entry
    name, version = fields.get("name", path.stem), fields.get("version", "1")
    for field, value in (("name", name), ("version", version)):
        if not isinstance(value, str | int | float):
            raise place.error(field, "be a text or a number", value)
    return Suite(str(name), str(version), entries.values())


def _parsed(path: Path) -> object:
    try:
        text = path.read_text(encoding="utf-8")
        if path.suffix.lower() in {".yaml", ".yml"}:
            data = yaml.load(text, _StrictLoader)  # noqa: S506 - a safe loader
        else:
            data = json.loads(text, object_pairs_hook=_without_doubles)
        return _plain(data)
    except (OSError, UnicodeDecodeError) as error:
        raise SuiteError(f"{path} cannot be read: {error}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise SuiteError(f"{path} is not JSON or YAML: {reason}") from error


def _plain(data: object) -> object:
    """Return data that neither holds itself nor is nested without end nor has half a surrogate.

    Parts that a YAML file names and repeats are counted as often as they stand there: a few lines
    can stand for more than a machine holds (the "billion laughs").
    """
    if _size(data, {}) > MOST_PARTS:
        raise ValueError(f"it stands for more than {MOST_PARTS:,} texts and numbers")
    json.dumps(data, default=str, ensure_ascii=False, skipkeys=True).encode()
    return data


def _size(data: object, known: dict[int, int]) -> int:
    """Count the parts of nested data, looking at a part that is repeated only once."""
    if not isinstance(data, dict | list):
        return 1
    if id(data) not in known:
        known[id(data)] = 0  # what holds itself is refused when it is written as JSON
        parts = [*data, *data.values()] if isinstance(data, dict) else data
        known[id(data)] = 1 + sum(_size(part, known) for part in parts)
    return known[id(data)]


class _StrictLoader(yaml.SafeLoader):
    """A safe loader in which no field may hide another."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002 - PyYAML's signature
        """Return the mapping of a node."""
        names = [key.value for key, _ in node.value if key.value != "<<"]
        _without_doubles([(str(name), None) for name in names])
        return super().construct_mapping(node, deep)


def _without_doubles(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return the object of some pairs, none of which may hide another."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the field {shortened(twice)} stands twice in one object")
    return fields


def _entry(path: Path, number: int, given: object) -> Entry:
    """Return the entry of one task of the file."""
    name = given.get("id") if isinstance(given, Mapping) else None
    place = Place(str(path), name if _is_line(name) else str(number))
    task = _mapping(place, "it", given, TASK_FIELDS, required=("id", "question", "law"))
    for field in ("id", "question", "family", "rationale", "program"):
        value = task.get(field, "")
        may_be_empty = field in {"rationale", "program"}
        if not (isinstance(value, str) and (value or may_be_empty or field not in task)):
            if field == "program" and value is None:
                continue
            raise place.error(field, "be a text", value)
    if not _is_line(task["id"]):
        raise place.error("id", "be one line without blanks at its ends", task["id"])
    answer = _answer(place, task.get("answer", {}))
    category = task.get("category", DEFAULT_CATEGORY[answer.kind])
    spread = task.get("spread")
    _one_of(place, "category", category, CATEGORIES)
    if spread is not None:
        _one_of(place, "spread", spread, SPREADS)
    law, resolved = _law(place, path.parent, task["law"], answer)
    support = target_from_spec(resolved).support
    if task.get("support", support) != support:
        raise place.error("support", f"be {support}, as the law is, or left out", task["support"])
    return Entry(
        id=task["id"],
        category=category,
        family=task.get("family", str(law.get("family", "own"))),
        spread=spread,
        support=support,
        question=task["question"],
        answer=answer,
        law=law,
        rationale=task.get("rationale", ""),
        program=task.get("program"),
        resolved=resolved,
    )


def _is_line(name: object) -> TypeGuard[str]:
    return isinstance(name, str) and name != "" and name.isprintable() and name == name.strip()


def _answer(place: Place, given: object) -> Answer:
    fields = _mapping(place, "answer", given, ANSWER_FIELDS)
    kind = fields.get("kind", "number")
    _one_of(place, "answer.kind", kind, KINDS)
    items = fields.get("items", [])
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        raise place.error("answer.items", "be a list of texts", items)
    if len(set(items)) < len(items) or (kind in {"permutation", "choice"} and not items):
        raise place.error("answer.items", "be a list of different texts", items)
    instruction = fields.get("instruction", INSTRUCTIONS[kind])
    if not isinstance(instruction, str):
        raise place.error("answer.instruction", "be a sentence, or empty", instruction)
    is_integer = fields.get("is_integer", False)
    if not isinstance(is_integer, bool):
        raise place.error("answer.is_integer", "be true or false", is_integer)
    return Answer(kind, instruction, tuple(items), is_integer)


def _law(
    place: Place, folder: Path, given: object, answer: Answer
) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return the law as the file gives it, and as a spec that can be built."""
    try:
        law, resolved = law_given(given, folder)
        target = target_from_spec(resolved)
    except InputError as error:
        raise place.error(f"law.{error.argument}", error.rule, error.value) from error
    except SuiteError as error:
        task = f" task {place.task}:" if place.task else ""
        raise SuiteError(f"{place.file}:{task} law: {error}") from error
    is_nominal = target.support == "nominal"
    if is_nominal == (answer.kind == "number"):
        rule = "be a law of labels" if answer.kind != "number" else "be a law of numbers"
        raise place.error("law", f"{rule} where answer.kind is {answer.kind}", given)
    if is_nominal:
        _check_outcomes(place, answer, target)
    return (target.spec if law is resolved else law), target.spec


def _check_outcomes(place: Place, answer: Answer, target: Any) -> None:
    """Check that the outcomes of a nominal law are answers of the form asked for."""
    n = len(answer.items)
    for outcome in target.outcomes:
        if answer.kind == "permutation":
            is_right = isinstance(outcome, tuple) and len(outcome) == n
            rule = f"have outcomes that are orders of the {n} items"
        elif answer.kind == "choice":
            is_right = outcome in answer.items
            rule = f"have outcomes among the items {', '.join(answer.items)}"
        else:
            is_right, rule = isinstance(outcome, str), "have outcomes that are texts"
        if not is_right:
            raise place.error("law", rule, outcome)
    named = target.spec.get("permutation", {}).get("items")
    if named is not None and named != list(answer.items):
        raise place.error("law.permutation.items", "be those of the answer, in order", named)


def _mapping(
    place: Place,
    what: str,
    given: object,
    known: Iterable[str],
    *,
    required: Iterable[str] = (),
) -> Mapping[str, Any]:
    """Check that something is a mapping with known fields only, and none missing."""
    names = tuple(known)
    if not isinstance(given, Mapping):
        raise place.error(what, f"be a mapping of {', '.join(names)}", given)
    for field in given:
        if field not in names:
            raise place.error(f"field {field!r}", f"be one of {nearest(field, names)}", field)
    for field in required:
        if field not in given:
            raise place.error(field, "be given", None)
    return given


def _one_of(place: Place, field: str, value: object, known: Iterable[str]) -> None:
    names = tuple(known)
    if value not in names:
        raise place.error(field, f"be one of {nearest(value, names)}", value)
