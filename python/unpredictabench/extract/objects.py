"""Read the one number of a JSON object."""

from __future__ import annotations

import json
import re

KEYS = ("final_answer", "answer", "number", "value", "result", "output", "sample", "random_number")
"""Keys that hold the answer, the surest first; without one of them a lone number counts."""

_FENCED = re.compile(r"\s*+```[\w+#-]*+\s*+(\{.*\})\s*```\s*\Z", re.DOTALL)


class Written(str):
    """A number of a JSON text as it was written."""

    __slots__ = ()


def number_of_object(text: str) -> tuple[str, tuple[int, int]] | str | None:
    """Return the number of an answer that is a JSON object.

    Parameters
    ----------
    text : str
        A text with plain characters.

    Returns
    -------
    ((str, (int, int)), str or None
        The number as written and its span; the reason why the object has none; None when the
        text is no JSON object.

    Examples
    --------
    >>> number_of_object('{"rationale": "of 5", "number": 7}')
    ('7', (32, 33))
    >>> number_of_object('{"number": true}')
    'the object holds no number'
    """
    fenced = _FENCED.match(text) if "```" in text else None
    inner = fenced[1] if fenced else text.strip()
    if inner[:1] != "{" or inner[-1:] != "}" or '"' not in inner:
        return None
    try:
        parsed = json.loads(inner, parse_int=Written, parse_float=Written, parse_constant=str)
    except (ValueError, RecursionError):
        return None
    fields = {str(key).strip().lower().replace(" ", "_"): key for key in parsed}
    for name in KEYS:
        if name in fields:
            return _located(text, fields[name], parsed[fields[name]])
    numbers = [(key, value) for key, value in parsed.items() if isinstance(value, Written)]
    if len(numbers) == 1:
        return _located(text, *numbers[0])
    return "the object holds several numbers" if numbers else "the object holds no number"


def _located(text: str, key: str, value: object) -> tuple[str, tuple[int, int]] | str:
    if not isinstance(value, str):
        return "the object holds no number"
    at = text.find(value, max(0, text.rfind(f'"{key}"')) + len(key) + 2)
    return (value, (at, at + len(value))) if at >= 0 else "the object holds no number"
