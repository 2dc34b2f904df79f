"""The command that brings published data, tables, exported runs or Inspect logs into runs."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unpredictabench.errors import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from unpredictabench.integrations import Imported

HEADINGS = {"read": "Read", "skipped": "Skipped", "refused": "Refused", "notes": "Note"}


@click.command("import")
@click.argument("path", type=click.Path(path_type=Path))
@click.option(
    "-o", "--out", type=click.Path(path_type=Path), help="Folder of run folders.  [runs/PATH]"
)
@click.option(
    "--suite", help="Name or file of the suite.  [made of the questions found; v1 for tables]"
)
@click.option("--model", help="Model of the rows of a table that name none.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(
    path: Path, out: Path | None, suite: str | None, model: str | None, *, as_json: bool
) -> None:
    """Bring PATH into ordinary runs and say what was read, skipped and refused, and why.

    PATH is a results tree of the published code, the published data set (JSON, Parquet, a hub
    cache folder), a table with the columns task or prompt, model, answer or value (and index,
    temperature), an exported run, or logs of the Inspect AI task of this package. The exit code
    is 0 only when nothing was refused.
    """
    from unpredictabench.integrations import import_path  # noqa: PLC0415 - lazy command

    done = import_path(path, out, suite=suite, model=model)
    click.echo(json.dumps(as_data(done)) if as_json else "\n".join(lines(done)))
    if not done.is_complete:
        raise SystemExit(1)


def as_data(done: Imported) -> dict[str, Any]:
    """Return an import as JSON data.

    Parameters
    ----------
    done : Imported
        The import.
    """
    data = {name: getattr(done, name) for name in ("kind", "suite", "is_complete")}
    runs = [dataclasses.asdict(run) | {"path": str(run.path)} for run in done.runs]
    more = {"path": str(done.path), "runs": runs, "comparison": dict(done.comparison)}
    return data | more | dict(done.tally)


def lines(done: Imported) -> Iterator[str]:
    """Tell what an import came to.

    Parameters
    ----------
    done : Imported
        The import.

    Yields
    ------
    str
        A line.
    """
    yield f"{done.path}: {done.kind}, suite {done.suite}"
    for run in done.runs:
        missing = f", {counted(run.n_missing, 'slot')} without an answer" if run.n_missing else ""
        kept = f"{counted(run.n_stored, 'answer')} ({run.n_new:,} new){missing}"
        yield f"  {run.path}: {run.model}, temperature {run.temperature}, {kept}"
    for name, heading in HEADINGS.items():
        for what, count in sorted(done.tally[name].items()):
            places = done.tally["examples"].get(what, [])
            where = f" (first: {places[0]})" if places else ""
            yield f"{heading}: {count:,} x {what}{where}"
    counts = done.comparison.get("counts", {})
    if counts:
        shown = ", ".join(f"{count:,} {outcome}" for outcome, count in sorted(counts.items()))
        yield f"Published readings beside ours: {shown}"
    for each in done.comparison.get("examples", [])[:5]:
        yield f"  {each['task']} {each['index']}: theirs {each['theirs']}, ours {each['ours']}"
