"""The page: one file with everything in it, under a policy that lets nothing else in."""

from __future__ import annotations

import base64
import hashlib
import json
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

from unpredictabench.diagnose import WORDS
from unpredictabench.errors import MissingExtraError
from unpredictabench.report import charts
from unpredictabench.report.contents import doubts
from unpredictabench.report.details import score_of, task_data
from unpredictabench.report.findings import example, findings
from unpredictabench.report.packing import WIDTHS, packed
from unpredictabench.report.provenance import common_lines, entry_lines
from unpredictabench.report.svg import inline_svg
from unpredictabench.report.tables import half_life, interval, share

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from jinja2 import Environment

    from unpredictabench.records import Task
    from unpredictabench.report.contents import Contents, Entry
    from unpredictabench.score.results import Rate

PROTOCOLS: Final = {
    "strict": "strict: N answers are asked for, and invalid ones count against the model.",
    "valid": "valid: only valid answers are looked at, and N of them are demanded.",
    "paper": "paper: the published rule, which drops invalid answers.",
}
N_TOP: Final = 6
"""Answers shown for each run in the example."""


def page(contents: Contents) -> str:
    """Write a report as one HTML file.

    Parameters
    ----------
    contents : Contents
        The report.

    Returns
    -------
    str
        It asks for nothing over the network. Its content security policy allows the one script
        and the one style sheet in it, by their hashes, and nothing else.

    Raises
    ------
    MissingExtraError
        If Jinja or matplotlib is not installed.
    """
    environment = _environment()
    markup = environment.filters["safe"]
    data, width = packed(contents)
    script, style = _file("report.js"), _file("report.css")
    macros = environment.get_template("macros.html").module
    entries = contents.entries
    return environment.get_template("report.html").render(
        contents=contents,
        policy=_policy(script, style),
        css=markup(style),
        js=markup(script),
        findings=findings(contents),
        rows=[_row(entry, contents) for entry in entries],
        published_n=sorted({n for row in contents.published for n in row.ks_at_n}, reverse=True),
        charts={name: markup(drawn) for name, drawn in _charts(contents).items()},
        groups=_groups(contents),
        example=_example(contents, environment),
        supports=sorted({task.support for task in contents.tasks}),
        tasks=[_task(task, contents) | {"data": markup(data[task.id])} for task in contents.tasks],
        width=width,
        has_bands=len(entries) <= charts.MOST_BANDS,
        words=WORDS,
        entries_diagnosed=[(e, i) for i, e in enumerate(entries) if e.diagnosis is not None],
        protocol=PROTOCOLS[contents.first.protocol],
        provenance={
            "common": common_lines(contents),
            "runs": [{"entry": entry, "lines": entry_lines(entry)} for entry in entries],
        },
        runs=markup(_script_json([{"key": e.key, "label": e.label} for e in entries])),
        share=share,
        rate_cell=macros.rate_cell,  # type: ignore[attr-defined]
        heat_table=lambda caption, groups, _: macros.heat_table(caption, groups, entries),  # type: ignore[attr-defined]
    )


def heat_class(value: float | None) -> str:
    """Return the shade of a share, one of eleven; none where it is missing."""
    return "none" if value is None else f"h{round(10 * min(max(value, 0.0), 1.0))}"


def group_rates(contents: Contents, kind: str, n: int) -> dict[str, list[Rate | None]]:
    """Return KS@N of every group of tasks, one rate a run.

    Parameters
    ----------
    contents : Contents
        The report.
    kind : {"categories", "families"}
        Which groups.
    n : int
        The size N.

    Returns
    -------
    dict
        By name of the group; None where a run has no task of it.
    """
    tables = [getattr(entry.score, kind) for entry in contents.entries]
    names = dict.fromkeys(name for table in tables for name in table)
    return {
        name: [table[name].ks_at_n.get(n) if name in table else None for table in tables]
        for name in names
    }


def _environment() -> Environment:
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 - optional
    except ImportError:
        raise MissingExtraError("a report", "report") from None
    loader = PackageLoader("unpredictabench.report", "page")
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=False)


