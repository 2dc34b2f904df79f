"""The thirty real-world scenarios, each told with every probability in its text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unpredictabench.errors import InputError
from unpredictabench.tasks.scenarios import clusters, interleavings, memory, networks, scheduling

if TYPE_CHECKING:
    import numpy as np

    from unpredictabench.tasks.draft import TaskDraft
    from unpredictabench.tasks.scenarios.story import Story

__all__ = ["SLUGS", "scenarios", "tell"]

SCENARIOS = {
    **interleavings.SCENARIOS,
    **scheduling.SCENARIOS,
    **networks.SCENARIOS,
    **clusters.SCENARIOS,
    **memory.SCENARIOS,
}
SLUGS = tuple(SCENARIOS)


def scenarios(rng: np.random.Generator) -> tuple[TaskDraft, ...]:
    """Write all real-world tasks.

    Parameters
    ----------
    rng : numpy.random.Generator
        Draws names, numbers and wording; each law follows from them exactly. Every scenario has
        a child stream of its own, so that a change to one leaves the others as they are.

    Returns
    -------
    tuple of TaskDraft
        The thirty tasks, in the order of `SLUGS`.
    """
    children = rng.spawn(len(SLUGS))
    return tuple(tell(slug, child).draft for slug, child in zip(SLUGS, children, strict=True))


def tell(slug: str, rng: np.random.Generator) -> Story:
    """Tell one scenario.

    Parameters
    ----------
    slug : str
        One of `SLUGS`.
    rng : numpy.random.Generator
        Draws names, numbers and wording.

    Returns
    -------
    Story
        The task, and the facts from which the process it describes can be simulated.

    Raises
    ------
    InputError
        There is no such scenario.
    """
    if slug not in SCENARIOS:
        raise InputError("slug", f"be one of {', '.join(SLUGS)}", slug)
    return SCENARIOS[slug](rng)
