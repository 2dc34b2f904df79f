"""The grammar of written numbers: where they stand in a text and what they are worth."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, NamedTuple

from unpredictabench.extract.plaintext import NARROW_BLANKS, SUPERSCRIPTS

if TYPE_CHECKING:
    from collections.abc import Iterator


class Numeral(NamedTuple):
    """A number as it stands in a text; `value` is None for what only looks like one."""

    start: int
    end: int
    value: float | None
    reason: str = ""


# Every repetition is possessive or bounded: reading is linear in the length of the text.
_POWER = r"(?:(?:\^|\*\*)\s?(?:\{\s?[+-]?\d++\s?\}|[+-]?\d++)|⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]++)"
_TIMES = r"[ \t]?(?:×|x|X|\*|·|\\times|\\cdot)[ \t]?"
_SCIENTIFIC = rf"(?:\d[\d,]*+(?:\.\d*+)?+|\.\d++){_TIMES}10[ \t]?{_POWER}|10[ \t]?{_POWER}"
_BODY = (
    rf"(?:[\w.]|[,/:+](?=\d)|-(?=\w)|\{{,\}}(?=\d)|\\[,;!](?=\d)"
    rf"|[{NARROW_BLANKS}](?=\d{{3}}(?!\d))|[ ](?=000(?!\d)))*+"
)
_TOKEN = re.compile(rf"(?<![\w.+\-])(?:([+-]?(?:{_SCIENTIFIC})(?![\w^]))|[+-]?\.?\d{_BODY})")
_DIGIT = re.compile(r"\d")
_DECIMAL = re.compile(r"[+-]?(?:\d++(?:\.\d*+)?+|\.\d++)(?:[eE][+-]?\d++)?+")
_GROUPED = re.compile(
    rf"[+-]?[1-9]\d{{0,2}}(,|\{{,\}}|\\[,;!]|_|[ {NARROW_BLANKS}])\d{{3}}(?:\1\d{{3}}){{0,3}}"
    r"(?:\.\d*+)?(?:[eE][+-]?\d++)?"
)
_BASE_AND_POWER = re.compile(rf"(.*?)(?:{_TIMES})?10[ \t]?({_POWER})", re.DOTALL)


def numerals(text: str) -> Iterator[Numeral]:
    r"""Yield what looks like a number, from left to right, without overlap.

    Parameters
    ----------
    text : str
        A text with plain characters.

    Yields
    ------
    Numeral
        Its span and its value; None, with the reason, for things like ``3.14.15`` or ``0x1F``.

    Examples
    --------
    >>> [token.value for token in numerals("1,234.5 or 1.2 \\times 10^{-3}, not 3a5")]
    [1234.5, 0.0012, None]
    """
    digit = _DIGIT.search(text)
    while digit is not None:
        match = _TOKEN.match(text, _first(text, digit.start()))
        if match is None:
            digit = _DIGIT.search(text, digit.end())
            continue
        start, end = match.span()
        digit = _DIGIT.search(text, end)
        if match[1] is not None:
            yield finite(start, end, _scientific(match[1]))
            continue
        while text[end - 1] in "._":
            end -= 1
        yield _run(text, start, end)


def _first(text: str, digit: int) -> int:
    """Step back from a digit over the point and the sign before it."""
    start = digit - 1 if digit and text[digit - 1] == "." else digit
    return start - 1 if start and text[start - 1] in "+-" else start


def _run(text: str, start: int, end: int) -> Numeral:
    run = text[start:end]
    if _DECIMAL.fullmatch(run):
        return finite(start, end, run)
    grouped = _GROUPED.fullmatch(run)
    if grouped is None:
        return Numeral(start, end, None, "not a number in one piece")
    return finite(start, end, run.replace(grouped[1], ""))


def _scientific(written: str) -> str:
    match = _BASE_AND_POWER.fullmatch(written)
    assert match is not None, "the token pattern is made of the same parts"
    base, power = match[1].strip().replace(",", ""), match[2]
    return f"{base + '1' if base in {'', '+', '-'} else base}e{_exponent(power)}"


def _exponent(power: str) -> str:
    if power[0] in "^*":
        return power.strip("^*{} \t\n")
    return power.translate(SUPERSCRIPTS)


def finite(start: int, end: int, digits: str) -> Numeral:
    """Return the numeral of a decimal, without a value where no finite float is near it.

    Parameters
    ----------
    start, end : int
        Its span.
    digits : str
        What `float` accepts; overflow and underflow to zero leave no value.

    Returns
    -------
    Numeral
        With the value, or the reason why there is none.
    """
    value = float(digits)
    if math.isinf(value):
        return Numeral(start, end, None, "beyond the range of a float")
    if value == 0.0 and _is_nonzero(digits):
        return Numeral(start, end, None, "nearer to zero than a float can be")
    return Numeral(start, end, value)


def _is_nonzero(digits: str) -> bool:
    mantissa = digits.lower().partition("e")[0]
    return bool(mantissa.strip("+-0."))
