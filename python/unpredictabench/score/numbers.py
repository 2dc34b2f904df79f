"""KS tests of number tasks: against the law, or against draws where the law is not known."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from unpredictabench.score.verdicts import Verdicts, block_rates
from unpredictabench.stats import RaggedArray, ks_1samp, ks_2samp, ks_at_n

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from unpredictabench.records import NumericTarget, Task
    from unpredictabench.score.pools import Pool, Sample
    from unpredictabench.score.rules import Rules
    from unpredictabench.stats import KsResult

Integers: TypeAlias = "NDArray[np.int64]"
References: TypeAlias = "list[NumericTarget] | list[NDArray[np.float64]]"


def is_known(task: Task) -> bool:
    """Whether the law of a task is known, and not only draws from it."""
    return bool(getattr(task.target, "is_exact", True))


def judge_numbers(pools: Sequence[Pool], rules: Rules, curve_n: Integers) -> Verdicts:
    """Test pools of numbers.

    Parameters
    ----------
    pools : sequence of Pool
        Pools of tasks whose answers are numbers.
    rules : Rules
        Sizes and level.
    curve_n : numpy.ndarray of int64
        Sizes of the curve.

    Returns
    -------
    Verdicts
        One row a pool.
    """
    verdicts = Verdicts.empty(len(pools), len(rules.n), curve_n.size)
    asked = np.array([pool.slots.size > 0 for pool in pools], dtype=np.bool_)
    known = np.array([is_known(pool.observed.task) for pool in pools], dtype=np.bool_)
    for rows, against in ((known & asked, _law), (~known & asked, _truth)):
        some = np.flatnonzero(rows)
        if some.size:
            chosen = [pools[row] for row in some]
            references = cast("References", [against(pool.observed.task) for pool in chosen])
            verdicts.put(some, _judge(chosen, references, rules, curve_n))
    return verdicts


def _law(task: Task) -> object:
    return task.target


def _truth(task: Task) -> object:
    return task.truth().astype(np.float64)


def _judge(
    pools: list[Pool], references: References, rules: Rules, curve_n: Integers
) -> Verdicts:
    found = Verdicts.empty(len(pools), len(rules.n), curve_n.size)
    whole = _test([pool.whole for pool in pools], references)
    for name in ("statistic", "location", "pvalue", "log_pvalue"):
        getattr(found, name)[:] = getattr(whole, name)
    found.sign[:] = whole.statistic_sign
    found.location[:] = whole.statistic_location
    return found


def _test(samples: Sequence[Sample], references: References) -> KsResult:
    x = RaggedArray.from_rows([values for values, _ in samples])
    n_invalid = np.array([count for _, count in samples], dtype=np.int64)
    if isinstance(references[0], np.ndarray):
        y = RaggedArray.from_rows(references)
        return ks_2samp(x, y, n_invalid=n_invalid, empty="nan")
    return ks_1samp(x, references, n_invalid=n_invalid, empty="nan")
