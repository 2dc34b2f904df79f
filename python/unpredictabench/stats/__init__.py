"""Exact, batched statistics: arrays in, results out; usable without the rest of the package."""

from __future__ import annotations

from unpredictabench.stats._arrays import PreparedTruth, RaggedArray
from unpredictabench.stats._bootstrap import BootstrapResult, bootstrap
from unpredictabench.stats._bootstrap_2samp import (
    Bootstrap2SampResult,
    IntervalArrays,
    bootstrap_2samp,
)
from unpredictabench.stats._distance_tests import (
    DistanceTestResult,
    energy_test,
    wasserstein_test,
)
from unpredictabench.stats._distances import (
    energy_distance,
    jensenshannon,
    wasserstein_distance,
)
from unpredictabench.stats._intervals import (
    McNemarResult,
    benjamini_hochberg,
    holm,
    mcnemar_test,
    wilson_interval,
)
from unpredictabench.stats._ks import KsResult, ks_2samp

__all__ = [
    "Bootstrap2SampResult",
    "BootstrapResult",
    "DistanceTestResult",
    "IntervalArrays",
    "KsResult",
    "McNemarResult",
    "PreparedTruth",
    "RaggedArray",
    "benjamini_hochberg",
    "bootstrap",
    "bootstrap_2samp",
    "energy_distance",
    "energy_test",
    "holm",
    "jensenshannon",
    "ks_2samp",
    "mcnemar_test",
    "wasserstein_distance",
    "wasserstein_test",
    "wilson_interval",
]
