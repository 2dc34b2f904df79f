"""The published leaderboard as rows to compare with, with the intervals and marks it lacks."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from unpredictabench.records import Interval

TASKS: Final = {"code": 160, "text": 238, "real-world": 30, "shuffling": 20}
"""Tasks of each published category."""
SUBSET: Final = ("code", "text")
"""Categories that base models were asked."""
DISAGREEMENT: Final = 0.0005
"""Distance of an overall from its categories that rounding to .01 % cannot make, as a share."""
_ROUNDING: Final = 0.00005 + 1e-9


@dataclass(frozen=True, slots=True)
class PublishedRate:
    """A published share of tasks that pass.

    Parameters
    ----------
    estimate : float
        The share, in [0, 1].
    interval : Interval
        Wilson's 95 % interval, as if tasks were independent.
    n_tasks : int
        Tasks in the denominator. For a category the largest number, up to all its tasks, that
        gives the published percentage; fewer than all means that tasks were dropped.
    """

    estimate: float
    interval: Interval
    n_tasks: int


@dataclass(frozen=True, slots=True)
class PublishedCategory:
    """The published numbers of one category.

    Parameters
    ----------
    ks_at_100 : PublishedRate
        KS@100.
    jsd, wdz : float
        Mean Jensen-Shannon divergence, and mean z of the debiased Wasserstein distance.
    """

    ks_at_100: PublishedRate
    jsd: float
    wdz: float


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """One model of the published leaderboard; numbers under the published protocol.

    Parameters
    ----------
    id, model, vendor : str
        Slug, name and maker.
    is_open : bool
        Whether the weights are open.
    scope : {"all", "text-code"}
        Whether all 448 tasks were asked, or the 398 of text and code.
    ks_at_n : mapping of int to PublishedRate
        KS@N over all tasks asked.
    categories : mapping of str to PublishedCategory
        By "code", "text", "real-world", "shuffling"; empty for "text-code".
    overall_from_categories : float or None
        KS@100 as the categories give it, weighted by their tasks; None without categories.
    marks : tuple of str
        What is wrong with the row; empty where nothing is.
    source : str
        Where the numbers come from.
    """

    id: str
    model: str
    vendor: str
    is_open: bool
    scope: Literal["all", "text-code"]
    ks_at_n: Mapping[int, PublishedRate]
    categories: Mapping[str, PublishedCategory]
    overall_from_categories: float | None
    marks: tuple[str, ...]
    source: str

    @property
    def is_consistent(self) -> bool:
        """Whether the overall is what the categories give, where there are any."""
        again, overall = self.overall_from_categories, self.ks_at_n[100].estimate
        return again is None or abs(again - overall) <= DISAGREEMENT


@cache
def published_rows() -> tuple[PublishedRow, ...]:
    """Return the published leaderboard, best first.

    Returns
    -------
    tuple of PublishedRow
        23 models; the overall of three disagrees with its own categories.

    Notes
    -----
    These are numbers of the published protocol: invalid answers dropped, denominators that
    shrink, one subset of the answers. They can be compared with scores under
    ``protocol="paper"`` only.

    References
    ----------
    arXiv 2606.06622.

    Examples
    --------
    >>> rows = published_rows()
    >>> rows[0].model, rows[0].ks_at_n[100].estimate
    ('Nemotron-3 Super 120B', 0.3264)
    """
    path = resources.files("unpredictabench.integrations") / "data" / "leaderboard.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    found = [_row(row, data["source"]) for row in data["rows"]]
    return tuple(sorted(found, key=lambda row: -row.ks_at_n[100].estimate))


def _row(row: Mapping[str, Any], source: str) -> PublishedRow:
    n_tasks = sum(TASKS[name] for name in (TASKS if row["scope"] == "all" else SUBSET))
    rates = {int(n): _rate(share, n_tasks) for n, share in row["ks_at_n"].items()}
    categories = {name: _category(name, row["categories"][name]) for name in row["categories"]}
    again = None
    if categories:
        passed = sum(TASKS[name] * each.ks_at_100.estimate for name, each in categories.items())
        again = passed / n_tasks
    return PublishedRow(
        **{name: row[name] for name in ("id", "model", "vendor", "is_open", "scope")},
        ks_at_n=rates,
        categories=categories,
        overall_from_categories=again,
        marks=(*_disagreement(rates[100].estimate, again), *_dropped(categories)),
        source=source,
    )


def _category(name: str, numbers: Mapping[str, float]) -> PublishedCategory:
    share = numbers["ks100"] / 100
    sizes = range(TASKS[name], 0, -1)
    n_tasks = next(n for n in sizes if abs(round(share * n) / n - share) <= _ROUNDING)
    return PublishedCategory(_rate(numbers["ks100"], n_tasks), numbers["jsd"], numbers["wdz"])


def _rate(percent: float, n_tasks: int) -> PublishedRate:
    from unpredictabench.stats import wilson_interval  # noqa: PLC0415 - loads the native module

    share = round(percent / 100, 6)
    return PublishedRate(share, wilson_interval(share * n_tasks, n_tasks), n_tasks)


def _disagreement(overall: float, again: float | None) -> Iterator[str]:
    if again is not None and abs(again - overall) > DISAGREEMENT:
        yield f"the overall {overall:.2%} disagrees with its own categories, which give {again:.2%}"


def _dropped(categories: Mapping[str, PublishedCategory]) -> Iterator[str]:
    lost = {name: TASKS[name] - each.ks_at_100.n_tasks for name, each in categories.items()}
    parts = [f"{n} of {TASKS[name]} {name} tasks" for name, n in lost.items() if n]
    if parts:
        yield f"left out of the denominator: {', '.join(parts)}"