def _file(name: str) -> str:
    return (resources.files("unpredictabench.report") / "page" / name).read_text(encoding="utf-8")


def _policy(script: str, style: str) -> str:
    return (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'"
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _script_json(data: object) -> str:
    """Write JSON that cannot end the script element it stands in."""
    return json.dumps(data).replace("<", "\\u003c")


def _charts(contents: Contents) -> dict[str, str]:
    n = contents.headline
    headline, curves = charts.headline(contents), charts.curves(contents)
    with charts.styled():
        return {
            "headline": inline_svg(headline, f"KS@{n} of every model with intervals", "headline"),
            "curves": inline_svg(curves, "KS@N over N for every model and baseline", "curves"),
        }


def _row(entry: Entry, contents: Contents) -> dict[str, Any]:
    median, _, ends = half_life(entry).partition(" (")
    is_known = entry.score.n_star.median is not None
    return {
        "entry": entry,
        "doubts": doubts(entry, contents.entries, contents.headline),
        "half_life": (median, ends.rstrip(")")) if is_known else ("–", ""),
        "why": None if is_known else half_life(entry),
    }


def _groups(contents: Contents) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for kind in ("categories", "families"):
        table = group_rates(contents, kind, contents.headline)
        found[kind] = {
            name: {
                "n_tasks": max(rate.n_tasks for rate in rates if rate is not None),
                "cells": [_cell(rate) for rate in rates],
            }
            for name, rates in table.items()
        }
    return found


def _cell(rate: Rate | None) -> dict[str, str]:
    if rate is None or rate.estimate is None:
        return {"heat": "none", "text": "–", "ends": ""}
    shown = f"{100 * rate.estimate:.0f}"
    return {"heat": heat_class(rate.estimate), "text": shown, "ends": interval(rate)}


def _task(task: Task, contents: Contents) -> dict[str, Any]:
    rates = []
    for entry in contents.entries:
        score = score_of(entry, task.id)
        rates.append(None if score is None else score.pass_rates.get(contents.headline))
    chips = [
        {"key": entry.key, "heat": heat_class(rate), "text": "–" if rate is None else _whole(rate)}
        for entry, rate in zip(contents.entries, rates, strict=True)
    ]
    return {
        "id": task.id, "category": task.category, "support": task.support, "chips": chips,
        "search": f"{task.id} {task.family} {task.support}".lower(),
        "rates": ",".join("" if rate is None else f"{100 * rate:.1f}" for rate in rates),
    }  # fmt: skip


def _whole(rate: float) -> str:
    return f"{100 * rate:.0f}"


def _example(contents: Contents, environment: Environment) -> dict[str, Any] | None:
    name = example(contents)
    if name is None:
        return None
    number, task = next(
        (i, task) for i, task in enumerate(contents.tasks, start=1) if task.id == name
    )
    data = task_data(task, contents, WIDTHS[0])
    chart = None
    if data["kind"] == "number":
        drawn = charts.against_law(data, contents, task.id)
        with charts.styled():
            svg = inline_svg(drawn, f"Answers to {task.id} against the law", "example")
        chart = environment.filters["safe"](svg)
    runs = [_shown(entry, run) for entry, run in zip(contents.entries, data["runs"], strict=True)]
    return {"number": number, "task": task, "data": data, "chart": chart, "runs": runs}


def _shown(entry: Entry, run: Mapping[str, Any] | None) -> dict[str, Any]:
    if run is None:
        return {"entry": entry, "say": "", "word": "", "top": [], "distinct": 0}
    rows: Sequence[Sequence[Any]] = run["a"][:N_TOP]
    top = [
        {
            "text": "(no text)" if text is None else text,
            "count": n,
            "status": status,
            "value": value,
        }
        for text, n, status, value, _ in rows
    ]
    distinct = len(run["a"]) + run["more"]
    return {
        "entry": entry, "say": run["say"], "word": run["word"], "top": top, "distinct": distinct,
    }  # fmt: skip
