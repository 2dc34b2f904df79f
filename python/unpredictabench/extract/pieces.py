"""Split a reply that was asked for several answers into one piece for each."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unpredictabench.records import AnswerKind

_LINE = re.compile(r"[^\n]+")
_COUNTER = re.compile(r"[ \t>*_]*(\d{1,4})[.):][ \t]+")
_PART = re.compile(r"(?:\"(?:[^\"\\\n]|\\.)*+\"|[^,;\n\"]|\")++")
_INNER = re.compile(r"[\[(][^\[\]()]*+[\])]")
_BLANKS = re.compile(r"\S+")
_EDGES = " \t\r,;"


def pieces(text: str, kind: AnswerKind, n_asked: int) -> list[tuple[int, int]]:
    """Return the spans of the answers in a reply that should hold several.

    Parameters
    ----------
    text : str
        The reply.
    kind : {"number", "permutation", "choice", "lines"}
        What each answer is.
    n_asked : int
        How many were asked for.

    Returns
    -------
    list of (int, int)
        The spans in order; as many as the reply holds, which may differ from `n_asked`.

    Notes
    -----
    In this order: the inner lists of a list, for permutations; the elements of one bracketed
    list; counted lines; the lines; what stands between commas or blanks on the only line.
    """
    if kind == "permutation":
        inner = [match.span() for match in _INNER.finditer(text)]
        if inner:
            return inner
    body = _body(text)
    rows = [match.span() for match in _LINE.finditer(text, *body)]
    rows = [row for row in rows if _is_content(text[slice(*row)])]
    counted = _counted(text, rows)
    if counted:
        return counted
    if len(rows) > 1 and text[rows[0][0] : rows[0][1]].rstrip().endswith((":", "!")):
        rows = rows[1:]
    if kind == "lines" or (len(rows) > 1 and not _are_rows_of_parts(text, rows, n_asked)):
        return [_trimmed(text, row) for row in rows]
    return _parts(text, rows, kind)


def _body(text: str) -> tuple[int, int]:
    """Return the inside of the only bracketed list, or the whole."""
    start, end = text.find("["), text.rfind("]")
    if start < 0 or text.count("[") != 1:
        return 0, len(text)
    return start + 1, end if end > start else len(text)


def _is_content(row: str) -> bool:
    stripped = row.strip(_EDGES)
    return bool(stripped) and not stripped.startswith("```") and stripped not in {"[", "]"}


def _counted(text: str, rows: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the lines that count 1, 2, 3, ... without their counters, if they do."""
    found = []
    for start, end in rows:
        counter = _COUNTER.match(text, start, end)
        if counter is not None and int(counter[1]) == len(found) + 1:
            found.append(_trimmed(text, (counter.end(), end)))
    return found if len(found) > 1 else []


def _are_rows_of_parts(text: str, rows: list[tuple[int, int]], n_asked: int) -> bool:
    return len(rows) < n_asked and all(
        "," in text[start:end].rstrip(_EDGES) for start, end in rows[:-1]
    )


def _parts(text: str, rows: list[tuple[int, int]], kind: AnswerKind) -> list[tuple[int, int]]:
    found = []
    for start, end in rows:
        parts = [_trimmed(text, match.span()) for match in _PART.finditer(text, start, end)]
        parts = [(one, two) for one, two in parts if two > one]
        if len(parts) == 1 and kind == "number":
            parts = [match.span() for match in _BLANKS.finditer(text, *parts[0])]
        found += parts
    return found


def _trimmed(text: str, span: tuple[int, int]) -> tuple[int, int]:
    start, end = span
    while start < end and text[start] in _EDGES:
        start += 1
    while end > start and text[end - 1] in _EDGES:
        end -= 1
    return start, end
