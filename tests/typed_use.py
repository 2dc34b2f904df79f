"""Only type-checked, never run: the public face as its users write it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from unpredictabench import SimulatedClient, compare, generate, load_suite, report, score
from unpredictabench.extract import extract_number
from unpredictabench.stats import (
    PreparedTruth,
    RaggedArray,
    bootstrap,
    half_life,
    ks_1samp,
    ks_2samp,
    ks_at_n,
    wasserstein_distance,
)

rng = np.random.default_rng(0)
truth = PreparedTruth(rng.normal(size=1000))
single = ks_2samp([1.0, 2.0, 3.0], truth)
batched = ks_2samp(rng.normal(size=(5, 10)), truth, alternative="less", workers=2)
ragged = ks_2samp(RaggedArray(np.arange(5.0), np.array([0, 2, 5])), truth, n_invalid=[0, 1])
print(single.pvalue, batched.statistic, ragged.method)

suite = load_suite("v1")
task = suite["text-explicit/poisson/spread_out"]
print(task.prompt, task.support, ks_1samp([18, 19], lambda x: np.clip(x / 40, 0, 1)).pvalue)
rates = ks_at_n(rng.normal(size=100), truth, [5, 20])
print(rates.pass_rate, half_life(rng.normal(size=100), truth).n_star)
interval = bootstrap([1.0, 2.0, 4.0], "mean").confidence_interval
print(interval.low, interval.high, wasserstein_distance([1.0], [2.0]))

run = generate(suite, SimulatedClient("perfect"), "runs/perfect", n_samples=5)
found = score(run.path, n=(5,))
print(found.ks_at_n[5].estimate, found.tasks[0].pvalue, compare([found, found]).pairs)
report([run.path], Path("report.html"))
print(extract_number("about 7").value)
