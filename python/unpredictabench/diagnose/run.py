"""The diagnosis of a whole run: how often each word, and whether its answers are independent."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from unpredictabench.diagnose.words import LEVEL, WORDS, Diagnosis, Word, diagnose_task
from unpredictabench.extract.observations import observe

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from unpredictabench.records import Completion, Reading, Task


@dataclass(frozen=True, slots=True)
class RunDiagnosis:
    """What goes wrong in a run.

    Parameters
    ----------
    tasks : tuple of Diagnosis
        One a task, in the order of the suite.
    counts : mapping
        Number of tasks with each word that occurs, in the order of `WORDS`.
    n_expected : float
        Tasks that would be given a word if every answer were faithful: the level times the tasks.
    n_dependent : int
        Tasks whose answers depend on the ones before.
    is_independent : bool or None
        Whether no task does after Bonferroni's correction over the tasks; None where no task has
        enough answers to tell.
    """

    tasks: tuple[Diagnosis, ...]
    counts: Mapping[Word, int]
    n_expected: float
    n_dependent: int
    is_independent: bool | None

    @property
    def summary(self) -> str:
        """The words by frequency, in one line."""
        order = sorted(self.counts.items(), key=lambda item: -item[1])
        words = ", ".join(f"{word} {count}" for word, count in order)
        return (
            f"{len(self.tasks)} tasks: {words}; {self._dependence()}; by chance "
            f"{self.n_expected:.2g} tasks are given a word"
        )

    def _dependence(self) -> str:
        if self.is_independent is None:
            return "too few answers to tell whether they depend on each other"
        is_not = "" if self.is_independent else "not "
        return (
            f"answers are {is_not}independent ({self.n_dependent} tasks whose answers depend on "
            "the ones before)"
        )


def diagnose(
    tasks: Sequence[Task],
    completions: Iterable[Completion],
    *,
    level: float = LEVEL,
    mode: Reading = "lenient",
) -> RunDiagnosis:
    """Find the word for the answers to each task of a run.

    Parameters
    ----------
    tasks : sequence of Task
        The tasks asked.
    completions : iterable of Completion
        The replies, in any order.
    level : float, default 1e-3
        Probability that a faithful sampler is given a word, per task, in (0, 1).
    mode : {"lenient", "strict"}
        Which reading of the replies.

    Returns
    -------
    RunDiagnosis
        Words, evidence and summary.
    """
    observed, _ = observe(tasks, completions, mode=mode)
    found = tuple(diagnose_task(one, level=level) for one in observed)
    counted = Counter(one.word for one in found)
    orders = [one.independence for one in found if one.independence is not None]
    tested = [order for order in orders if order.verdict != "too few"]
    return RunDiagnosis(
        tasks=found,
        counts={word: counted[word] for word in WORDS if counted[word]},
        n_expected=level * len(found),
        n_dependent=sum(order.verdict == "dependent" for order in tested),
        is_independent=all(order.pvalue * len(tested) > level for order in tested)
        if tested
        else None,
    )
