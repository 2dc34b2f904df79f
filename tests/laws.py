"""Small laws written out, for tests of what sits above the targets."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from unpredictabench.records import Answer, Task


@dataclass(frozen=True)
class Exponential:
    """The exponential law, scaled."""

    scale: float = 1.0
    support: str = "continuous"

    @property
    def spec(self):
        """Return the law as data."""
        return {"family": "exponential", "params": {"scale": self.scale}}

    def cdf(self, x):
        """Return P(X <= x)."""
        return -np.expm1(-np.maximum(np.asarray(x, float), 0.0) / self.scale)

    cdf_left = cdf

    def ppf(self, q):
        """Return the quantile."""
        return -self.scale * np.log1p(-np.asarray(q, float))

    def contains(self, x):
        """Tell what is not negative."""
        return np.asarray(x) >= 0

    def sample(self, size, rng):
        """Draw."""
        return self.ppf(rng.random(size))

    def draws(self, m, stream_name):
        """Not needed here."""
        raise NotImplementedError


class Die(Exponential):
    """A fair die."""

    def __init__(self):
        super().__init__(support="discrete")

    def ppf(self, q):
        """Return the smallest face that reaches q."""
        return np.clip(np.ceil(np.asarray(q, float) * 6.0), 1.0, 6.0)


@dataclass(frozen=True)
class Nominal:
    """A law on labels or orders."""

    outcomes: tuple
    probabilities: np.ndarray
    support: str = "nominal"


def number_task(name="text-explicit/exponential/concentrated", *, target=None, **form) -> Task:
    """Return a task whose answer is a number."""
    answer = Answer("number", "Answer with one number only.", **form)
    return Task(
        name, "text-explicit", "exponential", None, "Draw.", answer, target or Exponential()
    )


def order_task(n=4, instruction="Answer with a JSON array of all items.") -> Task:
    """Return a shuffle of n letters."""
    orders = tuple(itertools.permutations(range(n)))
    target = Nominal(orders, np.full(len(orders), 1.0 / len(orders)))
    answer = Answer("permutation", instruction, tuple("abcdefgh"[:n]))
    return Task("shuffling/letters", "shuffling", "uniform", None, "Shuffle.", answer, target)


def choice_task(chances) -> Task:
    """Return a choice among labels."""
    target = Nominal(tuple(chances), np.array(list(chances.values()), float))
    answer = Answer("choice", "Answer with one word.", tuple(chances))
    return Task("real-world/choice", "real-world", "choice", None, "Choose.", answer, target)


def lines_task(chances) -> Task:
    """Return a program's output in lines."""
    target = Nominal(tuple(chances), np.array(list(chances.values()), float))
    lines = sorted({line for block in chances for line in block.split("\n") if line})
    answer = Answer("lines", "Answer with the printed lines only.", tuple(lines))
    return Task("real-world/lines", "real-world", "lines", None, "Run.", answer, target)
