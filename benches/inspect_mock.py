"""Time the Inspect task with the mock model: ``python benches/inspect_mock.py [limit_tasks=N]``."""

from __future__ import annotations

import os
import sys
import tempfile
import time

from inspect_ai import eval as evaluate
from inspect_ai.model import ModelOutput, ModelUsage, get_model

from unpredictabench.integrations.inspect.task import ks_at_n


def answer(*_):
    """Answer at once; usage is set, because Inspect would fetch a tokenizer to count it."""
    output = ModelOutput.from_content("mockllm/model", "3.25")
    output.usage = ModelUsage(input_tokens=10, output_tokens=3, total_tokens=13)
    return output


def main(arguments):
    """Evaluate, and print seconds on the clock and of the processor."""
    given = dict(argument.split("=") for argument in arguments)
    task = ks_at_n(**{name: int(value) for name, value in given.items()})
    model = get_model("mockllm/model", custom_outputs=answer)
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        [log] = evaluate(task, model=model, log_dir=folder, display="none")
        size = os.path.getsize(log.location.removeprefix("file://"))  # noqa: PTH202 - one number
    wall, used = time.perf_counter() - started, os.times()
    print(f"{log.status}: {wall:.1f} s, {used.user + used.system:.1f} s of the processor, ", end="")
    print(f"log of {size / 1e6:.1f} MB")


if __name__ == "__main__":
    main(sys.argv[1:])
