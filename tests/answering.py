"""Completions for tests of scoring: of simulated models, or of answers written out."""

from __future__ import annotations

import asyncio

import numpy as np

from unpredictabench.clients import SimulatedClient
from unpredictabench.records import Answer, Completion, Request, Task
from unpredictabench.targets import target_from_spec

UNIFORM = {"family": "uniform", "params": {"low": 0.0, "high": 1.0}}


def simulated(name, tasks, n, *, seed=0):
    """Return n answers of a simulated model to each task."""

    async def ask():
        client = SimulatedClient(name, seed=seed)
        return [await client.ask(Request(task, i, ())) for task in tasks for i in range(n)]

    return asyncio.run(ask())


def written(task, answers, **how):
    """Return completions that hold these texts, one a slot; None is an empty reply."""
    return [
        Completion(task.id, i, None, "empty_content")
        if text is None
        else Completion(task.id, i, text if isinstance(text, str) else repr(text), **how)
        for i, text in enumerate(answers)
    ]


def task_of(spec=UNIFORM, name="text-explicit/uniform/concentrated", **form):
    """Return a task whose answer is a number with the law of a spec."""
    category, family, _ = name.split("/")
    answer = Answer("number", "Answer with one number only.", **form)
    return Task(name, category, family, "concentrated", "Draw.", answer, target_from_spec(spec))


class Draws:
    """A law of which the draws are given."""

    support = "continuous"
    is_exact = False

    def __init__(self, values):
        self.values = np.asarray(values, float)

    @property
    def spec(self):
        """Return the law as data."""
        return {"samples": self.values.tolist()}

    def draws(self, m, _stream_name):
        """Return the draws."""
        return self.values[:m]

    def sample(self, size, rng):
        """Draw again."""
        return rng.choice(self.values, size)

    def cdf(self, x):
        """Return the share at or below x."""
        return np.searchsorted(np.sort(self.values), x, side="right") / self.values.size

    def cdf_left(self, x):
        """Return the share below x."""
        return np.searchsorted(np.sort(self.values), x, side="left") / self.values.size

    def ppf(self, q):
        """Return the quantile."""
        return np.quantile(self.values, q, method="inverted_cdf")

    def contains(self, x):
        """Tell what lies between the ends."""
        return (np.asarray(x) >= self.values.min()) & (np.asarray(x) <= self.values.max())
