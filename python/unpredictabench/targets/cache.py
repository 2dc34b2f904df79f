"""Draws remembered on disk; a cache that cannot be read or written only costs time."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from unpredictabench._whole import whole
from unpredictabench.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

FOLDER_VARIABLE = "UNPREDICTABENCH_CACHE"
"""Environment variable that names the cache folder; empty means no cache at all."""
DIGEST_BYTES = 16
"""Bytes of the digest that leads what is kept."""
VERSION = 1
"""Part of every key: raised when the draws of an unchanged law change."""


def folder() -> Path | None:
    """Return the cache folder, or None when the user wants none.

    Returns
    -------
    pathlib.Path or None
        ``$UNPREDICTABENCH_CACHE`` where it is set, else the user's cache folder.
    """
    named = os.environ.get(FOLDER_VARIABLE)
    if named is not None:
        return Path(named) if named else None
    import platformdirs  # noqa: PLC0415 - needed only when draws are asked for

    return Path(platformdirs.user_cache_dir("unpredictabench", appauthor=False))


def remembered(
    key: tuple[str | int, ...], draw: Callable[[], NDArray[np.generic]]
) -> NDArray[np.generic]:
    """Return the array stored under a key, drawing and storing it when there is none.

    Parameters
    ----------
    key : tuple of str or int
        What the array depends on, all of it.
    draw : callable
        Makes the array; called when it is not stored or the stored bytes are damaged.

    Returns
    -------
    numpy.ndarray
        The array.
    """
    place = folder()
    if place is None:
        return draw()
    digest = hashlib.sha256(repr((VERSION, *key)).encode()).hexdigest()
    path = place / "draws" / f"{digest}.npy"
    stored = _read(path)
    if stored is None:
        stored = draw()
        _write(path, stored)
    return stored


def _read(path: Path) -> NDArray[np.generic] | None:
    """Return the stored array, or None when there is none that is whole."""
    try:
        body = unsealed(path.read_bytes())
        if body is None:
            return None
        array: NDArray[np.generic] = np.load(io.BytesIO(body), allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    return array


def _write(path: Path, array: NDArray[np.generic]) -> None:
    """Store an array in one step, so that no reader ever sees half of it."""
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    body = buffer.getvalue()
    with contextlib.suppress(OutputError), whole(path, is_synced=False) as draft:
        draft.write_bytes(sealed(body))


def sealed(body: bytes) -> bytes:
    """Put the digest of some bytes before them."""
    return _digest(body) + body


def unsealed(data: bytes) -> bytes | None:
    """Return the bytes that `sealed` was given; None where any of them differs.

    Examples
    --------
    >>> unsealed(sealed(b"draws")), unsealed(sealed(b"draws")[:-1])
    (b'draws', None)
    """
    digest, body = data[:DIGEST_BYTES], data[DIGEST_BYTES:]
    return body if _digest(body) == digest else None


def _digest(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=DIGEST_BYTES).digest()
