"""Intervals for shares, tests of paired verdicts, and corrections for many tests."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from unpredictabench.errors import InputError
from unpredictabench.records import Interval

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

MOST_SUMMED: Final = 1_000
"""Discordant pairs up to which the tail is summed in integers."""


@dataclass(frozen=True, slots=True)
class McNemarResult:
    """Outcome of McNemar's test.

    Parameters
    ----------
    statistic : int
        The smaller of the two discordant counts.
    pvalue : float
        Two-sided p-value in [0, 1].
    method : {"mid-p", "exact"}
        Which tail was taken.
    """

    statistic: int
    pvalue: float
    method: Literal["mid-p", "exact"]


def normal_quantile(confidence_level: float) -> float:
    """Return the z with P(|Z| <= z) = `confidence_level` for a standard normal Z."""
    from unpredictabench.stats._options import level  # noqa: PLC0415 - keeps the import light

    level("confidence_level", confidence_level)
    from statistics import NormalDist  # noqa: PLC0415 - keeps the package's import light

    return NormalDist().inv_cdf(0.5 + confidence_level / 2.0)


def wilson_interval(successes: float, n: float, *, confidence_level: float = 0.95) -> Interval:
    """Compute Wilson's score interval for a share.

    Parameters
    ----------
    successes : float
        Number of successes, between 0 and `n`; fractions are allowed, for effective sizes.
    n : float
        Number of trials, above 0; an effective number of trials where trials are clustered.
    confidence_level : float
        Coverage aimed at, in (0, 1).

    Returns
    -------
    Interval
        Ends in [0, 1]; never of zero width.

    Raises
    ------
    InputError
        If an argument lies outside of its range.

    Notes
    -----
    The interval inverts the score test of the share. It has no zero width at 0 % or 100 %, where
    Wald's interval does. Its coverage is the level on average over shares (within .004 from 20
    answers on, shares .1 to .9), not at each: at .95 down to .926 there for n = 20, and to .84 for
    shares near 0 or 1.

    References
    ----------
    Wilson (1927), doi:10.1080/01621459.1927.10502953.

    Examples
    --------
    >>> interval = wilson_interval(30, 30)
    >>> round(interval.low, 6), interval.high
    (0.886487, 1.0)
    """
    from unpredictabench.stats._options import real  # noqa: PLC0415 - keeps the import light

    if real("n", n, "be above 0 and finite") <= 0:
        raise InputError("n", "be above 0 and finite", n)
    if not 0 <= real("successes", successes, f"lie between 0 and n = {n}") <= n:
        raise InputError("successes", f"lie between 0 and n = {n}", successes)
    z = normal_quantile(confidence_level)
    share, square = successes / n, z * z / n
    centre = share + square / 2.0
    half = math.sqrt(square * (share * (1.0 - share) + square / 4.0))
    low = 0.0 if successes == 0 else max(0.0, (centre - half) / (1.0 + square))
    high = 1.0 if successes == n else min(1.0, (centre + half) / (1.0 + square))
    return Interval(low, high)


def mcnemar_test(b: int, c: int, *, method: Literal["mid-p", "exact"] = "mid-p") -> McNemarResult:
    """Test whether two models pass tasks at the same rate, on the same tasks.

    The null hypothesis is that a task that only one of the two passes is as likely to be passed
    by the one as by the other.

    Parameters
    ----------
    b, c : int
        Number of tasks that only the first, or only the second, passes.
    method : {"mid-p", "exact"}
        The mid-p tail (default) or the exact binomial one, which is conservative.

    Returns
    -------
    McNemarResult
        Statistic, p-value and method.

    Raises
    ------
    InputError
        If a count is negative or not whole, or the method is unknown.

    Notes
    -----
    Without discordant tasks nothing speaks against the null and the p-value is 1.
    "exact" keeps every level, whatever the number of discordant tasks. "mid-p" keeps it over random
    numbers of them while at most half of the tasks are discordant (enumerated for 10 to 448 tasks);
    given their number it rejects equal models up to .077 of the time at .05, .016 at .01.

    References
    ----------
    McNemar (1947), doi:10.1007/BF02295996; Fagerland, Lydersen & Laake (2013),
    doi:10.1186/1471-2288-13-91.

    Examples
    --------
    >>> mcnemar_test(2, 12, method="exact").pvalue
    0.012939453125
    """
    from unpredictabench.stats import _options as options  # noqa: PLC0415 - keeps the import light

    counts = [
        options.whole(name, count, 0, options.MOST_ANSWERS) for name, count in (("b", b), ("c", c))
    ]
    options.choice("method", method, ("mid-p", "exact"))
    n, smaller = sum(counts), min(counts)
    pvalue = 1.0 if n == 0 else min(1.0, _both_tails(smaller, n, is_mid=method == "mid-p"))
    return McNemarResult(smaller, pvalue, method)


def _both_tails(k: int, n: int, *, is_mid: bool) -> float:
    """Return twice P(X <= k) for n tosses of a coin, with `is_mid` less P(X = k)."""
    if n <= MOST_SUMMED:
        # Integers of any size: exact sums of binomial coefficients over 2^n.
        tail = sum(math.comb(n, j) for j in range(k + 1))
        return float((2 * tail - (math.comb(n, k) if is_mid else 0)) / 2**n)
    from scipy.special import bdtr  # noqa: PLC0415 - only for many pairs

    return float(bdtr(k, n, 0.5) + bdtr(k - is_mid, n, 0.5)) if k else 2.0 ** (1 - is_mid - n)


def holm(pvalues: ArrayLike) -> NDArray[np.float64]:
    """Adjust p-values so that the chance of any false rejection is kept (Holm's step-down).

    Parameters
    ----------
    pvalues : array_like, shape (k,)
        P-values in [0, 1].

    Returns
    -------
    numpy.ndarray, shape (k,)
        Adjusted p-values in the order given; compare each with the level.

    Raises
    ------
    InputError
        If the input is not one-dimensional or a value is NaN or outside of [0, 1].

    References
    ----------
    Holm (1979), https://www.jstor.org/stable/4615733.

    Examples
    --------
    >>> holm([0.001, 0.02, 0.03, 0.04]).tolist()
    [0.004, 0.06, 0.06, 0.06]
    """
    import numpy as np  # noqa: PLC0415 - keeps the package's import light

    p = _checked_pvalues(pvalues)
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(steps, 1.0)
    return adjusted


def benjamini_hochberg(pvalues: ArrayLike) -> NDArray[np.float64]:
    """Adjust p-values so that the expected share of false rejections is kept.

    Parameters
    ----------
    pvalues : array_like, shape (k,)
        P-values in [0, 1].

    Returns
    -------
    numpy.ndarray, shape (k,)
        Adjusted p-values in the order given.

    Raises
    ------
    InputError
        If the input is not one-dimensional or a value is NaN or outside of [0, 1].

    References
    ----------
    Benjamini & Hochberg (1995), doi:10.1111/j.2517-6161.1995.tb02031.x.

    Examples
    --------
    >>> benjamini_hochberg([0.001, 0.02, 0.03, 0.04]).tolist()
    [0.004, 0.04, 0.04, 0.04]
    """
    import numpy as np  # noqa: PLC0415 - keeps the package's import light

    p = _checked_pvalues(pvalues)
    order = np.argsort(p, kind="stable")
    steps = p[order] * p.size / np.arange(1, p.size + 1)
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.minimum.accumulate(steps[::-1])[::-1], 1.0)
    return adjusted


def _checked_pvalues(pvalues: ArrayLike) -> NDArray[np.float64]:
    import numpy as np  # noqa: PLC0415 - keeps the package's import light

    from unpredictabench.stats._convert import (  # noqa: PLC0415 - keeps the import light
        plain_array,
        real_numbers,
    )

    p = real_numbers(plain_array(pvalues, "pvalues"), "pvalues").astype(np.float64)
    if p.ndim != 1:
        raise InputError("pvalues", "be one-dimensional", p.shape)
    bad = np.flatnonzero(~((p >= 0.0) & (p <= 1.0)))
    if bad.size:
        raise InputError(f"pvalues[{bad[0]}]", "lie in [0, 1]", float(p[bad[0]]))
    return p
