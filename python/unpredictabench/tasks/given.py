"""Laws given by a spec, by samples in a file, or by a program that prints them."""

from __future__ import annotations

import csv
import hashlib
import json
import logging
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from unpredictabench.errors import InputError, SuiteError, nearest, shortened
from unpredictabench.targets import cache
from unpredictabench.tasks.execution import Limits, run_many

if TYPE_CHECKING:
    from pathlib import Path

_LOG = logging.getLogger(__name__)
PROGRAM_FIELDS = ("file", "source", "runs", "timeout_s", "output_bytes", "memory_mb")
SAMPLE_FIELDS = ("file", "column", "values")
DRAWN_FIELDS = ("law", "values", "file", "sha256")
UNREADABLE = (OSError, EOFError, ValueError, MemoryError, RecursionError, csv.Error)
"""What readers of JSON, CSV and NPY raise for files that are not."""
N_RUNS = 2000
"""Runs of a program when the file does not say: enough to resolve 0.03 in the cdf."""
LEAST_RUNS, MOST_RUNS = 100, 1_000_000


def law_given(given: object, folder: Path) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return a law as it was given, and as a spec that can be built.

    Parameters
    ----------
    given : object
        A spec, ``{"samples": {"file": path, "column": name}}`` or ``{"program": {"file": path,
        "runs": n, ...}}`` (or ``"source"`` in place of ``"file"``), or ``{"drawn": {"law": spec,
        "file": path, "sha256": digest}}``, a law with the draws that stand for it.
    folder : pathlib.Path
        What relative paths are relative to.

    Returns
    -------
    tuple of mapping
        The two differ only for programs, whose first form holds the source and its second what
        was printed, and for drawn laws, whose second form holds the draws of the file.

    Raises
    ------
    InputError, SuiteError
        When a field is wrong, a file cannot be read, or a program does not do its duty.
    """
    if not isinstance(given, Mapping):
        raise InputError("spec", "be a mapping", given)
    if set(given) == {"samples"}:
        values = _samples(_fields("samples", given["samples"], SAMPLE_FIELDS), folder)
        spec = {"samples": {"values": values}}
        return spec, spec
    if set(given) == {"drawn"}:
        return _drawn(_fields("drawn", given["drawn"], DRAWN_FIELDS), folder)
    if set(given) == {"program"}:
        return _program(_fields("program", given["program"], PROGRAM_FIELDS), folder)
    return given, given


def _fields(what: str, given: object, known: tuple[str, ...]) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise InputError(what, f"be a mapping of {', '.join(known)}", given)
    for field in given:
        if field not in known:
            raise InputError(f"{what}.{field}", f"be one of {nearest(field, known)}", given[field])
    return given


def _samples(given: Mapping[str, Any], folder: Path) -> list[Any]:
    """Return the values of a sample, which stand in the suite or in a file beside it."""
    if ("file" in given) == ("values" in given):
        raise InputError("samples", "hold either file or values", given)
    if "values" in given:
        return list(given["values"]) if isinstance(given["values"], list) else [given["values"]]
    path = _file("samples.file", given.get("file"), folder)
    try:
        values = _values(path, given.get("column"))
    except SuiteError:
        raise
    except UNREADABLE as error:
        raise SuiteError(f"{path} cannot be read: {' '.join(str(error).split())}") from error
    if any(isinstance(v, float) and not math.isfinite(v) for v in values):
        raise SuiteError(f"{path} holds a number that is not finite")
    return values


def _drawn(given: Mapping[str, Any], folder: Path) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return a law with the draws of a file, which must still be what the digest says."""
    if "values" in given:
        spec = {"drawn": dict(given)}
        return spec, spec
    values = _samples({"file": given.get("file")}, folder)
    digest = hashlib.sha256((folder / given["file"]).read_bytes()).hexdigest()
    if digest != given.get("sha256", digest):
        raise SuiteError(f"{folder / given['file']} has changed: its SHA-256 is {digest}")
    law = {"law": given.get("law"), "file": given["file"], "sha256": digest}
    return {"drawn": law}, {"drawn": {"law": given.get("law"), "values": values}}


