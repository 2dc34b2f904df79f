"""Read a completion as its task asks: the kind of value, and how many of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from unpredictabench.extract.choice import extract_choice
from unpredictabench.extract.classes import LENGTH
from unpredictabench.extract.lines import extract_lines
from unpredictabench.extract.number import check_mode, extract_number
from unpredictabench.extract.permutation import extract_permutation
from unpredictabench.extract.pieces import pieces
from unpredictabench.records import Extraction

if TYPE_CHECKING:
    from unpredictabench.records import Answer, Completion, Reading, Task

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
    if n_asked == 1:
        return (read(text, task.answer, finish_reason=completion.finish_reason, mode=mode),)
    return _read_batch(text, task.answer, completion, mode)


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
) -> tuple[Extraction, ...]:
    n_asked, is_cut = completion.n_asked, completion.finish_reason == LENGTH
    spans = pieces(text, answer.kind, n_asked)
    read_ones = []
    for at, (start, end) in enumerate(spans[:n_asked]):
        is_last = at == len(spans) - 1 and not text[end:].strip(" ")
        one = read(
            text[start:end], answer, finish_reason=LENGTH if is_cut and is_last else None, mode=mode
        )
        span = one.span and (one.span[0] + start, one.span[1] + start)
        reason = one.reason
        if len(spans) > n_asked:
            reason = f"{reason}; the first {n_asked} of {len(spans)} given"
        read_ones.append(replace(one, span=span, position=at, reason=reason))
    status = "truncated" if is_cut else "empty"
    return (
        *read_ones,
        *(
            Extraction(None, status, "the reply ends before", reading=mode, position=at)
            for at in range(len(read_ones), n_asked)
        ),
    )
