"""Critical distances: the band around a law or a truth inside of which a sample of N passes."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

import numpy as np

from unpredictabench import _native
from unpredictabench.stats._arrays import samples
from unpredictabench.stats._ks1 import statistics, tails
from unpredictabench.stats._laws import Floats, Law, law_of, step_law
from unpredictabench.stats._levels import SAME

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from unpredictabench.stats._ragged import RaggedArray

MOST_REMEMBERED: Final = 1_000_000
"""Bands kept in memory at most."""
BAND_WIDTH: Final = 1e-11
"""Accuracy of a band where the attained distances fill an interval."""
MOST_ROUNDS: Final = 40
"""Trials that follow the tail's slope; usual levels need fewer than twenty."""
_REMEMBERED: dict[tuple[str, float, int], float] = {}


def law_bands(law: Law, n: NDArray[np.int64], alpha: float, workers: int | None) -> Floats:
    """Return for each N the distance from which on a sample fails against a law.

    Parameters
    ----------
    law : Law
        The law.
    n : numpy.ndarray of int64
        Sample sizes, at least 1.
    alpha : float
        Level of the test.
    workers : int or None
        Threads.

    Returns
    -------
    numpy.ndarray
        Half-way between the last attainable distance that passes and the first that fails; for a
        continuous law the two are one.
    """
    if law.levels is None:
        return _continuous_bands(n, alpha, workers)
    return _remembered(law.key, n, alpha, lambda m: _stepped(law, m, alpha, workers))


def inside(
    x: RaggedArray, targets: Sequence[object], n_invalid: NDArray[np.int64], alpha: float
) -> NDArray[np.bool_]:
    """Tell which rows lie inside the band of their law: those of which `ks_1samp` gives p > alpha.

    Parameters
    ----------
    x : RaggedArray
        Samples, with or without valid answers.
    targets : sequence of NumericTarget
        The law of each.
    n_invalid : numpy.ndarray of int64
        Invalid answers of each; no row is without any answer.
    alpha : float
        Level.

    Returns
    -------
    numpy.ndarray of bool
        The verdicts, without the cost of a p-value where bands are remembered.
    """
    opened = samples(x, name="x", allow_empty=True)
    laws = [law_of(target) for target in targets]
    statistic = statistics(opened, laws, n_invalid, "two-sided", None)[0]
    n = opened.lengths() + n_invalid
    bands = [law_bands(law, n[i : i + 1], alpha, None)[0] for i, law in enumerate(laws)]
    return np.asarray(statistic < np.array(bands))


def remember(law: Law, n: NDArray[np.int64], alpha: float, bands: Floats) -> None:
    """Take over bands that were computed before, of a law whose key is known."""
    if law.key is not None:
        for size, band in zip(n.tolist(), bands.tolist(), strict=True):
            _REMEMBERED[law.key, alpha, size] = band


def truth_bands(
    counts: NDArray[np.int64], n: NDArray[np.int64], alpha: float, workers: int | None
) -> tuple[NDArray[np.int64], str]:
    """Return for each N the integer statistic from which on a sample fails against a truth.

    Parameters
    ----------
    counts : numpy.ndarray of int64
        Draws at or below each distinct value of the truth.
    n, alpha, workers
        As for `law_bands`.

    Returns
    -------
    heights : numpy.ndarray of int64
        Smallest ``|k m - j N|`` that fails.
    method : {"two-sample", "fixed_band"}
        Which null: the exact one of both samples, or for a truth with ties that of N draws from
        its empirical cdf.
    """
    m = int(counts[-1])
    if counts.size == m:
        key = f"untied {m}"
        heights = _remembered(
            key, n, alpha, lambda sizes: _native.ks_2samp_critical(sizes, m, alpha, workers)
        )
        return heights.astype(np.int64), "two-sample"
    law = step_law(np.concatenate([[0.0], counts / m]))
    key = f"tied {hashlib.sha256(counts.tobytes()).hexdigest()}"
    distances = _remembered(key, n, alpha, lambda sizes: _stepped(law, sizes, alpha, workers))
    return np.ceil(distances * n * m).astype(np.int64), "fixed_band"


