"""Where the answer begins in a text that thinks aloud between tags before it answers."""

from __future__ import annotations

import re

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
