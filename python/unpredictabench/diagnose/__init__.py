"""What goes wrong in a run: one word a task with its evidence, and a summary of the run."""

from __future__ import annotations

from unpredictabench.diagnose.calibration import Calibration, calibrate
from unpredictabench.diagnose.run import RunDiagnosis, diagnose
from unpredictabench.diagnose.words import WORDS, Diagnosis, Word, diagnose_task

__all__ = [
    "WORDS",
    "Calibration",
    "Diagnosis",
    "RunDiagnosis",
    "Word",
    "calibrate",
    "diagnose",
    "diagnose_task",
]
