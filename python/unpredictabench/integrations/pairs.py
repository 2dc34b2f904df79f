"""Score files of (sample, truth id) pairs in a stream, on this machine or with Ray."""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import numpy as np

from unpredictabench._whole import whole
from unpredictabench.errors import InputError, StoreError
from unpredictabench.integrations.pair_files import (
    N_INVALID,
    PairFiles,
    arrow_parquet,
    pair_files,
    read_truths,
)
from unpredictabench.stats import PreparedTruth, score_batch
from unpredictabench.stats import _options as options
from unpredictabench.stats._batch_statistics import DEFAULT_STATISTICS, OF_MEANS
from unpredictabench.stats._truth_ids import refuse_infinite

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from unpredictabench.stats._arrays import Empty
    from unpredictabench.stats._ks import Alternative, KsMethod

    Score: TypeAlias = Callable[..., Any]
    Truths: TypeAlias = Mapping[Any, PreparedTruth]
    Report: TypeAlias = Callable[["PairsProgress"], None]

Engine: TypeAlias = Literal["local", "ray"]
ENGINES: Final = ("local", "ray")
METADATA: Final = "unpredictabench"


@dataclass(frozen=True, slots=True)
class PairsProgress:
    """How far the scoring of pairs is.

    Attributes
    ----------
    n_done, n_total : int
        Pairs scored, and pairs there are.
    """

    n_done: int
    n_total: int


@dataclass(frozen=True, slots=True)
class PairsResult:
    """What was scored.

    Attributes
    ----------
    out : Path
        The file of scores.
    n_pairs, n_truths : int
        Pairs scored, and truths in the table.
    n_nan : int
        Pairs with NaN for at least one statistic.
    """

    out: Path
    n_pairs: int
    n_truths: int
    n_nan: int


def score_pairs(
    pairs: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    truths: str | os.PathLike[str] | None = None,
    statistics: str | Sequence[str] = DEFAULT_STATISTICS,
    alternative: Alternative = "two-sided",
    method: KsMethod = "auto",
    n_resamples: int = 9999,
    rng: int | None = None,
    empty: Empty = "raise",
    prefix: str = "",
    engine: Engine = "local",
    address: str | None = None,
    workers: int | None = None,
    overwrite: bool = False,
    progress: Report | None = None,
) -> PairsResult:
    """Score a Parquet file of pairs into another, a batch at a time.

    Parameters
    ----------
    pairs : path
        A Parquet file, or a folder of them (read in the order of their names), with the columns
        ``x`` (lists of real numbers) and ``truth_id``; ``n_invalid`` (integers) is used where it
        is there. Other columns go through.
    out : path
        The Parquet file to write. It appears whole or not at all.
    truths : path, optional
        A Parquet file with the columns ``truth_id`` and ``y`` (lists of draws), a truth a row;
        ``truths.parquet`` beside `pairs` by default.
    statistics, alternative, method, n_resamples, rng, empty, prefix
        As for `stats.score_batch`.
    engine : {"local", "ray"}, default "local"
        Threads of this process, or Ray Data (extra ``ray``).
    address : str, optional
        The Ray cluster: ``"host:port"`` of its head, or ``"auto"``. By default the one this
        process is connected to, or else one of its own on this machine.
    workers : int, optional
        Threads, or CPUs of a Ray cluster that is started here; all allowed cores by default. The
        scores do not depend on it.
    overwrite : bool, default False
        Whether `out` may exist already.
    progress : callable, optional
        Called with a `PairsProgress` after each batch.

    Returns
    -------
    PairsResult
        Counts of pairs, truths, and pairs with NaN.

    Raises
    ------
    InputError
        When an argument breaks a rule above; when a column is missing, or holds what
        `stats.score_batch` refuses, with the row; when ids name no truth, with the first and
        their number. Nothing is written then.
    StoreError
        When a file cannot be read, or Ray cannot be reached.
    OutputError
        When the result cannot be written.
    MissingExtraError
        When pyarrow or Ray is not installed.

    Notes
    -----
    Rows keep their order. Memory is bounded by the truths and a few batches of four million
    observations. The metadata of `out` tell under ``unpredictabench`` the version and the options.
    """
    source, target = Path(pairs), Path(out)
    beside = source.parent / "truths.parquet" if truths is None else Path(truths)
    options.choice("engine", engine, ENGINES)
    options.threads(workers)
    if address is not None and engine != "ray":
        raise InputError("address", "be left out unless engine is 'ray'", address)
    files = pair_files(source)
    _check_target(target, source, [*files.paths, beside], overwrite=overwrite)
    how: dict[str, Any] = {
        "statistics": [statistics] if isinstance(statistics, str) else list(statistics),
        "alternative": alternative,
        "method": method,
        "n_resamples": n_resamples,
        "rng": rng,
        "empty": empty,
        "prefix": prefix,
        "n_invalid": N_INVALID if N_INVALID in files.schema.names else 0,
    }
    known = read_truths(beside)
    score: Score = partial(score_batch, **how)
    schema = score(files.schema.empty_table(), known).schema
    files.check_ids(known)
    if not OF_MEANS.isdisjoint(how["statistics"]):
        refuse_infinite(known)
    told = {"pairs": source.name, "truths": beside.name, "n_truths": len(known), "options": how}
    about = {"version": version("unpredictabench"), "command": "score-pairs", **told}
    schema = schema.with_metadata({**(schema.metadata or {}), METADATA: json.dumps(about)})
    with _engine(engine, address, workers) as scored:
        batches = scored(files, known, score)
        n_nan = _write(
            batches,
            target,
            schema,
            [prefix + name for name in how["statistics"]],
            n_total=files.n_rows,
            progress=progress,
        )
    return PairsResult(target, files.n_rows, len(known), n_nan)


