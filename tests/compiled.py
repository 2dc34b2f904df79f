"""Statistics for tests of what numba compiles, and their signatures."""

from __future__ import annotations

import numba

OF_TWO = "float64(CPointer(float64), intp, CPointer(float64), intp)"
OF_ONE = "float64(CPointer(float64), intp)"


@numba.cfunc(OF_TWO)
def gap_of_means(x, n, y, m):
    """Difference of the means."""
    return numba.carray(x, n).mean() - numba.carray(y, m).mean()


@numba.cfunc(OF_ONE)
def mean_of_one(x, n):
    """Give the mean."""
    return numba.carray(x, n).mean()


@numba.cfunc(OF_ONE)
def first_of_one(x, n):
    """Give the smallest observation."""
    return x[0]
