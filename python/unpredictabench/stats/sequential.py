"""Looks at a growing sample that may come after every answer: an e-process, and curtailment."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from unpredictabench.errors import InputError
from unpredictabench.stats import _options as options
from unpredictabench.stats._bands import law_bands
from unpredictabench.stats._laws import law_of
from unpredictabench.stats._nominal import law_of_labels
from unpredictabench.stats._permutations import lehmer_digits

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from unpredictabench.stats._laws import LawLike

    Floats: TypeAlias = NDArray[np.float64]
    Integers: TypeAlias = NDArray[np.int64]

__all__ = [
    "INVALID",
    "INVALID_SHARE",
    "critical_distance",
    "critical_variation",
    "is_certain_failure",
    "is_certain_label_failure",
    "lehmer_digits",
    "log_e_process",
]

INVALID_SHARE: Final = 0.02
"""Share of invalid answers that a faithful model may have."""
PRIOR: Final = 0.5
"""Dirichlet weight of each cell: Jeffreys' prior, that of Krichevsky and Trofimov."""
INVALID: Final = -1
"""The cell of an invalid answer."""


def log_e_process(
    cells: ArrayLike, probabilities: ArrayLike, *, invalid_share: float = INVALID_SHARE
) -> NDArray[np.float64]:
    """Weigh after every answer the evidence against given probabilities of cells.

    The null hypothesis is that, whatever came before, an answer is invalid with a probability of
    at most `invalid_share`, and a valid one falls into the cells with the given probabilities.

    Parameters
    ----------
    cells : array_like of int, shape (n,)
        Cell of each answer in order, -1 for an invalid one.
    probabilities : array_like, shape (k,)
        Probabilities of the cells; they sum to 1.
    invalid_share : float, default 0.02
        Largest share of invalid answers under the null, in (0, 1).

    Returns
    -------
    numpy.ndarray, shape (n,)
        Natural logarithm of the evidence E after each answer. Reject at level alpha as soon as E
        is 1 / alpha or more: under the null that ever happens with probability at most alpha
        (Ville), however often one looks and for whatever reason one stops.

    Raises
    ------
    InputError
        If a cell does not exist, or probabilities do not sum to 1.

    Notes
    -----
    E is the product of q / p over the answers, where q is the prediction from the answers before:
    of an invalid one (w + 1/2) / (i + (k + 1) / 2), but at least `invalid_share`, and of cell j
    among the valid ones (c_j + 1/2) / (v + k / 2), with w, v and c_j counted among the i answers
    before. Without the floor the prediction is that of a Dirichlet(1/2) mixture over k + 1 cells;
    with it, fewer invalid answers than allowed are no evidence, so that the null is "at most".
    An answer in a cell of probability 0 makes E infinite.

    References
    ----------
    .. [1] J. Ville, "Etude critique de la notion de collectif", 1939
    .. [2] R. Krichevsky, V. Trofimov, "The performance of universal encoding", 1981,
       doi:10.1109/TIT.1981.1056331
    .. [3] A. Ramdas et al., "Game-theoretic statistics and safe anytime-valid inference", 2023,
       arXiv:2210.01948

    Examples
    --------
    >>> bool(log_e_process([3] * 8, [1 / 8] * 8)[-1] >= np.log(10_000))
    True
    """
    p = np.asarray(probabilities, dtype=np.float64)
    if p.ndim != 1 or not p.size or not (p >= 0).all() or abs(float(p.sum()) - 1) > 1e-9:
        raise InputError("probabilities", "be 1-d, of at least 0, and sum to 1", probabilities)
    if not 0 < invalid_share < 1:
        raise InputError("invalid_share", "lie strictly between 0 and 1", invalid_share)
    which = _checked_cells(cells, p.size)
    is_lost = which == INVALID
    before = np.arange(which.size)
    lost_before = np.cumsum(is_lost) - is_lost
    q_lost = (lost_before + PRIOR) / (before + PRIOR * (p.size + 1))
    q_lost = np.maximum(q_lost, invalid_share)
    q_cell = (_earlier_equals(which) + PRIOR) / (before - lost_before + PRIOR * p.size)
    with np.errstate(divide="ignore"):
        step_valid = np.log((1 - q_lost) * q_cell / (1 - invalid_share)) - np.log(p[which])
    step_lost = np.log(q_lost / invalid_share)
    return np.asarray(np.cumsum(np.where(is_lost, step_lost, step_valid)))


