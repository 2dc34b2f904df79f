"""The Kolmogorov-Smirnov test against a law, exact whether or not the law has atoms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from unpredictabench import _native
from unpredictabench.stats import _options as options
from unpredictabench.stats._arrays import (
    EMPTY,
    Empty,
    Samples,
    nonempty_samples,
    refuse_empty,
    samples,
)
from unpredictabench.stats._ks import ALTERNATIVES, Alternative, KsResult
from unpredictabench.stats._laws import Cdf, Floats, Law, LawLike, law_of, laws_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from unpredictabench.stats._ragged import SampleLike

EXACT_OBSERVATIONS: Final = 10_000
"""Sample size up to which the null is exact; the kernel has the same limit."""
CHUNK_LEVELS: Final = 2**19
"""Levels asked for at a time."""
CHUNK_VALUES: Final = 2**19
"""Observations put through a cdf at a time: 4 MB an array."""


def ks_1samp(
    x: SampleLike,
    target: LawLike | Sequence[LawLike],
    *,
    alternative: Alternative = "two-sided",
    cdf_left: Cdf | None = None,
    n_invalid: int | ArrayLike = 0,
    empty: Empty = "raise",
    workers: int | None = None,
) -> KsResult:
    """Test whether samples come from a known law.

    The null hypothesis is that the observations are independent draws from `target`, which may be
    continuous, discrete or mixed.

    Parameters
    ----------
    x : array_like
        Observations: 1-d (one sample), 2-d or ragged (a batch, rows are samples).
    target : NumericTarget or callable, or a sequence of them
        The law, or its cdf, which is taken as continuous unless `cdf_left` is given: one for all
        rows, or one a row.
    alternative : {"two-sided", "less", "greater"}, default "two-sided"
        What the statistic looks for: the cdf of `x` anywhere apart from, below, or above that of
        the law.
    cdf_left : callable, optional
        P(X < x), for a `target` that is the cdf of a law with atoms.
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
        and the method used. The location is infinite where invalid answers alone decide.

    Raises
    ------
    InputError
        When an argument breaks a rule above, or holds NaN.

    Notes
    -----
    The null is exact up to 10,000 observations, to a relative accuracy of 1e-12 for p above 1e-250:
    the probability that the counts of uniform points leave a band, looked at only at the levels
    that the cdf takes [1]_ [2]_. Values of the statistic closer than 8 units in the last place of 1
    count as one. Beyond, the limit law ("asymp"), which for laws with atoms is an upper bound.
    An observation outside the support is an observation like any other. A constant sample and a
    single observation have their exact p too.

    References
    ----------
    .. [1] L. J. Gleser, "Exact power of goodness-of-fit tests of Kolmogorov type for discontinuous
       distributions", 1985, doi:10.1080/01621459.1985.10478210
    .. [2] R. Simard, P. L'Ecuyer, "Computing the two-sided Kolmogorov-Smirnov distribution", 2011,
       doi:10.18637/jss.v039.i11

    Examples
    --------
    >>> result = ks_1samp([0.1, 0.4, 0.9], lambda x: x)
    >>> round(result.statistic, 4), round(result.pvalue, 4), result.method
    (0.2667, 0.952, 'exact')
    """
    opened = samples(x, name="x", allow_empty=True)
    options.choice("alternative", alternative, ALTERNATIVES)
    workers = options.threads(workers)
    counts = options.invalid_counts(n_invalid, len(opened))
    if options.choice("empty", empty, EMPTY) == "raise":
        refuse_empty(opened, opened.lengths() + counts == 0)
    laws = laws_of(target, len(opened), is_single=opened.is_single, cdf_left=cdf_left)
    statistic, location, sign = statistics(opened, laws, counts, alternative, workers)
    n = opened.lengths() + counts
    pvalue, log_pvalue = _tails(laws, n, statistic, alternative, workers)
    names = np.where(n <= EXACT_OBSERVATIONS, "exact", "asymp")
    if opened.is_single:
        scalars = float(statistic[0]), float(pvalue[0]), float(log_pvalue[0]), float(location[0])
        return KsResult(*scalars, int(sign[0]), str(names[0]))
    return KsResult(statistic, pvalue, log_pvalue, location, sign, names)


@dataclass(frozen=True, slots=True)
class KsBand:
    """How far a sample may lie from a law: scalars, or arrays of shape (batch,).

    Attributes
    ----------
    low, high : float or ndarray
        Ends of the interval for the distance between the law of `x` and the target, in [0, 1].
    distance_bound : float or ndarray
        Half width of the band around the cdf of `x`, in [0, 1].
    """

    low: float | NDArray[np.float64]
    high: float | NDArray[np.float64]
    distance_bound: float | NDArray[np.float64]


def ks_confidence_band(
    x: SampleLike,
    target: LawLike | Sequence[LawLike],
    *,
    confidence_level: float = 0.95,
    cdf_left: Cdf | None = None,
    empty: Empty = "raise",
) -> KsBand:
    """Bound the distance between the law that a sample comes from and a target.

    Parameters
    ----------
    x : array_like
        Observations: 1-d (one sample), 2-d or ragged (a batch, rows are samples).
    target : NumericTarget or callable, or a sequence of them
        As for `ks_1samp`.
    confidence_level : float, default 0.95
        Coverage that the interval has at least, in (0, 1).
    cdf_left : callable, optional
        As for `ks_1samp`.
    empty : {"raise", "nan"}, default "raise"
        What to do with empty rows.

    Returns
    -------
    KsBand
        The interval for the distance, and the half width of the band.

    Raises
    ------
    InputError
        When an argument breaks a rule above, or holds NaN.

    Notes
    -----
    The inequality of Dvoretzky, Kiefer and Wolfowitz with Massart's constant [1]_ holds for every
    law and every n: the cdf of the observations lies within ``sqrt(ln(2 / (1 - c)) / (2 n))`` of
    the cdf they come from. The distance then differs from the statistic by no more than that.

    References
    ----------
    .. [1] P. Massart, "The tight constant in the Dvoretzky-Kiefer-Wolfowitz inequality", 1990,
       doi:10.1214/aop/1176990746

    Examples
    --------
    >>> band = ks_confidence_band([0.1, 0.4, 0.9], lambda x: x)
    >>> round(band.distance_bound, 4), band.low, round(band.high, 4)
    (0.7841, 0.0, 1.0)
    """
    options.level("confidence_level", confidence_level)
    opened = nonempty_samples(x, empty)
    laws = laws_of(target, len(opened), is_single=opened.is_single, cdf_left=cdf_left)
    counts = options.invalid_counts(0, len(opened))
    statistic, _, _ = statistics(opened, laws, counts, "two-sided", None)
    n = opened.lengths()
    n_or_nan = np.where(n > 0, n, np.nan)
    width = np.minimum(np.sqrt(np.log(2 / (1 - confidence_level)) / (2 * n_or_nan)), 1.0)
    low, high = np.maximum(statistic - width, 0.0), np.minimum(statistic + width, 1.0)
    if opened.is_single:
        return KsBand(float(low[0]), float(high[0]), float(width[0]))
    return KsBand(low, high, width)


def small_chunks(opened: Samples) -> Iterator[tuple[slice, Floats, NDArray[np.int64]]]:
    """Yield rows with their values and cuts, few enough for a cdf to make arrays of that size."""
    for rows, (values, cuts) in opened.chunks():
        first, n_rows = 0, cuts.size - 1
        while first < n_rows:
            fitting = int(np.searchsorted(cuts, cuts[first] + CHUNK_VALUES, side="right")) - 1
            last = min(max(fitting, first + 1), n_rows)
            part = values[cuts[first] : cuts[last]]
            yield (
                slice(rows.start + first, rows.start + last),
                part,
                cuts[first : last + 1] - cuts[first],
            )
            first = last


def cdf_values(
    laws: Law | list[Law], rows: slice, values: Floats, cuts: NDArray[np.int64]
) -> tuple[Floats, Floats]:
    """Return the cdf and its left limit at the observations of some rows."""
    if isinstance(laws, Law):
        return laws.values(values)
    upper, lower = np.empty_like(values), np.empty_like(values)
    for i, law in enumerate(laws[rows]):
        row = slice(cuts[i], cuts[i + 1])
        upper[row], lower[row] = law.values(values[row])
    return upper, lower


def statistics(
    opened: Samples,
    laws: Law | list[Law],
    counts: NDArray[np.int64],
    alternative: Alternative,
    workers: int | None,
) -> tuple[Floats, Floats, NDArray[np.int8]]:
    """Return for each row the statistic, where it is attained, and on which side."""
    size = len(opened)
    statistic, location, sign = np.empty(size), np.empty(size), np.empty(size, dtype=np.int8)
    for rows, values, cuts in small_chunks(opened):
        upper, lower = cdf_values(laws, rows, values, cuts)
        statistic[rows], location[rows], sign[rows] = _native.ks_1samp_statistic(
            (values, cuts), upper, lower, counts[rows], alternative, workers
        )
    return statistic, location, sign


def _tails(
    laws: Law | list[Law],
    n: NDArray[np.int64],
    statistic: Floats,
    alternative: Alternative,
    workers: int | None,
) -> tuple[Floats, Floats]:
    """Return p-values and their logarithms; continuous laws share one null."""
    pvalue, log_pvalue = np.full(n.size, np.nan), np.full(n.size, np.nan)
    each = [laws] if isinstance(laws, Law) else laws
    index = np.zeros(n.size, dtype=np.intp) if isinstance(laws, Law) else np.arange(n.size)
    continuous = law_of(lambda x: x)
    is_stepped = np.array([law.levels is not None for law in each], dtype=np.bool_)
    groups = [(continuous, (n > 0) & ~is_stepped[index])]
    groups += [(each[i], (n > 0) & (index == i)) for i in np.flatnonzero(is_stepped)]
    for law, rows in groups:
        if rows.any():
            found = tails(law, n[rows], statistic[rows], alternative, workers=workers)
            pvalue[rows], log_pvalue[rows] = found
    return pvalue, log_pvalue


def tails(
    law: Law,
    n: NDArray[np.int64],
    d: Floats,
    alternative: Alternative = "two-sided",
    *,
    workers: int | None = None,
) -> tuple[Floats, Floats]:
    """Return P(D_n >= d) and its logarithm for pairs (n, d); equal pairs are computed once."""
    order = np.lexsort((d, n))
    n, d = n[order], d[order]
    is_new = np.ones(n.size, dtype=np.bool_)
    is_new[1:] = (n[1:] != n[:-1]) | (d[1:] != d[:-1])
    sizes, distances = n[is_new], d[is_new]
    back = np.empty(n.size, dtype=np.intp)
    back[order] = np.cumsum(is_new) - 1
    if law.levels is None:
        p, log_p = _native.ks_1samp_continuous(sizes, distances, alternative, workers)
        return p[back], log_p[back]
    p, log_p = np.empty(sizes.size), np.empty(sizes.size)
    is_long = sizes > EXACT_OBSERVATIONS
    p[is_long], log_p[is_long] = _native.ks_1samp_continuous(
        sizes[is_long], distances[is_long], alternative, workers
    )
    short = np.flatnonzero(~is_long)
    batches = np.cumsum(sizes[short]) // CHUNK_LEVELS
    for batch in np.unique(batches):
        rows = short[batches == batch]
        below, above = law.deciding_levels(sizes[rows], distances[rows])
        cuts = np.concatenate([[0], np.cumsum(sizes[rows])])
        p[rows], log_p[rows] = _native.ks_1samp_stepped((below, cuts), above, alternative, workers)
    is_certain = distances <= 0
    p[is_certain], log_p[is_certain] = 1.0, 0.0
    return p[back], log_p[back]
