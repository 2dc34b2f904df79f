"""Named random streams: the same name gives the same draws on every machine, in any order."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


def stream(*names: str | int) -> np.random.Generator:
    """Return the generator of a named stream.

    Parameters
    ----------
    *names : str or int
        The path of the name, from general to particular, e.g. ``("truth", task_id, 10_000)``.

    Returns
    -------
    numpy.random.Generator
        A PCG64DXSM generator keyed by the SHA-256 of the path.

    Examples
    --------
    >>> bool(stream("truth", "a").integers(1000) == stream("truth", "a").integers(1000))
    True
    """
    import numpy as np  # noqa: PLC0415 - the package imports without NumPy's cost

    return np.random.Generator(np.random.PCG64DXSM(seed_of(*names)))


def seed_of(*names: str | int, bits: int = 128) -> int:
    """Return the integer seed of a named stream, for code that takes a seed and not a generator."""
    path = "\x1f".join(f"{type(name).__name__}:{name}" for name in names)
    return int.from_bytes(hashlib.sha256(path.encode()).digest()[: bits // 8], "little")
