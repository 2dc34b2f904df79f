"""Are answers independent of the ones before? Tests of ranks in their order, and a cycle finder."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np

from unpredictabench.errors import InputError
from unpredictabench.stats import _options as options
from unpredictabench.stats._ks1 import ks_1samp
from unpredictabench.streams import stream

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

    Floats: TypeAlias = NDArray[np.float64]

FEWEST: Final = 10
"""Answers below which no order can be told from chance at the levels in use."""
N_DRAWS: Final = 19_999
"""Orders drawn for the null; the smallest p-value is 1 / 20,000."""
MOST_LAGS: Final = 10
MOST_FOR_DRAWS: Final = 5_000
"""Answers beyond which only the first so many are looked at, to bound time and memory."""
_DRAWS_AT_A_TIME: Final = 2_000_000
STATISTICS: Final = ("lag-1", "runs", "ljung-box", "halves")


@dataclass(frozen=True, slots=True)
class IndependenceResult:
    """Whether answers look independent in their order.

    Parameters
    ----------
    n : int
        Answers looked at.
    pvalues : mapping
        P-value of each test: "lag-1", "runs", "ljung-box", "halves", "cycle", "too-uniform".
    pvalue : float
        The smallest of them times their number, at most 1; NaN where there are too few answers.
    period : int or None
        Period of an exact cycle, if the answers are one.
    lag1 : float
        Rank correlation of successive answers, in [-1, 1].
    verdict : {"independent", "dependent", "too few"}
        Whether `pvalue` is at or below the level asked for.
    """

    n: int
    pvalues: Mapping[str, float]
    pvalue: float
    period: int | None
    lag1: float
    verdict: Literal["independent", "dependent", "too few"]


def independence_test(
    x: ArrayLike, *, pit: ArrayLike | None = None, level: float = 1e-3
) -> IndependenceResult:
    """Test whether the order of answers carries information.

    The null hypothesis is that the answers are exchangeable (any order as likely as any other),
    whatever law they follow; for "too-uniform" it is that they are independent draws from their
    target.

    Parameters
    ----------
    x : array_like, shape (n,)
        Answers in their order, without NaN; the replies of a batch run one after the other.
    pit : array_like, shape (n,), optional
        Their probability-integral transform, randomised at atoms; without it "too-uniform" is not
        looked at.
    level : float, default 1e-3
        Level of the verdict, in (0, 1), for all tests together.

    Returns
    -------
    IndependenceResult
        A p-value a test, and the verdict.

    Raises
    ------
    InputError
        If arguments break a rule above.

    Notes
    -----
    Equal answers get their ranks by lot (a stream named by the answers' order), so that the ranks
    are a uniformly random order under the null and each of the first four tests has one null for
    all laws, drawn 19,999 times: p = (b + 1) / 20,000.

    * lag-1: correlation of successive ranks, two-sided [1]_.
    * runs: number of runs above and below the median, two-sided [1]_.
    * ljung-box: the portmanteau of normal scores over up to ten lags [2]_.
    * halves: the KS distance between the first and the second half.
    * cycle: the smallest period in which all answers repeat; its p-value bounds the probability
      of any cycle of that period or less among all orders of these answers.
    * too-uniform: P(D <= observed) of the KS test against the target: answers dealt out evenly.

    Constant answers have no order and pass. An answer that drifts slowly while its reply lasts
    shows in "lag-1"; a dependence that keeps ranks uncorrelated (of sizes, say) is not seen.

    References
    ----------
    .. [1] A. Wald, J. Wolfowitz, "An exact test for randomness in the non-parametric case based
       on serial correlation", 1943, doi:10.1214/aoms/1177731358
    .. [2] G. Ljung, G. Box, "On a measure of lack of fit in time series models", 1978,
       doi:10.1093/biomet/65.2.297

    Examples
    --------
    >>> result = independence_test([1.0, 5.0, 3.0] * 20)
    >>> result.verdict, result.period
    ('dependent', 3)
    """
    values = _checked(x, "x")
    options.level("level", level)
    scores = None if pit is None else _checked(pit, "pit")
    if scores is not None and scores.size != values.size:
        raise InputError("pit", f"have one value an answer ({values.size})", scores.size)
    if values.size < FEWEST:
        return IndependenceResult(values.size, {}, math.nan, None, math.nan, "too few")
    period, cycle = exact_cycle(values)
    seen = values[:MOST_FOR_DRAWS]
    ranks = _ranks(seen)
    observed = _statistics(ranks[None, :])[:, 0]
    null = _null(seen.size)
    hits = (null >= observed[:, None] - 1e-9).sum(axis=1)
    pvalues = dict(zip(STATISTICS, ((hits + 1) / (null.shape[1] + 1)).tolist(), strict=True))
    if bool((values == values[0]).all()):  # the order drawn for the ties is no evidence
        pvalues = dict.fromkeys(STATISTICS, 1.0)
    pvalues["cycle"] = cycle
    if scores is not None:
        pvalues["too-uniform"] = 1.0 - float(ks_1samp(scores, lambda u: u).pvalue)
    smallest = min(1.0, len(pvalues) * min(pvalues.values()))
    lag1 = float(np.corrcoef(ranks[:-1], ranks[1:])[0, 1])
    verdict: Literal["independent", "dependent"]
    verdict = "dependent" if smallest <= level else "independent"
    return IndependenceResult(values.size, pvalues, smallest, period, lag1, verdict)


def exact_cycle(x: ArrayLike) -> tuple[int | None, float]:
    """Find the smallest period in which a sequence repeats, at least twice through.

    Parameters
    ----------
    x : array_like, shape (n,)
        The sequence.

    Returns
    -------
    period : int or None
        At least 2 and at most n / 2; None for a constant or a sequence without a period.
    pvalue : float
        Upper bound for the probability that a random order of the same answers is a cycle of this
        period or a smaller one; 1 without a period.

    Notes
    -----
    A sequence of period t is determined by its first t entries, for which there are at most K^t
    choices with K different answers; there are ``n! / prod c_j!`` orders in all.

    Examples
    --------
    >>> period, pvalue = exact_cycle([0, 1] * 20)
    >>> period, pvalue < 1e-9
    (2, True)
    """
    values = np.asarray(x)
    counts = list(Counter(values.tolist()).values())
    period = next(
        (t for t in range(2, values.size // 2 + 1) if bool((values[t:] == values[:-t]).all())), None
    )
    if period is None or len(counts) < 2:
        return None, 1.0
    log_orders = math.lgamma(values.size + 1) - sum(math.lgamma(count + 1) for count in counts)
    log_cycles = period * math.log(len(counts)) + math.log(len(counts) / (len(counts) - 1))
    return period, min(1.0, math.exp(min(0.0, log_cycles - log_orders)))


def _checked(x: ArrayLike, name: str) -> Floats:
    try:
        values = np.asarray(x, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(name, "be one-dimensional numbers", x) from error
    if values.ndim != 1 or np.isnan(values).any():
        raise InputError(name, "be one-dimensional, without NaN", x)
    return values


def _ranks(values: Floats) -> Floats:
    """Rank from 1; equal values in an order drawn from a stream that the order of values names.

    One order for all samples of a size would not do: given it, their ranks are not uniform.
    """
    _, levels = np.unique(values, return_inverse=True)
    name = hashlib.sha256(levels.astype("<i8").tobytes()).hexdigest()
    lots = stream("independence", "ties", name).random(values.size)
    ranks = np.empty(values.size)
    ranks[np.lexsort((lots, values))] = np.arange(1, values.size + 1)
    return ranks


def _statistics(ranks: Floats) -> Floats:
    """Return the four statistics of orders (rows), each large when an order is unlikely."""
    n = ranks.shape[1]
    centred = ranks - (n + 1) / 2
    # The ends enter one product only; their expected share makes the correlation centred.
    lag1 = (centred[:, 1:] * centred[:, :-1]).sum(axis=1)
    lag1 -= -(n * n - 1) / 12  # mean over all orders: (n - 1) * -(n + 1) / 12
    is_high = centred > 0
    runs = 1.0 + (is_high[:, 1:] != is_high[:, :-1]).sum(axis=1)
    n_high = int(n // 2)
    runs -= 1 + 2 * n_high * (n - n_high) / n
    halves = _half_distance(ranks)
    return np.stack([np.abs(lag1), np.abs(runs), _portmanteau(ranks), halves])


def _portmanteau(ranks: Floats) -> Floats:
    from scipy.special import ndtri  # noqa: PLC0415 - keeps the package's import light

    n = ranks.shape[1]
    table = ndtri((np.arange(1, n + 1) - 0.5) / n)
    scores = table[ranks.astype(np.int64) - 1]
    total = np.zeros(len(scores))
    power = float((table**2).sum())
    for lag in range(1, min(MOST_LAGS, n // 5) + 1):
        r = (scores[:, lag:] * scores[:, :-lag]).sum(axis=1) / power
        total += r * r / (n - lag)
    return np.asarray(n * (n + 2) * total)


def _half_distance(ranks: Floats) -> Floats:
    n = ranks.shape[1]
    half = n // 2
    is_first = np.zeros(ranks.shape)
    np.put_along_axis(is_first, ranks[:, :half].astype(np.int64) - 1, 1.0, axis=1)
    # Walk along the ranks: up by 1/half for the first half, down for the second.
    steps = is_first / half - (1.0 - is_first) / (n - half)
    return np.asarray(np.abs(np.cumsum(steps, axis=1)).max(axis=1))


@lru_cache(maxsize=32)  # 640 kB each
def _null(n: int) -> Floats:
    """Draw the statistics of random orders of n answers."""
    rng = stream("independence", "null", n)
    rows = max(1, _DRAWS_AT_A_TIME // n)
    parts = []
    for start in range(0, N_DRAWS, rows):
        orders = np.tile(np.arange(1.0, n + 1), (min(rows, N_DRAWS - start), 1))
        parts.append(_statistics(rng.permuted(orders, axis=1)))
    return np.concatenate(parts, axis=1)
