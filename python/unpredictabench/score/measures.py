"""Distances and effect sizes of the valid answers of every task, in a few batched calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import numpy as np

from unpredictabench.score.floors import divergence_floors, divergence_truth, plug_in
from unpredictabench.stats import (
    RaggedArray,
    anderson_1samp,
    energy_test,
    jensenshannon,
    kuiper_1samp,
    wasserstein_test,
)
from unpredictabench.streams import stream
from unpredictabench.targets import content_hash
from unpredictabench.targets.cache import remembered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from unpredictabench.records import NominalTarget, NumericTarget, Task
    from unpredictabench.score.pools import Pool

Floats: TypeAlias = "NDArray[np.float64]"

NAMES: Final = (
    "kuiper", "kuiper_p", "anderson", "anderson_p",
    "w1", "wd", "wdz", "w1_over_iqr", "energy", "energy_z",
    "jsd", "jsd_floor", "pit_w1", "pit_mean", "pit_sd",
    "distance_low", "distance_high",
)  # fmt: skip
"""Every measure, in the order of the output; docs/score.md says what each is."""
BAND_LEVEL: Final = 0.95
LARGEST: Final = 1e150
"""Beyond this the square of an answer overflows, and no mean is taken."""
FEWEST: Final = 2
"""Answers a density or a spread needs."""
AT_A_TIME: Final = 512
"""Tasks whose truth draws are held at once, 80 kB each."""


def measure(pools: Sequence[Pool]) -> dict[str, Floats]:
    """Measure how far the valid answers of each task are from its law.

    Parameters
    ----------
    pools : sequence of Pool
        One a task.

    Returns
    -------
    dict of str to numpy.ndarray
        One entry a task for each of `NAMES`; NaN where a measure does not exist.
    """
    found = {name: np.full(len(pools), np.nan) for name in NAMES}
    samples = [pool.whole[0] for pool in pools]
    numbers = [
        row
        for row, pool in enumerate(pools)
        if pool.observed.task.support != "nominal" and samples[row].size
    ]
    finite = [row for row in numbers if bool((np.abs(samples[row]) < LARGEST).all())]
    _against_laws(found, pools, samples, numbers)
    _against_draws(found, pools, samples, finite)
    for row, pool in enumerate(pools):
        if pool.observed.task.support == "nominal" and samples[row].size:
            found["jsd"][row] = _label_divergence(pool.observed.task, samples[row])
    n_valid = np.array([sample.size for sample in samples], dtype=np.int64)
    found["jsd_floor"][:] = divergence_floors([pool.observed.task for pool in pools], n_valid)
    return found


def _against_laws(
    found: dict[str, Floats], pools: Sequence[Pool], samples: list[Floats], rows: list[int]
) -> None:
    """Measure in probability: bounded, the same for every law, safe for heavy tails."""
    if not rows:
        return
    places = []
    for row in rows:
        law, values = cast("NumericTarget", pools[row].observed.task.target), samples[row]
        upper, lower = law.cdf(values), law.cdf_left(values)
        u = _places(upper, lower, pools[row].observed.task)
        places.append(u)
        found["pit_w1"][row], found["pit_mean"][row] = uniform_distance(u), u.mean()
        if u.size >= FEWEST:
            found["pit_sd"][row] = u.std(ddof=1)
        distance = _distance(values, upper, lower)
        # Dvoretzky, Kiefer and Wolfowitz with Massart's constant, doi:10.1214/aop/1176990746.
        width = np.sqrt(np.log(2 / (1 - BAND_LEVEL)) / (2 * values.size))
        found["distance_low"][row] = max(distance - width, 0.0)
        found["distance_high"][row] = min(distance + width, 1.0)
    for name, test in (("kuiper", kuiper_1samp), ("anderson", anderson_1samp)):
        result = test(_ragged(places), _identity)
        found[name][rows], found[f"{name}_p"][rows] = result.statistic, result.pvalue


def _against_draws(
    found: dict[str, Floats], pools: Sequence[Pool], samples: list[Floats], rows: list[int]
) -> None:
    """Measure against the truth draws, as published."""
    for start in range(0, len(rows), AT_A_TIME):
        _against_some_draws(found, pools, samples, rows[start : start + AT_A_TIME])
    if rows:
        ranges = _interquartile_ranges([pools[row].observed.task for row in rows])
        with np.errstate(divide="ignore", invalid="ignore"):
            found["w1_over_iqr"][rows] = np.where(ranges > 0, found["w1"][rows] / ranges, np.nan)


def _against_some_draws(
    found: dict[str, Floats], pools: Sequence[Pool], samples: list[Floats], rows: list[int]
) -> None:
    x = _ragged([samples[row] for row in rows])
    y = _ragged([pools[row].observed.task.truth() for row in rows])
    w1, energy = wasserstein_test(x, y), energy_test(x, y)
    found["w1"][rows], found["wd"][rows], found["wdz"][rows] = w1.statistic, w1.debiased, w1.zscore
    found["energy"][rows], found["energy_z"][rows] = energy.statistic, energy.zscore
    for is_smooth, method in ((True, "kde"), (False, "counts")):
        some = [
            row
            for row in rows
            if (pools[row].observed.task.support != "discrete") == is_smooth
            and (samples[row].size >= FEWEST or not is_smooth)
        ]
        if some:
            left = _ragged([samples[row] for row in some])
            right = _ragged([divergence_truth(pools[row].observed.task) for row in some])
            found["jsd"][some] = jensenshannon(left, right, method=cast("Any", method))


def _interquartile_ranges(tasks: Sequence[Task]) -> Floats:
    targets = [cast("NumericTarget", task.target) for task in tasks]
    key = ("quartiles", content_hash([dict(target.spec) for target in targets]))
    table = remembered(key, lambda: np.array([target.ppf([0.25, 0.75]) for target in targets]))
    ends = table.astype(np.float64)
    return np.asarray(ends[:, 1] - ends[:, 0])


def uniform_distance(u: Floats) -> float:
    """Return the first Wasserstein distance between probabilities and the uniform law.

    Parameters
    ----------
    u : numpy.ndarray
        At least one number in [0, 1].

    Returns
    -------
    float
        Area between the two cdfs, in [0, 1/2].

    Examples
    --------
    >>> uniform_distance(np.array([0.5]))
    0.25
    """
    n, ordered = u.size, np.sort(u)
    # Between neighbours the empirical cdf is flat and the uniform one crosses it at most once.
    left, right = np.append(0.0, ordered), np.append(ordered, 1.0)
    level = np.clip(np.arange(n + 1) / n, left, right)
    height = np.arange(n + 1) / n
    area = (level - left) * (height - (left + level) / 2)
    area += (right - level) * ((level + right) / 2 - height)
    return float(area.sum())


def _places(upper: Floats, lower: Floats, task: Task) -> Floats:
    """Return where answers lie in their law, spread over the jump at an atom: uniform if true."""
    if task.support == "continuous":
        return upper
    spread = stream("score.pit", task.id).random(upper.size)
    return np.clip(lower + (upper - lower) * spread, 0.0, 1.0)


def _distance(values: Floats, upper: Floats, lower: Floats) -> float:
    """Return the Kolmogorov-Smirnov distance from the cdf and its left limit at the values."""
    order = np.argsort(values, kind="stable")
    at_or_below = np.searchsorted(values[order], values[order], side="right") / values.size
    below = np.searchsorted(values[order], values[order], side="left") / values.size
    return float(max((at_or_below - upper[order]).max(), (lower[order] - below).max(), 0.0))


def _identity(u: Floats) -> Floats:
    return u


def _label_divergence(task: Task, values: Floats) -> float:
    p = cast("NominalTarget", task.target).probabilities
    return plug_in(np.bincount(values.astype(np.int64), minlength=p.size), p)


def _ragged(rows: Sequence[Any]) -> Any:
    return RaggedArray.from_rows(rows)
