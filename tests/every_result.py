"""Every function of `stats` on fixed input, printed exactly: run as a script on unlike machines."""

from __future__ import annotations

import dataclasses
import json
import math
import sys

import numpy as np

from calibration import LAWS, drawn
from unpredictabench import stats
from unpredictabench.stats import sequential
from unpredictabench.streams import stream

ROWS = 60


def samples(law, turn):
    """Return rows of samples that are near their law, and a truth; no library function is used."""
    rng = stream("test", "every result", law, turn)
    x = drawn(law, (ROWS, 30), rng)
    return x * (0.9 + 0.1 * x), drawn(law, 200, rng)


def one_sample(law, turn):
    """Return the results of tests against a law."""
    (x, _), target = samples(law, turn), LAWS[law]
    yield "ks_1samp", stats.ks_1samp(x, target)
    yield "ks_confidence_band", stats.ks_confidence_band(x, target)
    yield "kuiper_1samp", stats.kuiper_1samp(x, target, n_resamples=99)
    yield "anderson_1samp", stats.anderson_1samp(x, target, n_resamples=99)
    yield "cramervonmises_1samp", stats.cramervonmises_1samp(x, target, n_resamples=99)
    yield "ks_at_n", stats.ks_at_n(x, target, [5, 10, 30], alpha=0.05)
    yield "half_life", stats.half_life(x, target, alpha=0.05)


def two_sample(law, turn):
    """Return the results of comparisons with a truth."""
    x, y = samples(law, turn)
    yield "ks_2samp", stats.ks_2samp(x, y)
    yield "ks_at_n of draws", stats.ks_at_n(x, y, [5, 10, 30], alpha=0.05)
    for test in (stats.kuiper_2samp, stats.anderson_2samp, stats.cramervonmises_2samp):
        yield test.__name__, test(x, y, n_resamples=99)
    for test in (stats.wasserstein_test, stats.energy_test):
        yield test.__name__, test(x, y)
        yield f"{test.__name__} by permutation", test(x, y, method="permutation", n_resamples=99)
    yield "wasserstein_distance", stats.wasserstein_distance(x, y)
    yield "energy_distance", stats.energy_distance(x, y)
    for method in ("kde", "counts"):
        yield f"jensenshannon {method}", stats.jensenshannon(x, y, method=method)
    for name in ("ks_2samp", "wasserstein_distance", "energy_distance"):
        yield f"bootstrap of {name}", stats.bootstrap_2samp(x, y, name, n_resamples=50)


def others(turn):
    """Return the results of the remaining functions."""
    rng = stream("test", "every result", turn)
    counts, x = rng.multinomial(40, [0.25] * 4, size=ROWS), rng.normal(size=60)
    orders = rng.permuted(np.tile(np.arange(4), (40, 1)), axis=1)
    yield "multinomial_test", stats.multinomial_test(counts, [0.25] * 4)
    p = [0.2, 0.3, 0.1, 0.4 - 1e-8, 1e-8]
    drawn_null = stats.multinomial_test([9, 9, 9, 3, 0], p, n_resamples=9999, alpha=0.01)
    yield "multinomial_test, drawn", drawn_null
    yield "multinomial_at_n", stats.multinomial_at_n([12, 9, 9, 10], [0.25] * 4, [5, 20], alpha=0.1)
    yield "permutation_test_uniform", stats.permutation_test_uniform(orders)
    yield "permutation_at_n", stats.permutation_at_n(orders, [5, 20], alpha=0.1, n_subsets=50)
    yield "independence_test", stats.independence_test(x, pit=rng.random(60))
    yield "bootstrap", stats.bootstrap(x, n_resamples=99)
    yield "bootstrap of a median", stats.bootstrap(x, "median", n_resamples=99)
    yield "wilson_interval", stats.wilson_interval(3, 17)
    yield "mcnemar_test", stats.mcnemar_test(3, 9)
    yield "holm", stats.holm(rng.random(9))
    yield "log_e_process", sequential.log_e_process(rng.integers(-1, 4, 50), [0.25] * 4)


def numbers(found):
    """List the numbers of a result in order, each exactly."""
    if dataclasses.is_dataclass(found):
        fields = [getattr(found, field.name) for field in dataclasses.fields(found)]
        return [text for value in fields for text in numbers(value)]
    if isinstance(found, dict):
        return [text for value in found.values() for text in numbers(value)]
    values = np.asarray(found).ravel().tolist()
    return [float(value).hex() for value in values if isinstance(value, int | float)]


def every_result(turn=0):
    """Return the numbers of every function under every kind of law, by name; other data a turn."""
    found = {name: numbers(result) for name, result in others(turn)}
    for law in LAWS:
        for of in (one_sample, two_sample):
            found |= {f"{name}: {law}": numbers(result) for name, result in of(law, turn)}
    return found


def largest_difference(one, other):
    """Return by how much two of these differ at most, relative to the larger number and to 1e-300.

    Numbers below 1e-300 have lost digits of their own.
    """
    worst = 0.0
    for name, texts in one.items():
        assert len(texts) == len(other[name]), name
        for a, b in zip(map(float.fromhex, texts), map(float.fromhex, other[name]), strict=True):
            if not (a == b or (math.isnan(a) and math.isnan(b))):
                worst = max(worst, abs(a - b) / max(abs(a), abs(b), 1e-300))
    return worst


if __name__ == "__main__":
    json.dump(every_result(), sys.stdout)
