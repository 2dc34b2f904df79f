"""The real small model on this machine: a few answers, and what happens when it dies."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from unpredictabench.clients import LocalClient
from unpredictabench.errors import FatalClientError
from unpredictabench.records import Request
from unpredictabench.tasks import load_suite
from unpredictabench.tasks.styles import messages

pytestmark = pytest.mark.model
TASK_ID = "code-explicit/poisson/spread_out"
PARENT = """
import asyncio, sys
from pathlib import Path
from unpredictabench.clients.child import ModelServer
from unpredictabench.clients.weights import model_file
server = ModelServer(model_file("smollm2"), alias="x", n_slots=1, n_context=256)
print(server._process.pid, flush=True)
sys.stdin.read()
"""


def requests(n):
    """Return the first slots of a task in the style of the embedded model."""
    task = load_suite("v1")[TASK_ID]
    return [Request(task, i, messages(task, "few-shot")) for i in range(n)]


def test_small_model_answers_and_a_dead_server_is_one_sentence():
    """Four slots get four answers; after the server is killed the next slot ends the run."""

    async def main():
        client = LocalClient("smollm2", max_tokens=8, concurrency=2)
        try:
            answers = await asyncio.gather(*(client.ask(request) for request in requests(4)))
            os.kill(client._server._process.pid, signal.SIGKILL)
            with pytest.raises(FatalClientError, match="run again to resume") as caught:
                await client.ask(requests(5)[4])
        finally:
            await client.aclose()
        return answers, str(caught.value)

    answers, sentence = asyncio.run(main())
    assert [answer.index for answer in answers] == [0, 1, 2, 3]
    assert all(answer.status == "ok" and answer.model == "smollm2" for answer in answers)
    assert len({answer.response_id for answer in answers}) == 4
    assert "\n" not in sentence


def test_server_dies_with_its_parent():
    """When the parent is killed without warning, its server ends by itself."""
    command = [sys.executable, "-c", PARENT]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        pid = int(parent.stdout.readline())
        parent.kill()
    for _ in range(600):
        if _is_gone(pid):
            return
        time.sleep(0.1)
    pytest.fail("the server outlived its parent")


def _is_gone(pid):
    """Tell whether a process has ended, also one that nobody waits for."""
    stat = Path(f"/proc/{pid}/stat")
    try:
        return stat.read_text(encoding="ascii").rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True
