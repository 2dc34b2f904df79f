"""The command that reads the answers of a stored run again and prints what changed."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from unpredictabench.cli.terminal import say
from unpredictabench.errors import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


_SHOWN = 20
"""Changes printed one by one; --json prints them all."""


@click.command("extract")
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--suite", help="Suite of the run.  [of the stored name, or suite.json beside RUN]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(run: Path, suite: str | None, *, as_json: bool) -> None:
    """Read the answers of RUN again, count them by class, and print what changed."""
    report = reread(run, suite)
    say(json.dumps(report) if as_json else "\n".join(_as_text(report)))


def reread(path: Path, suite: str | None = None) -> dict[str, object]:
    """Read a stored run again, keep the readings beside it, and compare with the last ones.

    Parameters
    ----------
    path : Path
        The run folder.
    suite : str, optional
        Name or path of the suite; the default is the one stored with the run.

    Returns
    -------
    dict
        Versions, counts by reading and class, and the changes, as plain JSON data.

    Raises
    ------
    StoreError
        If the folder holds no run, or answers to tasks that the suite does not hold, or if the
        readings cannot be kept.
    """
    from unpredictabench.extract import EXTRACTOR_VERSION, ledger  # noqa: PLC0415 - lazy command
    from unpredictabench.score.suites import suite_of  # noqa: PLC0415 - lazy command
    from unpredictabench.store import (  # noqa: PLC0415 - lazy command
        keep_readings,
        last_readings,
        open_run,
    )
    from unpredictabench.tasks import load_suite  # noqa: PLC0415 - lazy command

    opened = open_run(path)
    tasks = {task.id: task for task in (load_suite(suite) if suite else suite_of(opened))}
    found = list(ledger.readings(opened.completions(), tasks))
    before = last_readings(opened.path)
    keep_readings(opened.path, found)
    return {
        "run": str(path),
        "version": EXTRACTOR_VERSION,
        "previous_version": ledger.version_of(before),
        "counts": ledger.counts(one for _, one in found),
        "changes": [
            asdict(change) for change in ledger.changes(before, last_readings(opened.path))
        ],
    }


def _as_text(report: Mapping[str, object]) -> list[str]:
    counts: Mapping[str, Mapping[str, int]] = report["counts"]  # type: ignore[assignment]
    changes: Sequence[Mapping[str, object]] = report["changes"]  # type: ignore[assignment]
    previous = report["previous_version"]
    rows = [
        f"{reading}: " + (", ".join(f"{n} {status}" for status, n in classes.items()) or "nothing")
        for reading, classes in counts.items()
    ]
    if previous is None:
        return [*rows, f"read for the first time, by version {report['version']}"]
    rows.append(
        f"{counted(len(changes), 'change')} since version {previous} (now {report['version']})"
    )
    rows += [_change_as_text(change) for change in changes[:_SHOWN]]
    if len(changes) > _SHOWN:
        rows.append(f"... and {len(changes) - _SHOWN} more; --json prints all")
    return rows


def _change_as_text(change: Mapping[str, object]) -> str:
    where = f"{change['task']} {change['index']}"
    where += f".{change['position']}" if change["position"] else ""
    return f"  {where} {change['reading']}: {change['before']} -> {change['after']}"
