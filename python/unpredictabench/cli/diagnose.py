"""``unpredictabench diagnose``: what goes wrong in stored runs, one word a task."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unpredictabench.cli.terminal import say

if TYPE_CHECKING:
    from unpredictabench.diagnose import RunDiagnosis
    from unpredictabench.store import Run


@click.command("diagnose")
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RUN...")
@click.option("--suite", help="Name or file of the suite.  [the run's own]")
@click.option(
    "--level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=1e-3,
    show_default=True,
    help="Chance that a faithful model is given a word, per task.",
)
@click.option("--all", "shows_all", is_flag=True, help="Print tasks without a finding too.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    runs: tuple[Path, ...], *, suite: str | None, level: float, shows_all: bool, as_json: bool
) -> None:
    """Tell in one word a task what goes wrong in a run, and on what evidence."""
    from unpredictabench.cli.progress import teller  # noqa: PLC0415 - --help needs none

    found = []
    with teller() as tell:
        for path in runs:
            tell(f"diagnosing {path}")
            found.append(_diagnosed(path, suite, level))
    if as_json:
        records = [_record(run, result) for run, result in found]
        say(json.dumps({"level": level, "runs": records}, indent=1))
        return
    for run, result in found:
        for one in result.tasks:
            if shows_all or one.word != "none":
                say(f"{one.task:<48}  {one.word}\n    {one.sentence}")
        say(f"{run.path} ({run.settings.model}): {result.summary}")
        for mark in run.marks:
            say(f"  Suspicious: {mark}")


def _diagnosed(path: Path, source: str | None, level: float) -> tuple[Run, RunDiagnosis]:
    from unpredictabench.diagnose import diagnose  # noqa: PLC0415 - --help needs none
    from unpredictabench.score.suites import planned_tasks  # noqa: PLC0415 - as above
    from unpredictabench.store import open_run  # noqa: PLC0415 - as above

    run = open_run(path)
    tasks = planned_tasks(run, source)
    return run, diagnose(tasks, run.completions(), level=level)


def _record(run: Run, result: RunDiagnosis) -> dict[str, Any]:
    return {
        "run": str(run.path),
        "model": run.settings.model,
        "counts": dict(result.counts),
        "n_expected": result.n_expected,
        "n_dependent": result.n_dependent,
        "is_independent": result.is_independent,
        "reason": None if result.is_independent is not None else "too few answers to tell",
        "marks": list(run.marks),
        "tasks": [
            {"task": one.task, "word": one.word, "evidence": dict(one.evidence)}
            for one in result.tasks
        ],
    }
