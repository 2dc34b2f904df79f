"""The canonical form of a law's spec, and its content hash."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping


def canonical(value: object) -> object:
    """Return JSON data in one form: whole floats as integers, tuples as lists, keys as text.

    Parameters
    ----------
    value : object
        JSON data; numbers may be NumPy scalars, sequences tuples or arrays.

    Returns
    -------
    object
        Equal laws written differently (``1.0`` or ``1``) give equal data.

    Examples
    --------
    >>> canonical({"rate": 18.0, "values": (0.5, 2.0)})
    {'rate': 18, 'values': [0.5, 2]}
    """
    if isinstance(value, Mapping):
        return {str(key): canonical(item) for key, item in value.items()}
    if hasattr(value, "tolist"):
        return canonical(value.tolist())
    if isinstance(value, list | tuple):
        return [canonical(item) for item in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < 2.0**53:
        return int(value)
    return value


def canonical_json(value: object) -> str:
    """Return the one JSON text of a value: canonical numbers, sorted keys, no spaces."""
    return json.dumps(
        canonical(value),
        sort_keys=True,
        separators=(",", ":"),
        ensure_ascii=False,
        allow_nan=False,
    )


def content_hash(value: object) -> str:
    """Return the SHA-256 of the canonical JSON, as 64 hexadecimal digits.

    Parameters
    ----------
    value : object
        Mappings, sequences, numbers, strings; as for `canonical`.

    Returns
    -------
    str
        The same for values that JSON readers take for equal.

    Examples
    --------
    >>> content_hash({"b": 1, "a": 2.0}) == content_hash({"a": 2, "b": 1.0})
    True
    """
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()
