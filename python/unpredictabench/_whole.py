"""Files that appear whole or not at all, whenever the process that writes them dies."""

from __future__ import annotations

import contextlib
import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from unpredictabench.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextlib.contextmanager
def whole(path: str | os.PathLike[str], *, is_synced: bool = True) -> Iterator[Path]:
    """Give a draft beside a file; it takes the file's place when all went well.

    Parameters
    ----------
    path : path
        The file to write; its folder is made. What is no plain file, such as ``/dev/stdout``, is
        written as it is.
    is_synced : bool, default True
        Whether the content reaches the disk before the name does, so that a power cut cannot
        leave an empty file. Caches, which check what they read, do without.

    Yields
    ------
    Path
        Where to write. After an error the file is as it was, and the draft is gone; SIGKILL may
        leave a draft, whose name begins with a dot and ends in ``.part``.

    Raises
    ------
    OutputError
        The file cannot be written; the message names the folder and says what to do.
    """
    named = Path(path)
    target = Path(os.path.realpath(named))
    is_plain = os.path.isfile(target) or not os.path.exists(target)  # noqa: PTH110, PTH113 - a name too long is no error yet
    owner = f"{os.getpid()}-{threading.get_ident()}"
    draft = target.with_name(f".{target.name[:100]}.{owner}.part") if is_plain else target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        yield draft
        if is_plain:
            if is_synced:
                _sync(draft, os.O_RDWR)
            draft.replace(target)
            if is_synced:
                with contextlib.suppress(OSError):  # not every system opens folders
                    _sync(target.parent, os.O_RDONLY)
    except OSError as error:
        raise OutputError(named, error) from error
    finally:
        if is_plain:
            with contextlib.suppress(OSError):
                draft.unlink(missing_ok=True)


def _sync(path: Path, flags: int) -> None:
    descriptor = os.open(path, flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
