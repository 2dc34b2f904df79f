"""Runs on disk: raw answers kept append-only in one SQLite file, with their settings and log."""

from __future__ import annotations

from unpredictabench.store.exchange import export_run, import_run
from unpredictabench.store.reading import Event, Run, open_run
from unpredictabench.store.readings import keep_readings, last_readings
from unpredictabench.store.rows import Planned
from unpredictabench.store.writing import Writer, forget_without_answers, open_writer

__all__ = [
    "Event",
    "Planned",
    "Run",
    "Writer",
    "export_run",
    "forget_without_answers",
    "import_run",
    "keep_readings",
    "last_readings",
    "open_run",
    "open_writer",
]
