"""Every exception the package raises on purpose, so that a caller can catch one family."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


class UnpredictabenchError(Exception):
    """Base of all errors raised on purpose; its text is one sentence that says what to do."""


class InputError(UnpredictabenchError, ValueError):
    """An argument broke a rule; the message names argument, rule and value.

    Parameters
    ----------
    argument : str
        Name of the argument as the caller wrote it.
    rule : str
        What it must be, as a phrase that follows "must".
    value : object
        What it was; shown shortened.

    Examples
    --------
    >>> raise InputError("alpha", "lie strictly between 0 and 1", 2.0)
    Traceback (most recent call last):
    unpredictabench.errors.InputError: alpha must lie strictly between 0 and 1, got 2.0
    """

    def __init__(self, argument: str, rule: str, value: object) -> None:
        self.argument, self.rule, self.value = argument, rule, value
        super().__init__(f"{argument} must {rule}, got {shortened(value)}")

    def __reduce__(self) -> tuple[type, tuple[str, str, object]]:
        return type(self), (self.argument, self.rule, self.value)


class MissingExtraError(UnpredictabenchError, ImportError):
    """An optional dependency is not installed; the message holds the pip line that installs it."""

    def __init__(self, feature: str, extra: str) -> None:
        self.feature, self.extra = feature, extra
        super().__init__(f"{feature} needs an extra: pip install 'unpredictabench[{extra}]'")

    def __reduce__(self) -> tuple[type, tuple[str, str]]:
        return type(self), (self.feature, self.extra)


class SuiteError(UnpredictabenchError, ValueError):
    """A suite file or a task in it is wrong; the message names file, task and field."""


class StudyError(UnpredictabenchError, ValueError):
    """A file of models is wrong; the message names file, model and field."""


class StoreError(UnpredictabenchError):
    """A run folder cannot be read or written; nothing already stored is lost."""


class OutputError(UnpredictabenchError):
    """A file or folder that was asked for cannot be written; what was there before stays.

    Parameters
    ----------
    path : Path
        What was to be written.
    error : OSError
        Why it could not be.
    """

    def __init__(self, path: Path, error: OSError) -> None:
        self.path, self.error = path, error
        super().__init__(
            f"{path} cannot be written ({error.strerror or error}): make room, make the folder "
            f"{path.parent} writable or choose another place, then run the same command again"
        )

    def __reduce__(self) -> tuple[type, tuple[Path, OSError]]:
        return type(self), (self.path, self.error)


class ClientError(UnpredictabenchError):
    """A model could not be asked; what was stored before stays."""


class FatalClientError(ClientError):
    """Every further request would fail the same way (key, quota, model, parameter): stop."""


class SlotError(ClientError):
    """One slot failed after all its attempts; the other slots go on."""


def shortened(value: object, width: int = 80) -> str:
    """Show a value on one line of at most `width` characters."""
    text = " ".join(repr(value).split())
    return text if len(text) <= width else text[: width - 1] + "…"


def nearest(name: object, names: Iterable[str], n: int = 3) -> str:
    """Return the known names nearest to a wrong one, or the first few when none is near."""
    listed = list(names)
    close = get_close_matches(str(name), listed, n=n, cutoff=0.4)
    return ", ".join(close or listed[:12])


def listed(names: Iterable[str], n: int = 5) -> str:
    """Write the first few names, and how many more there are.

    Examples
    --------
    >>> listed("abcdefg"), listed(["x"])
    ('a, b, c, d, e and 2 more', 'x')
    """
    known = list(names)
    more = f" and {len(known) - n:,} more" if len(known) > n else ""
    return f"{', '.join(known[:n])}{more}"


def counted(n: int, noun: str, plural: str | None = None) -> str:
    """Write a number and what it counts.

    Examples
    --------
    >>> counted(1, "task"), counted(1234, "task"), counted(0, "reply", "replies")
    ('1 task', '1,234 tasks', '0 replies')
    """
    return f"{n:,} {noun if n == 1 else plural or f'{noun}s'}"
