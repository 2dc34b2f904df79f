"""The assertion that a sample follows a law, or the law of another sample."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unpredictabench.errors import InputError
from unpredictabench.stats._arrays import samples
from unpredictabench.stats._options import MOST_ANSWERS, level, whole
from unpredictabench.testing._message import message_of
from unpredictabench.testing._references import reference_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from unpredictabench.records import Task
    from unpredictabench.stats import KsResult, PreparedTruth
    from unpredictabench.stats._laws import Cdf, LawLike


def assert_same_distribution(
    x: ArrayLike,
    target_or_sample: LawLike | Task | ArrayLike | PreparedTruth,
    *,
    alpha: float = 1e-6,
    cdf_left: Cdf | None = None,
    n_invalid: int = 0,
) -> KsResult:
    """Assert that a sample comes from a law, or from the law of another sample.

    The null hypothesis is that the observations are independent draws from the law, or that those
    of both samples are independent draws from one law; it is tested by `stats.ks_1samp` or
    `stats.ks_2samp`.

    Parameters
    ----------
    x : array_like, shape (n,)
        What the sampler gave: real numbers, +-inf included.
    target_or_sample : law, callable or array_like, shape (m,)
        What it should follow: a target, a task of a suite, a frozen distribution of SciPy or any
        object with a `cdf` method, a cdf, or a sample from a sampler that is trusted.
    alpha : float, default 1e-6
        Probability, at most, that a right sampler fails the assertion, in (0, 1).
    cdf_left : callable, optional
        P(X < x), for a cdf with jumps that is given as a function. Targets and SciPy's discrete
        distributions need none.
    n_invalid : int, default 0
        Draws asked for that gave nothing: they count as observations at the worse end.

    Returns
    -------
    KsResult
        Statistic, p-value, and where and on which side the statistic is attained.

    Raises
    ------
    AssertionError
        When p is at most `alpha`; the message shows D, p, where, n and a histogram of both.
    InputError
        When an argument breaks a rule above, holds NaN, or has no order: labels are tested by
        `stats.multinomial_test`, permutations by `stats.permutation_test_uniform`.

    Notes
    -----
    p is exact for continuous, discrete and mixed laws and under any ties (up to 10,000
    observations against a law), so that the assertion fails a right sampler no more often than
    `alpha` says, at n = 1 too. With a fixed seed it does not flicker at all; without one, 1e-6
    allows a thousand assertions a day for years. It sees a distance of about
    ``sqrt(ln(2 / alpha) / (2 n))``: 0.085 at n = 1,000 and alpha = 1e-6. Two samples smaller than
    about 12 each cannot fail at 1e-6: there are too few labelings.

    A pass means "not rejected". Observations are taken as independent: a chain is thinned first.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import stats
    >>> rng = np.random.default_rng(1)
    >>> result = assert_same_distribution(rng.poisson(4.0, 1000), stats.poisson(4.0))
    >>> result.method
    'exact'
    """
    __tracebackhide__ = True
    level("alpha", alpha)
    opened = samples(x, name="x", allow_empty=True)
    if not opened.is_single:
        raise InputError("x", "be one 1-d sample (ravel it, or test row by row)", _shape(x))
    values = opened.flat()
    n_invalid = whole("n_invalid", n_invalid, 0, MOST_ANSWERS)
    if values.size + n_invalid == 0:
        raise InputError("x", "hold observations", "none")
    reference = reference_of(target_or_sample, cdf_left)
    found = reference.test(values, n_invalid)
    if not found.pvalue > alpha:
        raise AssertionError(message_of(values, reference, found, alpha, n_invalid=n_invalid))
    return found


def _shape(x: Any) -> str:
    return f"shape {x.shape}" if hasattr(x, "shape") else f"{len(x)} rows"
