"""Measure how faithfully a language model samples from a target distribution.

The names below are the benchmark in five steps: load a suite, make a client, generate a run, score
it, compare runs. The tests alone are in `unpredictabench.stats`. Everything is imported when it is
first used.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from unpredictabench import extract, stats, testing
    from unpredictabench.clients import (
        LocalClient,
        OpenAIClient,
        ReplayClient,
        SimulatedClient,
        client_for,
    )
    from unpredictabench.generate import generate
    from unpredictabench.integrations import import_official
    from unpredictabench.records import Completion, Extraction, Task
    from unpredictabench.report import report
    from unpredictabench.score import compare, score
    from unpredictabench.store import open_run
    from unpredictabench.tasks import Suite, load_suite

_HOMES: Final = {
    "Completion": "records",
    "Extraction": "records",
    "LocalClient": "clients",
    "OpenAIClient": "clients",
    "ReplayClient": "clients",
    "SimulatedClient": "clients",
    "Suite": "tasks",
    "Task": "records",
    "client_for": "clients",
    "compare": "score",
    "import_official": "integrations",
    "load_suite": "tasks",
    "open_run": "store",
}
"""The module in which each name lives."""
_MODULES: Final = ("extract", "generate", "report", "score", "stats", "testing")
"""Modules that are names of their own; `generate`, `score` and `report` can also be called."""

__all__ = [
    "Completion",
    "Extraction",
    "LocalClient",
    "OpenAIClient",
    "ReplayClient",
    "SimulatedClient",
    "Suite",
    "Task",
    "client_for",
    "compare",
    "extract",
    "generate",
    "import_official",
    "load_suite",
    "open_run",
    "report",
    "score",
    "stats",
    "testing",
]


def __getattr__(name: str) -> object:
    if name == "__version__":
        return version("unpredictabench")
    if name in _MODULES:
        return import_module(f"unpredictabench.{name}")
    if name in _HOMES:
        return getattr(import_module(f"unpredictabench.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'unpredictabench' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
