"""Pairs scored by Ray Data: truths once in the object store, prepared once a worker process."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from unpredictabench.errors import InputError
from unpredictabench.stats import PreparedTruth

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from unpredictabench.integrations.pair_files import PairFiles


def scored(
    files: PairFiles, truths: Mapping[Any, PreparedTruth], score: Callable[..., Any]
) -> Iterator[Any]:
    """Yield scored batches in the order of the pairs, on the cluster this process is connected to.

    Parameters
    ----------
    files : PairFiles
        Pairs, at paths that every node can read.
    truths : mapping
        Truths by id.
    score : callable
        `stats.score_batch` with its options.
    """
    import ray.data  # noqa: PLC0415 - an optional extra

    context = ray.data.DataContext.get_current()
    context.execution_options.preserve_order, context.enable_progress_bars = True, False
    kept = ray.put({key: truth.native.sorted for key, truth in truths.items()})
    rows = ray.data.read_parquet([str(path.resolve()) for path in files.paths])
    how = {"batch_format": "pyarrow", "batch_size": None}
    found = rows.map_batches(_scored, fn_args=(score, [kept]), zero_copy_batch=True, **how)
    for table in found.iter_batches(**how):
        if table.column_names == ["argument", "rule", "value"]:
            raise InputError(**table.to_pylist()[0])
        yield from table.to_batches()


def _scored(table: Any, score: Callable[..., Any], kept: Any) -> Any:
    try:
        return table.from_batches([score(table, _truths(*kept), workers=1)])
    except InputError as error:  # Ray would hand on its text alone
        value = f"{error.value}, counted in one block of Ray's"
        return table.from_pylist([{"argument": error.argument, "rule": error.rule, "value": value}])


@lru_cache(maxsize=1)
def _truths(kept: Any) -> dict[Any, PreparedTruth]:
    import ray  # noqa: PLC0415 - an optional extra

    return {key: PreparedTruth(draws) for key, draws in ray.get(kept).items()}
