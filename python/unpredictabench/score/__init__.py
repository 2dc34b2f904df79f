"""From stored answers to numbers with their uncertainty; `score(run)` does it all."""

from __future__ import annotations

from unpredictabench._callable import make_callable
from unpredictabench.score.as_json import document
from unpredictabench.score.comparison import Comparison, compare
from unpredictabench.score.results import (
    Equivalence,
    GroupScore,
    HalfLife,
    Rate,
    RunScore,
    TaskScore,
)
from unpredictabench.score.rules import SIZES, Rules
from unpredictabench.score.samplers import Baseline, baselines, is_below_median
from unpredictabench.score.scoring import (
    baselines_of,
    score,
    score_observed,
    score_records,
    score_runs,
)

make_callable(__name__)

__all__ = [
    "SIZES",
    "Baseline",
    "Comparison",
    "Equivalence",
    "GroupScore",
    "HalfLife",
    "Rate",
    "Rules",
    "RunScore",
    "TaskScore",
    "baselines",
    "baselines_of",
    "compare",
    "document",
    "is_below_median",
    "score",
    "score_observed",
    "score_records",
    "score_runs",
]
