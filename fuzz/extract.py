"""Fuzz the reading of answers with atheris: no exception, no stall, the same twice."""

from __future__ import annotations

import sys
import time

import atheris

with atheris.instrument_imports(include=["unpredictabench.extract"]):
    from unpredictabench.extract import dispatch
    from unpredictabench.records import Answer, Completion

ANSWERS = (
    Answer("number", "Answer with one number only."),
    Answer("number", "Answer with one number only.", is_integer=True),
    Answer("permutation", "Answer with a JSON array of all items.", ("a", "b", "c", "d")),
    Answer("choice", "Answer with one word.", ("heads", "tails")),
    Answer("lines", "Answer with the printed lines only.", ("heads", "tails")),
)
SECONDS_A_KB = 0.05
"""Ten times what the slowest text known takes, instrumented, on a busy machine."""


class Asked:
    """As much of a task as reading looks at."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer


def one(data: bytes) -> None:
    """Read one text in every way."""
    provider = atheris.FuzzedDataProvider(data)
    task = Asked(ANSWERS[provider.ConsumeIntInRange(0, len(ANSWERS) - 1)])
    n_asked = provider.ConsumeIntInRange(1, 3)
    reason = provider.PickValueInList([None, "stop", "length"])
    repeats = provider.ConsumeIntInRange(1, 40)
    text = provider.ConsumeUnicode(400) * repeats
    completion = Completion("t", 0, text, finish_reason=reason, n_asked=n_asked)
    for mode in ("lenient", "strict"):
        start = time.process_time()
        found = dispatch.extract(completion, task, mode=mode)
        spent = time.process_time() - start
        assert spent < SECONDS_A_KB * (1 + len(text) / 1000), f"{spent} s for {len(text)}"
        assert found == dispatch.extract(completion, task, mode=mode)
        assert len(found) == n_asked
        for each in found:
            assert each.is_valid == (each.value is not None)
            assert each.span is None or 0 <= each.span[0] <= each.span[1] <= len(text)


if __name__ == "__main__":
    atheris.Setup(sys.argv, one)
    atheris.Fuzz()
