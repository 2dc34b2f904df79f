"""Read a completion as its task asks: the kind of value, and how many of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from unpredictabench.extract.choice import extract_choice
from unpredictabench.extract.classes import LENGTH
from unpredictabench.extract.lines import extract_lines
from unpredictabench.extract.number import check_mode, extract_number
from unpredictabench.extract.permutation import extract_permutation
from unpredictabench.extract.pieces import answer_part, array, pieces
from unpredictabench.extract.thoughts import answer_start
from unpredictabench.records import Extraction

if TYPE_CHECKING:
    from unpredictabench.records import Answer, Completion, ExtractionStatus, Reading, Task

EXTRACTOR_VERSION = "1"
"""Changes whenever some text is read differently than before."""


def extract(
    completion: Completion, task: Task, *, mode: Reading = "lenient"
) -> tuple[Extraction, ...]:
    """Read every observation of a completion.

    Parameters
    ----------
    completion : Completion
        The reply of a model.
    task : Task
        The task it replies to; its answer says what is to be read.
    mode : {"lenient", "strict"}
        Which reading.

    Returns
    -------
    tuple of Extraction
        As many as the completion was asked for, in order. A position that the reply does not
        reach is "empty", or "truncated" after a cut; a reply that goes on is read as far as it
        was asked for, and the reason says so. A reply without any choice is "error".

    Raises
    ------
    InputError
        If `mode` is neither "lenient" nor "strict".
    """
    check_mode(mode)
    n_asked = max(1, completion.n_asked)
    if completion.status == "no_choice":
        none = Extraction(None, "error", "the reply held no choice", reading=mode)
        return tuple(replace(none, position=at) for at in range(n_asked))
    text = completion.text or ""
    start = answer_start(text)
    if start is None:
        status: ExtractionStatus = "truncated" if completion.finish_reason == LENGTH else "off-form"
        open_end = Extraction(None, status, "a thought that is not closed", reading=mode)
        return tuple(replace(open_end, position=at) for at in range(n_asked))
    if n_asked == 1:
        reason = completion.finish_reason
        found = [read(text[start:], task.answer, finish_reason=reason, mode=mode)]
    else:
        found = _read_batch(text[start:], task.answer, completion, mode)
    return tuple(_shifted(one, start) for one in found)


def _shifted(found: Extraction, start: int) -> Extraction:
    if found.span is None or not start:
        return found
    return replace(found, span=(found.span[0] + start, found.span[1] + start))


def read(
    text: str, answer: Answer, *, finish_reason: str | None = None, mode: Reading = "lenient"
) -> Extraction:
    """Read one observation of the form that an answer must have.

    Parameters
    ----------
    text : str
        What the model wrote.
    answer : Answer
        The form asked for.
    finish_reason : str, optional
        Why the model stopped.
    mode : {"lenient", "strict"}
        Which reading.

    Returns
    -------
    Extraction
        The value, or the class and the reason.
    """
    match answer.kind:
        case "number":
            return extract_number(
                text, finish_reason=finish_reason, mode=mode, is_integer=answer.is_integer
            )
        case "permutation":
            return extract_permutation(text, answer.items, finish_reason=finish_reason, mode=mode)
        case "choice":
            return extract_choice(text, answer.items, finish_reason=finish_reason, mode=mode)
        case "lines":
            return extract_lines(text, answer.items, finish_reason=finish_reason, mode=mode)


def _read_batch(
    text: str, answer: Answer, completion: Completion, mode: Reading
) -> list[Extraction]:
    n_asked, is_cut = completion.n_asked, completion.finish_reason == LENGTH
    start, end = answer_part(text)
    parts = array(text[start:end], answer.kind)
    spans = pieces(text[start:end], answer.kind, n_asked) if parts is None else []
    if parts is None:
        parts = [text[start:end][slice(*span)] for span in spans]
        is_cut_last = is_cut and bool(spans) and not text[start + spans[-1][1] :].strip(" ")
    else:
        is_cut_last = False
    extra = f"; the first {n_asked} of {len(parts)} given" if len(parts) > n_asked else ""
    found = []
    for at, part in enumerate(parts[:n_asked]):
        finish_reason = LENGTH if is_cut_last and at == len(parts) - 1 else None
        one = read(part, answer, finish_reason=finish_reason, mode=mode)
        where = text.find(part, start) if not spans else start + spans[at][0]
        span = (where + one.span[0], where + one.span[1]) if one.span and where >= 0 else None
        start = start if spans or where < 0 else where + len(part)
        found.append(replace(one, span=span, position=at, reason=one.reason + extra))
    status: ExtractionStatus = "truncated" if is_cut else "empty"
    missing = Extraction(None, status, "the reply ends before", reading=mode)
    return found + [replace(missing, position=at) for at in range(len(found), n_asked)]
