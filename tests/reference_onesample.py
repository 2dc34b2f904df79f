"""Tests against a law and pass rates, written out: slow, obvious, the oracle."""

from __future__ import annotations

import itertools
from fractions import Fraction
from math import factorial

import numpy as np


class StepLaw:
    """A discrete law on 0, 1, 2, ... with rational probabilities, as a target."""

    support = "discrete"

    def __init__(self, *numerators):
        self.probabilities = [Fraction(a, sum(numerators)) for a in numerators]
        sums = itertools.accumulate(self.probabilities)
        self.heights = np.array([0.0, *map(float, sums)])

    @property
    def spec(self):
        """Return what names the law."""
        return {"steps": [str(p) for p in self.probabilities]}

    def cdf(self, x):
        """Return P(X <= x)."""
        last = len(self.probabilities)
        return self.heights[np.clip(np.floor(x) + 1, 0, last).astype(int)]

    def cdf_left(self, x):
        """Return P(X < x)."""
        last = len(self.probabilities)
        return self.heights[np.clip(np.ceil(x), 0, last).astype(int)]

    def ppf(self, q):
        """Return the smallest x with P(X <= x) >= q."""
        return np.maximum(np.searchsorted(self.heights, q, side="left") - 1, 0).astype(float)

    def contains(self, x):
        """Tell which values lie in the support."""
        return (np.floor(x) == x) & (x >= 0) & (x < len(self.probabilities))

    def sample(self, size, rng):
        """Draw observations."""
        return self.ppf(1 - rng.random(size))

    def draws(self, m, stream_name):
        """Draw from a named stream."""
        return self.sample(m, np.random.default_rng(len(stream_name)))


class AtomAtZero(StepLaw):
    """Half an atom at 0, half uniform on [0, 1]: a mixed law."""

    support = "mixed"

    def __init__(self):
        super().__init__(1)

    @property
    def spec(self):
        """Return what names the law."""
        return {"atom": 0.5}

    def cdf(self, x):
        """Return P(X <= x)."""
        return np.where(x < 0, 0.0, 0.5 + np.clip(x, 0, 1) / 2)

    def cdf_left(self, x):
        """Return P(X < x)."""
        return np.where(x <= 0, 0.0, 0.5 + np.clip(x, 0, 1) / 2)

    def ppf(self, q):
        """Return the smallest x with P(X <= x) >= q."""
        return np.maximum(2 * np.asarray(q) - 1, 0.0)


def statistic(x, cdf, cdf_left, n_invalid=0):
    """Return D+ and D-: both sides of every observation, invalid answers at the worse end."""
    n = len(x) + n_invalid
    above, below = [n_invalid / n], [n_invalid / n]
    for u in x:
        above.append((np.sum(x <= u) + n_invalid) / n - float(cdf(u)))
        below.append(float(cdf_left(u)) - np.sum(x < u) / n)
    return max(above), max(below)


def compositions(n, cells):
    """Yield every way to put `n` answers in that many cells."""
    if cells == 1:
        yield (n,)
        return
    for first in range(n + 1):
        for rest in compositions(n - first, cells - 1):
            yield (first, *rest)


def multinomial_tail(probabilities, n, is_hit):
    """Return the exact probability that counts of `n` answers are a hit."""
    total = Fraction(0)
    for counts in compositions(n, len(probabilities)):
        if is_hit(counts):
            term = Fraction(factorial(n))
            for count, p in zip(counts, probabilities, strict=True):
                term *= p**count / factorial(count)
            total += term
    return total


def ks_tail(probabilities, n, side, d):
    """Return P(D_n >= d) for a discrete law, to within 1e-12 of d."""

    def is_hit(counts):
        heights = itertools.accumulate(probabilities)
        gaps = [
            Fraction(k, n) - height
            for k, height in zip(itertools.accumulate(counts), heights, strict=True)
        ]
        gaps = [abs(g) if side == "two-sided" else g if side == "greater" else -g for g in gaps]
        return float(max([Fraction(0), *gaps])) >= d - 1e-12

    return multinomial_tail(probabilities, n, is_hit)


def pass_share(slots, n, passes):
    """Return the share of all subsets of `n` slots that pass."""
    subsets = list(itertools.combinations(range(len(slots)), n))
    return sum(bool(passes([slots[i] for i in subset])) for subset in subsets) / len(subsets)


def jackknife(slots, n, passes):
    """Return the delete-one jackknife standard error of `pass_share`."""
    m = len(slots)
    without = [pass_share(slots[:t] + slots[t + 1 :], n, passes) for t in range(m)]
    return float(np.sqrt((m - 1) / m * np.sum((np.array(without) - np.mean(without)) ** 2)))


def total_variation(counts, probabilities, n_invalid=0):
    """Return the largest distance over all sets of labels, the invalid answers a label of p = 0."""
    n = sum(counts) + n_invalid
    gaps = [abs(Fraction(int(c), n) - p) for c, p in zip(counts, probabilities, strict=True)]
    return (sum(gaps) + Fraction(n_invalid, n)) / 2


def lehmer(order):
    """Return the digits of a permutation: how many later items are smaller."""
    return [sum(b < a for b in order[i + 1 :]) for i, a in enumerate(order[:-1])]
