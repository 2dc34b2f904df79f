"""The charts of a report: headline, KS@N curves, heat maps, one task; drawn by matplotlib."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from itertools import cycle
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from unpredictabench.errors import MissingExtraError
from unpredictabench.report.svg import INK

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from unpredictabench.report.contents import Contents, Entry
    from unpredictabench.score.results import Rate

COLOURS: Final = (
    "#0072b2", "#d55e00", "#009e73", "#b8519a", "#8c6bb1", "#a07800", "#3a8fc7", "#7a7f87",
)  # fmt: skip
"""Colours of runs, at least 3:1 on white and on the dark page."""
GREY: Final = "#868b92"
_DASHES: Final = ("-", "--", ":", "-.")
_BASELINE_DASHES: Final = ("--", ":", "-.", (0, (8, 2)), (0, (1, 3)), (0, (6, 1, 1, 1, 1, 1)))
MOST_BANDS: Final = 6
"""Most runs whose bands are drawn: more hide each other; the table has every interval."""


@contextmanager
def styled() -> Iterator[type[Figure]]:
    """Give the class of figures, with the style of reports while it is used."""
    try:
        import matplotlib as mpl  # noqa: PLC0415 - optional, and half a second
        from matplotlib.figure import Figure  # noqa: PLC0415
    except ImportError:
        raise MissingExtraError("a report", "report") from None
    style: dict[Any, Any] = {
        "svg.fonttype": "none", "svg.hashsalt": "unpredictabench", "pdf.fonttype": 42,
        "font.family": "sans-serif", "font.size": 11, "axes.spines.top": False,
        "axes.spines.right": False, "axes.edgecolor": INK, "axes.labelcolor": INK,
        "text.color": INK, "xtick.color": INK, "ytick.color": INK, "grid.color": GREY,
        "grid.alpha": 0.3, "legend.frameon": False, "text.parse_math": False,
    }  # fmt: skip
    with mpl.rc_context(style), warnings.catch_warnings():
        # The page and the reader of an SVG have fonts of their own.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        yield Figure


def look(index: int) -> dict[str, Any]:
    """Return the look of a run: eight colours, then the same with other dashes."""
    n = len(COLOURS)
    return {"color": COLOURS[index % n], "linestyle": _DASHES[index // n % len(_DASHES)]}


def curves(contents: Contents) -> Figure:
    """Draw KS@N over log N: runs with bands, baselines, published rows.

    Parameters
    ----------
    contents : Contents
        The report.

    Returns
    -------
    matplotlib.figure.Figure
        One axes; the lines stand in the order of the table.
    """
    n_lines = len(contents.entries) + len(contents.baselines) + bool(contents.published)
    with styled() as make:
        rows = -(-n_lines // 2)
        figure = make(figsize=(6.4, 3.9 + 0.22 * rows), layout="constrained")
        axes = figure.subplots()
        for published in contents.published:
            _line(axes, _shares(published.ks_at_n), color=GREY, linewidth=0.6, alpha=0.45)
        for index, entry in enumerate(contents.entries):
            _entry_curve(axes, entry, index, has_band=len(contents.entries) <= MOST_BANDS)
        for baseline, dashes in zip(contents.baselines, cycle(_BASELINE_DASHES), strict=False):
            name, rates = f"sim:{baseline.name}", _known(baseline.ks_at_n)
            style = {"color": GREY, "linestyle": dashes, "linewidth": 1.4, "zorder": 1.8}
            _line(axes, rates, label=name, **style)
        if contents.published:
            axes.plot([], [], color=GREY, linewidth=0.6, label=_published_label(contents))
        _log_axes(axes, contents)
        figure.legend(loc="outside lower left", ncols=2, fontsize=10)
    return figure


def headline(contents: Contents) -> Figure:
    """Draw KS@N at the headline N with its interval, a row a model."""
    n = contents.headline
    rows: list[tuple[str, float, float, float, str]] = []
    for index, entry in enumerate(contents.entries):
        rows += _bar(f"{entry.key}  {entry.label}", entry.rate(n), str(look(index)["color"]))
    for baseline in contents.baselines:
        rows += _bar(f"sim:{baseline.name}", baseline.ks_at_n.get(n), GREY)
    for published in contents.published:
        share = published.ks_at_n.get(n)
        if share is not None:
            ends = share.interval
            name = f"{published.model} (published)"
            rows.append((name, share.estimate, ends.low, ends.high, GREY))
    with styled() as make:
        figure = make(figsize=(6.4, 1.0 + 0.27 * max(len(rows), 1)), layout="constrained")
        axes = figure.subplots()
        for y, (_, estimate, low, high, colour) in enumerate(rows):
            axes.plot([low, high], [y, y], color=colour, linewidth=2)
            axes.plot([estimate], [y], color=colour, marker="o", markersize=5)
        axes.set_yticks(range(len(rows)), [_short(row[0], 38) for row in rows])
        axes.set_ylim(max(len(rows), 1) - 0.4, -0.6)
        axes.set_xlim(-0.01, 1.01)
        axes.set_xlabel(f"KS@{n}, share of tasks that pass")
        axes.grid(axis="x")
        axes.spines["left"].set_visible(False)
    return figure


def heat(
    contents: Contents, groups: Sequence[str], rates: Mapping[str, Sequence[Rate | None]]
) -> Figure:
    """Draw a heat map of KS@N: a row a group of tasks, a column a run.

    Parameters
    ----------
    contents : Contents
        The report.
    groups : sequence of str
        Names of the rows.
    rates : mapping
        For each group one rate a run; None where the run has no such task.
    """
    table = np.array(
        [
            [np.nan if r is None or r.estimate is None else r.estimate for r in rates[g]]
            for g in groups
        ]
    ).reshape(len(groups), len(contents.entries))
    with styled() as make:
        width = 2.6 + max(0.55 * len(contents.entries), 2.0)
        labels = [f"{entry.key}  {_short(entry.label, 24)}" for entry in contents.entries]
        # Slanted names need room of their own, or a few rows would be left with none.
        height = 0.9 + 0.05 * max(map(len, labels)) + 0.26 * len(groups)
        figure = make(figsize=(width, height), layout="constrained")
        axes = figure.subplots()
        axes.imshow(table, vmin=0, vmax=1, cmap="cividis", aspect="auto", interpolation="nearest")
        for (y, x), value in np.ndenumerate(table):
            shade = "white" if np.isnan(value) or value < 0.5 else "black"
            text = "–" if np.isnan(value) else f"{100 * value:.0f}"
            axes.text(x, y, text, ha="center", va="center", color=INK if text == "–" else shade)
        axes.set_yticks(range(len(groups)), list(groups))
        axes.set_xticks(range(len(labels)), labels, rotation=35, ha="right")
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0)
        axes.set_title(f"KS@{contents.headline} in %", loc="left", fontsize=11)
    return figure


def against_law(data: Mapping[str, Any], contents: Contents, title: str) -> Figure:
    """Draw the ecdf of every run's answers to a number task against the law, the gap marked.

    Parameters
    ----------
    data : mapping
        As `details.task_data` gives it.
    contents : Contents
        The report.
    title : str
        Id of the task.
    """
    with styled() as make:
        figure = make(figsize=(6.4, 4.2), layout="constrained")
        axes = figure.subplots()
        axes.plot(data["x"], data["y"], color=INK, linewidth=1.6, label=f"law: {data['law']}")
        for index, (entry, run) in enumerate(zip(contents.entries, data["runs"], strict=True)):
            if run is None or not run["n"]:
                continue
            label = f"{entry.key}  {_short(entry.label, 26)}"
            axes.step(*_ecdf(data, run), where="post", label=label, **look(index))
            if run["at"] is not None:
                axes.axvline(run["at"], linewidth=0.8, alpha=0.6, **look(index))
        axes.set_xlim(data["lo"], data["hi"])
        axes.set_ylim(-0.01, 1.01)
        axes.set_xlabel("answer")
        axes.set_ylabel("share at or below")
        axes.set_title(_short(title, 70), loc="left", fontsize=11)
        axes.grid()
        figure.legend(loc="outside lower left", ncols=2, fontsize=10)
    return figure


def _ecdf(data: Mapping[str, Any], run: Mapping[str, Any]) -> tuple[list[float], list[float]]:
    """Return the steps of a run's ecdf, from one end of the picture to the other."""
    n = run["n"] if run["w"] else max(sum(run["c"]), 1)
    share = [0.0, *(np.cumsum(run["c"]) / n).tolist()]
    low, high = min([data["lo"], *run["v"]]), max([data["hi"], *run["v"]])
    return [low, *run["v"], high], [*share, share[-1]]


