"""One writer a run: a lock of the operating system, which dies with the process that holds it."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from unpredictabench.errors import StoreError

if TYPE_CHECKING:
    from pathlib import Path

LOCK_NAME = "run.lock"


def acquire(folder: Path) -> int:
    """Take the writer's lock of a run folder.

    Parameters
    ----------
    folder : Path
        The run folder; it must exist.

    Returns
    -------
    int
        The descriptor that holds the lock until `release`, or until the process ends.

    Raises
    ------
    StoreError
        Another writer holds it; the message names its process.
    """
    import fcntl  # noqa: PLC0415 - absent on Windows, where runs can still be read

    file = folder / LOCK_NAME
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        owner = os.read(descriptor, 32).decode(errors="replace").strip() or "unknown"
        os.close(descriptor)
        raise StoreError(
            f"{folder} is being written by process {owner}; wait for it, or choose another "
            "folder with -o"
        ) from None
    if not _is_at(file, descriptor):  # its owner removed the folder between the two calls above
        os.close(descriptor)
        return acquire(folder)
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
    return descriptor


def release(descriptor: int) -> None:
    """Give the lock back; the file stays for the next writer."""
    os.close(descriptor)


def remove(folder: Path) -> None:
    """Remove the lock, which the caller holds, and the folder if nothing else is in it."""
    (folder / LOCK_NAME).unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # somebody's files are there
        folder.rmdir()


def _is_at(file: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(file.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False
