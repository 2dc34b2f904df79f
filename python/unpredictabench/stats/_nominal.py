"""The test for nominal answers, which no order of the labels can change."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np

from unpredictabench import _native
from unpredictabench.errors import InputError
from unpredictabench.stats import _options as options
from unpredictabench.stats._arrays import samples

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from unpredictabench.stats._options import Seed

Integers: TypeAlias = "NDArray[np.int64]"
Floats: TypeAlias = "NDArray[np.float64]"
NominalMethod: TypeAlias = Literal["auto", "montecarlo"]

MOST_DENOMINATOR: Final = 10_000
"""Common denominators of the probabilities up to which the null is exact."""
MOST_STATES: Final = 4_000_000
"""States of the exact programme; the kernel has the same limit."""
MOST_ENTRIES: Final = 20_000_000
"""Entries of the tables that a drawn null is drawn from: 160 MB."""
SAME: Final = 1e-12
"""Distances closer than this are one value: they are sums of floats."""


@dataclass(frozen=True, slots=True)
class MultinomialResult:
    """Result of a test of counts: scalars, or arrays of shape (batch,).

    Attributes
    ----------
    statistic : float or ndarray
        Total-variation distance of the shares from the probabilities, in [0, 1].
    pvalue : float or ndarray
        Probability of a distance at least as large under the null hypothesis, in [0, 1].
    critical_value : float or ndarray
        Distance from which on the test rejects at the level asked for.
    method : str or ndarray
        ``"exact"`` or ``"montecarlo"``.
    """

    statistic: float | NDArray[np.float64]
    pvalue: float | NDArray[np.float64]
    critical_value: float | NDArray[np.float64]
    method: str | NDArray[np.str_]


def multinomial_test(
    counts: ArrayLike,
    p: ArrayLike,
    *,
    n_invalid: int | ArrayLike = 0,
    alpha: float = 1e-4,
    method: NominalMethod = "auto",
    n_resamples: int = 10_000_000,
    rng: Seed = None,
    workers: int | None = None,
) -> MultinomialResult:
    """Test whether counts over labels follow given probabilities, by total variation.

    The null hypothesis is that the N answers are independent draws of labels with the
    probabilities `p`. The statistic is the largest distance over all *sets* of labels (that of
    Kolmogorov and Smirnov is over half-lines), so that no order of the labels matters.

    Parameters
    ----------
    counts : array_like of int
        Answers with each label, of shape (labels,) or (batch, labels).
    p : array_like
        Probabilities of the labels; they sum to 1.
    n_invalid : int or array_like of int, default 0
        Invalid and unlisted answers, one number or one a row: a label of probability 0.
    alpha : float, default 1e-4
        Level of `critical_value`.
    method : {"auto", "montecarlo"}, default "auto"
        "auto" is exact where the probabilities have a common denominator up to 10,000 and the
        programme at most four million states, and draws the null otherwise.
    n_resamples : int, default 10,000,000
        Draws of the null, where it is drawn; at least 1 / alpha.
    rng : int or numpy.random.Generator, optional
        Seed of those draws; a fixed named stream by default.
    workers : int, optional
        Threads to use; all allowed cores by default. The result does not depend on it.

    Returns
    -------
    MultinomialResult
        The distance, its p-value, the critical distance, and the method.

    Raises
    ------
    InputError
        When an argument breaks a rule above, or there is no answer at all.

    Notes
    -----
    The exact null adds labels one at a time; the state is (answers placed, integer distance).
    Drawn: p = (b + 1) / (n_resamples + 1).

    Examples
    --------
    >>> result = multinomial_test([9, 1], [0.5, 0.5])
    >>> result.statistic, round(result.pvalue, 6), result.method
    (0.4, 0.021484, 'exact')
    """
    table, is_single = _counts(counts)
    law = law_of_labels(p, method=method, n_resamples=n_resamples, rng=rng, workers=workers)
    if table.shape[1] != law.p.size:
        raise InputError("counts", f"have one entry a label ({law.p.size})", table.shape[1])
    alpha = options.level("alpha", alpha)
    lost = options.invalid_counts(n_invalid, len(table))
    n = table.sum(axis=1) + lost
    if (n == 0).any():
        raise InputError("counts", "hold at least one answer a row", "none")
    statistic = law.distances(table, lost)
    pvalue, critical, names = np.empty(n.size), np.empty(n.size), np.empty(n.size, dtype="U10")
    for size in np.unique(n):
        rows = n == size
        pvalue[rows] = law.pvalues(int(size), table[rows], lost[rows])
        critical[rows] = law.critical(int(size), alpha)
        names[rows] = "exact" if law.is_exact(int(size)) else "montecarlo"
    if is_single:
        first = float(statistic[0]), float(pvalue[0]), float(critical[0])
        return MultinomialResult(*first, str(names[0]))
    return MultinomialResult(statistic, pvalue, critical, names)


_REMEMBERED: dict[tuple[object, ...], float] = {}


@dataclass(frozen=True, slots=True, eq=False)
class LabelLaw:
    """Probabilities of labels, and how to find the null of their distance.

    Attributes
    ----------
    p : ndarray
        The probabilities.
    numerators : ndarray or None
        Of their common denominator; None where that is too large or not wanted.
    n_resamples, seed, workers
        For the drawn null.
    """

    p: Floats
    numerators: Integers | None
    n_resamples: int
    seed: int
    workers: int | None

    def unit(self, n: int) -> int:
        """Return what divides every integer distance of `n` answers."""
        assert self.numerators is not None
        return gcd(int(self.numerators.sum()), *(int(a) * n for a in self.numerators))

    def is_exact(self, n: int) -> bool:
        """Whether the null of `n` answers is computed and not drawn."""
        if self.numerators is None:
            return False
        largest = n * int(self.numerators.sum()) // self.unit(n)
        return (n + 1) * (largest + 2) <= MOST_STATES

    def excess(self, n: int, table: Integers, lost: Integers) -> Integers:
        """Return the distance as an integer: times n and the denominator."""
        assert self.numerators is not None
        denominator = int(self.numerators.sum())
        over = np.maximum(table * denominator - self.numerators * n, 0).sum(axis=1)
        return np.asarray(over + lost * denominator, dtype=np.int64)

    def distances(self, table: Integers, lost: Integers) -> Floats:
        """Return the total-variation distance of each row of counts."""
        n = table.sum(axis=1) + lost
        if self.numerators is not None:
            # Through the integers, so that equal distances are equal floats.
            denominator = int(self.numerators.sum())
            over = np.maximum(table * denominator - self.numerators * n[:, None], 0).sum(axis=1)
            return np.asarray((over + lost * denominator) / (n * denominator))
        gaps = np.abs(table / n[:, None] - self.p).sum(axis=1)
        return np.asarray((gaps + lost / n) / 2)

    def pvalues(self, n: int, table: Integers, lost: Integers) -> Floats:
        """Return the tail at each row of counts of `n` answers."""
        if self.numerators is not None and self.is_exact(n):
            excess, back = np.unique(self.excess(n, table, lost), return_inverse=True)
            sizes = np.full(excess.size, n, dtype=np.int64)
            return _native.tv_tails(self.numerators, sizes, excess, self.workers)[back]
        distance, back = np.unique(self.distances(table, lost), return_inverse=True)
        tails = np.array([self._drawn_tail(n, float(d)) for d in distance])
        return np.asarray(tails[back])

    def key(self, n: int, alpha: float) -> tuple[object, ...]:
        """Return what a critical value depends on."""
        return ("tv", self.p.tobytes(), n, alpha, self.is_exact(n), self.n_resamples, self.seed)

    def critical(self, n: int, alpha: float) -> float:
        """Return the distance from which on `n` answers fail, between two attained ones."""
        key = self.key(n, alpha)
        if key not in _REMEMBERED:
            exact = self.is_exact(n)
            _REMEMBERED[key] = self._exact_critical(n, alpha) if exact else self._drawn(n, alpha)
        return _REMEMBERED[key]

    def _exact_critical(self, n: int, alpha: float) -> float:
        assert self.numerators is not None
        sizes = np.array([n], dtype=np.int64)
        largest = _native.tv_largest_passing(self.numerators, sizes, alpha, self.workers)[0]
        if largest is None:
            return 0.0
        return (largest + self.unit(n) / 2) / (n * int(self.numerators.sum()))

    def _refuse_large_tables(self, n: int) -> None:
        """Refuse a drawn null whose tables, one for every number of answers left, are too large."""
        if (self.p.size - 1) * n * n > 2 * MOST_ENTRIES:
            most = int((2 * MOST_ENTRIES / (self.p.size - 1)) ** 0.5)
            rule = f"hold at most {most} answers a row, unless the null is exact"
            raise InputError("counts", rule, n)

    def drawn_null(self, n: int, keep: int | None = None) -> Floats:
        """Return the largest draws of the distance of `n` answers, all by default, falling."""
        self._refuse_large_tables(n)
        keep = self.n_resamples if keep is None else keep
        return _native.tv_largest_draws(self.p, n, self.n_resamples, keep, self.seed, self.workers)

    def _drawn(self, n: int, alpha: float) -> float:
        keep = int(alpha * (self.n_resamples + 1))
        if keep < 1:
            raise InputError(
                "n_resamples", f"be at least 1 / alpha = {1 / alpha:g}", self.n_resamples
            )
        draws = self.drawn_null(n, keep)
        passing = float(draws[-1])
        higher = draws[draws > passing + SAME]
        return (passing + float(higher[-1])) / 2 if higher.size else passing + SAME

    def _drawn_tail(self, n: int, distance: float) -> float:
        key = ("tail", self.p.tobytes(), n, distance, self.n_resamples, self.seed)
        if key not in _REMEMBERED:
            self._refuse_large_tables(n)
            hits = _native.tv_count_draws(
                self.p, n, distance - SAME, self.n_resamples, self.seed, self.workers
            )
            _REMEMBERED[key] = (hits + 1) / (self.n_resamples + 1)
        return _REMEMBERED[key]


def remember(law: LabelLaw, n: int, alpha: float, critical: float) -> None:
    """Take over a critical value that was computed before."""
    _REMEMBERED[law.key(n, alpha)] = critical


def law_of_labels(
    p: ArrayLike, *, method: str, n_resamples: int, rng: Seed, workers: int | None
) -> LabelLaw:
    """Open probabilities of labels."""
    values = samples(p, name="p", allow_infinite=False).flat()
    if bool((values < 0).any()) or not abs(float(values.sum()) - 1) <= 1e-9:
        raise InputError("p", "be 1-d probabilities that sum to 1", p)
    options.choice("method", method, ("auto", "montecarlo"))
    n_resamples, workers = options.resamples(n_resamples), options.threads(workers)
    numerators = _numerators(values) if method == "auto" else None
    seed = options.resampling_seed(rng, "stats.multinomial")
    return LabelLaw(np.ascontiguousarray(values), numerators, n_resamples, seed, workers)


def _numerators(p: Floats) -> Integers | None:
    """Write the probabilities over one denominator, if there is a small one."""
    shares = [Fraction(float(share)).limit_denominator(MOST_DENOMINATOR) for share in p]
    denominator = lcm(*(share.denominator for share in shares))
    is_close = all(abs(float(a) - b) <= 1e-12 for a, b in zip(shares, p, strict=True))
    if denominator > MOST_DENOMINATOR or not is_close or sum(shares) != 1:
        return None
    return np.array([int(share * denominator) for share in shares], dtype=np.int64)


def _counts(counts: ArrayLike) -> tuple[Integers, bool]:
    table = options.counted("counts", counts)
    if table.ndim not in {1, 2}:
        raise InputError("counts", "be integers of at least 0, 1-d or 2-d", counts)
    return np.atleast_2d(table), table.ndim == 1
