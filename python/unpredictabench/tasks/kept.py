"""A copy of a suite of one's own beside its answers, which can be scored without its file then."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from unpredictabench._whole import whole
from unpredictabench.tasks.assemble import to_text
from unpredictabench.tasks.load import SUITES, load_suite

if TYPE_CHECKING:
    import os

    from unpredictabench.tasks.suite import Suite

FILE_NAME: Final = "suite.json"
"""What a suite is called in the folder of its runs, or above it."""
_ELSEWHERE: Final = ("drawn", "program")
"""Laws that need another file, or run code: they are never read from a copy."""


def keep_suite(suite: Suite, folder: str | os.PathLike[str]) -> Path | None:
    """Write a suite into a run's folder, unless it comes with the package.

    Parameters
    ----------
    suite : Suite
        The suite; of a selection, the whole suite is kept, whose hash it has.
    folder : path
        The run's folder. A file that is there already stays as it is.

    Returns
    -------
    pathlib.Path or None
        The file; None for suites of the package and for those whose laws are draws in other files
        or programs: they are named with ``--suite``.

    Raises
    ------
    OutputError
        When the file cannot be written.
    """
    whole_suite, file = suite.origin, Path(folder) / FILE_NAME
    if file.exists() or _is_ours(whole_suite):
        return None
    if any(form in entry.law for entry in whole_suite.entries for form in _ELSEWHERE):
        return None
    with whole(file) as draft:
        draft.write_text(to_text(whole_suite), encoding="utf-8")
    return file


def _is_ours(suite: Suite) -> bool:
    """Whether the package can make the suite from its name alone."""
    name, plus, _ = suite.name.partition("+")
    return name in SUITES and (bool(plus) or load_suite(name).hash == suite.hash)
