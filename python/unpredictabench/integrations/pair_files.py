"""The Parquet files of a scoring of pairs: what they must hold, and reading them in a stream."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from unpredictabench.errors import InputError, MissingExtraError, StoreError
from unpredictabench.stats._arrow import is_list, refuse_nulls
from unpredictabench.stats._truth_ids import (
    named_truth,
    plain_ids,
    refuse_unknown,
    truth_codes,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from unpredictabench.stats import PreparedTruth

SAMPLE, TRUTH, TRUTH_ID, N_INVALID = "x", "y", "truth_id", "n_invalid"
BATCH_VALUES: Final = 2**22
"""Observations read at a time: 32 MB, and some copies of them."""
BATCH_ROWS: Final = 2**16
READ_BYTES: Final = 2**20
"""Bytes of a column read at a time; without a bound whole row groups are held."""


@dataclass(frozen=True, slots=True)
class PairFiles:
    """Files of pairs, whose footers have been read.

    Attributes
    ----------
    paths : tuple of Path
        The files, in the order of their rows.
    schema : pyarrow.Schema
        Their columns.
    n_rows : int
        Pairs in all of them.
    """

    paths: tuple[Path, ...]
    schema: Any
    n_rows: int

    def batches(self) -> Iterator[Any]:
        """Read the pairs in order, as record batches of bounded size."""
        for path in self.paths:
            with opened(path) as file:
                yield from file.iter_batches(batch_size=_batch_rows(file))

    def check_ids(self, truths: Mapping[Any, PreparedTruth]) -> None:
        """Raise when ids are null or name no truth, naming the first and counting them all."""
        row = n_unknown = 0
        first: tuple[Any, int] | None = None
        for path in self.paths:
            with opened(path) as file:
                for batch in file.iter_batches(batch_size=BATCH_ROWS, columns=[TRUTH_ID]):
                    column = plain_ids(batch.column(0), TRUTH_ID)
                    refuse_nulls(column, TRUTH_ID, lambda i, row=row: f"row {row + i}")
                    codes, ids, is_unknown = truth_codes(column, truths)
                    if first is None and bool(is_unknown.any()):
                        place = int(is_unknown.argmax())
                        first = ids[codes[place]], row + place
                    n_unknown += int(np.count_nonzero(is_unknown))
                    row += batch.num_rows
        if first is not None:
            unknown, place = first
            refuse_unknown(TRUTH_ID, unknown, truths, row=place, n_rows=n_unknown)


def pair_files(source: Path) -> PairFiles:
    """Find the files of pairs and read their footers.

    Parameters
    ----------
    source : Path
        A file, or a folder of files ending in ``.parquet``.

    Raises
    ------
    InputError
        When there is none, or their columns differ.
    StoreError
        When one cannot be read.
    """
    paths = tuple(sorted(source.glob("*.parquet"))) if source.is_dir() else (source,)
    if not paths:
        raise InputError("pairs", "be a Parquet file or a folder that holds some", str(source))
    schema, n_rows = None, 0
    for path in paths:
        with opened(path) as file:
            found = file.schema_arrow
            n_rows += file.metadata.num_rows
        _check_columns("pairs", path, found, (SAMPLE, TRUTH_ID))
        if schema is not None and not found.equals(schema):
            raise InputError(
                "pairs", f"have the columns of {paths[0].name} in all files", path.name
            )
        schema = found
    return PairFiles(paths, schema, n_rows)


def read_truths(path: Path) -> dict[Any, PreparedTruth]:
    """Read a table of truths and prepare each.

    Parameters
    ----------
    path : Path
        A Parquet file with the columns ``truth_id`` and ``y``.

    Raises
    ------
    InputError
        When a column is missing, an id is null or there twice, or draws are none or no numbers.
    StoreError
        When it cannot be read.
    """
    truths: dict[Any, PreparedTruth] = {}
    with opened(path) as file:
        _check_columns("truths", path, file.schema_arrow, (TRUTH_ID, TRUTH))
        kind = file.schema_arrow.field(TRUTH).type
        if not is_list(kind):
            raise InputError("truths", f"hold lists of draws in {TRUTH}", str(kind))
        for batch in file.iter_batches(batch_size=64, columns=[TRUTH_ID, TRUTH]):
            keys = plain_ids(batch[TRUTH_ID], TRUTH_ID).to_pylist()
            for key, draws in zip(keys, batch[TRUTH], strict=True):
                _add(truths, key, draws)
    return truths


@contextlib.contextmanager
def opened(path: Path) -> Iterator[Any]:
    """Open a Parquet file; whatever goes wrong in reading it is an error that names it."""
    parquet = arrow_parquet()
    import pyarrow as pa  # noqa: PLC0415 - an optional extra, there by now

    try:
        with parquet.ParquetFile(
            path, buffer_size=READ_BYTES, pre_buffer=False, page_checksum_verification=True
        ) as file:
            yield file
    except (pa.ArrowException, OSError) as error:
        raise StoreError(f"{path} cannot be read as Parquet: {error}") from error


def arrow_parquet() -> Any:
    """Import pyarrow's Parquet reader and writer."""
    try:
        from pyarrow import parquet  # noqa: PLC0415 - an optional extra
    except ImportError:
        raise MissingExtraError("Parquet", "arrow") from None
    return parquet


def _check_columns(argument: str, path: Path, schema: Any, names: Sequence[str]) -> None:
    for name in names:
        if schema.names.count(name) != 1:
            known = ", ".join(schema.names)
            raise InputError(argument, f"have one column {name}", f"{path.name} with {known}")


def _add(truths: dict[Any, PreparedTruth], key: Any, draws: Any) -> None:
    if key is None or key in truths:
        raise InputError(TRUTH_ID, "be there and not twice in the table of truths", key)
    truths[key] = named_truth(draws.values if draws.is_valid else [], key)


def _batch_rows(file: Any) -> int:
    """Rows that hold about `BATCH_VALUES` observations, where a row holds most of them."""
    metadata: Any = file.metadata
    names = (metadata.schema.column(i).path.split(".")[0] for i in range(metadata.num_columns))
    places: Sequence[int] = [i for i, name in enumerate(names) if name == SAMPLE]
    groups = [metadata.row_group(group) for group in range(metadata.num_row_groups)]
    longest = max(
        (g.column(place).num_values / max(g.num_rows, 1) for g in groups for place in places),
        default=0.0,
    )
    return min(max(int(BATCH_VALUES / max(longest, 1.0)), 1), BATCH_ROWS)
