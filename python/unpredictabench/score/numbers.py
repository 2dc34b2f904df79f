"""Tests of number tasks: against the law, or against draws where the law is not known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from unpredictabench.stats import RaggedArray, _bands, ks_1samp, ks_2samp, ks_at_n
from unpredictabench.stats._ks1 import tails
from unpredictabench.stats._laws import law_of
from unpredictabench.targets import content_hash
from unpredictabench.targets.cache import remembered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from unpredictabench.records import NumericTarget, Task
    from unpredictabench.score.pools import Pool, Sample
    from unpredictabench.score.rules import Rules
    from unpredictabench.score.verdicts import Verdicts
    from unpredictabench.stats import KsResult

Floats: TypeAlias = "NDArray[np.float64]"
Integers: TypeAlias = "NDArray[np.int64]"


def is_known(task: Task) -> bool:
    """Whether the law of a task is known, and not only draws from it."""
    return bool(getattr(task.target, "is_exact", True))


@dataclass(frozen=True, slots=True, eq=False)
class AgainstLaws:
    """Pools of numbers compared with the laws of their tasks.

    Parameters
    ----------
    pools : sequence of Pool
        The pools, none of them empty.
    """

    pools: Sequence[Pool]

    @property
    def method(self) -> str:
        """Name of the null."""
        return "law"

    @property
    def laws(self) -> list[NumericTarget]:
        """The laws, one a pool."""
        return [cast("NumericTarget", pool.observed.task.target) for pool in self.pools]

    @property
    def has_exact_shares(self) -> bool:
        """Whether a share of 0 or 1 speaks for every subset."""
        return True

    def whole(self, verdicts: Verdicts) -> None:
        """Fill in the test of all answers."""
        x, n_invalid = _ragged([pool.whole for pool in self.pools])
        _fill(verdicts, ks_1samp(x, self.laws, n_invalid=n_invalid, empty="nan"))

    def passes(self, samples: Sequence[Sample], rows: Integers, alpha: float) -> NDArray[np.bool_]:
        """Tell which samples pass."""
        x, n_invalid = _ragged(samples)
        laws = self.laws
        return _bands.inside(x, [laws[row] for row in rows], n_invalid, alpha)

    def shares(self, n: Integers, rules: Rules) -> tuple[Floats, Floats]:
        """Return the share of subsets of each size that pass, and its standard error."""
        x, n_invalid = _ragged([pool.whole for pool in self.pools])
        found = ks_at_n(x, self.laws, n, alpha=rules.alpha, n_invalid=n_invalid, empty="nan")
        return np.asarray(found.pass_rate), np.asarray(found.standard_error, dtype=np.float64)

    def sizes(self, n: Integers, alpha: float) -> Floats:
        """Return the attainable size at each N: alpha itself where the law is continuous."""
        found = np.full((len(self.pools), n.size), alpha)
        rows = [row for row, target in enumerate(self.laws) if target.support != "continuous"]
        targets = [self.laws[row] for row in rows]
        if rows:
            specs = content_hash([dict(target.spec) for target in targets])
            key = ("sizes", specs, repr(alpha), *n.tolist())
            table = remembered(key, lambda: np.array([_sizes(t, n, alpha) for t in targets]))
            found[rows] = table.astype(np.float64)
        return found


@dataclass(frozen=True, slots=True, eq=False)
class AgainstDraws:
    """Pools of numbers compared with draws, for tasks whose law is not known.

    Parameters
    ----------
    pools : sequence of Pool
        The pools, none of them empty.
    """

    pools: Sequence[Pool]

    @property
    def method(self) -> str:
        """Name of the null."""
        return "two-sample"

    @property
    def draws(self) -> list[Floats]:
        """The draws, one array a pool."""
        return [pool.observed.task.truth().astype(np.float64) for pool in self.pools]

    @property
    def has_exact_shares(self) -> bool:
        """Whether a share of 0 or 1 speaks for every subset."""
        return False

    def whole(self, verdicts: Verdicts) -> None:
        """Fill in the test of all answers; with ties no fixed band for subsets is exact."""
        x, n_invalid = _ragged([pool.whole for pool in self.pools])
        draws = self.draws
        y = _rows(draws)
        _fill(verdicts, ks_2samp(x, y, n_invalid=n_invalid, empty="nan"))
        has_ties = [np.unique(each).size < each.size for each in draws]
        verdicts.method[np.array(has_ties, dtype=np.bool_)] = "fixed_band"

    def passes(self, samples: Sequence[Sample], rows: Integers, alpha: float) -> NDArray[np.bool_]:
        """Tell which samples pass."""
        x, n_invalid = _ragged(samples)
        draws = self.draws
        y = _rows([draws[row] for row in rows])
        return np.asarray(ks_2samp(x, y, n_invalid=n_invalid, empty="nan").pvalue) > alpha

    def shares(self, n: Integers, rules: Rules) -> tuple[Floats, Floats]:
        """Return the share of subsets of each size that pass, and its standard error."""
        x, n_invalid = _ragged([pool.whole for pool in self.pools])
        y = _rows(self.draws)
        found = ks_at_n(x, y, n, alpha=rules.alpha, n_invalid=n_invalid, empty="nan")
        return np.asarray(found.pass_rate), np.asarray(found.standard_error, dtype=np.float64)

    def sizes(self, n: Integers, alpha: float) -> Floats:
        """Return alpha: an upper bound, as the null depends on the subset."""
        return np.full((len(self.pools), n.size), alpha)


def _sizes(target: NumericTarget, n: Integers, alpha: float) -> Floats:
    """Return the tail of a law with atoms at its critical distances; 0 where nothing can fail."""
    band = np.asarray(ks_at_n([0.0], target, n, alpha=alpha).critical_value)
    return np.where(band < 1, tails(law_of(target), n, np.minimum(band, 1.0))[0], 0.0)


def _ragged(samples: Sequence[Sample]) -> tuple[Any, Integers]:
    n_invalid = np.array([count for _, count in samples], dtype=np.int64)
    return _rows([values for values, _ in samples]), n_invalid


def _rows(rows: Sequence[Floats]) -> Any:
    """Join rows; any, because array_like has no name for them."""
    return RaggedArray.from_rows(rows)


def _fill(verdicts: Verdicts, found: KsResult) -> None:
    verdicts.statistic[:], verdicts.pvalue[:] = found.statistic, found.pvalue
    verdicts.log_pvalue[:], verdicts.sign[:] = found.log_pvalue, found.statistic_sign
    location = np.asarray(found.statistic_location, dtype=np.float64)
    verdicts.location[:] = np.where(np.isfinite(location), location, np.nan)
