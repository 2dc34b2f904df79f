"""Read a long JSON list element by element, so that neither its size nor damage costs the rest."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, TextIO

from unpredictabench.errors import UnpredictabenchError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CHUNK = 1 << 20
MOST_CHARACTERS = 1 << 26
"""Longest element read: 10,000 truth values of 20 characters are 200,000."""
LONGEST_TAIL = 2
"""Characters of a number that the parser leaves when the stretch ends before their digits: e+."""
_BLANKS = re.compile(r"[ \t\r\n]*")


class DamagedError(UnpredictabenchError, ValueError):
    """A file cannot be read further; what was read before is good."""


def elements(path: Path) -> Iterator[Any]:
    """Yield the elements of a JSON list, or the values of any other file, one after the other.

    Parameters
    ----------
    path : pathlib.Path
        The file, UTF-8 with or without a mark.

    Yields
    ------
    object
        An element as `json` reads it; NaN and infinities included.

    Raises
    ------
    DamagedError
        At the first place that is not JSON, is cut short, is nested too deeply, or is longer than
        `MOST_CHARACTERS`.
    """
    try:
        with path.open(encoding="utf-8-sig", errors="surrogateescape") as file:
            window = _Window(file)
            if window.next_sign() != "[":
                yield window.value()
                while window.next_sign():
                    yield window.value()
                return
            window.at += 1
            if window.next_sign() == "]":
                window.at += 1
                window.must_end()
                return
            while True:
                yield window.value()
                sign = window.next_sign()
                window.at += 1
                if sign == "]":
                    window.must_end()
                    return
                if sign != ",":
                    raise DamagedError("is cut short" if not sign else "is not JSON")
    except OSError as error:
        raise DamagedError(f"cannot be read ({error.strerror})") from error


class _Window:
    """A stretch of a text file, and the place in it that is read next."""

    def __init__(self, file: TextIO) -> None:
        self._file, self._text, self.at = file, "", 0
        self._is_empty = True
        self._decoder = json.JSONDecoder()

    def next_sign(self) -> str:
        """Pass blanks and return the next character; empty at the end of the file."""
        while True:
            blanks = _BLANKS.match(self._text, self.at)
            self.at = blanks.end() if blanks else self.at
            if self.at < len(self._text):
                return self._text[self.at]
            if not self._more():
                return ""

    def value(self) -> Any:
        """Read the next value."""
        if not self.next_sign():
            raise DamagedError("is empty" if self._is_empty else "is cut short")
        while True:
            try:
                value, end = self._decoder.raw_decode(self._text, self.at)
            except RecursionError:
                raise DamagedError("is nested too deeply") from None
            except json.JSONDecodeError:
                if len(self._text) - self.at > MOST_CHARACTERS:
                    raise DamagedError("is not JSON, or holds an element too long") from None
                if not self._more():
                    raise DamagedError("is cut short or not JSON") from None
            except ValueError:  # an integer of thousands of digits
                raise DamagedError("holds a number that is too long") from None
            else:
                if not self._may_go_on(value, end) or not self._more():
                    self.at = end
                    return value

    def _may_go_on(self, value: object, end: int) -> bool:
        """Tell whether a number stands at the end of the stretch, where more digits may follow."""
        is_near = len(self._text) - end <= LONGEST_TAIL
        return isinstance(value, int | float) and is_near

    def must_end(self) -> None:
        """Check that nothing follows."""
        if self.next_sign():
            raise DamagedError("goes on after its end")

    def _more(self) -> bool:
        """Read on, doubling the stretch, so that a long element is not parsed too often.

        Nothing changes when there is no more.
        """
        rest = self._text[self.at :]
        more = self._file.read(max(CHUNK, len(rest)))
        if more:
            self._text, self.at, self._is_empty = rest + more, 0, False
        return bool(more)
