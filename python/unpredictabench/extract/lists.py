"""Split lists into elements: JSON, Python, smart quotes, bare words, numbered lines."""

from __future__ import annotations

import re
from typing import NamedTuple

_LIST = re.compile(r"\[([^\[\]]*+)\]")
_ELEMENT = re.compile(
    r"\s*+(?:\"((?:[^\"\\]|\\.|\"(?!\s*+(?:[,;]|\Z)|[ \t]*+\n))*+)\""
    r"|'((?:[^'\\]|\\.|'(?!\s*+(?:[,;]|\Z)|[ \t]*+\n))*+)'|([^,;\n]*+))[ \t]*+(?:[,;\n]|\Z)"
)
_ESCAPE = re.compile(r"\\(.)")
_NUMBERED = re.compile(r"[ \t]*(?:\d{1,3}[.):]|[-*•])[ \t]+")


class Written(NamedTuple):
    """A list as it stands in a text."""

    start: int
    end: int
    elements: tuple[str, ...]


def bracketed(text: str) -> list[Written]:
    r"""Return the innermost lists in square brackets, in order.

    Parameters
    ----------
    text : str
        A text with plain characters.

    Returns
    -------
    list of Written
        Each with its span and its elements, quotes and escapes undone.

    Examples
    --------
    >>> [found.elements for found in bracketed('''["it's", 'it\\'s', b,]''')]
    [("it's", "it's", 'b')]
    """
    found = _LIST.finditer(text) if "[" in text else ()
    return [Written(*match.span(), elements(match[1])) for match in found]


def elements(inner: str) -> tuple[str, ...]:
    """Split what stands between the brackets; a trailing comma adds nothing.

    Parameters
    ----------
    inner : str
        Elements between commas or semicolons, each quoted or bare.

    Returns
    -------
    tuple of str
        The elements without quotes and escapes.
    """
    parts: list[str] = []
    at = 0
    while at < len(inner):
        match = _ELEMENT.match(inner, at)
        if match is None or match.end() == at:
            break
        quoted = match[1] if match[1] is not None else match[2]
        parts.append(match[3].strip() if quoted is None else _ESCAPE.sub(r"\1", quoted))
        at = match.end()
    if len(parts) > 1 and not parts[-1]:
        parts.pop()
    return tuple(parts)


def lines(text: str) -> tuple[str, ...]:
    """Return the lines of a text that are not blank, without counters and bullets.

    Parameters
    ----------
    text : str
        A text with plain characters.

    Returns
    -------
    tuple of str
        The lines, stripped.
    """
    return tuple(
        _NUMBERED.sub("", line, count=1).strip() for line in text.split("\n") if line.strip()
    )
