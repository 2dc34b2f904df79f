"""Read an answer that is one or more lines, each of them one of the legal lines."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from unpredictabench.extract.classes import LENGTH, not_strict, without_value
from unpredictabench.extract.identity import Items
from unpredictabench.extract.number import check_mode
from unpredictabench.extract.plaintext import plain
from unpredictabench.records import Extraction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unpredictabench.records import Reading

_FENCED = re.compile(r"```[\w+#-]*[ \t]*\n(.*?)(?:\n[ \t]*```|\Z)", re.DOTALL)
_MARKED = re.compile(
    r"(?:\A|\n)[^\w\n]{0,20}(?:final )?(?:answer|output)\b[^\w\n]{0,9}(?:\n|:)", re.IGNORECASE
)
NO_OUTPUT = "(no output)"
"""What tasks ask for when nothing is printed, since a reply without text is no answer."""
_NOTHING = re.compile(r"[\s\"'`*(\[<]*(?:no output|\(no output\))[\s\"'`*)\]>.]*", re.IGNORECASE)
_WRAPPING = " \t\r\"'`*"


def extract_lines(
    text: str | None,
    legal: Sequence[str] = (),
    *,
    finish_reason: str | None = None,
    mode: Reading = "lenient",
) -> Extraction:
    r"""Read the lines of an answer.

    Parameters
    ----------
    text : str or None
        The answer as it came.
    legal : sequence of str
        The lines that may occur; without them any line may.
    finish_reason : str, optional
        Why the model stopped; after "length" the last line may be cut.
    mode : {"lenient", "strict"}
        Strict accepts a text that is legal lines and nothing else; lenient looks past case,
        fences, quotes, blank lines and a line of introduction.

    Returns
    -------
    Extraction
        The lines as given in `legal`, joined by newlines (nothing at all for "(no output)"), or
        the class and the reason.

    Raises
    ------
    InputError
        If `mode` is neither "lenient" nor "strict".

    Examples
    --------
    >>> extract_lines("```\nHeads\ntails\n```", ("heads", "tails")).value
    'heads\ntails'
    """
    check_mode(mode)
    written = text or ""
    text = plain(written)
    start = len(text) - len(text.lstrip())
    end = len(text.rstrip())
    if text[end:].count("\n") == 0 and finish_reason == LENGTH:
        found = without_value(text, "the last line may be cut", finish_reason=finish_reason)
        return found if mode == "lenient" else not_strict(found, "")
    if text[start:end] == NO_OUTPUT:
        return Extraction("", "valid", "no output, said so", (start, end), mode)
    rows = written[start:end].split("\n") if start < end else []
    if rows and all((row.rstrip("\r") in legal) if legal else row.strip() for row in rows):
        value = "\n".join(row.rstrip("\r") for row in rows)
        return Extraction(value, "valid", "legal lines", (start, end), mode)
    found = _lenient(text, legal, finish_reason)
    return found if mode == "lenient" else not_strict(found, "more than legal lines")


def _lenient(text: str, legal: Sequence[str], finish_reason: str | None) -> Extraction:
    items = Items.of(tuple(legal))
    found = [
        (read, span) for span in _bodies(text) if (read := _read(text, span, items)) is not None
    ]
    values = {read for read, _ in found}
    if len(values) == 1:
        return Extraction(found[0][0], "valid", "legal lines in a wrapping", found[0][1])
    why = "several blocks of legal lines" if values else "not all lines are legal"
    return without_value(text, why, is_several=bool(values), finish_reason=finish_reason)


def _bodies(text: str) -> list[tuple[int, int]]:
    """Return where the lines may stand, by how sure it is: in fences, after a mark, everywhere."""
    if "```" in text:
        return [match.span(1) for match in _FENCED.finditer(text)]
    marks = list(_MARKED.finditer(text))
    if marks:
        return [(marks[-1].end(), len(text))]
    first, _, rest = text.strip().partition("\n")
    if first.endswith(":") and rest:
        return [(text.find(first) + len(first), len(text))]
    return [(0, len(text))]


def _read(text: str, span: tuple[int, int], items: Items) -> str | None:
    if _NOTHING.fullmatch(text, *span):
        return ""
    rows = [row.strip(_WRAPPING) for row in text[slice(*span)].split("\n")]
    rows = [row for row in rows if row]
    if not items.names:
        return "\n".join(rows) or None
    known = [items.indices(row) for row in rows]
    if not known or not all(known):
        return None
    return "\n".join(items.names[indices[0]] for indices in known)
