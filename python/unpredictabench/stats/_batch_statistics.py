"""The statistics that a batch of samples can be scored by, under the names of their columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from unpredictabench.stats._arrays import PreparedTruth
from unpredictabench.stats._distance_tests import energy_test, wasserstein_test
from unpredictabench.stats._distances import (
    energy_distance,
    jensenshannon,
    wasserstein_distance,
)
from unpredictabench.stats._edf_2samp import anderson_2samp, cramervonmises_2samp, kuiper_2samp
from unpredictabench.stats._ks import ks_2samp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from unpredictabench.stats._ks import Alternative, KsMethod
    from unpredictabench.stats._ragged import RaggedArray

    Truths: TypeAlias = RaggedArray | PreparedTruth

DEFAULT_STATISTICS: Final = (
    "statistic",
    "pvalue",
    "log_pvalue",
    "statistic_location",
    "statistic_sign",
    "method",
)
"""The results of `ks_2samp`, by their names there."""
_TESTS: Final[dict[str, Callable[..., Any]]] = {
    "kuiper": kuiper_2samp,
    "anderson": anderson_2samp,
    "cramervonmises": cramervonmises_2samp,
}
_DISTANCES: Final[dict[str, Callable[..., Any]]] = {
    "wasserstein": wasserstein_distance,
    "energy": energy_distance,
    "jensenshannon": jensenshannon,
}
_ZSCORES: Final[dict[str, Callable[..., Any]]] = {
    "wasserstein_zscore": wasserstein_test,
    "energy_zscore": energy_test,
}
_PVALUES: Final = {f"{name}_pvalue": test for name, test in _TESTS.items()}
STATISTICS: Final = (*DEFAULT_STATISTICS, *_TESTS, *_PVALUES, *_DISTANCES, *_ZSCORES)
OF_MEANS: Final = frozenset((*_DISTANCES, *_ZSCORES))
"""Statistics that need finite observations."""
DTYPES: Final = dict.fromkeys(STATISTICS, "f8") | {"statistic_sign": "i1", "method": "U5"}


@dataclass(frozen=True, slots=True)
class Choices:
    """Options of the statistics, checked."""

    alternative: Alternative
    method: KsMethod
    n_resamples: int
    seed: int | None
    workers: int | None


def computed(
    x: RaggedArray, y: Truths, n_invalid: NDArray[np.int64], names: Sequence[str], how: Choices
) -> Iterator[tuple[str, Any]]:
    """Compute the statistics of some samples against their truths.

    Parameters
    ----------
    x : RaggedArray
        Samples, float64 without NaN; rows may be empty.
    y : RaggedArray or PreparedTruth
        One truth a row, or one for all.
    n_invalid : ndarray of int64, shape (batch,)
        Invalid answers of each row.
    names : sequence of str
        Of `STATISTICS`.
    how : Choices
        Options.

    Yields
    ------
    tuple
        A name, and one value a row.
    """
    whole: dict[str, Any] = {"empty": "nan", "workers": how.workers}
    ks = None
    for name in names:
        if name == "kuiper":
            yield name, _kuiper(x, y, how)
        elif name in _TESTS:
            # One labeling, the fewest there are: the statistic alone is wanted.
            yield name, _TESTS[name](x, y, n_resamples=1, **whole).statistic
        elif name in _PVALUES:
            yield name, _row_by_row(_PVALUES[name], x, y, how)
        elif name in _DISTANCES:
            yield name, _DISTANCES[name](x, y, **whole)
        elif name in _ZSCORES:
            yield name, _ZSCORES[name](x, y, **whole).zscore
        else:
            ks = ks or ks_2samp(
                x, y, alternative=how.alternative, method=how.method, n_invalid=n_invalid, **whole
            )
            yield name, getattr(ks, name)


def _kuiper(x: RaggedArray, y: Truths, how: Choices) -> NDArray[np.float64]:
    """Compute V = D+ + D- from the one-sided KS statistics, which need no sorted pool.

    Both are multiples of 1 / (n m); their sum is taken in whole numbers, as `kuiper_2samp` does.
    """
    n = np.diff(x.offsets)
    m = len(y) if isinstance(y, PreparedTruth) else np.diff(y.offsets)
    total = np.zeros(len(x))
    for side in ("less", "greater"):
        found = ks_2samp(
            x, y, alternative=side, method="asymp", empty="nan", workers=how.workers
        ).statistic
        total += np.rint(found * (n * m))
    return np.asarray(total / (n * m), dtype=np.float64)


def _row_by_row(
    test: Callable[..., Any], x: RaggedArray, y: Truths, how: Choices
) -> NDArray[np.float64]:
    """Compute p-values by labelings, each row alone: its place in the batch names no stream."""
    found = np.full(len(x), np.nan)
    for row in range(len(x)):
        sample, truth = _row(x, row), _row(y, row)
        if len(sample) and len(truth):
            found[row] = test(
                sample, truth, n_resamples=how.n_resamples, rng=how.seed, workers=how.workers
            ).pvalue
    return found


def _row(rows: Truths, row: int) -> Any:
    if isinstance(rows, PreparedTruth):
        return rows
    return rows.values[rows.offsets[row] : rows.offsets[row + 1]]
