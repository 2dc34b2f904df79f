"""Numbers written out in English words."""

from __future__ import annotations

import re

_UNITS = {
    "zero": 0,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "eleven": 11,
    "twelve": 12,
    "thirteen": 13,
    "fourteen": 14,
    "fifteen": 15,
    "sixteen": 16,
    "seventeen": 17,
    "eighteen": 18,
    "nineteen": 19,
}
_TENS = {
    "twenty": 20,
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "sixty": 60,
    "seventy": 70,
    "eighty": 80,
    "ninety": 90,
}
_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_WORD = re.compile(r"[a-z]+")
_LONGEST = 160
"""Characters; a number in words that is longer than this is prose."""


def number_in_words(text: str) -> float | None:
    """Return the number that the whole text spells, or None.

    Parameters
    ----------
    text : str
        Words, hyphens, commas and blanks in any case; "minus" or "negative" may lead and
        "point" may be followed by digits in words.

    Returns
    -------
    float or None
        The number; None for anything that is not one well-formed number.

    Examples
    --------
    >>> number_in_words("minus twenty-three"), number_in_words("two point five")
    (-23.0, 2.5)
    >>> number_in_words("a") is number_in_words("seven or eight") is None
    True
    """
    if len(text) > _LONGEST:
        return None
    text = text.lower().strip()
    words = _WORD.findall(text)
    if not words or _WORD.sub("", text).strip(" -,\t"):
        return None
    is_negative = words[0] in {"minus", "negative"}
    whole, point, digits = _split(words[1:] if is_negative else words)
    value = None if whole == ["a"] else _whole(whole)
    if value is None or (point and not digits):
        return None
    if any(_UNITS.get(word, 10) > 9 for word in digits):
        return None
    written = f"{value}." + "".join(str(_UNITS[word]) for word in digits)
    return -float(written) if is_negative else float(written)


def _split(words: list[str]) -> tuple[list[str], bool, list[str]]:
    if "point" not in words:
        return words, False, []
    at = words.index("point")
    return words[:at], True, words[at + 1 :]


def _whole(words: list[str]) -> int | None:
    """Read a whole number: groups below a thousand, each with a smaller scale than the last."""
    total, last_scale = 0, max(_SCALES.values()) + 1
    group: list[str] = []
    for word in words:
        scale = _SCALES.get(word)
        if scale is None:
            group.append(word)
            continue
        value = _below_thousand(group)
        if not value or scale >= last_scale:
            return None
        total, group, last_scale = total + value * scale, [], scale
    if total and not group:
        return total
    rest = _below_thousand(group[1:] if total and group[0] == "and" else group)
    return None if rest is None else total + rest


def _below_thousand(words: list[str]) -> int | None:
    if words == ["a"]:
        return 1
    if "hundred" not in words:
        return _below_hundred(words)
    at = words.index("hundred")
    hundreds, rest = words[:at], words[at + 1 :]
    count = 1 if hundreds == ["a"] else _below_hundred(hundreds)
    tail = _below_hundred(rest[1:] if rest[0] == "and" else rest) if rest else 0
    return None if tail is None or count is None or not 1 <= count <= 9 else 100 * count + tail


def _below_hundred(words: list[str]) -> int | None:
    match words:
        case [word]:
            return _UNITS.get(word, _TENS.get(word))
        case [tens, unit] if tens in _TENS and 1 <= _UNITS.get(unit, 0) <= 9:
            return _TENS[tens] + _UNITS[unit]
    return None
