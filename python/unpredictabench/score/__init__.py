"""From stored answers to numbers with their uncertainty; `score(run)` does it all."""

from __future__ import annotations

from unpredictabench._callable import make_callable
from unpredictabench.score.results import GroupScore, HalfLife, Rate, RunScore, TaskScore
from unpredictabench.score.rules import Rules
from unpredictabench.score.scoring import score, score_records

make_callable(__name__)

__all__ = [
    "GroupScore",
    "HalfLife",
    "Rate",
    "Rules",
    "RunScore",
    "TaskScore",
    "score",
    "score_records",
]
