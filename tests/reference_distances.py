"""The distances written out as they are defined: slow, obvious, and independent of the package."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import scipy.special
import scipy.stats


def gap_sum(x, y, power):
    """Sum |F - G|^power over the gaps of the pooled sample, in exact fractions."""
    xs, ys = sorted(map(Fraction, map(float, x))), sorted(map(Fraction, map(float, y)))
    points = sorted({*xs, *ys})
    total = Fraction(0)
    for low, high in itertools.pairwise(points):
        f = Fraction(sum(v <= low for v in xs), len(xs))
        g = Fraction(sum(v <= low for v in ys), len(ys))
        total += abs(f - g) ** power * (high - low)
    return total


def wasserstein(x, y):
    """First Wasserstein distance: the area between the two empirical cdfs."""
    return gap_sum(x, y, 1)


def energy_squared(x, y):
    """Squared energy distance: twice the area between them, squared."""
    return 2 * gap_sum(x, y, 2)


def null_moments(x, y, distance):
    """Mean and variance of a distance over all labelings of the pooled sample."""
    pooled = [*map(float, x), *map(float, y)]
    values = []
    for chosen in itertools.combinations(range(len(pooled)), len(x)):
        rest = [v for i, v in enumerate(pooled) if i not in chosen]
        values.append(distance([pooled[i] for i in chosen], rest))
    mean = sum(values) / len(values)
    return mean, sum((v - mean) ** 2 for v in values) / len(values)


def jensenshannon_kde(x, y, n_grid=512, padding=0.1):
    """Jensen-Shannon divergence of SciPy's density estimates on one grid."""
    x, y = np.asarray(x, float), np.asarray(y, float)
    low, high = min(x.min(), y.min()), max(x.max(), y.max())
    margin = padding * (high - low)
    grid = np.linspace(low - margin, high + margin, n_grid)
    p, q = scipy.stats.gaussian_kde(x)(grid), scipy.stats.gaussian_kde(y)(grid)
    p, q = p / p.sum(), q / q.sum()
    # scipy.spatial.distance.jensenshannon takes the root of this, also where rounding makes it
    # negative.
    between = (p + q) / 2
    return (
        float(np.sum(scipy.special.rel_entr(p, between) + scipy.special.rel_entr(q, between))) / 2
    )
