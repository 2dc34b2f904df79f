"""Split lists into elements: JSON, Python, smart quotes, bare words, numbered lines."""

from __future__ import annotations

import re
from typing import NamedTuple

_LIST = re.compile(r"\[([^\[\]]*+)\]")
_OPENING = re.compile(r"\s*+([\"']?+)")
_CLOSED = r"(?!\s*+(?:[,;]|\Z)|[ \t]*+\n)"
_QUOTED = {quote: re.compile(rf"(?:[^{quote}\\]|\\.|{quote}{_CLOSED})*+") for quote in "\"'"}
_BARE = re.compile(r"[^,;\n]*+")
_SEPARATOR = re.compile(r"[ \t]*+(?:[,;\n]|\Z)")
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
    # Where the text of a quote that nothing closes ends: one that opens before ends there too, and
    # to read that text for each of them would take quadratic work.
    open_until = dict.fromkeys(_QUOTED, 0)
    while at < len(inner):
        part, at = _element(inner, at, open_until)
        parts.append(part)
    if len(parts) > 1 and not parts[-1]:
        parts.pop()
    return tuple(parts)


def _element(inner: str, at: int, open_until: dict[str, int]) -> tuple[str, int]:
    """Return the element that begins at a place and where the next one begins."""
    opening = _OPENING.match(inner, at)
    assert opening is not None
    quote, first = opening[1], opening.end()
    if quote and first > open_until[quote]:
        quoted = _QUOTED[quote].match(inner, first)
        assert quoted is not None
        end = quoted.end()
        separator = _SEPARATOR.match(inner, end + 1) if inner.startswith(quote, end) else None
        if separator is not None:
            return _ESCAPE.sub(r"\1", quoted[0]), separator.end()
        open_until[quote] = end
    bare = _BARE.match(inner, first - len(quote))
    assert bare is not None
    return bare[0].strip(), bare.end() + 1


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
