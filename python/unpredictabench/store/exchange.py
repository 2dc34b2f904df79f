"""Runs as JSONL or Parquet files and back, without loss."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from unpredictabench._whole import whole
from unpredictabench.errors import InputError, MissingExtraError, OutputError, StoreError
from unpredictabench.incoming import completion_from
from unpredictabench.store import rows
from unpredictabench.store.reading import Run, open_run
from unpredictabench.store.writing import open_writer

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from unpredictabench.records import Completion

T = TypeVar("T")
Header: TypeAlias = dict[str, Any]
_Line: TypeAlias = tuple[float, str, dict[str, Any]]
Content: TypeAlias = "tuple[Header, list[Completion], int]"
FORMAT = "unpredictabench-run"
FORMAT_VERSION = 1
"""Raised when an older version could not read an export."""


def export_run(run: Run, file: str | os.PathLike[str]) -> Path:
    """Write a run to one portable file.

    Parameters
    ----------
    run : Run
        An open run.
    file : path
        Where to; the name must end in ``.jsonl`` or ``.parquet`` (extra ``arrow``). It appears
        whole or not at all.

    Returns
    -------
    Path
        The file.

    Notes
    -----
    Both hold the settings, the plan, the log and every completion. JSONL is ASCII: a header
    line, then one completion a line. In Parquet the header is the schema's metadata, and a
    column ``escaped`` keeps, as JSON, the strings with lone surrogates that Parquet cannot hold.
    """
    target = Path(file)
    write = _suffixed(target, {".jsonl": _write_jsonl, ".parquet": _write_parquet})
    try:
        with whole(target) as draft:
            write(run, draft)
    except OutputError as error:
        raise StoreError(str(error)) from error
    return target


def import_run(file: str | os.PathLike[str], path: str | os.PathLike[str]) -> Run:
    """Put the answers of an exported file into a run folder.

    Parameters
    ----------
    file : path
        A ``.jsonl`` or ``.parquet`` file written by `export_run`.
    path : path
        The run folder: a new one, or one with the same settings. Slots that hold an answer keep
        it, so importing a file twice changes nothing.

    Returns
    -------
    Run
        The run. A last line that a crash cut short is dropped, counted in the log as
        ``n_partial``, and its slot is missing.

    Raises
    ------
    StoreError
        The file is not an exported run, or the folder's settings differ.
    """
    source = Path(file)
    read = _suffixed(source, {".jsonl": _read_jsonl, ".parquet": _read_parquet})
    try:
        header, completions, n_partial = read(source)
        settings = rows.settings_from_items(header["settings"])
        plan = rows.plan_from_rows(header["plan"])
        events = [(float(at), str(kind), dict(data)) for at, kind, data in header["events"]]
    except OSError as error:
        raise StoreError(f"{source} cannot be read: {error}") from error
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
        raise StoreError(f"{source} is not an exported run ({error!r})") from error
    with open_writer(path, settings, plan) as writer:
        for at, kind, data in _missing_events(path, events):
            writer.log(kind, data, at=at)
        for completion in completions:
            writer.append(completion)
        writer.log("imported", {"file": source.name, "n_partial": n_partial})
    return open_run(path)


def _missing_events(path: str | os.PathLike[str], events: Sequence[_Line]) -> Sequence[_Line]:
    """Return what the log lacks when it holds a beginning of the lines: all, or after a crash."""
    known = [(event.at, event.kind, dict(event.data)) for event in open_run(path).events]
    return events[len(known) :] if known == events[: len(known)] else ()


def _suffixed(file: Path, by_suffix: Mapping[str, T]) -> T:
    if file.suffix not in by_suffix:
        raise InputError("file", f"end in {' or '.join(by_suffix)}", file.name)
    return by_suffix[file.suffix]


def _header(run: Run) -> Header:
    plan = run.plan.items()
    return {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "settings": rows.settings_to_items(run.settings),
        "plan": [(task, p.n_slots, rows.messages_to_json(p.messages)) for task, p in plan],
        "events": [(event.at, event.kind, dict(event.data)) for event in run.events],
    }


def _checked(header: object, source: Path) -> Header:
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise StoreError(f"{source} is not an exported run; make one with store.export_run")
    if header.get("version") != FORMAT_VERSION:
        raise StoreError(
            f"{source} has format version {header.get('version')}, this unpredictabench reads "
            f"{FORMAT_VERSION}: upgrade the package"
        )
    return header


def _write_jsonl(run: Run, file: Path) -> None:
    with file.open("w", encoding="ascii", newline="\n") as out:
        out.write(f"{rows.dumps(_header(run))}\n")
        for completion in run.completions():
            values = {name: getattr(completion, name) for name in rows.FIELDS}
            out.write(f"{rows.dumps(values)}\n")


def _read_jsonl(source: Path) -> Content:
    lines = source.read_bytes().split(b"\n")
    # What follows the last newline is empty, a whole line without its newline, or half a line.
    tail = lines.pop()
    whole_tail = tail if _is_json(tail) else b""
    header = _checked(_parsed(lines[0] if lines else whole_tail, source, 1), source)
    body = [line for line in (*lines[1:], whole_tail if lines else b"") if line]
    completions = [
        _completion(_parsed(line, source, number), source, number)
        for number, line in enumerate(body, start=2)
    ]
    return header, completions, int(tail != whole_tail)


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _completion(values: dict[str, Any], source: Path, number: int) -> Completion:
    try:
        return completion_from(values)
    except InputError as error:
        raise StoreError(f"{source} line {number} is no completion: {error}") from error


def _parsed(line: bytes, source: Path, number: int) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise StoreError(f"{source} line {number} is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise StoreError(f"{source} line {number} must be a JSON object")
    return value


def _write_parquet(run: Run, file: Path) -> None:
    pa, parquet = _arrow()
    records = [_flattened(completion) for completion in run.completions()]
    kinds = {"str": pa.string(), "int": pa.int64(), "float": pa.float64()}
    fields = [pa.field(name, kinds[kind]) for name, kind in rows.KINDS.items()]
    metadata = {FORMAT: rows.dumps(_header(run))}
    schema = pa.schema([*fields, pa.field("escaped", pa.string())], metadata=metadata)
    parquet.write_table(pa.Table.from_pylist(records, schema=schema), file)


def _read_parquet(source: Path) -> Content:
    pa, parquet = _arrow()
    try:
        table = parquet.read_table(source)
    except (pa.ArrowException, MemoryError) as error:
        raise StoreError(f"{source} is not a Parquet file: {error}") from error
    text = (table.schema.metadata or {}).get(FORMAT.encode(), b"null")
    completions = []
    for number, record in enumerate(table.to_pylist(), start=1):
        escaped = json.loads(record.pop("escaped") or "{}")
        completions.append(_completion(record | escaped, source, number))
    return _checked(json.loads(text), source), completions, 0


def _flattened(completion: Completion) -> dict[str, rows.Cell]:
    """Return the fields as Parquet can hold them, and the others as JSON in `escaped`."""
    values = {name: getattr(completion, name) for name in rows.FIELDS}
    escaped = {name: v for name, v in values.items() if isinstance(rows.to_cell(v), bytes)}
    shown = {name: v.encode(errors="replace").decode() for name, v in escaped.items()}
    return values | shown | {"escaped": rows.dumps(escaped) if escaped else None}


def _arrow() -> tuple[Any, Any]:
    try:
        import pyarrow as pa  # noqa: PLC0415 - an extra
        from pyarrow import parquet  # noqa: PLC0415 - an extra
    except ImportError:
        raise MissingExtraError("Parquet", "arrow") from None
    return pa, parquet
