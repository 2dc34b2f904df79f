"""The scorer and the metrics: what was read from the draws, and KS@N with its interval."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from inspect_ai.scorer import (
    Metric,
    SampleScore,
    Score,
    Scorer,
    Target,
    metric,
    scorer,
)
from inspect_ai.solver import TaskState  # noqa: TC002 - Inspect reads annotations when it runs

from unpredictabench.extract.observations import observe
from unpredictabench.integrations.inspect.slots import (
    SLOTS,
    completion_of,
    observed_json,
    observed_of,
)
from unpredictabench.score import Rules, score_observed
from unpredictabench.score.tasks import judge_all
from unpredictabench.tasks import Suite, load_suite

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from unpredictabench.extract.observations import Observed
    from unpredictabench.score import Rate, RunScore

OBSERVED = "observed"
"""Key of a score's metadata: the values that were read, from which the metrics are computed."""
_SHOWN = 12
"""Values shown as the answer of a sample."""


@lru_cache(maxsize=4)
def suite_of(name: str, variant: int | None) -> Suite:
    """Load a suite once a process."""
    return load_suite(name, variant=variant)


@metric
def figures(suite: str = "v1", variant: int | None = None, alpha: float = 1e-4) -> Metric:
    """Compute the figures of all tasks together, as ``unpredictabench score`` does.

    Parameters
    ----------
    suite : str, default "v1"
        The suite, or the path of one.
    variant : int, optional
        Seed of fresh parameters.
    alpha : float, default 1e-4
        Level of the tests.

    Returns
    -------
    Metric
        Gives a mapping: ``KS@N``, ``KS@N low`` and ``KS@N high`` for each N up to the number of
        draws, validity, median N*, and the same at the largest N for each category.
    """

    def compute(scores: list[SampleScore]) -> dict[str, float]:
        tasks = suite_of(suite, variant)
        found = {str(each.sample_id): (each.score.metadata or {}) for each in scores}
        observed = [
            observed_of(tasks[name], found[name][OBSERVED]) for name in tasks.ids if name in found
        ]
        return dict(_lines(score_observed(observed, alpha=alpha)))

    return compute


@scorer(metrics=[figures()])
def ks(suite: str = "v1", variant: int | None = None, alpha: float = 1e-4) -> Scorer:
    """Read the draws of a sample and test them against the law of its task.

    Parameters
    ----------
    suite, variant, alpha
        As for `figures`.

    Returns
    -------
    Scorer
        Gives 1 where the draws of a sample do not reject the law of its task, else 0.
    """

    async def read(state: TaskState, target: Target) -> Score:  # noqa: ARG001 - Inspect's form
        task = suite_of(suite, variant)[str(state.sample_id)]
        slots = state.store.get(SLOTS) or []
        observed, _ = observe([task], [completion_of(task.id, s) for s in slots], mode="lenient")
        return Score(
            value=_passes(observed[0], alpha),
            answer=_shown(observed[0]),
            explanation=", ".join(f"{n} {name}" for name, n in observed[0].statuses.items()),
            metadata={OBSERVED: observed_json(observed[0])},
        )

    return read


def _passes(observed: Observed, alpha: float) -> float:
    """Return 1 where all the draws together do not reject the law, else 0."""
    if not observed.n_slots:
        return 0.0
    rules = Rules(n=(observed.n_slots,), alpha=alpha)
    verdicts = judge_all([observed], rules, only_rates=True).verdicts
    return float(np.nan_to_num(verdicts.rates[0, 0]))


def _lines(found: RunScore) -> Iterator[tuple[str, float]]:
    """Yield the figures; what is missing is left out."""
    sizes = [n for n in found.n if n > 1 and found.has_score(n)]
    for n in reversed(sizes):
        yield from _rate(f"KS@{n}", found.ks_at_n[n])
    yield from _given({"validity": found.validity})
    star = found.n_star
    yield from _given({"N*": star.median, "N* low": star.low, "N* high": star.high})
    yield "tasks", float(found.n_tasks)
    yield "draws", float(found.n_slots)
    for name, group in found.categories.items():
        for n in sizes[-1:]:
            yield from _rate(f"{name} KS@{n}", group.ks_at_n[n])
        yield from _given({f"{name} validity": group.validity})


def _rate(name: str, rate: Rate) -> Iterator[tuple[str, float]]:
    yield from _given({name: rate.estimate, f"{name} low": rate.low, f"{name} high": rate.high})


def _given(values: Mapping[str, float | None]) -> Iterator[tuple[str, float]]:
    yield from ((name, value) for name, value in values.items() if value is not None)


def _shown(observed: Observed) -> str:
    first: Sequence[float] = observed.values[:_SHOWN].tolist()
    words = ["-" if math.isnan(value) else f"{value:g}" for value in first]
    return ", ".join(words) + (", …" if observed.n_slots > _SHOWN else "")
