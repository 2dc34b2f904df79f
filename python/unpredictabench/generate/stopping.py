"""When a task has been asked enough: a small protocol, and the rule that never stops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from unpredictabench.records import Completion


@runtime_checkable
class StopRule(Protocol):
    """Decides after each answer whether a task's remaining slots are asked.

    Its name is part of a run's settings: a run is never continued under another rule.
    """

    @property
    def name(self) -> str:
        """The rule with everything that decides, e.g. ``"e-value(alpha=0.0001)"``."""
        ...

    def done(self, task_id: str, completions: Sequence[Completion]) -> bool:
        """Tell whether a task has been asked enough.

        Parameters
        ----------
        task_id : str
            The task.
        completions : sequence of Completion
            Its answers in the order of their slots, up to the first slot still under way. The
            order in which answers happen to arrive never matters, so fast answers get no say
            before slow ones.

        Returns
        -------
        bool
            Whether to ask no further slot of the task. Answers under way are still stored.
        """
        ...


class _Never:
    """Ask every slot."""

    name = "never"

    def done(self, task_id: str, completions: Sequence[Completion]) -> bool:  # noqa: ARG002 - the protocol's
        """Return False."""
        return False


NEVER: StopRule = _Never()
"""The default rule: every slot is asked."""


class Prefix:
    """The answers of one task up to the first slot that is still open.

    Attributes
    ----------
    answers : list of Completion
        In the order of their slots; slots that failed are passed over.
    """

    def __init__(self) -> None:
        self.answers: list[Completion] = []
        self._waiting: dict[int, Completion | None] = {}
        self._next = 0

    def settle(self, index: int, completion: Completion | None) -> bool:
        """Enter a slot's answer, None for a slot that failed; tell whether `answers` grew."""
        self._waiting[index] = completion
        n_before = len(self.answers)
        while self._next in self._waiting:
            settled = self._waiting.pop(self._next)
            self._next += 1
            if settled is not None:
                self.answers.append(settled)
        return len(self.answers) > n_before


def by_task(completions: Iterable[Completion]) -> dict[str, Prefix]:
    """Enter stored answers into a prefix for each task."""
    prefixes: dict[str, Prefix] = {}
    for completion in completions:
        prefixes.setdefault(completion.task, Prefix()).settle(completion.index, completion)
    return prefixes
