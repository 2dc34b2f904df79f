"""Read Inspect logs, `.eval` and `.json`, sample by sample and whatever damage they have."""

from __future__ import annotations

import json
import re
import zipfile
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from unpredictabench.errors import MissingExtraError
from unpredictabench.integrations.jsonstream import DamagedError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

Data: TypeAlias = "Mapping[str, Any]"

SUFFIX: Final = ".eval"
MOST_MEMBER: Final = 1 << 27
"""Longest member of a log that is read, in bytes; 100 long answers are a hundredth of it."""
MOST_JSON: Final = 1 << 29
"""Longest JSON log that is read, in bytes: it must be parsed as a whole."""
MOST_SAMPLES: Final = 1_000_000
"""Parts of a log; one that holds more is refused."""
_ZSTANDARD: Final = 93  # the number that the zip format gives it
_STEP: Final = 4096  # a bomb unpacks at most 130 MB of so few bytes before it is noticed
_HEADERS: Final = ("header.json", "_journal/start.json")
_SAMPLE: Final = re.compile(r"samples/.+_epoch_\d+\.json")
_LOG_HEAD: Final = re.compile(r'\s*\{\s*"version"\s*:\s*\d+\s*,\s*"(?:status|invalidated|eval)"')


def is_log(file: Path) -> bool:
    """Tell whether a file is an Inspect log, by its name and its first characters.

    Parameters
    ----------
    file : pathlib.Path
        A file.
    """
    if file.suffix.lower() == SUFFIX:
        return True
    if file.suffix.lower() != ".json":
        return False
    try:
        with file.open(encoding="utf-8", errors="replace") as text:
            return _LOG_HEAD.match(text.read(256)) is not None
    except OSError:
        return False


def read_header(file: Path) -> Data:
    """Return what a log says about itself: status, task, model, settings.

    Parameters
    ----------
    file : pathlib.Path
        The log.

    Returns
    -------
    mapping
        The fields `eval`, `plan`, `status` and others; of a log that was never finished those
        it began with.

    Raises
    ------
    DamagedError
        If the file is not a whole log.
    MissingExtraError
        If it is packed as only the extra ``inspect`` can unpack it.
    """
    if file.suffix.lower() != SUFFIX:
        return _object(_whole(file))
    with _opened(file) as archive:
        names = set(archive.namelist())
        name = next((name for name in _HEADERS if name in names), None)
        if name is None:
            raise DamagedError("holds no header of an Inspect log")
        return _object(_member(archive, archive.getinfo(name)))


def read_samples(file: Path) -> Iterator[tuple[str, Data | DamagedError]]:
    """Yield the samples of a log one after the other.

    Parameters
    ----------
    file : pathlib.Path
        The log.

    Yields
    ------
    (str, mapping or DamagedError)
        Where it stands, for messages, and the sample, or what is wrong with it.

    Raises
    ------
    DamagedError
        If the file is not a whole log.
    """
    if file.suffix.lower() != SUFFIX:
        found = _whole(file).get("samples")
        for number, sample in enumerate(found if isinstance(found, list) else (), start=1):
            where = f"{file} sample {number}"
            yield where, sample if isinstance(sample, dict) else DamagedError("is not an object")
        return
    with _opened(file) as archive:
        # A name that occurs again stands for its last member, as for every reader of zip files.
        members = {info.filename: info for info in archive.infolist()}
        for name, info in members.items():
            if not _SAMPLE.fullmatch(name):
                continue
            try:
                yield f"{file} {name}", _object(_member(archive, info))
            except DamagedError as error:
                yield f"{file} {name}", error


@contextmanager
def _opened(file: Path) -> Iterator[zipfile.ZipFile]:
    try:
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise DamagedError(f"is not a whole log ({' '.join(str(error).split())})") from error
    with archive:
        if len(archive.infolist()) > MOST_SAMPLES:
            raise DamagedError(f"holds more than {MOST_SAMPLES:,} parts")
        yield archive


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> object:
    """Return a member as JSON, if it has no more bytes than may be."""
    if info.compress_type == _ZSTANDARD and not hasattr(zipfile, "ZIP_ZSTANDARD"):
        try:
            import zipfile_zstd  # noqa: F401, PLC0415 - an extra; it teaches zipfile the format
        except ImportError:
            raise MissingExtraError("reading this Inspect log", "inspect") from None
    if info.file_size > MOST_MEMBER:
        raise DamagedError(f"unpacks to more than {MOST_MEMBER:,} bytes")
    try:
        with archive.open(info) as member:  # which ends at the size that was looked at above
            data = b"".join(iter(lambda: member.read(_STEP), b""))
    except Exception as error:  # each way of packing has errors of its own
        raise DamagedError(f"cannot be unpacked ({' '.join(str(error).split())})") from error
    return _parsed(data)


def _whole(file: Path) -> Data:
    try:
        if file.stat().st_size > MOST_JSON:
            how = "convert it with inspect log convert --to eval"
            raise DamagedError(f"holds more than {MOST_JSON:,} bytes of JSON: {how}")
        data = file.read_bytes()
    except OSError as error:
        raise DamagedError(f"cannot be read ({error.strerror})") from error
    return _object(_parsed(data))


def _parsed(data: bytes) -> object:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise DamagedError("is not whole JSON") from None


def _object(value: object) -> Data:
    if not isinstance(value, dict):
        raise DamagedError("is not an object")
    return value
