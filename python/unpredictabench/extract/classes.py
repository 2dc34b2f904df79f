"""The class of an answer without a value: empty, code, refusal, several, truncated, off-form."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING

from unpredictabench.records import Extraction

if TYPE_CHECKING:
    from unpredictabench.records import ExtractionStatus

LENGTH = "length"
"""The finish reason of an answer that was cut by the limit on its length."""

_LANGUAGES = (
    r"(?:python3?|py|javascript|js|typescript|ts|java|c|cpp|c\+\+|csharp|cs|go|rust|r|ruby|php|bash"
    r"|sh|shell|julia|matlab|sql|perl|scala|kotlin|swift|haskell|lua|html)"
)
_FENCE = re.compile(r"^[ \t]*```[ \t]*([\w+#-]*)", re.MULTILINE)
_PROGRAM = re.compile(rf"{_LANGUAGES}\Z", re.IGNORECASE)
_STATEMENT = re.compile(
    r"^[ \t]*(?:import[ \t]+\w|from[ \t]+[\w.]+[ \t]+import\b|(?:async[ \t]+)?def[ \t]+\w+[ \t]*\("
    r"|class[ \t]+\w+[ \t]*[(:{]|(?:print|println|printf)[ \t]*\(|(?:let|const|var)[ \t]+\w+[ \t]*="
    r"|function[ \t]*\w*[ \t]*\(|#include\b|#!/|public[ \t]+(?:static|class)\b"
    r"|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+\("
    r"|return[ \t]+[\w.]+[(\[]|(?:for|while)[ \t]*\(|for[ \t]+\w+[ \t]+in[ \t].{1,80}:[ \t]*$"
    r"|\w+[ \t]*=[ \t]*\w+(?:\.\w+)*\()[^\n]*",
    re.MULTILINE,
)
_REFUSAL = re.compile(
    r"\bI(?:'m| am)? (?:(?:very |so |really )?sorry|unable|not able|not allowed|not designed|afraid"
    r"|can(?:'t|not| not)|could(?:n't| not)|won't|will not|refuse|must decline|decline"
    r"|(?:do|did)(?:n't| not) (?:know|see how|understand))\b"
    r"|\bsorry, (?:but )?I\b|\bas an AI\b[^.\n]{0,60}\b(?:not|n't|unable)\b"
    r"|\byou are not allowed\b|\A\W*no\b(?:\W*\Z|, please\b|, you\b)",
    re.IGNORECASE,
)
_REFUSAL_PIECES = ("no", "n't", "sorry", "afraid", "unable", "refuse", "decline", "an ai")


def without_value(
    text: str,
    reason: str,
    *,
    finish_reason: str | None,
    is_several: bool = False,
    code: CodeSpans | None = None,
) -> Extraction:
    """Return the lenient reading of an answer in which no value was found.

    Parameters
    ----------
    text : str
        The answer with plain characters.
    reason : str
        What stood in the way of a value.
    finish_reason : str or None
        Why the model stopped.
    is_several : bool
        Whether two or more values are offered.
    code : CodeSpans, optional
        Where there is code, if that is known already.

    Returns
    -------
    Extraction
        Of the first class that applies: empty, code, refusal, several, truncated, off-form.
    """
    status: ExtractionStatus
    if not text or text.isspace():
        is_cut = not text and finish_reason == LENGTH  # the tokens went into thoughts
        status, reason = "truncated" if is_cut else "empty", "no text"
    elif (CodeSpans(text) if code is None else code).has_code:
        status, reason = "code", "program text and no value"
    elif _may_refuse(text) and _REFUSAL.search(text):
        status, reason = "refusal", "declines to answer"
    elif is_several:
        status = "several"
    elif finish_reason == LENGTH:
        status, reason = "truncated", f"cut by the length limit; {reason}"
    else:
        status = "off-form"
    return Extraction(None, status, reason)


def not_strict(found: Extraction, reason: str) -> Extraction:
    """Return the strict reading of an answer that is not the plain form, from the lenient one.

    Parameters
    ----------
    found : Extraction
        The lenient reading.
    reason : str
        Why an answer with a value is not strictly valid.

    Returns
    -------
    Extraction
        "off-form" where the lenient reading has a value, its class otherwise.
    """
    if found.is_valid:
        return Extraction(None, "off-form", reason, reading="strict")
    return Extraction(None, found.status, found.reason, reading="strict")


def _may_refuse(text: str) -> bool:
    """Spare most answers the search for a refusal: every refusal holds one of these pieces."""
    text = text.lower()
    return any(piece in text for piece in _REFUSAL_PIECES)


class CodeSpans:
    """Where a text holds program code: fenced blocks in a programming language and statements.

    Parameters
    ----------
    text : str
        The answer with plain characters.
    """

    __slots__ = ("_ends", "_starts", "has_code")

    def __init__(self, text: str) -> None:
        spans = [match.span() for match in _STATEMENT.finditer(text)] if _may_be_code(text) else []
        if "```" in text:
            spans = sorted(spans + _fenced_programs(text))
        self._starts = [start for start, _ in spans]
        self._ends = [end for _, end in spans]
        for at in range(1, len(spans)):
            self._ends[at] = max(self._ends[at], self._ends[at - 1])
        self.has_code = bool(spans)

    def __contains__(self, position: object) -> bool:
        if not self.has_code or not isinstance(position, int):
            return False
        at = bisect_right(self._starts, position) - 1
        return at >= 0 and position < self._ends[at]


def _may_be_code(text: str) -> bool:
    return "(" in text or "import" in text or "=" in text or "#" in text or "class" in text


def _fenced_programs(text: str) -> list[tuple[int, int]]:
    fences = list(_FENCE.finditer(text))
    blocks = zip(fences[::2], [*(fence.start() for fence in fences[1::2]), len(text)], strict=False)
    return [(fence.start(), end) for fence, end in blocks if _PROGRAM.match(fence[1])]
