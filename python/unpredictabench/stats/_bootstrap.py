"""Bootstrap intervals for statistics of one data set, in clusters and in pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from unpredictabench.errors import InputError
from unpredictabench.records import Interval
from unpredictabench.stats import _options as options
from unpredictabench.stats._arrays import samples
from unpredictabench.stats._compiled import CompiledStatistic, is_compiled
from unpredictabench.stats._convert import plain_array
from unpredictabench.stats._intervals import normal_quantile
from unpredictabench.stats._replicates import (
    interval_ends,
    number,
    scaled_rows,
    standard_error,
    tied,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    Statistic: TypeAlias = Literal["mean", "median"] | Callable[..., float] | CompiledStatistic

FEWEST_CLUSTERS_FOR_BCA = 10
"""With fewer clusters the acceleration is noise, and the percentile interval is given instead."""
_ROWS_AT_A_TIME = 1024
"""Replicates whose counts are held at once: bounds the memory of a call."""


@dataclass(frozen=True, slots=True)
class BootstrapResult:
    """A bootstrap interval and what it was made from.

    Parameters
    ----------
    statistic : float
        The statistic of the data.
    confidence_interval : Interval
        The interval.
    standard_error : float
        Standard deviation of the replicates.
    bootstrap_distribution : numpy.ndarray, shape (n_resamples,)
        The replicates.
    method : str
        "bca", "percentile", or "percentile (why)" where BCa was asked for and does not exist.
    """

    statistic: float
    confidence_interval: Interval
    standard_error: float
    bootstrap_distribution: NDArray[np.float64]
    method: str


def bootstrap(
    data: ArrayLike | Sequence[ArrayLike],
    statistic: Statistic = "mean",
    *,
    clusters: ArrayLike | None = None,
    paired: bool = False,
    n_resamples: int = 9999,
    confidence_level: float = 0.95,
    method: Literal["bca", "percentile"] = "bca",
    rng: np.random.Generator | int | None = None,
) -> BootstrapResult:
    """Estimate the uncertainty of a statistic by resampling the data.

    Parameters
    ----------
    data : array_like, shape (n,), or with `paired` two of them
        Finite observations. With ``paired=True`` two arrays of one length, resampled together.
    statistic : {"mean", "median"}, callable or CompiledStatistic
        Of one array, or of two when paired; the named ones are then the first less the second. A
        callable returns a number, perhaps infinite, and never NaN. One from `from_cfunc` runs in
        the native loop, for data that are not paired.
    clusters : array_like, shape (n,), optional
        Label of the cluster each observation belongs to; whole clusters are resampled. The
        default takes each observation for a cluster of its own.
    paired : bool
        Whether `data` is two arrays, observation i of one belonging to i of the other.
    n_resamples : int
        Number of replicates, at least 1.
    confidence_level : float
        Coverage aimed at, in (0, 1).
    method : {"bca", "percentile"}
        Bias-corrected and accelerated (default), or plain percentiles. BCa falls back to
        percentiles, and says so, where the acceleration is undefined or there are fewer than ten
        clusters.
    rng : int or numpy.random.Generator, optional
        Where the randomness comes from; the default is a fixed named stream.

    Returns
    -------
    BootstrapResult
        Interval, standard error, replicates and the method used.

    Raises
    ------
    InputError
        If data are empty, NaN or infinite, or arguments do not fit each other.

    Notes
    -----
    Means over clusters cost one matrix product a thousand replicates; other statistics are called
    once a replicate. Constant data give an interval of zero width: for shares at 0 % or 100 % use
    `wilson_interval`. A compiled statistic gets its observations in ascending order, which would
    tear pairs apart; NaN that it returns makes the ends that need it NaN.

    References
    ----------
    Efron (1987), doi:10.1080/01621459.1987.10478410; Field & Welsh (2007),
    doi:10.1111/j.1467-9868.2007.00593.x.

    Examples
    --------
    >>> result = bootstrap([1, 2, 3, 3, 3, 3, 4, 5], "median")
    >>> result.method
    'percentile (fewer than 10 clusters)'
    """
    if paired and isinstance(statistic, CompiledStatistic):
        raise InputError("statistic", "be a plain callable when paired", statistic)
    is_compiled(statistic, 1)
    arrays = _checked_data(data, paired=paired)
    groups = _cluster_indices(clusters, arrays[0].size)
    n_resamples = options.resamples(n_resamples)
    options.choice("method", method, ("bca", "percentile"))
    z = normal_quantile(confidence_level)
    generator = options.generator(rng, "stats.bootstrap")
    if statistic == "mean":
        observed, replicates, jackknife = _resample_mean(arrays, groups, n_resamples, generator)
    elif isinstance(statistic, CompiledStatistic):
        seed = int(generator.integers(2**63))
        found = statistic.bootstrap(arrays[0], groups, n_resamples, seed)
        observed, replicates, jackknife = found
    else:
        call = _named_statistic(statistic)
        observed, replicates, jackknife = _resample(arrays, groups, call, n_resamples, generator)
    interval, used = _interval(observed, replicates, jackknife, z, method)
    error = float(standard_error(replicates))
    return BootstrapResult(observed, interval, error, replicates, used)


def _checked_data(
    data: ArrayLike | Sequence[ArrayLike], *, paired: bool
) -> tuple[NDArray[np.float64], ...]:
    parts: Any = data if paired else (data,)
    if not hasattr(parts, "__len__") or len(parts) != (2 if paired else 1):
        raise InputError("data", "be two arrays when paired", data)
    names = ("data[0]", "data[1]") if paired else ("data",)
    opened = [
        samples(part, name=name, allow_infinite=False, allow_empty=True)
        for part, name in zip(parts, names, strict=True)
    ]
    for sample in opened:
        if not sample.is_single or not sample.lengths().all():
            raise InputError(sample.name, "be one-dimensional and not empty", data)
    arrays = tuple(sample.flat() for sample in opened)
    if arrays[-1].size != arrays[0].size:
        raise InputError("data", "be of one length when paired", [a.size for a in arrays])
    return arrays


def _cluster_indices(clusters: ArrayLike | None, n: int) -> list[NDArray[np.intp]]:
    if clusters is None:
        return [np.array([i]) for i in range(n)]
    labels = plain_array(clusters, "clusters")
    if labels.shape != (n,):
        raise InputError("clusters", f"hold one label an observation ({n})", labels.shape)
    _, inverse = np.unique(labels, return_inverse=True)
    order = np.argsort(inverse, kind="stable")
    return np.split(order, np.cumsum(np.bincount(inverse))[:-1])


def _named_statistic(
    statistic: Literal["mean", "median"] | Callable[..., float],
) -> Callable[..., float]:
    if callable(statistic):
        return statistic
    if statistic != "median":
        raise InputError("statistic", "be 'mean', 'median' or callable", statistic)

    def median(*arrays: NDArray[np.float64]) -> float:
        first = float(np.median(arrays[0]))
        return first - float(np.median(arrays[1])) if len(arrays) > 1 else first

    return median


def _resample_mean(
    arrays: tuple[NDArray[np.float64], ...],
    groups: list[NDArray[np.intp]],
    n_resamples: int,
    generator: np.random.Generator,
) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
    # Sums of extreme values stay finite when these are scaled.
    scaled, exponent = scaled_rows(np.concatenate(arrays) / len(arrays))
    parts = np.split(scaled, len(arrays))
    values = parts[0] if len(arrays) == 1 else 2.0 * (parts[0] - parts[1])
    sums = np.array([values[group].sum() for group in groups])
    sizes = np.array([group.size for group in groups], dtype=np.float64)
    k = len(groups)
    replicates = np.empty(n_resamples)
    for start in range(0, n_resamples, _ROWS_AT_A_TIME):
        rows = min(_ROWS_AT_A_TIME, n_resamples - start)
        # Counting whole numbers is several times faster than drawing the counts.
        chosen = generator.integers(k, size=(rows, k)) + k * np.arange(rows)[:, None]
        counts = np.bincount(chosen.reshape(-1), minlength=rows * k).reshape(rows, k)
        replicates[start : start + rows] = (counts @ sums) / (counts @ sizes)
    jackknife = (sums.sum() - sums) / (sizes.sum() - sizes) if k > 1 else np.array([values.mean()])
    found = float(np.ldexp(sums.sum() / sizes.sum(), exponent))
    return found, np.ldexp(replicates, exponent), np.ldexp(jackknife, exponent)


def _resample(
    arrays: tuple[NDArray[np.float64], ...],
    groups: list[NDArray[np.intp]],
    statistic: Callable[..., float],
    n_resamples: int,
    generator: np.random.Generator,
) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
    def of(chosen: NDArray[np.intp]) -> float:
        index = np.concatenate([groups[i] for i in chosen])
        return number(statistic(*(array[index] for array in arrays)))

    k = len(groups)
    observed = number(statistic(*arrays))
    replicates = np.array([of(generator.integers(k, size=k)) for _ in range(n_resamples)])
    everyone = np.arange(k)
    jackknife = np.array([of(np.delete(everyone, i)) for i in range(k)] if k > 1 else [0.0])
    return observed, replicates, jackknife


def _interval(
    observed: float,
    replicates: NDArray[np.float64],
    jackknife: NDArray[np.float64],
    z: float,
    method: str,
) -> tuple[Interval, str]:
    from statistics import NormalDist  # noqa: PLC0415 - keeps the package's import light

    normal = NormalDist()
    levels, used = (normal.cdf(-z), normal.cdf(z)), "percentile"
    if method == "bca":
        below = _share_below(observed, replicates)
        leaving_out, _ = scaled_rows(np.where(np.isfinite(jackknife).all(), jackknife, 0.0))
        deviations = leaving_out.mean() - leaving_out
        spread = float((deviations**2).sum())
        if jackknife.size < FEWEST_CLUSTERS_FOR_BCA:
            used = f"percentile (fewer than {FEWEST_CLUSTERS_FOR_BCA} clusters)"
        elif spread == 0.0 or not 0.0 < below < 1.0:
            used = "percentile (acceleration undefined)"
        else:
            acceleration = float((deviations**3).sum()) / (6.0 * spread**1.5)
            bias = normal.inv_cdf(below)
            levels, used = _bca_levels(bias, acceleration, z), "bca"
    low, high = interval_ends(replicates, levels)
    return Interval(float(low), float(high)), used


def _share_below(observed: float, replicates: NDArray[np.float64]) -> float:
    """Return the share of replicates below the observed value, those equal to it counting half."""
    is_tied = tied(replicates, observed)
    return float(np.mean((replicates < observed) & ~is_tied) + 0.5 * np.mean(is_tied))


def _bca_levels(bias: float, acceleration: float, z: float) -> tuple[float, float]:
    from statistics import NormalDist  # noqa: PLC0415 - keeps the package's import light

    normal = NormalDist()

    def level(side: float) -> float:
        shifted = bias + side
        return normal.cdf(bias + shifted / (1.0 - acceleration * shifted))

    return level(-z), level(z)
