"""Rows to read a score by: what simple samplers score on the same tasks."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from unpredictabench.clients import SimulatedClient
from unpredictabench.extract.observations import observe
from unpredictabench.records import CATEGORIES, Request
from unpredictabench.score.rates import cluster_of, rate
from unpredictabench.score.rules import SIZES
from unpredictabench.score.shipped import shipped, task_name
from unpredictabench.score.tasks import judge_all
from unpredictabench.targets import content_hash
from unpredictabench.targets.cache import remembered

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from unpredictabench.records import Completion, Task
    from unpredictabench.score.results import Rate
    from unpredictabench.score.rules import Rules

Floats: TypeAlias = "NDArray[np.float64]"

MEDIAN: Final = "median"
"""The row below which a model does worse than always giving the same answer."""
SAMPLERS: Final = ("perfect", MEDIAN, "kpoint:3", "kpoint:5", "uniform")
"""Simulated models, best known first."""
VERSION: Final = 2
"""Part of the key on disk: raised when baselines change without the suite."""
SEED: Final = 20_260_606
"""Seed of the baselines' draws, so that no run of ``sim:`` shares them."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """What a simple sampler scores.

    Parameters
    ----------
    name : str
        Name of the simulated model.
    ks_at_n : mapping
        KS@N for each N.
    categories : mapping
        The same by category.
    """

    name: str
    ks_at_n: Mapping[int, Rate]
    categories: Mapping[str, Mapping[int, Rate]]


def baselines(
    tasks: Sequence[Task], rules: Rules, *, n_slots: int, decimals: int | None = None
) -> tuple[Baseline, ...]:
    """Score simple samplers on tasks, from independent draws and remembered on disk.

    Parameters
    ----------
    tasks : sequence of Task
        The tasks of the run.
    rules : Rules
        Those the run is scored by.
    n_slots : int
        Answers to each task.
    decimals : int, optional
        Precision of the run, for the row of the perfect sampler rounded to it.

    Returns
    -------
    tuple of Baseline
        The perfect sampler first.
    """
    if not tasks or n_slots < 1:
        return ()
    rounded = () if decimals is None else (f"rounded:{decimals}",)
    names = (SAMPLERS[0], *rounded, *SAMPLERS[1:])
    return tuple(_baseline(name, tasks, rules, n_slots) for name in names)


def _baseline(name: str, tasks: Sequence[Task], rules: Rules, n_slots: int) -> Baseline:
    table = _shipped_rates(name, tasks, rules, n_slots)
    if table is None:
        key = (
            *("baseline", VERSION, name, n_slots, rules.protocol, repr(rules.alpha), *rules.n),
            content_hash([[task.id, dict(task.target.spec)] for task in tasks]),
        )
        found = remembered(key, lambda: simulated_rates(name, tasks, rules, n_slots))
        table = found.astype(np.float64)
    clusters = np.array([cluster_of(task) for task in tasks], dtype=object)
    category = np.array([task.category for task in tasks], dtype=object)

    def by_n(where: NDArray[np.bool_]) -> dict[int, Rate]:
        chosen = clusters[where].tolist()
        return {
            n: rate(table[where, i], chosen, rules, quickly=True) for i, n in enumerate(rules.n)
        }

    present = [one for one in CATEGORIES if (category == one).any()]
    return Baseline(
        name=name,
        ks_at_n=by_n(np.ones(len(tasks), dtype=np.bool_)),
        categories={one: by_n(np.asarray(category == one)) for one in present},
    )


def _shipped_rates(name: str, tasks: Sequence[Task], rules: Rules, n_slots: int) -> Floats | None:
    """Look the rates up among those that come with the package, which holds one set of rules."""
    tables, wanted = shipped(), set(rules.n)
    is_there = tables is not None and rules.alpha == tables.alpha and n_slots == tables.n[-1]
    if tables is None or not is_there or rules.protocol != "strict" or not wanted <= set(SIZES):
        return None
    found = tables.known(tables.baselines, [f"{name}/{task_name(task)}" for task in tasks])
    return None if found is None else found[:, [SIZES.index(n) for n in rules.n]]


def simulated_rates(name: str, tasks: Sequence[Task], rules: Rules, n_slots: int) -> Floats:
    """Return the pass rates of a simulated model, one row a task and one column a size.

    Parameters
    ----------
    name : str
        The simulated model.
    tasks, rules, n_slots
        As for `baselines`.
    """
    observed, _ = observe(tasks, _answers(name, tasks, n_slots), mode=rules.mode)
    return judge_all(observed, rules, only_rates=True).verdicts.rates


def _answers(name: str, tasks: Sequence[Task], n_slots: int) -> Iterator[Completion]:
    """Ask a simulated model, task by task, so that no more answers are held than of one task."""
    for task in tasks:
        yield from asyncio.run(_answers_to(task, name, n_slots))


async def _answers_to(task: Task, name: str, n_slots: int) -> list[Completion]:
    client = SimulatedClient(name, seed=SEED)  # one a task: it remembers what it drew
    return [await client.ask(Request(task, i, ())) for i in range(n_slots)]


def is_below_median(ks_at_n: Mapping[int, Rate], rows: Sequence[Baseline], n: int) -> bool | None:
    """Tell whether a score is below that of the constant median.

    Parameters
    ----------
    ks_at_n : mapping
        The rates by N.
    rows : sequence of Baseline
        Simple samplers on the same tasks.
    n : int
        The N looked at.

    Returns
    -------
    bool or None
        None where one of the two is missing.
    """
    mine = ks_at_n[n].estimate
    floor = next((row.ks_at_n[n].estimate for row in rows if row.name == MEDIAN), None)
    return None if mine is None or floor is None else mine < floor
