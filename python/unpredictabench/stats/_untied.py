"""Two-sample p-values that ignore ties, as SciPy's: for comparison with published scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unpredictabench import _native

if TYPE_CHECKING:
    from numpy.typing import NDArray


def untied_pvalues(
    statistic: NDArray[np.float64], n: NDArray[np.int64], m: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return exact two-sided p-values as if all values were different.

    Parameters
    ----------
    statistic : numpy.ndarray of float64
        Kolmogorov-Smirnov statistics.
    n, m : numpy.ndarray of int64
        Sizes of the two samples of each.

    Returns
    -------
    numpy.ndarray
        In (0, 1]; too large where there are ties.

    Examples
    --------
    >>> untied_pvalues(np.array([1.0]), np.array([3]), np.array([3])).round(6).tolist()
    [0.1]
    """
    columns = np.stack([n, m, np.rint(statistic * n * m).astype(np.int64)])
    unique, back = np.unique(columns, axis=1, return_inverse=True)
    sizes, truths, heights = (np.ascontiguousarray(column) for column in unique)
    return _native.ks_2samp_untied(sizes, truths, heights, None)[back.reshape(-1)]
