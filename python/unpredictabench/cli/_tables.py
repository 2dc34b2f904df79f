"""Tables of scores for the terminal: wide, narrow, or plain text in a pipe."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from unpredictabench.errors import counted
from unpredictabench.score import is_below_median

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from unpredictabench.score.results import GroupScore, Rate, RunScore
    from unpredictabench.score.samplers import Baseline

TINY = 64
"""Columns of a terminal below which tasks and validity are left out."""
FEWEST_TO_TELL = 10
"""Answers below which almost nothing can fail."""
NARROW = 90
"""Columns of a terminal below which only the headline N is shown."""
LEAST_NAME = 16
"""Columns that names need, folded."""
NAMES = {
    "perfect": "a perfect sampler",
    "median": "always the median",
    "uniform": "uniform on the support",
}


def headline_n(run: RunScore) -> int | None:
    """Return the largest N that there is a score for."""
    return max(filter(run.has_score, run.n), default=None)


def print_run(console: Console, run: RunScore, rows: Sequence[Baseline]) -> None:
    """Print the table of one run, its baselines, and what it means.

    Parameters
    ----------
    console : rich.console.Console
        Where to.
    run : RunScore
        The scores.
    rows : sequence of Baseline
        The baselines.
    """
    n = headline_n(run)
    title = f"{run.model or 'answers'} on {run.suite or 'tasks'}: {counted(run.n_tasks, 'task')}"
    console.print(Text(title, style="bold"))
    if n is None:
        for line in (_nothing(run), *(f"Note: {note}." for note in run.notes)):
            console.print(Text(line))
        return
    shown = _shown(run, n, console.width)
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    # Where room is short, names are folded and numbers stay whole.
    table.add_column("", overflow="fold")
    counts = console.width >= TINY
    for heading in ("tasks", "valid") if counts else ():
        table.add_column(heading, justify="right", no_wrap=True)
    for size in shown:
        table.add_column(f"KS@{size}", justify="right", no_wrap=True)
    if run.strict is not None:
        table.add_column(f"strict KS@{n}", justify="right", no_wrap=True)
    for name, group in run.categories.items():
        beside = run.strict.categories[name].ks_at_n if run.strict else None
        cells = _cells(group.ks_at_n, beside, shown)
        table.add_row(name, *_counted(group, counts=counts), *cells)
    table.add_section()
    cells = _cells(run.ks_at_n, run.strict.ks_at_n if run.strict else None, shown)
    is_low = is_below_median(run.ks_at_n, rows, n)
    name, style = ("all tasks ▼ below median", "bold red") if is_low else ("all tasks", "bold")
    table.add_row(name, *_counted(run, counts=counts), *cells, style=style)
    table.add_section()
    for row in rows:
        values = [_cell(row.ks_at_n[size], with_interval=False) for size in shown]
        blank = ("", "") if counts else ()
        table.add_row(baseline_name(row.name), *blank, *values, style="dim")
    console.print(table)
    for line in meaning(run, rows, n):
        console.print(Text(line))


def meaning(run: RunScore, rows: Sequence[Baseline], n: int) -> list[str]:
    """Put the headline into words.

    Parameters
    ----------
    run : RunScore
        The scores.
    rows : sequence of Baseline
        The baselines.
    n : int
        The headline N.

    Returns
    -------
    list of str
        The headline, then what is to be known about it.
    """
    rate = run.ks_at_n[n]
    assert rate.estimate is not None
    by_name = {row.name: row.ks_at_n[n].estimate for row in rows}
    anchors = [
        f"{baseline_name(name)} scores {_number(by_name[name])}"
        for name in ("perfect", "median")
        if by_name.get(name) is not None
    ]
    plural = "answer" if n == 1 else "answers"
    words = (
        f"KS@{n} = {_cell(rate, with_interval=True)}: on {rate.estimate:.0%} of tasks {n} {plural} "
        f"cannot be told from true draws at alpha {run.alpha:g}"
    )
    lines = [f"{words}; {', '.join(anchors)}." if anchors else f"{words}."]
    if rate.low is not None:
        lines.append("In brackets: 95% interval, were other tasks of these kinds asked.")
    lines += _near(run) + _lost(run)
    if is_below_median(run.ks_at_n, rows, n):
        lines.append("Below a model that always gives the median: these answers do not sample.")
    if rate.reason:
        lines.append(f"Note: {rate.reason}.")
    if n < FEWEST_TO_TELL:
        lines.append(few(n))
    lines += [f"Note: {note}." for note in run.notes]
    return lines + _half_life(run)


def _near(run: RunScore) -> list[str]:
    """Say how many tasks are within the margin of their law, where any verdict is definite."""
    within, beyond = (run.equivalence.get(verdict, 0) for verdict in ("equivalent", "different"))
    if not within + beyond:
        return []
    n_open = run.equivalence.get("undecided", 0)
    counts = f"at most {run.margin:g} on {within} tasks, more on {beyond}"
    return [f"Distance to the law, with 95% confidence: {counts}; too few answers on {n_open}."]


def _half_life(run: RunScore) -> list[str]:
    """Put the median N* into words."""
    median, star = run.n_star, run.n_star.median
    if star is None:
        return []
    if star < 1:
        return ["Half of the tasks fail with any number of answers (median N* = 0)."]
    more = f"[{median.low or 0:g}, {'more' if median.high is None else f'{median.high:g}'}]"
    return [f"Half of the tasks fail beyond N = {star:g} {more} answers (median N*)."]


def few(n: int) -> str:
    """Warn of an N that says little."""
    plural = "answer" if n == 1 else "answers"
    return f"Note: with {n} {plural} almost nothing can fail; ask for 100 to tell."


def _lost(run: RunScore) -> list[str]:
    """Say how many answers were invalid, of which kinds, and what that means."""
    kinds = sorted((-count, name) for name, count in run.statuses.items() if name != "valid")
    n_lost = -sum(count for count, _ in kinds)
    if not n_lost:
        return []
    shown = ", ".join(f"{name.replace('_', ' ')} {-count:,}" for count, name in kinds)
    what = "count against the model" if run.protocol == "strict" else "are left out"
    return [f"{n_lost:,} of {run.n_slots:,} answers are invalid and {what}: {shown}."]


def _nothing(run: RunScore) -> str:
    """Say why there is no score at any N."""
    if not run.n_slots:
        return "There is no answer to score."
    if all(task.stopped for task in run.tasks):
        return "Every task was stopped early: there is no score."
    largest = max(task.n_slots for task in run.tasks)
    if run.n[0] > largest:
        return f"No task has {run.n[0]:,} answers: there are at most {largest:,} to a task."
    plural = "answer" if run.n[0] == 1 else "answers"
    return " ".join([f"No task has {run.n[0]:,} valid {plural}.", *_lost(run)])


def _counted(scored: GroupScore | RunScore, *, counts: bool) -> tuple[str, ...]:
    return (str(scored.n_tasks), _percent(scored.validity)) if counts else ()


def baseline_name(name: str) -> str:
    """Return a baseline's name in words.

    Examples
    --------
    >>> baseline_name("kpoint:3")
    '3 values, equally often'
    """
    kind, _, amount = name.partition(":")
    if kind == "kpoint":
        return f"{amount} values, equally often"
    if kind == "rounded":
        return f"perfect, {amount} decimals"
    return NAMES.get(name, name)


def _shown(run: RunScore, n: int, width: int) -> list[int]:
    there = [size for size in run.n if 1 < size <= n] or [n]
    room = max(1, (width - 60) // 9)
    return [n] if width < NARROW else there[-1 - room :]


def _cells(
    by_n: Mapping[int, Rate], beside: Mapping[int, Rate] | None, shown: Sequence[int]
) -> list[str]:
    """Return the cells of one row; the last size has its interval, and so has what is beside."""
    last = shown[-1]
    cells = [_cell(by_n[size], with_interval=size == last) for size in shown]
    return cells if beside is None else [*cells, _cell(beside[last], with_interval=True)]


def _cell(rate: Rate, *, with_interval: bool) -> str:
    if rate.estimate is None:
        return "-"
    if not with_interval or rate.low is None or rate.high is None:
        return _number(rate.estimate)
    return f"{_number(rate.estimate)} [{_number(rate.low)}, {_number(rate.high)}]"


def _number(value: float | None) -> str:
    """Two decimals; never 1.00 for what is not 1, and never 0.00 for what is not 0."""
    if value is None:
        return "-"
    if 0.995 <= value < 1:
        return ">.99" if value < 0.9995 else "1.00"
    return "<.01" if 0.0005 < value < 0.005 else f"{value:.2f}"


def _percent(share: float | None) -> str:
    return "-" if share is None or math.isnan(share) else f"{share:.0%}"


def print_rows(console: Console, rows: Sequence[Mapping[str, str]]) -> None:
    """Print rows of equal keys as a table, or one below the other where there is no room.

    Parameters
    ----------
    console : rich.console.Console
        Where to.
    rows : sequence of mapping
        Cells by heading.
    """
    if not rows:
        return
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    for place, name in enumerate(rows[0]):
        table.add_column(
            name, justify="right" if place else "left", no_wrap=bool(place), overflow="fold"
        )
    for row in rows:
        table.add_row(*row.values())
    widths = [
        max(len(line) for row in (*rows, {name: name}) for line in row[name].splitlines())
        for name in rows[0]
    ]
    if sum(widths[1:]) + 3 * len(widths) + min(widths[0], LEAST_NAME) <= console.width:
        console.print(table)
        return
    for row in rows:
        lines = [f"  {' '.join(name.split())}: {value}" for name, value in list(row.items())[1:]]
        console.print(Text("\n".join([next(iter(row.values())), *lines])))
