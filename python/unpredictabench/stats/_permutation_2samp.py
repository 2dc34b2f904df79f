"""Permutation tests of the user's own statistic of two samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unpredictabench.errors import InputError
from unpredictabench.stats import _options as options
from unpredictabench.stats._bootstrap_2samp import rows_of
from unpredictabench.stats._compiled import CompiledStatistic, is_compiled
from unpredictabench.stats._distances import opened_pairs
from unpredictabench.stats._ks import ALTERNATIVES, Alternative
from unpredictabench.stats._replicates import number, tied
from unpredictabench.streams import stream

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unpredictabench.stats._arrays import Empty, Pairs
    from unpredictabench.stats._bootstrap_2samp import OfTwoSamples
    from unpredictabench.stats._options import Seed
    from unpredictabench.stats._ragged import SampleLike, TruthLike


@dataclass(frozen=True, slots=True)
class PermutationTestResult:
    """A statistic beside its permuted values: scalars, or arrays with one entry a row.

    Attributes
    ----------
    statistic : float or ndarray
        The statistic of the data.
    pvalue : float or ndarray
        ``(b + 1) / (n_resamples + 1)`` with b permuted values at least as extreme.
    null_distribution : ndarray, shape (n_resamples,) or (batch, n_resamples)
        The permuted values.
    """

    statistic: float | NDArray[np.float64]
    pvalue: float | NDArray[np.float64]
    null_distribution: NDArray[np.float64]


def permutation_test_2samp(
    x: SampleLike,
    y: TruthLike,
    statistic: OfTwoSamples | CompiledStatistic,
    *,
    alternative: Alternative = "greater",
    n_resamples: int = 9999,
    rng: Seed = None,
    empty: Empty = "raise",
    workers: int | None = None,
) -> PermutationTestResult:
    """Test whether samples come from the law of their truths, by a statistic of your own.

    The null hypothesis is that all observations, those of `x` and those of `y`, are draws from one
    law: all labelings of the pooled values are equally likely.

    Parameters
    ----------
    x, y, rng, empty, workers
        As for `bootstrap_2samp`.
    statistic : callable or CompiledStatistic
        One from `from_cfunc` runs in the native loop; a callable of two 1-d arrays returns a
        number (not NaN). For Wasserstein and energy distances use `wasserstein_test` and
        `energy_test`, for ranks `ks_2samp` and its like.
    alternative : {"greater", "less", "two-sided"}, default "greater"
        Which permuted values are extreme: those as large as the statistic (a distance), as small,
        or either, at twice the smaller of the two p-values.
    n_resamples : int, default 9999
        Permutations a pair, at least 1.

    Returns
    -------
    PermutationTestResult
        The statistic, its p-value in [1 / (n_resamples + 1), 1], and the permuted values.

    Raises
    ------
    InputError
        When an argument breaks a rule above, or holds NaN.

    Notes
    -----
    p is valid for any number of permutations: P(p <= a) <= a under the null [1]_. Permuted values
    that differ from the statistic by rounding only count as equal. Where a compiled statistic
    returns NaN, for the data or a permutation, p is NaN.

    References
    ----------
    .. [1] B. Phipson, G. K. Smyth, "Permutation p-values should never be zero", 2010,
       doi:10.2202/1544-6115.1585

    Examples
    --------
    >>> result = permutation_test_2samp(
    ...     [5.0, 6.0, 7.0], [1.0, 2.0, 3.0], lambda x, y: x.mean() - y.mean(), n_resamples=999
    ... )
    >>> result.statistic, 0.02 < result.pvalue < 0.09
    (4.0, True)
    """
    options.choice("alternative", alternative, ALTERNATIVES)
    n_resamples, workers = options.resamples(n_resamples), options.threads(workers)
    if not is_compiled(statistic, 2) and not callable(statistic):
        raise InputError("statistic", "be a callable of two arrays or from_cfunc(...)", statistic)
    opened, is_empty = opened_pairs(x, y, empty, allow_infinite=True)
    seed = options.resampling_seed(rng, "stats.permutation_test_2samp")
    if isinstance(statistic, CompiledStatistic):
        observed = statistic.of_pairs(opened, workers)
        permuted = statistic.resamples(opened, "labels", n_resamples, seed=seed, workers=workers)
    else:
        observed, permuted = _of_callable(opened, statistic, n_resamples, seed)
    observed[is_empty] = permuted[is_empty] = np.nan
    pvalue = _pvalues(observed, permuted, alternative)
    if opened.is_single:
        return PermutationTestResult(float(observed[0]), float(pvalue[0]), permuted[0])
    return PermutationTestResult(observed, pvalue, permuted)


def _of_callable(
    opened: Pairs, statistic: OfTwoSamples, n_resamples: int, seed: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    observed = np.empty(len(opened))
    permuted = np.empty((len(opened), n_resamples))
    for row, (x, y) in enumerate(rows_of(opened)):
        if x.size == 0 or y.size == 0:
            continue
        rng = stream("stats.permutation_test_2samp", seed, row)
        observed[row] = number(statistic(x, y))
        pooled = np.concatenate([x, y])
        for i in range(n_resamples):
            dealt = rng.permutation(pooled)
            permuted[row, i] = number(statistic(dealt[: x.size], dealt[x.size :]))
    return observed, permuted


def _pvalues(
    observed: NDArray[np.float64], permuted: NDArray[np.float64], alternative: Alternative
) -> NDArray[np.float64]:
    """Return ``(b + 1) / (B + 1)``; NaN where a value that counts is NaN."""
    is_tied = tied(permuted, observed)

    def share(is_beyond: NDArray[np.bool_]) -> NDArray[np.float64]:
        count = np.count_nonzero(is_beyond | is_tied, axis=-1)
        return np.asarray((count + 1) / (permuted.shape[-1] + 1), dtype=np.float64)

    greater, less = share(permuted >= observed[:, None]), share(permuted <= observed[:, None])
    both = np.minimum(2 * np.minimum(greater, less), 1.0)
    pvalue = {"greater": greater, "less": less, "two-sided": both}[alternative]
    return np.where(np.isnan(observed) | np.isnan(permuted).any(axis=-1), np.nan, pvalue)
