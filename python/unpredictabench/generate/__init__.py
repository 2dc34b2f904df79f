"""Ask a model every question of a suite and store the answers; resume, budget, stopping rules."""

from __future__ import annotations

from unpredictabench._callable import make_callable
from unpredictabench.generate.budget import Budget, Price, Usage, estimated
from unpredictabench.generate.early import Curtailment, Evidence, stop_rule
from unpredictabench.generate.planning import Design, Work, work
from unpredictabench.generate.running import generate, generate_async
from unpredictabench.generate.session import Progress
from unpredictabench.generate.stopping import NEVER, StopRule

__all__ = [
    "NEVER",
    "Budget",
    "Curtailment",
    "Design",
    "Evidence",
    "Price",
    "Progress",
    "StopRule",
    "Usage",
    "Work",
    "estimated",
    "generate",
    "generate_async",
    "stop_rule",
    "work",
]

make_callable(__name__)
