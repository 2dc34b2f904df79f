"""The thirty real-world scenarios, each told with every probability in its text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unpredictabench.errors import InputError
from unpredictabench.tasks.scenarios import clusters, interleavings, memory, networks, scheduling

if TYPE_CHECKING:
    import numpy as np

    from unpredictabench.tasks.draft import TaskDraft
    from unpredictabench.tasks.scenarios.story import Story

__all__ = ["SLUGS", "tell", "write"]

SCENARIOS = {
    **interleavings.SCENARIOS,
    **scheduling.SCENARIOS,
    **networks.SCENARIOS,
    **clusters.SCENARIOS,
    **memory.SCENARIOS,
}
SLUGS = tuple(SCENARIOS)


def write(slug: str, rng: np.random.Generator) -> TaskDraft:
    """Write a real-world task.

    Parameters
    ----------
    slug : str
        One of `SLUGS`.
    rng : numpy.random.Generator
        Draws names, numbers and wording; the law follows from them exactly.

    Returns
    -------
    TaskDraft
        The task with its law.

    Raises
    ------
    InputError
        There is no such scenario.
    """
    return tell(slug, rng).draft


def tell(slug: str, rng: np.random.Generator) -> Story:
    """Tell a scenario: the task, and the facts from which its process can be simulated."""
    if slug not in SCENARIOS:
        raise InputError("slug", f"be one of {', '.join(SLUGS)}", slug)
    return SCENARIOS[slug](rng)
