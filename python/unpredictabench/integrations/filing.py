"""Answers from elsewhere into ordinary runs: one run a model, temperature and way of sampling."""

from __future__ import annotations

import contextlib
import re
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self, TypeAlias

from unpredictabench.errors import InputError
from unpredictabench.integrations.tally import Tally
from unpredictabench.records import Completion, Message, Settings
from unpredictabench.store import Planned, open_run, open_writer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from unpredictabench.store import Writer
    from unpredictabench.tasks import Suite

MOST_RUNS = 500
MOST_SLOTS = 1_000_000
"""Largest number of a slot; a larger one is damage, not a sample."""
NAME_LENGTH = 120
IN_THE_WAY = "another answer than an earlier import put in the slot: import all into a new folder"


@dataclass(frozen=True, slots=True)
class RunKey:
    """What makes answers belong to one run.

    Parameters
    ----------
    label : str
        The model as the source names it, with whatever else sets the run apart.
    temperature : float or None
        Sampling temperature.
    n_asked : int
        Answers asked for in one reply.
    """

    label: str
    temperature: float | None
    n_asked: int = 1

    @property
    def folder(self) -> str:
        """Name of the run folder: safe characters only."""
        parts = [self.label]
        parts += [] if self.temperature is None else [f"temperature-{self.temperature:g}"]
        parts += [] if self.n_asked == 1 else [f"batch-{self.n_asked}"]
        safe = re.sub(r"[^A-Za-z0-9._-]+", "_", "-".join(parts)).strip("._-")
        return safe[:NAME_LENGTH] or "run"


@dataclass(frozen=True, slots=True)
class Given:
    """One answer, and the slot it fills.

    Parameters
    ----------
    key : RunKey
        The run.
    model : str
        Name of the model.
    completion : Completion
        The answer.
    where : str
        Where it stood, for messages.
    max_tokens : int or None
        Token limit that was sent.
    published : object
        What the source itself read in the answer; None where it read nothing or was not asked.
    """

    key: RunKey
    model: str
    completion: Completion
    where: str
    max_tokens: int | None = None
    published: object = None


@dataclass(frozen=True, slots=True)
class Filed:
    """A run as an import left it.

    Parameters
    ----------
    path : Path
        The run folder.
    model : str
        The model.
    temperature : float or None
        Sampling temperature.
    n_new : int
        Answers this import added.
    n_stored : int
        Answers the run holds.
    n_missing : int
        Slots without an answer.
    """

    path: Path
    model: str
    temperature: float | None
    n_new: int
    n_stored: int
    n_missing: int


Source: TypeAlias = "Callable[[Tally], Iterable[Given]]"
"""Gives the same answers each time it is called; counts what it leaves out."""


@dataclass(slots=True)
class _Sketch:
    """What a first reading tells about a run."""

    model: str
    slots: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    limits: set[int | None] = field(default_factory=set)

    def add(self, given: Given, suite: Suite) -> None:
        group = suite[given.completion.task].category
        self.slots[group] = max(self.slots[group], given.completion.index + 1)
        self.limits.add(given.max_tokens)


def file_answers(
    source: Source,
    suite: Suite,
    out: Path,
    *,
    tally: Tally,
    watch: Callable[[Given], None],
) -> tuple[Filed, ...]:
    """Write answers into run folders.

    Parameters
    ----------
    source : callable
        Gives the answers; it is called twice, first to learn what each run is.
    suite : Suite
        Holds the task of every answer.
    out : pathlib.Path
        Folder of the run folders.
    tally : Tally
        Where repetitions and conflicts are counted.
    watch : callable
        Called with every answer that is kept.

    Returns
    -------
    tuple of Filed
        The runs; a slot keeps its first answer, and doing it again changes nothing.
    """
    sketches: dict[RunKey, _Sketch] = {}
    asked: dict[RunKey, set[str]] = defaultdict(set)
    for given in source(Tally()):
        sketches.setdefault(given.key, _Sketch(given.model)).add(given, suite)
        asked[given.key].add(given.completion.task)
    if len(sketches) > MOST_RUNS:
        raise InputError("path", f"hold at most {MOST_RUNS} runs", len(sketches))
    with contextlib.ExitStack() as stack:
        runs = {}
        for (key, sketch), folder in zip(sketches.items(), _folders(sketches, out), strict=True):
            chosen = suite.select(ids=sorted(asked[key]))
            filing = _Filing(folder, _settings(key, sketch, chosen), _plan(sketch, chosen))
            runs[key] = stack.enter_context(filing)
        for given in source(tally):
            if runs[given.key].add(given.completion, given.where, tally):
                watch(given)
        for run in runs.values():
            run.end()
    return tuple(run.result() for run in runs.values())