def critical_distance(target: LawLike, n: int, *, alpha: float) -> float:
    """Return the KS distance from a law at or beyond which `n` answers fail.

    Parameters
    ----------
    target : NumericTarget or callable
        The law or its cdf.
    n : int
        Answers, at least 1.
    alpha : float
        Level of the test, in (0, 1).

    Returns
    -------
    float
        The distance; above all that `n` answers can have where none of them fail.

    Raises
    ------
    InputError
        When an argument breaks a rule above.
    """
    options.whole("n", n, 1, options.MOST_ANSWERS)
    options.level("alpha", alpha)
    return float(law_bands(law_of(target), np.array([n], dtype=np.int64), alpha, None)[0])


def critical_variation(probabilities: ArrayLike, n: int, *, alpha: float) -> float:
    """Return a total variation at or beyond which `n` answers fail against label shares.

    Parameters
    ----------
    probabilities : array_like, shape (k,)
        Shares of the labels; they sum to 1.
    n, alpha
        As for `critical_distance`.

    Returns
    -------
    float
        The distance; above all that `n` answers can have where none of them fail.

    Raises
    ------
    InputError
        When an argument breaks a rule above.

    Notes
    -----
    Where the exact null is too large, Hoeffding's bound over all 2^k - 2 sets of labels stands for
    it, which is larger but takes no time: the null would have to be drawn.
    """
    p = np.asarray(probabilities, dtype=np.float64)
    options.whole("n", n, 1, options.MOST_ANSWERS)
    options.level("alpha", alpha)
    law = law_of_labels(p, method="auto", n_resamples=1, rng=None, workers=None)
    if law.is_exact(n):
        return law.critical(n, alpha)
    return math.sqrt((p.size * math.log(2) - math.log(alpha)) / (2 * n))


def is_certain_failure(
    cdf: ArrayLike, cdf_left: ArrayLike, n: int, critical: float, *, n_invalid: int = 0
) -> bool:
    """Tell whether a sample will fail the KS test at `n`, whatever answers are still to come.

    Parameters
    ----------
    cdf, cdf_left : array_like, shape (valid answers so far,)
        P(X <= x) and P(X < x) of the target at each answer.
    n : int
        Answers the test will be made with, those to come included.
    critical : float
        Distance at which the test at `n` fails (`critical_distance`).
    n_invalid : int, default 0
        Invalid answers so far.

    Returns
    -------
    bool
        True only if no continuation passes.

    Raises
    ------
    InputError
        If there are more answers than `n`.

    Notes
    -----
    A continuation is a path j(u): how many of the answers to come lie at or below u. It passes
    when ``G - c < (k + j) / n`` and ``(k + j + w) / n < G + c`` on both sides of every answer, with
    k valid answers so far at or below u and w invalid ones (which count at whichever end is
    worse). As j never falls, a passing path exists just when the largest lower bound so far never
    exceeds an upper bound. Exact when ``2 c n > 1 + w``, as otherwise a step of j may not fit
    between two answers; then the function may answer False where True were right, never the
    reverse.

    Examples
    --------
    >>> is_certain_failure([0.5] * 44, [0.5] * 44, 100, 0.2213)
    False
    >>> is_certain_failure([0.5] * 45, [0.5] * 45, 100, 0.2213)
    True
    """
    upper, lower = np.asarray(cdf, dtype=np.float64), np.asarray(cdf_left, dtype=np.float64)
    if upper.ndim != 1 or not ((upper >= 0) & (upper <= 1)).all():
        raise InputError("cdf", "be 1-d and lie in [0, 1]", cdf)
    if lower.shape != upper.shape or not ((lower >= 0) & (lower <= upper)).all():
        raise InputError("cdf_left", "lie in [0, cdf], one for each answer", cdf_left)
    _check_counts(n, critical, n_invalid)
    n_left = n - upper.size - n_invalid
    if n_left < 0:
        raise InputError("n", f"be at least the {upper.size + n_invalid} answers so far", n)
    # Left and right of each different answer, in their order on the line.
    left, right = np.unique(np.column_stack([lower, upper]), axis=0).T
    level = np.column_stack([left, right]).ravel()
    below = np.searchsorted(np.sort(lower), left, side="left")
    up_to = np.searchsorted(np.sort(upper), right, side="right")
    count = np.column_stack([below, up_to]).ravel()
    width = n * critical
    least = np.floor(n * level - width - count) + 1
    most = np.ceil(n * level + width - count - n_invalid) - 1
    is_over = np.maximum.accumulate(np.maximum(least, 0)) > np.minimum(most, n_left)
    return bool(is_over.any() or n_invalid >= width)


