"""Critical values remembered on disk: they belong to a suite, and a run only looks them up."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from unpredictabench.score.labels import is_shuffle, label_law
from unpredictabench.score.numbers import is_known
from unpredictabench.score.shipped import law_name, shipped
from unpredictabench.stats import _bands, _nominal
from unpredictabench.stats._laws import law_of
from unpredictabench.targets import content_hash
from unpredictabench.targets.cache import remembered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from unpredictabench.records import NumericTarget, Target, Task

Floats: TypeAlias = "NDArray[np.float64]"
Integers: TypeAlias = "NDArray[np.int64]"


def prepare(tasks: Sequence[Task], curve_n: Integers, coarse_n: Integers, alpha: float) -> None:
    """Make the critical values of a suite known to the tests, from disk where they are there.

    Parameters
    ----------
    tasks : sequence of Task
        The tasks; those of one suite share one table on disk.
    curve_n : numpy.ndarray of int64
        Sizes for laws with atoms.
    coarse_n : numpy.ndarray of int64
        Sizes for labels.
    alpha : float
        Level.
    """
    stepped = [
        task.target for task in tasks if task.support in {"discrete", "mixed"} and is_known(task)
    ]
    if stepped:
        _prepare_bands(cast("list[NumericTarget]", stepped), curve_n, alpha)
    for task in tasks:
        if task.support == "nominal" and not is_shuffle(task):
            _prepare_labels(task, coarse_n, alpha)


def _prepare_bands(targets: list[NumericTarget], n: Integers, alpha: float) -> None:
    laws, tables = [law_of(target) for target in targets], shipped()
    if tables is not None and alpha == tables.alpha:
        found = tables.known(tables.bands, [law_name(target) for target in targets])
        if found is not None:
            for law, bands in zip(laws, found, strict=True):
                _bands.remember(law, tables.n, alpha, bands)
            n = np.setdiff1d(n, tables.n)
    if not n.size:
        return
    key = ("bands", _digest(targets), alpha, *n.tolist())
    table = remembered(
        key, lambda: np.array([_bands.law_bands(law, n, alpha, None) for law in laws])
    )
    for law, bands in zip(laws, table, strict=True):
        _bands.remember(law, n, alpha, bands.astype(np.float64))


def _prepare_labels(task: Task, n: Integers, alpha: float) -> None:
    law, tables = label_law(task), shipped()
    name = law_name(task.target)
    if tables is not None and alpha == tables.alpha and name in tables.criticals:
        known = tables.criticals[name].tolist()
        for size, critical in zip(tables.label_n.tolist(), known, strict=True):
            _nominal.remember(law, size, alpha, critical)
        n = np.setdiff1d(n, tables.label_n)
    if not n.size:
        return
    key = ("labels", _digest([task.target]), law.n_resamples, alpha, *n.tolist())
    table = remembered(key, lambda: np.array([law.critical(size, alpha) for size in n.tolist()]))
    for size, critical in zip(n.tolist(), table.tolist(), strict=True):
        _nominal.remember(law, size, alpha, critical)


def _digest(targets: Sequence[Target]) -> str:
    return content_hash([dict(target.spec) for target in targets])
