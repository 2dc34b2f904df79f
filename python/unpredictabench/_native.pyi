"""The compiled kernels; only `unpredictabench.stats` imports them."""

from typing import Self, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

__version__: str
is_debug_build: bool

_Floats: TypeAlias = NDArray[np.float64]
_Integers: TypeAlias = NDArray[np.int64]
_Rows: TypeAlias = tuple[_Floats, _Integers]
"""Values of all rows, and where each begins and the last ends."""
_Counts: TypeAlias = int | _Integers
"""One for all rows, or one a row."""
_Options: TypeAlias = tuple[str, float, int, float]
"""Distance, order, points of the grid, padding."""

@final
class Truth:
    def __new__(cls, draws: _Floats) -> Self: ...
    def __len__(self) -> int: ...
    @property
    def sorted(self) -> _Floats: ...
    @property
    def is_finite(self) -> bool: ...

def first_invalid(values: _Floats, allow_infinite: bool) -> int | None: ...
def ks_2samp(
    x: _Rows,
    y: Truth | _Rows,
    n_invalid: _Counts,
    alternative: str,
    method: str,
    workers: int | None,
) -> tuple[
    _Floats,
    _Floats,
    NDArray[np.int8],
    _Floats,
    _Floats,
    NDArray[np.bool_],
]: ...
def ks_2samp_one(
    x: _Floats,
    y: Truth | _Floats,
    n_invalid: int,
    alternative: str,
    method: str,
) -> tuple[float, float, int, float, float, bool]: ...
def ks_1samp_statistic(
    x: _Rows,
    cdf: _Floats,
    cdf_left: _Floats,
    n_invalid: _Counts,
    alternative: str,
    workers: int | None,
) -> tuple[_Floats, _Floats, NDArray[np.int8]]: ...
def ks_1samp_continuous(
    n: _Integers, distance: _Floats, alternative: str, workers: int | None
) -> tuple[_Floats, _Floats]: ...
def ks_1samp_stepped(
    below: _Rows, above: _Floats, alternative: str, workers: int | None
) -> tuple[_Floats, _Floats]: ...
def ks_1samp_critical(n: _Integers, alpha: float, workers: int | None) -> _Floats: ...
def ks_2samp_untied(n: _Integers, m: _Integers, h: _Integers, workers: int | None) -> _Floats: ...
def ks_2samp_critical(n: _Integers, m: int, alpha: float, workers: int | None) -> _Integers: ...
def subset_shares_law(
    x: _Rows,
    cdf: _Floats,
    cdf_left: _Floats,
    n_invalid: _Counts,
    n: _Integers,
    distances: _Floats,
    workers: int | None,
) -> tuple[_Floats, _Floats]: ...
def subset_shares_truth(
    x: _Rows,
    y: Truth | _Rows,
    n_invalid: _Counts,
    n: _Integers,
    heights: _Integers,
    workers: int | None,
) -> tuple[_Floats, _Floats]: ...
def edf_statistics(cdf: _Rows, cdf_left: _Floats, kind: str, workers: int | None) -> _Floats: ...
def edf_tails(
    n: _Integers, statistic: _Floats, kind: str, workers: int | None
) -> tuple[_Floats, NDArray[np.bool_]]: ...
def edf_2samp(
    x: _Rows,
    y: Truth | _Rows,
    kind: str,
    first_row: int,
    n_resamples: int,
    seed: int,
    workers: int | None,
) -> tuple[_Floats, _Floats, NDArray[np.bool_]]: ...
def tv_tails(
    numerators: _Integers, n: _Integers, excess: _Integers, workers: int | None
) -> _Floats: ...
def tv_largest_passing(
    numerators: _Integers, n: _Integers, alpha: float, workers: int | None
) -> list[int | None]: ...
def tv_pool_shares(
    numerators: _Integers,
    counts: _Integers,
    n_invalid: int,
    n: _Integers,
    largest: _Integers,
    workers: int | None,
) -> tuple[_Floats, _Floats]: ...
def pair_tails(n_cells: int, n: _Integers, pairs: _Integers, workers: int | None) -> _Floats: ...
def pair_largest_passing(
    n_cells: int, n: _Integers, alpha: float, workers: int | None
) -> list[int | None]: ...
def tv_largest_draws(
    probabilities: _Floats, n: int, n_resamples: int, keep: int, seed: int, workers: int | None
) -> _Floats: ...
def tv_count_draws(
    probabilities: _Floats,
    n: int,
    distance: float,
    n_resamples: int,
    seed: int,
    workers: int | None,
) -> int: ...
def distance(x: _Rows, y: Truth | _Rows, options: _Options, workers: int | None) -> _Floats: ...
def null_moments(
    x: _Rows, y: Truth | _Rows, statistic: str, with_deviation: bool, workers: int | None
) -> tuple[_Floats, _Floats]: ...
def permutation(
    x: _Rows,
    y: Truth | _Rows,
    statistic: str,
    n_resamples: int,
    stream: tuple[int, int],
    workers: int | None,
) -> tuple[_Floats, _Floats, _Floats]: ...
def distance_bootstrap(
    x: _Rows,
    y: Truth | _Rows,
    options: _Options,
    both: bool,
    n_resamples: int,
    stream: tuple[int, int],
    workers: int | None,
) -> _Floats: ...

@final
class Function:
    def __new__(cls, owner: object, address: int, n_samples: int) -> Self: ...

def own_1samp(function: Function, x: _Rows, workers: int | None) -> _Floats: ...
def own_2samp(function: Function, x: _Rows, y: Truth | _Rows, workers: int | None) -> _Floats: ...
def own_resamples(
    function: Function,
    x: _Rows,
    y: Truth | _Rows,
    resample: str,
    n_resamples: int,
    stream: tuple[int, int],
    workers: int | None,
) -> _Floats: ...
def own_bootstrap(
    function: Function,
    values: _Floats,
    clusters: _Integers,
    n_clusters: int,
    n_resamples: int,
    seed: int,
    workers: int | None,
) -> tuple[_Floats, _Floats]: ...
def wasserstein_weighted(
    x: _Floats,
    x_weights: _Floats,
    y: _Floats,
    y_weights: _Floats,
    p: float,
) -> float: ...
def energy_weighted(
    x: _Floats,
    x_weights: _Floats,
    y: _Floats,
    y_weights: _Floats,
) -> float: ...
def ks_critical_h(n: int, m: int, alpha: float, alternative: str) -> int: ...
def ks_bootstrap(
    x: _Rows,
    y: Truth | _Rows,
    n_resamples: int,
    seed: int,
    first_row: int,
    resample_both: bool,
    workers: int | None,
) -> _Floats: ...
