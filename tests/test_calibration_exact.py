"""Exact p-values against their enumerated nulls: no test rejects more often than its level."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binom, ksone, kstwo

from calibration import DISCRETE, LAWS, MIXED, SIZES, labeling_tails, level_tails, uniform
from unpredictabench.stats import (
    anderson_2samp,
    cramervonmises_2samp,
    ks_2samp,
    ks_confidence_band,
    kuiper_2samp,
    mcnemar_test,
    multinomial_test,
    permutation_test_uniform,
)
from unpredictabench.stats._ks1 import tails
from unpredictabench.stats._laws import law_of
from unpredictabench.stats._sign_flip import sign_flip
from unpredictabench.stats.sequential import log_e_process
from unpredictabench.streams import stream

pytestmark = pytest.mark.slow

ALPHAS = (0.05, 0.01, 1e-4)
SIDES = ("two-sided", "greater", "less")
DRAWS = 200
"""Draws of a truth: a multiple of every sample size, so that heights are multiples of n."""
LIKELY = 1e-3
"""Chance from which on a height must be among those that are compared."""


def pooled_blocks(law, pooled):
    """Return the sizes of the blocks of equal values in a pooled sample of one law."""
    if law == "continuous":
        return np.ones(pooled, dtype=int)
    rng = stream("calibration", "blocks", law, pooled)
    if law == "mixed":
        at_zero = int(rng.binomial(pooled, 0.3))
        return np.array([at_zero, *[1] * (pooled - at_zero)])
    counts = rng.multinomial(pooled, LAWS[law].probabilities)
    return counts[counts > 0]


def labeled(blocks, n, n_rows, rng):
    """Deal labels to the values 0, 1, ... of the blocks, many rows in favour of one end."""
    values = np.repeat(np.arange(len(blocks)), blocks).astype(float)
    tilt = rng.uniform(-12, 12, (n_rows, 1)) * rng.integers(0, 2, (n_rows, 1))
    keys = rng.gumbel(size=(n_rows, values.size)) + tilt * np.linspace(0, 1, values.size)
    order = np.argpartition(keys, n, axis=1)
    return values[order[:, :n]], values[order[:, n:]]


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("n", SIZES)
def test_ks_2samp_has_its_enumerated_null(law, n):
    """P-values are the tails of all labelings dealt out; no size is above its level."""
    blocks = pooled_blocks(law, n + DRAWS)
    x, y = labeled(blocks, n, 6000, stream("calibration", "labels", law, n))
    heights = np.arange(n, n * DRAWS + 1, n)
    for side in SIDES:
        right = labeling_tails(blocks, n, heights, side)
        found = ks_2samp(x, y, alternative=side)
        place = np.rint(found.statistic * DRAWS).astype(int) - 1
        met = place >= 0
        np.testing.assert_allclose(found.pvalue[met], right[place[met]], rtol=1e-10)
        assert set(found.method) == {"exact"}
        is_attained = -np.diff(right, append=0.0) > LIKELY
        seen = np.isin(np.arange(heights.size), place)
        for alpha in ALPHAS[:2]:
            # The attained tails next to the level, on both sides of it, are among those compared.
            above, below = is_attained & (right > alpha), is_attained & (right <= alpha)
            assert not above.any() or seen[np.flatnonzero(above)[-1]]
            assert not below.any() or seen[np.flatnonzero(below)[0]]
            size = right[place[met & (found.pvalue <= alpha)]].max(initial=0.0)
            assert size <= alpha


@pytest.mark.parametrize("law", DISCRETE)
@pytest.mark.parametrize("n", SIZES)
def test_ks_1samp_has_its_enumerated_discrete_null(law, n):
    """For every distance that counts can have p is the enumerated tail, and sizes are valid."""
    target = LAWS[law]
    levels = target.heights[:-1]
    gaps = np.arange(n + 1)[:, None] / n - levels
    for side in SIDES:
        signed = {"two-sided": np.abs(gaps), "greater": gaps, "less": -gaps}[side]
        distances = np.sort(signed[signed > 1e-9])
        distances = distances[np.diff(distances, prepend=0.0) > 1e-12]
        right = level_tails(n, levels, distances, side)
        opened, sizes = law_of(target), np.full(distances.size, n)
        p, _ = tails(opened, sizes, distances, side)
        np.testing.assert_allclose(p, right, rtol=1e-9, atol=1e-300)
        for alpha in ALPHAS:
            assert right[p <= alpha].max(initial=0.0) <= alpha


@pytest.mark.parametrize("n", SIZES)
def test_ks_1samp_has_its_enumerated_mixed_null(n):
    """With an atom of .3 and the rest continuous, p is the enumerated tail."""
    opened = law_of(MIXED)
    for side in SIDES:
        distances = np.linspace(0.02, 0.95, 8) * min(1.0, 3 / math.sqrt(n))
        found, _ = tails(opened, np.full(8, n), distances, side)
        for d, p in zip(distances, found, strict=True):
            near = np.arange(n + 1) / n
            levels = np.unique(np.concatenate([[0.3], near - d, near + d]))
            levels = levels[(levels >= 0.3) & (levels < 1 - 1e-12)]
            [right] = level_tails(n, levels, [d], side)
            assert p == pytest.approx(right, rel=1e-9)


@pytest.mark.parametrize("n", SIZES)
def test_ks_1samp_has_the_continuous_null_of_scipy(n):
    """Without atoms p is the exact tail that SciPy computes by other formulas."""
    distances = np.linspace(0.01, 0.99, 197)
    opened, sizes = law_of(uniform), np.full(distances.size, n)
    for side in SIDES:
        p, _ = tails(opened, sizes, distances, side)
        right = kstwo.sf(distances, n) if side == "two-sided" else ksone.sf(distances, n)
        near = right > 1e-200
        np.testing.assert_allclose(p[near], right[near], rtol=1e-9)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("confidence_level", [0.5, 0.9, 0.95, 0.999])
def test_ks_bands_cover_at_their_level_or_above(n, confidence_level):
    """The exact chance that a sample lies farther from its law than the band is within the level.

    A continuous law is the worst case (Massart 1990), so that others are covered too.
    """
    x = np.linspace(0, 1, n)
    width = ks_confidence_band(x, uniform, confidence_level=confidence_level).distance_bound
    assert kstwo.sf(width, n) <= 1 - confidence_level


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("n", "m"), [(1, 1), (1, 10), (2, 10), (5, 10), (2, 50)])
def test_all_labelings_of_small_samples_give_valid_p(law, n, m):
    """Over every labeling of a pooled sample each p is met or undercut with just that share."""
    blocks = pooled_blocks(law, n + m)
    values = np.repeat(np.arange(len(blocks)), blocks).astype(float)
    chosen = np.zeros((math.comb(n + m, n), n + m), dtype=bool)
    for row, places in enumerate(itertools.combinations(range(n + m), n)):
        chosen[row, list(places)] = True
    shape = len(chosen), -1
    x = np.broadcast_to(values, chosen.shape)[chosen].reshape(shape)
    y = np.broadcast_to(values, chosen.shape)[~chosen].reshape(shape)
    for test in (ks_2samp, kuiper_2samp, anderson_2samp, cramervonmises_2samp):
        found = test(x, y)
        assert set(found.method) == {"exact"}
        level, counts = np.unique(np.round(found.pvalue, 12), return_counts=True)
        np.testing.assert_allclose(np.cumsum(counts) / len(chosen), level, atol=1e-11)


def counts_of(n, n_cells):
    """List every way to put `n` answers into cells."""
    bars = itertools.combinations(range(n + n_cells - 1), n_cells - 1)
    edges = np.array(list(bars), dtype=int).reshape(-1, n_cells - 1)
    ends = np.column_stack([np.full(len(edges), -1), edges, np.full(len(edges), n + n_cells - 1)])
    return np.diff(ends, axis=1) - 1


def chances(counts, p):
    """Return the multinomial probabilities of rows of counts."""
    logs = math.lgamma(counts[0].sum() + 1) - np.vectorize(math.lgamma)(counts + 1).sum(axis=1)
    return np.exp(logs + (counts * np.log(p)).sum(axis=1))


def assert_size(pvalues, mass):
    """Assert for every p-value attained that as small ones have no larger probability."""
    order = np.argsort(pvalues, kind="stable")
    p, reached = pvalues[order], np.cumsum(mass[order])
    is_last = np.append(p[1:] > p[:-1] * (1 + 1e-9), [True])
    assert (reached[is_last] <= p[is_last] * (1 + 1e-9)).all()


@pytest.mark.parametrize(
    ("n", "n_cells"),
    [(n, 2) for n in SIZES] + [(1, 10), (2, 10), (5, 10), (1, 50), (2, 50), (20, 3), (100, 3)],
)
def test_multinomial_test_has_its_enumerated_null(n, n_cells):
    """Over all counts of the answers no p-value is met more often than it says."""
    weights = 1.0 + np.arange(n_cells) % 7
    p = weights / weights.sum()
    counts = counts_of(n, n_cells)
    found = multinomial_test(counts, p)
    assert set(found.method) == {"exact"}
    assert_size(found.pvalue, chances(counts, p))


@pytest.mark.parametrize(
    ("n", "n_items"), [(n, 2) for n in SIZES] + [(1, 3), (2, 3), (5, 3), (8, 3), (1, 4), (2, 4)]
)
def test_permutation_test_has_its_enumerated_null(n, n_items):
    """Over all counts of the orders no p-value, corrected or not, is met too often."""
    orders = np.array(list(itertools.permutations(range(n_items))))
    counts = counts_of(n, len(orders))
    found = [permutation_test_uniform(np.repeat(orders, row, axis=0)) for row in counts]
    mass = chances(counts, np.full(len(orders), 1 / len(orders)))
    assert_size(np.array([each.pvalue for each in found]), mass)
    for column in range(n_items):
        assert_size(np.array([each.pvalues[column] for each in found]), mass)


def mcnemar_sizes(method, most):
    """Return for 0 to `most` discordant tasks the chance of p <= alpha, a row for each level."""
    sizes = np.zeros((len(ALPHAS), most + 1))
    for n in range(1, most + 1):
        half = [mcnemar_test(b, n - b, method=method).pvalue for b in range(n // 2 + 1)]
        p = np.array(half + half[: (n + 1) // 2][::-1])
        mass = binom.pmf(np.arange(n + 1), n, 0.5)
        sizes[:, n] = [mass[p <= alpha * (1 + 1e-12)].sum() for alpha in ALPHAS]
    return sizes


def test_exact_mcnemar_keeps_its_level():
    """For any number of discordant tasks the exact test rejects equal models within the level."""
    assert (mcnemar_sizes("exact", 300) <= np.array(ALPHAS)[:, None]).all()


def test_mid_p_mcnemar_keeps_its_level_on_average():
    """Where at most half of the tasks are discordant, the mid-p test keeps its level over all.

    Given their number it may be above, by as much as the docstring tells.
    """
    sizes = mcnemar_sizes("mid-p", 448)
    for n_tasks in (10, 20, 50, 100, 448):
        for discordant in np.linspace(0.01, 0.5, 50):
            weights = binom.pmf(np.arange(n_tasks + 1), n_tasks, discordant)
            assert (sizes[:, : n_tasks + 1] @ weights <= ALPHAS).all()
    assert (sizes.max(axis=1) <= (0.0769, 0.0157, 1.6e-4)).all()


@pytest.mark.parametrize("n", [1, 2, 5, 10])
@pytest.mark.parametrize("kind", ["different", "tied", "equal"])
def test_sign_flips_have_their_enumerated_null(n, kind):
    """Over all signs of given differences no p-value is met more often than it says."""
    sizes = {"different": np.sqrt(np.arange(1.0, n + 1)), "equal": np.full(n, 0.1)}
    sizes["tied"] = np.arange(n) % 3 + 1.0
    signs = 1 - 2 * (np.arange(2**n)[:, None] >> np.arange(n) & 1)
    p = np.array([sign_flip(row * sizes[kind]) for row in signs])
    assert_size(p, np.full(p.size, 1 / p.size))


@pytest.mark.parametrize("share", [0.5, 0.1, 0.02])
def test_e_process_alarms_are_enumerated(share):
    """Over all sequences of 300 answers in two cells E ever reaches 1 / alpha within alpha."""
    n, p = 300, np.array([share, 1 - share])
    # Without invalid answers E depends on the counts alone: one path through each pair of counts.
    evidence = np.full((n + 1, n + 1), -np.inf)
    for first in range(n + 1):
        path = log_e_process([0] * first + [1] * (n - first), p)
        evidence[first, : n - first + 1] = path[first - 1 :] if first else np.append(0.0, path)
    for alpha in ALPHAS:
        mass, alarms = np.zeros(n + 1), 0.0
        mass[0] = 1.0
        for step in range(1, n + 1):
            mass = np.append(0.0, mass[:-1]) * p[0] + mass * p[1]
            first = np.arange(min(step, n) + 1)
            is_alarm = evidence[first, step - first] >= -math.log(alpha)
            alarms += mass[first[is_alarm]].sum()
            mass[first[is_alarm]] = 0.0
        assert alarms <= alpha
