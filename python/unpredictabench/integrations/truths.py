"""Published ground-truth values: checked, and kept in files beside the suite."""

from __future__ import annotations

import hashlib
import io
import json
from collections import Counter
from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np

from unpredictabench._whole import whole
from unpredictabench.integrations.rows import finite

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from unpredictabench.integrations.published import Fact

FOLDER = "truths"
LEAST_VALUES = 2


class TruthError(ValueError):
    """Values that cannot be the truth of their task; says why."""


@dataclass(frozen=True, slots=True)
class Truth:
    """The law of a task once its published values are known.

    Parameters
    ----------
    law : mapping
        The law as a suite's file holds it; refers to the file of the values.
    items : tuple of str
        Labels or lines that occur; empty for numbers.
    """

    law: Mapping[str, Any]
    items: tuple[str, ...] = ()


def keep(fact: Fact, values: object, folder: Path) -> Truth:
    """Check the published values of a task and write them beside the suite.

    Parameters
    ----------
    fact : Fact
        What is known about the task.
    values : object
        The values as published: numbers, texts, or lists for shuffles.
    folder : pathlib.Path
        Folder of the suite; the values go to ``truths/<uid>``.

    Returns
    -------
    Truth
        Where a law is known it stays the law and the values are its draws; otherwise the values
        are the law.

    Raises
    ------
    TruthError
        When the values are not of the task's form.
    """
    if not isinstance(values, list) or len(values) < LEAST_VALUES:
        raise TruthError(f"not a list of at least {LEAST_VALUES} values")
    if fact.kind == "number":
        return _drawn(fact, fact.law, _numbers(values), folder)
    if fact.kind == "permutation":
        return _drawn(fact, fact.law, _orders(values, fact.items), folder)
    return _labels(fact, values, folder)


def _drawn(
    fact: Fact, law: Mapping[str, Any] | None, values: np.ndarray[Any, Any], folder: Path
) -> Truth:
    buffer = io.BytesIO()
    np.save(buffer, values, allow_pickle=False)
    name, digest = _written(folder, f"{fact.uid}.npy", buffer.getvalue())
    if law is None:
        return Truth({"samples": {"file": name}})
    return Truth({"drawn": {"law": law, "file": name, "sha256": digest}})


def _written(folder: Path, name: str, content: bytes) -> tuple[str, str]:
    """Write a file of values once; return its name from the suite's folder, and its digest."""
    path = folder / FOLDER / name
    if not path.exists():
        with whole(path) as draft:
            draft.write_bytes(content)
    elif path.read_bytes() != content:
        raise TruthError("another truth of the task is in the folder already")
    return f"{FOLDER}/{name}", hashlib.sha256(content).hexdigest()


def _numbers(values: Sequence[object]) -> np.ndarray[Any, Any]:
    for value in values:
        if finite(value) is None:
            raise TruthError("a value is not a finite number")
    return np.array(values, dtype=np.float64)


def _orders(values: Sequence[object], items: tuple[str, ...]) -> np.ndarray[Any, Any]:
    """Return each list as the number of its order, in the lexicographic order of indices."""
    places = {item: place for place, item in enumerate(items)}
    orders = {order: number for number, order in enumerate(permutations(range(len(items))))}
    try:
        found = [orders[tuple(places[str(item)] for item in listed(value))] for value in values]
    except (KeyError, TypeError):
        raise TruthError("a value is not an order of the list") from None
    return np.array(found, dtype=np.int64)


def listed(value: object) -> list[Any]:
    """Return a list, also from its JSON text; raise TypeError for anything else."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            raise TypeError from None
    if not isinstance(value, list):
        raise TypeError
    return value


def _labels(fact: Fact, values: Sequence[object], folder: Path) -> Truth:
    if not all(isinstance(value, str | int) for value in values):
        raise TruthError("not all values are texts")
    texts = [_tidy(str(value)) for value in values]
    outcomes = sorted(Counter(texts))
    lines = (line for outcome in outcomes for line in outcome.split("\n"))
    items = tuple(outcomes) if fact.kind == "choice" else tuple(dict.fromkeys(lines))
    if fact.n_equal == len(outcomes):
        law = {
            "nominal": {"outcomes": outcomes, "probabilities": [1 / len(outcomes)] * len(outcomes)}
        }
        places = {outcome: place for place, outcome in enumerate(outcomes)}
        indices = np.array([places[text] for text in texts], dtype=np.int64)
        return Truth(_drawn(fact, law, indices, folder).law, items)
    name, _ = _written(folder, f"{fact.uid}.json", json.dumps(texts).encode())
    return Truth({"samples": {"file": name}}, items)


def _tidy(text: str) -> str:
    rows = (row.strip() for row in text.splitlines())
    return "\n".join(row for row in rows if row)
