"""Answers, questions and leaderboards from elsewhere."""

from __future__ import annotations

from unpredictabench.integrations.importing import Imported, import_official, import_path
from unpredictabench.integrations.leaderboard import PublishedRow, published_rows

__all__ = ["Imported", "PublishedRow", "import_official", "import_path", "published_rows"]
