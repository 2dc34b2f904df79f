"""Where the cdf of a law jumps, found through its public functions alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from unpredictabench.streams import stream
from unpredictabench.targets import cache

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unpredictabench.targets.law import NumericLaw

N_DRAWS: Final = 10_000
"""Draws that show where to look; an atom of a mixed law that they miss weighs about 1e-3 at most
and is taken for a part of the continuous mass around it."""
FINEST: Final = 8 * np.finfo(np.float64).eps
"""Gaps between levels below this are rounding."""


def jumps(law: NumericLaw) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Find the jumps of a cdf, remembered on disk by the content of the law.

    Parameters
    ----------
    law : NumericLaw
        A discrete or mixed law.

    Returns
    -------
    below, above : numpy.ndarray
        P(X < x) and P(X <= x) at the atoms, rising; the jumps of a discrete law leave no gap.
    """
    found = cache.remembered(("jumps", law.hash), lambda: np.array(_found(law)))
    return np.asarray(found[0], dtype=np.float64), np.asarray(found[1], dtype=np.float64)


def _found(law: NumericLaw) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    draws = np.asarray(law.sample(N_DRAWS, stream("jumps", law.hash)), dtype=np.float64)
    seen, counts = np.unique(draws, return_counts=True)
    is_discrete = law.support == "discrete"
    candidates = seen if is_discrete else seen[counts > 1]
    x = np.unique(np.concatenate([candidates, [end for end in law.ends if np.isfinite(end)]]))
    below, above = law.cdf_left(x), law.cdf(x)
    while is_discrete:
        starts, ends = np.append(0.0, above), np.append(below, 1.0)
        is_gap = ends - starts > FINEST
        if not is_gap.any():
            break
        # Each gap holds at least one atom that its middle finds.
        new = np.setdiff1d(law.ppf((starts[is_gap] + ends[is_gap]) / 2), x)
        if not new.size:
            break
        x = np.union1d(x, new)
        below, above = law.cdf_left(x), law.cdf(x)
    is_jump = above > below
    below, above = below[is_jump], above[is_jump]
    if is_discrete:
        # Neighbouring levels are one number, whatever the rounding of the two sides.
        below = np.append(0.0, above[:-1])
        above[-1] = 1.0
    return below, above
