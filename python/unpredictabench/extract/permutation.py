"""Read one order of a task's items from an answer."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import TYPE_CHECKING

from unpredictabench.extract import lists
from unpredictabench.extract.classes import LENGTH, CodeSpans, not_strict, without_value
from unpredictabench.extract.context import ANY_DIGIT
from unpredictabench.extract.identity import Items
from unpredictabench.extract.number import check_mode
from unpredictabench.extract.plaintext import plain
from unpredictabench.records import Extraction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unpredictabench.records import Reading

_SAID = re.compile(
    r"\b(?:answer|shuffled?|shuffling|outputs?|results?|permutation|permuted|order|solution|list"
    r"|array|here|return(?:s|ed)?|response)\b[^\n]{0,60}\Z",
    re.IGNORECASE,
)
_FINAL = re.compile(
    r"\bfinal\b[^\n]{0,40}\Z|(?:\A|\n)\W*answer\W*\Z|\b(?:answer|shuffled)\b[^\n:]{0,20}(?:is)?\W*\Z",
    re.IGNORECASE,
)
_ABOUT_ELSE = re.compile(
    r"\b(?:input|given|original|keys|instance|form|format|like|if|when"
    r"|suppose|not|initial|starting)\b",
    re.IGNORECASE,
)
_EXAMPLE = re.compile(r"\bfor example\b|\bexample \d|\be\.g\.|\bsample input\b", re.IGNORECASE)
_WRAPPING = " \t\r\n\"'`*_$.,;!"
_LAST_LINE = re.compile(r"(?:\A|\n|[.!] )[^\n:]{0,80}?(?:\bis\b:?|:)[ \t*_`]*([^\n:]+)\Z")
_ARROW = re.compile(r"[ \t]{0,4}(?:-{1,3}>|=>|→|⇒)")
_WINDOW = 120


def extract_permutation(
    text: str | None,
    items: Sequence[str],
    *,
    finish_reason: str | None = None,
    mode: Reading = "lenient",
) -> Extraction:
    """Read the one order of the items that an answer gives.

    Parameters
    ----------
    text : str or None
        The answer as it came.
    items : sequence of str
        The items as the prompt shows them.
    finish_reason : str, optional
        Why the model stopped.
    mode : {"lenient", "strict"}
        Strict accepts a text that is one JSON array of the items, or the items between commas;
        lenient also lists in other notations and in prose, as long as one order only is offered.

    Returns
    -------
    Extraction
        The value as a tuple of indices into `items`, or the class and the reason.

    Raises
    ------
    InputError
        If `mode` is neither "lenient" nor "strict".

    Notes
    -----
    Items are compared as text first, then without regard to case and blanks, then as numbers,
    so that ``1.0``, ``1`` and ``"1"`` are one item; ``true`` and ``null`` are no numbers. An item
    that comes twice, is missing or is not in the list makes the answer invalid.

    Examples
    --------
    >>> extract_permutation("Here it is: ['b', 'a']", ("a", "b")).value
    (1, 0)
    """
    check_mode(mode)
    known = Items.of(tuple(items))
    text = text or ""
    found = _lenient(plain(text), known, finish_reason)
    if mode == "lenient":
        return found
    if found.is_valid and (_is_json_array(text) or _is_comma_list(text, known)):
        return Extraction(found.value, "valid", "the list asked for", found.span, mode)
    return not_strict(found, "more than the list asked for")


def _is_json_array(text: str) -> bool:
    try:
        parsed = json.loads(text, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return False
    return isinstance(parsed, list)


def _is_comma_list(text: str, items: Items) -> bool:
    return all(part.strip() in items.exact for part in text.split(","))


def _lenient(text: str, items: Items, finish_reason: str | None) -> Extraction:
    code = CodeSpans(text)
    found = [its for its in lists.bracketed(text) if its.start not in code]
    if not found and (bare := _bare(text, items)) is not None:
        if finish_reason == LENGTH and not text[bare.end :].strip(" "):
            return without_value(text, "a list at the cut", code=code, finish_reason=finish_reason)
        found = [bare]
    weighed = [(_weight(text, its), items.order(its.elements), its) for its in found]
    for least in (3, 2, 1):
        strong = [(order, its) for weight, order, its in weighed if weight >= least]
        orders = {order for order, _ in strong if not isinstance(order, str)}
        if len(orders) == 1 and (least > 1 or len(strong) == len(orders)):
            order, its = next(pair for pair in strong if pair[0] in orders)
            if all(other == order for other, _ in strong):
                return Extraction(order, "valid", "the only order", (its.start, its.end))
        if len({order for order, _ in strong}) > 1:
            why = f"{len(strong)} lists are offered"
            return without_value(
                text, why, is_several=len(orders) > 1, code=code, finish_reason=finish_reason
            )
    why = next((order for _, order, _ in weighed if isinstance(order, str)), "no list of the items")
    return without_value(text, why, code=code, finish_reason=finish_reason)


def _weight(text: str, its: lists.Written) -> int:
    before = text[max(0, its.start - _WINDOW) : its.start]
    after = text[its.end : its.end + _WINDOW]
    return _weight_between(before.translate(ANY_DIGIT), after.translate(ANY_DIGIT))


@lru_cache(maxsize=4096)
def _weight_between(before: str, after: str) -> int:
    """Return 3 for a final answer, 2 for a list alone or said, 1 if unclear, 0 for an aside."""
    stem = before.rstrip(_WRAPPING)
    if before.rstrip().endswith(("[", ",", "{", '":')) or after.lstrip()[:1] == "]":
        return 0
    line = before[before.rfind("\n") + 1 :]
    is_alone = not line.strip(_WRAPPING) and not after.partition("\n")[0].strip(_WRAPPING)
    clause = _clause(stem if is_alone else line.rstrip(_WRAPPING))
    if _ABOUT_ELSE.search(clause) or _EXAMPLE.search(before):
        return 0
    if _FINAL.search(clause):
        return 3
    is_said = clause.endswith((":", " is", "=", "->")) or bool(_SAID.search(clause))
    return 2 if is_alone or is_said else 1


def _clause(stem: str) -> str:
    cut = max(stem.rfind(mark) for mark in (". ", "\n", "! ", ", "))
    return stem[cut + 1 :]


def _bare(text: str, items: Items) -> lists.Written | None:
    """Read a list without brackets: the whole text, or what a marked last line says."""
    start, end = len(text) - len(text.lstrip()), len(text.rstrip())
    said = _LAST_LINE.search(text, start, end)
    tries = [(start, end), *([said.span(1)] if said and not _ABOUT_ELSE.search(said[0]) else [])]
    found = [lists.Written(*span, _parts(text[slice(*span)])) for span in tries]
    found = [its for its in found if len(its.elements) > 1]
    orders = [its for its in found if not isinstance(items.order(its.elements), str)]
    return next(iter(orders or found), None)


def _parts(written: str) -> tuple[str, ...]:
    """Split what stands in parentheses, on lines, or between commas or arrows."""
    core = written.strip(_WRAPPING)
    if core[:1] in "({" and core[-1:] in ")}":
        core = core[1:-1]
    rows = lists.lines(core)
    if rows and rows[0].endswith(":"):
        rows = rows[1:]
    parts = rows if len(rows) > 1 else lists.elements(_ARROW.sub(",", core))
    return tuple(part.strip(_WRAPPING) for part in parts)
