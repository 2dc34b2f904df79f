"""Exact, batched statistics: arrays in, results out; usable without the rest of the package."""

from __future__ import annotations

from unpredictabench.stats._arrays import PreparedTruth
from unpredictabench.stats._batch import score_batch
from unpredictabench.stats._bootstrap import BootstrapResult, bootstrap
from unpredictabench.stats._bootstrap_2samp import (
    Bootstrap2SampResult,
    IntervalArrays,
    bootstrap_2samp,
)
from unpredictabench.stats._compiled import CompiledStatistic, from_cfunc
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
from unpredictabench.stats._edf import anderson_1samp, cramervonmises_1samp, kuiper_1samp
from unpredictabench.stats._edf_2samp import anderson_2samp, cramervonmises_2samp, kuiper_2samp
from unpredictabench.stats._independence import IndependenceResult, independence_test
from unpredictabench.stats._intervals import (
    McNemarResult,
    benjamini_hochberg,
    holm,
    mcnemar_test,
    wilson_interval,
)
from unpredictabench.stats._ks import KsResult, ks_2samp
from unpredictabench.stats._ks1 import ks_1samp, ks_confidence_band
from unpredictabench.stats._ks_at_n import half_life, ks_at_n
from unpredictabench.stats._nominal import multinomial_test
from unpredictabench.stats._nominal_at_n import multinomial_at_n, permutation_at_n
from unpredictabench.stats._permutation_2samp import (
    PermutationTestResult,
    permutation_test_2samp,
)
from unpredictabench.stats._permutations import permutation_test_uniform
from unpredictabench.stats._power import PowerResult, answers_needed, power
from unpredictabench.stats._ragged import RaggedArray

__all__ = [
    "Bootstrap2SampResult",
    "BootstrapResult",
    "CompiledStatistic",
    "DistanceTestResult",
    "IndependenceResult",
    "IntervalArrays",
    "KsResult",
    "McNemarResult",
    "PermutationTestResult",
    "PowerResult",
    "PreparedTruth",
    "RaggedArray",
    "anderson_1samp",
    "anderson_2samp",
    "answers_needed",
    "benjamini_hochberg",
    "bootstrap",
    "bootstrap_2samp",
    "cramervonmises_1samp",
    "cramervonmises_2samp",
    "energy_distance",
    "energy_test",
    "from_cfunc",
    "half_life",
    "holm",
    "independence_test",
    "jensenshannon",
    "ks_1samp",
    "ks_2samp",
    "ks_at_n",
    "ks_confidence_band",
    "kuiper_1samp",
    "kuiper_2samp",
    "mcnemar_test",
    "multinomial_at_n",
    "multinomial_test",
    "permutation_at_n",
    "permutation_test_2samp",
    "permutation_test_uniform",
    "power",
    "score_batch",
    "wasserstein_distance",
    "wasserstein_test",
    "wilson_interval",
]
