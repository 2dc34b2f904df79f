"""The compiled kernels; only `unpredictabench.stats` imports them."""

from typing import Self

import numpy as np
from numpy.typing import NDArray

__version__: str
is_debug_build: bool

class Truth:
    def __new__(cls, draws: NDArray[np.float64]) -> Self: ...
    def __len__(self) -> int: ...

def first_nan(values: NDArray[np.float64]) -> int | None: ...
