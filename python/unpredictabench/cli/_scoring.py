"""Options that say how runs are scored, the same in every command that scores."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from collections.abc import Callable

Command = TypeVar("Command", bound="Callable[..., Any]")

runs = click.argument(
    "runs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RUN..."
)
sizes = click.option(
    "-n", "sizes", multiple=True, type=click.IntRange(1), help="Sizes N.  [1 2 5 ... 100]"
)
no_baselines = click.option(
    "--no-baselines", is_flag=True, help="Leave out the rows of simple samplers."
)
workers = click.option(
    "--workers", type=click.IntRange(1), help="Runs scored at a time.  [all cores]"
)


def rules(command: Command) -> Command:
    """Add the options that become `alpha`, `protocol`, `mode` and `suite` of `score`."""
    options = (
        click.option(
            "--alpha", default=1e-4, show_default=True, type=float, help="Level of the tests."
        ),
        click.option(
            "--protocol",
            default="strict",
            show_default=True,
            type=click.Choice(["strict", "valid", "paper"]),
            help="strict: invalid answers count; valid: N valid ones; paper: as published.",
        ),
        click.option(
            "--reading",
            "mode",
            default="lenient",
            show_default=True,
            type=click.Choice(["lenient", "strict"]),
            help="How answers are read.",
        ),
        click.option("--suite", help="File of the suite, for a run on a suite of your own."),
    )
    for option in reversed(options):
        command = option(command)
    return command
