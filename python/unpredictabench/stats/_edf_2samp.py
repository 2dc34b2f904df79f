"""Kuiper, Anderson-Darling and Cramer-von Mises between two samples, by labelings of the pool."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np

from unpredictabench import _native
from unpredictabench.errors import InputError
from unpredictabench.stats import _options as options
from unpredictabench.stats._arrays import Empty, Samples
from unpredictabench.stats._distances import opened_pairs
from unpredictabench.stats._edf import EdfResult, Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unpredictabench.stats._options import Seed
    from unpredictabench.stats._ragged import SampleLike, TruthLike

LabelMethod: TypeAlias = Literal["auto", "permutation", "exact"]
MOST_LABELINGS: Final = 10_000_000
"""Labelings that "exact" looks at at most."""


def kuiper_2samp(
    x: SampleLike,
    y: TruthLike,
    *,
    method: LabelMethod = "auto",
    n_resamples: int = 9999,
    rng: Seed = None,
    empty: Empty = "raise",
    workers: int | None = None,
) -> EdfResult:
    """Test whether samples come from the law of their truths, by Kuiper's V = D+ + D-.

    The null hypothesis is that all observations, those of `x` and those of `y`, are draws from one
    law: all labelings of the pooled values are equally likely.

    Parameters
    ----------
    x : array_like
        Observations: 1-d (one sample), 2-d or ragged (a batch, rows are samples).
    y : array_like or PreparedTruth
        Draws from the target: one truth for all rows, or one a row.
    method : {"auto", "permutation", "exact"}, default "auto"
        "auto" and "permutation" look at all labelings where there are at most `n_resamples`, else
        at that many random ones; "exact" at all of up to ten million.
    n_resamples : int, default 9999
        Random labelings.
    rng : int or numpy.random.Generator, optional
        Seed of those; a fixed named stream by default.
    empty : {"raise", "nan"}, default "raise"
        What to do with empty rows.
    workers : int, optional
        Threads to use; all allowed cores by default. The result does not depend on it.

    Returns
    -------
    EdfResult
        V in [0, 1], its p-value, and the method.

    Raises
    ------
    InputError
        When an argument breaks a rule above, or holds NaN.

    Notes
    -----
    Ties are exact: V is compared as an integer. p = (b + 1) / (n_resamples + 1) for b of the random
    labelings with a V at least as large; each labeling has its own stream, named by seed, row and
    number.

    Examples
    --------
    >>> result = kuiper_2samp([1, 2, 3], [4, 5, 6, 7])
    >>> result.statistic, result.pvalue, result.method
    (1.0, 0.2, 'exact')
    """
    return _two_sample("kuiper", x, y, _Labels(method, n_resamples, rng, empty, workers))


def anderson_2samp(
    x: SampleLike,
    y: TruthLike,
    *,
    method: LabelMethod = "auto",
    n_resamples: int = 9999,
    rng: Seed = None,
    empty: Empty = "raise",
    workers: int | None = None,
) -> EdfResult:
    """Test whether samples come from the law of their truths, by Anderson and Darling's statistic.

    The null hypothesis is that all observations, those of `x` and those of `y`, are draws from one
    law: all labelings of the pooled values are equally likely.

    Parameters
    ----------
    x, y, method, n_resamples, rng, empty, workers
        As for `kuiper_2samp`.

    Returns
    -------
    EdfResult
        The standardised midrank statistic, as of `scipy.stats.anderson_ksamp`, its p-value, and the
        method.

    Raises
    ------
    InputError
        When an argument breaks a rule above, or holds NaN.

    Notes
    -----
    Midranks and standardisation as in [1]_, equations 6 and 7. The standardisation needs at least
    four pooled observations: below, the statistic is NaN and the p-value stands. When all pooled
    values are equal p = 1.

    References
    ----------
    .. [1] F. W. Scholz, M. A. Stephens, "K-sample Anderson-Darling tests", 1987,
       doi:10.1080/01621459.1987.10478517

    Examples
    --------
    >>> result = anderson_2samp([1, 2, 3], [4, 5, 6, 7])
    >>> round(result.statistic, 4), round(result.pvalue, 4)
    (3.1223, 0.0571)
    """
    return _two_sample("anderson", x, y, _Labels(method, n_resamples, rng, empty, workers))


def cramervonmises_2samp(
    x: SampleLike,
    y: TruthLike,
    *,
    method: LabelMethod = "auto",
    n_resamples: int = 9999,
    rng: Seed = None,
    empty: Empty = "raise",
    workers: int | None = None,
) -> EdfResult:
    """Test whether samples come from the law of their truths, by Cramer and von Mises' statistic.

    The null hypothesis is that all observations, those of `x` and those of `y`, are draws from one
    law: all labelings of the pooled values are equally likely.

    Parameters
    ----------
    x, y, method, n_resamples, rng, empty, workers
        As for `kuiper_2samp`.

    Returns
    -------
    EdfResult
        Anderson's T, as of `scipy.stats.cramervonmises_2samp`, its p-value, and the method.

    Raises
    ------
    InputError
        When an argument breaks a rule above, or holds NaN.

    Notes
    -----
    Ties have midranks; T is compared as an integer [1]_.

    References
    ----------
    .. [1] T. W. Anderson, "On the distribution of the two-sample Cramer-von Mises criterion", 1962,
       doi:10.1214/aoms/1177704477

    Examples
    --------
    >>> result = cramervonmises_2samp([1, 2, 3], [4, 5, 6, 7])
    >>> round(result.statistic, 4), round(result.pvalue, 4)
    (0.5952, 0.0571)
    """
    return _two_sample("cramer", x, y, _Labels(method, n_resamples, rng, empty, workers))


@dataclass(frozen=True, slots=True)
class _Labels:
    """Which labelings to look at."""

    method: str
    n_resamples: int
    rng: Seed
    empty: Empty
    workers: int | None

    @property
    def most(self) -> int:
        return MOST_LABELINGS if self.method == "exact" else self.n_resamples


def _two_sample(
    kind: Kind,
    x: SampleLike,
    y: TruthLike,
    labels: _Labels,
) -> EdfResult:
    options.choice("method", labels.method, ("auto", "permutation", "exact"))
    options.resamples(labels.n_resamples)
    options.threads(labels.workers)
    opened, is_empty = opened_pairs(x, y, labels.empty, allow_infinite=True)
    n, m = opened.x.lengths(), _truth_sizes(opened.y)
    _refuse_many_labelings(labels, n, m)
    seed = options.resampling_seed(labels.rng, f"stats.{kind}_2samp")
    statistic, pvalue = np.empty(len(opened)), np.empty(len(opened))
    is_exact = np.empty(len(opened), dtype=np.bool_)
    for rows, left, right in opened.chunks():
        statistic[rows], pvalue[rows], is_exact[rows] = _native.edf_2samp(
            left, right, kind, int(rows.start), labels.most, seed, labels.workers
        )
    if kind == "anderson":
        statistic = _standardised(statistic, n, m)
    statistic[is_empty] = pvalue[is_empty] = np.nan
    names = np.where(is_exact, "exact", "permutation")
    if opened.is_single:
        return EdfResult(float(statistic[0]), float(pvalue[0]), str(names[0]))
    return EdfResult(statistic, pvalue, names)


def _truth_sizes(y: Samples | _native.Truth) -> NDArray[np.int64]:
    sizes = y.lengths() if isinstance(y, Samples) else [len(y)]
    return np.asarray(sizes, dtype=np.int64)


def _refuse_many_labelings(labels: _Labels, n: NDArray[np.int64], m: NDArray[np.int64]) -> None:
    if labels.method != "exact":
        return
    from math import comb  # noqa: PLC0415 - needed for this choice alone

    for few, pooled in {(int(a), int(a + b)) for a, b in np.broadcast(n, m)}:
        if comb(pooled, few) > MOST_LABELINGS:
            rule = f"be 'permutation' for more than {MOST_LABELINGS} labelings"
            raise InputError("method", rule, "exact")


def _standardised(
    statistic: NDArray[np.float64], n: NDArray[np.int64], m: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Subtract the null mean 1 and divide by the null standard deviation without ties.

    Scholz & Stephens 1987, equation 4 for two samples.
    """
    n, m = np.broadcast_arrays(n, m)
    deviations = {
        (a, b): _deviation(a, b) for a, b in set(zip(n.tolist(), m.tolist(), strict=True))
    }
    sd = np.array([deviations[pair] for pair in zip(n.tolist(), m.tolist(), strict=True)])
    return np.asarray((statistic - 1) / sd, dtype=np.float64)


def _deviation(n: int, m: int) -> float:
    size = n + m
    if size < 4 or 0 in {n, m}:
        return float("nan")
    inverse = 1 / np.arange(1, size)
    h = float(inverse.sum())
    # The inner sums run from the far end: sum over i < j of 1 / ((size - i) j).
    tails = np.cumsum(inverse[::-1])[::-1]
    g = float((tails[1:] / (size - np.arange(1, size - 1))).sum())
    both = 1 / n + 1 / m
    a = (4 * g - 6) + (10 - 6 * g) * both
    b = (2 * g - 4) * 4 + 16 * h + (2 * g - 14 * h - 4) * both - 8 * h + 4 * g - 6
    c = (6 * h + 2 * g - 2) * 4 + (4 * h - 4 * g + 6) * 2 + (2 * h - 6) * both + 4 * h
    d = (2 * h + 6) * 4 - 8 * h
    variance = (a * size**3 + b * size**2 + c * size + d) / ((size - 1) * (size - 2) * (size - 3))
    return float(np.sqrt(variance))
