"""Answers recorded before, given again: a real run without its cost."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unpredictabench.errors import ClientError, SlotError
from unpredictabench.incoming import completion_from
from unpredictabench.records import Completion

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from unpredictabench.records import Request

_FIELDS = frozenset(field.name for field in dataclasses.fields(Completion))


class ReplayClient:
    """A model that gives the answers of an exported run.

    Parameters
    ----------
    path : path
        A JSONL file: one completion a line, as `records.Completion` names the fields; a header
        line and unknown fields are passed over.

    Raises
    ------
    ClientError
        If the file cannot be read, or a line is neither.

    Notes
    -----
    A slot that the file does not hold fails; the others go on. Where a slot occurs twice, the
    first answer counts.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)
        try:
            raw = self._path.read_bytes()
        except OSError as error:
            raise ClientError(f"{self._path} cannot be read: {error.strerror}") from error
        self._digest = hashlib.sha256(raw).hexdigest()
        self._completions: dict[tuple[str, int], Completion] = {}
        for number, line in enumerate(raw.split(b"\n"), start=1):
            completion = _completion(line) if line.strip() else None
            if completion is not None:
                self._completions.setdefault((completion.task, completion.index), completion)
            elif line.strip() and number > 1:
                raise ClientError(f"{self._path} line {number} is no completion")
        if not self._completions:
            raise ClientError(f"{self._path} holds no completions: export a run as JSONL")

    def __repr__(self) -> str:
        return f"ReplayClient({str(self._path)!r})"

    @property
    def model(self) -> str:
        """``replay:`` and the file."""
        return f"replay:{self._path}"

    @property
    def base_url(self) -> str | None:
        """None: nothing is behind an endpoint."""
        return None

    @property
    def parameters(self) -> Mapping[str, object]:
        """The SHA-256 of the file, so that no run mixes the answers of two."""
        return {"sha256": self._digest}

    async def ask(self, request: Request) -> Completion:
        """Return the recorded answer of the slot."""
        slot = f"{request.task.id} #{request.index}"
        completion = self._completions.get((request.task.id, request.index))
        if completion is None:
            raise SlotError(f"{self._path} holds no answer for {slot}")
        if completion.n_asked != request.n_asked:
            raise SlotError(
                f"{slot} was recorded with {completion.n_asked} answers a reply, "
                f"not {request.n_asked}: choose the same sampling"
            )
        return completion

    async def aclose(self) -> None:
        """Do nothing: the file is closed."""


def _completion(line: bytes) -> Completion | None:
    try:
        row: Any = json.loads(line)
        return completion_from({name: row[name] for name in row if name in _FIELDS})
    except (ValueError, TypeError, RecursionError):
        return None
