"""Truths by id: ids of Arrow columns, and what is said of those that name no truth."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from unpredictabench.errors import InputError, shortened
from unpredictabench.stats._arrays import PreparedTruth
from unpredictabench.stats._arrow import decoded, pyarrow

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from numpy.typing import ArrayLike, NDArray

SHOWN_IDS: Final = 3
SHOWN_ID: Final = 24
"""Characters of an id."""


def plain_ids(column: Any, name: str) -> Any:
    """Return a column of ids, decoded.

    Raises
    ------
    InputError
        When it is of a type with other values inside, such as lists: they are no keys.
    """
    column = decoded(column, name)
    if pyarrow().types.is_nested(column.type):
        raise InputError(
            name, "hold plain ids, such as text or integers", f"Arrow type {column.type}"
        )
    return column


def truth_codes(
    column: Any, truths: Mapping[Any, Any]
) -> tuple[NDArray[np.int64], list[Hashable], NDArray[np.bool_]]:
    """Give each id of a column a number, and tell which rows name no truth.

    Parameters
    ----------
    column : pyarrow.Array
        Ids, plain, without nulls.
    truths : mapping
        Truths by id.

    Returns
    -------
    codes : ndarray of int64, shape (n,)
        The number of each row's id.
    ids : list
        The ids by number.
    is_unknown : ndarray of bool, shape (n,)
        Where `truths` has none.
    """
    encoded = column.dictionary_encode()
    codes = encoded.indices.to_numpy().astype(np.int64)
    ids = encoded.dictionary.to_pylist()
    is_missing = np.array([one not in truths for one in ids], dtype=np.bool_)
    return codes, ids, is_missing[codes]


def refuse_unknown(
    name: str, first: object, truths: Mapping[Any, Any], *, row: int, n_rows: int
) -> None:
    """Raise for ids without a truth, naming the first, counting their rows, showing what is known.

    What is known shows its type: the number 1 is not the text "1".
    """
    known = ", ".join(shortened(one, SHOWN_ID) for one in islice(truths, SHOWN_IDS))
    more = ", ..." if len(truths) > SHOWN_IDS else ""
    where = f"row {row}, the first of {n_rows:,} such rows"
    raise InputError(name, f"hold ids of the truths ({known}{more})", f"{first!r} at {where}")


def named_truth(y: ArrayLike | PreparedTruth, key: object) -> PreparedTruth:
    """Prepare a truth of several; what is wrong with it is said with its id."""
    try:
        return as_prepared(y)
    except InputError as error:
        raise InputError(f"y of truth {key!r}", error.rule, error.value) from None


def refuse_infinite(truths: Mapping[Any, PreparedTruth]) -> None:
    """Raise for the first truth with infinite draws: there a mean is taken."""
    for key, truth in truths.items():
        if not truth.native.is_finite:
            raise InputError(f"y of truth {key!r}", "be finite: a mean is taken", "infinite draws")


def as_prepared(y: ArrayLike | PreparedTruth) -> PreparedTruth:
    """Prepare a truth unless it is."""
    return y if isinstance(y, PreparedTruth) else PreparedTruth(y)
