"""From run folders to a report: score what is not scored, read the answers, put in order."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from unpredictabench._whole import whole
from unpredictabench.diagnose import diagnose
from unpredictabench.errors import InputError
from unpredictabench.report.answers import sample_of
from unpredictabench.report.contents import Contents, Entry, headline_n, ranked
from unpredictabench.report.page import page
from unpredictabench.report.provenance import Account, provenance_of
from unpredictabench.score import RunScore, baselines_of, score
from unpredictabench.score.rules import ALPHA, MARGIN, SIZES, sizes_of
from unpredictabench.score.side_by_side import each
from unpredictabench.score.suites import planned_tasks
from unpredictabench.store import Run, open_run
from unpredictabench.tasks import Suite

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from unpredictabench.records import Reading, Task
    from unpredictabench.report.contents import PublishedScores
    from unpredictabench.score.rules import Protocol
    from unpredictabench.score.samplers import Baseline

    Given: TypeAlias = Run | RunScore | str | os.PathLike[str]

_ALIKE = ("suite_hash", "protocol", "alpha", "n", "mode")
"""What the scores of one report must share."""


def report(
    runs: Sequence[Given],
    path: str | os.PathLike[str] = "report.html",
    *,
    n: Sequence[int] = SIZES,
    alpha: float = ALPHA,
    protocol: Protocol = "strict",
    mode: Reading = "lenient",
    suite: Suite | str | os.PathLike[str] | None = None,
    published: Sequence[PublishedScores] = (),
    has_baselines: bool = True,
    title: str | None = None,
) -> Path:
    """Write runs as one HTML file that works offline.

    Parameters
    ----------
    runs : sequence of path, Run or RunScore
        Run folders, which are scored, or scores, of which no answers can be shown. They must
        belong to one suite.
    path : path, default "report.html"
        The file to write.
    n, alpha, protocol, mode, suite
        As for `score`; not used for scores.
    published : sequence, optional
        Rows of a published leaderboard to compare with, such as
        ``integrations.published_rows()``.
    has_baselines : bool, default True
        Whether to score simple samplers on the same tasks.
    title : str, optional
        Heading; made of the names of the models by default.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InputError
        If there are no runs, or they cannot be compared.
    MissingExtraError
        If matplotlib or Jinja is not installed.

    Notes
    -----
    The same runs give the same bytes: the file holds the dates of the answers, none of its own.
    """
    found = contents(
        runs, n=n, alpha=alpha, protocol=protocol, mode=mode, suite=suite, published=published,
        has_baselines=has_baselines, title=title,
    )  # fmt: skip
    return write_page(found, path)


def write_page(found: Contents, path: str | os.PathLike[str]) -> Path:
    """Write the page of a report.

    Parameters
    ----------
    found : Contents
        The report.
    path : path
        The file to write; its folder is made.
    """
    file = Path(path)
    text = page(found)
    with whole(file) as draft:
        # A name or an answer may hold half of a surrogate pair, which no encoding can write.
        draft.write_bytes(text.encode("utf-8", "replace"))
    return file


def contents(
    runs: Sequence[Given],
    *,
    n: Sequence[int] = SIZES,
    alpha: float = ALPHA,
    protocol: Protocol = "strict",
    suite: Suite | str | os.PathLike[str] | None = None,
    published: Sequence[PublishedScores] = (),
    has_baselines: bool = True,
    title: str | None = None,
    mode: Reading = "lenient",
    margin: float = MARGIN,
    has_answers: bool = True,
    workers: int | None = None,
    tell: Callable[[str], None] | None = None,
) -> Contents:
    """Gather what a report shows.

    Parameters
    ----------
    runs, n, alpha, protocol, suite, published, has_baselines, title
        As for `report`.
    mode, margin
        As for `score`.
    has_answers : bool, default True
        Whether the answers to the single tasks are shown, which tables have no use for.
    workers : int, optional
        Runs scored at a time; all allowed cores by default, one where `suite` is a `Suite`.
    tell : callable, optional
        Told in a few words how far it is.

    Returns
    -------
    Contents
        Runs best first, incomplete ones behind.
    """
    if isinstance(runs, str | os.PathLike) or not runs:
        raise InputError("runs", "be a list of at least one run", runs)
    stored = [given.path if isinstance(given, Run) else given for given in runs
              if not isinstance(given, RunScore)]  # fmt: skip
    how = {"n": sizes_of(n), "alpha": alpha, "protocol": protocol, "mode": mode, "margin": margin}
    how |= {"suite": suite, "has_answers": has_answers}
    # The laws of a suite at hand cannot be sent to another process.
    made = each(_entry, stored, how, workers=1 if isinstance(suite, Suite) else workers, tell=tell)
    tasks: dict[str, Task] = {}
    for path in stored:
        tasks |= {task.id: task for task in planned_tasks(open_run(path), suite)}
    baselines: tuple[Baseline, ...] = ()
    if made and has_baselines:
        baselines = baselines_of(stored[0], made[0].score, suite=suite)
    rest = iter(made)
    entries = [
        Entry("", given.model, given) if isinstance(given, RunScore) else next(rest)
        for given in runs
    ]
    return assembled(entries, list(tasks.values()), baselines, published, title=title)


def _entry(
    path: str | os.PathLike[str],
    *,
    suite: Suite | str | os.PathLike[str] | None,
    has_answers: bool,
    **how: Any,
) -> Entry:
    run = open_run(path)
    found = score(run, suite=suite, **how)
    return entry_of(run, found, planned_tasks(run, suite), has_answers=has_answers)


def entry_of(
    run: Run, scores: RunScore, tasks: Sequence[Task], *, has_answers: bool = True
) -> Entry:
    """Read the answers of a scored run.

    Parameters
    ----------
    run : Run
        The run.
    scores : RunScore
        Its scores.
    tasks : sequence of Task
        Its tasks.
    has_answers : bool, default True
        Whether they are kept and diagnosed; otherwise they are only counted.

    Returns
    -------
    Entry
        Without a key, which depends on the others.
    """
    known = {task.id: task for task in tasks} if has_answers else {}
    account = Account()
    samples = {}
    for name, completions in groupby(run.completions(), key=lambda each: each.task):
        listed = account.add(completions)
        if name in known:
            samples[name] = sample_of(known[name], listed, mode=scores.mode)
    found = diagnose(tasks, run.completions(), mode=scores.mode) if has_answers else None
    return Entry("", scores.model, scores, samples, provenance_of(run, account), found)


def assembled(
    entries: Sequence[Entry],
    tasks: Sequence[Task],
    baselines: Sequence[Baseline] = (),
    published: Sequence[PublishedScores] = (),
    *,
    title: str | None = None,
) -> Contents:
    """Put entries in order and name them.

    Parameters
    ----------
    entries : sequence of Entry
        At least one.
    tasks : sequence of Task
        Their tasks.
    baselines : sequence of Baseline
        What simple samplers score.
    published : sequence
        Rows of a published leaderboard.
    title : str, optional
        Heading.

    Returns
    -------
    Contents
        The report.

    Raises
    ------
    InputError
        If the scores belong to different suites or rules: they must not stand in one table.
    """
    for name in _ALIKE:
        values = {getattr(entry.score, name) for entry in entries}
        if len(values) > 1:
            raise InputError("runs", f"agree in their {name.replace('_', ' ')}", values)
    headline = headline_n([entry.score for entry in entries])
    twice = Counter(entry.label for entry in entries)
    named = [
        replace(e, label=f"{e.label} ({Path(e.score.name).name})") if twice[e.label] > 1 else e
        for e in entries
    ]
    keyed = tuple(
        replace(entry, key=letters(index)) for index, entry in enumerate(ranked(named, headline))
    )
    heading = title or _title(keyed)
    return Contents(
        heading, keyed, tuple(baselines), tuple(published), tuple(tasks), keyed[0].score.n,
        headline, version("unpredictabench"),
    )  # fmt: skip


def letters(index: int) -> str:
    """Return A to Z, then AA and on.

    Examples
    --------
    >>> letters(0), letters(25), letters(26)
    ('A', 'Z', 'AA')
    """
    head, place = divmod(index, 26)
    return (letters(head - 1) if head else "") + chr(ord("A") + place)


def _title(entries: Sequence[Entry]) -> str:
    names = [entry.label for entry in entries]
    shown = (
        ", ".join(names) if len(names) <= 3 else f"{', '.join(names[:2])} and {len(names) - 2} more"
    )
    return f"How faithfully they sample: {shown}"
