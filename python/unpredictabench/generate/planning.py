"""Which tasks and slots are asked, in which words and in which order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

from unpredictabench.errors import InputError
from unpredictabench.records import CATEGORIES, Request, Settings
from unpredictabench.store import Planned
from unpredictabench.tasks.styles import STYLES, messages

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from unpredictabench.clients import Client
    from unpredictabench.generate.stopping import StopRule
    from unpredictabench.records import Completion, Task
    from unpredictabench.tasks import Suite

Sampling: TypeAlias = Literal["independent", "batch"]
_GOLDEN: Final = (5**0.5 - 1) / 2
"""Steps of the golden section fall evenly however many they are (Weyl's sequence)."""


@dataclass(frozen=True, slots=True)
class Design:
    """What is asked of a model: which tasks, in which words, for how many answers.

    Parameters
    ----------
    n_samples : int
        Answers for each task, at least 1.
    sampling : {"independent", "batch"}
        One answer a request, or `batch_size` answers in one reply, as many replies as hold
        `n_samples`.
    batch_size : int
        Answers asked for in one reply under "batch", at least 2.
    prompt_style : str
        "direct", "few-shot", "cot" or another style of `unpredictabench.tasks.styles`.
    limit_tasks : int, optional
        Most tasks of every category, at least 1; they are spread evenly over the category, so
        that few tasks still mean many families.
    categories : collection of str
        Categories to ask; empty means all.
    force : bool
        Ask for several answers at temperature 0 all the same.
    """

    n_samples: int = 100
    sampling: Sampling = "independent"
    batch_size: int = 20
    prompt_style: str = "direct"
    limit_tasks: int | None = None
    categories: Collection[str] = ()
    force: bool = False

    def __post_init__(self) -> None:
        lowest = {"n_samples": 1, "limit_tasks": 1, "batch_size": 2}
        for name, least in lowest.items():
            value = getattr(self, name)
            if value is not None and value < least:
                raise InputError(name, f"be at least {least}", value)
        if self.sampling not in get_args(Sampling):
            raise InputError("sampling", f"be one of {get_args(Sampling)}", self.sampling)
        if self.prompt_style not in STYLES:
            raise InputError("prompt_style", f"be one of {', '.join(STYLES)}", self.prompt_style)
        for category in self.categories:
            if category not in CATEGORIES:
                raise InputError("categories", f"be among {', '.join(CATEGORIES)}", category)

    @property
    def n_asked(self) -> int:
        """Answers asked for in one reply."""
        return self.batch_size if self.sampling == "batch" else 1

    @property
    def n_slots(self) -> int:
        """Replies for each task."""
        return -(-self.n_samples // self.n_asked)


@dataclass(frozen=True, slots=True)
class Work:
    """A design applied to a suite and a client.

    Parameters
    ----------
    tasks : tuple of Task
        The chosen tasks, in the order of the suite.
    plan : mapping
        Number of slots and conversation of each.
    settings : Settings
        How the model is asked.
    """

    tasks: tuple[Task, ...]
    plan: Mapping[str, Planned]
    settings: Settings

    @property
    def n_slots(self) -> int:
        """Slots of all tasks together."""
        return sum(planned.n_slots for planned in self.plan.values())

    def holds(self, completion: Completion) -> bool:
        """Tell whether a completion fills one of the slots."""
        planned = self.plan.get(completion.task)
        return planned is not None and completion.index < planned.n_slots

    def open_requests(self, earlier: Sequence[Completion] = ()) -> Iterator[Request]:
        """Yield the requests still to be made: one slot of every task, then the next slot.

        Parameters
        ----------
        earlier : sequence of Completion
            Answers there are already.

        Yields
        ------
        Request
            A slot without an answer.

        Notes
        -----
        Going round the tasks spreads whatever drifts with time evenly over all of them. A
        client that asks for n choices in one request gets n slots of a task in a row.
        """
        filled = {(completion.task, completion.index) for completion in earlier}
        n_together = _choices(self.settings)
        n_slots = max((planned.n_slots for planned in self.plan.values()), default=0)
        for first in range(0, n_slots, n_together):
            for task in self.tasks:
                planned = self.plan[task.id]
                for index in range(first, min(first + n_together, planned.n_slots)):
                    if (task.id, index) not in filled:
                        yield Request(task, index, planned.messages, self.settings.n_asked)


def work(suite: Suite, client: Client, design: Design, *, stop: StopRule) -> Work:
    """Apply a design to a suite and a client.

    Parameters
    ----------
    suite : Suite
        The questions.
    client : Client
        Who is asked.
    design : Design
        How often and in which style each task is asked.
    stop : StopRule
        When no more is asked of a task.

    Returns
    -------
    Work
        What is to be asked, and the settings that are stored with the answers.

    Raises
    ------
    InputError
        No task is left, or a client at temperature 0 is to give several answers.
    """
    if not hasattr(stop, "done"):
        raise InputError("stop", "be a rule, such as stop_rule('curtail', tasks)", stop)
    if client.parameters.get("temperature") == 0 and design.n_slots > 1 and not design.force:
        rule = "be above 0 to ask for more than one answer (force asks all the same)"
        raise InputError("temperature", rule, client.parameters["temperature"])
    tasks = selected(suite, limit_tasks=design.limit_tasks, categories=design.categories)
    plan = {
        task.id: Planned(
            design.n_slots, messages(task, design.prompt_style, n_asked=design.n_asked)
        )
        for task in tasks
    }
    settings = Settings(
        model=client.model,
        suite=suite.name,
        suite_hash=suite.hash,
        prompt_style=design.prompt_style,
        sampling=design.sampling,
        n_asked=design.n_asked,
        base_url=client.base_url,
        parameters=dict(client.parameters),
        stop=stop.name,
    )
    return Work(tasks, plan, settings)


def selected(
    suite: Suite, *, limit_tasks: int | None = None, categories: Collection[str] = ()
) -> tuple[Task, ...]:
    """Choose tasks of a suite, as `Design` says, in the order of the suite."""
    groups: dict[str, list[Task]] = {}
    for task in suite:
        if not categories or task.category in categories:
            groups.setdefault(task.category, []).append(task)
    chosen = {task.id for group in groups.values() for task in _spread(group, limit_tasks)}
    if not chosen:
        raise InputError("categories", f"name a category of suite {suite.name}", tuple(categories))
    return tuple(task for task in suite if task.id in chosen)


def _spread(group: Sequence[Task], limit: int | None) -> Sequence[Task]:
    """Take `limit` tasks spread evenly, those of a smaller limit among them."""
    n = len(group) if limit is None else min(limit, len(group))
    chosen: set[int] = set()
    place = 0.5
    while len(chosen) < n:
        chosen.add(int(place * _GOLDEN % 1.0 * len(group)))
        place += 1.0
    return [group[i] for i in sorted(chosen)]


def _choices(settings: Settings) -> int:
    n = settings.parameters.get("n", 1)
    return n if isinstance(n, int) and n > 1 else 1
