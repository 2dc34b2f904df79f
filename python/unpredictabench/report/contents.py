"""What a report holds, before anything is drawn: scored runs, rows to compare with, provenance."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from unpredictabench.diagnose import RunDiagnosis
    from unpredictabench.records import Interval, Task
    from unpredictabench.report.answers import Sample
    from unpredictabench.score.results import Rate, RunScore
    from unpredictabench.score.samplers import Baseline


class PublishedShare(Protocol):
    """A published share of tasks with its interval."""

    @property
    def estimate(self) -> float:
        """The share, in [0, 1]."""
        ...

    @property
    def interval(self) -> Interval:
        """Its confidence interval."""
        ...

    @property
    def n_tasks(self) -> int:
        """Tasks in the denominator."""
        ...


class PublishedScores(Protocol):
    """A row of a published leaderboard, as `integrations.published_rows` gives them."""

    @property
    def model(self) -> str:
        """Name of the model."""
        ...

    @property
    def ks_at_n(self) -> Mapping[int, Any]:
        """KS@N: a `PublishedShare` for each N."""
        ...

    @property
    def marks(self) -> tuple[str, ...]:
        """What is wrong with the row."""
        ...

    @property
    def source(self) -> str:
        """Where the numbers come from."""
        ...


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where the answers of a run come from.

    Parameters
    ----------
    run : str
        Name of the run folder.
    settings : mapping
        How the model was asked, as plain JSON data.
    dates : str
        When the answers came, UTC; where they bear no dates, when the run was written.
    n_answers : int
        Answers stored.
    prompt_tokens, completion_tokens : int or None
        Tokens as the server counted them; None where it did not.
    cost : float or None
        Cost at the prices given to the run; None where none were given.
    seeds : str
        Which seeds were sent.
    served : tuple of str
        What the server said it was.
    marks : tuple of str
        What the run itself found suspicious.
    """

    run: str
    settings: Mapping[str, object]
    dates: str
    n_answers: int
    prompt_tokens: int | None
    completion_tokens: int | None
    cost: float | None
    seeds: str
    served: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """One scored run of a report.

    Parameters
    ----------
    key : str
        A letter by which tables and charts name it.
    label : str
        The model, with the run's name where two runs share a model.
    score : RunScore
        Its scores.
    samples : mapping
        Its answers by task id; empty where only the scores are known.
    provenance : Provenance or None
        Where the answers come from.
    diagnosis : RunDiagnosis or None
        What goes wrong, task by task; None where only the scores are known.
    """

    key: str
    label: str
    score: RunScore
    samples: Mapping[str, Sample] = field(default_factory=dict)
    provenance: Provenance | None = None
    diagnosis: RunDiagnosis | None = None

    def rate(self, n: int) -> Rate | None:
        """Return KS@N; None where it was not asked for."""
        return self.score.ks_at_n.get(n)


@dataclass(frozen=True, slots=True, eq=False)
class Contents:
    """Everything a report shows.

    Parameters
    ----------
    title : str
        Its heading.
    entries : tuple of Entry
        Runs, best first; at least one.
    baselines : tuple of Baseline
        What simple samplers score on the same tasks.
    published : tuple
        Rows of a published leaderboard.
    tasks : tuple of Task
        The tasks, in the order of the suite.
    n : tuple of int
        Sizes N.
    headline : int
        The N of the headline: the largest that every run can be judged at.
    version : str
        Version of this package.
    """

    title: str
    entries: tuple[Entry, ...]
    baselines: tuple[Baseline, ...]
    published: tuple[PublishedScores, ...]
    tasks: tuple[Task, ...]
    n: tuple[int, ...]
    headline: int
    version: str

    @property
    def first(self) -> RunScore:
        """The scores that say what all share: suite, hash, alpha, protocol."""
        return self.entries[0].score


def headline_n(scores: Sequence[RunScore]) -> int:
    """Choose the N of the headline.

    Parameters
    ----------
    scores : sequence of RunScore
        At least one, scored at the same sizes.

    Returns
    -------
    int
        The largest N at which every task of every run has enough answers; else the largest at
        which any run has an estimate; else the largest N.
    """
    sizes = scores[0].n
    rates = {n: [score.ks_at_n[n] for score in scores] for n in sizes}
    full = [n for n in sizes if all(r.n_tasks and r.n_covered == r.n_tasks for r in rates[n])]
    some = [n for n in sizes if any(r.estimate is not None for r in rates[n])]
    return max(full or some or sizes)


def doubts(entry: Entry, others: Sequence[Entry], n: int) -> tuple[str, ...]:
    """Tell why an entry cannot be ranked beside others without a mark.

    Parameters
    ----------
    entry : Entry
        The entry.
    others : sequence of Entry
        All entries, itself included.
    n : int
        The size N.

    Returns
    -------
    tuple of str
        Reasons; empty for a complete run.
    """
    known = {task.task for other in others for task in other.score.tasks}
    missing = len(known) - len({task.task for task in entry.score.tasks})
    found = entry.rate(n)
    reasons = [f"{missing:,} of {len(known):,} tasks missing"] if missing else []
    if found is None or found.estimate is None:
        reasons.append(f"N = {n} not available")
    elif found.n_covered < found.n_tasks:
        reasons.append(f"{found.n_covered:,} of {found.n_tasks:,} tasks have {n} answers")
    return tuple(reasons)


def ranked(entries: Sequence[Entry], n: int) -> list[Entry]:
    """Order entries: complete runs by KS@N, best first, then incomplete ones by name."""

    def place(entry: Entry) -> tuple[bool, float, str]:
        is_incomplete = bool(doubts(entry, entries, n))
        found = entry.rate(n)
        estimate = -1.0 if found is None or found.estimate is None else found.estimate
        return is_incomplete, 0.0 if is_incomplete else -estimate, entry.label

    return sorted(entries, key=place)