def _remembered(
    key: str | None,
    n: NDArray[np.int64],
    alpha: float,
    compute: Callable[[NDArray[np.int64]], NDArray[np.number]],
) -> Floats:
    if key is None:
        return compute(n).astype(np.float64)
    missing = sorted({int(size) for size in n if (key, alpha, int(size)) not in _REMEMBERED})
    if missing:
        found = compute(np.array(missing, dtype=np.int64))
        if len(_REMEMBERED) > MOST_REMEMBERED:
            _REMEMBERED.clear()
            missing, found = n.tolist(), compute(n)
        for size, value in zip(missing, found, strict=True):
            _REMEMBERED[key, alpha, size] = float(value)
    return np.array([_REMEMBERED[key, alpha, int(size)] for size in n])


def _continuous_bands(n: NDArray[np.int64], alpha: float, workers: int | None) -> Floats:
    return _remembered(
        "continuous", n, alpha, lambda sizes: _native.ks_1samp_critical(sizes, alpha, workers)
    )


def _stepped(law: Law, n: NDArray[np.int64], alpha: float, workers: int | None) -> Floats:
    """Find the step of P(D_N >= d) past alpha by a bracket [passes, fails] of attained distances.

    Between attained distances the tail is constant, so a trial is first moved up to the next of
    them. A law with atoms is never rejected before a continuous one (its distance is a supremum
    over fewer levels), which gives the first trial; the next ones follow the tail's Gaussian slope.
    """
    passes = np.zeros(n.size)
    fails = _continuous_bands(n, alpha, workers)
    fails_at = _next_attained(law, n, fails)
    trial = np.nextafter(fails, 0) * (1 - 1e-3)
    last = np.zeros((2, n.size))  # where the tail was looked at last, and what it was
    open_rows = np.arange(n.size)
    n_rounds = 0
    while open_rows.size:
        n_rounds += 1
        size, low, high = n[open_rows], passes[open_rows], fails[open_rows]
        attained = _next_attained(law, size, trial[open_rows])
        is_known = attained >= fails_at[open_rows] - SAME
        excess = np.full(size.size, -np.inf)
        if not is_known.all():
            some = ~is_known
            excess[some] = tails(law, size[some], attained[some], workers=workers)[1]
            excess[some] -= np.log(alpha)
        is_failing = excess <= 0
        fails_at[open_rows] = np.where(is_failing & ~is_known, attained, fails_at[open_rows])
        high = np.where(is_failing, trial[open_rows], high)
        low = np.where(is_failing, low, attained)
        passes[open_rows], fails[open_rows] = low, high
        is_open = _next_attained(law, size, low + 2 * SAME) < fails_at[open_rows] - SAME
        here = np.array([attained, excess])
        # The slope misleads where alpha is near 1.
        is_slow = n_rounds > MOST_ROUNDS
        slope = _next_trial(size, here, last[:, open_rows], (low, high))
        trial[open_rows] = (low + high) / 2 if is_slow else slope
        last[:, open_rows] = here
        open_rows = open_rows[is_open & (high - low > BAND_WIDTH)]
    # Invalid answers and answers off the support attain multiples of 1/N that the law does not.
    multiple = (np.floor((passes + SAME) * n) + 1) / n
    return (passes + np.minimum(fails_at, multiple)) / 2


def _next_trial(
    n: NDArray[np.int64], here: Floats, last: Floats, bracket: tuple[Floats, Floats]
) -> Floats:
    """Follow log p, nearly linear in the squared distance, to log alpha; else halve the bracket.

    The slope is that of the last two looks where they differ, and -2 n at first.
    """
    low, high = bracket
    (d, excess), (d_last, excess_last) = here, last
    with np.errstate(invalid="ignore", divide="ignore"):
        slope = (excess - excess_last) / (d * d - d_last * d_last)
        slope = np.where(np.isfinite(slope) & (slope < 0) & (d_last > 0), slope, -2.0 * n)
        step = np.sqrt(np.maximum(d * d - excess / slope, 0.0))
        # A little further, so that the bracket closes from both ends.
        step += 0.01 * (step - d)
    is_inside = np.isfinite(step) & (step > low) & (step < high)
    return np.where(is_inside, step, (low + high) / 2)


def _next_attained(law: Law, n: NDArray[np.int64], d: Floats) -> Floats:
    """Return the smallest distance at or above `d` that some count attains; inf if none does."""
    below, above = law.deciding_levels(n, d)
    starts = np.cumsum(n) - n
    j = np.arange(int(n.sum())) - np.repeat(starts, n)
    sizes = np.repeat(n, n)
    # At the ends the count is certain: 0 of N at level 0, N of N at level 1.
    over = np.where(below > 0, (j + 1) / sizes - below, np.inf)
    under = np.where(above < 1, above - j / sizes, np.inf)
    return np.minimum.reduceat(np.minimum(over, under), starts)
