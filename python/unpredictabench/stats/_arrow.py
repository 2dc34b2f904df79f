"""Arrow columns as rows: any exporter of Arrow's own interface, float64 without a copy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unpredictabench.errors import InputError, MissingExtraError

PieceParts = tuple[NDArray[Any], NDArray[np.integer[Any]] | None]


def pyarrow() -> Any:
    """Import pyarrow.

    Raises
    ------
    MissingExtraError
        When it is not installed.
    """
    try:
        import pyarrow as pa  # noqa: PLC0415 - an optional extra
        import pyarrow.compute  # noqa: PLC0415 - a part that is not loaded with it
    except ImportError as error:
        raise MissingExtraError("reading Arrow data", "arrow") from error
    return pa


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
    pa = pyarrow()
    if isinstance(x, pa.ChunkedArray):
        column = x
    elif isinstance(x, pa.Array):
        column = pa.chunked_array([x])
    elif hasattr(x, "__arrow_c_stream__"):
        column = pa.chunked_array(x)
    else:
        column = pa.chunked_array([pa.array(x)])
    chunks = [decoded(chunk, name) for chunk in column.chunks or [pa.array([], column.type)]]
    if is_list(chunks[0].type):
        starts = np.cumsum([0, *map(len, chunks)])
        return False, [
            list_parts(chunk, name, first_row=int(start))
            for chunk, start in zip(chunks, starts, strict=False)
        ]
    values = [_numbers(chunk, name, lambda i: f"position {i}") for chunk in chunks]
    joined = values[0] if len(values) == 1 else np.concatenate(values)
    return True, [(joined, np.array([0, joined.size]))]


def is_list(kind: Any) -> bool:
    """Whether an Arrow type is one of the lists."""
    types = pyarrow().types
    tests = (
        types.is_list,
        types.is_large_list,
        types.is_fixed_size_list,
        types.is_list_view,
        types.is_large_list_view,
    )
    return any(test(kind) for test in tests)


def list_parts(array: Any, name: str, *, first_row: int = 0) -> PieceParts:
    """Return the values of a column of lists, and where they are cut into rows.

    Parameters
    ----------
    array : pyarrow.Array
        Lists, decoded.
    name : str
        What messages call it.
    first_row : int, default 0
        The number that messages give to its first row.

    Raises
    ------
    InputError
        When it holds nulls, or anything else than real numbers.
    """
    pa = pyarrow()
    types = pa.types
    refuse_nulls(array, name, lambda row: f"row {first_row + row}")
    if types.is_fixed_size_list(array.type):
        width = array.type.list_size
        where = _places(np.arange(len(array) + 1) * width, first_row)
        return _numbers(array.flatten(), name, where).reshape(len(array), width), None
    if types.is_list_view(array.type) or types.is_large_list_view(array.type):
        # The rows of a view lie in any order and may overlap; `cast` misreads sliced ones.
        offsets, index = gathered(array.offsets.to_numpy(), array.sizes.to_numpy())
        inside = array.values.take(pa.array(index))
    else:
        # `values` ignores the slice that `offsets` honours; a null outside of it is none of it.
        offsets = array.offsets.to_numpy()
        first = int(offsets[0])
        inside = array.values.slice(first, int(offsets[-1]) - first)
    offsets = offsets - offsets[0]
    return _numbers(inside, name, _places(offsets, first_row)), offsets


def decoded(array: Any, name: str) -> Any:
    """Return the plain column behind an encoded one.

    Raises
    ------
    InputError
        When it is of an extension type, whose meaning only its maker knows.
    """
    pa = pyarrow()
    if isinstance(array.type, pa.BaseExtensionType):
        raise InputError(name, "be cast to its storage type first", f"Arrow type {array.type}")
    if pa.types.is_dictionary(array.type):
        return _looked_up(array)
    if pa.types.is_run_end_encoded(array.type):
        return pa.compute.run_end_decode(array)
    return array


def _looked_up(array: Any) -> Any:
    """Decode a dictionary; one of views, as Polars has them, needs plain words to look up in."""
    pa = pyarrow()
    plain = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
    words = array.dictionary
    if words.type not in plain:
        return array.dictionary_decode()
    return words.cast(plain[words.type]).take(array.indices)


def refuse_nulls(array: Any, name: str, where: Any) -> None:
    """Raise when a column holds a null, saying where by the index of the first."""
    if array.null_count:
        first = int(array.is_null().to_numpy(zero_copy_only=False).argmax())
        raise InputError(name, "hold no null", f"null at {where(first)}")


def _places(offsets: NDArray[np.integer[Any]], first_row: int) -> Any:
    def where(index: int) -> str:
        row = int(np.searchsorted(offsets, index, side="right")) - 1
        return f"row {first_row + row}, position {index - int(offsets[row])}"

    return where


def gathered(
    starts: NDArray[np.integer[Any]], sizes: NDArray[np.integer[Any]]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the offsets of rows put one behind the other, and where each value came from."""
    offsets = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    return offsets, np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], sizes)


def _numbers(column: Any, name: str, where: Any) -> NDArray[Any]:
    if len(column) == 0 and pyarrow().types.is_null(column.type):
        return np.empty(0)
    column = decoded(column, name)
    refuse_nulls(column, name, where)
    try:
        values: NDArray[Any] = column.to_numpy(zero_copy_only=False)
    except (NotImplementedError, ValueError):
        raise InputError(name, "hold real numbers", f"Arrow type {column.type}") from None
    if values.dtype.kind not in "biuf":
        raise InputError(name, "hold real numbers", f"Arrow type {column.type}")
    return values
