"""Ragged batches, and what type checkers call a sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unpredictabench.errors import InputError
from unpredictabench.stats._convert import plain_array

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unpredictabench.stats._arrays import PreparedTruth


@dataclass(frozen=True, slots=True, eq=False)
class RaggedArray:
    """Rows of any length in one buffer, as Arrow lays out lists.

    Parameters
    ----------
    values : array_like
        All observations, row after row.
    offsets : array_like of int
        Row ``i`` is ``values[offsets[i]:offsets[i + 1]]``; one entry more than there are rows,
        not decreasing, within ``values``.

    Raises
    ------
    InputError
        When the offsets are not as said.

    Examples
    --------
    >>> len(RaggedArray([1.0, 2.0, 3.0], [0, 1, 3]))
    2
    """

    values: NDArray[Any]
    offsets: NDArray[np.int64]

    def __init__(self, values: ArrayLike, offsets: ArrayLike) -> None:
        data = plain_array(values, "values")
        if data.ndim != 1:
            raise InputError("values", "be 1-d", f"{data.ndim}-d")
        cuts = plain_array(offsets, "offsets")
        if cuts.ndim != 1 or cuts.size == 0 or cuts.dtype.kind not in "iu":
            raise InputError("offsets", "be 1-d integers, one more than there are rows", offsets)
        cuts = cuts.astype(np.int64, copy=False)
        if cuts[0] < 0 or cuts[-1] > data.size or bool(np.any(cuts[1:] < cuts[:-1])):
            raise InputError("offsets", f"rise from 0 to at most {data.size}", offsets)
        object.__setattr__(self, "values", data)
        object.__setattr__(self, "offsets", np.ascontiguousarray(cuts))

    @classmethod
    def from_rows(cls, rows: Sequence[ArrayLike]) -> RaggedArray:
        """Join rows of any length.

        Examples
        --------
        >>> RaggedArray.from_rows([[1.0], [2.0, 3.0]]).offsets
        array([0, 1, 3])
        """
        arrays = [plain_array(row, f"rows[{i}]") for i, row in enumerate(rows)]
        lengths = [row.size for row in arrays]
        values = np.concatenate(arrays) if arrays else np.empty(0)
        return cls(values, np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]))

    def __len__(self) -> int:
        return int(self.offsets.size) - 1


class HasArrowArray(Protocol):
    """An Arrow list column in one piece, as of pyarrow."""

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        """Return the capsules of a schema and an array."""
        ...


class HasArrowStream(Protocol):
    """An Arrow list column in chunks, as of pyarrow and Polars."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Return the capsule of a stream."""
        ...


SampleLike: TypeAlias = ArrayLike | RaggedArray | HasArrowArray | HasArrowStream
"""One sample, or a batch of them: 1-d, 2-d, ragged, or a list column of Arrow."""
TruthLike: TypeAlias = "SampleLike | PreparedTruth"
"""What samples are compared with: one for all, or one a row."""
