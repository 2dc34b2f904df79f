"""The rows of a JSON, JSONL, CSV or Parquet file as mappings, whatever damage the file has."""

from __future__ import annotations

import csv
import json
import math
from typing import TYPE_CHECKING, Any, TypeAlias

from unpredictabench.errors import MissingExtraError
from unpredictabench.integrations.jsonstream import DamagedError, elements

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from unpredictabench.integrations.tally import Tally

Row: TypeAlias = "Mapping[str, Any]"
MOST_CELL = 1 << 24
"""Longest cell of a CSV file, in characters."""
MOST_LINE = 1 << 26
"""Longest line of a JSONL file, in characters."""
BATCH = 1024
_MISSING: Any = object()
"""Stands in the cells that a row of a table lacks."""


def finite(value: object) -> float | None:
    """Return a number of a row as a float; None for anything else, NaN and truth values too.

    Parameters
    ----------
    value : object
        What the row holds.

    Examples
    --------
    >>> finite(3), finite(float("nan")), finite(10**400), finite(True), finite("3")
    (3.0, None, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:  # an integer beyond the floats
        return None


def rows(path: Path, tally: Tally) -> Iterator[tuple[str, Row]]:
    """Yield the rows of a file, and where each stands.

    Parameters
    ----------
    path : pathlib.Path
        A file that ends in .json, .jsonl, .csv, .tsv or .parquet.
    tally : Tally
        Where rows and files that cannot be read are counted.

    Yields
    ------
    (str, mapping)
        The place, for messages, and the row.
    """
    number = 0
    try:
        for number, row in enumerate(_READERS[path.suffix.lower()](path), start=1):
            where = f"{path} row {number}"
            if isinstance(row, DamagedError):
                tally.refuse(f"row that {row}", where)
            elif not isinstance(row, dict):
                tally.refuse("row that is not an object", where)
            elif None in row:
                tally.refuse("row with more cells than the header", where)
            elif _MISSING in row.values():
                tally.refuse("row with fewer cells than the header", where)
            else:
                yield where, row
    except DamagedError as error:
        tally.refuse(f"file that {error}", f"{path} after row {number}")


def _lines(path: Path) -> Iterator[object]:
    try:
        with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="\n") as file:
            while line := file.readline(MOST_LINE):
                if not line.endswith("\n") and len(line) == MOST_LINE:
                    raise DamagedError("holds a line too long")
                if line.strip():
                    yield _parsed(line)
    except OSError as error:
        raise DamagedError(f"cannot be read ({error.strerror})") from error


def _parsed(line: str) -> object:
    try:
        return json.loads(line)
    except RecursionError:
        return DamagedError("is nested too deeply")
    except ValueError:
        return DamagedError("is not JSON")


def _cells(path: Path) -> Iterator[object]:
    before = csv.field_size_limit(MOST_CELL)
    try:
        with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
            head = file.readline(MOST_LINE)
            file.seek(0)
            yield from csv.DictReader(file, delimiter=_delimiter(path, head), restval=_MISSING)
    except csv.Error as error:
        raise DamagedError(f"is not a table ({error})") from error
    except OSError as error:
        raise DamagedError(f"cannot be read ({error.strerror})") from error
    finally:
        csv.field_size_limit(before)


def _delimiter(path: Path, head: str) -> str:
    if path.suffix.lower() == ".tsv":
        return "\t"
    return ";" if ";" in head and "," not in head else ","


def _batches(path: Path) -> Iterator[object]:
    try:
        import pyarrow as pa  # noqa: PLC0415 - an extra
        from pyarrow import parquet  # noqa: PLC0415 - an extra
    except ImportError:
        raise MissingExtraError("reading Parquet", "arrow") from None
    try:
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=BATCH):
                yield from batch.to_pylist()
    except (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError) as error:
        raise DamagedError(f"is not whole Parquet ({' '.join(str(error).split())})") from error


_READERS = {
    ".json": elements,
    ".jsonl": _lines,
    ".csv": _cells,
    ".tsv": _cells,
    ".parquet": _batches,
}
