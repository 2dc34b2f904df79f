"""What makes a run suspicious: answers that repeat as from a cache, a model that changed."""

from __future__ import annotations

from array import array
from collections import Counter
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from unpredictabench.errors import counted
from unpredictabench.stats import holm, ks_2samp

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from unpredictabench.records import Completion, Extraction

TimedValues: TypeAlias = "tuple[array[float], array[float]]"
"""Seconds since the epoch, and the numbers that came then: columns, as a run has millions."""
LONG_ANSWER = 40
"""Characters above which two equal answers are no likely coincidence."""
MOST_COPIES = 10
"""Long answers alike from which on they are copies, if they are also a large share of all."""
MOST_CHARACTERS_A_TOKEN = 8  # no tokenizer puts more of ordinary text into one on average
ALPHA = 0.01
"""Chance that an unchanging model is said to have changed, over all tasks together."""
MOST_SHARE = 0.8  # of a task's answers; a fair coin with long labels stays below


def marks(
    completions: Sequence[Completion], values: Mapping[str, TimedValues] | None = None
) -> Mapping[str, str]:
    """Return one sentence for each kind of suspicion a run gives rise to.

    Parameters
    ----------
    completions : sequence of Completion
        All answers of a run.
    values : mapping, optional
        The numbers read from them with their times, as `noting` makes it; compared over time.

    Returns
    -------
    mapping of str to str
        Sentence by kind: "repeated", "copied", "served", "undercounted", "shifted". Empty for a run
        above suspicion.
    """
    sentences = {
        "repeated": repeated_replies(completions),
        "copied": copied_answers(completions),
        "served": drift(completions),
        "undercounted": undercounted(completions),
        "shifted": shifted(values or {}),
    }
    return {kind: sentence for kind, sentence in sentences.items() if sentence is not None}


def repeated_replies(completions: Iterable[Completion]) -> str | None:
    """Find slots whose text and response id are those of another slot: a cache answered."""
    replies = Counter((c.response_id, c.text) for c in completions if c.response_id is not None)
    n_repeated = sum(count - 1 for count in replies.values())
    if not n_repeated:
        return None
    copies = counted(n_repeated, "copy", "copies")
    return f"{copies} of text and response id of another answer: a cache answered"


def copied_answers(completions: Iterable[Completion]) -> str | None:
    """Find tasks of which nearly all answers are one long text: a cache or a constant seed."""
    n_texts: Counter[str] = Counter()
    long: dict[str, Counter[str]] = {}
    for completion in completions:
        if completion.text is not None:
            n_texts[completion.task] += 1
            if len(completion.text) > LONG_ANSWER:
                long.setdefault(completion.task, Counter())[completion.text] += 1
    tasks = [
        task
        for task, texts in long.items()
        if max(texts.values()) >= max(MOST_COPIES, MOST_SHARE * n_texts[task])
    ]
    if not tasks:
        return None
    return (
        f"{counted(len(tasks), 'task')} got one long answer again and again, first {tasks[0]!r}: "
        "look for a cache or a constant seed"
    )


def drift(completions: Iterable[Completion]) -> str | None:
    """Compare what the server called itself in the first and the second half by time."""
    by_time = sorted(completions, key=lambda completion: completion.created_at)
    middle = len(by_time) // 2
    first, second = _names(by_time[:middle]), _names(by_time[middle:])
    if first == second or not first or not second:
        return None
    return (
        "the model changed during the run: first half "
        f"{', '.join(sorted(first))}; second half {', '.join(sorted(second))}"
    )


def noting(
    found: Iterable[tuple[Completion, Extraction]], values: dict[str, TimedValues]
) -> Iterator[tuple[Completion, Extraction]]:
    """Pass readings on, noting of each task the times and values of its lenient numbers."""
    for completion, one in found:
        if one.reading == "lenient" and isinstance(one.value, float):
            times, numbers = values.setdefault(completion.task, (array("d"), array("d")))
            times.append(completion.created_at)
            numbers.append(one.value)
        yield completion, one


def shifted(values: Mapping[str, TimedValues]) -> str | None:
    """Compare the numbers of the first and of the second half of the run's time, task by task."""
    times = np.sort(
        np.concatenate([np.empty(0), *(np.asarray(pair[0]) for pair in values.values())])
    )
    pvalues = {
        task: pvalue
        for task, pairs in values.items()
        if (pvalue := _pvalue_of_halves(pairs, times[times.size // 2])) is not None
    }
    tasks = [task for task, p in zip(pvalues, holm([*pvalues.values()]), strict=True) if p < ALPHA]
    if not tasks:
        return None
    return (
        f"the numbers of {counted(len(tasks), 'task')} changed between the first and the second "
        f"half of the time, first {tasks[0]!r}: the model changed, or answers depend on each other"
    )


def undercounted(completions: Iterable[Completion]) -> str | None:
    """Compare the reported tokens with the text, as servers may count one choice of several."""
    counted = [c for c in completions if c.completion_tokens is not None and c.text]
    n_characters = sum(len(c.text or "") + len(c.reasoning or "") for c in counted)
    n_tokens = sum(c.completion_tokens or 0 for c in counted)
    if n_characters <= MOST_CHARACTERS_A_TOKEN * n_tokens:
        return None
    return (
        f"the server counted {n_tokens} tokens for {n_characters} characters: it leaves answers "
        "out, so usage and cost are too low"
    )


def served(completions: Iterable[Completion]) -> list[dict[str, object]]:
    """List what the server called itself, for how many answers, and when first and last."""
    times: dict[tuple[str | None, str | None], list[float]] = {}
    for completion in completions:
        name = (completion.model, completion.fingerprint)
        times.setdefault(name, []).append(completion.created_at)
    return [
        {
            "model": model,
            "fingerprint": fingerprint,
            "n_answers": len(moments),
            "first_at": min(moments),
            "last_at": max(moments),
        }
        for (model, fingerprint), moments in times.items()
    ]


def _pvalue_of_halves(pairs: TimedValues, middle: float) -> float | None:
    """Test whether values before and from a moment on follow one law; None if a side is empty."""
    is_late, values = np.asarray(pairs[0]) >= middle, np.asarray(pairs[1])
    if is_late.all() or not is_late.any():
        return None
    return float(ks_2samp(values[~is_late], values[is_late]).pvalue)


def _names(completions: Iterable[Completion]) -> set[str]:
    pairs = {(c.model, c.fingerprint) for c in completions} - {(None, None)}
    return {
        f"{model or 'unnamed'} ({fingerprint or 'no fingerprint'})" for model, fingerprint in pairs
    }
