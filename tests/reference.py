"""The definitions written out, slow and obvious: the oracle that kernels are compared with.

Rational numbers wherever a definition is rational. One section a statistic.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb, inf

# Two-sample Kolmogorov-Smirnov


def ks_deviations(x, y, n_invalid=0, *, at_low_end=False):
    """List the ends of the pooled blocks: value, observations and draws at or below it."""
    blocks = [(v, sum(a <= v for a in x), sum(b <= v for b in y)) for v in sorted({*x, *y})]
    if n_invalid and at_low_end:
        lifted = [(v, i + n_invalid, j) for v, i, j in blocks]
        return [(-inf, n_invalid, 0), *lifted]
    if n_invalid:
        return [*blocks, (inf, len(x) + n_invalid, len(y))]
    return blocks


def ks_integer(x, y, alternative="two-sided", n_invalid=0):
    """Return `max |i m - j n|`, where it is first attained, its sign, and the blocks."""
    n, m = len(x) + n_invalid, len(y)
    sides = {"two-sided": (1, -1), "greater": (1,), "less": (-1,)}[alternative]
    found = []
    for sign in sides:
        blocks = ks_deviations(x, y, n_invalid, at_low_end=sign > 0)
        values = [sign * (i * m - j * n) for _, i, j in blocks]
        h = max(values)
        found.append((h, blocks[values.index(h)][0], sign, blocks))
    return max(found, key=lambda side: (side[0], side[2]))


def ks_pvalue(blocks, h, alternative="two-sided"):
    """Count the labelings of the pooled blocks with a statistic of at least `h`, as a share."""
    n, m = blocks[-1][1], blocks[-1][2]
    ways, before = {0: 1}, 0
    for _, i, j in blocks:
        size, before = i + j - before, i + j
        spread = {}
        for chosen, count in ways.items():
            for more in range(min(size, n - chosen) + 1):
                spread[chosen + more] = spread.get(chosen + more, 0) + count * comb(size, more)
        ways = {
            chosen: count
            for chosen, count in spread.items()
            if _is_inside(chosen * m - (before - chosen) * n, h, alternative)
            and before - chosen <= m
        }
    return 1 - Fraction(ways.get(n, 0), comb(n + m, n))


def _is_inside(deviation, h, alternative):
    above, below = deviation >= h, -deviation >= h
    return not {"two-sided": above or below, "greater": above, "less": below}[alternative]
