"""Make the tables that come with the package: ``python -m unpredictabench.score.tabulate [FILE]``.

To be run when a law of the suite, a constant below or the code of a null changes; a test tells.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from unpredictabench._whole import whole
from unpredictabench.score import floors, samplers
from unpredictabench.score.labels import COARSE, N_DRAWS, drawn_tail, is_shuffle, label_law
from unpredictabench.score.numbers import is_known
from unpredictabench.score.rules import ALPHA, SIZES, Rules
from unpredictabench.score.shipped import SUITE, SWITCH, Shipped, closed, law_name, task_name
from unpredictabench.stats import _bands
from unpredictabench.stats._laws import law_of
from unpredictabench.targets import content_hash
from unpredictabench.targets.cache import FOLDER_VARIABLE
from unpredictabench.tasks import load_suite

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from unpredictabench.records import NumericTarget, Task

VERSION: Final = 1
"""Raised when the code of a null changes what it gives."""
LARGEST_N: Final = 100
"""Size up to which every N is tabulated, and the number of answers of the samplers."""
LABEL_SIZES: Final = tuple(size for size in COARSE if size <= LARGEST_N)
"""Sizes tabulated for labels, those at which their pass rates are computed."""
SAMPLERS: Final = (*samplers.SAMPLERS, *(f"rounded:{decimals}" for decimals in range(4)))
"""Simple samplers tabulated: a run is shown beside the one of its own precision."""


def key() -> str:
    """Return a hash of all that the tables depend on besides the laws."""
    constants = [
        *(VERSION, ALPHA, LARGEST_N, LABEL_SIZES, N_DRAWS, SIZES, SAMPLERS),
        *(floors.GRID, floors.N_TRUTH, floors.N_SAMPLES, samplers.VERSION, samplers.SEED),
    ]
    return content_hash(constants)


def tabulate(tasks: Sequence[Task], suite_hash: str) -> Shipped:
    """Compute the tables of some tasks.

    Parameters
    ----------
    tasks : sequence of Task
        The tasks.
    suite_hash : str
        Hash of their suite.

    Returns
    -------
    Shipped
        The tables.

    Notes
    -----
    A minute for the whole suite, most of it for nulls that are drawn.
    """
    n = np.arange(1, LARGEST_N + 1)
    stepped = [task for task in tasks if task.support in {"discrete", "mixed"} and is_known(task)]
    labels = [task for task in tasks if task.support == "nominal" and not is_shuffle(task)]
    drawn = [task for task in labels if not label_law(task).is_exact(LARGEST_N)]
    return Shipped(
        suite_hash=suite_hash,
        key=key(),
        alpha=ALPHA,
        n=n,
        label_n=np.array(LABEL_SIZES),
        bands={law_name(task.target): _bands_of(task, n) for task in stepped},
        criticals={law_name(task.target): criticals(task, LABEL_SIZES) for task in labels},
        tails={f"{law_name(t.target)}/{LARGEST_N}": drawn_tail(t, LARGEST_N) for t in drawn},
        floors={task_name(task): np.array(floors.simulated(task, floors.GRID)) for task in tasks},
        baselines=baselines(tasks, SAMPLERS),
    )


def criticals(task: Task, sizes: Sequence[int]) -> NDArray[np.float64]:
    """Compute critical distances of labels."""
    law = label_law(task)
    return np.array([law.critical(size, ALPHA) for size in sizes])


def baselines(tasks: Sequence[Task], names: Sequence[str]) -> dict[str, NDArray[np.float64]]:
    """Score simple samplers on tasks."""
    rows = [task_name(task) for task in tasks]
    found: dict[str, NDArray[np.float64]] = {}
    for name in names:
        rates = samplers.simulated_rates(name, tasks, Rules(), LARGEST_N)
        found |= {f"{name}/{row}": rate for row, rate in zip(rows, rates, strict=True)}
    return found


def _bands_of(task: Task, n: NDArray[np.int64]) -> NDArray[np.float64]:
    return _bands.law_bands(law_of(cast("NumericTarget", task.target)), n, ALPHA, None)


def main(arguments: Sequence[str]) -> None:
    """Write the tables of the suite to a file, that of the package by default."""
    suite = load_suite(SUITE)
    file = Path(*arguments) if arguments else Path(__file__).parent / "data" / f"{SUITE}.npz"
    # Nothing is taken over, neither from the old file nor from this machine's cache.
    os.environ[SWITCH], os.environ[FOLDER_VARIABLE] = "1", ""
    data = closed(tabulate(list(suite), suite.hash))
    with whole(file) as draft:
        draft.write_bytes(data)


if __name__ == "__main__":
    main(sys.argv[1:])
