"""One plain character for each typographic one, so that spans stay those of the original."""

from __future__ import annotations

import unicodedata

_QUOTES = dict.fromkeys("‘’‚‛′`´＇", "'") | dict.fromkeys("“”„‟″«»＂", '"')
_DASHES = dict.fromkeys("−–—‐‑‒―﹣－⁻", "-")
_BLANKS = dict.fromkeys("\u2002\u2003\u2004\u2005\u3000\u200b\ufeff\u200e\u200f", " ")
_SIGNS = {
    "＋": "+",
    "．": ".",
    "，": ",",
    "：": ":",
    "％": "%",
    "＝": "=",
    "＊": "*",
    "٫": ".",
    "٬": ",",
    "∗": "*",
}
NARROW_BLANKS = "\u00a0\u2007\u2009\u202f"
"""Blanks that typographers put between groups of digits; kept, for the numerals."""
SUPERSCRIPTS = {ord(sign): str(digit) for digit, sign in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")} | {0x207B: "-"}


class _Plain(dict[int, str]):
    """A translation table that learns each character when it is first met."""

    def __missing__(self, code: int) -> str:
        sign = chr(code)
        self[code] = plain = self._plain(sign)
        return plain

    @staticmethod
    def _plain(sign: str) -> str:
        digit = unicodedata.decimal(sign, None)
        return sign if digit is None else str(digit)


_TABLE = _Plain(
    {
        ord(sign): plain
        for sign, plain in (_QUOTES | _DASHES | _BLANKS | _SIGNS).items()
        if sign not in "`⁻"
    }
)


def plain(text: str) -> str:
    """Replace typographic quotes, dashes, blanks and digits by plain ones, length unchanged.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    str
        A text of the same length; what has no plain twin stays.

    Examples
    --------
    >>> plain("−５")
    '-5'
    """
    return text if text.isascii() else text.translate(_TABLE)
