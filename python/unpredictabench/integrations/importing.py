"""Bring answers and questions from elsewhere into ordinary runs and suites."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from unpredictabench.errors import InputError
from unpredictabench.integrations import official, tables
from unpredictabench.integrations.comparison import Comparison, is_table_of_codes
from unpredictabench.integrations.files import files
from unpredictabench.integrations.filing import Filed, file_answers
from unpredictabench.integrations.inspect.logs import is_log
from unpredictabench.integrations.inspect.runs import import_logs
from unpredictabench.integrations.questions import Questions
from unpredictabench.integrations.rows import rows
from unpredictabench.integrations.tally import Tally
from unpredictabench.store import import_run
from unpredictabench.tasks import Suite, load_suite
from unpredictabench.tasks.kept import FILE_NAME

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

RUNS: Final = Path("runs")
RESULTS, QUESTIONS, TRUTHS, CODES = "results", "questions", "truths", "codes"
TABLE, EXPORT, LOG, OTHER = "table", "export", "inspect", "other"
EXPORTED = frozenset({"task", "index", "text", "status"})
"""Columns of an exported run."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import came to.

    Parameters
    ----------
    kind : {"published", "table", "export", "inspect"}
        What was recognised.
    path : Path
        What was read.
    suite : str
        Name or file of the suite that the runs belong to.
    runs : tuple of Filed
        The runs.
    tally : mapping
        Counts of what was read, skipped, refused and noted, each by reason, with examples.
    comparison : mapping
        Counts of published readings against our own, with examples; empty for tables.
    is_complete : bool
        Whether nothing was refused.
    """

    kind: str
    path: Path
    suite: str
    runs: tuple[Filed, ...]
    tally: Mapping[str, Any]
    comparison: Mapping[str, Any]
    is_complete: bool


def import_official(
    path: str | os.PathLike[str], out: str | os.PathLike[str], *, suite: str | None = None
) -> Imported:
    """Import the published data set, its ground truth, or a results tree of the published code.

    Parameters
    ----------
    path : path
        A results tree or a part of it, the data set as JSON, JSONL, CSV or Parquet, a hub cache
        folder, or a folder that holds any of these.
    out : path
        Folder of the run folders; ``suite.json`` is written there.
    suite : str, optional
        The suite that the answers belong to: a name, or the file an earlier import wrote. The
        default is made of the questions in `path`, else is the one in `out`, else is made of the
        questions that the rows repeat.

    Returns
    -------
    Imported
        The runs, and an account of every file and row.

    Raises
    ------
    InputError
        When `path` holds nothing of the kind, or `out` holds another suite.
    """
    tally = Tally()
    root, groups = _recognised(path, tally)
    if not (groups[RESULTS] or groups[QUESTIONS]):
        raise InputError(
            f"path {root}", "hold published questions or a results tree", _found(tally)
        )
    return _published(root, groups, Path(out), suite, tally)


def import_path(
    path: str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    *,
    suite: str | None = None,
    model: str | None = None,
) -> Imported:
    """Import whatever a path holds: published data, tables, exported runs, or Inspect logs.

    Parameters
    ----------
    path : path
        A file or a folder.
    out : path, optional
        Folder of the run folders; the default is ``runs/`` and the name of `path`.
    suite : str, optional
        Name or file of the suite; for tables the default is ``"v1"``, for Inspect logs the one
        they name.
    model : str, optional
        The model of rows of a table that name none.

    Returns
    -------
    Imported
        The runs, and an account of every file and row.

    Raises
    ------
    InputError
        When nothing in `path` can be imported.
    """
    tally = Tally()
    root, groups = _recognised(path, tally)
    target = (
        RUNS / (re.sub(r"[^\w.-]+", "_", root.stem) or "imported") if out is None else Path(out)
    )
    if groups[RESULTS] or groups[QUESTIONS]:
        return _published(root, groups, target, suite, tally)
    if groups[TABLE]:
        return _tables(root, groups, target, suite or "v1", tally, model=model)
    if groups[EXPORT]:
        return _exports(root, groups, target, tally)
    if groups[LOG]:
        filed, names = import_logs(groups[LOG], target, suite=suite, tally=tally)
        return Imported(LOG, root, names, filed, tally.to_json(), {}, tally.is_complete)
    raise InputError(
        f"path {root}",
        "hold a results tree, the published data set, a table with the columns task (or prompt), "
        "model and answer (or value), an exported run, or an Inspect log",
        _found(tally),
    )


def _found(tally: Tally) -> str:
    """Say what was there instead."""
    return "; ".join((*tally.refused, *tally.skipped)) or "an empty folder"


def _recognised(
    path: str | os.PathLike[str], tally: Tally
) -> tuple[Path, Mapping[str, list[Path]]]:
    """Sort the files of a path by what they hold."""
    root = Path(path).absolute()
    if not root.exists():
        raise InputError("path", "exist", str(path))
    groups: dict[str, list[Path]] = defaultdict(list)
    for file in files(root, tally):
        kind = RESULTS if official.place_of(file) else LOG if is_log(file) else _kind(file, tally)
        groups[kind].append(file)
    for file in groups[OTHER]:
        tally.skip("file that holds nothing known", file)
    return root, groups


def _kind(file: Path, tally: Tally) -> str:
    """Look at the first row of a file; a file without any is counted when it is damaged."""
    scratch = Tally()
    _, row = next(rows(file, scratch), ("", {}))
    if not row:
        for why in scratch.refused:
            tally.refuse(why, file)
        return OTHER
    if "model_output" in row:
        tally.refuse("results file outside a folder temp_<T>/run_<i>", file)
        return OTHER
    signs = {
        EXPORT: row.get("format") == "unpredictabench-run" or set(row) >= EXPORTED,
        TRUTHS: "ground_truth_values" in row,
        CODES: is_table_of_codes(row),
        QUESTIONS: "prompt_text" in row,
        TABLE: tables.is_table(row),
    }
    return next((kind for kind, is_there in signs.items() if is_there), OTHER)


def _published(
    root: Path, groups: Mapping[str, list[Path]], out: Path, name: str | None, tally: Tally
) -> Imported:
    for file in (*groups[TABLE], *groups[EXPORT], *groups[LOG]):
        tally.refuse("table, exported run or log beside published data: import it by itself", file)
    source = out / FILE_NAME if name is None else name
    if name is None and (groups[QUESTIONS] or not (out / FILE_NAME).exists()):
        suite = _suite(groups, out, tally)
    else:
        suite = load_suite(source)
    comparison = Comparison(suite)
    for file in groups[CODES]:
        for _, row in rows(file, tally):
            comparison.add_codes(row)
    filed = file_answers(
        lambda counts: official.answers(groups[RESULTS], suite, counts),
        suite,
        out,
        tally=tally,
        watch=comparison.add,
    )
    return Imported(
        "published", root, str(source), filed, tally.to_json(), comparison.to_json(),
        tally.is_complete,
    )  # fmt: skip


def _suite(groups: Mapping[str, list[Path]], out: Path, tally: Tally) -> Suite:
    """Make the suite of the questions, or else of the rows that repeat them."""
    questions = Questions(out)
    for file in groups[QUESTIONS]:
        for where, row in rows(file, tally):
            questions.add_question(row, where, tally)
    for file in groups[TRUTHS]:
        for where, row in rows(file, tally):
            questions.add_truth(row, where, tally)
    if not groups[QUESTIONS]:
        scratch = Tally()  # damage is counted when the answers are read
        for file in groups[RESULTS]:
            for where, row in rows(file, scratch):
                questions.add_question(row, where, scratch)
    return questions.suite(tally)


def _tables(
    root: Path,
    groups: Mapping[str, list[Path]],
    out: Path,
    name: str,
    tally: Tally,
    *,
    model: str | None,
) -> Imported:
    for file in (*groups[EXPORT], *groups[LOG]):
        tally.refuse("exported run or log beside a table: import it by itself", file)
    suite = load_suite(name)
    filed = file_answers(
        lambda counts: tables.answers(groups[TABLE], suite, counts, model=model),
        suite,
        out,
        tally=tally,
        watch=lambda _: None,
    )
    return Imported("table", root, name, filed, tally.to_json(), {}, tally.is_complete)


def _exports(root: Path, groups: Mapping[str, list[Path]], out: Path, tally: Tally) -> Imported:
    for file in groups[LOG]:
        tally.refuse("log beside an exported run: import it by itself", file)
    filed, suite = [], ""
    for file in groups[EXPORT]:
        run = import_run(file, out / file.stem)
        tally.take("exported runs")
        suite, temperature = run.settings.suite, run.settings.parameters.get("temperature")
        filed.append(
            Filed(
                path=run.path,
                model=run.settings.model,
                temperature=temperature if isinstance(temperature, float) else None,
                n_new=run.n_stored,
                n_stored=run.n_stored,
                n_missing=run.n_missing,
            )
        )
    return Imported("export", root, suite, tuple(filed), tally.to_json(), {}, tally.is_complete)
