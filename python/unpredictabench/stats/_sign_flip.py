"""The test of paired differences that changes their signs by chance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from unpredictabench.streams import stream

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

N_FLIPS: Final = 9999
"""Sign patterns drawn where there are more than that."""
SAME: Final = 1e-12
"""Sums closer than this, relative to the sum of the sizes, are one value."""


def sign_flip(gaps: ArrayLike) -> float:
    """Test whether differences are symmetric about 0.

    Parameters
    ----------
    gaps : array_like, shape (n,)
        Independent differences, finite: those of tasks, or their sums over clusters.

    Returns
    -------
    float
        Two-sided p-value of their sum, in (0, 1]: exact for up to 13 differences that are not 0,
        else from 9,999 random patterns of signs, (b + 1) / (B + 1).

    Notes
    -----
    Differences of 0 keep their sign, and change nothing.

    Examples
    --------
    >>> sign_flip([1.0, 2.0, 3.0])
    0.25
    """
    moved = np.asarray(gaps, dtype=np.float64)
    moved = moved[moved != 0]
    if not moved.size:
        return 1.0
    observed = abs(float(moved.sum())) - SAME * float(np.abs(moved).sum())
    if 2**moved.size <= N_FLIPS:
        bits = np.arange(2**moved.size)[:, None] >> np.arange(moved.size) & 1
        return float((np.abs((2 * bits - 1) @ moved) >= observed).mean())
    # The name of the stream is part of every p-value that was printed.
    flips = stream("score.sign-flip", moved.size).integers(2, size=(N_FLIPS, moved.size))
    hits = int((np.abs((2 * flips - 1) @ moved) >= observed).sum())
    return (hits + 1) / (N_FLIPS + 1)
