"""Studies over many answers: KS@N at every N, differences of models, sweeps, plans."""

from __future__ import annotations

from unpredictabench.studies.difference import Difference, difference, paired_sweep
from unpredictabench.studies.plan import Plan, plan
from unpredictabench.studies.sweep import Sweep, answers_of, sweep

__all__ = [
    "Difference",
    "Plan",
    "Sweep",
    "answers_of",
    "difference",
    "paired_sweep",
    "plan",
    "sweep",
]
