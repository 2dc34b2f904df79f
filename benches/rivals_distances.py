"""Honest rivals of the distances: textbook algorithms compiled by numba, or SciPy's functions."""

from __future__ import annotations

import math

import numba
import numpy as np
import scipy.spatial.distance
import scipy.stats


@numba.njit
def wasserstein(x, y_sorted):
    """Distance of each row to a sorted truth, by merging the two sorted samples."""
    out = np.empty(x.shape[0])
    m = y_sorted.size
    for r in range(x.shape[0]):
        row = np.sort(x[r])
        n = row.size
        i = j = 0
        last, total = min(row[0], y_sorted[0]), 0.0
        while i < n or j < m:
            if j == m or (i < n and row[i] <= y_sorted[j]):
                z = row[i]
                total += abs(i / n - j / m) * (z - last)
                i += 1
            else:
                z = y_sorted[j]
                total += abs(i / n - j / m) * (z - last)
                j += 1
            last = z
        out[r] = total
    return out


@numba.njit
def wasserstein_null(pooled, n, n_resamples, seed):
    """Mean and deviation over permutations of the labels of a sorted pooled sample."""
    np.random.seed(seed)  # noqa: NPY002 - numba's own generator
    size = pooled.size
    m = size - n
    labels = np.zeros(size, dtype=np.bool_)
    labels[:n] = True
    values = np.empty(n_resamples)
    for b in range(n_resamples):
        np.random.shuffle(labels)  # noqa: NPY002
        a, total = 0, 0.0
        for k in range(size - 1):
            a += labels[k]
            total += abs(a / n - (k + 1 - a) / m) * (pooled[k + 1] - pooled[k])
        values[b] = total
    return values.mean(), values.std()


@numba.njit
def _density(x, grid, width):
    out = np.zeros(grid.size)
    for g in range(grid.size):
        for v in x:
            t = (grid[g] - v) / width
            out[g] += math.exp(-0.5 * t * t)
    return out / out.sum()


@numba.njit
def _width(x):
    return x.std() * math.sqrt(x.size / (x.size - 1)) * x.size**-0.2


@numba.njit
def _divergence(p, q):
    total = 0.0
    for a, b in zip(p, q):  # noqa: B905 - numba knows no keyword here
        between = 0.5 * (a + b)
        if a > 0:
            total += a * math.log(a / between)
        if b > 0:
            total += b * math.log(b / between)
    return 0.5 * total


@numba.njit
def jensenshannon(x, y):
    """Divergence of the density estimates of each row and the truth on their joint grid."""
    out = np.empty(x.shape[0])
    width = _width(y)
    for r in range(x.shape[0]):
        low, high = min(x[r].min(), y.min()), max(x[r].max(), y.max())
        margin = 0.1 * (high - low)
        grid = np.linspace(low - margin, high + margin, 512)
        out[r] = _divergence(_density(x[r], grid, _width(x[r])), _density(y, grid, width))
    return out


@numba.njit
def jensenshannon_remembered(x, y):
    """Compute the same for rows inside of the truth's range, whose density is computed once."""
    out = np.empty(x.shape[0])
    margin = 0.1 * (y.max() - y.min())
    grid = np.linspace(y.min() - margin, y.max() + margin, 512)
    truth = _density(y, grid, _width(y))
    for r in range(x.shape[0]):
        out[r] = _divergence(_density(x[r], grid, _width(x[r])), truth)
    return out


def jensenshannon_scipy(x, y):
    """Divergence of one pair by SciPy's functions, as published."""
    low, high = min(x.min(), y.min()), max(x.max(), y.max())
    margin = 0.1 * (high - low)
    grid = np.linspace(low - margin, high + margin, 512)
    p, q = scipy.stats.gaussian_kde(x)(grid), scipy.stats.gaussian_kde(y)(grid)
    return scipy.spatial.distance.jensenshannon(p / p.sum(), q / q.sum()) ** 2


def permuted(statistic, x, y, n_resamples, rng):
    """Statistic of permuted labels, one SciPy call a permutation, as published."""
    pooled = np.concatenate([x, y])
    dealt = (rng.permutation(pooled) for _ in range(n_resamples))
    return np.array([statistic(z[: x.size], z[x.size :]) for z in dealt])
