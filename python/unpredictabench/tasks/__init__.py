"""The suite: tasks, their wording and their laws."""

from __future__ import annotations
