"""Two statistics of your own at native speed: ``python own_statistic.py``.

Both get their samples in ascending order, and both walk through the pooled values once.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from unpredictabench.stats import (
    PreparedTruth,
    bootstrap_2samp,
    from_cfunc,
    permutation_test_2samp,
)

SIGNATURE = "float64(CPointer(float64), intp, CPointer(float64), intp)"
TRIM = 0.1


@numba.cfunc(SIGNATURE, error_model="numpy")
def cramervonmises(x: Any, n: int, y: Any, m: int) -> float:
    """Compute Anderson's T (1962, doi:10.1214/aoms/1177704477), ties at their midranks."""
    i = j = 0
    u = 0.0
    while i < n or j < m:
        value = x[i] if j == m or (i < n and x[i] <= y[j]) else y[j]
        a, b = i, j
        while i < n and x[i] == value:
            i += 1
        while j < m and y[j] == value:
            j += 1
        # The block takes the pooled ranks a + b + 1 to i + j; an observation of x, the a + 1st to
        # the i-th of its sample, is off by this rank less its own; likewise those of y.
        middle = 0.5 * (a + b + 1 + i + j)
        for k in range(a + 1, i + 1):
            u += n * (middle - k) ** 2
        for k in range(b + 1, j + 1):
            u += m * (middle - k) ** 2
    return u / (n * m * (n + m)) - (4.0 * n * m - 1.0) / (6.0 * (n + m))


def trimmed_wasserstein(trim: float) -> Any:
    """Make the mean distance of quantiles between the levels `trim` and 1 - `trim`."""

    @numba.cfunc(SIGNATURE, error_model="numpy")
    def trimmed(x: Any, n: int, y: Any, m: int) -> float:
        # Levels are counted in units of 1 / (n m), in which all steps are whole numbers.
        last, end = trim * n * m, (1.0 - trim) * n * m
        i, j = int(trim * n), int(trim * m)
        next_x, next_y = (i + 1.0) * m, (j + 1.0) * n
        total = 0.0
        while last < end:
            # Both quantile functions are constant up to the nearer of the next two steps.
            level = min(next_x, next_y, end)
            total += (level - last) * abs(x[i] - y[j])
            last = level
            if level == next_x:
                i += 1
                next_x += m
            if level == next_y:
                j += 1
                next_y += n
        return total / ((1.0 - 2.0 * trim) * n * m)

    return trimmed


def main() -> None:
    """Compare samples with heavy tails, one of which is shifted, with one truth."""
    rng = np.random.default_rng(0)
    truth = PreparedTruth(rng.standard_cauchy(10_000))
    answers = rng.standard_cauchy((3, 100)) + np.array([[0.0], [0.0], [1.0]])
    for statistic in (
        from_cfunc(cramervonmises),
        from_cfunc(trimmed_wasserstein(TRIM), "trimmed W1"),
    ):
        print(statistic.name)
        test = permutation_test_2samp(answers, truth, statistic, n_resamples=999)
        spread = bootstrap_2samp(answers, truth, statistic, n_resamples=999)
        low, high = spread.confidence_interval.low, spread.confidence_interval.high
        for row, value in enumerate(statistic(answers, truth)):
            print(f"  {value:8.3f}  p {test.pvalue[row]:.3f}  "
                  f"resampled {low[row]:.3f} to {high[row]:.3f}")  # fmt: skip


if __name__ == "__main__":
    main()
