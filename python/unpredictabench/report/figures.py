"""The charts of a report as files for papers: SVG and PDF, the numbers beside each as CSV."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from unpredictabench._whole import whole
from unpredictabench.report import charts, provenance
from unpredictabench.report.details import task_data
from unpredictabench.report.findings import example
from unpredictabench.report.page import group_rates
from unpredictabench.report.tables import rate_cells

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Sequence

    from matplotlib.figure import Figure

    from unpredictabench.report.contents import Contents
    from unpredictabench.score.results import Rate

_NO_ANSWERS_CUT: Final = 200


def write_figures(contents: Contents, folder: str | os.PathLike[str]) -> list[Path]:
    """Write the charts of a report.

    Parameters
    ----------
    contents : Contents
        The report.
    folder : path
        Where to; it is made.

    Returns
    -------
    list of Path
        The files: for each chart ``.svg``, ``.pdf`` and ``.csv``; and ``provenance.json``, whose
        lines are also in the metadata of every chart.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    """
    out = Path(folder)
    told = json.dumps(provenance.as_data(contents), ensure_ascii=True, indent=1)
    file = out / "provenance.json"
    with whole(file) as draft:
        draft.write_text(told + "\n", encoding="utf-8")
    files = [file]
    for name, figure, rows in _all(contents):
        files += _saved(out / name, figure, told)
        files.append(_numbers(out / f"{name}.csv", rows))
    return files


def _all(contents: Contents) -> Iterator[tuple[str, Figure, Iterable[dict[str, Any]]]]:
    n = contents.headline
    yield "headline", charts.headline(contents), _points(contents, (n,))
    yield "curves", charts.curves(contents), [*_points(contents, contents.n), *_curves(contents)]
    for kind in ("categories", "families"):
        table = group_rates(contents, kind, n)
        if table:
            yield kind, charts.heat(contents, list(table), table), _cells(contents, table)
    chosen = example(contents)
    task = next((task for task in contents.tasks if task.id == chosen), None)
    if task is not None and task.support != "nominal":
        data = task_data(task, contents, _NO_ANSWERS_CUT)
        yield "example", charts.against_law(data, contents, task.id), _steps(contents, data)


def _saved(stem: Path, figure: Figure, told: str) -> list[Path]:
    svg, pdf = stem.with_name(f"{stem.name}.svg"), stem.with_name(f"{stem.name}.pdf")
    # The style is applied again: fonts are chosen when a figure is saved.
    with charts.styled(), whole(svg) as picture, whole(pdf) as page:
        figure.savefig(picture, format="svg", metadata={"Date": None, "Description": told})
        figure.savefig(page, format="pdf", metadata={"CreationDate": None, "Keywords": told})
    return [svg, pdf]


def _numbers(file: Path, rows: Iterable[dict[str, Any]]) -> Path:
    listed = list(rows)
    columns = dict.fromkeys(key for row in listed for key in row)
    with (
        whole(file) as draft,
        draft.open("w", newline="", encoding="utf-8", errors="replace") as out,
    ):
        writer = csv.DictWriter(out, list(columns), restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(listed)
    return file


def _points(contents: Contents, sizes: Sequence[int]) -> Iterator[dict[str, Any]]:
    rows: list[tuple[str, str, dict[int, Rate]]] = [
        ("run", entry.label, dict(entry.score.ks_at_n)) for entry in contents.entries
    ]
    rows += [("baseline", f"sim:{b.name}", dict(b.ks_at_n)) for b in contents.baselines]
    for kind, model, rates in rows:
        for n in sizes:
            if n in rates:
                yield {"kind": kind, "model": model, "n": n} | rate_cells(rates[n])
    for row in contents.published:
        for n in sizes:
            if n in row.ks_at_n:
                share = row.ks_at_n[n]
                ends = {"low": share.interval.low, "high": share.interval.high}
                start = {"kind": "published", "model": row.model, "n": n}
                yield start | {"estimate": share.estimate} | ends


def _curves(contents: Contents) -> Iterator[dict[str, Any]]:
    for entry in contents.entries:
        for n, value in zip(entry.score.curve_n, entry.score.curve, strict=True):
            if value == value:  # noqa: PLR0124 - not NaN
                yield {"kind": "curve", "model": entry.label, "n": int(n), "estimate": float(value)}


def _cells(contents: Contents, table: dict[str, list[Rate | None]]) -> Iterator[dict[str, Any]]:
    for group, rates in table.items():
        for entry, rate in zip(contents.entries, rates, strict=True):
            start = {"group": group, "model": entry.label, "n": contents.headline}
            yield start | (rate_cells(rate) if rate is not None else {})


def _steps(contents: Contents, data: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for x, y in zip(data["x"], data["y"], strict=True):
        yield {"kind": "law", "model": data["law"], "x": x, "cumulated": y}
    for entry, run in zip(contents.entries, data["runs"], strict=True):
        if run is None:
            continue
        for value, count in zip(run["v"], run["c"], strict=True):
            yield {"kind": "answers", "model": entry.label, "x": value, "count": count}
