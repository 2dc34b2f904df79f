"""Bounds for simulated rates, laws to simulate, and nulls enumerated: what calibration rests on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import betabinom, binom

FALSE_ALARM = 1e-6
"""Probability that one check fails a right method, were its stream another."""
SIZES = (1, 2, 5, 10, 20, 50, 100)
"""Sample sizes looked at: those that KS@N is published for (arXiv 2606.06622)."""
LEVELS = (0.05, 0.01)
"""Levels at which simulated p-values are checked."""


def most(n: int, p: float) -> int:
    """Return a count that `n` trials of probability at most `p` exceed in a false alarm only."""
    return int(binom.isf(FALSE_ALARM, n, p))


def least(n: int, p: float) -> int:
    """Return a count that `n` trials of probability `p` or more fall short of as rarely."""
    return int(binom.ppf(FALSE_ALARM, n, p))


def most_of_a_drawn_null(n: int, p: float, n_draws: int) -> int:
    """Return the like of `most` where all trials share one null of `n_draws` drawn statistics.

    The share of new statistics beyond the k-th largest of B draws has the law Beta(k, B + 1 - k).
    """
    k = int(p * (n_draws + 1) * (1 + 1e-12))
    return int(betabinom.isf(FALSE_ALARM, n, k, n_draws + 1 - k))


def assert_valid(pvalues, *, n_draws: int | None = None) -> None:
    """Assert that p-values of true nulls lie at or below each level no more often than it says."""
    p = np.asarray(pvalues)
    assert not np.isnan(p).any()
    for level in LEVELS:
        bound = most(p.size, level) if n_draws is None else (
            most_of_a_drawn_null(p.size, level, n_draws)
        )  # fmt: skip
        hits = int((p <= level * (1 + 1e-12)).sum())
        assert hits <= bound, f"{hits} of {p.size} at or below {level}, {bound} allowed"


def assert_uniform(pvalues) -> None:
    """Assert that p-values lie at or below each level as often as it says, not less either."""
    p = np.asarray(pvalues)
    assert_valid(p)
    for level in LEVELS:
        hits = int((p <= level).sum())
        assert hits >= least(p.size, level), f"{hits} of {p.size} at or below {level}"


def assert_covers(hits: int, n: int, level: float, *, at_most: float = 1.0) -> None:
    """Assert that intervals cover at their level, and with `at_most` not more often than that."""
    assert least(n, level) <= hits <= most(n, at_most), f"{hits} of {n}, not {level}"


@dataclass(frozen=True)
class Steps:
    """A law with atoms at 0, 1, 2, ... and perhaps a uniform part above the last.

    Parameters
    ----------
    probabilities : tuple of float
        Of the atoms; what they lack to 1 is uniform on (last atom, last atom + 1).
    """

    probabilities: tuple[float, ...]

    @property
    def support(self) -> str:
        """Tell whether there is a uniform part."""
        return "discrete" if self.heights[-1] == 1 else "mixed"

    @property
    def spec(self):
        """Return what names the law."""
        return {"atoms": list(self.probabilities)}

    @property
    def heights(self):
        """Return the cdf at the atoms."""
        heights = np.cumsum(self.probabilities)
        heights[np.abs(heights - 1) < 1e-12] = 1.0
        return heights

    def cdf(self, x):
        """Return P(X <= x)."""
        x = np.asarray(x, float)
        last = len(self.probabilities) - 1
        above = np.concatenate([[0.0], self.heights])
        stepped = above[np.clip(np.floor(x) + 1, 0, last + 1).astype(int)]
        return stepped + (1 - above[-1]) * np.clip(x - last, 0, 1)

    def cdf_left(self, x):
        """Return P(X < x)."""
        x = np.asarray(x, float)
        last = len(self.probabilities) - 1
        above = np.concatenate([[0.0], self.heights])
        stepped = above[np.clip(np.ceil(x), 0, last + 1).astype(int)]
        return stepped + (1 - above[-1]) * np.clip(x - last, 0, 1)

    def ppf(self, q):
        """Return the smallest x with P(X <= x) >= q."""
        q = np.asarray(q, float)
        last = len(self.probabilities) - 1
        atom = np.searchsorted(self.heights, q, side="left")
        rest = 1 - self.heights[-1]
        inside = (q - self.heights[-1]) / rest if rest > 0 else np.zeros(q.shape)
        return np.where(atom > last, last + np.clip(inside, 0, 1), atom).astype(float)

    def contains(self, x):
        """Tell which values lie in the support."""
        x = np.asarray(x, float)
        last = len(self.probabilities) - 1
        is_atom = (np.floor(x) == x) & (x >= 0) & (x <= last)
        return is_atom | ((self.support == "mixed") & (x > last) & (x <= last + 1))

    def sample(self, size, rng):
        """Draw observations."""
        return self.ppf(1 - rng.random(size))

    def draws(self, m, stream_name):
        """Draw from a named stream."""
        return self.sample(m, np.random.default_rng(len(stream_name)))


def uniform(u):
    """Return the cdf of the uniform law on [0, 1]."""
    return np.clip(u, 0.0, 1.0)


def steps(n_values: int) -> Steps:
    """Return a law on `n_values` values of unequal probability."""
    weights = 1.0 + np.arange(n_values) % 7
    return Steps(tuple((weights / weights.sum()).tolist()))


DISCRETE = {"2 values": steps(2), "10 values": steps(10), "50 values": steps(50)}
MIXED = Steps((0.3,))
LAWS = {"continuous": uniform, **DISCRETE, "mixed": MIXED}
"""The kinds of law that every test is looked at under."""


def drawn(law: str, shape, rng):
    """Draw observations of one of `LAWS`."""
    u = rng.random(shape)
    return u if law == "continuous" else LAWS[law].ppf(1 - u)


def labeling_tails(blocks, n: int, heights, side: str):
    """Enumerate the labelings of a pooled sample: P(statistic >= h) for each integer height.

    Labels are dealt one at a time; after each block of equal values those labelings that have
    reached a height are counted and leave. All terms are positive.
    """
    pooled = int(np.sum(blocks))
    m, ends = pooled - n, set(np.cumsum(blocks).tolist())
    chosen, height = np.arange(n + 1), np.asarray(heights)[:, None]
    mass = np.zeros((len(heights), n + 1))
    mass[:, 0] = 1.0
    tails = np.zeros(len(heights))
    for k in range(1, pooled + 1):
        take = np.clip((n - chosen) / (pooled - k + 1), 0.0, 1.0)
        taken = mass * take
        mass -= taken
        mass[:, 1:] += taken[:, :-1]
        if k in ends:
            reached = _signed(chosen * m - (k - chosen) * n, side) >= height
            tails += np.where(reached, mass, 0.0).sum(axis=1)
            mass[reached] = 0.0
    return tails


def level_tails(n: int, levels, distances, side: str):
    """Enumerate the counts of `n` uniform points: P(statistic >= d) for each distance.

    Points fall between two of the levels at which a count decides one binomial law after the other;
    after each level those counts that have reached a distance are counted and leave.
    """
    counts, distance = np.arange(n + 1), np.asarray(distances, float)[:, None]
    mass = np.zeros((len(distances), n + 1))
    mass[:, 0] = 1.0
    before, tails = 0.0, np.zeros(len(distances))
    for level in levels:
        more = counts[None, :] - counts[:, None]
        mass = mass @ binom.pmf(more, (n - counts)[:, None], (level - before) / (1 - before))
        reached = _signed(counts / n - level, side) >= distance - 1e-12
        tails += np.where(reached, mass, 0.0).sum(axis=1)
        mass[reached], before = 0.0, level
    return tails


def _signed(gap, side):
    return {"two-sided": np.abs(gap), "greater": gap, "less": -gap}[side]
