"""When a written element is one of a task's items: as text, by letters alone, as a number."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import lru_cache

from unpredictabench.extract.plaintext import plain

_NUMBER = re.compile(r"[+-]?(?:[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?+")


@dataclass(frozen=True, slots=True)
class Items:
    """Items to compare elements with.

    Parameters
    ----------
    names : tuple of str
        The items as the prompt shows them.
    exact, folded : dict of str to tuple of int
        Indices by plain text, and by text without regard to case and runs of blanks.
    numbers : dict of float to tuple of int
        Indices by number, where the item is one.
    """

    names: tuple[str, ...]
    exact: dict[str, tuple[int, ...]]
    folded: dict[str, tuple[int, ...]]
    numbers: dict[float, tuple[int, ...]]

    @staticmethod
    @lru_cache(maxsize=1024)
    def of(names: tuple[str, ...]) -> Items:
        """Prepare items for comparison.

        Parameters
        ----------
        names : tuple of str
            The items.

        Returns
        -------
        Items
            The items with their indices.
        """
        exact: dict[str, tuple[int, ...]] = {}
        folded: dict[str, tuple[int, ...]] = {}
        numbers: dict[float, tuple[int, ...]] = {}
        for at, name in enumerate(names):
            shown = plain(str(name)).strip()
            exact[shown] = (*exact.get(shown, ()), at)
            folded[_fold(shown)] = (*folded.get(_fold(shown), ()), at)
            if (number := _number(shown)) is not None:
                numbers[number] = (*numbers.get(number, ()), at)
        return Items(tuple(names), exact, folded, numbers)

    def indices(self, element: str) -> tuple[int, ...]:
        """Return the indices of the items that an element may be; several for equal items.

        Parameters
        ----------
        element : str
            An element as written, without quotes.

        Returns
        -------
        tuple of int
            The indices, empty for an element that is no item.
        """
        element = element.strip()
        if element in self.exact:
            return self.exact[element]
        if (fold := _fold(element)) in self.folded:
            return self.folded[fold]
        number = _number(element)
        return () if number is None else self.numbers.get(number, ())

    def order(self, elements: tuple[str, ...]) -> tuple[int, ...] | str:
        """Return the permutation that elements spell, or why they spell none.

        Parameters
        ----------
        elements : tuple of str
            The elements in their order.

        Returns
        -------
        tuple of int, or str
            Every index once, or the reason.
        """
        order: list[int] = []
        taken: set[int] = set()
        for element in elements:
            known = self.indices(element)
            if not known:
                return "an element is no item"
            free = next((at for at in known if at not in taken), None)
            if free is None:
                return "an item is repeated"
            order.append(free)
            taken.add(free)
        return tuple(order) if len(order) == len(self.names) else "an item is missing"


def _fold(text: str) -> str:
    return " ".join(text.casefold().split())


def _number(text: str) -> float | None:
    if not _NUMBER.fullmatch(text):
        return None
    value = float(text)
    return value if math.isfinite(value) else None
