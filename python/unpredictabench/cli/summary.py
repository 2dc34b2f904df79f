"""What a run came to, in a few lines: answers, model as served, usage, doubts."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from unpredictabench.errors import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from unpredictabench.store import Run


def summary(run: Run) -> Iterator[str]:
    """Tell how the last session of a run ended.

    Parameters
    ----------
    run : Run
        The run.

    Yields
    ------
    str
        A line.
    """
    n_slots = run.n_stored + run.n_missing
    yield f"{run.path}: {run.n_stored:,} of {counted(n_slots, 'answer')} stored, {run.stop_reason}"
    for served in run.ending.get("served", ()):
        if served["first_at"]:
            yield _served(served)
    if "usage" in run.ending:
        yield _used(run.ending["usage"])
    for kind, count in run.failures.items():
        yield f"  {counted(count, 'slot')} got no answer: {kind}"
    for mark in run.marks:
        yield f"  Suspicious: {mark}"
    if run.stopped_tasks:
        yield (
            f"  Stopped early by {run.settings.stop}: {counted(len(run.stopped_tasks), 'task')}, "
            f"{counted(run.n_spared, 'request')} saved"
        )
    if run.stop_reason != "complete":
        yield "  Repeat the command to ask what is missing; nothing stored is asked again."


def _served(served: Mapping[str, Any]) -> str:
    name, fingerprint = served["model"] or "unnamed", served["fingerprint"]
    first, last = (_date(served[key]) for key in ("first_at", "last_at"))
    shown = f"{name} ({fingerprint})" if fingerprint else name
    return f"  Served as {shown}: {counted(served['n_answers'], 'answer')}, {first} to {last}"


def _used(usage: Mapping[str, Any]) -> str:
    tokens = f"{usage['prompt_tokens']:,} + {usage['completion_tokens']:,} tokens"
    guessed = (
        f" ({counted(usage['n_estimated'], 'answer')} estimated)" if usage["n_estimated"] else ""
    )
    cost = f", cost {usage['cost']:.4g}" if usage["cost"] else ""
    return f"  Used so far: {counted(usage['n_requests'], 'request')}, {tokens}{guessed}{cost}"


def _date(moment: float) -> str:
    return f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d %H:%M} UTC"
