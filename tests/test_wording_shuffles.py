"""The shuffling tasks are twenty fair lists with a clear answer."""

from __future__ import annotations

import json
import re
from collections import Counter
from math import factorial

import pytest

from unpredictabench.streams import stream
from unpredictabench.tasks.wording import write_shuffles

SEEDS = range(25)


def words(seed: int) -> tuple:
    """Return the shuffles of one seed."""
    return write_shuffles(stream("test", "shuffles", seed))


def whole_prompts(seed: int) -> set[str]:
    """Return the prompts of one seed."""
    return {f"{draft.question}\n\n{draft.answer.instruction}" for draft in words(seed)}


def test_there_are_five_lists_of_each_length() -> None:
    """Twenty lists hold 2 to 5 items, five of each length, under names that never change."""
    assert Counter(len(d.answer.items) for d in words(0)) == {2: 5, 3: 5, 4: 5, 5: 5}
    assert [d.slug for d in words(0)] == [d.slug for d in words(1)]
    assert len({d.slug for d in words(0)}) == 20


@pytest.mark.parametrize("seed", SEEDS)
def test_no_two_lists_hold_the_same_items(seed: int) -> None:
    """Lists differ as sets, and within a list no item is part of another."""
    lists = [draft.answer.items for draft in words(seed)]
    assert len({frozenset(items) for items in lists}) == len(lists)
    for items in lists:
        folded = [item.casefold() for item in items]
        assert not [a for i, a in enumerate(folded) for b in folded[:i] if a in b or b in a]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_prompt_shows_the_items_as_json(seed: int) -> None:
    """The list in the question reads back as exactly the items of the answer and of the law."""
    for draft in words(seed):
        shown = json.loads(re.search(r"\[.*\]", draft.question).group())
        assert tuple(map(str, shown)) == draft.answer.items
        assert draft.law == {"permutation": {"items": list(draft.answer.items)}}
        assert draft.answer.kind == "permutation"
        assert "JSON array" in draft.answer.instruction
        assert str(factorial(len(shown))) in draft.question
        assert not re.search(r"[{}]|  ", draft.question + draft.answer.instruction)


def test_all_kinds_of_item_occur() -> None:
    """Numbers, decimals, words, apostrophes and pairs of words are all among the items."""
    items = [item for draft in words(0) for item in draft.answer.items]
    for pattern in (r"\d+", r"\d+\.\d\d", r"[a-z]+", r"\w+'s \w+", r"[a-z]+ [a-z]+"):
        assert any(re.fullmatch(pattern, item) for item in items)
    mixed = next(draft for draft in words(0) if draft.slug == "five-kinds")
    assert any(item[0].isdigit() for item in mixed.answer.items)
    assert any("'" in item for item in mixed.answer.items)


def test_the_same_stream_gives_the_same_lists_and_seeds_share_none() -> None:
    """Shuffles depend on the generator alone, and no prompt of one seed occurs under another."""
    assert words(3) == words(3)
    prompts = [whole_prompts(seed) for seed in SEEDS]
    assert len(set().union(*prompts)) == sum(map(len, prompts)) == 20 * len(SEEDS)
