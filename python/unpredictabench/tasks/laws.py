"""The laws of the 398 distribution tasks, as the published benchmark lists them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Mapping

    from unpredictabench.records import Category, Spread


@dataclass(frozen=True, slots=True)
class PublishedLaw:
    """The law of one distribution task.

    Parameters
    ----------
    id : str
        ``category/family/spread``.
    law : mapping
        Its spec. Where the published ground truth does not follow the family it is filed under,
        the law that the family and the parameters call for.
    uid : str
        UUID of the published task.
    """

    id: str
    law: Mapping[str, Any]
    uid: str

    @property
    def category(self) -> Category:
        """First part of the id."""
        return cast("Category", self.id.split("/")[0])

    @property
    def family(self) -> str:
        """Second part of the id."""
        return self.id.split("/")[1]

    @property
    def spread(self) -> Spread:
        """Third part of the id."""
        return cast("Spread", self.id.split("/")[2])


@cache
def published_laws() -> tuple[PublishedLaw, ...]:
    """Return the laws, in the order of the suite."""
    path = resources.files("unpredictabench.tasks") / "data" / "laws.json"
    return tuple(PublishedLaw(**row) for row in json.loads(path.read_text(encoding="utf-8")))
