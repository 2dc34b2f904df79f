"""9,999 bootstrap replicates of a score over 448 tasks, in clusters and without."""

from __future__ import annotations

import pytest

from unpredictabench.stats import bootstrap
from unpredictabench.streams import stream


@pytest.mark.parametrize("n_clusters", [60, 448])
def test_bootstrap_of_a_score(benchmark, n_clusters):
    """An interval for KS@N over all tasks."""
    rng = stream("bench", "bootstrap")
    rates = rng.random(448)
    clusters = rng.permutation(448) % n_clusters
    found = benchmark(bootstrap, rates, clusters=clusters)
    assert found.method == "bca"
