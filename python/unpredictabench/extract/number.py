"""Read one number from an answer, strictly or leniently, or say why there is none."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from unpredictabench.errors import InputError
from unpredictabench.extract.boxes import boxes
from unpredictabench.extract.classes import LENGTH, CodeSpans, not_strict, without_value
from unpredictabench.extract.context import CLOSERS, OPENERS, Mark
from unpredictabench.extract.numerals import Numeral, finite, numerals
from unpredictabench.extract.objects import number_of_object
from unpredictabench.extract.offers import is_whole, offers
from unpredictabench.extract.plaintext import plain
from unpredictabench.extract.words import number_in_words
from unpredictabench.records import Extraction

if TYPE_CHECKING:
    from collections.abc import Iterable

    from unpredictabench.records import Reading

_PLAIN = re.compile(r"\s*+([+-]?(?:[0-9]++(?:\.[0-9]++)?+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?+)(\s*+)")
_WORDS_SAID = re.compile(
    r"\b(?:answer|number|value|result|output)\b[ \t]*(?:is|:|=)[ \t\"'`*]*([A-Za-z][A-Za-z ,-]*)",
    re.IGNORECASE,
)
_NOT_FINITE = re.compile(r"[\W_]*[+-]?(?:nan|inf|infinity|∞)[\W_]*\Z", re.IGNORECASE)


def extract_number(
    text: str | None,
    *,
    finish_reason: str | None = None,
    mode: Reading = "lenient",
    is_integer: bool = False,
) -> Extraction:
    r"""Read the one number of an answer.

    Parameters
    ----------
    text : str or None
        The answer as it came.
    finish_reason : str, optional
        Why the model stopped; after "length" a number at the very end may be cut and does not
        count.
    mode : {"lenient", "strict"}
        Lenient accepts one unambiguous number in whatever wrapping; strict accepts a text that
        is a plain number and nothing else but blanks.
    is_integer : bool
        Whether a whole number was asked for; then strict wants one without point or exponent.

    Returns
    -------
    Extraction
        The value as a finite float with its span in `text`, or the class and the reason.

    Raises
    ------
    InputError
        If `mode` is neither "lenient" nor "strict".

    Notes
    -----
    The work is linear in the length of the text. The rules and their order are in
    ``docs/extraction.md``.

    Examples
    --------
    >>> extract_number("Between 0 and 100, I pick 37.").value
    37.0
    >>> extract_number("The answer is 3 or 5").status
    'several'
    """
    check_mode(mode)
    text = text or ""
    match = _PLAIN.fullmatch(text)
    if match is not None:
        return _plain_number(match, finish_reason=finish_reason, mode=mode, is_integer=is_integer)
    text = plain(text)
    found = _lenient(text, finish_reason)
    if mode == "lenient":
        return found
    return not_strict(found, "more than the plain number")


def check_mode(mode: str) -> None:
    """Refuse an unknown reading.

    Parameters
    ----------
    mode : str
        The reading asked for.

    Raises
    ------
    InputError
        If it is neither "lenient" nor "strict".
    """
    if mode not in {"lenient", "strict"}:
        raise InputError("mode", 'be "lenient" or "strict"', mode)


def _plain_number(
    match: re.Match[str], *, finish_reason: str | None, mode: Reading, is_integer: bool
) -> Extraction:
    written = match[1]
    if finish_reason == LENGTH and "\n" not in match[2]:
        return Extraction(None, "truncated", "a number at the cut", reading=mode)
    if mode == "strict" and is_integer and not written.lstrip("+-").isdigit():
        return Extraction(None, "off-form", "not written as a whole number", reading=mode)
    token = finite(*match.span(1), written)
    if token.value is None:
        return Extraction(None, "off-form", token.reason, reading=mode)
    return Extraction(token.value, "valid", "a plain number", match.span(1), mode)


def _lenient(text: str, finish_reason: str | None) -> Extraction:
    held = number_of_object(text) if "{" in text else None
    if isinstance(held, tuple):
        return _held(held, text, finish_reason)
    if held is not None:
        return without_value(text, held, is_several="several" in held, finish_reason=finish_reason)
    boxed = [_single(text, *span) for span in boxes(text)]
    if boxed:
        return _agreed((token for token in boxed if token), "boxed", text, finish_reason)
    tokens = list(numerals(text))
    if not tokens:
        return _in_words(text, finish_reason)
    return _weighed(text, tokens, finish_reason)


def _held(held: tuple[str, tuple[int, int]], text: str, finish_reason: str | None) -> Extraction:
    written, (start, _) = held
    token = _single(written, 0, len(written))
    if token is None or token.value is None:
        return without_value(text, "the object holds no number", finish_reason=finish_reason)
    return _valid(token._replace(start=token.start + start, end=token.end + start), "in an object")


def _weighed(text: str, tokens: list[Numeral], finish_reason: str | None) -> Extraction:
    code = CodeSpans(text)
    found = offers(text, tokens, finish_reason=finish_reason, code=code)
    for mark in (Mark.FINAL, Mark.SAID):
        strong = [token for token, its in found.marked if its is mark]
        if strong:
            return _agreed(strong, "said to be the answer", text, finish_reason, code=code)
    if len(found.marked) == found.n_plain == 1 and found.marked[0][0].value is not None:
        return _valid(found.marked[0][0], "the only number")
    odd = next((token.reason for token in tokens if token.value is None), "no number is offered")
    return without_value(
        text, odd, is_several=found.is_list, code=code, finish_reason=finish_reason
    )


def _agreed(
    tokens: Iterable[Numeral],
    reason: str,
    text: str,
    finish_reason: str | None,
    *,
    code: CodeSpans | None = None,
) -> Extraction:
    """Return the value that all agree on; several values are never chosen among."""
    found = list(tokens)
    values = {token.value for token in found}
    if len(values) == 1 and None not in values:
        return _valid(found[-1], reason)
    why = f"{len(values)} different numbers are {reason}" if found else f"no number is {reason}"
    return without_value(
        text, why, is_several=len(values) > 1, code=code, finish_reason=finish_reason
    )


def _single(text: str, start: int, end: int) -> Numeral | None:
    """Return the number that a part of the text is, in digits or words, wrapping aside."""
    part = text[start:end]
    tokens = list(numerals(part))
    if not tokens:
        value = number_in_words(part.strip(OPENERS + CLOSERS + ".!"))
        return None if value is None else Numeral(start, end, value)
    token = tokens[0]
    if not is_whole(part, token):
        return None
    return token._replace(start=token.start + start, end=token.end + start)


def _in_words(text: str, finish_reason: str | None) -> Extraction:
    stripped = text.strip(OPENERS + CLOSERS + ".!\n")
    value, span = number_in_words(stripped), (0, 0)
    if value is not None:
        start = text.find(stripped)
        span = (start, start + len(stripped))
    elif (said := _WORDS_SAID.search(text)) is not None and not text[said.end() :].strip(" .!*`\n"):
        value, span = number_in_words(said[1]), said.span(1)
    if value is None:
        return without_value(text, _why_not(text), finish_reason=finish_reason)
    if finish_reason == LENGTH and not text[span[1] :].strip(" "):
        return without_value(text, "a number at the cut", finish_reason=finish_reason)
    return _valid(Numeral(*span, value), "in words")


def _why_not(text: str) -> str:
    return "not a finite number" if _NOT_FINITE.match(text) else "no number"


def _valid(token: Numeral, reason: str) -> Extraction:
    return Extraction(token.value, "valid", reason, (token.start, token.end))
