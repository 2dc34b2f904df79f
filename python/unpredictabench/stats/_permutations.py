"""The test for permutations: the whole ones and each of their digits."""

from __future__ import annotations

from dataclasses import dataclass
from math import factorial
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from unpredictabench import _native
from unpredictabench.errors import InputError
from unpredictabench.stats import _options as options
from unpredictabench.stats._convert import plain_array
from unpredictabench.stats._nominal import multinomial_test

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

Integers: TypeAlias = "NDArray[np.int64]"
MOST_PATTERN: Final = 7
"""Items whose relative order makes the cells of the whole-permutation test: 7! = 5,040."""
MOST_ORDERS: Final = 1_000_000
"""Invalid answers beside permutations at most; the exact null of more takes minutes."""
MOST_ITEMS: Final = 1_000
"""Items of a permutation at most."""


@dataclass(frozen=True, slots=True)
class PermutationResult:
    """Result of a test of permutations.

    Attributes
    ----------
    pvalue : float
        The smallest p-value after Holm's correction, in [0, 1].
    pvalues : ndarray, shape (n_items,)
        Of the whole permutations, then of each Lehmer digit, uncorrected.
    statistics : ndarray, shape (n_items,)
        Sum of squared counts over all permutations, then the total-variation distance of each
        digit.
    method : str
        ``"exact"``.
    """

    pvalue: float
    pvalues: NDArray[np.float64]
    statistics: NDArray[np.float64]
    method: str


def permutation_test_uniform(
    perms: ArrayLike,
    *,
    n_items: int | None = None,
    n_invalid: int = 0,
    workers: int | None = None,
) -> PermutationResult:
    """Test whether permutations are uniform: the whole ones, and each of their Lehmer digits.

    The null hypothesis is that the answers are independent and all orders equally likely.

    Parameters
    ----------
    perms : array_like of int
        One permutation of 0..n_items-1 a row.
    n_items : int, optional
        Number of items, at least 2; needed only when there is no row.
    n_invalid : int, default 0
        Invalid answers: they count as the most frequent permutation, and as a digit of
        probability 0.
    workers : int, optional
        Threads to use; all allowed cores by default. The result does not depend on it.

    Returns
    -------
    PermutationResult
        The corrected p-value, and those of the single tests.

    Raises
    ------
    InputError
        When a row is no permutation, or there is no answer at all.

    Notes
    -----
    Digit i counts the later items smaller than item i; the digits are independent and uniform
    under the null. They alone are not enough: a model that uses 11 of the 120 orders of five items
    can pass them all. For more than seven items the whole permutation is that of the first seven.
    All nulls are exact; for very many equal answers the p-value of the whole permutations is an
    upper bound, far below any level in use.

    References
    ----------
    .. [1] S. Holm, "A simple sequentially rejective multiple test procedure", 1979

    Examples
    --------
    >>> result = permutation_test_uniform([[0, 1, 2]] * 10)
    >>> result.pvalue < 1e-6
    True
    """
    orders = checked_permutations(perms, n_items)
    n_invalid = options.whole("n_invalid", n_invalid, 0, MOST_ORDERS)
    workers = options.threads(workers)
    if len(orders) + n_invalid == 0:
        raise InputError("perms", "hold at least one answer", "none")
    n, items = len(orders) + n_invalid, orders.shape[1]
    size = np.array([n], dtype=np.int64)
    cells = np.bincount(patterns(orders), minlength=1)
    cells[cells.argmax()] += n_invalid
    pairs = int((cells * (cells - 1) // 2).sum())
    n_cells = factorial(min(items, MOST_PATTERN))
    pvalues = [float(_native.pair_tails(n_cells, size, np.array([pairs]), workers)[0])]
    statistics = [float((cells**2).sum())]
    for column, digit in enumerate(lehmer_digits(orders).T):
        table = np.bincount(digit, minlength=items - column)
        found = multinomial_test(
            table, np.full(table.size, 1 / table.size), n_invalid=n_invalid, workers=workers
        )
        pvalues.append(float(found.pvalue))
        statistics.append(float(found.statistic))
    adjusted = min(1.0, len(pvalues) * min(pvalues))
    return PermutationResult(adjusted, np.array(pvalues), np.array(statistics), "exact")


def checked_permutations(perms: ArrayLike, n_items: int | None) -> Integers:
    """Open permutations: one a row, of 0..n_items-1."""
    orders = plain_array(perms, "perms")
    if n_items is not None:
        n_items = options.whole("n_items", n_items, 2, MOST_ITEMS)
    if orders.size == 0 and n_items is not None:
        orders = np.empty((0, n_items), dtype=np.int64)
    if orders.ndim != 2 or orders.dtype.kind not in "iu":
        raise InputError("perms", "be integers of shape (answers, n_items)", perms)
    items = orders.shape[1]
    if n_items not in {None, items}:
        raise InputError("perms", f"have {n_items} items a row", items)
    if items < 2:
        raise InputError("n_items", "be at least 2", items)
    is_bad = (np.sort(orders, axis=1) != np.arange(items)).any(axis=1)
    if is_bad.any():
        row = int(is_bad.argmax())
        rule = f"hold permutations of 0..{items - 1}"
        raise InputError("perms", rule, f"{orders[row].tolist()} in row {row}")
    return orders.astype(np.int64)


def lehmer_digits(orders: Integers) -> Integers:
    """Return for each item but the last how many later ones are smaller; shape (answers, n-1)."""
    later = orders[:, None, :] < orders[:, :, None]
    items = orders.shape[1]
    return np.asarray((later & np.triu(np.ones((items, items), np.bool_), 1)).sum(axis=2)[:, :-1])


def patterns(orders: Integers) -> Integers:
    """Return the number of the cell of each permutation: the order of its first items."""
    digits = lehmer_digits(orders[:, :MOST_PATTERN].argsort(axis=1).argsort(axis=1))
    index = np.zeros(len(orders), dtype=np.int64)
    for column in range(digits.shape[1]):
        index = index * (digits.shape[1] + 1 - column) + digits[:, column]
    return index
