"""The published rule: first N valid answers, draws as truth, ties ignored for most tasks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import numpy as np

from unpredictabench.stats import RaggedArray, ks_2samp
from unpredictabench.stats._untied import untied_pvalues

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from unpredictabench.records import NominalTarget, Task
    from unpredictabench.score.pools import Pool, Sample
    from unpredictabench.score.rules import Rules
    from unpredictabench.score.verdicts import Verdicts

Floats: TypeAlias = "NDArray[np.float64]"
Integers: TypeAlias = "NDArray[np.int64]"

DISCRETE_FAMILIES: Final = frozenset({
    "bernoulli", "beta-binomial", "binomial", "compound-poisson", "discrete-uniform", "geometric",
    "hypergeometric", "negative-binomial", "poisson", "poisson-binomial", "skellam",
})  # fmt: skip
"""The eleven families that the published code tests with ties (110 of its 448 tasks)."""
MONTE_CARLO_ERROR: Final = 3e-5
"""Three standard errors of a published p-value near 1e-4: closer ones could differ."""


def has_ties(task: Task) -> bool:
    """Whether the published rule tests a task with its ties.

    Parameters
    ----------
    task : Task
        The task.

    Returns
    -------
    bool
        True for the published discrete families, for shuffles and for real-world tasks; all
        others are tested as if no two values were equal.
    """
    return task.category in {"shuffling", "real-world"} or task.family in DISCRETE_FAMILIES


@dataclass(frozen=True, slots=True, eq=False)
class AsPublished:
    """Pools compared with truth draws as published, exactly where that drew random numbers.

    Parameters
    ----------
    pools : sequence of Pool
        Pools made by the protocol "paper", none of them empty.
    codes : sequence of numpy.ndarray or None
        For labels: the number that stands for each outcome.
    truths : sequence of numpy.ndarray
        The truth draws of each pool's task, as numbers.
    """

    pools: Sequence[Pool]
    codes: Sequence[Floats | None]
    truths: Sequence[Floats]

    @classmethod
    def of(cls, pools: Sequence[Pool]) -> AsPublished:
        """Prepare pools."""
        tasks = [pool.observed.task for pool in pools]
        codes = [published_codes(task) for task in tasks]
        truths = [
            draws.astype(np.float64) if code is None else code[draws.astype(np.int64)]
            for code, draws in zip(codes, (task.truth() for task in tasks), strict=True)
        ]
        return cls(pools, codes, truths)

    @property
    def method(self) -> str:
        """Name of the null."""
        return "published"

    @property
    def has_exact_shares(self) -> bool:
        """Whether a share of 0 or 1 speaks for every subset."""
        return False

    def whole(self, verdicts: Verdicts) -> None:
        """Fill in the test of all answers."""
        samples = [pool.whole for pool in self.pools]
        verdicts.statistic[:], verdicts.pvalue[:] = self._test(samples, range(len(samples)))
        is_positive = verdicts.pvalue > 0
        verdicts.log_pvalue[is_positive] = np.log(verdicts.pvalue[is_positive])

    def passes(self, samples: Sequence[Sample], rows: Integers, alpha: float) -> NDArray[np.bool_]:
        """Tell which samples pass."""
        return self._test(samples, rows.tolist())[1] > alpha

    def shares(self, n: Integers, rules: Rules) -> tuple[Floats, Floats]:
        """Return the verdicts of the first answers at the sizes asked for: there is no average."""
        rates = np.full((len(self.pools), n.size), np.nan)
        for column in np.flatnonzero(np.isin(n, rules.n)):
            samples = [next(pool.blocks(int(n[column]))) for pool in self.pools]
            rates[:, column] = self._test(samples, range(len(samples)))[1] > rules.alpha
        return rates, np.full(rates.shape, np.nan)

    def sizes(self, n: Integers, alpha: float) -> Floats:
        """Return alpha, an upper bound of the attainable size."""
        return np.full((len(self.pools), n.size), alpha)

    def _test(self, samples: Sequence[Sample], rows: Sequence[int]) -> tuple[Floats, Floats]:
        """Return statistics and p-values of samples, each of the pool of its row."""
        coded = [
            values if (code := self.codes[row]) is None else code[values.astype(np.int64)]
            for (values, _), row in zip(samples, rows, strict=True)
        ]
        x: Any = RaggedArray.from_rows(coded)
        y: Any = RaggedArray.from_rows([self.truths[row] for row in rows])
        found = ks_2samp(x, y, method="exact")
        statistic, pvalue = np.asarray(found.statistic), np.asarray(found.pvalue).copy()
        tied = np.array([has_ties(self.pools[row].observed.task) for row in rows], dtype=np.bool_)
        n = np.array([values.size for values in coded], dtype=np.int64)
        m = np.array([self.truths[row].size for row in rows], dtype=np.int64)
        pvalue[~tied] = untied_pvalues(statistic[~tied], n[~tied], m[~tied])
        return statistic, pvalue


def published_codes(task: Task) -> Floats | None:
    """Return the number by which each outcome was ranked.

    Parameters
    ----------
    task : Task
        The task.

    Returns
    -------
    numpy.ndarray or None
        For permutations the first Lehmer digit, items being numbered as in the first truth
        permutation; for labels their position; None where answers are numbers.
    """
    if task.support != "nominal":
        return None
    outcomes = cast("NominalTarget", task.target).outcomes
    if task.answer.kind != "permutation":
        return np.arange(len(outcomes), dtype=np.float64)
    first = cast("tuple[int, ...]", outcomes[int(task.truth()[0])])
    place = {item: float(position) for position, item in enumerate(first)}
    # Of the first item, all smaller ones come later: the digit is the item's own number.
    return np.array([place[cast("tuple[int, ...]", outcome)[0]] for outcome in outcomes])


def could_differ(tasks: Sequence[Task], pvalues: Sequence[float | None], alpha: float) -> list[str]:
    """Return the tasks whose published p-value was drawn and is too near to alpha to be sure."""
    return [
        task.id
        for task, p in zip(tasks, pvalues, strict=True)
        if p is not None and has_ties(task) and abs(p - alpha) <= MONTE_CARLO_ERROR
    ]
