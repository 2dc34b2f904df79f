"""Tests of samples against samples and laws: arrays in, results out."""

from __future__ import annotations

from unpredictabench.stats._bootstrap import BootstrapResult, bootstrap
from unpredictabench.stats._intervals import (
    McNemarResult,
    benjamini_hochberg,
    holm,
    mcnemar_test,
    wilson_interval,
)

__all__ = [
    "BootstrapResult",
    "McNemarResult",
    "benjamini_hochberg",
    "bootstrap",
    "holm",
    "mcnemar_test",
    "wilson_interval",
]
