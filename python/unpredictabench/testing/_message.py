"""What a failed assertion says: the test's numbers in words, and both histograms in ASCII."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from unpredictabench.testing._references import ENDS

if TYPE_CHECKING:
    from unpredictabench.stats import KsResult
    from unpredictabench.testing._references import Floats, Reference

N_BINS: Final = 8
"""Bins between the outer two, which are open."""
WIDEST: Final = 2.0**40
"""Range of whole numbers in which steps of whole numbers are exact."""
BAR: Final = 20
"""Characters of the longest bar."""


def message_of(
    x: Floats, reference: Reference, found: KsResult, alpha: float, *, n_invalid: int
) -> str:
    """Say how a sample differs from what it should follow."""
    side = "above" if found.statistic_sign == 1 else "below"
    where = f"at {found.statistic_location:.6g}, where the cdf of x is {side} that of the other"
    if not math.isfinite(float(found.statistic_location)):
        where = "at an end: too many draws are invalid or infinite"
    size = x.size + n_invalid
    invalid = f", {n_invalid} of them invalid" if n_invalid else ""
    return "\n".join(
        [
            f"x does not follow {reference.label}: p = {_pvalue(found)}, alpha = {alpha:g}",
            f"D = {found.statistic:.4f} {where}",
            f"n = {size}{invalid}; p is {found.method}",
            "",
            *_histogram(x, reference),
        ]
    )


def _pvalue(found: KsResult) -> str:
    """Write p, also where it is too small for a float."""
    log10 = float(found.log_pvalue) / math.log(10.0)
    return f"{found.pvalue:.2g}" if log10 > -300 or log10 == -math.inf else f"1e{log10:.0f}"


def _histogram(x: Floats, reference: Reference) -> list[str]:
    """Draw the percentages of both in bins that hold their upper end."""
    edges = _edges(x, reference.landmarks)
    if not edges.size:
        return ["(no finite values to draw)"]
    own = np.searchsorted(np.sort(x), edges, side="right") / max(x.size, 1)
    shares = [np.diff([0.0, *cdf, 1.0]) for cdf in (own, reference.cdf(edges))]
    names = ["-inf", *_names(edges), "inf"]
    bins = [f"({low}, {high}]" for low, high in pairwise(names)]
    width, longest = max(map(len, bins)), max(share.max() for share in shares)
    lines = [f"{'':{width}}   {'% of x':<{BAR + 6}}  % of the other"]
    for label, one, other in zip(bins, *shares, strict=True):
        bars = [f"{100 * share:5.1f} {_bar(share / longest):<{BAR}}" for share in (one, other)]
        lines.append(f"{label:>{width}}  {'  '.join(bars)}".rstrip())
    return lines


def _bar(share: float) -> str:
    return "#" * round(BAR * share)


def _names(edges: Floats) -> list[str]:
    """Write numbers with as many digits as tell them apart."""
    for digits in range(4, 17):
        names = [f"{edge:.{digits}g}" for edge in edges]
        if len(set(names)) == edges.size:
            return names
    return list(map(repr, edges.tolist()))


def _edges(x: Floats, landmarks: Floats) -> Floats:
    """Return ends of bins: the values where they are few, else equal steps over most of both."""
    parts = [part[np.isfinite(part)] for part in (x, landmarks)]
    pool = np.concatenate(parts)
    distinct = np.unique(pool)
    if distinct.size <= N_BINS + 2:
        return distinct
    ends = np.concatenate([np.quantile(part, ENDS) for part in parts if part.size])
    low, high = float(ends.min()), float(ends.max())
    if high - low < WIDEST and bool((pool == np.round(pool)).all()):
        step = max(1, math.ceil((high - low) / N_BINS))
        return np.arange(math.floor(low), high + step, step)
    # Halved first: the distance of two large numbers may be larger than any.
    return np.unique(2.0 * np.linspace(low / 2.0, high / 2.0, N_BINS + 1))
