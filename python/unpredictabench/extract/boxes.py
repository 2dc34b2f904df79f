"""Find LaTeX boxes, whose content an answer marks as final."""

from __future__ import annotations

import re

_BOX = re.compile(r"\\f?boxed\s?\{")
_BRACE = re.compile(r"\\?[{}]")


def boxes(text: str) -> list[tuple[int, int]]:
    r"""Return the spans of the contents of the closed ``\boxed{...}`` of a text, outermost only.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    list of (int, int)
        Start and end of each content, in order.

    Examples
    --------
    >>> boxes(r"so \boxed{9{,}500}.")
    [(10, 17)]
    """
    found: list[tuple[int, int]] = []
    box = _BOX.search(text) if "boxed" in text else None
    while box is not None:
        end = _closing(text, box.end())
        if end is None:
            break
        found.append((box.end(), end))
        box = _BOX.search(text, end)
    return found


def _closing(text: str, start: int) -> int | None:
    depth = 1
    for brace in _BRACE.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(brace[0], 0)
        if depth == 0:
            return brace.start()
    return None