def _entry_curve(axes: Axes, entry: Entry, index: int, *, has_band: bool) -> None:
    score, style = entry.score, look(index)
    known = ~np.isnan(score.curve)
    label = f"{entry.key}  {_short(entry.label, 26)}"
    axes.plot(score.curve_n[known], score.curve[known], linewidth=2, label=label, **style)
    ends = [(n, r.low, r.high) for n, r in score.ks_at_n.items() if r.low is not None]
    if has_band and ends:
        n, low, high = (np.array(part, dtype=np.float64) for part in zip(*ends, strict=True))
        axes.fill_between(n, low, high, color=style["color"], alpha=0.15, linewidth=0)


def _log_axes(axes: Axes, contents: Contents) -> None:
    axes.set_xscale("log")
    axes.set_xticks(list(contents.n), [str(n) for n in contents.n])
    axes.minorticks_off()
    axes.set_ylim(-0.01, 1.01)
    axes.set_xlabel("N, answers that are tested together (log scale)")
    axes.set_ylabel("share of tasks that pass")
    axes.grid()


def _published_label(contents: Contents) -> str:
    return f"published leaderboard ({len(contents.published)} models, its own protocol)"


def _line(axes: Axes, points: Mapping[int, float], **style: Any) -> None:
    axes.plot(list(points), list(points.values()), **style)


def _shares(rates: Mapping[int, Any]) -> dict[int, float]:
    return {n: rate.estimate for n, rate in rates.items()}


def _known(rates: Mapping[int, Rate]) -> dict[int, float]:
    return {n: rate.estimate for n, rate in rates.items() if rate.estimate is not None}


def _bar(
    name: str, rate: Rate | None, colour: str
) -> Iterator[tuple[str, float, float, float, str]]:
    if rate is not None and rate.estimate is not None:
        low = rate.estimate if rate.low is None else rate.low
        high = rate.estimate if rate.high is None else rate.high
        yield name, rate.estimate, low, high, colour


def _short(text: str, width: int) -> str:
    """Cut the middle out of a long text: names of models often differ at their ends."""
    line = "".join(sign if sign.isprintable() else "\ufffd" for sign in " ".join(text.split()))
    if len(line) <= width:
        return line
    head = width // 2
    return f"{line[:head]}…{line[head + 1 - width :]}"
