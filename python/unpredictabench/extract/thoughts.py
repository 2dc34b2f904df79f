"""Thoughts before or beside an answer: where they end, and how to read them all the same."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from unpredictabench.records import Completion

_OPENING = re.compile(r"\s*+<(think|thinking|thought|reasoning)>", re.IGNORECASE)
_CLOSING = re.compile(r"</(?:think|thinking|thought|reasoning)>", re.IGNORECASE)


def answer_start(text: str) -> int | None:
    """Return where the answer begins: after the last closed thought.

    Parameters
    ----------
    text : str
        The reply.

    Returns
    -------
    int or None
        The position, 0 for a text without thoughts; None when a thought is not closed, so that
        there is no answer. A closing tag alone ends a thought that the prompt had opened.

    Examples
    --------
    >>> answer_start("<think>5? No.</think>7"), answer_start("<think>5? No."), answer_start("7")
    (21, None, 0)
    """
    if "<" not in text:
        return 0
    end = 0
    for closing in _CLOSING.finditer(text):
        end = closing.end()
    return None if _OPENING.match(text, end) else end


def reasoning_as_text(completions: Iterable[Completion]) -> Iterator[Completion]:
    """Put reasoning in the place of answers that came empty, for whoever wants it read.

    Parameters
    ----------
    completions : iterable of Completion
        Answers, as ``run.completions()`` yields them; they stay as stored.

    Yields
    ------
    Completion
        Those of status "empty_content" that hold reasoning have it as their text; the others are
        as they were.

    Notes
    -----
    Nothing in the package calls this. What a model weighs is not what it answers: a score made so
    is one of another question, and does not belong in one table with others.

    Examples
    --------
    >>> from unpredictabench.records import Completion
    >>> empty = Completion("t", 0, None, "empty_content", reasoning="so I pick 7")
    >>> [one.text for one in reasoning_as_text([empty])]
    ['so I pick 7']
    """
    for completion in completions:
        if completion.status == "empty_content" and completion.reasoning:
            yield dataclasses.replace(completion, text=completion.reasoning, status="ok")
        else:
            yield completion
