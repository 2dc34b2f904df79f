"""A suite of dice and a model that throws them, for tests of asking."""

from __future__ import annotations

import asyncio
import dataclasses

import numpy as np

from unpredictabench.records import Answer, Completion, Task
from unpredictabench.streams import stream


@dataclasses.dataclass(frozen=True)
class Die:
    """A fair die as a target."""

    support = "discrete"
    spec = {"family": "die"}  # noqa: RUF012 - a constant

    def sample(self, size, rng):
        """Throw the die."""
        return rng.integers(1, 7, size).astype(np.float64)


@dataclasses.dataclass(frozen=True)
class Suite:
    """The least a suite can be."""

    tasks: tuple[Task, ...]
    name: str = "dice"
    version: str = "1"
    hash: str = "abc"
    entries: tuple[()] = ()

    @property
    def origin(self):
        """It is no selection."""
        return self

    def __iter__(self):
        return iter(self.tasks)


def suite(n_tasks=6, categories=("text-explicit", "shuffling")):
    """Make a suite whose tasks go round the categories."""
    form = Answer("number", "Answer with a number.")
    return Suite(
        tuple(
            Task(f"t/{i}", categories[i % len(categories)], "die", None, f"Die {i}?", form, Die())
            for i in range(n_tasks)
        )
    )


class Thrower:
    """A model that answers a slot with a number of its own, and remembers what it was asked."""

    def __init__(self, *, behave=None, parameters=None, delay_s=0.0):
        self.model, self.base_url = "sim:thrower", None
        self.parameters = parameters if parameters is not None else {"temperature": 1.0}
        self.asked, self.is_closed, self.n_busy, self.most_busy = [], False, 0, 0
        self.behave, self.delay_s = behave, delay_s

    async def ask(self, request):
        """Answer from the slot's own stream, after what `behave` does."""
        self.asked.append((request.task.id, request.index))
        self.n_busy += 1
        self.most_busy = max(self.most_busy, self.n_busy)
        try:
            await asyncio.sleep(self.delay_s)
            if self.behave is not None:
                changed = self.behave(request)
                if changed is not None:
                    return changed
            return self.completion(request)
        finally:
            self.n_busy -= 1

    @staticmethod
    def completion(request, **changes):
        """Return the slot's answer."""
        text = str(stream("thrower", request.task.id, request.index).integers(1, 7))
        base = Completion(request.task.id, request.index, text, n_asked=request.n_asked)
        return dataclasses.replace(base, **changes)

    async def aclose(self):
        """Remember that it was closed."""
        self.is_closed = True


def content(run):
    """Return all completions of a run, in order."""
    return list(run.completions())
