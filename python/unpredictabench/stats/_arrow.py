"""Arrow lists as rows: pyarrow and polars columns through Arrow's own interface, without a copy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unpredictabench.errors import InputError, MissingExtraError

PieceParts = tuple[NDArray[Any], NDArray[np.integer[Any]] | None]


def is_arrow(x: object) -> bool:
    """Whether `x` exports Arrow data."""
    return hasattr(x, "__arrow_c_stream__") or hasattr(x, "__arrow_c_array__")


def arrow_pieces(x: Any, name: str) -> tuple[bool, list[PieceParts]]:
    """Whether `x` is one flat column, and its buffers as NumPy sees them.

    Raises
    ------
    InputError
        When `x` is neither numbers nor lists of numbers, or holds nulls.
    MissingExtraError
        When pyarrow is not installed.
    """
    try:
        import pyarrow as pa  # noqa: PLC0415 - an optional extra
    except ImportError as error:
        raise MissingExtraError("reading Arrow data", "arrow") from error
    if isinstance(x, pa.ChunkedArray):
        column = x
    elif isinstance(x, pa.Array):
        column = pa.chunked_array([x])
    elif hasattr(x, "__arrow_c_stream__"):
        column = pa.chunked_array(x)
    else:
        column = pa.chunked_array([pa.array(x)])
    if column.null_count:
        raise InputError(name, "hold no null", f"{column.null_count} nulls")
    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        return False, [_list_piece(chunk, name) for chunk in column.chunks]
    if pa.types.is_fixed_size_list(column.type):
        width = column.type.list_size
        flat = [_numbers(chunk.flatten(), name) for chunk in column.chunks]
        return False, [(values.reshape(-1, width), None) for values in flat]
    values = [_numbers(chunk, name) for chunk in column.chunks]
    joined = values[0] if len(values) == 1 else np.concatenate([np.empty(0), *values])
    return True, [(joined, np.array([0, joined.size]))]


def _list_piece(chunk: Any, name: str) -> PieceParts:
    # `values` ignores the slice that `offsets` honours; a null outside of the slice is none of it.
    offsets = chunk.offsets.to_numpy()
    first = int(offsets[0])
    inside = chunk.values.slice(first, int(offsets[-1]) - first)
    return _numbers(inside, name), offsets - offsets[0]


def _numbers(column: Any, name: str) -> NDArray[Any]:
    if column.null_count:
        raise InputError(name, "hold no null", f"{column.null_count} nulls")
    try:
        values: NDArray[Any] = column.to_numpy(zero_copy_only=False)
    except (NotImplementedError, ValueError):
        raise InputError(name, "hold real numbers", f"Arrow type {column.type}") from None
    if values.dtype.kind not in "biuf":
        raise InputError(name, "hold real numbers", f"Arrow type {column.type}")
    return values
