"""Read an answer that is one or more lines, each of them one of the legal lines."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from unpredictabench.extract.classes import LENGTH, without_value
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
        The lines as given in `legal`, joined by newlines, or the class and the reason.

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
    text = plain(text or "")
    start = len(text) - len(text.lstrip())
    end = len(text.rstrip())
    if text[end:].count("\n") == 0 and finish_reason == LENGTH:
        return _none(text, finish_reason, mode, "the last line may be cut")
    rows = text[start:end].split("\n") if start < end else []
    if rows and all((row.rstrip("\r") in legal) if legal else row.strip() for row in rows):
        value = "\n".join(row.rstrip("\r") for row in rows)
        return Extraction(value, "valid", "legal lines", (start, end), mode)
    if mode == "strict":
        is_valid = _lenient(text, legal, finish_reason).is_valid
        return _none(text, finish_reason, mode, "more than legal lines" if is_valid else "no lines")
    return _lenient(text, legal, finish_reason)


def _lenient(text: str, legal: Sequence[str], finish_reason: str | None) -> Extraction:
    items = Items.of(tuple(legal))
    found = [(read, span) for span in _bodies(text) if (read := _read(text, span, items))]
    values = {read for read, _ in found}
    if len(values) == 1:
        return Extraction(found[0][0], "valid", "legal lines in a wrapping", found[0][1])
    why = "several blocks of legal lines" if values else "not all lines are legal"
    return _none(text, finish_reason, "lenient", why, is_several=bool(values))


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
    rows = [row.strip(_WRAPPING) for row in text[slice(*span)].split("\n")]
    rows = [row for row in rows if row]
    if not items.names:
        return "\n".join(rows) or None
    known = [items.indices(row) for row in rows]
    if not known or not all(known):
        return None
    return "\n".join(items.names[indices[0]] for indices in known)


def _none(
    text: str,
    finish_reason: str | None,
    reading: Reading,
    reason: str,
    *,
    is_several: bool = False,
) -> Extraction:
    return without_value(
        text, finish_reason=finish_reason, reading=reading, reason=reason, is_several=is_several
    )
