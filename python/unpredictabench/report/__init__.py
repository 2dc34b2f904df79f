"""Readable reports of scored runs: one offline page, tables and figures for papers."""

from __future__ import annotations

from unpredictabench._callable import make_callable
from unpredictabench.report.contents import Contents, Entry, Provenance
from unpredictabench.report.figures import write_figures
from unpredictabench.report.making import contents, report, write_page
from unpredictabench.report.tables import table_text

__all__ = [
    "Contents",
    "Entry",
    "Provenance",
    "contents",
    "report",
    "table_text",
    "write_figures",
    "write_page",
]

make_callable(__name__)
