"""What is known about each task of the published benchmark, by uid (arXiv 2606.06622)."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from unpredictabench.tasks import load_suite
from unpredictabench.tasks.laws import published_laws

if TYPE_CHECKING:
    from collections.abc import Mapping

    from unpredictabench.records import AnswerKind, Category, Spread

SHUFFLES, REAL_WORLD = "shuffling_human", "realworld_human"
_KINDS: dict[str, AnswerKind] = {"single_item_selection": "choice"}
"""How an answer to a real-world task is handled; the other two ways are lines."""


@dataclass(frozen=True, slots=True)
class Fact:
    """What is known about one published task.

    Parameters
    ----------
    uid : str
        The published uid.
    id : str
        Our id.
    category : str
        One of `records.CATEGORIES`.
    family : str
        Slug of the family.
    spread : {"concentrated", "spread_out"} or None
        Intent of the parameters.
    kind : {"number", "permutation", "choice", "lines"}
        Form of the answer.
    is_integer : bool
        Whether every legal answer is a whole number.
    items : tuple of str
        The list of a shuffle.
    law : mapping or None
        Spec of the law; None for real-world tasks.
    n_equal : int or None
        For real-world tasks: number of outcomes where all are equally likely.
    rationale : str
        Why this is the law.
    """

    uid: str
    id: str
    category: Category
    family: str
    spread: Spread | None = None
    kind: AnswerKind = "number"
    is_integer: bool = False
    items: tuple[str, ...] = ()
    law: Mapping[str, Any] | None = None
    n_equal: int | None = None
    rationale: str = ""


def uid_of(folder: str, row: int) -> str:
    """Return the published uid of a row.

    Parameters
    ----------
    folder : str
        Folder of the task, with its suffix.
    row : int
        Row of its questions, from 0.

    Examples
    --------
    >>> uid_of("shuffling_human", 0)
    '81df2859-d49b-5d45-a9e8-869b7209ae48'
    """
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{folder}/questions.json:{row}"))


@cache
def facts() -> Mapping[str, Fact]:
    """Return what is known about the 448 published tasks, by uid."""
    path = resources.files("unpredictabench.integrations") / "data" / "published.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    known = [*_distributions(data["wrong-truths"])]
    known += [_shuffle(row, items) for row, items in enumerate(data["shuffling"])]
    known += [_real_world(row, **about) for row, about in enumerate(data["real-world"])]
    return {fact.uid: fact for fact in known}


def _distributions(wrong: Mapping[str, str]) -> list[Fact]:
    whole = {entry.id for entry in load_suite("v1").entries if entry.answer.is_integer}
    return [
        Fact(
            uid=law.uid,
            id=law.id,
            category=law.category,
            family=law.family,
            spread=law.spread,
            is_integer=law.id in whole,
            law=law.law,
            rationale=_reason(wrong.get(law.uid)),
        )
        for law in published_laws()
    ]


def _reason(defect: str | None) -> str:
    reason = "The law that the family and the parameters of the published task call for."
    if defect is None:
        return reason
    return f"{reason} The published ground truth does not follow it and is wrong: {defect}."


def _shuffle(row: int, items: list[str]) -> Fact:
    slug = f"list-{row:02}"
    return Fact(
        uid=uid_of(SHUFFLES, row),
        id=f"shuffling/{slug}",
        category="shuffling",
        family=slug,
        kind="permutation",
        items=tuple(items),
        law={"permutation": {"items": items}},
        rationale="Every order of the list is equally likely.",
    )


def _real_world(row: int, *, handling: str, law: str, n_equal: int | None) -> Fact:
    slug = f"case-{row:02}"
    return Fact(
        uid=uid_of(REAL_WORLD, row),
        id=f"real-world/{slug}",
        category="real-world",
        family=slug,
        kind=_KINDS.get(handling, "lines"),
        n_equal=n_equal,
        rationale=f"As published: {law}.",
    )
