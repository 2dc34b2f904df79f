"""The command that writes reports: a page, tables and figures for papers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unpredictabench._whole import whole
from unpredictabench.cli import _scoring
from unpredictabench.cli.terminal import say
from unpredictabench.errors import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from unpredictabench.report import Contents

_FILE = click.Path(path_type=Path, dir_okay=False)
_FORMS = ("csv", "markdown", "latex")


@click.command()
@_scoring.runs
@click.option("-o", "--out", type=_FILE, help="The page to write.  [report.html]")
@click.option(
    "--figures", type=click.Path(path_type=Path, file_okay=False), help="Folder for SVG, PDF, CSV."
)
@click.option("--csv", type=_FILE, help="Write every number as CSV; - prints it.")
@click.option("--markdown", type=_FILE, help="Write the table of scores; - prints it.")
@click.option("--latex", type=_FILE, help="Write the table of scores; - prints it.")
@_scoring.sizes
@_scoring.rules
@click.option("--title", help="Heading of the page.")
@_scoring.no_baselines
@click.option("--no-published", is_flag=True, help="Leave out the published leaderboard.")
@_scoring.workers
def command(runs: tuple[Path, ...], *, out: Path | None, figures: Path | None, **how: Any) -> None:
    """Write a report of stored runs: one HTML file that works offline.

    The page is written unless only tables or figures are asked for. No model is asked.
    """
    tables = {form: how.pop(form) for form in _FORMS}
    found = gathered(runs, **how)
    if out or not (figures or any(tables.values())):
        tables["html"] = out or Path("report.html")
    for line in written(found, tables, figures):
        say(line)


def gathered(
    runs: tuple[Path, ...],
    *,
    sizes: tuple[int, ...],
    no_baselines: bool,
    no_published: bool,
    **how: Any,
) -> Contents:
    """Score runs and gather what a report shows.

    Parameters
    ----------
    runs : tuple of Path
        Run folders.
    sizes : tuple of int
        Sizes N; the published ones by default.
    no_baselines, no_published : bool
        What to leave out.
    how
        As for `report.contents`.
    """
    from unpredictabench.cli.progress import teller  # noqa: PLC0415 - lazy command
    from unpredictabench.integrations import published_rows  # noqa: PLC0415 - lazy command
    from unpredictabench.report import contents  # noqa: PLC0415 - lazy command

    if sizes:
        how["n"] = sizes
    published = () if no_published else published_rows()
    with teller() as tell:
        return contents(runs, published=published, has_baselines=not no_baselines, tell=tell, **how)


def written(found: Contents, tables: dict[str, Path | None], figures: Path | None) -> Iterator[str]:
    """Write what was asked for.

    Parameters
    ----------
    found : Contents
        The report.
    tables : dict
        File by form: "html", "csv", "markdown", "latex"; the file "-" is the terminal.
    figures : Path or None
        Folder of figures.

    Yields
    ------
    str
        What was written, or a table itself.
    """
    from unpredictabench.report import (  # noqa: PLC0415 - lazy command
        table_text,
        write_figures,
        write_page,
    )

    for form, file in tables.items():
        if file is None:
            continue
        if form == "html":
            yield f"{write_page(found, file)}: open it in any browser"
        elif str(file) == "-":
            yield table_text(found, form)  # type: ignore[arg-type]
        else:
            with whole(file) as draft:
                draft.write_text(table_text(found, form), encoding="utf-8", errors="replace")  # type: ignore[arg-type]
            yield str(file)
    if figures is not None:
        yield f"{figures}: {counted(len(write_figures(found, figures)), 'file')}"
