"""``unpredictabench score``: score stored runs and print tables or JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unpredictabench.score.results import RunScore
    from unpredictabench.score.samplers import Baseline

PROTOCOLS = ("strict", "valid", "paper")


@click.command()
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RUN...")
@click.option(
    "-n", "sizes", multiple=True, type=click.IntRange(1), help="Sizes N.  [1 2 5 ... 100]"
)
@click.option("--alpha", default=1e-4, show_default=True, type=float, help="Level of the tests.")
@click.option(
    "--protocol",
    default="strict",
    show_default=True,
    type=click.Choice(PROTOCOLS),
    help="strict: invalid answers count; valid: N valid ones; paper: as published.",
)
@click.option(
    "--reading",
    default="lenient",
    show_default=True,
    type=click.Choice(["lenient", "strict"]),
    help="How answers are read.",
)
@click.option("--suite", help="File of the suite, for a run on a suite of your own.")
@click.option("--no-baselines", is_flag=True, help="Leave out the rows of simple samplers.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(runs: tuple[Path, ...], *, as_json: bool, no_baselines: bool, **how: Any) -> None:
    """Score stored runs, without asking any model."""
    show(list(runs), as_json=as_json, with_baselines=not no_baselines, **how)  # fmt: skip


def show(
    runs: Sequence[Path],
    *,
    as_json: bool = False,
    with_baselines: bool = True,
    sizes: Sequence[int] = (),
    alpha: float = 1e-4,
    protocol: Any = "strict",
    reading: Any = "lenient",
    suite: str | None = None,
) -> None:
    """Score runs and print them.

    Parameters
    ----------
    runs : sequence of Path
        Run folders.
    as_json : bool
        Print JSON instead of tables.
    with_baselines : bool
        Whether to score simple samplers on the same tasks.
    sizes : sequence of int
        Sizes N; the published ones by default.
    alpha, protocol, reading, suite
        As for `unpredictabench.score`.
    """
    from unpredictabench.score import (  # noqa: PLC0415 - --help needs no NumPy
        baselines_of,
        document,
        score,
    )

    how: dict[str, Any] = {"n": sizes} if sizes else {}
    found: list[tuple[RunScore, Sequence[Baseline]]] = []
    for path in runs:
        run = score(path, alpha=alpha, protocol=protocol, mode=reading, suite=suite, **how)
        rows = baselines_of(path, run, suite=suite) if with_baselines else ()
        found.append((run, rows))
    if as_json:
        click.echo(json.dumps(document(found), ensure_ascii=False, allow_nan=False, indent=1))
        return
    from rich.console import Console  # noqa: PLC0415 - slow to import

    from unpredictabench.cli._tables import print_run  # noqa: PLC0415 - as above

    console = Console(highlight=False)
    for scored, lines in found:
        print_run(console, scored, lines)