def _values(path: Path, column: object) -> list[Any]:
    kind = path.suffix.lower()
    if kind == ".npy":
        array = np.load(path, allow_pickle=False)
        return list(array.ravel().tolist())
    text = path.read_text(encoding="utf-8-sig")
    if kind == ".json":
        values = json.loads(text)
        if not isinstance(values, list):
            raise ValueError("it must hold a JSON list")
        return values
    if kind != ".csv":
        raise SuiteError(f"samples.file must end in .json, .csv or .npy, got {path.name!r}")
    rows = [row for row in csv.reader(text.splitlines()) if row]
    if column is not None:
        head, rows = rows[0] if rows else [], rows[1:]
        if column not in head:
            raise SuiteError(f"{path} has no column {column!r}; it has {', '.join(head)}")
        place = head.index(str(column))
        if any(len(row) <= place for row in rows):
            raise SuiteError(f"{path} has a row without a value in the column {column!r}")
        return [_cell(row[place]) for row in rows]
    if any(len(row) != 1 for row in rows):
        raise SuiteError(f"{path} has several columns: samples.column must name one")
    return [_cell(row[0]) for row in rows]


def _cell(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text.strip()


def _file(field: str, given: object, folder: Path) -> Path:
    if not isinstance(given, str) or not given:
        raise InputError(field, "be the path of a file", given)
    path = folder / given
    if not path.is_file():
        near = nearest(path.name, (f.name for f in path.parent.glob("*")))
        raise InputError(field, f"be an existing file, such as {near or 'none there'}", given)
    return path


def _program(given: Mapping[str, Any], folder: Path) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Run the program of a law and return the law with its source, and what it printed."""
    if ("file" in given) == ("source" in given):
        raise InputError("program", "hold either file or source", given)
    source = given.get("source")
    if "file" in given:
        path = _file("program.file", given["file"], folder)
        try:
            source = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise SuiteError(f"{path} cannot be read: {error}") from error
    if not isinstance(source, str) or not source.strip():
        raise InputError("program.source", "be the text of a program", source)
    runs = _whole("runs", given, N_RUNS, LEAST_RUNS, MOST_RUNS)
    default = Limits()
    limits = Limits(
        timeout_s=_number("timeout_s", given, default.timeout_s, 0.1, 3600),
        output_bytes=_whole("output_bytes", given, default.output_bytes, 1, 10**6),
        memory_mb=_whole("memory_mb", given, default.memory_mb, 64, 10**6),
    )
    digest = hashlib.sha256(source.encode()).hexdigest()
    printed = cache.remembered(
        ("program", digest, runs),
        lambda: _observations(_outputs(source, runs, limits)),
    )
    law = {"program": {"source": source, "runs": runs}}
    return law, {"samples": {"values": printed.tolist()}}


def _outputs(source: str, runs: int, limits: Limits) -> tuple[str, ...]:
    """Run a program, and say on standard error that this is done unless a logger is set up."""
    _LOG.warning("the suite runs a program on this machine: load only suites that you trust")
    return run_many(source, runs, limits=limits)


def _observations(outputs: tuple[str, ...]) -> Any:
    """Return what was printed as an array: all numbers, or all texts."""
    texts = [output.strip("\n") for output in outputs]
    if all(not text.strip() for text in texts):
        raise SuiteError("the program printed nothing")
    try:
        numbers = [float(text) for text in texts]
    except ValueError:
        n_numbers = sum(_is_number(text) for text in texts)
        if n_numbers > len(texts) // 2:
            wrong = next(text for text in texts if not _is_number(text))
            raise SuiteError(
                f"the program printed {shortened(wrong)} where other runs printed a number"
            ) from None
        return np.array(texts)
    if not all(map(math.isfinite, numbers)):
        raise SuiteError("the program printed a number that is not finite")
    return np.array(numbers)


def _is_number(text: str) -> bool:
    return isinstance(_cell(text), float)


def _number(field: str, given: Mapping[str, Any], default: float, low: float, high: float) -> float:
    value = given.get(field, default)
    is_right = isinstance(value, int | float) and not isinstance(value, bool)
    if not (is_right and low <= value <= high):
        raise InputError(f"program.{field}", f"lie in [{low:g}, {high:g}]", value)
    return float(value)


def _whole(field: str, given: Mapping[str, Any], default: int, low: int, high: int) -> int:
    value = _number(field, given, default, low, high)
    if not value.is_integer():
        raise InputError(f"program.{field}", "be a whole number", value)
    return int(value)