def file_run(
    path: Path,
    settings: Settings,
    plan: Mapping[str, Planned],
    answers: Iterable[tuple[Completion, str]],
    *,
    failures: Mapping[str, int],
    tally: Tally,
) -> Filed:
    """Write the answers of one run of which everything else is known.

    Parameters
    ----------
    path : pathlib.Path
        The run folder.
    settings : Settings
        How the model was asked.
    plan : mapping
        What it was asked.
    answers : iterable of (Completion, str)
        The answers, and where each stood.
    failures : mapping
        Number of slots that failed, by kind.
    tally : Tally
        Where repetitions and conflicts are counted.

    Returns
    -------
    Filed
        The run; a slot keeps its first answer, and doing it again changes nothing.
    """
    with _Filing(path, settings, plan) as run:
        for completion, where in answers:
            if run.add(completion, where, tally):
                tally.take("answers")
        run.end(failures)
    return run.result()


def _folders(keys: Iterable[RunKey], out: Path) -> list[Path]:
    """Name the run folders; two names that become one are told apart by a number."""
    taken: set[str] = set()
    folders = []
    for key in keys:
        name, number = key.folder, 1
        while name.lower() in taken:
            number += 1
            name = f"{key.folder}-{number}"
        taken.add(name.lower())
        folders.append(out / name)
    return folders


class _Filing:
    """A run that is being filled; a context manager."""

    def __init__(self, path: Path, settings: Settings, plan: Mapping[str, Planned]) -> None:
        self.path, self._settings, self._plan = path, settings, plan
        self._filled: dict[tuple[str, int], int] = {}
        self._earlier: frozenset[tuple[str, int]] = frozenset()
        self._is_ended = False
        self.n_new = 0

    def __enter__(self) -> Self:
        self._writer: Writer = open_writer(self.path, self._settings, self._plan)
        if self._writer.is_resumed:
            run = open_run(self.path)
            self._filled = {(c.task, c.index): hash(c.text) for c in run.completions()}
            self._earlier = frozenset(self._filled)
            self._is_ended = run.stop_reason is not None
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        with contextlib.suppress(Exception) if kind else contextlib.nullcontext():
            self._writer.close()

    def add(self, completion: Completion, where: str, tally: Tally) -> bool:
        """Store an answer; tell whether its slot was free."""
        slot, text = (completion.task, completion.index), hash(completion.text)
        if slot in self._filled:
            if self._filled[slot] == text:
                tally.skip("the same answer again", where)
            elif slot in self._earlier:
                tally.refuse(IN_THE_WAY, where)
            else:
                tally.refuse("another answer to a slot that has one", where)
            return False
        self._filled[slot] = text
        self._writer.append(completion)
        self.n_new += 1
        return True

    def end(self, failures: Mapping[str, int] | None = None) -> None:
        """Write down that everything came, and what failed where it was asked."""
        if self.n_new or not self._is_ended:
            n_slots = sum(planned.n_slots for planned in self._plan.values())
            is_whole = n_slots == len(self._filled)
            reason = "complete" if is_whole else "incomplete"
            more = {"failures": dict(failures)} if failures else {}
            self._writer.log("imported", {"n_new": self.n_new})
            self._writer.log("stopped", {"reason": reason, "n_new": self.n_new, **more})

    def result(self) -> Filed:
        """Return what the run holds, once it is closed."""
        run = open_run(self.path)
        temperature = self._settings.parameters.get("temperature")
        return Filed(
            path=self.path,
            model=self._settings.model,
            temperature=temperature if isinstance(temperature, int | float) else None,
            n_new=self.n_new,
            n_stored=run.n_stored,
            n_missing=run.n_missing,
        )


def _settings(key: RunKey, sketch: _Sketch, suite: Suite) -> Settings:
    parameters: dict[str, object] = {}
    if key.temperature is not None:
        parameters["temperature"] = key.temperature
    if len(sketch.limits) == 1 and None not in sketch.limits:
        parameters["max_tokens"] = next(iter(sketch.limits))
    return Settings(
        model=sketch.model,
        suite=suite.name,
        suite_hash=suite.hash,
        sampling="independent" if key.n_asked == 1 else "batch",
        n_asked=key.n_asked,
        parameters=parameters,
    )


def _plan(sketch: _Sketch, suite: Suite) -> Mapping[str, Planned]:
    """Plan as many slots for each task as its category has anywhere in the run."""
    return {
        task.id: Planned(sketch.slots[task.category], (Message("user", task.prompt),))
        for task in suite
    }
