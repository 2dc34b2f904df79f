"""Exact, batched statistics: arrays in, results out; usable without the rest of the package."""

from __future__ import annotations

from unpredictabench.stats._arrays import PreparedTruth, RaggedArray
from unpredictabench.stats._ks import KsResult, ks_2samp

__all__ = ["KsResult", "PreparedTruth", "RaggedArray", "ks_2samp"]
