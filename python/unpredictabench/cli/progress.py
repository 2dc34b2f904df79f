"""Say how far a run is: a bar on a terminal, a plain line every few seconds elsewhere."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, TypeAlias

from unpredictabench.cli.terminal import open_console, plain, say, visible
from unpredictabench.errors import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from unpredictabench.generate import Progress

    Words: TypeAlias = Callable[[Any, float], str]

LINE_EVERY_S = 5.0
PATIENCE_S = 2.0
"""What is done sooner than this is not told, where there is no terminal."""
BAR_EVERY_S = 0.1
FEWEST_FOR_RATE, LEAST_SHARE, WARM_S = 10, 0.02, 60.0
"""When time left is told: from so many answers on, once they are such a share or took so long.

The first answers wait for models and laws to be loaded, and would promise hours.
"""


@contextlib.contextmanager
def reporter(title: str, words: Words | None = None) -> Iterator[Callable[[Any], None]]:
    """Give a function that shows progress on standard error.

    Parameters
    ----------
    title : str
        What is under way, a few words.
    words : callable, optional
        Puts progress and the seconds since the beginning into words; `described` by default.

    Yields
    ------
    callable
        Takes each progress, which has `n_done` and `n_total`; shows a few of them and always the
        last.
    """
    showing = _bar if is_terminal() else _lines
    with showing(title, words or described) as show:
        yield show


@contextlib.contextmanager
def teller() -> Iterator[Callable[[str], None]]:
    """Give a function that says on standard error what is being done.

    Yields
    ------
    callable
        Takes a few words. On a terminal they stand beside a spinner until the next ones come;
        elsewhere they are lines, the first after `PATIENCE_S`.
    """
    if is_terminal():
        with open_console(stderr=True).status("reading") as status:
            yield lambda words: status.update(plain(words))
        return
    said: list[str] = []

    def remind() -> None:
        for words in said[-1:]:
            say(words, err=True)

    timer = threading.Timer(PATIENCE_S, remind)
    timer.daemon = True
    timer.start()

    def tell(words: str) -> None:
        said.append(words)
        if timer.finished.is_set():
            say(words, err=True)

    try:
        yield tell
    finally:
        timer.cancel()


def is_terminal() -> bool:
    """Tell whether standard error is a terminal."""
    return sys.stderr.isatty()


def described(progress: Progress, elapsed_s: float) -> str:
    """Put progress into words: count, rate, time left, failures and cost.

    Parameters
    ----------
    progress : Progress
        How far a session is.
    elapsed_s : float
        Seconds since it began.

    Returns
    -------
    str
        One line.
    """
    n_settled = progress.n_done + progress.n_failed
    share = progress.n_done / progress.n_total if progress.n_total else 1.0
    words = [f"{progress.n_done:,} of {counted(progress.n_total, 'answer')} ({share:.0%})"]
    n_new, n_open = n_settled - progress.n_before, progress.n_total - n_settled
    is_warm = n_new >= LEAST_SHARE * (n_new + n_open) or elapsed_s >= WARM_S
    if elapsed_s > 0 and n_new >= FEWEST_FOR_RATE and is_warm:
        rate = n_new / elapsed_s
        words.append(f"{rate:,.0f}/s" if rate >= 100 else f"{rate:.3g}/s")
        words += [f"{duration(n_open / rate)} left"] if n_open else []
    if progress.n_failed:
        words.append(f"{progress.n_failed:,} failed")
    if progress.usage.cost:
        words.append(f"cost {progress.usage.cost:.4g}")
    return ", ".join(words)


def duration(seconds: float) -> str:
    """Write a duration in its two largest units.

    Examples
    --------
    >>> duration(5), duration(83), duration(7500)
    ('5 s', '1 min 23 s', '2 h 5 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


@contextlib.contextmanager
def _lines(title: str, words: Words) -> Iterator[Callable[[Any], None]]:
    def tell(text: str, _: Any) -> None:
        say(f"{title}: {text}", err=True)

    with _sparing(LINE_EVERY_S, tell, words) as show:
        yield show


@contextlib.contextmanager
def _bar(title: str, words: Words) -> Iterator[Callable[[Any], None]]:
    from rich.progress import BarColumn, TextColumn  # noqa: PLC0415 - as above
    from rich.progress import Progress as Bar  # noqa: PLC0415 - as above

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[words]}", markup=False),
    )
    with Bar(*columns, console=open_console(stderr=True)) as bar:
        task = bar.add_task(visible(title), total=None, words="")

        def update(text: str, progress: Any) -> None:
            bar.update(task, completed=progress.n_done, total=progress.n_total, words=text)

        with _sparing(BAR_EVERY_S, update, words) as show:
            yield show


@contextlib.contextmanager
def _sparing(
    every_s: float, show: Callable[[str, Any], None], words: Words
) -> Iterator[Callable[[Any], None]]:
    """Show progress at most every so many seconds, and the last, if anything is done by then."""
    # The clock starts with the first report: what was stored before was read until then.
    began = shown = None
    last: Any = None

    def take(progress: Any) -> None:
        nonlocal began, shown, last
        last, now = progress, time.monotonic()
        if began is None or shown is None:
            began = shown = now
        if now - shown >= every_s:
            shown = now
            show(words(progress, now - began), progress)

    try:
        yield take
    finally:
        if last is not None and began is not None and last.n_done:
            show(words(last, time.monotonic() - began), last)
