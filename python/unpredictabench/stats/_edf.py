"""Kuiper, Anderson-Darling and Cramer-von Mises against a law."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np

from unpredictabench import _native
from unpredictabench.stats import _options as options
from unpredictabench.stats._arrays import Empty, nonempty_samples
from unpredictabench.stats._ks1 import cdf_values, small_chunks
from unpredictabench.stats._laws import Cdf, Floats, Law, LawLike, law_of, laws_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from unpredictabench.stats._options import Seed
    from unpredictabench.stats._ragged import SampleLike

Kind: TypeAlias = Literal["kuiper", "anderson", "cramer"]
LawMethod: TypeAlias = Literal["auto", "montecarlo"]

LEAST_LIMIT: Final = 10
"""Observations from which on the limit laws are used."""
CHUNK_DRAWS: Final = 2**20
"""Values drawn at a time for a null."""
SAME: Final = 1e-12
"""Statistics closer than this, relatively, are one value: they are sums of floats."""


@dataclass(frozen=True, slots=True)
class EdfResult:
    """Result of a test: scalars, or arrays of shape (batch,).

    Attributes
    ----------
    statistic : float or ndarray
        The statistic.
    pvalue : float or ndarray
        Probability of a statistic at least as large under the null hypothesis, in [0, 1].
    method : str or ndarray
        How the p-value was computed: ``"exact"``, ``"asymp"``, ``"montecarlo"`` or
        ``"permutation"``.
    """

    statistic: float | NDArray[np.float64]
    pvalue: float | NDArray[np.float64]
    method: str | NDArray[np.str_]


def kuiper_1samp(
    x: SampleLike,
    target: LawLike | Sequence[LawLike],
    *,
    method: LawMethod = "auto",
    cdf_left: Cdf | None = None,
    n_resamples: int = 9999,
    rng: Seed = None,
    empty: Empty = "raise",
    workers: int | None = None,
) -> EdfResult:
    """Test whether samples come from a known law, by Kuiper's V = D+ + D-.

    The null hypothesis is that the observations are independent draws from `target`. V sees a
    spread that is too narrow or too wide as well as a shift, and does not depend on where a circle
    is cut.

    Parameters
    ----------
    x : array_like
        Observations: 1-d (one sample), 2-d or ragged (a batch, rows are samples).
    target : NumericTarget or callable, or a sequence of them
        The law or its cdf: one for all rows, or one a row.
    method : {"auto", "montecarlo"}, default "auto"
        "auto" takes the best null there is (see Notes), "montecarlo" always draws it.
    cdf_left : callable, optional
        P(X < x), for a `target` that is the cdf of a law with atoms.
    n_resamples : int, default 9999
        Samples drawn from the law where the null is drawn.
    rng : int or numpy.random.Generator, optional
        Seed of those draws; a fixed named stream by default.
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
    Continuous laws: exact up to 10,000 observations (relative accuracy 1e-12), then the limit law
    at Stephens' modification [2]_. Laws with atoms: Monte Carlo, p = (b + 1) / (n_resamples + 1);
    rows of one law and size share the draws, given which a level a is met within about
    ``sqrt(a (1 - a) / n_resamples)``.

    References
    ----------
    .. [1] N. H. Kuiper, "Tests concerning random points on a circle", 1960
    .. [2] M. A. Stephens, "Use of the Kolmogorov-Smirnov, Cramer-von Mises and related statistics
       without extensive tables", 1970, doi:10.1111/j.2517-6161.1970.tb00821.x

    Examples
    --------
    >>> result = kuiper_1samp([0.1, 0.4, 0.9], lambda u: u)
    >>> round(result.statistic, 4), result.method
    (0.5, 'exact')
    """
    return _one_sample(
        "kuiper", x, target, _Null(method, n_resamples, rng, empty, workers), cdf_left
    )


def anderson_1samp(
    x: SampleLike,
    target: LawLike | Sequence[LawLike],
    *,
    method: LawMethod = "auto",
    cdf_left: Cdf | None = None,
    n_resamples: int = 9999,
    rng: Seed = None,
    empty: Empty = "raise",
    workers: int | None = None,
) -> EdfResult:
    """Test whether samples come from a known law, by Anderson and Darling's A2.

    The null hypothesis is that the observations are independent draws from `target`. A2 weighs the
    squared distance of the cdfs by 1 / (u (1 - u)): it looks hardest at the tails.

    Parameters
    ----------
    x, target, method, cdf_left, n_resamples, rng, empty, workers
        As for `kuiper_1samp`.

    Returns
    -------
    EdfResult
        A2 (not negative; infinite, with p = 0, for an observation outside the support), its
        p-value, and the method.

    Raises
    ------
    InputError
        When an argument breaks a rule above, or holds NaN.

    Notes
    -----
    At an atom an observation is spread evenly over the jump of the cdf [2]_; for continuous laws
    that is the classical statistic. Continuous laws: from 10 observations on the limit law [1]_ at
    the statistic moved to the limit's variance ("asymp"; p is right to 2 % above 0.01 and to 15 %
    above 1e-4), exact for one observation, Monte Carlo between. Laws with atoms: Monte Carlo.

    References
    ----------
    .. [1] T. W. Anderson, D. A. Darling, "Asymptotic theory of certain goodness of fit criteria
       based on stochastic processes", 1952, doi:10.1214/aoms/1177729437
    .. [2] C. Czado, T. Gneiting, L. Held, "Predictive model assessment for count data", 2009,
       doi:10.1111/j.1541-0420.2009.01191.x

    Examples
    --------
    >>> result = anderson_1samp([i / 20 + 0.025 for i in range(20)], lambda u: u)
    >>> result.statistic < 0.1, round(result.pvalue, 3), result.method
    (True, 1.0, 'asymp')
    """
    return _one_sample(
        "anderson", x, target, _Null(method, n_resamples, rng, empty, workers), cdf_left
    )


def cramervonmises_1samp(
    x: SampleLike,
    target: LawLike | Sequence[LawLike],
    *,
    method: LawMethod = "auto",
    cdf_left: Cdf | None = None,
    n_resamples: int = 9999,
    rng: Seed = None,
    empty: Empty = "raise",
    workers: int | None = None,
) -> EdfResult:
    """Test whether samples come from a known law, by Cramer and von Mises' W2.

    The null hypothesis is that the observations are independent draws from `target`. W2 is n times
    the integral of the squared distance of the cdfs.

    Parameters
    ----------
    x, target, method, cdf_left, n_resamples, rng, empty, workers
        As for `kuiper_1samp`.

    Returns
    -------
    EdfResult
        W2 in [0, n / 3], its p-value, and the method.

    Raises
    ------
    InputError
        When an argument breaks a rule above, or holds NaN.

    Notes
    -----
    Atoms as for `anderson_1samp`. Continuous laws: from 10 observations on the limit law [1]_ at
    the statistic moved to the limit's variance ("asymp"; at n = 100 p is right to 3 % above 0.001,
    at n = 10 to 5 % above 0.01), exact for one observation, Monte Carlo between. Laws with atoms:
    Monte Carlo.

    References
    ----------
    .. [1] S. Csorgo, J. J. Faraway, "The exact and asymptotic distributions of Cramer-von Mises
       statistics", 1996, doi:10.1111/j.2517-6161.1996.tb02077.x

    Examples
    --------
    >>> result = cramervonmises_1samp([i / 20 + 0.025 for i in range(20)], lambda u: u)
    >>> round(result.statistic, 6), result.method
    (0.004167, 'asymp')
    """
    return _one_sample(
        "cramer", x, target, _Null(method, n_resamples, rng, empty, workers), cdf_left
    )


@dataclass(frozen=True, slots=True)
class _Null:
    """How to find a p-value."""

    method: str
    n_resamples: int
    rng: Seed
    empty: Empty
    workers: int | None


def _one_sample(
    kind: Kind, x: SampleLike, target: object, null: _Null, left: Cdf | None
) -> EdfResult:
    options.choice("method", null.method, ("auto", "montecarlo"))
    options.resamples(null.n_resamples)
    options.threads(null.workers)
    opened = nonempty_samples(x, null.empty)
    laws = laws_of(target, len(opened), is_single=opened.is_single, cdf_left=left)
    statistic = np.empty(len(opened))
    for rows, values, cuts in small_chunks(opened):
        upper, lower = cdf_values(laws, rows, values, cuts)
        statistic[rows] = _native.edf_statistics((upper, cuts), lower, kind, null.workers)
    n = opened.lengths()
    statistic[n == 0] = np.nan
    pvalue, names = _pvalues(kind, laws, n, statistic, null)
    if opened.is_single:
        return EdfResult(float(statistic[0]), float(pvalue[0]), str(names[0]))
    return EdfResult(statistic, pvalue, names)


def _pvalues(
    kind: Kind, laws: Law | list[Law], n: NDArray[np.int64], statistic: Floats, null: _Null
) -> tuple[Floats, NDArray[np.str_]]:
    # An empty row has no p-value, and that is exact.
    pvalue, names = np.full(n.size, np.nan), np.full(n.size, "exact", dtype="U10")
    each = [laws] * n.size if isinstance(laws, Law) else laws
    is_continuous = np.array([law.levels is None for law in each], dtype=np.bool_)
    has_limit = (n >= LEAST_LIMIT) | (n == 1) | (kind == "kuiper")
    by_formula = is_continuous & has_limit & (n > 0) & (null.method == "auto")
    is_drawn = ~by_formula & (n > 0)
    if by_formula.any():
        found, is_exact = _native.edf_tails(
            n[by_formula], statistic[by_formula], kind, null.workers
        )
        pvalue[by_formula] = found
        names[by_formula] = np.where(is_exact, "exact", "asymp")
    seed = options.resampling_seed(null.rng, f"stats.{kind}_1samp") if is_drawn.any() else 0
    uniform = law_of(lambda u: u)
    drawn: dict[tuple[int, int], Floats] = {}
    for i in np.flatnonzero(is_drawn):
        law, size = (uniform if is_continuous[i] else each[i]), int(n[i])
        key = (id(law), size)
        if key not in drawn:
            drawn[key] = _drawn_null(kind, law, size, seed, null)
        reach = statistic[i] * (1 - SAME)
        below = int(np.searchsorted(drawn[key], reach))
        pvalue[i] = (null.n_resamples - below + 1) / (null.n_resamples + 1)
        names[i] = "montecarlo"
    return pvalue, names


def _drawn_null(kind: Kind, law: Law, n: int, seed: int, null: _Null) -> Floats:
    """Draw statistics of samples from the law, sorted: the same draws for the same seed and n."""
    rng = np.random.default_rng([seed, n])
    parts = []
    rows = max(CHUNK_DRAWS // n, 1)
    for first in range(0, null.n_resamples, rows):
        size = min(rows, null.n_resamples - first)
        u = rng.random(size * n)
        # A draw is the jump of the cdf that a uniform number falls into, or that number itself.
        lower, upper = (u, u) if law.levels is None else law.levels(u)
        cuts = np.arange(size + 1, dtype=np.int64) * n
        upper, lower = np.ascontiguousarray(upper), np.ascontiguousarray(lower)
        parts.append(_native.edf_statistics((upper, cuts), lower, kind, null.workers))
    return np.sort(np.concatenate(parts))
