"""Load a suite: the frozen one, a fresh variant of it, or a user's own."""

from __future__ import annotations

import json
import os
from importlib import resources
from numbers import Integral
from pathlib import Path
from typing import Any

from unpredictabench.errors import InputError, SuiteError, nearest, shortened
from unpredictabench.tasks.entry import entry_from_json
from unpredictabench.tasks.suite import Suite

SUITES = ("v1",)
ENDINGS = frozenset({".json", ".yaml", ".yml"})


def load_suite(source: str | os.PathLike[str] = "v1", *, variant: int | None = None) -> Suite:
    """Load a suite of tasks.

    Parameters
    ----------
    source : str or path
        ``"v1"``, or the path of a JSON or YAML file with tasks of your own (docs/tasks.md).
    variant : int, optional
        For ``"v1"``: a seed of at least 0. Parameters, items and wording are drawn anew within
        the same intent, so that no answer can have been memorised.

    Returns
    -------
    Suite
        Its laws are built when a task is looked at.

    Raises
    ------
    SuiteError
        When there is no such suite or file, or a task in it is wrong.

    Notes
    -----
    A file may name Python programs, which are run on this machine: load only files you trust.

    Examples
    --------
    >>> task = load_suite("v1")["text-explicit/poisson/spread_out"]
    >>> task.family, task.spread, task.support
    ('poisson', 'spread_out', 'discrete')
    """
    if not isinstance(source, str | os.PathLike):
        raise InputError("source", "be the name of a suite or the path of a file", source)
    if variant is not None:
        if isinstance(variant, bool) or not isinstance(variant, Integral) or variant < 0:
            raise InputError("variant", "be a whole number of at least 0", variant)
        if source not in SUITES:
            raise InputError("variant", f"be left out unless the suite is {SUITES[0]}", variant)
        from unpredictabench.tasks.assemble import assemble  # noqa: PLC0415 - loads NumPy

        return assemble(variant=int(variant))
    if source in SUITES:
        return _frozen(str(source))
    path = Path(os.fsdecode(source))
    if not os.path.isfile(path):  # noqa: PTH113 - which takes a name of any length
        known = [file.name for file in path.parent.glob("*") if file.suffix.lower() in ENDINGS]
        if path.suffix.lower() not in ENDINGS:
            known = [*SUITES, *known]
        name = shortened(os.fsdecode(source), 200)
        advice = f"the nearest names are {nearest(path.name, known)}" if known else "check the path"
        raise SuiteError(f"there is no suite and no file {name}; {advice}")
    from unpredictabench.tasks.own import read_suite  # noqa: PLC0415 - loads NumPy and YAML

    return read_suite(path)


def frozen_text(name: str) -> str:
    """Return the text of a frozen suite's file."""
    path = resources.files("unpredictabench.tasks") / "data" / f"{name}.json"
    return path.read_text(encoding="utf-8")


def _frozen(name: str) -> Suite:
    data: dict[str, Any] = json.loads(frozen_text(name))
    return Suite(data["name"], data["version"], map(entry_from_json, data["tasks"]))
