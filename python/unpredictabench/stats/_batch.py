"""Statistics of Arrow record batches: list columns in, columns of statistics out."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from unpredictabench.errors import InputError
from unpredictabench.stats import _options as options
from unpredictabench.stats._arrays import EMPTY, Empty, refuse_empty, samples
from unpredictabench.stats._arrow import (
    decoded,
    gathered,
    is_arrow,
    is_list,
    list_parts,
    pyarrow,
    refuse_nulls,
)
from unpredictabench.stats._batch_statistics import (
    DEFAULT_STATISTICS,
    DTYPES,
    OF_MEANS,
    STATISTICS,
    Choices,
    computed,
)
from unpredictabench.stats._ks import ALTERNATIVES
from unpredictabench.stats._ragged import RaggedArray
from unpredictabench.stats._truth_ids import (
    as_prepared,
    named_truth,
    plain_ids,
    refuse_infinite,
    refuse_unknown,
    truth_codes,
)

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    import pyarrow as pa
    from numpy.typing import ArrayLike, NDArray

    from unpredictabench.stats._arrays import PreparedTruth
    from unpredictabench.stats._ks import Alternative, KsMethod
    from unpredictabench.stats._options import Seed

Group = tuple["slice | NDArray[np.int64]", RaggedArray, "RaggedArray | PreparedTruth"]
SHOWN_COLUMNS: Final = 12


def score_batch(
    batch: Any,
    y: str | ArrayLike | PreparedTruth | Mapping[Any, ArrayLike | PreparedTruth] = "y",
    *,
    x: str = "x",
    truth_id: str = "truth_id",
    n_invalid: int | str = 0,
    statistics: str | Sequence[str] = DEFAULT_STATISTICS,
    alternative: Alternative = "two-sided",
    method: KsMethod = "auto",
    n_resamples: int = 9999,
    rng: Seed = None,
    empty: Empty = "raise",
    prefix: str = "",
    first_row: int = 0,
    workers: int | None = None,
) -> pa.RecordBatch:
    """Compare the sample in each row of an Arrow batch with its truth.

    The null hypothesis of every p-value is that the row's observations and the draws of its truth
    come from one law.

    Parameters
    ----------
    batch : exporter of an Arrow record batch, struct array or stream of batches
        Anything with ``__arrow_c_array__`` (a pyarrow record batch or struct array) or
        ``__arrow_c_stream__`` (tables and readers, data frames of Polars, relations of DuckDB).
        A stream is read and scored a batch at a time.
    y : str, array_like, PreparedTruth or mapping, default "y"
        The truths: the name of a list column with one a row; or draws, shared by all rows; or
        truths by id, chosen by the column `truth_id`.
    x : str, default "x"
        Column of the samples: a list, large list, list view or list of fixed size of real numbers.
    truth_id : str, default "truth_id"
        Column of ids of any type, for truths by id.
    n_invalid : int or str, default 0
        Answers asked for but invalid: one number, or a column of integers. The KS statistics
        count them (see `ks_2samp`); the others are of the observations alone.
    statistics : str or sequence of str
        What to compute, in the order of the columns. Of `ks_2samp`: "statistic", "pvalue",
        "log_pvalue", "statistic_location", "statistic_sign", "method" (these are the default).
        "kuiper", "anderson", "cramervonmises", and their p-values by labelings with "_pvalue"
        behind the name. "wasserstein", "energy", "jensenshannon". "wasserstein_zscore" and
        "energy_zscore", against the exact null.
    alternative, method
        As for `ks_2samp`.
    n_resamples : int, default 9999
        Random labelings of each p-value that needs them, as for `kuiper_2samp`.
    rng : int or numpy.random.Generator, optional
        Seed of those; a fixed named stream by default. The labelings of a row depend on the seed
        and the row alone, not on where in the batch it stands.
    empty : {"raise", "nan"}, default "raise"
        What to do with rows without observations and without invalid answers.
    prefix : str, default ""
        Put before the names of the new columns.
    first_row : int, default 0
        The number that messages give to the first row.
    workers : int, optional
        Threads to use; all allowed cores by default. The result does not depend on it.

    Returns
    -------
    pyarrow.RecordBatch
        The columns of `batch` except `x` and a column `y`, then one column a statistic; rows in
        the same order.

    Raises
    ------
    InputError
        When an argument breaks a rule above; when a column holds nulls, NaN, or anything else than
        it should; when a truth id is unknown. The message names the column and the row.
    MissingExtraError
        When pyarrow is not installed.

    Notes
    -----
    Sliced columns are read where they begin. Dictionary and run-end encoded columns count as
    what they encode; extension types must be cast to their storage type. A float64 list column is
    not copied unless its rows must be put in the order of their truths. Rows whose observations
    are all invalid have NaN for everything but the KS statistics.

    Examples
    --------
    >>> import pyarrow as pa
    >>> batch = pa.record_batch({"task": ["a", "b"], "x": [[1.0, 2.0, 3.0], [4.0, 4.5]]})
    >>> scored = score_batch(batch, [4.0, 5.0, 6.0], statistics=["statistic", "pvalue"])
    >>> scored.schema.names, scored["pvalue"].to_numpy().round(6).tolist()
    (['task', 'statistic', 'pvalue'], [0.1, 0.6])
    """
    names = _known(statistics)
    options.choice("alternative", alternative, ALTERNATIVES)
    options.choice("method", method, ("auto", "exact", "asymp"))
    options.choice("empty", empty, EMPTY)
    if not isinstance(prefix, str):
        raise InputError("prefix", "be text", prefix)
    seed = int(rng.integers(2**63)) if isinstance(rng, np.random.Generator) else rng
    options.resampling_seed(seed, "stats.score_batch")
    choices = Choices(
        alternative=alternative,
        method=method,
        n_resamples=options.resamples(n_resamples),
        seed=seed,
        workers=options.threads(workers),
    )
    whole_row = options.whole("first_row", first_row, 0, options.MOST_ANSWERS)
    columns = _Columns(y, x, truth_id, n_invalid, names, empty, prefix)
    parts = []
    for each in _batches(batch):
        parts.append(_scored(each, columns, choices, whole_row))
        whole_row += each.num_rows
    return parts[0] if len(parts) == 1 else _joined(parts)


@dataclass(frozen=True, slots=True)
class _Columns:
    """Which columns hold what, and which come out."""

    y: Any
    x: str
    truth_id: str
    n_invalid: int | str
    statistics: tuple[str, ...]
    empty: Empty
    prefix: str

    def passing(self, batch: Any) -> list[int]:
        """Give the places of the columns that go through; none may have the name of a result."""
        taken = [self.x, self.y] if isinstance(self.y, str) else [self.x]
        names = batch.schema.names
        places = [place for place, name in enumerate(names) if name not in taken]
        kept = {names[place] for place in places}
        for name in self.statistics:
            if self.prefix + name in kept:
                rule = f"tell results from the columns ({self.prefix + name} is one)"
                raise InputError("prefix", rule, self.prefix)
        return places


def _known(statistics: str | Sequence[str]) -> tuple[str, ...]:
    if not isinstance(statistics, Iterable):
        raise InputError("statistics", "be a name or a sequence of names", statistics)
    names = (statistics,) if isinstance(statistics, str) else tuple(statistics)
    for name in names:
        options.choice("statistics", name, STATISTICS)
    if not names or len(set(names)) < len(names):
        raise InputError("statistics", "name at least one, none twice", names)
    return names


def _batches(batch: Any) -> Iterable[Any]:
    """Read what was given as record batches."""
    pa = pyarrow()
    if not is_arrow(batch):
        rule = "export an Arrow record batch, struct array or stream of them"
        raise InputError("batch", rule, type(batch))
    if isinstance(batch, pa.RecordBatch):
        return [batch]
    if hasattr(batch, "__arrow_c_array__"):
        return [_from_array(batch)]
    try:
        return _never_none(pa.RecordBatchReader.from_stream(batch))
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise InputError("batch", "hold columns", str(error)) from None


def _from_array(batch: Any) -> Any:
    pa = pyarrow()
    with contextlib.suppress(pa.ArrowException):
        return pa.record_batch(batch)
    # Slices of struct arrays can be read as arrays only.
    array = pa.array(batch)
    if not pa.types.is_struct(array.type):
        raise InputError("batch", "hold columns", f"Arrow type {array.type}")
    refuse_nulls(array, "batch", lambda row: f"row {row}")
    return pa.record_batch(array.flatten(), schema=pa.schema(list(array.type)))


def _never_none(reader: Any) -> Iterator[Any]:
    n_read = 0
    try:
        for batch in reader:
            yield batch
            n_read += 1
    except pyarrow().ArrowException as error:
        raise InputError("batch", "be a stream of batches", str(error)) from error
    if n_read == 0:
        nothing = [pyarrow().array([], field.type) for field in reader.schema]
        yield pyarrow().record_batch(nothing, schema=reader.schema)


def _joined(parts: list[Any]) -> Any:
    pa = pyarrow()
    table = pa.Table.from_batches(parts)
    columns = [column.combine_chunks() for column in table.columns]
    return pa.RecordBatch.from_arrays(columns, schema=table.schema)


def _scored(batch: Any, columns: _Columns, choices: Choices, first_row: int) -> Any:
    pa = pyarrow()
    passing = columns.passing(batch)
    counts = _counts(batch, columns.n_invalid, first_row)
    found = {name: np.empty(len(batch), DTYPES[name]) for name in columns.statistics}
    for rows, x, y in _groups(batch, columns, counts, first_row):
        for name, values in computed(x, y, counts[rows], columns.statistics, choices):
            found[name][rows] = values
    fields = [batch.schema.field(place) for place in passing]
    arrays = [batch.column(place) for place in passing]
    for name, values in found.items():
        arrays.append(pa.array(values))
        fields.append(pa.field(columns.prefix + name, arrays[-1].type))
    return pa.record_batch(arrays, schema=pa.schema(fields, metadata=batch.schema.metadata))


def _column(batch: Any, name: object, argument: str) -> Any:
    places = batch.schema.get_all_field_indices(name) if isinstance(name, str) else []
    if len(places) != 1:
        known = ", ".join(batch.schema.names[:SHOWN_COLUMNS])
        raise InputError(argument, f"name one column of the batch ({known})", name)
    return decoded(batch.column(places[0]), str(name))


def _counts(batch: Any, n_invalid: int | str, first_row: int) -> NDArray[np.int64]:
    if not isinstance(n_invalid, str):
        count = options.whole("n_invalid", n_invalid, 0, options.MOST_ANSWERS)
        return np.full(len(batch), count)
    column = _column(batch, n_invalid, "n_invalid")
    refuse_nulls(column, n_invalid, lambda row: f"row {first_row + row}")
    if not pyarrow().types.is_integer(column.type):
        raise InputError(n_invalid, "hold integers", f"Arrow type {column.type}")
    counts: NDArray[np.integer[Any]] = column.to_numpy()
    is_bad = (counts < 0) | (counts > options.MOST_ANSWERS)
    if bool(is_bad.any()):
        row = int(is_bad.argmax())
        rule = f"hold integers from 0 to {options.MOST_ANSWERS}"
        raise InputError(n_invalid, rule, f"{counts[row]} at row {first_row + row}")
    return counts.astype(np.int64)


def _rows(
    batch: Any, argument: str, columns: _Columns, first_row: int, may_be_empty: NDArray[np.bool_]
) -> RaggedArray:
    """Open a list column: real numbers without NaN or nulls, empty rows only where allowed."""
    name = getattr(columns, argument)
    column = _column(batch, name, argument)
    if not is_list(column.type):
        raise InputError(name, "be a column of lists of real numbers", f"Arrow type {column.type}")
    values, offsets = list_parts(column, name, first_row=first_row)
    opened = samples(
        values if offsets is None else RaggedArray(values, offsets),
        name=name,
        allow_infinite=OF_MEANS.isdisjoint(columns.statistics),
        allow_empty=True,
        first_row=first_row,
    )
    if columns.empty == "raise":
        refuse_empty(opened, (opened.lengths() == 0) & ~may_be_empty)
    return RaggedArray(*opened.rows(0, len(opened)))


def _groups(
    batch: Any, columns: _Columns, counts: NDArray[np.int64], first_row: int
) -> Iterator[Group]:
    """Yield rows with their samples and truths: all at once, or those of one truth at a time."""
    x = _rows(batch, "x", columns, first_row, counts > 0)
    if isinstance(columns.y, str):
        nowhere = np.zeros(len(batch), dtype=np.bool_)
        yield slice(None), x, _rows(batch, "y", columns, first_row, nowhere)
    elif not isinstance(columns.y, Mapping):
        yield slice(None), x, as_prepared(columns.y)
    else:
        codes, ids = _codes(batch, columns, first_row)
        needs_finite = not OF_MEANS.isdisjoint(columns.statistics)
        order = np.argsort(codes, kind="stable")
        cuts = np.searchsorted(codes[order], np.arange(len(ids) + 1))
        sizes = np.diff(x.offsets)
        for code, one in enumerate(ids):
            rows = order[cuts[code] : cuts[code + 1]]
            offsets, index = gathered(x.offsets[rows], sizes[rows])
            group = RaggedArray(x.values[index], offsets)
            truth = named_truth(columns.y[one], one)
            if needs_finite:
                refuse_infinite({one: truth})
            yield rows, group, truth


def _codes(
    batch: Any, columns: _Columns, first_row: int
) -> tuple[NDArray[np.int64], list[Hashable]]:
    name = columns.truth_id
    column = plain_ids(_column(batch, name, "truth_id"), name)
    refuse_nulls(column, name, lambda row: f"row {first_row + row}")
    codes, ids, is_unknown = truth_codes(column, columns.y)
    if bool(is_unknown.any()):
        row = int(is_unknown.argmax())
        unknown, n_rows = ids[codes[row]], int(is_unknown.sum())
        refuse_unknown(name, unknown, columns.y, row=first_row + row, n_rows=n_rows)
    return codes, ids
