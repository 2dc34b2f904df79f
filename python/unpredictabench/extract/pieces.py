"""Split a reply that was asked for several answers into one piece for each."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from unpredictabench.extract.lines import NO_OUTPUT
from unpredictabench.extract.objects import Written

if TYPE_CHECKING:
    from unpredictabench.records import AnswerKind

_LINE = re.compile(r"[^\n]+")
_COUNTER = re.compile(r"[ \t>*_]*(\d{1,4})[.):][ \t]+")
_PART = re.compile(r"(?:\"(?:[^\"\\\n]|\\.)*+\"|[^,;\n\"]|\")++")
_INNER = re.compile(r"[\[(][^\[\]()]*+[\])]")
_BLANKS = re.compile(r"\S+")
_EDGES = " \t\r,;"
_FENCED = re.compile(r"\s*+```[\w+#-]*+\s*+(.*?)\s*```\s*\Z", re.DOTALL)
_MARKED = re.compile(
    r"(?:\A|\n)[^\w\n]{0,9}(?:final )?answers?\b[^\w\n\[\"'-]{0,9}:", re.IGNORECASE
)


def answer_part(text: str) -> tuple[int, int]:
    """Return the span after the last line that begins with "Answer:", or of the whole text.

    Parameters
    ----------
    text : str
        The reply.

    Returns
    -------
    (int, int)
        Where the answers stand.
    """
    end = 0
    for mark in _MARKED.finditer(text):
        end = mark.end()
    return end, len(text)


def array(text: str, kind: AnswerKind) -> list[str] | None:
    r"""Return the elements of a reply that is a JSON array, each as a text of its own.

    Parameters
    ----------
    text : str
        The reply, in a fence or not.
    kind : {"number", "permutation", "choice", "lines"}
        What each answer is; strings lose their quotes where text was asked for.

    Returns
    -------
    list of str, or None
        The elements; None when the text is no JSON array.

    Examples
    --------
    >>> array('[1.50, true, "2"]', "number")
    ['1.50', 'true', '"2"']
    """
    fenced = _FENCED.match(text) if "```" in text else None
    try:
        parsed = json.loads(fenced[1] if fenced else text, parse_int=Written, parse_float=Written)
    except (ValueError, RecursionError):
        return None
    if not isinstance(parsed, list):
        return None
    keeps_quotes = kind in {"number", "permutation"}
    elements = [
        str(element)
        if isinstance(element, Written) or (isinstance(element, str) and not keeps_quotes)
        else json.dumps(element, ensure_ascii=False)
        for element in parsed
    ]
    # An empty string in an array is said; as a reply of its own it would be silence.
    return [one or NO_OUTPUT for one in elements] if kind == "lines" else elements


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
    found: list[tuple[int, int]] = []
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
    found: list[tuple[int, int]] = []
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
