"""Bootstrap replicates, however large these are: their check, deviation and quantiles."""

from __future__ import annotations

import math
import numbers
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from unpredictabench.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

SAME: Final = 1e-12
"""Replicates closer to the observed value, relative to it and to their spread, are equal to it: one
sum taken in two orders differs by rounding."""


def number(value: object) -> float:
    """Accept what a user's statistic returned: a real number, perhaps infinite, but not NaN."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    is_number = isinstance(value, numbers.Real | np.bool_)
    if not is_number or math.isnan(found := float(cast("float", value))):
        raise InputError("statistic", "return a real number that is not NaN", value)
    return found


def standard_error(replicates: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the standard deviations of rows of replicates, NaN where there is one or an infinity.

    Rows are scaled by powers of two, so that the squares of extreme values stay finite.
    """
    if replicates.shape[-1] == 1:
        return np.full(replicates.shape[:-1], np.nan)
    scaled, exponent = scaled_rows(replicates)
    with np.errstate(invalid="ignore"):  # infinite replicates have no deviation
        deviation = np.std(scaled, axis=-1, ddof=1)
    return np.asarray(np.ldexp(deviation, exponent), dtype=np.float64)


def interval_ends(
    replicates: NDArray[np.float64], levels: tuple[float, float]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return two quantiles of rows of replicates, observed ones where some are infinite."""
    scaled, exponent = scaled_rows(replicates)
    if np.isinf(replicates).any():
        low = np.quantile(scaled, levels[0], axis=-1, method="lower")
        high = np.quantile(scaled, levels[1], axis=-1, method="higher")
    else:
        low, high = np.quantile(scaled, levels, axis=-1)
    return np.ldexp(low, exponent), np.ldexp(high, exponent)


def tied(
    replicates: NDArray[np.float64], observed: float | NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Tell which replicates equal what was observed but for rounding, in one row or in many."""
    spread = np.nan_to_num(standard_error(replicates))
    near = np.asarray(observed)[..., None]
    is_near = np.isclose(replicates, near, rtol=SAME, atol=SAME * spread[..., None])
    return np.asarray(is_near, dtype=np.bool_)


def scaled_rows(rows: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.intc]]:
    """Return rows with values in [-1, 1], and the exponents of 2 that they were divided by."""
    largest = np.max(np.abs(rows), axis=-1, initial=0.0, where=np.isfinite(rows))
    exponent = np.frexp(largest)[1]
    return np.ldexp(rows, -exponent[..., None]), exponent
