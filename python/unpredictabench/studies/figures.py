"""Figures of the studies, drawn with matplotlib (extra ``report``)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from unpredictabench._whole import whole
from unpredictabench.errors import MissingExtraError

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from unpredictabench.studies.difference import Difference
    from unpredictabench.studies.plan import Plan
    from unpredictabench.studies.sweep import Sweep

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Okabe and Ito's colours, told apart by all kinds of sight."""
DASHES = ("-", "--", "-.", ":")


def draw_sweeps(sweeps: Mapping[str, Sweep], path: str | os.PathLike[str]) -> None:
    """Draw KS@N against N for several models, each with its band."""
    figure, axes = _axes("KS@N at every N (bands: 95 %, tasks like these)")
    for place, (name, found) in enumerate(sweeps.items()):
        look = {"color": COLOURS[place % len(COLOURS)], "linestyle": DASHES[place % len(DASHES)]}
        axes.plot(found.n, found.mean, label=name, linewidth=1.8, **look)
        axes.fill_between(found.n, found.low, found.high, color=look["color"], alpha=0.15, lw=0)
    axes.set_xscale("log")
    ticks = [n for n in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000) if n <= axes.get_xlim()[1]]
    axes.set_xticks(ticks, [str(n) for n in ticks])
    axes.minorticks_off()
    axes.set_ylim(-0.02, 1.02)
    axes.set_xlabel("N, answers looked at")
    axes.set_ylabel("KS@N, share of tasks that pass")
    axes.legend(frameon=False, loc="lower left")
    _save(figure, path)


def draw_differences(found: Mapping[str, Difference], path: str | os.PathLike[str]) -> None:
    """Draw differences as dots with both intervals, and the replicates behind the first."""
    title = "Difference in KS@N, first less second"
    figure, axes = _axes(title, height=1.6 + 1.0 * len(found))
    for row, one in enumerate(reversed(list(found.values()))):
        spread = float(one.replicates.std())
        if spread > 0:
            heights, edges = _histogram(one.replicates)
            axes.fill_between(edges, row + 0.08, row + 0.08 + 0.6 * heights, color="#dddddd", lw=0)
        _bar(axes, one.tasks_like_these, row, COLOURS[0], "tasks like these")
        if one.this_benchmark is not None:
            _bar(axes, one.this_benchmark, row - 0.16, COLOURS[1], "this benchmark")
        axes.plot(one.estimate, row, "o", color=COLOURS[0], markersize=5)
    axes.axvline(0.0, color="#888888", linewidth=0.8)
    axes.set_yticks(range(len(found)), list(found)[::-1])
    axes.set_ylim(-0.5, len(found) - 0.1)
    axes.set_xlabel("difference")
    handles, labels = axes.get_legend_handles_labels()
    named = dict(zip(labels, handles, strict=True))
    figure.legend(named.values(), named.keys(), frameon=False, ncols=2, loc="outside lower center")
    _save(figure, path)


def draw_settings(
    means: Mapping[float, float],
    found: Mapping[float, Difference],
    path: str | os.PathLike[str],
    *,
    score: str,
    setting: str,
    reference: float,
) -> None:
    """Draw a score against a setting, and below it the paired difference from a reference."""
    figure, (above, below) = _pyplot().subplots(
        2, 1, figsize=(7, 5.6), sharex=True, height_ratios=(1, 1.2), layout="constrained"
    )
    above.plot(list(means), list(means.values()), "o-", color=COLOURS[0], linewidth=1.5)
    above.set_ylim(-0.02, 1.02)
    above.set_title(f"{score} by {setting}, and its paired difference (95 %, tasks like these)",
                    fontsize=11, loc="left")  # fmt: skip
    above.set_ylabel(score)
    values = list(found)
    centre = [found[value].estimate for value in values]
    low = [found[value].tasks_like_these.low for value in values]
    high = [found[value].tasks_like_these.high for value in values]
    below.vlines(values, low, high, color=COLOURS[0], linewidth=2)
    below.plot(values, centre, "o", color=COLOURS[0])
    below.plot(reference, 0.0, "s", color=COLOURS[1], label=f"reference, {setting} {reference:g}")
    below.axhline(0.0, color="#888888", linewidth=0.8)
    below.set_ylabel("difference from the reference")
    below.set_xlabel(setting)
    below.legend(frameon=False, loc="lower center")
    _bare(above)
    _bare(below)
    _save(figure, path)


def draw_plans(plans: Sequence[Plan], path: str | os.PathLike[str]) -> None:
    """Draw tasks needed against the difference to be seen, a line for each number of answers."""
    figure, axes = _axes(f"Tasks needed to see a difference with power {plans[0].least_power:g}")
    for place, n in enumerate(sorted({one.n_answers for one in plans})):
        some = sorted((one.difference, one.n_tasks) for one in plans if one.n_answers == n)
        look = {"color": COLOURS[place % len(COLOURS)], "linestyle": DASHES[place % len(DASHES)]}
        axes.plot(*zip(*some, strict=True), label=f"{n} answers a task", linewidth=1.8, **look)
    axes.axhline(448, color="#888888", linewidth=0.8)
    axes.annotate("448, suite v1", (max(one.difference for one in plans), 448),
                  ha="right", va="bottom", color="#555555")  # fmt: skip
    axes.set_xscale("log")
    axes.set_yscale("log")
    ticks = sorted({one.difference for one in plans})
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    counts = [n for n in (50, 100, 200, 500, 1000, 2000, 5000) if n <= axes.get_ylim()[1]]
    axes.set_yticks(counts, [f"{n:,}" for n in counts])
    axes.minorticks_off()
    axes.set_xlabel("difference in KS@N")
    axes.set_ylabel("tasks")
    axes.legend(frameon=False)
    _save(figure, path)


def _pyplot() -> Any:
    try:
        import matplotlib as mpl  # noqa: PLC0415 - an optional extra
    except ImportError as error:
        raise MissingExtraError("drawing figures", "report") from error
    mpl.use("agg")
    import matplotlib.pyplot as plt  # noqa: PLC0415 - as above

    return plt


def _axes(title: str, *, height: float = 4.5) -> tuple[Any, Any]:
    figure, axes = _pyplot().subplots(figsize=(7, height), layout="constrained")
    axes.set_title(title, fontsize=11, loc="left")
    _bare(axes)
    return figure, axes


def _bare(axes: Any) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(visible=True, color="#eeeeee", linewidth=0.8)
    axes.set_axisbelow(True)


def _bar(axes: Any, interval: Any, height: float, colour: str, label: str) -> None:
    axes.hlines(height, interval.low, interval.high, color=colour, linewidth=2.5, label=label)


def _histogram(values: Any) -> tuple[Any, Any]:
    import numpy as np  # noqa: PLC0415 - with the figure

    counts, edges = np.histogram(values, bins=60)
    return counts / counts.max(), (edges[1:] + edges[:-1]) / 2


def _save(figure: Any, path: str | os.PathLike[str]) -> None:
    with whole(path) as draft:
        figure.savefig(draft, dpi=150, format=Path(path).suffix[1:] or None)
    _pyplot().close(figure)
