"""The one door to the terminal: whatever a model, a server or a file named is text there."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_KEPT = "\n\t"
_DIRECTIONS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Marks that let a text be shown in another order than it has."""
_HIDDEN = frozenset({"Cc", "Cs", "Zl", "Zp"})
"""Categories of control characters, half surrogates and separators that end a line."""


def visible(text: str) -> str:
    r"""Write control characters as escapes, so that a terminal shows them and obeys none.

    Parameters
    ----------
    text : str
        Any text; line ends and tabs stay.

    Returns
    -------
    str
        The text with ``\u001b`` and the like, which JSON reads back as the same characters.

    Examples
    --------
    >>> print(visible("red \x1b[31m, back \x9b2J"))
    red \u001b[31m, back \u009b2J
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(f"\\u{ord(sign):04x}" if _is_hidden(sign) else sign for sign in text)


def _is_hidden(sign: str) -> bool:
    if sign in _KEPT or sign.isprintable():
        return False
    return sign in _DIRECTIONS or unicodedata.category(sign) in _HIDDEN


def say(text: str = "", *, err: bool = False, nl: bool = True) -> None:
    """Print a text on standard output, or on standard error."""
    click.echo(visible(text), err=err, nl=nl)


def plain(text: str, style: str = "") -> Text:
    """Return a text for `rich` in which brackets are brackets."""
    from rich.text import Text  # noqa: PLC0415 - slow to import

    return Text(visible(text), style=style)


def open_console(*, stderr: bool = False) -> Console:
    """Return a console that prints cells and lines as they are, without markup."""
    from rich.console import Console  # noqa: PLC0415 - slow to import

    class Plain(Console):
        """A console that makes every string it is given visible first."""

        def render_str(self, text: str, **how: Any) -> Text:
            """Return a string as a text without markup."""
            return super().render_str(visible(text), **how)

    return Plain(highlight=False, markup=False, emoji=False, stderr=stderr)
