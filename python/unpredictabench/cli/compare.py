"""``unpredictabench compare``: put stored runs beside each other."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unpredictabench.cli.terminal import open_console, say
from unpredictabench.errors import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from unpredictabench.score import Comparison

MOST_TASKS = 10
"""Tasks listed for a pair, the largest differences first."""


@click.command()
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RUN...")
@click.option("-n", "size", type=click.IntRange(1), help="N to compare at.  [largest in common]")
@click.option("--alpha", default=1e-4, show_default=True, type=float, help="Level of the tests.")
@click.option(
    "--protocol",
    default="strict",
    show_default=True,
    type=click.Choice(["strict", "valid", "paper"]),
    help="As for score.",
)
@click.option(
    "--reading",
    "mode",
    default="lenient",
    show_default=True,
    type=click.Choice(["lenient", "strict"]),
    help="How answers are read.",
)
@click.option("--suite", help="File of the suite, for runs on a suite of your own.")
@click.option("--workers", type=click.IntRange(1), help="Runs scored at a time.  [all cores]")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(runs: tuple[Path, ...], *, size: int | None, as_json: bool, **how: Any) -> None:
    """Compare two or more runs on the tasks they share, with paired intervals and tests."""
    from unpredictabench.cli.progress import teller  # noqa: PLC0415 - --help needs no NumPy
    from unpredictabench.score import SIZES, compare, score_runs  # noqa: PLC0415 - as above

    sizes = sorted({*SIZES, size}) if size else SIZES
    with teller() as tell:
        found = compare(score_runs(runs, n=sizes, tell=tell, **how), n=size)
    if as_json:
        say(json.dumps(dataclasses.asdict(found), allow_nan=False, indent=1))
    else:
        show(found)


def show(found: Comparison) -> None:
    """Print a comparison: ranks, pairs, and the tasks that differ most.

    Parameters
    ----------
    found : Comparison
        The comparison.
    """
    from unpredictabench.cli._tables import (  # noqa: PLC0415 - as above
        FEWEST_TO_TELL,
        few,
        print_rows,
    )

    console = open_console()
    names = _names(found)
    order = sorted(range(len(names)), key=lambda i: -found.scores[i])
    left_out = f", {found.n_left_out} that not all have left out" if found.n_left_out else ""
    console.print(f"KS@{found.n} on {counted(found.n_tasks, 'shared task')}{left_out}")
    if found.n < FEWEST_TO_TELL:
        console.print(few(found.n))
    print_rows(console, [_ranked(found, names, i) for i in order])
    print_rows(console, [
        {
            "pair": f"{names[pair.first]} - {names[pair.second]}",
            "difference": f"{pair.difference:+.2f}",
            "95 %": f"[{pair.interval.low:+.2f}, {pair.interval.high:+.2f}]",
            "only one\npasses": f"{pair.n_first_only} : {pair.n_second_only}",
            "McNemar\np": f"{pair.mcnemar:.2g}",
            "Holm p": f"{pair.adjusted:.2g}",
        }
        for pair in found.pairs
    ])  # fmt: skip
    console.print(
        "A Holm p below 0.05 tells two runs apart for tasks like these; the ranks say which places "
        "each can have."
    )
    if len(found.pairs) == 1:
        _print_tasks(console, found, names)


def _print_tasks(console: Console, found: Comparison, names: Sequence[str]) -> None:
    """List the tasks on which the two runs of a pair differ most."""
    from unpredictabench.cli._tables import print_rows  # noqa: PLC0415 - as above

    pair = found.pairs[0]
    tasks = [task for task in pair.tasks[:MOST_TASKS] if task.difference]
    if not tasks:
        return
    first, second = names[pair.first], names[pair.second]
    console.print(f"Tasks that differ most, KS@{found.n} of {first} and then of {second}:")
    has_p = any(task.adjusted is not None for task in tasks)
    print_rows(console, [
        {"task": task.task, "first": f"{task.first:.2f}", "second": f"{task.second:.2f}"}
        | ({"adjusted p": _p(task.adjusted)} if has_p else {})
        for task in tasks
    ])  # fmt: skip


def _p(value: float | None) -> str:
    return "-" if value is None else f"{value:.2g}"


def _names(found: Comparison) -> list[str]:
    """Name runs by their models, or by their folders where models repeat."""
    return list(found.models if len(set(found.models)) == len(found.models) else found.runs)


def _ranked(found: Comparison, names: list[str], i: int) -> dict[str, str]:
    best, worst = found.ranks[i]
    rank = str(best) if best == worst else f"{best} to {worst}"
    return {"model": names[i], f"KS@{found.n}": f"{found.scores[i]:.2f}", "rank": rank}
