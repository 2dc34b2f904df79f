"""Write the shuffling tasks: short lists whose every order is equally likely."""

from __future__ import annotations

import json
from math import factorial
from typing import TYPE_CHECKING

from unpredictabench.records import Answer
from unpredictabench.tasks.draft import TaskDraft
from unpredictabench.tasks.wording.fill import plain
from unpredictabench.tasks.wording.phrasebook import page, pick

if TYPE_CHECKING:
    import numpy as np

LARGEST_WHOLE = 999
WHY = "Every one of the {orders} orders is said to be equally likely: the uniform permutation."


def write_shuffles(rng: np.random.Generator) -> tuple[TaskDraft, ...]:
    """Write the twenty shuffling tasks.

    Parameters
    ----------
    rng : numpy.random.Generator
        Chooses items, their order and the wording; the same state gives the same tasks.

    Returns
    -------
    tuple of TaskDraft
        Five lists of each length from 2 to 5, no two with the same set of items.
    """
    seen: set[frozenset[str]] = set()
    drafts = []
    for slug, length, pool in page("shuffles")["slots"]:
        items = _items(pool, length, rng)
        while frozenset(map(str, items)) in seen:
            items = _items(pool, length, rng)
        seen.add(frozenset(map(str, items)))
        drafts.append(_draft(slug, items, rng))
    return tuple(drafts)


def _draft(slug: str, items: list[float | str], rng: np.random.Generator) -> TaskDraft:
    frames = page("frames")
    orders = factorial(len(items))
    shown = json.dumps(items)
    texts = tuple(item if isinstance(item, str) else plain(item) for item in items)
    return TaskDraft(
        category="shuffling",
        slug=slug,
        question=pick(frames["shuffle"], rng).format(n=len(items), orders=orders, list=shown),
        answer=Answer("permutation", pick(frames["shuffle-instruction"], rng), texts),
        law={"permutation": {"items": list(texts)}},
        rationale=WHY.format(orders=orders),
    )


def _items(pool: str, length: int, rng: np.random.Generator) -> list[float | str]:
    """Draw a list none of whose items occurs inside another, so that no answer is ambiguous."""
    kinds = page("shuffles")["mixed"] if pool == "mixed" else [pool] * length
    while True:
        items = [_item(kind, rng) for kind in kinds]
        items = [items[i] for i in rng.permutation(len(items))[:length]]
        texts = [str(item).casefold() for item in items]
        if not any(a in b for i, a in enumerate(texts) for j, b in enumerate(texts) if i != j):
            return items


def _item(kind: str, rng: np.random.Generator) -> float | str:
    pools: dict[str, list[str]] = page("shuffles")["pools"]
    match kind:
        case "whole":
            return int(rng.integers(1, LARGEST_WHOLE + 1))
        case "decimal":
            return float(f"{rng.integers(LARGEST_WHOLE + 1) / 10:.1f}{rng.integers(1, 10)}")
        case "possessive":
            return f"{pick(pools['owners'], rng)}'s {pick(pools['things'], rng)}"
        case "pair":
            return f"{pick(pools['adjectives'], rng)} {pick(pools['things'], rng)}"
        case "words":
            return pick([word for pool in pools.values() for word in pool], rng)
        case _:
            return pick(pools[kind], rng)
