"""The numbers an answer offers: which stand for an answer, how strongly, and which are asides."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from unpredictabench.extract.classes import LENGTH
from unpredictabench.extract.context import CLOSERS, OPENERS, WINDOW, Mark, mark_before

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unpredictabench.extract.classes import CodeSpans
    from unpredictabench.extract.numerals import Numeral

_ASIDE_AFTER = re.compile(
    r"\s?\\?%|\s?per ?cent\b|\s+out\s+of\b"
    r"|(?: +[*/+×·÷^=>] +|(?:\*(?!\*)|[/+×·÷^=]))[\w(\\]| +- +[\d(]| *< *[\d(\\]"
)
_ASIDE_WORDS = frozenset(
    "line step case question example problem part figure table chapter section item test python "  # noqa: SIM905 - words read better in a row
    "version option day page exercise level no. nr.".split()
)
_ENUMERATOR = re.compile(r"\d{1,3}[.)][ \t]+[^\W\d]")
_GAP = re.compile(
    r"[\s,;.()\[\]{}|&`\"'*~≈]*(?:(?:and|or|[A-Ha-h][.)]|[-•])[\s,;.()\[\]{}|&`\"'*~≈]*)?"
)
_OPTION = re.compile(r"\A\W*[A-Ha-h][.)] ")
_RANGE = re.compile(r"\s*(?:to|through|and|-)\s*")
_TAGS = re.compile(r"</?[A-Za-z][^<>\n]{0,40}>|\\(?:text|math)(?:bf|it|rm|tt)?(?![a-z])")
_TOLERANCE = re.compile(r"\s*(?:±|\\pm|\+/-|\+-)\s*[\d.]++")
_GLOSS = re.compile(r"\s*\([^()\d\n]{1,80}\)")
_TAIL = re.compile(
    r"[ \t\"'`*_$)\\\]}>]*(?:\Z|[.,;:!?\n(±]|-|\\pm|\+/-|with\b|which\b|[a-z]{2,7}\b)"
)
_GO_ON = frozenset("because since which and so as but for with from in on".split())  # noqa: SIM905 - words read better in a row
_UNIT = re.compile(r"[ \t]*([A-Za-z°]+)(?!\w)")
_NOT_UNITS = frozenset(
    "is are was were of percent times more less out or to in at has have numbers number digits "  # noqa: SIM905 - words read better in a row
    "decimal random terms can will would th a an the lines line long values samples steps rows "
    "columns characters words items decimals integers".split()
)
_GAP_LENGTH = 24
_LIST_LENGTH = 3
_SHORT_REST = 40
_DATE_HYPHENS = 2


@dataclass(frozen=True, slots=True)
class Offers:
    """What the numbers of a text come to.

    Parameters
    ----------
    marked : tuple of (Numeral, Mark)
        The numbers that could be an answer, with how strongly they are marked.
    n_plain : int
        Numbers that are no asides, marked or not.
    is_list : bool
        Whether a list of numbers is offered where one was asked for.
    """

    marked: tuple[tuple[Numeral, Mark], ...]
    n_plain: int
    is_list: bool


def offers(
    text: str, tokens: Sequence[Numeral], *, finish_reason: str | None, code: CodeSpans
) -> Offers:
    """Weigh the numbers of a text.

    Parameters
    ----------
    text : str
        A text with plain characters.
    tokens : sequence of Numeral
        Its numbers, in order.
    finish_reason : str or None
        Why the model stopped.
    code : CodeSpans
        Where the text holds program code; numbers there are asides.

    Returns
    -------
    Offers
        The marked numbers; one that belongs to a list or may be cut is not among them.
    """
    stays = [token for at, token in enumerate(tokens) if not _is_aside(text, tokens, at, code)]
    links = [_is_linked(text, one, two) for one, two in pairwise(stays)]
    marked = []
    for at, token in enumerate(stays):
        if at > 0 and links[at - 1]:
            continue
        if at < len(links) and links[at]:
            if not _is_alone(text, token) and mark_before(text, token.start) >= Mark.SAID:
                return Offers((), len(stays), is_list=True)
            continue
        mark = _mark(text, token)
        if mark and not (finish_reason == LENGTH and _may_be_cut(text, token)):
            marked.append((token, mark))
    return Offers(tuple(marked), len(stays), is_list=_has_list(text, stays, links))


def is_whole(text: str, token: Numeral) -> bool:
    """Tell whether a number stands in a text with nothing but wrapping around it."""
    before, after = text[: token.start], text[token.end :]
    return len(before) + len(after) <= 2 * WINDOW and _is_wrapping(before, after)


def _is_wrapping(before: str, after: str) -> bool:
    if "<" in before or "\\" in before:
        before = _TAGS.sub("", before)
    if before.strip(OPENERS):
        return False
    if after and after not in {".", "\n"}:
        tolerance = _TOLERANCE.match(after) or _GLOSS.match(after)
        after = after[tolerance.end() :] if tolerance else after
        after = _TAGS.sub("", after) if "<" in after else after
        return not after.strip(CLOSERS + "\n").strip(".,;!…").strip(CLOSERS + "\n")
    return True


def _line_around(text: str, token: Numeral) -> tuple[str, str]:
    """Return what stands on the line before and after a number, within a window."""
    start = text.rfind("\n", max(0, token.start - WINDOW), token.start) + 1
    end = text.find("\n", token.end, token.end + WINDOW)
    return (
        text[start or max(0, token.start - WINDOW) : token.start],
        text[token.end : end if end >= 0 else token.end + WINDOW],
    )


def _is_alone(text: str, token: Numeral) -> bool:
    return _is_wrapping(*_line_around(text, token))


def _is_aside(text: str, tokens: Sequence[Numeral], at: int, code: CodeSpans) -> bool:
    token = tokens[at]
    start, end = token.start, token.end
    return (
        (start in code and text[max(0, start - 3) : start].rstrip()[-2:] != "->")
        or _ASIDE_AFTER.match(text, end) is not None
        or _is_aside_before(text, start)
        or _is_argument(text, start)
        or _is_counter(text, token)
        or (at > 0 and _is_range(text, tokens[at - 1], token))
        or (at + 1 < len(tokens) and _is_range(text, token, tokens[at + 1]))
    )


def _is_aside_before(text: str, start: int) -> bool:
    before = text[max(0, start - 12) : start]
    stem = before.rstrip()
    if not stem:
        return False
    sign = stem[-1]
    if sign.isalpha() or sign == ".":
        word = stem[stem.rfind(" ") + 1 :].lower()
        return word in _ASIDE_WORDS or word.endswith("\\pm")
    if sign in "/+×÷^±#_":
        return True
    if sign == "{":
        return stem[-2:-1] in {"_", "^"}
    if sign in "*<>":
        return len(stem) < len(before) and stem[-2:-1] in {" ", ")"}
    return sign == "-" and stem[:-1].rstrip(" ")[-1:].isdigit()


def _is_argument(text: str, start: int) -> bool:
    opening = text.rfind("(", max(0, start - 40), start)
    is_call = opening > 0 and (text[opening - 1].isalnum() or text[opening - 1] == "_")
    return is_call and text.find(")", opening, start) < 0


def _is_counter(text: str, token: Numeral) -> bool:
    """Tell a citation such as [1], or the counter of an item, from a number of its own."""
    start, end = token.start, token.end
    if text[start - 1 : start] == "[" and text[end : end + 1] == "]":
        return not _is_alone(text, token)
    if text[end : end + 1] not in {".", ")"} or not _ENUMERATOR.match(text, start):
        return False
    return not _line_around(text, token)[0].strip(OPENERS)


def _is_range(text: str, one: Numeral, two: Numeral) -> bool:
    if two.start - one.end > 10 or not (gap := _RANGE.fullmatch(text, one.end, two.start)):
        return False
    if "and" in gap[0]:
        return "between" in text[max(0, one.start - 20) : one.start].lower()
    return True


def _is_linked(text: str, one: Numeral, two: Numeral) -> bool:
    return two.start - one.end <= _GAP_LENGTH and bool(_GAP.fullmatch(text, one.end, two.start))


def _may_be_cut(text: str, token: Numeral) -> bool:
    """Tell whether the length limit may have cut a number: nothing that ends it follows."""
    return text[token.end : token.end + 3] in {"", ".", ",", " ", "..", ". "} and (
        len(text) - token.end < 3
    )


def _mark(text: str, token: Numeral) -> Mark:
    if token.value is None:
        return Mark.NONE
    mark = mark_before(text, token.start)
    before, after = _line_around(text, token)
    if _is_wrapping(before, after):
        above = text[max(0, token.start - WINDOW) : token.start].rstrip(OPENERS + "\n")
        return mark if mark or above.endswith(":") else Mark.SAID
    if mark:
        return _with_what_follows(mark, text, token.end)
    if not before.strip(OPENERS) or before.rstrip(OPENERS)[-1:] in {".", "!"}:
        return Mark.WEAK if _ends_there(text, token, after) else Mark.NONE
    return Mark.NONE


def _with_what_follows(mark: Mark, text: str, end: int) -> Mark:
    tail = _TAIL.match(text, end)
    word = tail[0].strip(CLOSERS) if tail else ""
    if tail and (not word or not word[0].isalpha() or word in _GO_ON):
        return mark
    unit = _UNIT.match(text, end)
    return Mark.WEAK if unit and unit[1].lower() not in _NOT_UNITS else Mark.NONE


def _ends_there(text: str, token: Numeral, after: str) -> bool:
    """Tell whether a number that opens a sentence is all of it, or has a short remark after it."""
    rest = after.strip(CLOSERS)
    if not rest or (rest[0] in ".!" and rest[1:2] in {"", " "}):
        return True
    unit = _UNIT.match(after)
    is_first = not text[max(0, token.start - WINDOW) : token.start].strip(OPENERS)
    is_remark = unit[1].lower() not in _NOT_UNITS if unit else not rest[0].isalnum()
    return is_first and is_remark and len(text) - token.end <= _SHORT_REST


def _has_list(text: str, stays: Sequence[Numeral], links: Sequence[bool]) -> bool:
    first = 0
    for at, token in enumerate(stays):
        if at > 0 and not links[at - 1]:
            first = at
        n_joined = 0 if token.value is not None else _n_joined(text[token.start : token.end])
        if token.value is None and not n_joined:
            first = at + 1
        length = at - first + 1 + n_joined
        if length >= _LIST_LENGTH:
            return True
        if length > 1 and _covers_line(text, stays[first], token):
            return True
    return False


def _n_joined(run: str) -> int:
    """Count the numbers that commas, or more hyphens than a date has, join to the first."""
    n_hyphens = run.count("-")
    return run.count(",") or (n_hyphens if n_hyphens > _DATE_HYPHENS else 0)


def _covers_line(text: str, one: Numeral, two: Numeral) -> bool:
    before, after = _line_around(text, one)[0], _line_around(text, two)[1]
    before = _OPTION.sub("", before).rstrip(OPENERS)
    return (not before or before[-1] == ":") and not after.strip(CLOSERS).strip(".,;!…")
