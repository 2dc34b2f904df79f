"""The compiled kernels; only `unpredictabench.stats` imports them."""

from typing import Self, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

__version__: str
is_debug_build: bool

_Rows: TypeAlias = tuple[NDArray[np.float64], NDArray[np.int64]]
_Counts: TypeAlias = int | NDArray[np.int64]

@final
class Truth:
    def __new__(cls, draws: NDArray[np.float64]) -> Self: ...
    def __len__(self) -> int: ...

def first_invalid(values: NDArray[np.float64], allow_infinite: bool) -> int | None: ...
def ks_2samp(
    x: _Rows,
    y: Truth | _Rows,
    n_invalid: _Counts,
    alternative: str,
    method: str,
    workers: int | None,
) -> tuple[
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.int8],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.bool_],
]: ...
def ks_2samp_one(
    x: NDArray[np.float64], y: Truth, n_invalid: int, alternative: str, method: str
) -> tuple[float, float, int, float, float, bool]: ...
