"""Tables that come with the package, so that the first score on a machine takes seconds.

What the laws of the suite v1 fix at the published level - bands, critical values, drawn tails,
floors, simple samplers - is the same on every machine. ``python -m
unpredictabench.score.tabulate`` makes the file; a law that is not in it is computed as before.
"""

from __future__ import annotations

import hashlib
import io
import os
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from unpredictabench.targets import content_hash

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from unpredictabench.records import Target, Task

Floats: TypeAlias = "NDArray[np.float64]"
Table: TypeAlias = "Mapping[str, NDArray[np.float64]]"

SUITE: Final = "v1"
DIGEST_BYTES: Final = 16
SWITCH: Final = "UNPREDICTABENCH_NO_TABLES"
"""Environment variable that, set to anything, has everything computed."""
HASH_DIGITS: Final = 32
"""Hexadecimal digits kept of a content hash: two laws share them once in 2^64 pairs."""


@dataclass(frozen=True, slots=True, eq=False)
class Shipped:
    """What is known of a suite before anything is computed.

    Parameters
    ----------
    suite_hash : str
        The suite whose laws these are.
    key : str
        What the tables depend on besides the laws; see `tabulate.key`.
    alpha : float
        Level of the critical values.
    n, label_n : numpy.ndarray of int64
        Sizes of `bands` and of `criticals`.
    bands, criticals : mapping
        Critical distances by the hash of a law with atoms, and of labels.
    tails : mapping
        For labels whose null is drawn, by hash and number of answers: the distinct distances,
        rising, above the share of draws that are at least as large, of shape (2, distances).
    floors : mapping
        Divergences of a perfect sampler by the hash of a task.
    baselines : mapping
        Pass rates by sampler and hash of a task, at the published sizes from 100 answers.
    """

    suite_hash: str
    key: str
    alpha: float
    n: NDArray[np.int64]
    label_n: NDArray[np.int64]
    bands: Table
    criticals: Table
    tails: Table
    floors: Table
    baselines: Table

    def known(self, table: Table, names: Sequence[str]) -> Floats | None:
        """Return the rows of a table by name; None unless all are there."""
        if not all(name in table for name in names):
            return None
        return np.array([table[name] for name in names], dtype=np.float64)


@cache
def shipped() -> Shipped | None:
    """Return the tables of this package; None where they cannot be read, which only costs time."""
    if os.environ.get(SWITCH):
        return None
    file = files("unpredictabench.score") / "data" / f"{SUITE}.npz"
    try:
        return opened(file.read_bytes())
    except OSError:
        return None


def opened(data: bytes) -> Shipped | None:
    """Read a file of tables.

    Parameters
    ----------
    data : bytes
        As from `closed`.

    Returns
    -------
    Shipped or None
        None unless the bytes are whole.
    """
    digest, body = data[:DIGEST_BYTES], data[DIGEST_BYTES:]
    if _digest(body) != digest:
        return None
    with np.load(io.BytesIO(body), allow_pickle=False) as found:
        arrays = dict(found)
    suite_hash, key = arrays["made for"].tolist()
    even = {
        name: dict(zip(arrays[f"{name}/names"].tolist(), arrays[name], strict=True))
        for name in _EVEN
    }
    return Shipped(
        suite_hash=suite_hash,
        key=key,
        alpha=float(arrays["alpha"]),
        n=arrays["n"],
        label_n=arrays["label_n"],
        bands=even["bands"],
        criticals=even["criticals"],
        tails={name: arrays[f"tails/{name}"] for name in arrays["tails/names"].tolist()},
        floors=even["floors"],
        baselines=even["baselines"],
    )


def closed(tables: Shipped) -> bytes:
    """Write tables as bytes that `opened` reads, led by the digest of what follows."""
    arrays: dict[str, NDArray[np.generic]] = {
        "made for": np.array([tables.suite_hash, tables.key]),
        "alpha": np.array(tables.alpha),
        "n": tables.n,
        "label_n": tables.label_n,
    }
    for name in ("tails", *_EVEN):
        arrays[f"{name}/names"] = np.array(list(getattr(tables, name)))
    arrays |= {name: np.array([*getattr(tables, name).values()]) for name in _EVEN}
    arrays |= {f"tails/{name}": table for name, table in tables.tails.items()}
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)  # type: ignore[arg-type]
    body = buffer.getvalue()
    return _digest(body) + body


def law_name(target: Target) -> str:
    """Name a law by its content."""
    return content_hash(dict(target.spec))[:HASH_DIGITS]


def task_name(task: Task) -> str:
    """Name a task by its id, from which the streams of its draws are named, and its law."""
    return content_hash([task.id, dict(task.target.spec)])[:HASH_DIGITS]


_EVEN: Final = ("bands", "criticals", "floors", "baselines")
"""Tables whose rows have one length."""


def _digest(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=DIGEST_BYTES).digest()
