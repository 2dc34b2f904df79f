"""Read one of a task's labels from an answer."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from unpredictabench.extract.boxes import boxes
from unpredictabench.extract.classes import LENGTH, not_strict, without_value
from unpredictabench.extract.identity import Items
from unpredictabench.extract.number import check_mode
from unpredictabench.extract.plaintext import plain
from unpredictabench.records import Extraction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unpredictabench.records import Reading

_WRAPPING = " \t\r\n\"'`*_$()[]{}.,;:!#"
_FENCE = re.compile(r"\s*+```[\w+#-]*\n(.*?)\s*```\s*\Z", re.DOTALL)
_FINAL = re.compile(
    r"(?:\bfinal\s+\w+\W{0,4}(?:is)?|(?:\A|\n)\W*answer\W{0,4}(?:is)?)\W*\Z", re.IGNORECASE
)
_SAID = re.compile(
    r"\b(?:answer|choice|result|outcome|output|response|i(?:'ll| will)? (?:choose|chose|pick|picked"
    r"|select|selected|say|go with|got|draw|drew))\b[^\n.]{0,24}\Z",
    re.IGNORECASE,
)
_ABOUT_ELSE = re.compile(
    r"\b(?:if|when|not|never|either|neither|probability|chance|example|between|suppose|like|cannot"
    r"|each|every|options?)\b|n't\b",
    re.IGNORECASE,
)
_WINDOW = 80
_SHORT = 2
"""Characters; a label as short as this is a word of prose unless it is marked."""


def extract_choice(
    text: str | None,
    labels: Sequence[str],
    *,
    finish_reason: str | None = None,
    mode: Reading = "lenient",
) -> Extraction:
    """Read the one label that an answer chooses.

    Parameters
    ----------
    text : str or None
        The answer as it came.
    labels : sequence of str
        The labels to choose from.
    finish_reason : str, optional
        Why the model stopped.
    mode : {"lenient", "strict"}
        Strict accepts a text that is a label, character for character; lenient ignores case and
        wrapping and reads prose in which one label only is offered.

    Returns
    -------
    Extraction
        The label as given in `labels`, or the class and the reason.

    Raises
    ------
    InputError
        If `mode` is neither "lenient" nor "strict".

    Examples
    --------
    >>> extract_choice("I pick **Red**.", ("red", "green")).value
    'red'
    """
    check_mode(mode)
    text = text or ""
    stripped = text.strip()
    if stripped in labels and stripped:
        start = text.find(stripped)
        span = (start, start + len(stripped))
        if finish_reason != LENGTH or not _is_start_of_other(stripped, labels):
            return Extraction(stripped, "valid", "a label", span, mode)
    found = _lenient(plain(text), tuple(labels), finish_reason)
    if mode == "lenient":
        return found
    return not_strict(found, "more than the label")


def _is_start_of_other(label: str, labels: Sequence[str]) -> bool:
    return any(other != label and other.startswith(label) for other in labels)


def _lenient(text: str, labels: tuple[str, ...], finish_reason: str | None) -> Extraction:
    items = Items.of(labels)
    for start, end in [*boxes(text), _unfenced(text)]:
        core = text[start:end].strip(_WRAPPING)
        known = items.indices(core)
        is_cut = finish_reason == LENGTH and _is_start_of_other(core, labels)
        if len(known) == 1 and not is_cut:
            at = text.find(core, start)
            return Extraction(labels[known[0]], "valid", "a wrapped label", (at, at + len(core)))
    offered = _offered(text, items, finish_reason)
    for least in (3, 2, 1):
        strong = [(label, span) for weight, label, span in offered if weight >= least]
        if len({label for label, _ in strong}) == 1:
            return Extraction(labels[strong[0][0]], "valid", "the only label", strong[0][1])
        if strong:
            return without_value(
                text, "several labels are offered", is_several=True, finish_reason=finish_reason
            )
    return without_value(text, "no label is offered", finish_reason=finish_reason)


def _unfenced(text: str) -> tuple[int, int]:
    fenced = _FENCE.match(text) if "```" in text else None
    return fenced.span(1) if fenced else (0, len(text))


def _offered(
    text: str, items: Items, finish_reason: str | None
) -> list[tuple[int, int, tuple[int, int]]]:
    found = []
    for match in _pattern(items.names).finditer(text):
        known = items.indices(match[0])
        at_cut = finish_reason == LENGTH and not text[match.end() :].strip(" ")
        if len(known) == 1 and not (at_cut and _is_start_of_other(match[0], items.names)):
            weight = _weight(text, match, items.names[known[0]])
            if weight:
                found.append((weight, known[0], match.span()))
    return found


@lru_cache(maxsize=1024)
def _pattern(labels: tuple[str, ...]) -> re.Pattern[str]:
    """Match any label as a whole word, the longest first; never, where there is no label."""
    shown = sorted({plain(label).strip() for label in labels} - {""}, key=len, reverse=True)
    if not shown:
        return re.compile(r"(?!)")
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, shown))})(?!\w)", re.IGNORECASE)


def _weight(text: str, match: re.Match[str], label: str) -> int:
    """Return 3 for the final answer, 2 for one said or alone, 1 for a mention, 0 for an aside."""
    before = text[max(0, match.start() - _WINDOW) : match.start()]
    stem = before.rstrip(_WRAPPING.replace(":", "") + ":")
    cut = max(stem.rfind(". "), stem.rfind("\n"))
    sentence = stem[cut + 1 :]
    if _ABOUT_ELSE.search(sentence):
        return 0
    if _FINAL.search(stem):
        return 3
    line = before[before.rfind("\n") + 1 :]
    rest = text[match.end() : match.end() + _WINDOW].partition("\n")[0]
    if _SAID.search(sentence) or not (line.strip(_WRAPPING) or rest.strip(_WRAPPING)):
        return 2
    return 1 if len(label) > _SHORT else 0
