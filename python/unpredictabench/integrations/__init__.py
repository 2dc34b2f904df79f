"""Answers, questions and leaderboards from elsewhere."""

from __future__ import annotations

from unpredictabench.integrations.importing import Imported, import_official, import_path
from unpredictabench.integrations.leaderboard import PublishedRow, published_rows
from unpredictabench.integrations.pairs import PairsResult, score_pairs

__all__ = [
    "Imported",
    "PairsResult",
    "PublishedRow",
    "import_official",
    "import_path",
    "published_rows",
    "score_pairs",
]