@contextlib.contextmanager
def _engine(engine: Engine, address: str | None, workers: int | None) -> Iterator[Any]:
    """Give the function that scores files as batches in order, while what it needs is there."""
    if engine == "local":
        yield partial(_scored, workers=workers)
        return
    from unpredictabench.integrations.cluster import connected  # noqa: PLC0415 - as it asks for
    from unpredictabench.integrations.ray import scored  # noqa: PLC0415 - an optional extra

    with connected(address, workers):
        yield scored


def _scored(files: PairFiles, truths: Truths, score: Score, workers: int | None) -> Iterator[Any]:
    first_row = 0
    for batch in files.batches():
        yield score(batch, truths, first_row=first_row, workers=workers)
        first_row += batch.num_rows


def _check_target(target: Path, source: Path, read: Sequence[Path], *, overwrite: bool) -> None:
    if any(target.resolve() == path.resolve() for path in read):
        raise InputError("out", "not be a file that is read", str(target))
    if source.is_dir() and target.resolve().parent == source.resolve():
        raise InputError("out", "lie outside of the folder that is read", str(target))
    if target.exists() and not overwrite:
        raise InputError("out", "not exist yet, unless overwrite is chosen", str(target))
    if not target.parent.is_dir():
        raise InputError("out", "lie in a folder that exists", str(target))


def _write(
    batches: Iterator[Any],
    target: Path,
    schema: Any,
    results: Sequence[str],
    *,
    n_total: int,
    progress: Report | None,
) -> int:
    """Write scored batches to a file that appears whole or not at all; count rows with NaN."""
    n_done = n_nan = 0
    tell = progress or (lambda _: None)
    tell(PairsProgress(0, n_total))
    with whole(target) as draft, arrow_parquet().ParquetWriter(draft, schema) as writer:
        for batch in batches:
            writer.write_batch(batch.cast(schema))
            n_done += batch.num_rows
            n_nan += _count_nan(batch, results)
            tell(PairsProgress(n_done, n_total))
        if n_done != n_total:
            raise StoreError(f"{n_total:,} pairs went in and {n_done:,} came out")
    return n_nan


def _count_nan(batch: Any, names: Sequence[str]) -> int:
    is_nan = np.zeros(batch.num_rows, dtype=np.bool_)
    for name in names:
        values = batch.column(name).to_numpy(zero_copy_only=False)
        if values.dtype.kind == "f":
            is_nan |= np.isnan(values)
    return int(is_nan.sum())
