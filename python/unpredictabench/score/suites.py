"""Find the suite a stored run was made with: by its name, or in a ``suite.json`` beside the run."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from unpredictabench.errors import SuiteError
from unpredictabench.tasks import Suite, load_suite
from unpredictabench.tasks.kept import FILE_NAME

if TYPE_CHECKING:
    import os

    from unpredictabench.records import Task
    from unpredictabench.store import Run

N_ABOVE: Final = 3
"""Folders looked into: the run's own, that of the runs, and the one above."""


def planned_tasks(run: Run, suite: Suite | str | os.PathLike[str] | None = None) -> list[Task]:
    """Return the tasks a run set out to ask, from the suite it was made with.

    Parameters
    ----------
    run : Run
        The run.
    suite : Suite, str or path, optional
        As for `suite_of`.
    """
    found = suite_of(run, suite)
    return [found[task] for task in run.plan]


def suite_of(run: Run, suite: Suite | str | os.PathLike[str] | None = None) -> Suite:
    """Return the suite a run was made with.

    Parameters
    ----------
    run : Run
        The run.
    suite : Suite, str or path, optional
        The suite; by default that of the stored name, or a ``suite.json`` in the run's folder or
        the two above it.

    Returns
    -------
    Suite
        Of the hash that is stored with the run.

    Raises
    ------
    SuiteError
        If no suite of that hash is found.

    Notes
    -----
    A file that was not named by the user is not opened if it names programs, which would be run.
    """
    name, wanted = run.settings.suite, run.settings.suite_hash
    if suite is not None:
        found = suite if isinstance(suite, Suite) else load_suite(suite)
        if found.hash != wanted:
            raise _another(run, found.hash)
        return found
    try:
        found = _named(name)
    except SuiteError:
        beside = _beside(run)
        if beside is None:
            raise
        return beside
    beside = found if found.hash == wanted else _beside(run)
    if beside is None:
        raise _another(run, found.hash)
    return beside


def _another(run: Run, found: str) -> SuiteError:
    name, wanted = run.settings.suite, run.settings.suite_hash
    return SuiteError(
        f"{run.path} was made with another {name} (hash {wanted[:12]}, not {found[:12]}): name the "
        "suite's file with --suite, or install the version of unpredictabench that made the run"
    )


@lru_cache(maxsize=4)
def _named(name: str) -> Suite:
    """Load a suite of the package once: its laws are worth keeping from run to run."""
    base, plus, variant = name.partition("+")
    return load_suite(base, variant=int(variant) if plus and variant.isdigit() else None)


def _beside(run: Run) -> Suite | None:
    folder = Path(run.path).resolve()
    for above in (folder, *folder.parents)[:N_ABOVE]:
        file = above / FILE_NAME
        if not _is_plain(file):
            continue
        try:
            found = load_suite(file)
        except SuiteError:
            continue
        if found.hash == run.settings.suite_hash:
            return found
    return None


def _is_plain(file: Path) -> bool:
    """Whether a file is a suite of which no law is what a program prints."""
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
        return all("program" not in task["law"] for task in data["tasks"])
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return False
