"""The one door for samples: whatever holds real numbers becomes contiguous float64 rows.

A function of this package opens its arguments with `samples` (one argument) or `pairs` (a sample
and its truth) and walks through `chunks()`: each chunk is what the kernels take, a tuple of
`values` and `offsets`. Input that is contiguous float64 passes without a copy; anything else is
converted a chunk of rows at a time, so that no call needs the whole batch twice.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unpredictabench import _native
from unpredictabench.errors import InputError
from unpredictabench.stats import _options as options
from unpredictabench.stats._arrow import arrow_pieces, is_arrow
from unpredictabench.stats._convert import plain_array, real_numbers, to_float64
from unpredictabench.stats._ragged import RaggedArray

if TYPE_CHECKING:
    from collections.abc import Iterator

Values: TypeAlias = NDArray[np.float64]
Offsets: TypeAlias = NDArray[np.int64]
RowsOf: TypeAlias = tuple[Values, Offsets]
Empty: TypeAlias = Literal["raise", "nan"]
EMPTY: Final = ("raise", "nan")

CHUNK_VALUES: Final = 2**21
"""Observations converted at a time: 16 MB."""
CHUNK_ROWS: Final = 2**18
"""Rows given to a kernel at a time, so that its results are small beside the output."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """Consecutive rows in one buffer: 2-d, or 1-d with offsets."""

    values: NDArray[Any]
    offsets: NDArray[np.integer[Any]] | None

    def __len__(self) -> int:
        return len(self.values) if self.offsets is None else len(self.offsets) - 1

    @property
    def is_ready(self) -> bool:
        flags = self.values.flags
        return self.values.dtype == np.float64 and flags.c_contiguous and flags.aligned

    def rows(self, first: int, last: int) -> tuple[NDArray[Any], Offsets]:
        """Give some rows as a flat buffer of the original dtype, and where it is cut."""
        if self.offsets is None:
            width = self.values.shape[1]
            cuts = np.arange(last - first + 1, dtype=np.int64) * width
            return self.values[first:last].reshape(-1), cuts
        cuts = self.offsets[first : last + 1].astype(np.int64)
        start = int(cuts[0])
        return self.values[start : int(cuts[-1])], cuts - start

    def n_values(self, first: int, last: int) -> int:
        if self.offsets is None:
            return int(self.values[first:last].size)
        return int(self.offsets[last]) - int(self.offsets[first])


@dataclass(frozen=True, slots=True)
class Samples:
    """An argument that came through the door: rows of real numbers, not yet converted.

    Attributes
    ----------
    name : str
        The argument, as the caller wrote it.
    is_single : bool
        Whether it was one 1-d sample, whose result is a scalar.
    first_row : int
        The number that messages give to the first row.
    """

    name: str
    is_single: bool
    allow_infinite: bool
    pieces: tuple[_Piece, ...]
    first_row: int = 0

    def __len__(self) -> int:
        return sum(map(len, self.pieces))

    def lengths(self) -> Offsets:
        """Count the observations of each row."""
        parts = [
            np.full(len(p), p.values.shape[1], dtype=np.int64)
            if p.offsets is None
            else np.diff(p.offsets).astype(np.int64)
            for p in self.pieces
        ]
        return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)

    def cuts(self) -> list[int]:
        """List the rows at which a chunk must or should end."""
        ends, start = [0], 0
        for piece in self.pieces:
            first = 0
            while first < len(piece):
                last = min(first + CHUNK_ROWS, len(piece))
                while (
                    not piece.is_ready
                    and last > first + 1
                    and piece.n_values(first, last) > CHUNK_VALUES
                ):
                    last = first + (last - first) // 2
                ends.append(start + last)
                first = last
            start += len(piece)
        return ends

    def rows(self, first: int, last: int) -> RowsOf:
        """Rows `first` to `last`, which lie in one piece, converted and checked."""
        before = 0
        for piece in self.pieces:
            if first < before + len(piece):
                values, cuts = piece.rows(first - before, last - before)
                return self._checked(values, cuts, first), cuts
            before += len(piece)
        return np.empty(0), np.zeros(1, dtype=np.int64)

    def chunks(self) -> Iterator[tuple[slice, RowsOf]]:
        """Yield the rows in order: which they are, and their values and offsets."""
        ends = self.cuts()
        for first, last in itertools.pairwise(ends):
            yield slice(first, last), self.rows(first, last)

    def flat(self) -> Values:
        """All observations of a single sample."""
        return self.rows(0, 1)[0]

    def _checked(self, values: NDArray[Any], cuts: Offsets, first: int) -> Values:
        where = partial(self._where, cuts, first)
        data = to_float64(values, self.name, where)
        bad = _native.first_invalid(data, self.allow_infinite)
        if bad is not None:
            rule = "hold no NaN" if np.isnan(data[bad]) else "be finite: a mean is taken"
            raise InputError(self.name, rule, f"{data[bad]} at {where(bad)}")
        return data

    def _where(self, cuts: Offsets, first: int, index: int) -> str:
        row = int(np.searchsorted(cuts, index, side="right")) - 1
        position = f"position {index - int(cuts[row])}"
        return position if self.is_single else f"row {self.first_row + first + row}, {position}"


@dataclass(frozen=True, slots=True)
class Pairs:
    """A sample and its truth, or batches of them.

    Attributes
    ----------
    x : Samples
        The samples.
    y : Samples or _native.Truth
        One truth a row, or one for all rows.
    is_single : bool
        Whether the result is a scalar.
    """

    x: Samples
    y: Samples | _native.Truth

    @property
    def is_single(self) -> bool:
        return self.x.is_single

    def __len__(self) -> int:
        return len(self.x)

    def chunks(self) -> Iterator[tuple[slice, RowsOf, RowsOf | _native.Truth]]:
        """Yield the pairs in order: which rows they are, the samples, and the truth or truths."""
        if isinstance(self.y, _native.Truth):
            for rows, x in self.x.chunks():
                yield rows, x, self.y
            return
        ends = sorted({*self.x.cuts(), *self.y.cuts()})
        for first, last in itertools.pairwise(ends):
            yield slice(first, last), self.x.rows(first, last), self.y.rows(first, last)


@dataclass(frozen=True, slots=True, init=False, eq=False)
class PreparedTruth:
    """A truth sorted and indexed once, for use in many calls and by every thread.

    Parameters
    ----------
    y : array_like
        Draws from the target, 1-d, at least one; +-inf are values.

    Raises
    ------
    InputError
        When `y` is not a 1-d sample or holds NaN.

    Examples
    --------
    >>> len(PreparedTruth([3.0, 1.0, 2.0]))
    3
    """

    native: _native.Truth

    def __init__(self, y: ArrayLike) -> None:
        object.__setattr__(self, "native", _prepared(samples(y, name="y")))

    def __len__(self) -> int:
        return len(self.native)


def samples(
    x: object,
    *,
    name: str,
    allow_infinite: bool = True,
    allow_empty: bool = False,
    first_row: int = 0,
) -> Samples:
    """Open an argument: find out how it holds its rows, without converting them.

    Parameters
    ----------
    x : array_like, RaggedArray, or exporter of an Arrow list
        The argument.
    name : str
        What the caller calls it; messages begin with it.
    allow_infinite : bool, default True
        Whether +-inf are values (rank statistics) or an error (where a mean is taken).
    allow_empty : bool, default False
        Whether rows may be empty.
    first_row : int, default 0
        The number that messages give to the first row.

    Returns
    -------
    Samples
        The rows.

    Raises
    ------
    InputError
        When `x` is not a sample or a batch of samples, or a row is empty.
    """
    found = Samples(name, *_shape(x, name, allow_infinite=allow_infinite), first_row=first_row)
    if not allow_empty:
        refuse_empty(found, found.lengths() == 0)
    return found


def nonempty_samples(x: object, empty: Empty) -> Samples:
    """Open the samples `x`, empty rows among them only where they are to be NaN."""
    is_allowed = options.choice("empty", empty, EMPTY) == "nan"
    return samples(x, name="x", allow_empty=is_allowed)


def pairs(x: object, y: object, *, allow_infinite: bool = True, allow_empty: bool = False) -> Pairs:
    """Open a sample and its truth; one 1-d truth of a batch is prepared once and shared.

    Parameters
    ----------
    x : array_like, RaggedArray, or exporter of an Arrow list
        Observations.
    y : the same, or PreparedTruth
        Draws from the target: one truth for all rows, or one a row.
    allow_infinite, allow_empty : bool
        As for `samples`.

    Returns
    -------
    Pairs
        The opened arguments.

    Raises
    ------
    InputError
        When one of them cannot be opened or they do not fit together.
    """
    opened = partial(samples, allow_infinite=allow_infinite, allow_empty=allow_empty)
    left = opened(x, name="x")
    if isinstance(y, PreparedTruth):
        return Pairs(left, y.native)
    right = opened(y, name="y")
    if right.is_single and not left.is_single and int(right.lengths()[0]) > 0:
        return Pairs(left, _prepared(right))
    if left.is_single and not right.is_single:
        raise InputError("y", "be one 1-d truth where x is one 1-d sample", f"{len(right)} rows")
    if len(left) != len(right):
        raise InputError("y", f"have as many rows as x ({len(left)}) or be 1-d", len(right))
    return Pairs(left, right)


def is_ready(x: object) -> TypeGuard[Values]:
    """Whether `x` is one sample that kernels take as it is, apart from what it holds."""
    return (
        type(x) is np.ndarray
        and x.ndim == 1
        and x.dtype == np.float64
        and x.size > 0
        and x.flags.c_contiguous
        and x.flags.aligned
    )


def check_ready(x: Values, *, name: str, allow_infinite: bool = True) -> Values:
    """Check what one ready sample holds."""
    if _native.first_invalid(x, allow_infinite) is not None:
        samples(x, name=name, allow_infinite=allow_infinite).flat()
    return x


def refuse_empty(rows: Samples, is_empty: NDArray[np.bool_]) -> None:
    """Raise when a row is marked as empty, naming the first."""
    if bool(is_empty.any()):
        what = (
            "none" if rows.is_single else f"none in row {rows.first_row + int(is_empty.argmax())}"
        )
        raise InputError(rows.name, 'hold observations (or pass empty="nan")', what)


def _prepared(y: Samples) -> _native.Truth:
    if not y.is_single:
        raise InputError(y.name, "be one 1-d sample", f"{len(y)} rows")
    return _native.Truth(y.flat())


def _shape(x: object, name: str, *, allow_infinite: bool) -> tuple[bool, bool, tuple[_Piece, ...]]:
    """Whether `x` is one sample, the policy for infinities, and the pieces."""
    if isinstance(x, RaggedArray):
        return False, allow_infinite, (_Piece(x.values, x.offsets),)
    if is_arrow(x):
        is_single, pieces = arrow_pieces(x, name)
        return is_single, allow_infinite, tuple(_Piece(*piece) for piece in pieces)
    data = x if type(x) is np.ndarray else plain_array(x, name)
    data = real_numbers(data, name)
    if data.ndim == 1:
        return True, allow_infinite, (_Piece(data, np.array([0, data.size])),)
    if data.ndim != 2:
        raise InputError(name, "be 1-d (one sample) or 2-d (rows are samples)", f"{data.ndim}-d")
    return False, allow_infinite, (_Piece(data, None),)
