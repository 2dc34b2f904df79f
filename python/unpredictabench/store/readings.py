"""Keep what was last read from a run's answers beside them: classes, values and spans."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unpredictabench._whole import whole
from unpredictabench.errors import OutputError, StoreError
from unpredictabench.extract import ledger

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from unpredictabench.records import Completion, Extraction


def last_readings(folder: Path) -> list[str]:
    """Return the lines of the last readings of a run.

    Parameters
    ----------
    folder : Path
        The run folder.

    Returns
    -------
    list of str
        Lines as `extract.ledger.to_line` writes them; none before the first reading.

    Raises
    ------
    StoreError
        If the file is damaged or cannot be read.
    """
    file = folder / ledger.FILE_NAME
    try:
        lines = file.read_text(encoding="ascii").splitlines() if file.exists() else []
        ledger.changes(lines, lines)
    except OSError as error:
        raise StoreError(f"{file} cannot be read: {error}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise StoreError(
            f"{file} is damaged: remove it, for it is made anew from the answers"
        ) from error
    return lines


def keep_readings(folder: Path, found: Iterable[tuple[Completion, Extraction]]) -> None:
    """Put readings in the place of the last ones, in one step.

    Parameters
    ----------
    folder : Path
        The run folder.
    found : iterable of (Completion, Extraction)
        Every reading of every answer, as `extract.ledger.readings` yields them; none is held.

    Raises
    ------
    StoreError
        If the folder cannot be written; the answers and the last readings stay.
    """
    file = folder / ledger.FILE_NAME
    try:
        with whole(file) as draft, draft.open("w", encoding="ascii", newline="\n") as out:
            out.writelines(f"{ledger.to_line(*one)}\n" for one in found)
    except OutputError as error:
        raise StoreError(
            f"{file} cannot be written ({error.error}); every answer is kept: make room or make "
            "the folder writable, then run the same command again"
        ) from error
