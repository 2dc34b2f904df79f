"""Prompt styles: how a task is put to a model, and how a base model gets a conversation."""

from __future__ import annotations

import difflib
import json
from typing import TYPE_CHECKING, TypeAlias

from unpredictabench.errors import InputError
from unpredictabench.records import Message
from unpredictabench.tasks.examples import asked, examples_for, wants_json, written

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from unpredictabench.records import Answer, Task

Style: TypeAlias = "Callable[[Task, int], tuple[Message, ...]]"

FRAME_STOP = "\nQuestion:"
"""What a base model writes when it goes on to invent the next question."""

# An instruction that speaks of the task's own labels or names does not fit an example.
_EXAMPLE_FORM = {
    "permutation": "Answer with all names in that order, separated by commas, and nothing else.",
    "choice": "Answer with the one word and nothing else.",
}


def messages(task: Task, style: str = "direct", *, n_asked: int = 1) -> tuple[Message, ...]:
    """Return the conversation that asks a task in a style.

    Parameters
    ----------
    task : Task
        What is asked.
    style : str, default "direct"
        A key of `STYLES`: "direct" (the prompt alone), "few-shot" (three solved questions
        before it) or "cot" (reasoning, then a last line ``Answer: ...``).
    n_asked : int, default 1
        Answers asked for in one reply, at least 1; more are asked for as one JSON array.

    Returns
    -------
    tuple of Message
        Ends with a message of the user.

    Raises
    ------
    InputError
        If the style is unknown or `n_asked` below 1.

    Notes
    -----
    The words do not depend on the slot: every answer to a task is drawn under the same
    conversation. The solved questions use laws that no task of the suite has, and their answers
    are draws from those laws, made once from a named stream.
    """
    if n_asked < 1:
        raise InputError("n_asked", "be at least 1", n_asked)
    try:
        build = STYLES[style]
    except KeyError:
        near = difflib.get_close_matches(style, STYLES, n=1, cutoff=0.0)[0]
        names = ", ".join(STYLES)
        raise InputError("style", f"be one of {names} (nearest: {near})", style) from None
    return build(task, n_asked)


def framed(conversation: Sequence[Message]) -> str:
    r"""Return a conversation as the text that a base model continues.

    Parameters
    ----------
    conversation : sequence of Message
        Ends with a message of the user.

    Returns
    -------
    str
        Blocks ``Question: ...`` and ``Answer: ...``, with an empty line after each answer;
        ends with ``Answer:`` and no blank after it, which tokenizers put before a word.

    Examples
    --------
    >>> framed([Message("user", "1 + 1?"), Message("assistant", "2"), Message("user", "2 + 2?")])
    'Question: 1 + 1?\nAnswer: 2\n\nQuestion: 2 + 2?\nAnswer:'
    """
    shape = {"system": "{}\n\n", "user": "Question: {}\n", "assistant": "Answer: {}\n\n"}
    return "".join(shape[m.role].format(m.content) for m in conversation) + "Answer:"


def _direct(task: Task, n_asked: int) -> tuple[Message, ...]:
    if n_asked == 1:
        return (Message("user", task.prompt),)
    return (Message("user", f"{task.question}\n\n{_form(task.answer, n_asked)}"),)


def _few_shot(task: Task, n_asked: int) -> tuple[Message, ...]:
    solved: list[Message] = []
    for example in examples_for(task.answer):
        if n_asked == 1:
            form = _example_form(task.answer)
            reply = written(example.answers[0], task.answer)
        else:
            form = _batch_form(task.answer.kind, len(example.answers))
            reply = json.dumps(example.answers)
        question = asked(example, with_program=task.program is not None)
        solved.append(Message("user", f"{question}\n\n{form}"))
        solved.append(Message("assistant", reply))
    return (*solved, *_direct(task, n_asked))


def _example_form(answer: Answer) -> str:
    return (
        answer.instruction
        if wants_json(answer)
        else _EXAMPLE_FORM.get(answer.kind, answer.instruction)
    )


def _cot(task: Task, n_asked: int) -> tuple[Message, ...]:
    ending = (
        "First reason step by step. Then end with the answer alone, after the word Answer and a "
        "colon on a new line, like this:\nAnswer: ...\nThis is the form of the answer itself: "
    )
    return (Message("user", f"{task.question}\n\n{ending}{_form(task.answer, n_asked)}"),)


def _form(answer: Answer, n_asked: int) -> str:
    if n_asked == 1:
        return answer.instruction or _EXAMPLE_FORM[answer.kind]
    form = _batch_form(answer.kind, n_asked)
    if answer.kind == "choice":
        labels = ", ".join(json.dumps(label, ensure_ascii=False) for label in answer.items)
        form += f" Each string is one of {labels}."
    return form


def _batch_form(kind: str, n_asked: int) -> str:
    entry = {
        "number": "numbers",
        "permutation": "arrays, each of which holds all the items in one order",
        "choice": "strings",
        "lines": "strings, each of which holds the lines of one run, joined by newlines",
    }[kind]
    return (
        f"Do this {n_asked} times, independently of each other. "
        f"Answer with one JSON array of {n_asked} {entry}, and nothing else."
    )


STYLES: dict[str, Style] = {"direct": _direct, "few-shot": _few_shot, "cot": _cot}
"""All styles by name; a further one is an entry that builds a conversation from task and count."""
