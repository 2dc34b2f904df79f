"""``unpredictabench score``: score stored runs and print tables or JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from unpredictabench.cli import _scoring
from unpredictabench.cli.terminal import open_console, say

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import TypeAlias

    from unpredictabench.records import Reading
    from unpredictabench.report.tables import Form
    from unpredictabench.score.results import RunScore

    Words: TypeAlias = tuple[object, Mapping[str, object]]


@click.command()
@_scoring.runs
@_scoring.sizes
@_scoring.rules
@click.option(
    "--margin",
    default=0.25,
    show_default=True,
    type=float,
    help="Distance from a law that counts as equivalent.",
)
@_scoring.no_baselines
@_scoring.workers
@click.option("--json", "form", flag_value="json", help="Print JSON.")
@click.option("--csv", "form", flag_value="csv", help="Print every number as CSV.")
@click.option("--markdown", "form", flag_value="markdown", help="Print a Markdown table.")
@click.option("--latex", "form", flag_value="latex", help="Print a LaTeX table.")
def command(runs: tuple[Path, ...], *, form: Any, no_baselines: bool, **how: Any) -> None:
    """Score stored runs, without asking any model."""
    if form in {"csv", "markdown", "latex"}:
        say(exported(list(runs), form, has_baselines=not no_baselines, **how), nl=False)
        return
    show(list(runs), as_json=form == "json", has_baselines=not no_baselines, **how)


def exported(
    runs: Sequence[Path], form: Form, *, has_baselines: bool, sizes: Sequence[int], **how: Any
) -> str:
    """Score runs and write them as a table for a paper.

    Parameters
    ----------
    runs : sequence of Path
        Run folders.
    form : {"csv", "markdown", "latex"}
        As for `unpredictabench.report.table_text`.
    has_baselines : bool
        Whether to score simple samplers on the same tasks.
    sizes : sequence of int
        Sizes N; the published ones where there are none.
    how
        As for `unpredictabench.score.score_runs`.

    Returns
    -------
    str
        The table.
    """
    from unpredictabench.cli.progress import teller  # noqa: PLC0415 - lazy command
    from unpredictabench.report import contents, table_text  # noqa: PLC0415 - lazy command

    if sizes:
        how["n"] = sizes
    with teller() as tell:
        found = contents(runs, has_baselines=has_baselines, has_answers=False, tell=tell, **how)
    return table_text(found, form)


def show(
    runs: Sequence[Path],
    *,
    as_json: bool = False,
    has_baselines: bool = True,
    sizes: Sequence[int] = (),
    suite: str | None = None,
    mode: Reading = "lenient",
    workers: int | None = None,
    **how: Any,
) -> None:
    """Score runs and print them.

    Parameters
    ----------
    runs : sequence of Path
        Run folders.
    as_json : bool
        Print JSON instead of tables.
    has_baselines : bool
        Whether to score simple samplers on the same tasks.
    sizes : sequence of int
        Sizes N; the published ones where there are none.
    suite, mode, workers, how
        As for `unpredictabench.score.score_runs`.
    """
    from unpredictabench.cli.progress import teller  # noqa: PLC0415 - --help needs no NumPy
    from unpredictabench.score import baselines_of, document  # noqa: PLC0415 - as above
    from unpredictabench.score.side_by_side import each  # noqa: PLC0415 - as above

    if sizes:
        how["n"] = sizes
    how |= {"suite": suite, "mode": mode, "has_words": as_json}
    with teller() as tell:
        both = each(scored, runs, how, workers=workers, tell=tell)
        if has_baselines:
            tell("scoring simple samplers on the same tasks")
        found = [
            (run, baselines_of(path, run, suite=suite) if has_baselines else ())
            for path, (run, _) in zip(runs, both, strict=True)
        ]
    if as_json:
        printed = document(found)
        for one, (_, words) in zip(printed["runs"], both, strict=True):
            _add_words(one, words)
        say(json.dumps(printed, ensure_ascii=False, allow_nan=False, indent=1))
        return
    from unpredictabench.cli._tables import print_run  # noqa: PLC0415 - as above

    console = open_console()
    for run, lines in found:
        print_run(console, run, lines)


def scored(
    path: Path, *, has_words: bool, suite: str | None, mode: Reading, **how: Any
) -> tuple[RunScore, Words | None]:
    """Score a run, and say of each task in one word what is wrong with its answers.

    Parameters
    ----------
    path : Path
        The run folder.
    has_words : bool
        Whether the words are wanted.
    suite, mode
        As for `unpredictabench.score`.
    how
        Further keywords of it.

    Returns
    -------
    tuple
        The scores; the summary of the words and the word of each task.
    """
    from unpredictabench.diagnose import diagnose  # noqa: PLC0415 - --help needs none
    from unpredictabench.score import score  # noqa: PLC0415 - as above
    from unpredictabench.score.suites import planned_tasks  # noqa: PLC0415 - as above
    from unpredictabench.store import open_run  # noqa: PLC0415 - as above

    run = score(path, suite=suite, mode=mode, **how)
    if not has_words:
        return run, None
    opened = open_run(path)
    found = diagnose(planned_tasks(opened, suite), opened.completions(), mode=mode)
    return run, (found.summary, {one.task: one.word for one in found.tasks})


def _add_words(run: dict[str, Any], words: Words | None) -> None:
    if words is not None:
        run["diagnosis"], by_task = words
        for task in run["tasks"]:
            task["diagnosis"] = by_task[task["task"]]
