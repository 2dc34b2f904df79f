"""The Inspect task: ``inspect eval unpredictabench/ks_at_n --model MODEL``."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING

from unpredictabench.errors import MissingExtraError

try:
    from inspect_ai import Task, task
except ImportError:
    raise MissingExtraError("the Inspect task", "inspect") from None
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser

from unpredictabench.generate import Design
from unpredictabench.generate.planning import selected
from unpredictabench.integrations.inspect.asking import draws
from unpredictabench.integrations.inspect.figures import figures, ks, suite_of
from unpredictabench.integrations.inspect.slots import FORMAT, METADATA
from unpredictabench.score import Rules
from unpredictabench.tasks.styles import messages

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage

    from unpredictabench.records import Message
    from unpredictabench.records import Task as Question


@task
def ks_at_n(  # noqa: PLR0917 - Inspect calls by name
    suite: str = "v1",
    variant: int | None = None,
    samples: int = 100,
    alpha: float = 1e-4,
    prompt_style: str = "direct",
    limit_tasks: int | None = None,
    categories: str | list[str] | None = None,
    force: bool = False,  # noqa: FBT001, FBT002 - as above
    events: bool = False,  # noqa: FBT001, FBT002 - as above
) -> Task:
    """Ask a model every question of a suite `samples` times; one Inspect sample a question.

    Parameters
    ----------
    suite : str, default "v1"
        The suite, or the path of one.
    variant : int, optional
        Seed of fresh parameters.
    samples : int, default 100
        Draws a question, at least 1.
    alpha : float, default 1e-4
        Level of the tests.
    prompt_style : {"direct", "few-shot", "cot"}
        How the questions are put.
    limit_tasks : int, optional
        Most questions of every category, spread evenly.
    categories : str or list of str, optional
        Categories to ask, as a list or separated by commas; the default is all.
    force : bool
        Ask for several draws at temperature 0 all the same.
    events : bool
        Keep one event a draw in the transcript; the draws are in the store anyhow.

    Returns
    -------
    inspect_ai.Task
        The task. Temperature, token limits, connections and the like are Inspect's own options.

    Raises
    ------
    InputError
        If a value breaks its rule.
    """
    wanted = categories.split(",") if isinstance(categories, str) else categories or []
    design = Design(
        n_samples=samples,
        prompt_style=prompt_style,
        limit_tasks=limit_tasks,
        categories=tuple(wanted),
    )
    Rules(alpha=alpha)
    asked = suite_of(suite, variant)
    chosen = selected(asked, limit_tasks=design.limit_tasks, categories=design.categories)
    return Task(
        dataset=MemoryDataset([_sample(one, prompt_style) for one in chosen], name=asked.name),
        solver=draws(samples, force=force, events=events),
        scorer=ks(suite, variant, alpha),
        metrics=[figures(suite, variant, alpha)],
        version=FORMAT,
        metadata={
            METADATA: {
                "format": FORMAT,
                "version": version("unpredictabench"),
                "suite": suite,
                "variant": variant,
                "suite_hash": asked.hash,
                "samples": samples,
                "prompt_style": prompt_style,
            }
        },
    )


def _sample(question: Question, style: str) -> Sample:
    return Sample(
        id=question.id,
        input=[_message(message) for message in messages(question, style)],
        metadata={
            "category": question.category,
            "family": question.family,
            "spread": question.spread,
        },
    )


def _message(message: Message) -> ChatMessage:
    match message.role:
        case "system":
            return ChatMessageSystem(content=message.content)
        case "user":
            return ChatMessageUser(content=message.content)
        case "assistant":
            return ChatMessageAssistant(content=message.content)
