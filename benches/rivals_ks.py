"""Honest rivals of the two-sample KS kernels: the textbook algorithms, compiled by numba."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit
def statistic(x, y_sorted):
    """Largest distance of two empirical cdfs; the truth is sorted already."""
    n, m = x.size, y_sorted.size
    xs = np.sort(x)
    best = 0.0
    for i in range(n):
        upper = np.searchsorted(y_sorted, xs[i], side="right")
        lower = np.searchsorted(y_sorted, xs[i], side="left")
        best = max(best, (i + 1) / n - upper / m, lower / m - i / n)
    return best


@njit
def statistics(x, y_sorted):
    """Distances of a batch."""
    out = np.empty(x.shape[0])
    for row in range(x.shape[0]):
        out[row] = statistic(x[row], y_sorted)
    return out


@njit
def pvalue(n, m, h):
    """Exact tail without ties: the share of paths that left the band, cell by cell within it."""
    left = np.ones(m + 1)
    for i in range(n + 1):
        low = max(0, (i * m - h) // n + 1)
        high = min(m, (i * m + h - 1) // n)
        before = 1.0
        for j in range(low, high + 1):
            before = 0.0 if i + j == 0 else (left[j] * i + before * j) / (i + j)
            left[j] = before
        left[high + 1 : min(m, high + m // n + 1) + 1] = 1.0
    return left[m]


@njit
def pvalues(x, y_sorted):
    """Exact p-values of a batch without ties."""
    n, m = x.shape[1], y_sorted.size
    out = np.empty(x.shape[0])
    for row in range(x.shape[0]):
        out[row] = pvalue(n, m, round(statistic(x[row], y_sorted) * n * m))
    return out


@njit
def pvalue_tied(x, y_sorted):
    """Exact tail with ties: paths over all cells, looked at where a block of equal values ends."""
    n, m = x.size, y_sorted.size
    pooled = np.sort(np.concatenate((x, y_sorted)))
    h = round(statistic(x, y_sorted) * n * m)
    left = np.zeros(n + 1)
    for k in range(1, n + m + 1):
        is_end = k == n + m or pooled[k] > pooled[k - 1]
        for i in range(min(k, n), max(-1, k - m - 1), -1):
            j = k - i
            here = 0.0
            if i > 0:
                here += i * left[i - 1]
            if j > 0:
                here += j * left[i]
            here /= k
            if is_end and abs(i * m - j * n) >= h:
                here = 1.0
            left[i] = here
    return left[n]


@njit
def pvalues_tied(x, y_sorted):
    """Exact p-values of a batch with ties."""
    out = np.empty(x.shape[0])
    for row in range(x.shape[0]):
        out[row] = pvalue_tied(x[row], y_sorted)
    return out


@njit
def bootstrap(x_sorted, y_sorted, n_resamples, seed):
    """Replicates of the statistic from resamples of `x`, whose ranks are looked up once."""
    np.random.seed(seed)  # noqa: NPY002 - numba compiles this generator
    n, m = x_sorted.size, y_sorted.size
    lower = np.searchsorted(y_sorted, x_sorted, side="left")
    upper = np.searchsorted(y_sorted, x_sorted, side="right")
    out = np.empty(n_resamples)
    for replicate in range(n_resamples):
        chosen = np.sort(np.random.randint(0, n, n))  # noqa: NPY002 - numba compiles it
        best = 0.0
        for i in range(n):
            k = chosen[i]
            best = max(best, (i + 1) / n - upper[k] / m, lower[k] / m - i / n)
        out[replicate] = best
    return out


def bootstrap_numpy(x_sorted, y_sorted, n_resamples, rng):
    """Replicates at once, as NumPy code does it: draw, sort, search, compare."""
    n, m = x_sorted.size, y_sorted.size
    drawn = np.sort(rng.choice(x_sorted, size=(n_resamples, n)), axis=1)
    lower = np.searchsorted(y_sorted, drawn, side="left") / m
    upper = np.searchsorted(y_sorted, drawn, side="right") / m
    grid = np.arange(n) / n
    above = (grid + 1 / n - upper).max(axis=1)
    return np.maximum(above, (lower - grid).max(axis=1))


def permutation_statistics(x, y, n_resamples, rng):
    """Statistics of permuted labels, counted on the distinct values."""
    values, codes = np.unique(np.concatenate((x, y)), return_inverse=True)
    total = np.bincount(codes, minlength=values.size)
    out = np.empty(n_resamples)
    for i in range(n_resamples):
        chosen = rng.choice(codes, x.size, replace=False)
        counts = np.bincount(chosen, minlength=values.size)
        gaps = np.cumsum(counts / x.size - (total - counts) / y.size)
        out[i] = np.abs(gaps).max()
    return out
