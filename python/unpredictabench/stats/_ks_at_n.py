"""KS@N: the probability that N answers pass the Kolmogorov-Smirnov test, from a pool of M."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from unpredictabench.errors import InputError
from unpredictabench.records import Interval
from unpredictabench.stats import _options as options
from unpredictabench.stats._bootstrap_2samp import IntervalArrays
from unpredictabench.stats._convert import plain_array
from unpredictabench.stats._pools import Integers, Pools, first_answers, pools_of, refuse_nothing

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from unpredictabench.stats._arrays import Empty
    from unpredictabench.stats._laws import Floats
    from unpredictabench.stats._ragged import SampleLike

Estimator: TypeAlias = Literal["subsets", "first"]
NEEDS_MORE = "needs n < the number of answers"
TOO_FEW = "needs at least n answers"
NO_TRUTH = "no draws to compare with"
UNRELIABLE = "unreliable: n is more than half of the answers"
ONE_SUBSET = "one subset has no spread"
MOST_ANSWERS = 10_000
"""Largest N; the exact null of a law has the same limit, and beyond bands take minutes."""
_CERTAIN = 1e-12
"""Pass rates this close to 0 and 1 are so by rounding."""


@dataclass(frozen=True, slots=True)
class KsAtNResult:
    """Pass rates: scalars, or arrays of shape (batch,), (n,) or (batch, n).

    Attributes
    ----------
    n : int or ndarray
        Answers in a subset.
    pass_rate : float or ndarray
        Estimated probability that n answers pass, in [0, 1]; NaN where there are fewer than n.
    standard_error : float, None or ndarray
        Jackknife standard error; None (NaN in arrays) where it does not exist.
    critical_value : float or ndarray
        The band used: a distance from which on a sample fails, above 1 where none does.
    method : str
        ``"law"``, ``"two-sample"`` or ``"fixed_band"``: the null behind the band.
    reason : str, None or ndarray
        Why there is no standard error, or why it is unreliable; None where all is well.
    """

    n: int | Integers
    pass_rate: float | Floats
    standard_error: float | Floats | None
    critical_value: float | Floats
    method: str
    reason: str | NDArray[np.object_] | None


def ks_at_n(
    x: SampleLike,
    y_or_target: object,
    n: int | ArrayLike,
    *,
    alpha: float = 1e-4,
    estimator: Estimator = "subsets",
    n_invalid: int | ArrayLike = 0,
    empty: Empty = "raise",
    workers: int | None = None,
) -> KsAtNResult:
    """Estimate the probability that N answers pass the Kolmogorov-Smirnov test.

    With "subsets" that is the share of all subsets of N of the M answers that pass, computed
    without drawing any: the unbiased estimator with the least variance.

    Parameters
    ----------
    x : array_like
        Answers: 1-d (one pool), 2-d or ragged (a batch, rows are pools).
    y_or_target : NumericTarget, callable, array_like or PreparedTruth
        The law or its (continuous) cdf, or draws from it: one for all rows, or one a row.
    n : int or array_like of int
        Sizes N, from 1 to 10,000.
    alpha : float, default 1e-4
        Level: a subset passes when its p-value is above it.
    estimator : {"subsets", "first"}, default "subsets"
        All subsets, or the first N answers only (the published score, of higher variance).
    n_invalid : int or array_like of int, default 0
        Invalid answers in the pool beside `x`, one number or one a row. For "first" the number
        among the first N slots instead: an array in the shape of the result.
    empty : {"raise", "nan"}, default "raise"
        What to do with pools without any answer, valid or not, and with empty truths.
    workers : int, optional
        Threads to use; all allowed cores by default. The result does not depend on it.

    Returns
    -------
    KsAtNResult
        Pass rates with their standard errors, the bands used, and the null they come from.

    Raises
    ------
    InputError
        When an argument breaks a rule above, or holds NaN.

    Notes
    -----
    The sorted pool is walked once for each N; the state is the number of answers chosen so far, and
    states outside of the band die: O(M N) at most, and less for narrow bands. The band is that of
    the law ("law"); of the exact two-sample null, for a truth without ties ("two-sample"); or that
    of N draws from a truth with ties ("fixed_band"), where no fixed band is exact. For N = M the
    result is the verdict of `ks_1samp` or `ks_2samp`. Answers must be exchangeable. Invalid answers
    are drawn into a subset as often as they come, and count against it (hypergeometric).

    The standard error is the delete-one jackknife: unreliable for N > M/2, and none at N = M. Its
    square is on average the variance or more: by 3 to 14 % for rates between, by up to a third for
    rates near 1 at N = M/2.

    References
    ----------
    .. [1] M. Chen et al., "Evaluating large language models trained on code", 2021 (pass@k),
       arXiv:2107.03374
    .. [2] W. Hoeffding, "A class of statistics with asymptotically normal distribution", 1948,
       doi:10.1214/aoms/1177730196

    Examples
    --------
    >>> pool = [(i + 0.5) / 100 for i in range(60)]
    >>> result = ks_at_n(pool, lambda u: u, [10, 20, 60])
    >>> result.pass_rate.round(4).tolist()
    [0.9968, 0.9474, 0.0]
    """
    sizes, is_scalar_n = subset_sizes(n)
    alpha = options.level("alpha", alpha)
    options.choice("estimator", estimator, ("subsets", "first"))
    pool_invalid = n_invalid if estimator == "subsets" else 0
    pools = pools_of(x, y_or_target, n_invalid=pool_invalid, workers=workers)
    refuse_nothing(pools, empty, n_invalid)
    critical, method = pools.bands(sizes, alpha)
    if estimator == "subsets":
        rate, error, reason = _by_subsets(pools, sizes, alpha)
    else:
        rate, reason = _by_first(pools, sizes, n_invalid, alpha)
        error = np.full(rate.shape, np.nan)
    lacking = pools.lacks_truth()
    rate[lacking], reason[lacking] = np.nan, NO_TRUTH
    where = (0 if pools.x.is_single else slice(None), 0 if is_scalar_n else slice(None))
    rate, error, critical, reason = rate[where], error[where], critical[where], reason[where]
    shown = int(sizes[0]) if is_scalar_n else sizes
    if is_scalar_n and pools.x.is_single:
        value = None if np.isnan(error) else float(error)
        return KsAtNResult(shown, float(rate), value, float(critical), method, reason)
    return KsAtNResult(shown, rate, error, critical, method, reason)


def subset_sizes(n: int | ArrayLike) -> tuple[Integers, bool]:
    """Open sizes of subsets: as an array, and whether it was one number."""
    sizes = plain_array(n, "n")
    is_fitting = sizes.dtype.kind in "iu" and sizes.ndim <= 1
    if not is_fitting or bool((sizes < 1).any()) or bool((sizes > MOST_ANSWERS).any()):
        raise InputError("n", f"be integers from 1 to {MOST_ANSWERS}, one or a 1-d array", n)
    return np.ascontiguousarray(np.atleast_1d(sizes), dtype=np.int64), sizes.ndim == 0


def _by_subsets(
    pools: Pools, sizes: Integers, alpha: float
) -> tuple[Floats, Floats, NDArray[np.object_]]:
    rate, error = pools.shares(sizes, alpha)
    slots = (pools.x.lengths() + pools.invalid)[:, None]
    is_whole = sizes == slots
    if is_whole.any():
        # All M of M is one test: its own verdict, exact whatever the ties.
        passes = pools.pvalues(None, pools.invalid) > alpha
        rate = np.where(is_whole, passes[:, None], rate)
    reason = np.full(rate.shape, None, dtype=np.object_)
    reason[2 * sizes > slots] = UNRELIABLE
    reason[is_whole] = NEEDS_MORE
    reason[sizes > slots] = TOO_FEW
    return rate, error, reason


def _by_first(
    pools: Pools, sizes: Integers, n_invalid: int | ArrayLike, alpha: float
) -> tuple[Floats, NDArray[np.object_]]:
    lengths = pools.x.lengths()
    shape = (lengths.size, sizes.size)
    counts = options.counted("n_invalid", n_invalid)
    if counts.ndim > 0 and counts.size != shape[0] * shape[1]:
        raise InputError("n_invalid", f"be counts of at least 0 in the shape {shape}", n_invalid)
    lost = np.broadcast_to(counts if counts.ndim == 0 else counts.reshape(shape), shape)
    rate = np.full(shape, np.nan)
    reason = np.full(shape, TOO_FEW, dtype=np.object_)
    for column, size in enumerate(sizes):
        invalid = lost[:, column].astype(np.int64)
        wanted = size - invalid
        is_there = (wanted >= 0) & (wanted <= lengths)
        if is_there.any():
            passes = pools.pvalues(first_answers(pools.x, wanted), invalid) > alpha
            rate[is_there, column] = passes[is_there]
            reason[is_there, column] = ONE_SUBSET
    return rate, reason


@dataclass(frozen=True, slots=True)
class HalfLifeResult:
    """How many answers it takes to tell a model from its target: scalars, or arrays (batch,).

    Attributes
    ----------
    n_star : int or ndarray
        The largest N whose pass rate is at least `level`; 0 when there is none.
    confidence_interval : Interval or IntervalArrays
        Ends of the interval for it; infinite where the pool ends before.
    is_censored : bool or ndarray
        Whether `n_star` is the whole pool, so that the true value may be larger.
    """

    n_star: int | Integers
    confidence_interval: Interval | IntervalArrays
    is_censored: bool | NDArray[np.bool_]


def half_life(
    x: SampleLike,
    y_or_target: object,
    *,
    alpha: float = 1e-4,
    level: float = 0.5,
    n_invalid: int | ArrayLike = 0,
    confidence_level: float = 0.95,
    empty: Empty = "raise",
    workers: int | None = None,
) -> HalfLifeResult:
    """Estimate the largest N at which the pass rate is still at least a half.

    Parameters
    ----------
    x, y_or_target, alpha, n_invalid, empty, workers
        As for `ks_at_n`. Nothing is known of the half-life of an empty row: `n_star` is 0, it is
        censored, and its interval is from 0 to infinity.
    level : float, default 0.5
        The pass rate asked for, in (0, 1).
    confidence_level : float, default 0.95
        Coverage that the interval is made for, in (0, 1).

    Returns
    -------
    HalfLifeResult
        The largest N, an interval for it, and whether the pool was too small to see it.

    Raises
    ------
    InputError
        When an argument breaks a rule above, or holds NaN.

    Notes
    -----
    The whole curve of `ks_at_n` is computed for N = 1 to M. The interval is that of all N that the
    curve cannot tell from the level: from the largest N at which the rate less z standard errors
    reaches it to the largest at which the rate plus z standard errors does, all on the scale of
    normal scores, where rates near 0 and 1 have room for their errors. Above M/2 the standard
    errors are unreliable: an upper end that would lie there is infinite, a lower one is M/2. In
    simulation 95 % intervals cover the true half-life in 91 to 99 % of pools (on the plain scale
    and without that rule, 60 to 91 %). Values below 10 say little: no sample of one observation can
    fail a continuous law, except far out in its tails.

    Examples
    --------
    >>> result = half_life([0.5] * 40, lambda u: u)
    >>> result.n_star, result.is_censored
    (18, False)
    """
    for name, share in (("alpha", alpha), ("level", level), ("confidence_level", confidence_level)):
        options.level(name, share)
    pools = pools_of(x, y_or_target, n_invalid=n_invalid, workers=workers)
    refuse_nothing(pools, empty, n_invalid)
    slots = pools.x.lengths() + pools.invalid
    most = int(slots.max(initial=1))
    if most > MOST_ANSWERS:
        raise InputError("x", f"hold at most {MOST_ANSWERS} answers, invalid ones included", most)
    sizes = np.arange(1, most + 1, dtype=np.int64)
    rate, error, _ = _by_subsets(pools, sizes, alpha)
    is_unknown = pools.lacks_truth()
    rate[is_unknown] = np.nan
    z = NormalDist().inv_cdf((1 + confidence_level) / 2)
    excess = _scores_above(rate, np.nan_to_num(error), level)
    n_star = _largest(rate >= level)
    low = np.minimum(_largest(excess >= z), slots // 2)
    high = _largest(excess >= -z).astype(np.float64)
    high[(2 * high > slots) | is_unknown] = np.inf
    is_censored = (n_star >= slots) | is_unknown
    if pools.x.is_single:
        interval = Interval(float(low[0]), float(high[0]))
        return HalfLifeResult(int(n_star[0]), interval, bool(is_censored[0]))
    return HalfLifeResult(n_star, IntervalArrays(low.astype(np.float64), high), is_censored)


def _scores_above(rate: Floats, error: Floats, level: float) -> Floats:
    """Return by how many standard errors rates exceed a level, on the scale of normal scores."""
    from scipy.special import ndtri  # noqa: PLC0415 - keeps the package's import light

    score = ndtri(np.clip(rate, _CERTAIN, 1 - _CERTAIN))
    slope = np.exp(-(score**2) / 2) / np.sqrt(2 * np.pi)
    gap = score - ndtri(level)
    with np.errstate(divide="ignore", invalid="ignore"):  # a rate without error is what it is
        return np.where(error > 0, gap * slope / error, np.where(gap >= 0, np.inf, -np.inf))


def _largest(is_reached: NDArray[np.bool_]) -> Integers:
    """Return for each row the largest N (column N - 1) that is marked; 0 where none is."""
    last = is_reached.shape[1] - np.argmax(is_reached[:, ::-1], axis=1)
    return np.where(is_reached.any(axis=1), last, 0).astype(np.int64)
