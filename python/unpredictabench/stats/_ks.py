"""The two-sample Kolmogorov-Smirnov test, exact under any ties."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import numpy as np

from unpredictabench import _native
from unpredictabench.stats import _options as options
from unpredictabench.stats._arrays import (
    EMPTY,
    Empty,
    Pairs,
    PreparedTruth,
    Values,
    check_ready,
    is_ready,
    pairs,
    refuse_empty,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from unpredictabench.stats._ragged import SampleLike, TruthLike

Alternative: TypeAlias = Literal["two-sided", "less", "greater"]
KsMethod: TypeAlias = Literal["auto", "exact", "asymp"]
Counts: TypeAlias = "int | NDArray[np.int64]"
ALTERNATIVES: Final = ("two-sided", "less", "greater")


@dataclass(frozen=True, slots=True)
class KsResult:
    """Result of a Kolmogorov-Smirnov test: scalars, or arrays of shape (batch,).

    Attributes
    ----------
    statistic : float or ndarray
        Largest distance between the two empirical cdfs, in [0, 1].
    pvalue : float or ndarray
        Probability of a statistic at least as large under the null hypothesis, in [0, 1].
    log_pvalue : float or ndarray
        Natural logarithm of it; finite where `pvalue` underflows to 0.
    statistic_location : float or ndarray
        The first value at which the distance is attained.
    statistic_sign : int or ndarray
        1 where the cdf of `x` is the higher one there, else -1; 0 for an empty row.
    method : str or ndarray
        ``"exact"`` or ``"asymp"``: how the p-value was computed.
    """

    statistic: float | NDArray[np.float64]
    pvalue: float | NDArray[np.float64]
    log_pvalue: float | NDArray[np.float64]
    statistic_location: float | NDArray[np.float64]
    statistic_sign: int | NDArray[np.int8]
    method: str | NDArray[np.str_]


def ks_2samp(
    x: SampleLike,
    y: TruthLike,
    *,
    alternative: Alternative = "two-sided",
    method: KsMethod = "auto",
    n_invalid: int | ArrayLike = 0,
    empty: Empty = "raise",
    workers: int | None = None,
) -> KsResult:
    """Test whether samples come from the law that their truths come from.

    The null hypothesis is that all observations, those of `x` and those of `y`, are draws from one
    law; the p-value is conditional on the pooled values, all labelings of them equally likely.

    Parameters
    ----------
    x : array_like
        Observations: 1-d (one sample), 2-d or ragged (a batch, rows are samples).
    y : array_like or PreparedTruth
        Draws from the target: one truth for all rows, or one a row.
    alternative : {"two-sided", "less", "greater"}, default "two-sided"
        What the statistic looks for: the cdf of `x` anywhere apart from, below, or above that of
        `y`.
    method : {"auto", "exact", "asymp"}, default "auto"
        How to compute the p-value. "auto" is exact wherever that is affordable (see
        Notes), and asymptotic beyond.
    n_invalid : int or array_like of int, default 0
        Answers asked for but invalid, one number or one a row. They count as observations at
        whichever end gives the larger statistic.
    empty : {"raise", "nan"}, default "raise"
        What to do with empty rows.
    workers : int, optional
        Threads to use; all allowed cores by default. The result does not depend on it.

    Returns
    -------
    KsResult
        Statistic, p-value and its logarithm, where and on which side the statistic is attained,
        and the method used.

    Raises
    ------
    InputError
        When an argument breaks a rule above, or holds NaN.

    Notes
    -----
    The statistic is carried as the integer ``h = max|i m - j n|`` [1]_, and the tail is a sum of
    positive terms over the block ends that can decide [2]_: relative accuracy 1e-12 down to
    1e-250, below which `log_pvalue` stays accurate. "auto" is exact while ``n + m <= 2**24`` and
    ``2 min(n, m) w t <= 4e8`` (less than half a second), with ``w = 2 h / (n + m)`` the width of
    the band (at most ``min(n, m)``) and ``t = (n + m) / (2 min(n, m)) + 2``, and always for equal
    sizes without ties. "asymp" is
    Kolmogorov's limit law, and one-sided the limit with the correction of Hodges [3]_.

    References
    ----------
    .. [1] G. Schroer, D. Trenkler, "Exact and randomization distributions of Kolmogorov-Smirnov
       tests two or three samples", 1995, doi:10.1016/0167-9473(94)00040-P
    .. [2] T. Viehmann, "Numerically more stable computation of the p-values for the two-sample
       Kolmogorov-Smirnov test", 2021, arXiv:2102.08037
    .. [3] J. L. Hodges, "The significance probability of the Smirnov two-sample test", 1958,
       doi:10.1007/BF02589501

    Examples
    --------
    >>> result = ks_2samp([1, 2, 3], [4, 5, 6])
    >>> result.statistic, round(result.pvalue, 6), result.method
    (1.0, 0.1, 'exact')
    """
    options.choice("alternative", alternative, ALTERNATIVES)
    options.choice("method", method, ("auto", "exact", "asymp"))
    workers = options.threads(workers)
    if type(n_invalid) is int and n_invalid == 0 and is_ready(x) and isinstance(y, PreparedTruth):
        return _one(check_ready(x, name="x"), y.native, 0, alternative, method)
    opened = pairs(x, y, allow_empty=True)
    counts = _counts(n_invalid, opened)
    if options.choice("empty", empty, EMPTY) == "raise":
        _refuse_nothing(opened, counts)
    if opened.is_single:
        return _single(opened, counts, alternative, method)
    columns = _empty_columns(len(opened))
    for rows, left, right in opened.chunks():
        count = counts if isinstance(counts, int) else counts[rows]
        found = _native.ks_2samp(left, right, count, alternative, method, workers)
        for column, part in zip(columns, found, strict=True):
            column[rows] = part
    statistic, location, sign, pvalue, log_pvalue, is_exact = columns
    names = np.where(is_exact, "exact", "asymp")
    return KsResult(statistic, pvalue, log_pvalue, location, sign, names)


def _single(opened: Pairs, counts: Counts, alternative: str, method: str) -> KsResult:
    count = counts if isinstance(counts, int) else int(counts[0])
    truth = opened.y if isinstance(opened.y, _native.Truth) else opened.y.flat()
    return _one(opened.x.flat(), truth, count, alternative, method)


def _one(
    x: Values, y: _native.Truth | Values, n_invalid: int, alternative: str, method: str
) -> KsResult:
    statistic, location, sign, pvalue, log_pvalue, is_exact = _native.ks_2samp_one(
        x, y, n_invalid, alternative, method
    )
    name = "exact" if is_exact else "asymp"
    return KsResult(statistic, pvalue, log_pvalue, location, sign, name)


def _empty_columns(n: int) -> tuple[NDArray[Any], ...]:
    dtypes = (np.float64, np.float64, np.int8, np.float64, np.float64, np.bool_)
    return tuple(np.empty(n, dtype=dtype) for dtype in dtypes)


def _counts(n_invalid: int | ArrayLike, opened: Pairs) -> Counts:
    if isinstance(n_invalid, int | np.integer):
        return options.whole("n_invalid", n_invalid, 0, options.MOST_ANSWERS)
    return options.invalid_counts(n_invalid, len(opened))


def _refuse_nothing(opened: Pairs, counts: Counts) -> None:
    """Refuse rows without any answer, valid or not, and truths without draws."""
    refuse_empty(opened.x, opened.x.lengths() + counts == 0)
    if not isinstance(opened.y, _native.Truth):
        refuse_empty(opened.y, opened.y.lengths() == 0)
