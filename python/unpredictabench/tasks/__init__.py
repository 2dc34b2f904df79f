"""The suite: tasks, their wording and their laws."""

from __future__ import annotations

from unpredictabench.tasks.load import load_suite
from unpredictabench.tasks.suite import Suite

__all__ = ["Suite", "load_suite"]
