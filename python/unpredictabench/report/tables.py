"""The headline table as CSV, Markdown and LaTeX, each with where its numbers come from."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

from unpredictabench.errors import InputError
from unpredictabench.report.contents import doubts
from unpredictabench.report.provenance import common_lines, entry_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from unpredictabench.report.contents import Contents, Entry, PublishedScores, PublishedShare
    from unpredictabench.score.results import Rate
    from unpredictabench.score.samplers import Baseline

Form: TypeAlias = Literal["csv", "markdown", "latex"]

COLUMNS: Final = (
    "kind", "model", "run", "group", "n", "estimate", "low", "high", "standard_error",
    "interval_method", "estimand", "reason", "n_tasks", "n_covered", "validity", "mark",
    "suite", "suite_hash", "protocol", "alpha", "package", "provenance",
)  # fmt: skip
"""Columns of the CSV: one row for each model, group of tasks and N."""
MISSING: Final = "not available"
_FORMULA: Final = frozenset("=+-@\t\r\n＝＋－＠")
"""Signs, also in their wide forms, with which spreadsheets begin a formula (OWASP)."""
_MARKDOWN: Final = {ord(sign): f"\\{sign}" for sign in "\\`*_{}[]()#+-.!|~$"} | {
    ord("<"): "&lt;",
    ord(">"): "&gt;",
    ord("&"): "&amp;",
    ord("\n"): " ",
    ord("\r"): " ",
}
_LATEX: Final = {ord(sign): f"\\{sign}" for sign in "{}$&#%_"} | {
    ord("\\"): r"\textbackslash{}",
    ord("^"): r"\textasciicircum{}",
    ord("~"): r"\textasciitilde{}",
    ord("<"): r"\textless{}",
    ord(">"): r"\textgreater{}",
    ord("|"): r"\textbar{}",
    ord('"'): "''",
    ord("\n"): " ",
    ord("\r"): " ",
}


def table_text(contents: Contents, form: Form) -> str:
    """Write the scores of a report as a table for a paper.

    Parameters
    ----------
    contents : Contents
        The report.
    form : {"csv", "markdown", "latex"}
        CSV has one row for each model, group and N, with every number; the others have one row a
        model. LaTeX needs the package booktabs.

    Returns
    -------
    str
        The table; missing numbers are empty in CSV, with the reason beside them, and
        "not available" in the others.
    """
    if form not in get_args(Form):
        raise InputError("form", "be 'csv', 'markdown' or 'latex'", form)
    if form == "csv":
        return _csv(contents)
    return _markdown(contents) if form == "markdown" else _latex(contents)


def percent(rate: Rate | None, digits: int = 1) -> str:
    """Write a rate in percent, or that it is missing."""
    if rate is None or rate.estimate is None:
        return MISSING
    return f"{100 * rate.estimate:.{digits}f}"


def interval(rate: Rate | None) -> str:
    """Write the ends of an interval in percent; empty where there is none."""
    if rate is None or rate.low is None or rate.high is None:
        return ""
    return f"{100 * rate.low:.1f} to {100 * rate.high:.1f}"


def csv_row(row: Mapping[str, object]) -> dict[str, object]:
    r"""Return a row whose texts no spreadsheet takes for a formula; numbers stay numbers.

    A text that begins with a sign that starts a formula gets an apostrophe before it, which
    spreadsheets do not show.

    Examples
    --------
    >>> csv_row({"model": "=HYPERLINK(1)", "estimate": -0.5, "run": "a-b"})
    {'model': "'=HYPERLINK(1)", 'estimate': -0.5, 'run': 'a-b'}
    """
    return {
        name: f"'{cell}" if isinstance(cell, str) and cell.lstrip(" ")[:1] in _FORMULA else cell
        for name, cell in row.items()
    }


def markdown_text(text: str) -> str:
    r"""Escape a text for a cell of a Markdown table.

    Examples
    --------
    >>> markdown_text("<script>alert(1)</script> | x")
    '&lt;script&gt;alert\\(1\\)&lt;/script&gt; \\| x'
    """
    return text.translate(_MARKDOWN)


def latex_text(text: str) -> str:
    r"""Escape a text for a cell of a LaTeX table.

    Examples
    --------
    >>> latex_text("50% of a_b")
    '50\\% of a\\_b'
    """
    return text.translate(_LATEX)


def _csv(contents: Contents) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    shared = _shared(contents)
    for entry in contents.entries:
        writer.writerows(csv_row(row | shared) for row in _entry_rows(entry, contents))
    for baseline in contents.baselines:
        writer.writerows(csv_row(row | shared) for row in _baseline_rows(baseline))
    for published in contents.published:
        writer.writerows(map(csv_row, _published_rows(published)))
    return out.getvalue()


def _shared(contents: Contents) -> dict[str, object]:
    score = contents.first
    package = dict(common_lines(contents))["package"]
    return {
        "suite": score.suite, "suite_hash": score.suite_hash, "protocol": score.protocol,
        "alpha": score.alpha, "package": package,
    }  # fmt: skip


def _entry_rows(entry: Entry, contents: Contents) -> Iterator[dict[str, object]]:
    score = entry.score
    groups = {"all": (score.ks_at_n, score.validity)}
    for found in (*score.categories.values(), *score.families.values()):
        kind = "category" if score.categories.get(found.name) is found else "family"
        groups[f"{kind} {found.name}"] = (found.ks_at_n, found.validity)
    origin = json.dumps(dict(entry_lines(entry)), ensure_ascii=False)
    for group, (rates, validity) in groups.items():
        for n, rate in rates.items():
            mark = "; ".join(doubts(entry, contents.entries, n))
            yield rate_cells(rate) | {
                "kind": "run", "model": entry.label, "run": score.name, "group": group, "n": n,
                "validity": validity, "mark": mark, "provenance": origin,
            }  # fmt: skip


def _baseline_rows(baseline: Baseline) -> Iterator[dict[str, object]]:
    groups = {"all": baseline.ks_at_n}
    groups |= {f"category {name}": rates for name, rates in baseline.categories.items()}
    for group, rates in groups.items():
        for n, rate in rates.items():
            yield rate_cells(rate) | {
                "kind": "baseline", "model": f"sim:{baseline.name}", "group": group, "n": n,
            }  # fmt: skip


def rate_cells(rate: Rate) -> dict[str, object]:
    """Return the numbers of a rate by column."""
    return asdict(rate)


def _published_rows(row: PublishedScores) -> Iterator[dict[str, object]]:
    for n, share in row.ks_at_n.items():
        found: PublishedShare = share
        yield {
            "kind": "published", "model": row.model, "group": "all", "n": n,
            "estimate": found.estimate, "low": found.interval.low, "high": found.interval.high,
            "interval_method": "wilson over tasks", "n_tasks": found.n_tasks,
            "mark": "; ".join(row.marks), "protocol": "paper", "provenance": row.source,
        }  # fmt: skip


def _lines(contents: Contents) -> list[list[str]]:
    """Return the cells of one row a model: name, validity, KS@N with its interval, N*, mark."""
    lines = []
    for entry in contents.entries:
        cells = [entry.label, share(entry.score.validity)]
        cells += [_with_interval(entry.rate(n)) for n in contents.n]
        mark = "; ".join(doubts(entry, contents.entries, contents.headline))
        lines.append([*cells, half_life(entry), f"incomplete: {mark}" if mark else ""])
    for baseline in contents.baselines:
        cells = [_with_interval(baseline.ks_at_n.get(n)) for n in contents.n]
        lines.append([f"sim:{baseline.name}", "", *cells, "", "baseline"])
    return lines


def _with_interval(rate: Rate | None) -> str:
    ends = interval(rate)
    return f"{percent(rate)} ({ends})" if ends else percent(rate)


def share(value: float | None) -> str:
    """Write a share in percent, or that it is missing."""
    return MISSING if value is None else f"{100 * value:.1f}"


def half_life(entry: Entry) -> str:
    """Write the median half-life of an entry with its interval."""
    found = entry.score.n_star
    if found.median is None:
        return found.reason or MISSING
    if found.low is None:
        return f"{found.median:g}"
    high = "more" if found.high is None else f"{found.high:g}"
    return f"{found.median:g} ({found.low:g} to {high})"


def _heads(contents: Contents) -> list[str]:
    return ["Model", "Valid %", *(f"KS@{n} %" for n in contents.n), "N*", "Note"]


def _origins(contents: Contents) -> Iterator[str]:
    yield "; ".join(f"{name}: {value}" for name, value in common_lines(contents))
    for entry in contents.entries:
        told = "; ".join(f"{name}: {value}" for name, value in entry_lines(entry))
        yield f"{entry.label}: {told}"


def _markdown(contents: Contents) -> str:
    heads = _heads(contents)
    rows = [" | ".join(markdown_text(cell) for cell in line) for line in _lines(contents)]
    rule = " | ".join(["---", *["---:"] * (len(heads) - 2), "---"])
    notes = [f"* {markdown_text(line)}" for line in _origins(contents)]
    table = [f"| {row} |" for row in (" | ".join(map(markdown_text, heads)), rule, *rows)]
    return "\n".join([*table, "", "95 % intervals in brackets.", "", *notes, ""])


def _latex(contents: Contents) -> str:
    heads = _heads(contents)
    rows = [" & ".join(latex_text(cell) for cell in line) + r" \\" for line in _lines(contents)]
    notes = [f"% {' '.join(line.split())}" for line in _origins(contents)]
    head = " & ".join(map(latex_text, heads)) + r" \\"
    return "\n".join(
        [
            *notes, "% 95 % intervals in brackets.",
            rf"\begin{{tabular}}{{l{'r' * (len(heads) - 2)}l}}", r"\toprule", head, r"\midrule",
            *rows, r"\bottomrule", r"\end{tabular}", "",
        ]
    )  # fmt: skip
