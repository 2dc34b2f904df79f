"""Any real dtype to float64, exactly, or refused with the reason.

Booleans are the numbers 0 and 1. Integers beyond 2**53 and extended floats that float64 cannot hold
are refused: rounding them would make ties that the data do not have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from unpredictabench.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

Values: TypeAlias = NDArray[np.float64]

EXACT_INTEGERS: Final = 2**53
"""Integers up to this are exact in float64; beyond it rounding would make ties."""


def plain_array(x: object, name: str) -> NDArray[Any]:
    """NumPy's view of `x`, once what NumPy would silently misread has been refused."""
    if isinstance(x, np.ma.MaskedArray):
        raise InputError(name, "not be masked: drop entries with .compressed() first", type(x))
    try:
        return np.asarray(x)
    except ValueError:
        raise InputError(name, "be 1-d, 2-d, or RaggedArray.from_rows(rows)", x) from None


def real_numbers(data: NDArray[Any], name: str) -> NDArray[Any]:
    """Accept an object array of real numbers only; refuse text, complex numbers, dates."""
    if data.dtype.kind in "biuf":
        return data
    if data.dtype.kind != "O":
        raise InputError(name, "hold real numbers", f"dtype {data.dtype}")
    for index, entry in np.ndenumerate(data):
        where = f"index {index[0] if len(index) == 1 else index}"
        if not isinstance(entry, int | float | np.integer | np.floating):
            raise InputError(name, "hold real numbers", f"{entry!r} at {where}")
        _exact_integer(entry, name, where)
    return data.astype(np.float64)


def _exact_integer(entry: Any, name: str, where: str) -> None:
    if isinstance(entry, int | np.integer) and abs(int(entry)) > EXACT_INTEGERS:
        rule = "hold integers up to 2**53, which float64 keeps apart"
        raise InputError(name, rule, f"{entry} at {where}")


def to_float64(values: NDArray[Any], name: str, where: Callable[[int], str]) -> Values:
    """Contiguous aligned float64 with the same values; refused where that is impossible."""
    if values.dtype == np.float64 and values.flags.c_contiguous and values.flags.aligned:
        return values
    if values.dtype.kind in "iu" and values.dtype.itemsize == 8:
        too_big = (values > EXACT_INTEGERS) | (values < -EXACT_INTEGERS)
        if bool(too_big.any()):
            index = int(too_big.argmax())
            _exact_integer(values[index], name, where(index))
    data = np.array(values, dtype=np.float64, order="C")
    if values.dtype.kind == "f" and values.dtype.itemsize > 8:
        changed = (data != values) & ~np.isnan(values)
        if bool(changed.any()):
            index = int(changed.argmax())
            rule = "hold numbers that float64 can hold"
            raise InputError(name, rule, f"{values[index]!r} at {where(index)}")
    return data