def is_certain_label_failure(
    counts: ArrayLike, probabilities: ArrayLike, n: int, critical: float, *, n_invalid: int = 0
) -> bool:
    """Tell whether label counts will fail the total-variation test at `n` in any case.

    Parameters
    ----------
    counts : array_like of int, shape (k,)
        Valid answers so far with each label.
    probabilities : array_like, shape (k,)
        Probabilities of the labels.
    n : int
        Answers the test will be made with.
    critical : float
        Distance at which the test at `n` fails (`critical_variation`).
    n_invalid : int, default 0
        Invalid answers so far.

    Returns
    -------
    bool
        True only if no continuation passes.

    Notes
    -----
    What a label has above its share, and every invalid answer, stays in the distance: it is at
    least ``sum max(0, c_j / n - p_j) + w / n``.
    """
    c, p = np.asarray(counts, dtype=np.float64), np.asarray(probabilities, dtype=np.float64)
    if c.ndim != 1 or not (np.isfinite(c) & (c >= 0)).all():
        raise InputError("counts", "be 1-d and at least 0", counts)
    if p.shape != c.shape or not (p >= 0).all() or abs(float(p.sum()) - 1) > 1e-9:
        raise InputError("probabilities", "be one a label, at least 0, and sum to 1", probabilities)
    _check_counts(n, critical, n_invalid)
    if c.sum() + n_invalid > n:
        raise InputError("n", f"be at least the {int(c.sum()) + n_invalid} answers so far", n)
    excess = np.maximum(c / n - p, 0.0).sum() + n_invalid / n
    return bool(excess >= critical)


def _check_counts(n: int, critical: float, n_invalid: int) -> None:
    options.whole("n", n, 1, options.MOST_ANSWERS)
    options.whole("n_invalid", n_invalid, 0, options.MOST_ANSWERS)
    if not critical > 0:
        raise InputError("critical", "be a distance above 0", critical)


def _checked_cells(cells: ArrayLike, n_cells: int) -> Integers:
    which = np.asarray(cells)
    if which.size == 0:
        return np.empty(0, dtype=np.int64)
    if which.ndim != 1 or which.dtype.kind not in "iu":
        raise InputError("cells", "be 1-d integers", cells)
    bad = np.flatnonzero((which < INVALID) | (which >= n_cells))
    if bad.size:
        raise InputError(f"cells[{bad[0]}]", f"be -1 or below {n_cells}", int(which[bad[0]]))
    return which.astype(np.int64)


def _earlier_equals(which: Integers) -> Integers:
    """Count for each entry the equal ones before it."""
    order = np.argsort(which, kind="stable")
    ordered = which[order]
    starts = np.searchsorted(ordered, ordered, side="left")
    counts = np.empty(which.size, dtype=np.int64)
    counts[order] = np.arange(which.size) - starts
    return counts
